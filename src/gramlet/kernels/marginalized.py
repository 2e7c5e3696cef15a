"""The marginalised kernel: random walks on two graphs, compared node by node and edge by edge."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import Flag, Instance, Integer, TupleOf, fields
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require
from gramlet.engine.core.memory import require_bytes, require_room
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror
from gramlet.engine.marginalized import (
    KINDS,
    N_PARAMETERS,
    PairKernel,
    WalkGraphs,
    pair_rows,
    walk_graphs,
)
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.kernels.contract.columns import (
    checked_weights,
    require_fitted_weights,
    required_attributes,
    required_edge_attributes,
)
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.labels import EdgeLabels, NodeLabels
from gramlet.kernels.contract.normalisation import (
    Normalization,
    normalize_in_place,
    unit,
)
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.profile import Profile
from gramlet.kernels.contract.tags import GraphTags, used

# Which entries of a matrix the engine fills.
_ALL, _TRIANGLE, _DIAGONAL = 0, 1, 2
# Memory of the linear system of two graphs: per pair of nodes, and per pair of arcs.
_BYTES_OF_NODES, _BYTES_OF_ARCS = 72, 16
# The engine's order of derivatives, and the part of a kernel that uses the parameter.
_PARAMETERS = {
    "stop": "",
    "node_floor": "label",
    "edge_floor": "label",
    "node_scale": "gaussian",
    "edge_scale": "gaussian",
}


@dataclass(frozen=True)
class MarginalizedProfile(Profile):
    """Walks on graphs, compared by one linear system per pair.

    Attributes
    ----------
    graphs : WalkGraphs
    pairs : PairKernel
        The parameters of the comparison.
    directed : bool
        Whether the matrices of walks are not symmetric.
    """

    graphs: WalkGraphs
    pairs: PairKernel
    directed: bool

    stored = fields(graphs=Instance(WalkGraphs), pairs=Instance(PairKernel), directed=Flag())

    def __len__(self) -> int:
        return self.graphs.n_graphs

    def take(self, rows: Ints) -> MarginalizedProfile:
        return replace(self, graphs=self.graphs.take(rows))

    def compare(self, other: MarginalizedProfile, tiling: Tiling = QUIET) -> Floats:
        return self._filled(other, _ALL, False, tiling)[0]

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        return self._filled(self, _TRIANGLE, False, tiling)[0]

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        return self._filled(self, _DIAGONAL, False, tiling)[0][:, 0]

    def with_slopes(self, tiling: Tiling = QUIET) -> tuple[Floats, Floats]:
        """The matrix of these graphs, and its derivatives with respect to all five parameters."""
        return self._filled(self, _TRIANGLE, True, tiling)

    def _filled(
        self, other: MarginalizedProfile, part: int, slopes: bool, tiling: Tiling
    ) -> tuple[Floats, Floats]:
        self._require_room(other)
        matrix = np.zeros((len(self), 1 if part == _DIAGONAL else len(other)))
        by_parameter = np.zeros((N_PARAMETERS, *matrix.shape) if slopes else (0, 1, 1))
        numbers, directed = self.pairs.numbers(), self.directed or other.directed
        options = (self.graphs, other.graphs, numbers, directed, part, matrix, by_parameter)
        work = other.graphs.work()
        partners = {
            _ALL: work.sum(),
            _TRIANGLE: np.cumsum(work[::-1])[::-1],
            _DIAGONAL: work,
        }
        for_tiles(
            lambda begin, end: pair_rows(begin, end, *options),
            len(self),
            costs=self.graphs.work() * partners[part] + 1.0,
            tiling=tiling,
        )
        if part == _TRIANGLE:
            mirror(matrix)
            for derivative in by_parameter:
                mirror(derivative)
        return matrix, by_parameter

    def _require_room(self, other: MarginalizedProfile) -> None:
        """Raise a MemoryError if the system of the two largest graphs does not fit."""
        if len(self) == 0 or len(other) == 0:
            return
        sides = [profile.graphs for profile in (self, other)]
        nodes = [np.diff(graphs.offsets) for graphs in sides]
        arcs = [np.diff(graphs.indptr[graphs.offsets]) for graphs in sides]
        largest = [int(graphs.work().argmax()) for graphs in sides]
        n_a, n_b = (int(sizes[at]) for sizes, at in zip(nodes, largest, strict=True))
        m_a, m_b = (int(sizes[at]) for sizes, at in zip(arcs, largest, strict=True))
        require_bytes(
            _BYTES_OF_NODES * n_a * n_b + _BYTES_OF_ARCS * m_a * m_b,
            f"MarginalizedKernel: the walks on graph {largest[0]} ({n_a:,} nodes) and graph "
            f"{largest[1]} ({n_b:,} nodes)",
            "Leave out large graphs, or use a kernel that does not compare all pairs of edges, "
            "such as WeisfeilerLehman.",
        )

    def validate(self) -> None:
        """Check that arcs of undirected graphs have equal opposites."""
        if self.directed:
            return
        graphs = self.graphs
        degrees = np.diff(graphs.indptr)
        tails = np.repeat(np.arange(len(degrees)), degrees)
        firsts = np.repeat(graphs.offsets[:-1], np.diff(graphs.offsets))
        heads = graphs.indices + firsts[tails]
        one, other = np.lexsort((heads, tails)), np.lexsort((tails, heads))
        weights = graphs.steps * graphs.totals[tails]
        opposite = np.array_equal(tails[one], heads[other]) and np.array_equal(
            heads[one], tails[other]
        )
        require(opposite, "an arc of undirected graphs has no opposite")
        alike = (
            np.allclose(weights[one], weights[other], 1e-9, 0.0)
            and np.array_equal(graphs.edge_labels[one], graphs.edge_labels[other])
            and np.array_equal(graphs.edge_attributes[one], graphs.edge_attributes[other])
        )
        require(alike, "opposite arcs of undirected graphs differ")


@shared_texts
class MarginalizedKernel(GraphKernel):
    """Marginalised kernel: the expected similarity of two random walks, one on each graph.

    Two walks start at random nodes and stop at each step with probability q. Their similarity is
    the product of κ_V over the nodes and κ_E over the edges that they visit in turn, and 0 if one
    stops before the other. With x(v, v') the expected similarity of walks from v and v',

    x(v, v') = κ_V(v, v') [q² + (1−q)² Σ_u Σ_u' (w_vu/d_v) (w'_v'u'/d'_v') κ_E(vu, v'u') x(u, u')]

    over neighbours u of v and u' of v', with d_v the sum of the weights at v;
    k(G, G') = Σ p(v) p'(v') x(v, v'). A node without neighbours has x = κ_V q². Each value has a
    relative error below 1e-10 and takes one sparse linear system on the pairs of nodes with
    κ_V > 0: O(m m') per iteration for m and m' edges, with tens of iterations. Positive
    semi-definite.

    Parameters
    ----------
    stop : float, default 0.05
        q, above 0 and below 1: walks take (1 − q)/q steps on average, so a larger value gives long
        walks a lower weight.
    node_kernel, edge_kernel : {"label", "gaussian", "label*gaussian", "one"}, default "label"
        κ_V and κ_E. "label": 1 for equal labels, the floor for others; "gaussian":
        exp(−‖a−a'‖²/(2 scale²)) on attributes; or their product; "one": 1. Edges without labels
        are all equal.
    node_floor, edge_floor : float, default 0.0
        The similarity of different labels, from 0 to 1.
    node_scale, edge_scale : float, default 1.0
        Bandwidth of the Gaussians, as a distance: a larger value makes the kernel wider.
    weighted : bool, default False
        Take steps with probabilities proportional to the edge weights, which must be above 0.
    start : {"uniform", "ones"}, default "uniform"
        p(v) is 1/n, or 1.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    References
    ----------
    Kashima, Tsuda, Inokuchi (2003), Marginalized kernels between labeled graphs.
    Tang, de Jong (2019), Prediction of atomization energy using graph kernel and active learning.

    Examples
    --------
    >>> from gramlet import MarginalizedKernel
    >>> graphs = [([(0, 1), (1, 2)], ["C", "O", "C"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = MarginalizedKernel(stop=0.5)
    >>> kernel.fit_transform(graphs).round(6)
    array([[0.185185, 0.166667],
           [0.166667, 0.166667]])
    >>> K, gradients = kernel.gram_with_gradient(graphs)
    >>> gradients["stop"].round(6)
    array([[0.493827, 0.444444],
           [0.444444, 0.444444]])
    """

    stored = fields(
        profile_=Instance(MarginalizedProfile, len="n_fitted_"),
        labels_=Instance(NodeLabels),
        edge_labels_=Instance(EdgeLabels),
        widths_=TupleOf(Integer(-1), 2),
        has_weights_=Flag(),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "stop": [Interval(Real, 0, 1, closed="neither")],
        "node_kernel": [StrOptions(set(KINDS))],
        "edge_kernel": [StrOptions(set(KINDS))],
        "node_floor": [Interval(Real, 0, 1, closed="both")],
        "edge_floor": [Interval(Real, 0, 1, closed="both")],
        "node_scale": [Interval(Real, 0, None, closed="neither")],
        "edge_scale": [Interval(Real, 0, None, closed="neither")],
        "weighted": ["boolean"],
        "start": [StrOptions({"uniform", "ones"})],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        stop: float = 0.05,
        node_kernel: str = "label",
        *,
        edge_kernel: str = "label",
        node_floor: float = 0.0,
        edge_floor: float = 0.0,
        node_scale: float = 1.0,
        edge_scale: float = 1.0,
        weighted: bool = False,
        start: str = "uniform",
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.stop = stop
        self.node_kernel = node_kernel
        self.edge_kernel = edge_kernel
        self.node_floor = node_floor
        self.edge_floor = edge_floor
        self.node_scale = node_scale
        self.edge_scale = edge_scale
        self.weighted = weighted
        self.start = start
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def gram_with_gradient(self, X: Any) -> tuple[Floats, dict[str, Floats]]:
        """Compute the Gram matrix of X and its derivatives; `fit` is not needed.

        Returns
        -------
        K : array, shape (len(X), len(X))
            The result of `fit_transform`.
        gradients : dict of str to array
            The derivative of K with respect to each parameter that is used (not its logarithm):
            "stop", the floors of kernels with "label" and the scales of kernels with "gaussian".
            With ``normalize``, the derivative of the normalised matrix.

        Notes
        -----
        The adjoint system gives all derivatives with one more solution per pair.
        """
        batch = as_batch(X)
        used = self._in_use()
        require_room(len(batch), len(batch) * 6, type(self).__name__)
        profile: Any = clone(self).fit(batch).profile_
        matrix, slopes = profile.with_slopes(self._tiling())
        gradients = {name: slopes[list(_PARAMETERS).index(name)] for name in used}
        return _normalised(matrix, gradients, self.normalize)

    def _in_use(self) -> list[str]:
        """The real parameters that the values depend on."""
        self._validate_params()
        kinds = {"node": self.node_kernel, "edge": self.edge_kernel}
        return [
            name
            for name, part in _PARAMETERS.items()
            if not part or part in kinds[name.split("_")[0]]
        ]

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> MarginalizedProfile:
        self.labels_ = NodeLabels("label" in self.node_kernel)
        self.labels_.fit(batch)
        self.edge_labels_ = EdgeLabels("label" in self.edge_kernel)
        self.edge_labels_.fit(batch)
        self.widths_ = (-1, -1)  # any number of columns
        self.has_weights_ = False
        profile = self._profile(batch, tiling)
        self.widths_ = _widths(profile)
        self.has_weights_ = bool(self.weighted) and batch.edge_weights is not None
        return profile

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> MarginalizedProfile:
        name = type(self).__name__
        if self.has_weights_:
            require_fitted_weights(batch, name)
        weights = checked_weights(batch, name, positive=True) if self.weighted else None
        edges = self.edge_labels_.encode(batch)
        node_width, edge_width = (None if width < 0 else width for width in self.widths_)
        nodes = np.zeros((batch.n_nodes_total, 0))
        if "gaussian" in self.node_kernel:
            nodes = required_attributes(batch, name, node_width)
        arcs = np.zeros((len(batch.indices), 0))
        if "gaussian" in self.edge_kernel:
            arcs = required_edge_attributes(batch, name, edge_width)
        no_labels: Ints = np.zeros(len(batch.indices), dtype=np.int64)
        graphs = walk_graphs(
            batch.node_offsets,
            batch.indptr,
            batch.indices,
            weights,
            self.labels_.encode(batch),
            no_labels if edges is None else edges,
            nodes,
            arcs,
        )
        return MarginalizedProfile(graphs, self._pair_kernel(), bool(batch.directed))

    def _pair_kernel(self) -> PairKernel:
        return PairKernel(
            float(self.stop),
            KINDS[self.node_kernel],
            KINDS[self.edge_kernel],
            float(self.node_floor),
            float(self.edge_floor),
            float(self.node_scale),
            float(self.edge_scale),
            self.start == "uniform",
        )

    def _validate_fitted(self) -> None:
        profile: Any = self.profile_
        same = profile.pairs == self._pair_kernel()
        require(same, "parameters were changed after fit; fit the kernel again")
        require("label" not in self.node_kernel or self.labels_.used, "labels_ must be used")
        found = _widths(profile)
        require(self.widths_ == found, "widths_ are not those of the fitted graphs")
        for kind, width in zip((self.node_kernel, self.edge_kernel), found, strict=True):
            require(
                "gaussian" in kind or width <= 0, "attributes that are not used must be left out"
            )

    def __graph_tags__(self) -> GraphTags:
        sides = {"node_attributes": self.node_kernel, "edge_attributes": self.edge_kernel}
        needs = tuple(name for name, kind in sides.items() if "gaussian" in str(kind))
        uses = used(
            node_labels="label" in str(self.node_kernel),
            edge_labels="label" in str(self.edge_kernel),
            edge_weights=self.weighted,
        )
        return GraphTags(directed=True, needs=needs, uses=needs + uses, gradients=True)


def _widths(profile: MarginalizedProfile) -> tuple[int, int]:
    """The numbers of attribute columns of nodes and of edges; −1 if there are no nodes or edges."""
    nodes, edges = profile.graphs.attributes, profile.graphs.edge_attributes
    return (
        int(nodes.shape[1]) if len(nodes) else -1,
        int(edges.shape[1]) if len(edges) else -1,
    )


def _normalised(
    matrix: Floats, gradients: dict[str, Floats], how: Normalization
) -> tuple[Floats, dict[str, Floats]]:
    """The normalised matrix and its derivatives.

    Of cosines, K'/√(k k') − K/√(k k') (k₁'/k₁ + k₂'/k₂)/2; of Tanimoto values T = K/D with
    D = k₁ + k₂ − K, (K' − T D')/D.
    """
    if not how:
        return matrix, gradients
    norms = np.diagonal(matrix).copy()
    plain = matrix.copy() if how == "tanimoto" else matrix
    normalize_in_place(matrix, norms, norms, how)
    np.fill_diagonal(matrix, unit(norms))
    some = norms > 0
    for slopes in gradients.values():
        changes = np.diagonal(slopes).copy()
        if how == "tanimoto":
            unions = norms[:, None] + norms - plain
            slopes -= matrix * (changes[:, None] + changes - slopes)
            np.divide(slopes, unions, out=slopes, where=unions > 0)
        else:
            shares = np.divide(changes, 2 * norms, out=np.zeros(len(norms)), where=some)
            normalize_in_place(slopes, norms, norms)
            slopes -= matrix * (shares[:, None] + shares)
        np.fill_diagonal(slopes, 0.0)
    return matrix, gradients
