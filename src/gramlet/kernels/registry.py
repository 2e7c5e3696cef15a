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

__all__ = ["Entry", "entries", "find", "get", "make", "unknown_name"]


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
        found: type = getattr(importlib.import_module(self.home), self.class_name)
        return found

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


_H = "gramlet.kernels.histograms.label_histograms"
_WL = "gramlet.kernels.weisfeiler_lehman.weisfeiler_lehman"
_ITERATIONS = {"n_iter": (1, 2, 3, 4, 5, 6)}
_GAMMAS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
_RGE_GAMMAS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
_HASH = "gramlet.kernels.hashing"
_NEAR = "gramlet.kernels.neighbourhoods"
_SPECTRAL = "gramlet.kernels.spectral"
_SIGNATURES = "gramlet.embeddings.spectral_signatures"
_RW = "gramlet.kernels.walks.random_walk"
_GAERTNER = "Gärtner, Flach, Wrobel 2003"
_SHERVASHIDZE = "Shervashidze et al. 2011"
_KRIEGE = "Kriege, Giscard, Wilson 2016"
_KONDOR = "Kondor, Pan 2016"

_ROWS = (
    Entry(
        "vertex", _H, "VertexHistogram", "histograms", "dot product of node-label counts",
        "Haussler 1999",
    ),
    Entry(
        "edge", _H, "EdgeHistogram", "histograms", "dot product of edge-type counts",
        "Haussler 1999",
    ),
    Entry(
        "v-oa", _H, "OptimalAssignment", "histograms", "optimal assignment of nodes by label",
        _KRIEGE, {"base": "vertex"},
    ),
    Entry(
        "e-oa", _H, "OptimalAssignment", "histograms", "optimal assignment of edges by type",
        _KRIEGE, {"base": "edge"},
    ),
    Entry(
        "wl", _WL, "WeisfeilerLehman", "Weisfeiler-Lehman", "common subtree patterns",
        _SHERVASHIDZE, {}, _ITERATIONS,
    ),
    Entry(
        "wl-edge", _WL, "WeisfeilerLehman", "Weisfeiler-Lehman", "common edges between patterns",
        _SHERVASHIDZE, {"base": "edge"}, _ITERATIONS,
    ),
    Entry(
        "wl-sp", _WL, "WeisfeilerLehman", "Weisfeiler-Lehman",
        "common shortest paths between patterns", _SHERVASHIDZE, {"base": "shortest-path"},
        _ITERATIONS,
    ),
    Entry(
        "wl-oa", _WL, "WLOptimalAssignment", "Weisfeiler-Lehman",
        "optimal assignment of nodes by their patterns", _KRIEGE, {}, _ITERATIONS,
    ),
    Entry(
        "hadamard", f"{_HASH}.hadamard_code", "HadamardCode", "hashing",
        "sums of labels over neighbours", "Kataoka, Inokuchi 2016", {}, _ITERATIONS,
    ),
    Entry(
        "neighborhood-hash", f"{_HASH}.neighborhood_hash", "NeighborhoodHash", "hashing",
        "short codes combined with those of neighbours", "Hido, Kashima 2009", {},
        {**_ITERATIONS, "kind": ("simple", "count")},
    ),
    Entry(
        "deep", "gramlet.kernels.weisfeiler_lehman.deep", "DeepGraphKernel", "Weisfeiler-Lehman",
        "patterns, similar if they occur in the same graphs", "Yanardag, Vishwanathan 2015", {},
        {"n_components": (16, 64, 256)},
    ),
    Entry(
        "wwl", "gramlet.kernels.wasserstein.wasserstein_wl", "WassersteinWL", "Wasserstein",
        "optimal transport between the patterns of two graphs", "Togninalli et al. 2019", {},
        {**_ITERATIONS, "gamma": _GAMMAS},
    ),
    Entry(
        "wwl-attr", "gramlet.kernels.wasserstein.wasserstein_wl", "WassersteinWL", "Wasserstein",
        "optimal transport between averaged node attributes", "Togninalli et al. 2019",
        {"use_attributes": True}, {**_ITERATIONS, "gamma": _GAMMAS}
    ),
    Entry(
        "weighted-wwl", "gramlet.kernels.wasserstein.weighted", "WeightedWassersteinWL",
        "Wasserstein", "WWL with learned weights of the patterns", "Nguyen et al. 2021",
        {"solver": "accelerated"},
        {**_ITERATIONS, "gamma": _GAMMAS, "radius": (0.1, 0.5, 1.0)},
    ),
    Entry(
        "sp", "gramlet.kernels.paths.shortest_path", "ShortestPath", "walks and paths",
        "shortest paths by end labels and length", "Borgwardt, Kriegel 2005",
    ),
    Entry(
        "graph-hopper", "gramlet.kernels.paths.graph_hopper", "GraphHopper", "walks and paths",
        "shortest paths compared node by node, by labels or attributes", "Feragen et al. 2013",
        {}, {"mu": (None, 1e-3, 1e-2, 1e-1, 1.0)},
    ),
    Entry(
        "core", "gramlet.kernels.cores.core_kernel", "CoreKernel", "cores",
        "another kernel on the nested cores of graphs", "Nikolentzos et al. 2018", {},
        {"min_core": (0, 1, 2)},
    ),
    Entry(
        "rw", _RW, "RandomWalk", "walks and paths", "common walks, discounted by their length",
        _GAERTNER, {}, {"decay": (1e-5, 1e-4, 1e-3, 1e-2)},
    ),
    Entry(
        "rw-exp", _RW, "RandomWalk", "walks and paths", "common walks, discounted factorially",
        _GAERTNER, {"kind": "exponential"}, {"decay": (1e-4, 1e-3, 1e-2, 1e-1)},
    ),
    Entry(
        "rw-steps", _RW, "RandomWalk", "walks and paths", "common walks of a few steps",
        _GAERTNER, {"kind": "steps"}, {"n_steps": (1, 2, 3, 4, 5), "decay": (0.01, 0.1, 1.0)},
    ),
    Entry(
        "marginalized", "gramlet.kernels.marginalized.marginalized", "MarginalizedKernel",
        "walks and paths", "random walks compared step by step", "Kashima et al. 2003", {},
        {"stop": (0.01, 0.05, 0.2, 0.5)},
    ),
    Entry(
        "propagation", "gramlet.kernels.walks.propagation", "Propagation", "walks and paths",
        "label distributions that spread and are hashed", "Neumann et al. 2016",
        {"random_state": 0}, {"n_iter": (1, 2, 3, 4, 5, 6), "width": (1e-4, 1e-3, 1e-2)}
    ),
    Entry(
        "nspdk", f"{_NEAR}.nspdk", "NSPDK", "neighbourhoods",
        "pairs of balls at a distance", "Costa, De Grave 2010", {},
        {"radius": (0, 1, 2, 3), "distance": (0, 2, 4, 6)},
    ),
    Entry(
        "odd-sth", f"{_NEAR}.odd_sth", "ODDSTh", "neighbourhoods",
        "descent trees around every node", "Da San Martino, Navarin, Sperduti 2012", {},
        {"height": (1, 2, 3, 4), "decay": (0.5, 0.8, 1.0)},
    ),
    Entry(
        "subgraph-matching", f"{_NEAR}.subgraph_matching", "SubgraphMatching", "neighbourhoods",
        "bijections between small subgraphs", "Kriege, Mutzel 2012", {},
        {"size": (2, 3, 4), "weights": ("uniform", "increasing", "decreasing")},
    ),
    Entry(
        "pyramid-match", f"{_SPECTRAL}.pyramid_match", "PyramidMatch", "spectral coordinates",
        "nodes matched in ever finer cells", "Nikolentzos et al. 2017", {},
        {"n_dims": (2, 4, 6, 8), "n_levels": (2, 4, 6)},
    ),
    Entry(
        "geometric-assignment", f"{_SPECTRAL}.geometric_assignment", "GeometricAssignment",
        "spectral coordinates", "best matchings of nodes to those of the fitted graphs",
        "Johansson, Dubhashi 2015", {}, {"n_dims": (2, 4, 6, 8)}
    ),
    Entry(
        "emd", f"{_SPECTRAL}.earth_mover", "EMDKernel", "spectral coordinates",
        "exact earth mover's distances between nodes", "Nikolentzos et al. 2017", {},
        {"gamma": _RGE_GAMMAS}
    ),
    Entry(
        "rge", "gramlet.embeddings.random_graph_embedding", "RandomGraphEmbedding",
        "spectral coordinates",
        "earth mover's distances to random graphs", "Wu et al. 2018", {"random_state": 0},
        {"gamma": _RGE_GAMMAS, "max_nodes": tuple(range(3, 31, 3))},
    ),
    Entry(
        "svm-theta", f"{_SPECTRAL}.svm_theta", "SVMTheta", "spectra and degrees",
        "bounds on the Lovász number, averaged over subsets of nodes", "Johansson et al. 2014", {},
        {"sizes": ((2, 8), (2, 4), (2, 16))},
    ),
    Entry(
        "netlsd", _SIGNATURES, "NetLSD", "spectra and degrees",
        "traces of the heat or wave kernel at several times", "Tsitsulin et al. 2018", {},
        {"kind": ("heat", "wave"), "normalization": (None, "empty", "complete")},
    ),
    Entry(
        "fgsd", _SIGNATURES, "FGSD", "spectra and degrees",
        "histogram of harmonic distances between nodes", "Verma, Zhang 2017", {},
        {"n_bins": (50, 100, 200)},
    ),
    Entry(
        "spectral", _SIGNATURES, "SpectralFeatures", "spectra and degrees",
        "the smallest eigenvalues of the normalised Laplacian", "de Lara, Pineau 2018", {},
        {"n_components": (32, 64, 128)},
    ),
    Entry(
        "degree-profile", "gramlet.embeddings.degree_profile", "LocalDegreeProfile",
        "spectra and degrees", "histograms of degrees of nodes and of their neighbours",
        "Cai, Wang 2018", {}, {"n_bins": (16, 32, 64)},
    ),
    Entry(
        "flg", "gramlet.kernels.laplacian.laplacian", "FeatureLaplacian", "Laplacians",
        "overlap of Gaussians of node features", _KONDOR, {},
        {"eta": (0.01, 0.1, 1.0)},
    ),
    Entry(
        "mlg", "gramlet.kernels.laplacian.multiscale", "MultiscaleLaplacian", "Laplacians",
        "nested balls, compared by their Laplacians level by level", _KONDOR,
        {"random_state": 0},
        {"eta": (0.01, 0.1, 1.0), "radius": (1, 2, 3), "n_levels": (1, 2, 3)}
    ),
    Entry(
        "graphlet", "gramlet.kernels.graphlets.graphlet", "GraphletKernel", "graphlets",
        "frequencies of all induced subgraphs on k nodes", "Shervashidze et al. 2009", {},
        {"k": (3, 4, 5), "connected_only": (False, True)},
    ),
    *(
        Entry(
            f"gsa-{name}", "gramlet.embeddings.graph_sampling", "GraphSampling", "graphlets",
            f"mean over random subgraphs of {what}", "Ghanem et al. 2021",
            {"feature_map": name, "random_state": 0}, {"k": (3, 4, 5, 6)},
        )
        for name, what in (
            ("match", "the indicator of their pattern"),
            ("gaussian", "Gaussian random features"),
            ("eigen", "Gaussian random features of their eigenvalues"),
            ("optical", "optical random features"),
        )
    ),
)  # fmt: skip

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


def make(name: str, **params: Any) -> Any:
    """A new estimator by its short name, by GraKeL's name, or by an expression of names.

    >>> make("wl", n_iter=2)
    WeisfeilerLehman(n_iter=2)
    >>> make("WL", n_iter=2)
    WeisfeilerLehman(n_iter=2)
    >>> make("wl(n_iter=2) * sp", normalize=True)
    KernelProduct(kernels=[WeisfeilerLehman(n_iter=2), ShortestPath()],
                  normalize=True)
    """
    return get(name).make(**params)
