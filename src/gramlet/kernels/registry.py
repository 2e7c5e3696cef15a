"""The registry: every kernel and embedding by its short name, with its family and parameters.

`gramlet.gram`, the command line, the tables of the documentation and the test harness use it.
Classes are given by name and not imported, so that listing them is fast.
"""

from __future__ import annotations

import difflib
import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gramlet.kernels.contract.tags import GraphTags, graph_tags
from gramlet.kernels.grakel_names import GRAKEL_NAMES, GRAKEL_PARAMETERS, PAGE, not_offered


@dataclass(frozen=True)
class Entry:
    """One row of the registry.

    Attributes
    ----------
    name : str
        The short name, as used on the command line.
    home, class_name : str
        The module and the name of the class.
    family : str
        The family, used as a heading.
    summary : str
        One line.
    paper : str
        Authors and year of the paper.
    params : mapping
        Parameters of the class for this row.
    tunable : mapping
        Options worth selecting by cross-validation, with values to try.
    """

    name: str
    home: str
    class_name: str
    family: str
    summary: str
    paper: str
    params: Mapping[str, Any] = field(default_factory=dict)
    tunable: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def kind(self) -> Literal["kernel", "embedding"]:
        """Kernel or embedding, by its package, so that nothing needs to be imported."""
        return "embedding" if self.home.startswith("gramlet.embeddings") else "kernel"

    @property
    def tags(self) -> GraphTags:
        """The tags of the estimator of this row."""
        return graph_tags(self.make())

    def cls(self) -> type:
        """Import and return the class."""
        cls: type = getattr(importlib.import_module(self.home), self.class_name)
        return cls

    def make(self, **params: Any) -> Any:
        """A new estimator; ``params`` override those of the row."""
        cls: Any = self.cls()
        merged = {**self.params, **params}
        known = cls._get_param_names()
        for name in merged:
            if name.split("__")[0] not in known:
                raise ValueError(
                    f"Kernel {self.name!r} ({self.class_name}) has no parameter {name!r}. It has: "
                    f"{', '.join(sorted(cls().get_params()))}.{_grakel_hint(name)}"
                )
        made = cls(**{name: value for name, value in merged.items() if name in known})
        return made.set_params(**{name: merged[name] for name in merged.keys() - set(known)})


# The module of each class.
_MODULES = {
    "VertexHistogram": "gramlet.kernels.histograms.label_histograms",
    "EdgeHistogram": "gramlet.kernels.histograms.label_histograms",
    "OptimalAssignment": "gramlet.kernels.histograms.label_histograms",
    "WeisfeilerLehman": "gramlet.kernels.weisfeiler_lehman.subtree",
    "WLOptimalAssignment": "gramlet.kernels.weisfeiler_lehman.subtree",
    "MorganKernel": "gramlet.kernels.weisfeiler_lehman.morgan",
    "HadamardCode": "gramlet.kernels.hashing.hadamard_code",
    "NeighborhoodHash": "gramlet.kernels.hashing.neighborhood_hash",
    "DeepGraphKernel": "gramlet.kernels.weisfeiler_lehman.deep",
    "WassersteinWL": "gramlet.kernels.wasserstein.wasserstein_wl",
    "WeightedWassersteinWL": "gramlet.kernels.wasserstein.weighted",
    "ShortestPath": "gramlet.kernels.paths.shortest_path",
    "GraphHopper": "gramlet.kernels.paths.graph_hopper",
    "CoreKernel": "gramlet.kernels.cores.core_kernel",
    "RandomWalk": "gramlet.kernels.walks.random_walk",
    "MarginalizedKernel": "gramlet.kernels.marginalized",
    "Propagation": "gramlet.kernels.walks.propagation",
    "NSPDK": "gramlet.kernels.neighbourhoods.nspdk",
    "ODDSTh": "gramlet.kernels.neighbourhoods.odd_sth",
    "SubgraphMatching": "gramlet.kernels.neighbourhoods.subgraph_matching",
    "PyramidMatch": "gramlet.kernels.spectral.pyramid_match",
    "GeometricAssignment": "gramlet.kernels.spectral.geometric_assignment",
    "EMDKernel": "gramlet.kernels.spectral.earth_mover",
    "RandomGraphEmbedding": "gramlet.embeddings.random_graph_embedding",
    "SVMTheta": "gramlet.kernels.spectral.svm_theta",
    "NetLSD": "gramlet.embeddings.spectral_signatures",
    "FGSD": "gramlet.embeddings.spectral_signatures",
    "SpectralFeatures": "gramlet.embeddings.spectral_signatures",
    "LocalDegreeProfile": "gramlet.embeddings.degree_profile",
    "MolecularDescriptors": "gramlet.embeddings.molecular_descriptors",
    "FeatureLaplacian": "gramlet.kernels.laplacian.laplacian",
    "MultiscaleLaplacian": "gramlet.kernels.laplacian.multiscale",
    "GraphletKernel": "gramlet.kernels.graphlets.graphlet",
    "GraphSampling": "gramlet.embeddings.graph_sampling",
}

