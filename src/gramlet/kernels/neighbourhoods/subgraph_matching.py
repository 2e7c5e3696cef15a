"""Subgraph matching kernel: bijections between small subgraphs.

On labels, isomorphism types are counted and compared with weights; with other kernels of nodes or
edges, the subgraphs of each graph are mapped into each other graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from types import FunctionType
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.fields import (
    ArrayOf,
    Counts,
    Either,
    Flag,
    Instance,
    Integer,
    Number,
    Optional,
    fields,
)
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import LARGEST_COUNT, require
from gramlet.engine.core.signature_table import SignaturesOf, SignatureTable
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror
from gramlet.engine.counts.comparison import compare
from gramlet.engine.neighbourhoods.small_subgraphs import (
    MAX_NODES,
    MapKernel,
    SubgraphCounts,
    count_subgraphs,
    map_sums,
    row_width,
)
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical
from gramlet.kernels.contract.columns import LARGEST, required_attributes
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.labels import EdgeLabels, NodeLabels
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.profile import Profile
from gramlet.kernels.contract.tags import GraphTags, used

_SIZE_WEIGHTS_FIELD = ArrayOf("float64", "size", least=0.0)
_SIZE_WEIGHTS = {
    "uniform": lambda s: 1.0,
    "increasing": float,
    "decreasing": lambda s: 1.0 / s,
    "strong-decreasing": lambda s: 1.0 / s**2,
}


def _has_features(kernel: SubgraphMatching) -> bool:
    return kernel.node_kernel == "label" and kernel.edge_kernel == "label"


class TypeCounter:
    """Counts induced subgraphs by type.

    The weight of a type of s nodes is λ_s times the number of its automorphisms.
    """

    stored = fields(
        size_weights=_SIZE_WEIGHTS_FIELD,
        connected=Flag(),
        with_edge_labels=Flag(),
        labels=Instance(NodeLabels),
        edge_labels=Instance(EdgeLabels),
        types=Instance(SignatureTable),
    )

    def __init__(self, size_weights: Floats, connected: bool, with_edge_labels: bool) -> None:
        self.size_weights = size_weights
        self.connected = connected
        self.with_edge_labels = with_edge_labels

    def fit(self, batch: GraphBatch, tiling: Tiling) -> WeightedCountProfile:
        """Learn the types of these graphs and count them."""
        self.labels, self.edge_labels = NodeLabels(), EdgeLabels(self.with_edge_labels)
        codes, edges = self.labels.fit(batch), self.edge_labels.fit(batch)
        size = len(self.size_weights)
        types = count_subgraphs(batch, codes, edges, size, self.connected, tiling=tiling)
        self.types = types.table
        return self._weighted(types)

    def count(self, batch: GraphBatch, tiling: Tiling) -> WeightedCountProfile:
        """Count types in new graphs; columns after the fitted ones are unseen types."""
        codes, edges = self.labels.encode(batch), self.edge_labels.encode(batch)
        size = len(self.size_weights)
        types = count_subgraphs(
            batch, codes, edges, size, self.connected, self.types, tiling=tiling
        )
        return self._weighted(types)

    def _weighted(self, types: SubgraphCounts) -> WeightedCountProfile:
        weights = self.size_weights[types.n_nodes - 1] * types.automorphisms
        profile = WeightedCountProfile(types.counts, weights, len(self.types))
        norms = profile.norms()
        if norms.max(initial=0.0) > LARGEST_COUNT:
            largest = int(np.argmax(norms))
            warnings.warn(
                f"SubgraphMatching: k(G, G) of graph {largest} is {norms[largest]:.3g}, beyond "
                "2**53: values are rounded to the 16 digits of a float.",
                stacklevel=2,
            )
        return profile

    def names(self) -> list[str]:
        """Each type by its labels and edges: ``C,C,O[0-1,1-2]``."""
        size = len(self.size_weights)
        nodes, edges = self.labels.names(), self.edge_labels.names()
        rows = self.types.data.reshape(-1, row_width(size)).tolist()
        return [_text(row, size, nodes, edges) for row in rows]

    def validate(self) -> None:
        _require_size(self.size_weights)
        SignaturesOf(row_width(len(self.size_weights))).check("types", self.types, {})

    @property
    def n_features(self) -> int:
        """The number of fitted types."""
        return len(self.types)


def _text(row: list[int], size: int, nodes: list[str], edges: list[str] | None) -> str:
    n = row[0]
    labels = ",".join(nodes[code] for code in row[1 : 1 + n])
    if n == 1:
        return labels
    bonds = []
    for j in range(1, n):
        for i in range(j):
            code = row[1 + size + j * (j - 1) // 2 + i]
            if code:
                bonds.append(f"{i}-{j}" if edges is None else f"{i}-{edges[code - 1]}-{j}")
    return f"{labels}[{','.join(bonds)}]"


@dataclass(frozen=True)
class WeightedCountProfile(Profile):
    """Counts compared by the dot product with one weight per column.

    One side is multiplied by the weights, so that whole numbers stay exact.

    Attributes
    ----------
    counts : csr_matrix of float64, one row per graph
    weights : array of float64
        One per column, at least 0.
    n_known : int
        Columns from here on are features not seen in `fit`.
    """

    counts: sparse.csr_matrix
    weights: Floats
    n_known: int

    stored = fields(
        counts=Counts("n", "d"),
        weights=ArrayOf("float64", "d", least=0.0),
        n_known=Integer(0, most="d"),
    )

    def __len__(self) -> int:
        return int(self.counts.shape[0])

    def take(self, rows: Ints) -> WeightedCountProfile:
        return WeightedCountProfile(self.counts[rows], self.weights, self.n_known)

    def compare(self, other: WeightedCountProfile, tiling: Tiling = QUIET) -> Floats:
        shared = min(self.n_known, other.n_known)
        weighted = sparse.csr_matrix(self.counts[:, :shared])
        weighted.data *= self.weights[weighted.indices]
        return compare(weighted, other.counts[:, :shared], "dot", tiling=tiling)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        out = self.compare(self, tiling)
        mirror(out)
        np.fill_diagonal(out, self.norms())
        return out

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        squares = self.counts.multiply(self.counts).tocsr()
        return np.asarray(squares @ self.weights, dtype=np.float64)

    def features(self) -> sparse.csr_matrix:
        """The columns of the fitted features, times the roots of their weights."""
        known = self.counts[:, : self.n_known].tocsr()
        known.data *= np.sqrt(self.weights)[known.indices]
        return known


@dataclass(frozen=True)
class MappingProfile(Profile):
    """Graphs that are compared by mapping subgraphs of one into the other.

    Attributes
    ----------
    graphs : GraphBatch
        With the columns that are used.
    node_kernel, edge_kernel : callable or None
        Functions of two labels; None: 1 for equal labels, otherwise 0.
    mu : float
        The rate of the Gaussian on attributes; 0 without attributes.
    size_weights : array of float64
    connected : bool
    """

    graphs: GraphBatch
    node_kernel: Callable[[Any, Any], float] | None
    edge_kernel: Callable[[Any, Any], float] | None
    mu: float
    size_weights: Floats
    connected: bool

    stored = fields(
        graphs=Instance(GraphBatch, len="n"),
        node_kernel=Optional(Instance(FunctionType)),
        edge_kernel=Optional(Instance(FunctionType)),
        mu=Number(0.0),
        size_weights=_SIZE_WEIGHTS_FIELD,
        connected=Flag(),
    )

    def __len__(self) -> int:
        return len(self.graphs)

    def take(self, rows: Ints) -> MappingProfile:
        return replace(self, graphs=self.graphs[rows])

    def compare(self, other: MappingProfile, tiling: Tiling = QUIET) -> Floats:
        return self._filled(other, False, tiling)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        out = self._filled(self, True, tiling)
        mirror(out)
        return out

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        norms, kernel = np.zeros((len(self), 1)), self._kernel(self)

        def work(begin: int, end: int) -> None:
            for i in range(begin, end):
                graph = self.graphs[i : i + 1]
                map_sums(0, 1, graph, graph, kernel, True, norms[i : i + 1])

        for_tiles(work, len(self), tiling=tiling)
        _require_finite(norms)
        return norms[:, 0]

    def _filled(self, other: MappingProfile, triangle: bool, tiling: Tiling) -> Floats:
        out, kernel = np.zeros((len(self), len(other))), self._kernel(other)

        def work(begin: int, end: int) -> None:
            map_sums(begin, end, self.graphs, other.graphs, kernel, triangle, out)

        sizes = self.graphs.sizes.astype(np.float64) + 1.0
        partners = np.arange(len(self), 0, -1.0) if triangle else 1.0
        for_tiles(work, len(self), costs=sizes * partners, tiling=tiling)
        _require_finite(out)
        return out

    def _kernel(self, other: MappingProfile) -> MapKernel:
        return MapKernel(
            _kernel_table(
                *("node_kernel", self.node_kernel),
                *(self.graphs.node_labels, other.graphs.node_labels),
            ),
            _kernel_table(
                *("edge_kernel", self.edge_kernel),
                *(self.graphs.edge_labels, other.graphs.edge_labels),
            ),
            self.mu,
            self.size_weights,
            self.connected,
        )

    def validate(self) -> None:
        _require_size(self.size_weights)


def _require_size(weights: Floats) -> None:
    require(1 <= len(weights) <= MAX_NODES, f"there must be 1 to {MAX_NODES} size_weights")


def _require_finite(values: Floats) -> None:
    """Raise a ValueError if products of the kernels' values overflow."""
    if not np.isfinite(values).all():
        raise ValueError(
            "SubgraphMatching: a sum of products of node_kernel and edge_kernel is beyond the "
            "largest number. Divide the values of these functions by a constant."
        )


