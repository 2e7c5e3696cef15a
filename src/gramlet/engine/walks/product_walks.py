"""Sums over common walks of two graphs, for all pairs of many graphs.

The product graph A× (pairs of nodes of equal label, both edges present) is never formed. Nodes of a
graph are sorted by label, so that the partners of a node are one range of the other graph's nodes:
a vector over the product graph is a list of such ranges, and A× is applied row by row, along arcs
in directed graphs. `spectral_radius` checks that a decay is small enough; undirected graphs without
labels are in `spectra`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from gramlet.common.arrays import Floats, Ints, Nodes
from gramlet.common.fields import ArrayOf, Offsets, fields
from gramlet.common.stored_state import require
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import copy_into, taken

GEOMETRIC, EXPONENTIAL, STEPS = 0, 1, 2
KINDS = {"geometric": GEOMETRIC, "exponential": EXPONENTIAL, "steps": STEPS}

# The error of a geometric sum, relative to the sum.
_ACCURACY = 1e-15
# The smallest distance of decay · ρ from 1 that a solution resolves.
_SMALLEST_GAP = 1e-9
# No exponential in the range of a float64 needs this many terms or pieces.
_MANY_TERMS = 100_000
# Product graphs with fewer nodes are fast to factorise: after so many terms of a geometric series
# of a directed pair, the sum is left to `linear_sum`.
FACTORISED, _FEW_TERMS, _MOST_TERMS = 50_000, 64, 300_000


class LabelledGraphs(NamedTuple):
    """Many graphs, the nodes of each sorted by label.

    Attributes
    ----------
    node_offsets, indptr : arrays of int64
        As in a `GraphBatch`.
    heads : array of int64
        The neighbours, numbered from 0 within their graph.
    weights : array of float64
        One weight per entry of ``heads``.
    class_offsets : array of int64
        A class is the nodes of a graph with one label. Graph i has the classes
        ``class_offsets[i]:class_offsets[i + 1]``.
    class_labels, class_begins, class_ends : arrays of int64
        Label, and the range of nodes within the graph; labels ascend within a graph.
    """

    node_offsets: Ints
    indptr: Ints
    heads: Ints
    weights: Floats
    class_offsets: Ints
    class_labels: Ints
    class_begins: Ints
    class_ends: Ints

    @property
    def n_graphs(self) -> int:
        """The number of graphs."""
        return len(self.node_offsets) - 1

    def validate(self) -> None:
        """Raise ValueError if arcs leave their graph or classes do not divide the nodes."""
        sizes = np.diff(self.node_offsets)
        of_arc = np.repeat(np.repeat(sizes, sizes), np.diff(self.indptr))
        require((self.heads < of_arc).all(), "heads must be nodes of their graph")
        self._check_classes(sizes, np.diff(self.class_offsets))

    def validate_undirected(self) -> None:
        """Raise ValueError if an edge is not stored both ways with the same weight."""
        sizes = np.diff(self.node_offsets)
        tails = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        shifted = self.heads + np.repeat(self.node_offsets[:-1], sizes)[tails]
        places = np.lexsort((shifted, tails)), np.lexsort((tails, shifted))
        there, back = (np.stack([tails, shifted])[:, at] for at in places)
        same = (self.weights[places[0]] == self.weights[places[1]]).all()
        require(same and (there == back[::-1]).all(), "edges must be the same both ways")

    def _check_classes(self, sizes: Ints, counts: Ints) -> None:
        """Check that the classes of a graph cover its nodes in order, with ascending labels."""
        require(((counts == 0) == (sizes == 0)).all(), "a graph with nodes must have classes")
        graphs = np.repeat(np.arange(len(sizes)), counts)
        begins, ends, labels = self.class_begins, self.class_ends, self.class_labels
        inner = graphs[1:] == graphs[:-1]
        first = np.append(True, ~inner)[: len(graphs)]
        last = np.append(~inner, True)[: len(graphs)]
        require(
            (begins[first] == 0).all()
            and (ends[last] == sizes[graphs[last]]).all()
            and (begins < ends).all()
            and (begins[1:][inner] == ends[:-1][inner]).all(),
            "the classes of a graph must cover its nodes",
        )
        require((labels[1:][inner] > labels[:-1][inner]).all(), "labels must ascend")

    def take(self, rows: Ints) -> LabelledGraphs:
        """The graphs at these positions."""
        node_offsets, nodes = taken(self.node_offsets, rows)
        indptr, arcs = taken(self.indptr, nodes)
        class_offsets, classes = taken(self.class_offsets, rows)
        return LabelledGraphs(
            node_offsets,
            indptr,
            self.heads[arcs],
            self.weights[arcs],
            class_offsets,
            self.class_labels[classes],
            self.class_begins[classes],
            self.class_ends[classes],
        )


# Not in the class: type checkers take it for one of the tuple's fields.
LabelledGraphs.stored = fields(  # type: ignore[attr-defined]
    node_offsets=Offsets("graphs", "nodes"),
    indptr=Offsets("nodes", "arcs"),
    heads=ArrayOf("int64", "arcs", least=0),
    weights=ArrayOf("float64", "arcs"),
    class_offsets=Offsets("graphs", "classes"),
    class_labels=ArrayOf("int64", "classes", least=0),
    class_begins=ArrayOf("int64", "classes", least=0),
    class_ends=ArrayOf("int64", "classes", least=0),
)


class Pair(NamedTuple):
    """Graph i of one set and graph j of another, and the layout of vectors over their product.

    Node u of the left graph is paired with the nodes ``low[u]:high[u]`` of the right one; the
    values of these pairs start at ``start[u]``. ``row`` is workspace, one entry per right node.
    """

    left: LabelledGraphs
    i: int
    right: LabelledGraphs
    j: int
    low: Ints
    high: Ints
    start: Ints
    row: Floats


def sort_by_label(
    node_offsets: Ints, indptr: Ints, indices: Nodes, labels: Ints, weights: Floats | None
) -> LabelledGraphs:
    """Sort the nodes of every graph by label; without weights every edge has weight 1.

    >>> two = np.array([0, 1, 2])
    >>> sort_by_label(np.array([0, 2]), two, np.array([1, 0]), np.array([7, 3]), None).class_labels
    array([3, 7])
    """
    sizes, degrees = np.diff(node_offsets), np.diff(indptr)
    graph_of_node = np.repeat(np.arange(len(sizes)), sizes)
    old_of_new = np.lexsort((labels, graph_of_node))
    new_of_old = np.empty_like(old_of_new)
    new_of_old[old_of_new] = np.arange(len(old_of_new))
    tails, heads = np.repeat(new_of_old, degrees), new_of_old[indices]
    arcs = np.lexsort((heads, tails))
    first_of_tail = node_offsets[graph_of_node][tails[arcs]]
    sorted_labels = labels[old_of_new]
    begins, owners = _class_begins(sorted_labels, graph_of_node)
    ends = np.append(begins[1:], len(labels))[: len(begins)]
    return LabelledGraphs(
        np.array(node_offsets, dtype=np.int64),
        np.concatenate([[0], np.cumsum(degrees[old_of_new])]).astype(np.int64),
        heads[arcs] - first_of_tail,
        np.ones(len(arcs)) if weights is None else weights[arcs],
        np.searchsorted(owners, np.arange(len(sizes) + 1)).astype(np.int64),
        sorted_labels[begins].astype(np.int64),
        begins - node_offsets[owners],
        ends - node_offsets[owners],
    )


def _class_begins(sorted_labels: Ints, graph_of_node: Ints) -> tuple[Ints, Ints]:
    """The first node of every class, numbered over all graphs, and the graph of the class."""
    new = np.ones(len(sorted_labels), dtype=bool)
    new[1:] = (np.diff(sorted_labels) != 0) | (np.diff(graph_of_node) != 0)
    begins = np.flatnonzero(new)
    return begins, graph_of_node[begins]


@njit(nogil=True, cache=True)
def most_nodes(offsets: Ints) -> int:
    """The number of nodes of the largest graph."""
    most = 0
    for g in range(len(offsets) - 1):
        most = max(most, offsets[g + 1] - offsets[g])
    return most


@njit(nogil=True, cache=True)
def room(left: LabelledGraphs, right: LabelledGraphs) -> tuple[Ints, Ints, Ints, Floats]:
    """Arrays for the layout of any pair of these graphs."""
    tallest = most_nodes(left.node_offsets)
    low, high, start = (
        np.empty(tallest, np.int64),
        np.empty(tallest, np.int64),
        np.empty(tallest, np.int64),
    )
    return low, high, start, np.empty(most_nodes(right.node_offsets))


@njit(nogil=True, cache=True)
def lay_out(pair: Pair) -> int:
    """Fill in the layout of a pair; return the number of nodes of its product graph."""
    left, right = pair.left, pair.right
    filled = 0
    b, b_end = right.class_offsets[pair.j], right.class_offsets[pair.j + 1]
    for a in range(left.class_offsets[pair.i], left.class_offsets[pair.i + 1]):
        label = left.class_labels[a]
        while b < b_end and right.class_labels[b] < label:
            b += 1
        begin, end = 0, 0
        if b < b_end and right.class_labels[b] == label:
            begin, end = right.class_begins[b], right.class_ends[b]
        for u in range(left.class_begins[a], left.class_ends[a]):
            pair.low[u], pair.high[u], pair.start[u] = begin, end, filled
            filled += end - begin
    return filled


@njit(nogil=True, cache=True)
def apply_product(pair: Pair, x: Floats, out: Floats) -> None:
    """``out = A× x``."""
    left, right, low, high, row = pair.left, pair.right, pair.low, pair.high, pair.row
    first, last = left.node_offsets[pair.i], left.node_offsets[pair.i + 1]
    other = right.node_offsets[pair.j]
    n_other = right.node_offsets[pair.j + 1] - other
    for u in range(last - first):
        if low[u] == high[u]:
            continue
        # Row u of A x: the sum of the neighbours' rows, each on the range of its own label.
        row[:n_other] = 0.0
        for arc in range(left.indptr[first + u], left.indptr[first + u + 1]):
            neighbour, weight = left.heads[arc], left.weights[arc]
            length = high[neighbour] - low[neighbour]
            part = row[low[neighbour] : high[neighbour]]
            values = x[pair.start[neighbour] : pair.start[neighbour] + length]
            for k in range(length):
                part[k] += weight * values[k]
        # Times the columns of the right graph.
        for k in range(high[u] - low[u]):
            node = other + low[u] + k
            total = 0.0
            for arc in range(right.indptr[node], right.indptr[node + 1]):
                total += right.weights[arc] * row[right.heads[arc]]
            out[pair.start[u] + k] = total


# The compiler may reorder sums, which saves a quarter of the time.
@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _geometric(pair: Pair, decay: float, gap: float, n: int, space: Floats) -> float:
    """1ᵀ(I − λA×)⁻¹1 by conjugate gradients; NaN if they do not converge.

    The sum is accumulated from the energies of the steps; the rest is at most the squared residual
    over the smallest eigenvalue, 1 − λρ ≥ ``gap``.
    """
    residual, direction, image = space[0], space[1], space[2]
    residual[:n] = 1.0
    direction[:n] = 1.0
    squared = float(n)
    enough = 0.5 * _ACCURACY * max(gap, _SMALLEST_GAP) * n
    total = 0.0
    for _ in range(10 * n + 100):
        # The image of the direction under I − λA×.
        apply_product(pair, direction, image)
        curvature = 0.0
        for k in range(n):
            image[k] = direction[k] - decay * image[k]
            curvature += direction[k] * image[k]
        if not curvature > 0.0:
            return np.nan
        # A step along the direction.
        length = squared / curvature
        total += length * squared
        before, squared = squared, 0.0
        for k in range(n):
            residual[k] -= length * image[k]
            squared += residual[k] * residual[k]
        if squared <= enough:
            return total
        # The next direction.
        turn = squared / before
        for k in range(n):
            direction[k] = residual[k] + turn * direction[k]
    return np.nan


@njit(nogil=True, cache=True)
def _series(pair: Pair, decay: float, n: int, space: Floats) -> float:
    """1ᵀ(I − λA×)⁻¹1 of a directed pair, term by term, for weights that are not negative.

    NaN if there are too many terms, inf if the sum is too large.
    """
    total, term, image = space[0], space[1], space[2]
    total[:n] = 1.0
    term[:n] = 1.0
    for _ in range(_FEW_TERMS if n <= FACTORISED else _MOST_TERMS):
        apply_product(pair, term, image)
        largest = 0.0
        for k in range(n):
            term[k] = decay * image[k]
            total[k] += term[k]
            largest = max(largest, term[k])
        if largest <= 0.1 * _ACCURACY:
            return total[:n].sum()
        if not largest < np.inf:
            return np.inf
    return np.nan


@njit(nogil=True, cache=True)
def _exponential(
    pair: Pair, decay: float, signed: bool, directed: bool, n: int, space: Floats
) -> float:
    """1ᵀ exp(λA×) 1 as a power series; inf if it overflows. Of an undirected pair ‖exp(λA×/2) 1‖².

    A term is at most ‖λA×‖/step times the previous one, so that after 2‖λA×‖ steps a term bounds
    the sum of all that follow. With negative weights the terms of a long series cancel; it is then
    split into factors exp(λA×/pieces) of norm at most e, which are applied one after the other.
    """
    # A bound on the norm of the exponent, and the number of factors.
    total, term, image = space[0], space[1], space[2]
    total[:n] = 1.0
    decay *= 1.0 if directed else 0.5
    norm = decay * min(
        _largest_row(pair.left, pair.i) * _largest_row(pair.right, pair.j),
        _largest_column(pair.left, pair.i) * _largest_column(pair.right, pair.j),
    )
    n_pieces = np.ceil(max(1.0, norm)) if signed else 1.0
    if n_pieces > _MANY_TERMS:
        return np.inf
    for _ in range(int(n_pieces)):
        copy_into(total[:n], term)
        # The power series of one factor.
        for step in range(1, _MANY_TERMS):
            apply_product(pair, term, image)
            factor = decay / (n_pieces * step)
            added, reached = 0.0, 0.0
            for k in range(n):
                term[k] = factor * image[k]
                total[k] += term[k]
                added += abs(term[k])
                reached += abs(total[k])
            if not reached < np.inf:
                return np.inf
            decreasing = step + 1 >= 2.0 * norm / n_pieces
            if added == 0.0 or (decreasing and added <= 1e-17 * reached):
                break
        else:
            return np.inf
    # The sum, or the squared norm.
    result = 0.0
    for k in range(n):
        result += total[k] if directed else total[k] * total[k]
    return result


@njit(nogil=True, cache=True)
def _largest_row(graphs: LabelledGraphs, i: int) -> float:
    """The largest sum of the absolute weights of the arcs that leave a node of graph i."""
    largest = 0.0
    for u in range(graphs.node_offsets[i], graphs.node_offsets[i + 1]):
        total = 0.0
        for arc in range(graphs.indptr[u], graphs.indptr[u + 1]):
            total += abs(graphs.weights[arc])
        largest = max(largest, total)
    return largest


@njit(nogil=True, cache=True)
def _largest_column(graphs: LabelledGraphs, i: int) -> float:
    """The same for the arcs that end at a node."""
    first, last = graphs.node_offsets[i], graphs.node_offsets[i + 1]
    totals = np.zeros(last - first)
    for arc in range(graphs.indptr[first], graphs.indptr[last]):
        totals[graphs.heads[arc]] += abs(graphs.weights[arc])
    return totals.max() if last > first else 0.0


@njit(nogil=True, cache=True)
def _steps(pair: Pair, decay: float, n_steps: int, n: int, space: Floats) -> float:
    """Σ_{i ≤ p} λ^i 1ᵀA×^i 1."""
    here, there = space[0], space[1]
    here[:n] = 1.0
    total = float(n)
    for _ in range(n_steps):
        apply_product(pair, here, there)
        added, largest = 0.0, 0.0
        for k in range(n):
            there[k] *= decay
            added += there[k]
            largest = max(largest, abs(there[k]))
        total += added
        if largest == 0.0:
            break
        here, there = there, here
    return total


@njit(nogil=True, cache=True)
def walk_rows(
    begin: int,
    end: int,
    left: LabelledGraphs,
    right: LabelledGraphs,
    radii: Floats,
    other_radii: Floats,
    signed: bool,
    directed: bool,
    kind: int,
    decay: float,
    n_steps: int,
    which: int,
    out: Floats,
) -> None:
    """Fill rows ``begin:end`` of the matrix of sums over common walks.

    The product ``radii[i] * other_radii[j]`` bounds ρ(A×) of a pair. ``which`` is 0 for all
    columns, 1 for those from the diagonal on, 2 for the diagonal only, which is then written to
    column 0. A value is NaN if the solution did not converge, inf if the sum is too large.
    """
    n_right = len(right.node_offsets) - 1
    low, high, start, row = room(left, right)
    space = np.empty((3, 0))
    for i in range(begin, end):
        for j in range(i if which > 0 else 0, i + 1 if which == 2 else n_right):
            # The layout of the product graph, with workspace for three vectors.
            pair = Pair(left, i, right, j, low, high, start, row)
            n = lay_out(pair)
            if n > space.shape[1]:
                space = np.empty((3, n + n // 2))
            # The sum, by the method of its kind.
            if n == 0:
                value = 0.0
            elif kind == GEOMETRIC and directed:
                value = np.nan if signed else _series(pair, decay, n, space)
            elif kind == GEOMETRIC:
                value = _geometric(pair, decay, 1.0 - decay * radii[i] * other_radii[j], n, space)
            elif kind == EXPONENTIAL:
                value = _exponential(pair, decay, signed, directed, n, space)
            else:
                value = _steps(pair, decay, n_steps, n, space)
            out[i, 0 if which == 2 else j] = value


def linear_sum(left: LabelledGraphs, i: int, right: LabelledGraphs, j: int, decay: float) -> float:
    """1ᵀ(I − λA×)⁻¹1 of one pair by a sparse factorisation; NaN if the system is singular."""
    matrix = product_matrix(left, i, right, j)
    system = (sparse.identity(matrix.shape[0]) - decay * matrix).tocsc()
    options: dict[str, Any] = {}
    if matrix.data.min(initial=0.0) >= 0.0:
        # With the pivots on the diagonal nothing cancels, as the inverse has no negative entries.
        options = {
            "permc_spec": "MMD_AT_PLUS_A",
            "diag_pivot_thresh": 0.0,
            "options": {"SymmetricMode": True},
        }
    try:
        return float(splu(system, **options).solve(np.ones(matrix.shape[0])).sum())
    except RuntimeError:
        return float("nan")


def product_matrix(
    left: LabelledGraphs, i: int, right: LabelledGraphs, j: int
) -> sparse.csr_matrix:
    """A× of one pair of graphs, as a sparse matrix."""
    n, indptr, heads, weights = _product_arcs(left, i, right, j)
    return sparse.csr_matrix((weights, heads, indptr), shape=(n, n))


@njit(nogil=True, cache=True)
def _product_arcs(
    left: LabelledGraphs, i: int, right: LabelledGraphs, j: int
) -> tuple[int, Ints, Ints, Floats]:
    """The number of nodes of the product graph, and A× as CSR: row offsets, columns, values."""
    low, high, start, row = room(left, right)
    pair = Pair(left, i, right, j, low, high, start, row)
    n = lay_out(pair)
    first, last = left.node_offsets[i], left.node_offsets[i + 1]
    other = right.node_offsets[j]
    indptr = np.zeros(n + 1, dtype=np.int64)
    heads, weights = np.empty(0, dtype=np.int64), np.empty(0)
    # Two passes over the same arcs: count the entries of every row, then write them.
    for write in (False, True):
        if write:
            for k in range(n):
                indptr[k + 1] += indptr[k]
            heads, weights = np.empty(indptr[n], dtype=np.int64), np.empty(indptr[n])
        filled = 0
        # Row (u, v): all pairs of arcs from u and v whose heads have the same label.
        for u in range(last - first):
            for v in range(low[u], high[u]):
                at = start[u] + v - low[u]
                for a in range(left.indptr[first + u], left.indptr[first + u + 1]):
                    head = left.heads[a]
                    for b in range(right.indptr[other + v], right.indptr[other + v + 1]):
                        partner = right.heads[b]
                        if not low[head] <= partner < high[head]:
                            continue
                        if write:
                            heads[filled] = start[head] + partner - low[head]
                            weights[filled] = left.weights[a] * right.weights[b]
                            filled += 1
                        else:
                            indptr[at + 1] += 1
    return n, indptr, heads, weights