# The family and the paper of each class.
_ORIGINS = {
    "VertexHistogram": ("histograms", "Haussler 1999"),
    "EdgeHistogram": ("histograms", "Haussler 1999"),
    "OptimalAssignment": ("histograms", "Kriege, Giscard, Wilson 2016"),
    "WeisfeilerLehman": ("Weisfeiler-Lehman", "Shervashidze et al. 2011"),
    "WLOptimalAssignment": ("Weisfeiler-Lehman", "Kriege, Giscard, Wilson 2016"),
    "MorganKernel": ("Weisfeiler-Lehman", "Rogers, Hahn 2010"),
    "HadamardCode": ("hashing", "Kataoka, Inokuchi 2016"),
    "NeighborhoodHash": ("hashing", "Hido, Kashima 2009"),
    "DeepGraphKernel": ("Weisfeiler-Lehman", "Yanardag, Vishwanathan 2015"),
    "WassersteinWL": ("Wasserstein", "Togninalli et al. 2019"),
    "WeightedWassersteinWL": ("Wasserstein", "Nguyen et al. 2021"),
    "ShortestPath": ("walks and paths", "Borgwardt, Kriegel 2005"),
    "GraphHopper": ("walks and paths", "Feragen et al. 2013"),
    "CoreKernel": ("cores", "Nikolentzos et al. 2018"),
    "RandomWalk": ("walks and paths", "Gärtner, Flach, Wrobel 2003"),
    "MarginalizedKernel": ("walks and paths", "Kashima et al. 2003"),
    "Propagation": ("walks and paths", "Neumann et al. 2016"),
    "NSPDK": ("neighbourhoods", "Costa, De Grave 2010"),
    "ODDSTh": ("neighbourhoods", "Da San Martino, Navarin, Sperduti 2012"),
    "SubgraphMatching": ("neighbourhoods", "Kriege, Mutzel 2012"),
    "PyramidMatch": ("spectral coordinates", "Nikolentzos et al. 2017"),
    "GeometricAssignment": ("spectral coordinates", "Johansson, Dubhashi 2015"),
    "EMDKernel": ("spectral coordinates", "Nikolentzos et al. 2017"),
    "RandomGraphEmbedding": ("spectral coordinates", "Wu et al. 2018"),
    "SVMTheta": ("spectra and degrees", "Johansson et al. 2014"),
    "NetLSD": ("spectra and degrees", "Tsitsulin et al. 2018"),
    "FGSD": ("spectra and degrees", "Verma, Zhang 2017"),
    "SpectralFeatures": ("spectra and degrees", "de Lara, Pineau 2018"),
    "LocalDegreeProfile": ("spectra and degrees", "Cai, Wang 2018"),
    "MolecularDescriptors": ("molecules", "Landrum 2006"),
    "FeatureLaplacian": ("Laplacians", "Kondor, Pan 2016"),
    "MultiscaleLaplacian": ("Laplacians", "Kondor, Pan 2016"),
    "GraphletKernel": ("graphlets", "Shervashidze et al. 2009"),
    "GraphSampling": ("graphlets", "Ghanem et al. 2021"),
}