def _kernel_table(
    name: str,
    kernel: Callable[[Any, Any], float] | None,
    first: Categorical | None,
    second: Categorical | None,
) -> Floats:
    """The values of a kernel on all pairs of labels; None is the label of columns that are None."""
    rows, columns = ((None,) if column is None else column.categories for column in (first, second))
    if kernel is None:
        return np.array([[float(a == b) for b in columns] for a in rows]).reshape(
            len(rows), len(columns)
        )
    table = np.empty((len(rows), len(columns)))
    for i, a in enumerate(rows):
        for j, b in enumerate(columns):
            value, mirrored = _number(name, kernel, a, b), _number(name, kernel, b, a)
            if value != mirrored:
                raise ValueError(
                    f"SubgraphMatching: {name} must be symmetric, but {name}({a!r}, {b!r}) is "
                    f"{value} and {name}({b!r}, {a!r}) is {mirrored}."
                )
            table[i, j] = value
    return table


def _number(
    name: str, kernel: Callable[[Any, Any], float], first: Hashable, second: Hashable
) -> float:
    """The value of a kernel on two labels, checked to be a finite number."""
    result = kernel(first, second)
    try:
        value = float(result)
    except (TypeError, ValueError):
        value = np.nan
    if not np.isfinite(value):
        raise ValueError(
            f"SubgraphMatching: {name}({first!r}, {second!r}) is {result!r}; it must be a finite "
            "number."
        )
    return value


