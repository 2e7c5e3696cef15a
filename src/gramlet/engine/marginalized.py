"""Marginalised kernels pair by pair: a sparse linear system on the product of two graphs.

With κ the kernel on nodes and W the probabilities of steps in both graphs times the kernel on
edges, the unknowns are x = κ ∘ (q² + c W x), c = (1 − q)². Only pairs of nodes with κ > 0 are
unknowns. For undirected graphs, the system is symmetric and positive definite in y = x √(D/κ), with
D the product of the nodes' totals, and is solved by conjugate gradients. For directed graphs it is
solved by iteration.

The matrix I − c κ W has a non-negative inverse. The solvers stop when every residual is below ε
times its right-hand side; then every unknown has a relative error below ε.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Flag, Integer, Number, Offsets, fields
from gramlet.common.stored_state import require
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import taken

# The factors of a kernel on nodes or edges.
ONE, LABEL, GAUSSIAN, BOTH = 0, 1, 2, 3
KINDS = {"one": ONE, "label": LABEL, "gaussian": GAUSSIAN, "label*gaussian": BOTH}
# Derivatives: stop, node floor, edge floor, node scale, edge scale.
N_PARAMETERS = 5
_ALL, _TRIANGLE, _DIAGONAL = 0, 1, 2
# The compiler may reorder sums, so that they are vectorised.
_SUMS = {"reassoc", "contract", "nsz"}
# The largest residual relative to the right-hand side: of the kernel, and of its derivatives.
_EPSILON, _EPSILON_OF_SLOPES = 5e-12, 1e-11
# The smallest ratio of two totals of a graph for which the symmetric system is solved.
_WIDEST = 1e-6


@dataclass(frozen=True)
class PairKernel:
    """The parameters of the comparison.

    Attributes
    ----------
    stop : float
    node_kind, edge_kind : int
        Values of `KINDS`.
    node_floor, edge_floor, node_scale, edge_scale : float
    uniform : bool
        Whether a walk starts at each node with probability 1/n; otherwise every start has weight 1.
    """

    stop: float
    node_kind: int
    edge_kind: int
    node_floor: float
    edge_floor: float
    node_scale: float
    edge_scale: float
    uniform: bool

    stored = fields(
        stop=Number(0.0, 1.0),
        node_kind=Integer(ONE, BOTH),
        edge_kind=Integer(ONE, BOTH),
        node_floor=Number(0.0, 1.0),
        edge_floor=Number(0.0, 1.0),
        node_scale=Number(5e-324),
        edge_scale=Number(5e-324),
        uniform=Flag(),
    )

    def numbers(self) -> Floats:
        """The parameters as an array, as compiled code takes them."""
        return np.array([float(getattr(self, field.name)) for field in dataclasses.fields(self)])

    def validate(self) -> None:
        """Raise ValueError for a probability that the kernel would not accept."""
        require(0.0 < self.stop < 1.0, "stop must lie between 0 and 1")


@dataclass(frozen=True)
class WalkGraphs:
    """Graphs with the probabilities of the steps of their walks.

    Attributes
    ----------
    offsets : array of int64
        Graph g has the nodes ``offsets[g]:offsets[g + 1]``.
    indptr, indices : arrays of int64
        Arcs by their tail; heads are numbered within the graph.
    steps : array of float64
        The probability of each arc among those of its tail.
    totals : array of float64
        The sum of the weights of a node's arcs.
    labels, edge_labels : arrays of int64
        One code per node, and one per arc.
    attributes, edge_attributes : arrays of float64
        One row per node, and one per arc; no columns if they are not used.
    """

    offsets: Ints
    indptr: Ints
    indices: Ints
    steps: Floats
    totals: Floats
    labels: Ints
    edge_labels: Ints
    attributes: Floats
    edge_attributes: Floats

    stored = fields(
        offsets=Offsets(None, "n"),
        indptr=Offsets("n", "m"),
        indices=ArrayOf("int64", "m", least=0),
        steps=ArrayOf("float64", "m", least=0.0, most=1.0),
        totals=ArrayOf("float64", "n", least=0.0),
        labels=ArrayOf("int64", "n", least=0),
        edge_labels=ArrayOf("int64", "m", least=0),
        attributes=ArrayOf("float64", "n", None),
        edge_attributes=ArrayOf("float64", "m", None),
    )

    @property
    def n_graphs(self) -> int:
        return len(self.offsets) - 1

    def arrays(self) -> tuple[Ints | Floats, ...]:
        """The columns in the order in which compiled code takes them."""
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def take(self, graphs: Ints) -> WalkGraphs:
        """The graphs at these positions."""
        offsets, nodes = taken(self.offsets, graphs)
        indptr, arcs = taken(self.indptr, nodes)
        return WalkGraphs(
            offsets,
            indptr,
            self.indices[arcs],
            self.steps[arcs],
            self.totals[nodes],
            self.labels[nodes],
            self.edge_labels[arcs],
            self.attributes[nodes],
            self.edge_attributes[arcs],
        )

    def work(self) -> Floats:
        """The number of arcs and nodes of each graph, to which the cost is proportional."""
        arcs = np.diff(self.indptr[self.offsets])
        return (arcs + np.diff(self.offsets)).astype(np.float64)

    def validate(self) -> None:
        """Raise ValueError if the arrays do not fit together."""
        sizes, degrees = np.diff(self.offsets), np.diff(self.indptr)
        tails, walks = np.repeat(np.arange(len(degrees)), degrees), degrees > 0
        require((self.indices < np.repeat(sizes, sizes)[tails]).all(), "an arc leaves its graph")
        sums = np.bincount(tails, self.steps, len(degrees))
        require(np.allclose(sums, walks, 0.0, 1e-9), "steps must add up to 1 at each node")
        require((self.totals[walks] > 0).all(), "totals must be above 0 where there are arcs")
        require((self.totals[~walks] == 0).all(), "totals must be 0 where there are no arcs")


def walk_graphs(
    offsets: Ints,
    indptr: Ints,
    indices: Ints,
    weights: Floats | None,
    labels: Ints,
    edge_labels: Ints,
    attributes: Floats,
    edge_attributes: Floats,
) -> WalkGraphs:
    """Graphs of a batch; without ``weights``, all arcs of a node are equally likely."""
    degrees = np.diff(indptr)
    tails = np.repeat(np.arange(len(degrees)), degrees)
    if weights is None:
        weights = np.ones(len(indices))
    totals = np.bincount(tails, weights, len(degrees)).astype(np.float64)
    firsts = np.repeat(offsets[:-1], np.diff(offsets))
    return WalkGraphs(
        np.array(offsets),
        np.array(indptr),
        indices - firsts[tails],
        np.asarray(weights / totals[tails], dtype=np.float64),
        totals,
        labels,
        edge_labels,
        np.ascontiguousarray(attributes),
        np.ascontiguousarray(edge_attributes),
    )


def pair_rows(
    begin: int,
    end: int,
    rows: WalkGraphs,
    columns: WalkGraphs,
    numbers: Floats,
    directed: bool,
    part: int,
    matrix: Floats,
    slopes: Floats,
) -> None:
    """Fill rows ``begin:end`` of a kernel matrix, and of its derivatives if ``slopes`` has any.

    ``part`` is 0 for all columns, 1 for those from the diagonal on, 2 for the diagonal, which is
    then the only column of ``matrix``.
    """
    _fill(begin, end, rows.arrays(), columns.arrays(), numbers, directed, part, matrix, slopes)


@njit(nogil=True, cache=True, error_model="numpy")
def _fill(begin, end, rows, columns, numbers, directed, part, matrix, slopes):  # type: ignore[no-untyped-def]
    """All pairs of a range of rows."""
    n_columns = len(columns[0]) - 1
    for i in range(begin, end):
        first, last = 0, n_columns
        if part == _TRIANGLE:
            first = i
        elif part == _DIAGONAL:
            first, last = i, i + 1
        for j in range(first, last):
            place = 0 if part == _DIAGONAL else j
            by_parameter = slopes[:, i, place] if len(slopes) else slopes[:, 0, 0]
            matrix[i, place] = _pair(rows, i, columns, j, numbers, directed, by_parameter)


@njit(nogil=True, cache=True, error_model="numpy")
def _similarity(kind, same, rows, a, columns, b, floor, scale):  # type: ignore[no-untyped-def]
    """κ of two nodes or edges, and its derivatives with respect to floor and scale.

    ``a`` and ``b`` are their rows in the arrays of attributes ``rows`` and ``columns``.
    """
    label, by_floor = 1.0, 0.0
    if kind == 1 or kind == 3:
        label = 1.0 if same else floor
        by_floor = 0.0 if same else 1.0
    if kind < 2:
        return label, by_floor, 0.0
    square = 0.0
    for d in range(rows.shape[1]):
        square += ((rows[a, d] - columns[b, d]) / scale) ** 2
    gaussian = math.exp(-0.5 * square)
    by_scale = gaussian * square / scale if gaussian > 0.0 else 0.0
    return label * gaussian, by_floor * gaussian, label * by_scale


@njit(nogil=True, cache=True, error_model="numpy")
def _pair(rows, i, columns, j, numbers, directed, slopes):  # type: ignore[no-untyped-def]
    """The kernel of two graphs; its derivatives are written to ``slopes`` unless that is empty."""
    offsets_a, indptr_a, indices_a, steps_a, totals_a, labels_a, bonds_a, at_a, eat_a = rows
    offsets_b, indptr_b, indices_b, steps_b, totals_b, labels_b, bonds_b, at_b, eat_b = columns
    stop, node_kind, edge_kind = numbers[0], int(numbers[1]), int(numbers[2])
    node_floor, edge_floor, node_scale, edge_scale = numbers[3:7]
    first_a, n_a = offsets_a[i], offsets_a[i + 1] - offsets_a[i]
    first_b, n_b = offsets_b[j], offsets_b[j + 1] - offsets_b[j]
    for p in range(len(slopes)):
        slopes[p] = 0.0
    if n_a == 0 or n_b == 0:
        return 0.0
    c = (1.0 - stop) ** 2
    start = 1.0 / (n_a * n_b) if numbers[7] else 1.0
    with_slopes = len(slopes) > 0

    # Number the pairs of nodes with κ > 0, and store κ and its derivatives.
    place = np.full(n_a * n_b, -1, dtype=np.int64)
    pairs = np.empty(n_a * n_b, dtype=np.int64)
    kappa = np.empty(n_a * n_b)
    by_scale = np.empty(n_a * n_b)
    by_floor = np.zeros(n_a * n_b if with_slopes else 0)
    size = 0
    for v in range(n_a):
        for w in range(n_b):
            a, b = first_a + v, first_b + w
            same = labels_a[a] == labels_b[b]
            value, floor_slope, scale_slope = _similarity(
                node_kind, same, at_a, a, at_b, b, node_floor, node_scale
            )
            if with_slopes:
                by_floor[v * n_b + w] = floor_slope
            if value > 0.0:
                place[v * n_b + w] = size
                pairs[size] = v * n_b + w
                kappa[size], by_scale[size] = value, scale_slope
                size += 1

    # W as CSR: the probabilities of common steps, times the kernel on edges.
    most = np.int64(0)
    for t in range(size):
        a, b = first_a + pairs[t] // n_b, first_b + pairs[t] % n_b
        most += (indptr_a[a + 1] - indptr_a[a]) * (indptr_b[b + 1] - indptr_b[b])
    ptr, heads = np.zeros(size + 1, dtype=np.int64), np.empty(most, dtype=np.int64)
    walk = np.empty(most)
    count = 0
    for t in range(size):
        a, b = first_a + pairs[t] // n_b, first_b + pairs[t] % n_b
        for e in range(indptr_a[a], indptr_a[a + 1]):
            for f in range(indptr_b[b], indptr_b[b + 1]):
                head = place[indices_a[e] * n_b + indices_b[f]]
                if head >= 0:
                    same = bonds_a[e] == bonds_b[f]
                    value = _similarity(
                        edge_kind, same, eat_a, e, eat_b, f, edge_floor, edge_scale
                    )[0]
                    if value > 0.0:
                        heads[count] = head
                        walk[count] = steps_a[e] * steps_b[f] * value
                        count += 1
        ptr[t + 1] = count

    # Solve for x and, for the derivatives, z = p + c Wᵀ(κ z).
    x, z = np.empty(size), np.empty(size if with_slopes else 0)
    top_a, wide_a = _spread(totals_a, first_a, n_a)
    top_b, wide_b = _spread(totals_b, first_b, n_b)
    if directed or wide_a or wide_b:
        _iterate(ptr, heads, walk, kappa[:size], stop, c, x)
        if with_slopes:
            _iterate_back(ptr, heads, walk, kappa[:size], start, c, z)
    else:
        root = np.zeros(size)
        for t in range(size):
            a, b = first_a + pairs[t] // n_b, first_b + pairs[t] % n_b
            # Divided before they are multiplied: the product of two weights may overflow.
            total = (totals_a[a] / top_a) * (totals_b[b] / top_b)
            if ptr[t + 1] > ptr[t]:
                root[t] = math.sqrt(kappa[t] / total)
        # Scaled from both sides, the matrix is symmetric: W_ts κ_t √(D_t κ_s / (D_s κ_t)).
        for t in range(size):
            for p in range(ptr[t], ptr[t + 1]):
                walk[p] *= kappa[t] / root[t] * root[heads[p]]
        # Pairs without common steps are not in the system: their x is q² κ.
        right = np.zeros(size)
        for t in range(size):
            if root[t] > 0.0:
                right[t] = stop * stop * kappa[t] / root[t]
        _conjugate_gradients(ptr, heads, walk, right, c, _EPSILON, x)
        for t in range(size):
            x[t] = x[t] * root[t] if root[t] > 0.0 else stop * stop * kappa[t]
        if with_slopes:
            for t in range(size):
                right[t] = start * root[t]
            _conjugate_gradients(ptr, heads, walk, right, c, _EPSILON_OF_SLOPES, z)
            for t in range(size):
                z[t] = z[t] / root[t] if root[t] > 0.0 else start
    # The kernel, and its derivatives.
    result = 0.0
    for t in range(size):
        result += x[t]
    if with_slopes:
        _node_slopes(kappa, by_scale, by_floor, pairs, x, z, stop, c, slopes)
        if node_kind % 2 == 1 and node_floor == 0.0:
            slopes[1] += _slope_at_zero(
                rows, i, columns, j, numbers, place, by_floor, kappa, x, z, start, c
            )
        if edge_kind > 0:
            _edge_slopes(rows, i, columns, j, numbers, place, pairs, kappa, x, z, c, slopes)
    return start * result


@njit(nogil=True, cache=True, error_model="numpy")
def _spread(totals, first, n):  # type: ignore[no-untyped-def]
    """The largest total of a graph, and whether totals differ too much for the symmetric system.

    Residuals of conjugate gradients are rounded relative to the largest right-hand side, and
    right-hand sides are proportional to the roots of totals.
    """
    most, least = 0.0, np.inf
    for v in range(first, first + n):
        most = max(most, totals[v])
        if totals[v] > 0.0:
            least = min(least, totals[v])
    return most, least < _WIDEST * most


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_SUMS)
def _times(ptr, heads, values, vector, out):  # type: ignore[no-untyped-def]
    for t in range(len(out)):
        total = 0.0
        for p in range(ptr[t], ptr[t + 1]):
            total += values[p] * vector[heads[p]]
        out[t] = total


@njit(nogil=True, cache=True, error_model="numpy")
def _small(residual, right, epsilon):  # type: ignore[no-untyped-def]
    """Whether every residual is below ε times its right-hand side."""
    small = True
    for t in range(len(right)):
        small = small and abs(residual[t]) <= epsilon * right[t]
    return small


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_SUMS)
def _conjugate_gradients(ptr, heads, values, right, c, epsilon, x):  # type: ignore[no-untyped-def]
    """Solve (I − c B) x = right for a symmetric B of norm at most 1; right ≥ 0.

    The iteration stops when every residual is below ε times its right-hand side. This is checked on
    the true residual, as the updated one drifts; if the check fails, the iteration is restarted.
    """
    n = len(right)
    residual, direction, image = right.copy(), right.copy(), np.empty(n)
    x[:] = 0.0
    limit = 60 + int(40.0 / math.sqrt(1.0 - c))
    first = 0.0
    for t in range(n):
        first += right[t] * right[t]
    for _ in range(6):
        square = 0.0
        for t in range(n):
            square += residual[t] * residual[t]
        for _ in range(limit):
            if square == 0.0:
                break
            # The image of the direction under I − c B.
            curvature = 0.0
            for t in range(n):
                total = 0.0
                for p in range(ptr[t], ptr[t + 1]):
                    total += values[p] * direction[heads[p]]
                image[t] = direction[t] - c * total
                curvature += direction[t] * image[t]
            # A step along the direction.
            step = square / curvature
            before, square = square, 0.0
            for t in range(n):
                x[t] += step * direction[t]
                residual[t] -= step * image[t]
                square += residual[t] * residual[t]
            # The sum of squares is a quick test; entries are compared only if it passes.
            if square <= epsilon * epsilon * first and _small(residual, right, epsilon):
                break
            turn = square / before
            for t in range(n):
                direction[t] = residual[t] + turn * direction[t]
        # The true residual.
        _times(ptr, heads, values, x, image)
        for t in range(n):
            residual[t] = right[t] - (x[t] - c * image[t])
            direction[t] = residual[t]
        if _small(residual, right, 4.0 * epsilon):
            return


@njit(nogil=True, cache=True, error_model="numpy")
def _iterate(ptr, heads, values, kappa, stop, c, x):  # type: ignore[no-untyped-def]
    """Repeat x ← κ (q² + c W x), from below, until no entry changes by more than ε κ q²."""
    n = len(kappa)
    image = np.empty(n)
    for t in range(n):
        x[t] = kappa[t] * stop * stop
    limit = 10 + int(40.0 / -math.log(c))
    for _ in range(limit):
        _times(ptr, heads, values, x, image)
        small = True
        for t in range(n):
            new = kappa[t] * (stop * stop + c * image[t])
            if new - x[t] > _EPSILON * kappa[t] * stop * stop:
                small = False
            x[t] = new
        if small:
            return


@njit(nogil=True, cache=True, error_model="numpy")
def _iterate_back(ptr, heads, values, kappa, start, c, z):  # type: ignore[no-untyped-def]
    """Repeat z ← p + c Wᵀ(κ z), from below, until no entry changes by more than ε p."""
    n = len(kappa)
    image = np.empty(n)
    z[:] = start
    limit = 10 + int(40.0 / -math.log(c))
    for _ in range(limit):
        image[:] = 0.0
        for t in range(n):
            share = kappa[t] * z[t]
            for p in range(ptr[t], ptr[t + 1]):
                image[heads[p]] += values[p] * share
        small = True
        for t in range(n):
            new = start + c * image[t]
            if new - z[t] > _EPSILON_OF_SLOPES * start:
                small = False
            z[t] = new
        if small:
            return


@njit(nogil=True, cache=True, error_model="numpy")
def _node_slopes(kappa, by_scale, by_floor, pairs, x, z, stop, c, slopes):  # type: ignore[no-untyped-def]
    """Add the derivatives with respect to stop, node floor and node scale, of pairs with κ > 0."""
    for t in range(len(x)):
        inner = x[t] / kappa[t]
        steps = (inner - stop * stop) / c
        slopes[0] += z[t] * kappa[t] * (2.0 * stop - 2.0 * (1.0 - stop) * steps)
        slopes[1] += z[t] * by_floor[pairs[t]] * inner
        slopes[3] += z[t] * by_scale[t] * inner


@njit(nogil=True, cache=True, error_model="numpy")
def _slope_at_zero(rows, i, columns, j, numbers, place, by_floor, kappa, x, z, start, c):  # type: ignore[no-untyped-def]
    """The part of pairs of nodes with κ = 0 in the derivative with respect to the floor.

    A larger floor makes their κ positive. Such a pair is reached from pairs with κ > 0 (z) and
    reaches some of these (x), in one step each.
    """
    offsets_a, indptr_a, indices_a, steps_a, _, _, bonds_a, _, eat_a = rows
    offsets_b, indptr_b, indices_b, steps_b, _, _, bonds_b, _, eat_b = columns
    edge_kind, edge_floor, edge_scale = int(numbers[2]), numbers[4], numbers[6]
    first_a, first_b = offsets_a[i], offsets_b[j]
    n_b = offsets_b[j + 1] - first_b
    # Sums over steps between a pair with κ = 0 and one with κ > 0.
    ahead, behind = np.zeros(len(place)), np.zeros(len(place))
    for pair in range(len(place)):
        a, b, own = first_a + pair // n_b, first_b + pair % n_b, place[pair]
        for e in range(indptr_a[a], indptr_a[a + 1]):
            for f in range(indptr_b[b], indptr_b[b + 1]):
                head = indices_a[e] * n_b + indices_b[f]
                there = place[head]
                if (own >= 0) == (there >= 0):
                    continue
                same = bonds_a[e] == bonds_b[f]
                value = _similarity(edge_kind, same, eat_a, e, eat_b, f, edge_floor, edge_scale)[0]
                value *= steps_a[e] * steps_b[f]
                if own >= 0:
                    behind[head] += value * kappa[own] * z[own]
                else:
                    ahead[pair] += value * x[there]
    # One term per pair with κ = 0.
    total = 0.0
    for pair in range(len(place)):
        if place[pair] < 0:
            inner = numbers[0] ** 2 + c * ahead[pair]
            total += (start + c * behind[pair]) * by_floor[pair] * inner
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def _edge_slopes(rows, i, columns, j, numbers, place, pairs, kappa, x, z, c, slopes):  # type: ignore[no-untyped-def]
    """Add the derivatives with respect to edge floor and edge scale."""
    offsets_a, indptr_a, indices_a, steps_a, _, _, bonds_a, _, eat_a = rows
    offsets_b, indptr_b, indices_b, steps_b, _, _, bonds_b, _, eat_b = columns
    edge_kind, edge_floor, edge_scale = int(numbers[2]), numbers[4], numbers[6]
    first_a, first_b = offsets_a[i], offsets_b[j]
    n_b = offsets_b[j + 1] - first_b
    # One pass over pairs of arcs.
    for t in range(len(x)):
        a, b = first_a + pairs[t] // n_b, first_b + pairs[t] % n_b
        share = z[t] * kappa[t] * c
        for e in range(indptr_a[a], indptr_a[a + 1]):
            for f in range(indptr_b[b], indptr_b[b + 1]):
                there = place[indices_a[e] * n_b + indices_b[f]]
                if there >= 0:
                    same = bonds_a[e] == bonds_b[f]
                    _, by_floor, by_scale = _similarity(
                        edge_kind, same, eat_a, e, eat_b, f, edge_floor, edge_scale
                    )
                    flow = share * steps_a[e] * steps_b[f] * x[there]
                    slopes[2] += flow * by_floor
                    slopes[4] += flow * by_scale