# Short name -> class and summary, in the order of the lists.
_TABLE = {
    "vertex": ("VertexHistogram", "dot product of node-label counts"),
    "edge": ("EdgeHistogram", "dot product of edge-type counts"),
    "v-oa": ("OptimalAssignment", "optimal assignment of nodes by label"),
    "e-oa": ("OptimalAssignment", "optimal assignment of edges by type"),
    "wl": ("WeisfeilerLehman", "common subtree patterns"),
    "wl-edge": ("WeisfeilerLehman", "common edges between patterns"),
    "wl-sp": ("WeisfeilerLehman", "common shortest paths between patterns"),
    "wl-oa": ("WLOptimalAssignment", "optimal assignment of nodes by their patterns"),
    "morgan": ("MorganKernel", "environments of atoms, as count fingerprints have them"),
    "hadamard": ("HadamardCode", "sums of labels over neighbours"),
    "neighborhood-hash": ("NeighborhoodHash", "short codes combined with those of neighbours"),
    "deep": ("DeepGraphKernel", "patterns, similar if they occur in the same graphs"),
    "wwl": ("WassersteinWL", "optimal transport between the patterns of two graphs"),
    "wwl-attr": ("WassersteinWL", "optimal transport between averaged node attributes"),
    "weighted-wwl": ("WeightedWassersteinWL", "WWL with learned weights of the patterns"),
    "sp": ("ShortestPath", "shortest paths by end labels and length"),
    "graph-hopper": (
        "GraphHopper",
        "shortest paths compared node by node, by labels or attributes",
    ),
    "core": ("CoreKernel", "another kernel on the nested cores of graphs"),
    "rw": ("RandomWalk", "common walks, discounted by their length"),
    "rw-exp": ("RandomWalk", "common walks, discounted factorially"),
    "rw-steps": ("RandomWalk", "common walks of a few steps"),
    "marginalized": ("MarginalizedKernel", "random walks compared step by step"),
    "propagation": ("Propagation", "label distributions that spread and are hashed"),
    "nspdk": ("NSPDK", "pairs of balls at a distance"),
    "odd-sth": ("ODDSTh", "descent trees around every node"),
    "subgraph-matching": ("SubgraphMatching", "bijections between small subgraphs"),
    "pyramid-match": ("PyramidMatch", "nodes matched in ever finer cells"),
    "geometric-assignment": (
        "GeometricAssignment",
        "best matchings of nodes to those of the fitted graphs",
    ),
    "emd": ("EMDKernel", "exact earth mover's distances between nodes"),
    "rge": ("RandomGraphEmbedding", "earth mover's distances to random graphs"),
    "svm-theta": ("SVMTheta", "bounds on the Lovász number, averaged over subsets of nodes"),
    "netlsd": ("NetLSD", "traces of the heat or wave kernel at several times"),
    "fgsd": ("FGSD", "histogram of harmonic distances between nodes"),
    "spectral": ("SpectralFeatures", "the smallest eigenvalues of the normalised Laplacian"),
    "degree-profile": (
        "LocalDegreeProfile",
        "histograms of degrees of nodes and of their neighbours",
    ),
    "descriptors": ("MolecularDescriptors", "RDKit's two-dimensional descriptors of molecules"),
    "flg": ("FeatureLaplacian", "overlap of Gaussians of node features"),
    "mlg": ("MultiscaleLaplacian", "nested balls, compared by their Laplacians level by level"),
    "graphlet": ("GraphletKernel", "frequencies of all induced subgraphs on k nodes"),
    "gsa-match": ("GraphSampling", "mean over random subgraphs of the indicator of their pattern"),
    "gsa-gaussian": ("GraphSampling", "mean over random subgraphs of Gaussian random features"),
    "gsa-eigen": (
        "GraphSampling",
        "mean over random subgraphs of Gaussian random features of their eigenvalues",
    ),
    "gsa-optical": ("GraphSampling", "mean over random subgraphs of optical random features"),
}