@shared_texts
class SubgraphMatching(GraphKernel):
    """Subgraph matching kernel.

    k = Σ_{s=1..size} λ_s Σ over bijections φ between s-node subsets of G and of G' of
    Π_v κ_V(v, φ(v)) Π_{pairs} κ_E(pair, φ(pair)). κ_E is the edge kernel if both pairs are edges, 1
    if neither is, and 0 otherwise, so that subsets match as induced subgraphs.

    On labels the kernel is Σ_P λ_s a_P #P(G) #P(G') over labelled isomorphism types P with s nodes
    and a_P automorphisms: subsets are visited once per graph, and the kernel has `features`. With
    other kernels of nodes or edges the maps of each pair of graphs are enumerated, which is far
    slower.

    Parameters
    ----------
    size : int, default 3
        The largest number of nodes of a subset, up to 6, as types are found by trying all orders of
        their nodes.
    weights : {"uniform", "increasing", "decreasing", "strong-decreasing"} or sequence
        λ_s: 1, s, 1/s, 1/s², or ``size`` non-negative numbers.
    connected : bool, default True
        Use only subsets whose induced subgraph is connected.
    node_kernel : {"label", "gaussian"} or callable
        "label": 1 for equal labels, otherwise 0. "gaussian": exp(−mu ‖a − a'‖²) of node
        attributes; labels are ignored. A callable of two labels (None if there are none) must be
        symmetric.
    edge_kernel : {"label", "one"} or callable
        "label": 1 for equal edge labels, or if there are none. A callable as above.
    mu : float or None
        Rate of the Gaussian; None: 1/(number of attribute columns).
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    Notes
    -----
    Positive semi-definite if the kernels of nodes and edges are.

    References
    ----------
    Kriege, Mutzel (2012), Subgraph matching kernels for attributed graphs.

    Examples
    --------
    >>> from gramlet import SubgraphMatching
    >>> graphs = [([(0, 1), (1, 2)], ["C", "O", "C"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = SubgraphMatching()
    >>> kernel.fit_transform(graphs)
    array([[11.,  5.],
           [ 5.,  3.]])
    >>> kernel.get_feature_names_out().tolist()
    ['C', 'C,O[0-1]', 'C,C,O[0-2,1-2]', 'O']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "size": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions(set(_SIZE_WEIGHTS)), "array-like"],
        "connected": ["boolean"],
        "node_kernel": [StrOptions({"label", "gaussian"}), callable],
        "edge_kernel": [StrOptions({"label", "one"}), callable],
        "mu": [Interval(Real, 0, None, closed="left"), None],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        size: int = 3,
        weights: str | Sequence[float] = "uniform",
        *,
        connected: bool = True,
        node_kernel: str | Callable[[Any, Any], float] = "label",
        edge_kernel: str | Callable[[Any, Any], float] = "label",
        mu: float | None = None,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.size = size
        self.weights = weights
        self.connected = connected
        self.node_kernel = node_kernel
        self.edge_kernel = edge_kernel
        self.mu = mu
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, batch: GraphBatch) -> None:
        if self.size > MAX_NODES:
            raise ValueError(
                f"SubgraphMatching: size is {self.size}, but subgraphs are compared by all orders "
                f"of their nodes, which takes too long for more than {MAX_NODES}. Use a size up to "
                f"{MAX_NODES}."
            )

    def _size_weights(self) -> Floats:
        size = int(self.size)
        if isinstance(self.weights, str):
            rule = _SIZE_WEIGHTS[self.weights]
            return np.array([rule(s) for s in range(1, size + 1)])
        given = np.asarray(self.weights, dtype=np.float64)
        if given.shape != (size,) or not ((given >= 0) & (given <= LARGEST)).all():
            raise ValueError(
                f"SubgraphMatching: weights must be {size} finite numbers, one per size, none "
                f"below 0 or above {LARGEST:g}; got {self.weights!r}."
            )
        return given

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> Any:
        weights = self._size_weights()
        with_edge_labels = self.edge_kernel != "one"
        self.counter_: TypeCounter | None = None
        self.labels_: Any = None
        self.edge_labels_: Any = None
        if self.node_kernel == "label" and self.edge_kernel in ("label", "one"):
            self.counter_ = TypeCounter(weights, bool(self.connected), with_edge_labels)
            return self.counter_.fit(batch, tiling)
        self.labels_ = NodeLabels(self.node_kernel != "gaussian")
        self.edge_labels_ = EdgeLabels(with_edge_labels)
        self.labels_.fit(batch)
        self.edge_labels_.fit(batch)
        return self._mapped(batch, weights)

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> Any:
        if self.counter_ is not None:
            return self.counter_.count(batch, tiling)
        fitted: Any = self.profile_
        # This raises an error for graphs without a column that is used.
        self.labels_.encode(batch)
        self.edge_labels_.encode(batch)
        # Without fitted columns (no fitted graph has nodes) any number of attributes is accepted.
        attributes = fitted.graphs.node_attributes
        width = None if attributes is None else attributes.shape[1] or None
        return self._mapped(batch, fitted.size_weights, width)

    def _mapped(
        self, batch: GraphBatch, weights: Floats, width: int | None = None
    ) -> MappingProfile:
        """Graphs with the columns that are used; ``width`` is the fitted number of attributes."""
        attributes, mu = None, 0.0
        if self.node_kernel == "gaussian":
            attributes = required_attributes(batch, "SubgraphMatching", width)
            mu = 1.0 / max(1, attributes.shape[1]) if self.mu is None else float(self.mu)
        graphs = GraphBatch(
            batch.node_offsets,
            batch.indptr,
            batch.indices,
            node_labels=batch.node_labels if self.labels_.used else None,
            edge_labels=batch.edge_labels if self.edge_labels_.used else None,
            node_attributes=attributes,
        )
        return MappingProfile(
            graphs,
            self.node_kernel if callable(self.node_kernel) else None,
            self.edge_kernel if callable(self.edge_kernel) else None,
            mu,
            weights,
            bool(self.connected),
        )

    @available_if(_has_features)
    def features(self, X: Any) -> Any:
        """Compute the number of subgraphs of each fitted type, times a factor.

        The factor is the square root of λ times the number of automorphisms of the type.
        ``features(X) @ features(fitted).T`` is the un-normalised `transform(X)`.
        """
        return self.profile_of(X).features()

    @available_if(_has_features)
    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A readable name for each column of `features`."""
        check_is_fitted(self)
        counter: Any = self.counter_
        return np.array(counter.names(), dtype=object)

    stored = fields(
        counter_=Optional(Instance(TypeCounter)),
        labels_=Optional(Instance(NodeLabels)),
        edge_labels_=Optional(Instance(EdgeLabels)),
        profile_=Either(
            Instance(WeightedCountProfile, len="n_fitted_"),
            Instance(MappingProfile, len="n_fitted_"),
        ),
    )

    def _validate_fitted(self) -> None:
        profile: Any = self.profile_
        maps = isinstance(profile, MappingProfile)
        require(maps == (self.counter_ is None), "profile_ does not fit counter_")
        if self.counter_ is not None:
            known = (profile.n_known, profile.counts.shape[1])
            n_features = self.counter_.n_features
            require(known == (n_features, n_features), "counter_ has another number of types")
        else:
            require(None not in (self.labels_, self.edge_labels_), "the labels are missing")

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(
            features=_has_features(self),
            psd=not (callable(self.node_kernel) or callable(self.edge_kernel)),
            needs=("node_attributes",) if self.node_kernel == "gaussian" else (),
            # Functions get labels.
            uses=used(
                node_labels=self.node_kernel != "gaussian",
                node_attributes=self.node_kernel == "gaussian",
                edge_labels=self.edge_kernel != "one",
            ),
        )
