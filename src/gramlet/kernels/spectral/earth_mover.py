"""Earth mover's distances between the nodes of two graphs, and a kernel from these distances.

Coordinates of nodes come from the spectral engine, masses from degrees unless they are uniform.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import (
    ArrayOf,
    Choice,
    Instance,
    Integer,
    Number,
    Optional,
    Text,
    fields,
)
from gramlet.common.parameters import Interval, StrOptions, validate_params
from gramlet.common.stored_state import require
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.spectral.coordinates import laplacian_coordinates
from gramlet.engine.transport.earth_mover import MassPoints, earth_mover_distances, mass_points
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_single
from gramlet.graphs.direction import require_undirected
from gramlet.kernels.contract.decay_kernel import DecayKernel
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS
from gramlet.kernels.contract.labels import LABEL_CHOICE, NodeLabels
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.point_profile import PointProfile
from gramlet.kernels.contract.tags import GraphTags, used

NODE_POINT_CONSTRAINTS: dict[str, list[Any]] = {
    "n_dims": [Interval(Integral, 1, None, closed="left")],
    "gamma": [Interval(Real, 0, None, closed="neither")],
    "use_labels": LABEL_CHOICE,
    "label_weight": [Interval(Real, 0, None, closed="left")],
    "masses": [StrOptions({"degree", "uniform"})],
}


@dataclass
class PlacedNodes:
    """The nodes of a batch: coordinates (one row per node), label codes and shares of the mass."""

    offsets: Ints
    points: Floats
    labels: Ints
    shares: Ints

    def with_masses(self) -> MassPoints:
        """Points with masses share / Σ share within a graph, or equal ones if all shares are 0."""
        return mass_points(self.offsets, self.points, self.labels, self.shares)


class NodeReader:
    """Computes the points of nodes, with the label codes of the fitted graphs.

    Parameters
    ----------
    n_dims : int
        Number of coordinates per node, from the smallest eigenvalues of the normalised Laplacian.
    use_labels : bool or "auto"
        "auto": if the fitted graphs have labels.
    masses : {"degree", "uniform"}
        "degree": degree / Σ degree, so that isolated nodes have no mass, or 1/n if the graph has no
        edges. "uniform": 1/n.
    """

    stored = fields(
        n_dims=Integer(1), masses=Choice("degree", "uniform"), labels=Instance(NodeLabels)
    )

    def __init__(self, n_dims: int, use_labels: bool | str, masses: str = "degree") -> None:
        self.n_dims = int(n_dims)
        self.masses = masses
        self.labels = NodeLabels(use_labels)

    def fit(self, batch: GraphBatch, tiling: Tiling) -> PlacedNodes:
        """Learn the labels of these graphs; return their nodes."""
        return self._placed(batch, self.labels.fit(batch), tiling)

    def read(self, batch: GraphBatch, tiling: Tiling) -> PlacedNodes:
        """The nodes of new graphs."""
        return self._placed(batch, self.labels.encode(batch), tiling)

    def _placed(self, batch: GraphBatch, codes: Ints, tiling: Tiling) -> PlacedNodes:
        points = laplacian_coordinates(
            batch.node_offsets, batch.indptr, batch.indices, self.n_dims, tiling
        ).points
        shares = batch.degrees if self.masses == "degree" else np.ones_like(batch.degrees)
        return PlacedNodes(np.asarray(batch.node_offsets), points, codes, shares)


def label_cost(label_weight: float, owner: str) -> float:
    """The amount that different labels add to the squared distance of nodes: 2·label_weight²."""
    cost = 2.0 * float(label_weight) * float(label_weight)
    if not np.isfinite(cost):
        raise ValueError(
            f"The 'label_weight' parameter of {owner} is {label_weight}: its square is not a "
            "finite number. Use a weight below 1e150."
        )
    return cost


@validate_params(
    {name: rule for name, rule in NODE_POINT_CONSTRAINTS.items() if name != "gamma"},
    prefer_skip_nested_validation=True,
)
def earth_movers_distance(
    G: Any,
    H: Any,
    n_dims: int = 6,
    use_labels: bool | str = "auto",
    label_weight: float = 1.0,
    masses: str = "degree",
) -> float:
    """The earth mover's distance between two graphs.

    min ⟨D, T⟩ over T ≥ 0 whose row sums are the node masses of G and whose column sums are those
    of H. D is the Euclidean distance of the nodes' coordinates abs(u), for the ``n_dims``
    eigenvectors u of the normalised Laplacian with the smallest eigenvalues; different labels add
    2·label_weight² to its square. Solved exactly; about O(n³) for graphs of n nodes.

    Parameters
    ----------
    G, H : single graphs, as `gramlet.as_batch` takes them in a list
        Each with at least one node.
    n_dims : int, default 6
        Number of coordinates per node.
    use_labels : bool or "auto"
        Whether to use labels; "auto" uses them if the graphs have labels.
    label_weight : float, default 1.0
        Length of the vectors that encode labels.
    masses : {"degree", "uniform"}, default "degree"
        Mass of a node: its share of the sum of degrees (1/n if the graph has no edges), or 1/n.

    References
    ----------
    Nikolentzos, Meladianos, Vazirgiannis (2017), Matching node embeddings for graph similarity.

    Examples
    --------
    >>> from gramlet import earth_movers_distance
    >>> edge, triangle = ([(0, 1)], "CO"), ([(0, 1), (1, 2), (2, 0)], "CCO")
    >>> round(earth_movers_distance(edge, triangle, n_dims=1), 4)
    0.3448
    """
    pair = GraphBatch.concatenate([as_single(G, "G"), as_single(H, "H")])
    require_undirected(pair, "earth_movers_distance")
    for name, size in zip("GH", pair.sizes, strict=True):
        if size == 0:
            raise ValueError(
                f"earth_movers_distance needs graphs with nodes, but {name} is empty: it has no "
                "mass to move. In EMDKernel, empty graphs have k = 0 with graphs that have nodes."
            )
    sets = NodeReader(n_dims, use_labels, masses).fit(pair, Tiling()).with_masses()
    cost = label_cost(label_weight, "earth_movers_distance")
    return float(earth_mover_distances(sets, None, cost)[0, 1])


@dataclass(frozen=True)
class SpectrumRepair:
    """How indefinite a Gram matrix was, and how much its repair changed it.

    Attributes
    ----------
    psd : {"clip", "flip", "shift"}
    smallest_eigenvalue, largest_eigenvalue : float
        Of the matrix before the repair.
    n_negative : int
        Number of eigenvalues that are below 0 by more than rounding errors.
    negative_share : float
        Σ |λ| over negative eigenvalues, divided by Σ |λ| over all.
    relative_change : float
        ‖repaired − original‖ / ‖original‖, Frobenius norms.
    """

    psd: str
    smallest_eigenvalue: float
    largest_eigenvalue: float
    n_negative: int
    negative_share: float
    relative_change: float

    stored = fields(
        psd=Text(),
        smallest_eigenvalue=Number(),
        largest_eigenvalue=Number(),
        n_negative=Integer(0),
        negative_share=Number(),
        relative_change=Number(),
    )

    def __str__(self) -> str:
        return (
            f"{self.n_negative} negative eigenvalues, smallest {self.smallest_eigenvalue:.3g} "
            f"(largest {self.largest_eigenvalue:.3g}), {self.negative_share:.2%} of the spectrum; "
            f'psd="{self.psd}" changed the matrix by {self.relative_change:.2%}'
        )


def _measured(psd: str, values: Floats, gram: Floats, repaired: Floats) -> SpectrumRepair:
    negative = values < -1e-12 * max(1.0, float(values[-1]))
    return SpectrumRepair(
        psd=psd,
        smallest_eigenvalue=float(values[0]),
        largest_eigenvalue=float(values[-1]),
        n_negative=int(negative.sum()),
        negative_share=float(np.abs(values[negative]).sum() / np.abs(values).sum()),
        relative_change=float(np.linalg.norm(repaired - gram) / np.linalg.norm(gram)),
    )


@shared_texts
class EMDKernel(DecayKernel):
    """Kernel of earth mover's distances.

    k(G, G') = exp(−γ EMD(G, G')), with the distance of `earth_movers_distance`. It is indefinite;
    ``psd`` repairs the Gram matrix K = U diag(λ) Uᵀ of the fitted graphs: "clip" sets negative
    eigenvalues to 0, "flip" takes absolute values, "shift" adds −min λ to the diagonal. With "clip"
    and "flip" the rows of new graphs are multiplied by the same U diag(s) Uᵀ, with s = 1 for λ > 0
    and 0 or −1 otherwise; with "shift" they are not changed. Cost: an exact transport problem per
    pair, about O(n³) for graphs of n nodes; a repair adds O(N³) for N graphs.

    k of a graph without nodes is 0 with graphs that have nodes and 1 with graphs that have none.

    Parameters
    ----------
    gamma : float, default 1.0
        Decay with the distance (γ).
    n_dims : int, default 6
        Number of coordinates per node.
    use_labels : bool or "auto"
        Whether to use labels; "auto" uses them if the fitted graphs have labels.
    label_weight : float, default 1.0
        Length of the vectors that encode labels: different labels add 2·label_weight² to the
        squared distance of two nodes.
    psd : {"none", "clip", "flip", "shift"}
        The repair; "none" leaves the matrix indefinite.
    %(masses)s
    normalize : bool, default False
        Has an effect only on a repaired Gram matrix, whose diagonal it sets to 1.
    %(n_jobs)s
    verbose : bool or int
        Show a progress bar on a terminal, and print how large the repair was.

    Attributes
    ----------
    repair_ : SpectrumRepair or None
        How large the repair was; None for ``psd="none"``.

    Notes
    -----
    `diagonal` is 1 under every repair: the repaired self-similarity of a graph that was not fitted
    is not defined.

    References
    ----------
    Nikolentzos, Meladianos, Vazirgiannis (2017), Matching node embeddings for graph similarity.
    Repairs of the spectrum: Wu, Chang, Zhang (2005), An analysis of transformation on non-positive
    semidefinite similarity matrix for kernel machines.

    Examples
    --------
    >>> from gramlet import EMDKernel
    >>> edge, triangle = ([(0, 1)], "CO"), ([(0, 1), (1, 2), (2, 0)], "CCO")
    >>> EMDKernel(n_dims=1).fit_transform([edge, triangle]).round(4)
    array([[1.    , 0.7083],
           [0.7083, 1.    ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **NODE_POINT_CONSTRAINTS,
        "psd": [StrOptions({"none", "clip", "flip", "shift"})],
        **COMMON_CONSTRAINTS,
    }

    stored = fields(
        profile_=Instance(PointProfile, len="n_fitted_"),
        reader_=Instance(NodeReader),
        correction_=Optional(ArrayOf("float64", None, None)),
        repair_=Optional(Instance(SpectrumRepair)),
    )

    def __init__(
        self,
        gamma: float = 1.0,
        n_dims: int = 6,
        *,
        use_labels: bool | str = "auto",
        label_weight: float = 1.0,
        psd: str = "none",
        masses: str = "degree",
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.gamma = gamma
        self.n_dims = n_dims
        self.use_labels = use_labels
        self.label_weight = label_weight
        self.psd = psd
        self.masses = masses
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the graphs that others are compared with; learn a repair from their Gram matrix."""
        if self.psd == "none":
            return super().fit(X, y)
        self.fit_transform(X, y)
        return self

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> PointProfile:
        self.reader_ = NodeReader(self.n_dims, self.use_labels, self.masses)
        self.repair_: SpectrumRepair | None = None
        self.correction_: Floats | None = None
        return self._points(self.reader_.fit(batch, tiling))

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> PointProfile:
        return self._points(self.reader_.read(batch, tiling))

    def _points(self, nodes: PlacedNodes) -> PointProfile:
        return PointProfile(
            nodes.with_masses(), float(self.gamma), label_cost(self.label_weight, "EMDKernel")
        )

    def _repairs(self) -> bool:
        return self.psd != "none"

    def _finish_rows(self, matrix: Floats) -> Floats:
        return matrix if self.correction_ is None else matrix @ self.correction_

    def _finish_gram(self, matrix: Floats) -> Floats:
        """Learn the repair of the Gram matrix, apply it, and print how large it was if verbose."""
        if self.psd == "none":
            return matrix
        values, vectors = np.linalg.eigh(matrix)
        if self.psd == "shift":
            repaired = matrix + max(0.0, -float(values[0])) * np.eye(len(matrix))
        else:
            signs = np.where(values > 0, 1.0, 0.0 if self.psd == "clip" else -1.0)
            repaired = (vectors * (values * signs)) @ vectors.T
            repaired = (repaired + repaired.T) / 2
            self.correction_ = (vectors * signs) @ vectors.T
        self.repair_ = _measured(self.psd, values, matrix, repaired)
        if self.verbose:
            print(f"EMDKernel: {self.repair_}", file=sys.stderr)
        return repaired

    def _validate_fitted(self) -> None:
        require(self.reader_.masses == self.masses, "masses are not those of reader_")
        profile: Any = self.profile_
        fitting = len(profile.sets.columns) == self.reader_.n_dims
        require(fitting or len(profile.sets.masses) == 0, "n_dims does not fit the points")
        if self.correction_ is not None:
            n = self.n_fitted_
            ArrayOf("float64", n, n).check("correction_", self.correction_, {})

    def __graph_tags__(self) -> GraphTags:
        repaired = self.psd != "none"
        return GraphTags(
            psd=repaired,
            depends_on_fitted=repaired,
            whole_matrix=repaired,
            after_fit=() if repaired else ("gamma", "normalize"),
            distances=not repaired,
            uses=used(node_labels=self.use_labels),
            unit=True,
        )