# Parameters of rows that differ from the defaults of the class.
_PARAMS: dict[str, dict[str, Any]] = {
    "v-oa": {"base": "vertex"},
    "e-oa": {"base": "edge"},
    "wl-edge": {"base": "edge"},
    "wl-sp": {"base": "shortest-path"},
    "wwl-attr": {"use_attributes": True},
    "weighted-wwl": {"solver": "accelerated"},
    "rw-exp": {"kind": "exponential"},
    "rw-steps": {"kind": "steps"},
    "propagation": {"random_state": 0},
    "rge": {"random_state": 0},
    "mlg": {"random_state": 0},
    "gsa-match": {"feature_map": "match", "random_state": 0},
    "gsa-gaussian": {"feature_map": "gaussian", "random_state": 0},
    "gsa-eigen": {"feature_map": "eigen", "random_state": 0},
    "gsa-optical": {"feature_map": "optical", "random_state": 0},
}

# Options worth selecting by cross-validation, with the values to try.
_ITERATIONS = {"n_iter": (1, 2, 3, 4, 5, 6)}
_GAMMAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
_TUNABLE: dict[str, dict[str, tuple[Any, ...]]] = {
    "wl": _ITERATIONS,
    "wl-edge": _ITERATIONS,
    "wl-sp": _ITERATIONS,
    "wl-oa": _ITERATIONS,
    "hadamard": _ITERATIONS,
    "neighborhood-hash": {**_ITERATIONS, "kind": ("simple", "count")},
    "deep": {"n_components": (16, 64, 256)},
    "wwl": {**_ITERATIONS, "gamma": _GAMMAS},
    "wwl-attr": {**_ITERATIONS, "gamma": _GAMMAS},
    "weighted-wwl": {**_ITERATIONS, "gamma": _GAMMAS, "radius": (0.1, 0.5, 1.0)},
    "graph-hopper": {"mu": (None, 0.001, 0.01, 0.1, 1.0)},
    "core": {"min_core": (0, 1, 2)},
    "rw": {"decay": (1e-5, 1e-4, 0.001, 0.01)},
    "rw-exp": {"decay": (1e-4, 0.001, 0.01, 0.1)},
    "rw-steps": {"n_steps": (1, 2, 3, 4, 5), "decay": (0.01, 0.1, 1.0)},
    "marginalized": {"stop": (0.01, 0.05, 0.2, 0.5)},
    "propagation": {**_ITERATIONS, "width": (1e-4, 0.001, 0.01)},
    "nspdk": {"radius": (0, 1, 2, 3), "distance": (0, 2, 4, 6)},
    "odd-sth": {"height": (1, 2, 3, 4), "decay": (0.5, 0.8, 1.0)},
    "subgraph-matching": {"size": (2, 3, 4), "weights": ("uniform", "increasing", "decreasing")},
    "pyramid-match": {"n_dims": (2, 4, 6, 8), "n_levels": (2, 4, 6)},
    "geometric-assignment": {"n_dims": (2, 4, 6, 8)},
    "emd": {"gamma": _GAMMAS[1:]},
    "rge": {"gamma": _GAMMAS[1:], "max_nodes": tuple(range(3, 31, 3))},
    "svm-theta": {"sizes": ((2, 8), (2, 4), (2, 16))},
    "netlsd": {"kind": ("heat", "wave"), "normalization": (None, "empty", "complete")},
    "fgsd": {"n_bins": (50, 100, 200)},
    "spectral": {"n_components": (32, 64, 128)},
    "degree-profile": {"n_bins": (16, 32, 64)},
    "flg": {"eta": (0.01, 0.1, 1.0)},
    "mlg": {"eta": (0.01, 0.1, 1.0), "radius": (1, 2, 3), "n_levels": (1, 2, 3)},
    "graphlet": {"k": (3, 4, 5), "connected_only": (False, True)},
    "gsa-match": {"k": (3, 4, 5, 6)},
    "gsa-gaussian": {"k": (3, 4, 5, 6)},
    "gsa-eigen": {"k": (3, 4, 5, 6)},
    "gsa-optical": {"k": (3, 4, 5, 6)},
}


