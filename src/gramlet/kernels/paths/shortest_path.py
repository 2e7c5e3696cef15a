"""Shortest-path kernel: counts of pairs of nodes by their labels and their distance."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from gramlet.common.arrays import Floats, Int32s, Ints
from gramlet.common.fields import (
    ArrayOf,
    Choice,
    Flag,
    Instance,
    Integer,
    ListOf,
    Number,
    Optional,
    Plain,
    Text,
    fields,
)
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require
from gramlet.engine.core.signature_table import SignaturesOf, SignatureTable, pack_rows
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.paths.shortest_paths import count_paths
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import checked_weights
from gramlet.kernels.contract.count_kernel import CountKernel, ExplicitFeatures
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS
from gramlet.kernels.contract.labels import LABEL_CHOICE, NodeLabels
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags, used
from gramlet.kernels.histograms.label_histograms import edge_name
from gramlet.kernels.weisfeiler_lehman.colour_counts import Colouring, columns_of_levels

# Lengths are equal if their relative difference is at most this.
_EQUAL = 1e-9
PAIRS = ("unordered", "ordered")
# The largest number of sources that a file may contain.
_MOST_SOURCES = 10**9


class LengthCodes:
    """Integer codes for real lengths: by bins, or one code per length up to rounding.

    In `fit` the lengths are sorted, and consecutive lengths within 1e-9 (relative) are equal. Later
    lengths within 1e-9 of a fitted length are equal to it; all others are new.
    """

    stored = fields(
        bin_width=Optional(Number(1e-140)),
        low=ArrayOf("float64", "runs", least=0.0),
        high=ArrayOf("float64", "runs", least=0.0),
    )

    def __init__(self, bin_width: float | None) -> None:
        self.bin_width = bin_width
        self.low = np.zeros(0)
        self.high = np.zeros(0)

    def fit(self, lengths: Floats) -> Ints:
        if self.bin_width is None:
            self.low, self.high = _runs(lengths)
        return self.codes(lengths)

    def codes(self, lengths: Floats) -> Ints:
        if self.bin_width is not None:
            return _bin_codes(lengths, self.bin_width)
        codes = _within(lengths, self.low, self.high)
        new = codes < 0
        if new.any():
            codes[new] = len(self.low) + _within(lengths[new], *_runs(lengths[new]))
        return codes

    def names(self, codes: Ints) -> list[str]:
        if self.bin_width is not None:
            width = self.bin_width
            bins = codes.view(np.float64).tolist()
            return [f"[{b * width:g}, {(b + 1) * width:g})" for b in bins]
        return [f"{self.low[c]:g}" for c in codes]

    def validate(self) -> None:
        """Raise ValueError if the runs of lengths do not increase."""
        rising = (self.low <= self.high).all() and (self.high[:-1] < self.low[1:]).all()
        require(rising, "the runs of lengths must increase")


def _bin_codes(lengths: Floats, bin_width: float) -> Ints:
    """The bits of floor(length / width), so that bins beyond the largest integer differ."""
    with np.errstate(over="ignore"):
        bins = np.floor(lengths / bin_width)
    if not np.isfinite(bins).all():
        longest = float(lengths[np.flatnonzero(~np.isfinite(bins))[0]])
        raise ValueError(
            f"ShortestPath: a path of length {longest:g} lies in no bin of width {bin_width:g}: "
            "their quotient is not finite. Use a larger bin_width."
        )
    return np.ascontiguousarray(bins + 0.0).view(np.int64)


def _runs(lengths: Floats) -> tuple[Floats, Floats]:
    """The smallest and largest length of each run of lengths that are equal up to rounding."""
    distinct = np.unique(lengths)
    if len(distinct) == 0:
        return distinct, distinct
    breaks = np.flatnonzero(np.diff(distinct) > _EQUAL * distinct[1:])
    return distinct[np.concatenate([[0], breaks + 1])], distinct[np.append(breaks, -1)]


def _within(lengths: Floats, low: Floats, high: Floats) -> Ints:
    """The run that each length belongs to, or −1."""
    codes = np.full(len(lengths), -1, dtype=np.int64)
    if len(low) == 0:
        return codes
    below = np.clip(np.searchsorted(low, lengths, side="right") - 1, 0, len(low) - 1)
    for run in (below, np.minimum(below + 1, len(low) - 1)):
        inside = (lengths >= low[run] * (1 - _EQUAL)) & (lengths <= high[run] * (1 + _EQUAL))
        codes[inside & (codes < 0)] = run[inside & (codes < 0)]
    return codes


def _count_matrix(offsets: Ints, codes: Ints, counts: Floats, n_known: int) -> sparse.csr_matrix:
    """The matrix of counts, with at least the ``n_known`` fitted columns."""
    n_columns = max(n_known, int(codes.max(initial=-1)) + 1)
    matrix = sparse.csr_matrix((counts, codes, offsets), shape=(len(offsets) - 1, n_columns))
    matrix.sum_duplicates()
    return matrix


class PathCounter:
    """Counts shortest paths by the labels of their ends and their length."""

    stored = fields(
        weighted=Flag(),
        use_labels=Plain(),
        pairs=Choice(*PAIRS),
        lengths=Instance(LengthCodes),
        owner=Text(),
        n_sources=Optional(Integer(1, most=_MOST_SOURCES)),
        seed=Integer(0, most=2**63 - 1),
        labels=Instance(NodeLabels),
        ordered=Flag(),
        types=SignaturesOf(3),
    )

    def __init__(self, kernel: ShortestPath) -> None:
        self.weighted = kernel.weighted
        self.use_labels = kernel.use_labels
        self.pairs = kernel.pairs
        self.lengths = LengthCodes(kernel.bin_width)
        self.owner = type(kernel).__name__
        self.n_sources = None if kernel.n_sources is None else int(kernel.n_sources)
        self.seed = 0
        if self.n_sources is not None:
            rng = check_random_state(kernel.random_state)
            self.seed = int(rng.randint(2**63 - 1, dtype=np.int64))

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        self.labels = NodeLabels(self.use_labels)
        self.ordered = self._is_ordered(batch)
        codes = self.labels.fit(batch)
        offsets, kinds, lengths, counts = self._paths(batch, codes, tiling)
        rows = np.column_stack([kinds[:, 1:], self.lengths.fit(lengths)])
        self.types, found = SignatureTable.fit(*pack_rows(rows))
        return _count_matrix(offsets, found, counts, len(self.types))

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        offsets, kinds, lengths, counts = self._paths(batch, self.labels.encode(batch), tiling)
        rows = np.column_stack([kinds[:, 1:], self.lengths.codes(lengths)])
        found = self.types.lookup(*pack_rows(rows))
        return _count_matrix(offsets, found, counts, len(self.types))

    def names(self) -> list[str]:
        nodes = self.labels.names()
        rows = self.types.data.reshape(-1, 3)
        lengths = self.lengths.names(rows[:, 2])
        return [
            f"{edge_name(nodes[a], None, nodes[b], self.ordered)}:{length}"
            for (a, b), length in zip(rows[:, :2].tolist(), lengths, strict=True)
        ]

    @property
    def n_features(self) -> int:
        return len(self.types)

    def _is_ordered(self, batch: GraphBatch) -> bool:
        return bool(batch.directed or self.pairs == "ordered")

    def _paths(
        self, batch: GraphBatch, codes: Ints, tiling: Tiling
    ) -> tuple[Ints, Int32s, Floats, Floats]:
        weights = checked_weights(batch, self.owner, positive=True) if self.weighted else None
        return count_paths(
            batch.node_offsets,
            batch.indptr,
            batch.indices,
            codes[None, :],
            weights,
            ordered=self._is_ordered(batch),
            symmetric=not batch.directed,
            n_sources=self.n_sources,
            seed=self.seed,
            tiling=tiling,
        )


class ColourPathCounter:
    """Counts shortest paths by the colours of their ends and their length, at every level.

    Each level has its own table, because a table of all levels would take more memory than
    anything else, apart from the Gram matrix.
    """

    stored = fields(colouring=Instance(Colouring), types=ListOf(SignaturesOf(3)))

    def __init__(self, colouring: Colouring) -> None:
        self.colouring = colouring

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        self.types: list[SignatureTable] = []

        def learn(level: int, rows: Ints) -> Ints:
            table, codes = SignatureTable.fit(*pack_rows(rows))
            self.types.append(table)
            return codes

        return self._counts(batch, self.colouring.fit(batch), learn, tiling)

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        def look_up(level: int, rows: Ints) -> Ints:
            return self.types[level].lookup(*pack_rows(rows))

        return self._counts(batch, self.colouring.apply(batch), look_up, tiling)

    def names(self) -> list[str]:
        numbers, patterns = self.colouring.level_numbers, self.colouring.patterns()
        names = []
        for level, texts, table in zip(numbers, patterns, self.types, strict=True):
            for a, b, length in table.data.reshape(-1, 3).tolist():
                ends = edge_name(texts[a], None, texts[b], self.colouring.directed)
                names.append(f"h{level}:{ends}:{length}")
        return names

    def validate(self) -> None:
        n_levels = len(self.colouring.level_numbers)
        require(len(self.types) == n_levels, "there must be one table of types per level")

    @property
    def n_features(self) -> int:
        return sum(len(table) for table in self.types)

    def _counts(
        self,
        batch: GraphBatch,
        levels: Ints,
        codes_of: Callable[[int, Ints], Ints],
        tiling: Tiling,
    ) -> sparse.csr_matrix:
        """Count paths; ``codes_of(level, rows)`` gives the codes of two colours and a length."""
        offsets, kinds, lengths, counts = count_paths(
            batch.node_offsets,
            batch.indptr,
            batch.indices,
            levels,
            ordered=batch.directed,
            tiling=tiling,
        )
        places = [np.flatnonzero(kinds[:, 0] == level) for level in range(len(levels))]
        codes = []
        for level, at in enumerate(places):
            rows = np.column_stack([kinds[at, 1:], lengths[at].astype(np.int32)])
            codes.append(codes_of(level, rows))
        known = [len(table) for table in self.types]
        columns = np.empty(len(counts), dtype=np.int64)
        for at, found in zip(places, columns_of_levels(codes, known), strict=True):
            columns[at] = found
        return _count_matrix(offsets, columns, counts, sum(known))


@shared_texts
class ShortestPath(ExplicitFeatures, CountKernel):
    """Shortest-path kernel.

    k is the dot product of counts of (unordered pair of end labels, length) over the unordered
    pairs of distinct nodes with a path between them. Cost: O(n m) for a graph with n nodes and m
    edges (weighted: O(n m log n)), then a sparse product. Positive semi-definite. Without weights,
    64 nodes are searched from at a time, and leaves of one node that have equal labels are searched
    as one. With ``n_sources`` the cost is O(n_sources m).

    In directed graphs paths follow arcs, and k counts (label of the first node, label of the last,
    length) over the ordered pairs of distinct nodes, for both values of ``pairs``.

    Parameters
    ----------
    weighted : bool, default False
        Use the edge weights, which must be above 0, as lengths. Otherwise every edge has length 1.
    use_labels : bool or "auto", default "auto"
        Whether to use the labels of the ends; "auto" uses them if the fitted graphs have labels.
    bin_width : float or None
        Lengths match if floor(length / bin_width) is equal. None: if they are equal up to rounding
        (1e-9 relative), which real-valued lengths hardly ever are: give a width with
        ``weighted=True``.
    pairs : {"unordered", "ordered"}, default "unordered"
        Whether undirected graphs are counted by unordered pairs of nodes and labels, or by ordered
        pairs, as in GraKeL. With ordered pairs, a pair of paths between equal labels has weight
        four, other pairs two.
    n_sources : int or None
        In graphs with more nodes, count the paths from this many nodes, drawn without replacement,
        and scale the counts: the expectation of every count is the exact one. The relative error
        decreases with the square root of ``n_sources``. None: all paths.
    random_state : int, RandomState or None
        For ``n_sources``. The draw from a graph depends only on it and on the graph.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    References
    ----------
    Borgwardt, Kriegel (2005), Shortest-path kernels on graphs.

    Examples
    --------
    >>> from gramlet import ShortestPath
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> kernel = ShortestPath()
    >>> kernel.fit_transform(graphs)
    array([[1., 2.],
           [2., 5.]])
    >>> kernel.get_feature_names_out().tolist()
    ['C-O:1', 'O-O:2']

    Two nested calls, and two calls from the same function:

    >>> import networkx as nx
    >>> nested = nx.DiGraph([("main", "read"), ("read", "parse")])
    >>> flat = nx.DiGraph([("main", "read"), ("main", "parse")])
    >>> kernel.fit_transform([nested, flat])
    array([[5., 4.],
           [4., 4.]])
    >>> kernel.get_feature_names_out().tolist()
    ['*->*:1', '*->*:2']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "weighted": ["boolean"],
        "use_labels": LABEL_CHOICE,
        "bin_width": [Interval(Real, 0, None, closed="neither"), None],
        "pairs": [StrOptions(set(PAIRS))],
        "n_sources": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        weighted: bool = False,
        use_labels: bool | str = "auto",
        *,
        bin_width: float | None = None,
        pairs: str = "unordered",
        n_sources: int | None = None,
        random_state: Any = None,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.weighted = weighted
        self.use_labels = use_labels
        self.bin_width = bin_width
        self.pairs = pairs
        self.n_sources = n_sources
        self.random_state = random_state
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _counter(self) -> PathCounter:
        return PathCounter(self)

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(
            features=True,
            directed=True,
            random=self.n_sources is not None,
            uses=used(node_labels=self.use_labels, edge_weights=self.weighted),
        )