def _entry(name: str) -> Entry:
    class_name, summary = _TABLE[name]
    family, paper = _ORIGINS[class_name]
    params, tunable = _PARAMS.get(name, {}), _TUNABLE.get(name, {})
    return Entry(name, _MODULES[class_name], class_name, family, summary, paper, params, tunable)


_ROWS = tuple(map(_entry, _TABLE))
_BY_NAME = {row.name: row for row in _ROWS}
# Other names of rows.
_ALIASES = {"shortest-path": "sp", **GRAKEL_NAMES}


def _grakel_hint(parameter: str) -> str:
    if parameter not in GRAKEL_PARAMETERS:
        return ""
    return f" For GraKeL's {parameter!r}, {PAGE} has the name used here."


def entries(kind: str | None = None) -> tuple[Entry, ...]:
    """All rows, or those of one kind, in the order of the families."""
    return tuple(row for row in _ROWS if kind is None or row.kind == kind)


_ONE_NAME = re.compile(r"[\w.-]+")


def find(name: Any) -> Entry | None:
    """The row of a name or alias, or None.

    GraKeL's names and aliases are accepted as well; they are case-sensitive, as in GraKeL.

    >>> find("SP").name, find("shortest_path").name, find("Sp")
    ('sp', 'sp', None)
    """
    if not isinstance(name, str):
        return None
    return _BY_NAME.get(_ALIASES.get(name, name))


def unknown_name(name: Any) -> tuple[str, str]:
    """The message for an unknown name, in two parts: the fact, and a hint."""
    why = not_offered(name) if isinstance(name, str) else None
    known = [*_BY_NAME, *GRAKEL_NAMES]
    near = difflib.get_close_matches(str(name), known, n=1)
    if why is not None:
        hint = f" {why}"
    elif near:
        hint = f" Did you mean {near[0]!r}?"
    else:
        hint = ""
    return f"No kernel is called {name!r}", hint


def get(name: str) -> Entry:
    """The row of a name; raises a ValueError with the nearest name if it is unknown.

    Other texts, such as ``"wl + 0.5 * sp"``, are parsed as expressions (see
    `gramlet.kernels.expression`), for which a row is created.
    """
    row = find(name)
    if row is not None:
        return row
    if isinstance(name, str) and name.strip() and not _ONE_NAME.fullmatch(name):
        from gramlet.kernels.expression import entry_of

        return entry_of(name)
    fact, hint = unknown_name(name)
    raise ValueError(f"{fact}.{hint} There are: {', '.join(_BY_NAME)}.")


def list_kernels(kind: Literal["kernel", "embedding"] | None = None) -> list[str]:
    """The names of all kernels and embeddings, or of those of one kind.

    Parameters
    ----------
    kind : {"kernel", "embedding"}, optional

    Returns
    -------
    list of str
        In the order of the families; ``gramlet kernels`` says more about each.

    Examples
    --------
    >>> import gramlet
    >>> gramlet.list_kernels()[:4]
    ['vertex', 'edge', 'v-oa', 'e-oa']
    """
    return [row.name for row in entries(kind)]


def make_kernel(name: str, **params: Any) -> Any:
    """A new kernel or embedding from a name or an expression.

    Parameters
    ----------
    name : str
        A name of `list_kernels`, GraKeL's name, or an expression such as ``"wl + 0.5 * sp"``.
    **params
        Parameters of the kernel.

    Returns
    -------
    estimator
        Unfitted.

    Examples
    --------
    >>> import gramlet
    >>> gramlet.make_kernel("wl", n_iter=2)
    WeisfeilerLehman(n_iter=2)
    """
    return make(name, **params)


def make(name: str, **params: Any) -> Any:
    """A new estimator by its short name, by GraKeL's name, or by an expression of names.

    >>> make("wl", n_iter=2)
    WeisfeilerLehman(n_iter=2)
    >>> make("WL", n_iter=2)
    WeisfeilerLehman(n_iter=2)
    >>> make("wl(n_iter=2) * sp", normalize=True)
    KernelProduct(kernels=[WeisfeilerLehman(n_iter=2, normalize='tanimoto'),
                           ShortestPath(normalize='tanimoto')],
                  normalize=True)
    """
    return get(name).make(**params)
