"""Transport from very many sources to a few sinks, by the simplex method on some of the sources.

At the optimum each source is assigned to the sink where cost − price is smallest, and for most
sources one sink is clearly the best. Prices are estimated from a sample of the sources; sources
with a clear best sink are assigned to it ("settled"), and the problem of the rest is solved
exactly. The new prices show which settled sources were assigned wrongly; these are added to the
rest. The result is not an approximation: the final prices prove that it is optimal.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.transport.initial_tree import start_transport
from gramlet.engine.transport.network_simplex import finish_transport
from gramlet.engine.transport.workspace import (
    FLOW,
    MASS_BITS,
    SINK_PRICE,
    cost_factor,
    hang_source,
    highest_cost,
    index_bits,
    scale_costs,
    tree_cost,
)

__all__ = ["MANY_SOURCES", "few_sinks_room", "solve_few_sinks"]


#: The method is used from this many sources on, if there are at least `_PER_SINK` per sink.
MANY_SOURCES = 500
_PER_SINK = 4
_BINS = 128
# Rounding: a settled source may be worse than at another sink by this share of the largest cost.
_ROUNDING = 1e-13

_BEST, _SECOND = 0, 1  # rows of the scratch table of floats
_WHERE, _BIN, _ORDER, _REST = 0, 1, 2, 3  # rows of the scratch table of integers
_OPEN = np.int64(-1)


@njit(nogil=True, cache=True)
def few_sinks_room(n_sinks: int, n_sources: int) -> tuple[Floats, Floats, Floats, Ints]:
    """Workspace for costs, prices and scratch tables of problems of at most this size."""
    wide = max(n_sources, 1)
    return (
        np.zeros((max(n_sinks, 1), wide)),
        np.zeros(max(n_sinks, 1)),
        np.zeros((2, wide)),
        np.zeros((4, wide), np.int64),
    )


@njit(nogil=True, cache=True)
def _take_costs(
    n_sinks: int,
    first: int,
    last: int,
    full: Floats,
    numbers: Ints,
    factor: float,
    bits: int,
    cost: Floats,
    scaled: Ints,
) -> None:
    """Copy the costs of the sources ``numbers[first:last]`` into the workspace."""
    for a in range(n_sinks):
        for i in range(first, last):
            cost[a, i] = full[a, numbers[i]]
    scale_costs(n_sinks, first, last, cost.reshape(-1), 0, cost.shape[1], 1, scaled, factor, bits)


@njit(nogil=True, cache=True)
def _begin(
    n_sinks: int,
    count: int,
    full: Floats,
    numbers: Ints,
    demand: Ints,
    masses: Ints,
    first: int,
    factor: float,
    bits: int,
    cost: Floats,
    scaled: Ints,
    source: Ints,
    sink: Ints,
    tree: Ints,
) -> None:
    """The initial tree for ``count`` of the sources."""
    _take_costs(n_sinks, 0, count, full, numbers, factor, bits, cost, scaled)
    for a in range(n_sinks):
        tree[FLOW, a] = demand[a]
    for i in range(count):
        tree[FLOW, n_sinks + i] = masses[first + numbers[i]]
    start_transport(n_sinks, count, scaled, source, sink, tree, bits)


@njit(nogil=True, cache=True, error_model="numpy")
def _finish(
    n_sinks: int,
    count: int,
    prices: Floats,
    factor: float,
    bits: int,
    cost: Floats,
    scaled: Ints,
    source: Ints,
    sink: Ints,
    tree: Ints,
) -> float:
    """The optimal cost for the sources in the tree; fills in the prices of the sinks."""
    optimal = finish_transport(n_sinks, count, scaled, source, sink, tree, bits)
    unit = 2.0**-bits / factor if factor > 0.0 else 0.0
    for a in range(n_sinks):
        prices[a] = sink[SINK_PRICE, a] * unit
    if not optimal:
        return -1.0
    return tree_cost(n_sinks, count, cost.reshape(-1), 0, cost.shape[1], 1, tree)


@njit(nogil=True, cache=True, inline="always")
def _guess_prices(
    n_sinks: int,
    n_sources: int,
    full: Floats,
    numbers: Ints,
    demand: Ints,
    masses: Ints,
    first: int,
    prices: Floats,
    factor: float,
    bits: int,
    cost: Floats,
    scaled: Ints,
    source: Ints,
    sink: Ints,
    tree: Ints,
) -> bool:
    """Fill in the prices of a problem with a sample of the sources; False on failure."""
    # Every step-th source.
    step = max(1, n_sources // max(64, 3 * n_sinks, n_sources // 4))
    count = 0
    total = 0.0
    for k in range(0, n_sources, step):
        numbers[count] = k
        total += masses[first + k]
        count += 1
    # Scale the masses of the sample to the total; what rounding leaves goes to the largest.
    rise = 2.0**MASS_BITS / total
    raised = np.zeros(n_sources, np.int64)
    left = np.int64(1) << MASS_BITS
    largest = 0
    for i in range(count):
        k = numbers[i]
        raised[k] = max(int(masses[first + k] * rise), 1)
        left -= raised[k]
        largest = k if raised[k] > raised[largest] else largest
    raised[largest] += left
    _begin(
        n_sinks,
        count,
        full,
        numbers,
        demand,
        raised,
        0,
        factor,
        bits,
        cost,
        scaled,
        source,
        sink,
        tree,
    )
    return _finish(n_sinks, count, prices, factor, bits, cost, scaled, source, sink, tree) >= 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def _rank_sources(
    n_sinks: int, n_sources: int, full: Floats, prices: Floats, floats: Floats, ints: Ints
) -> None:
    """Each source's best sink at these prices, and the sources by the margin to the second best."""
    # The smallest and second smallest cost − price of each source.
    best, second, where = floats[_BEST], floats[_SECOND], ints[_WHERE]
    for k in range(n_sources):
        best[k] = np.inf
        second[k] = np.inf
    for a in range(n_sinks):
        price = prices[a]
        line = full[a, :n_sources]
        # Conditional expressions, unlike min and max, are vectorised.
        for k in range(n_sources):
            value, lowest, next_lowest = line[k] - price, best[k], second[k]
            worse = value if value > lowest else lowest
            second[k] = worse if worse < next_lowest else next_lowest
            where[k] = a if value < lowest else where[k]
            best[k] = value if value < lowest else lowest
    # The margins, and the order by them.
    widest = 0.0
    for k in range(n_sources):
        second[k] -= best[k]
        widest = max(widest, second[k])
    _sort_by_bins(n_sources, second, widest, ints)


@njit(nogil=True, cache=True, error_model="numpy")
def _sort_by_bins(n_sources: int, margins: Floats, widest: float, ints: Ints) -> None:
    """Sort the sources by decreasing margin, roughly: this only decides which ones are settled."""
    count = np.zeros(_BINS + 1, np.int64)
    unit = 1.0 / widest if widest > 0.0 else 0.0
    for k in range(n_sources):
        # Bins are finer near 0, where clear and unclear sources are separated.
        share = np.sqrt(min(margins[k] * unit, 1.0))
        ints[_BIN, k] = _BINS - 1 - np.int64(share * (_BINS - 1))
        count[ints[_BIN, k] + 1] += 1
    for b in range(_BINS):
        count[b + 1] += count[b]
    for k in range(n_sources):
        ints[_ORDER, count[ints[_BIN, k]]] = k
        count[ints[_BIN, k]] += 1


@njit(nogil=True, cache=True)
def _settle(
    n_sinks: int, n_sources: int, ints: Ints, demand: Ints, masses: Ints, first: int
) -> int:
    """Settle the clearest sources as far as their sinks have demand; return how many remain."""
    unclear = max(3 * n_sinks, n_sources // 5)
    rest = 0
    for i in range(n_sources):
        k = ints[_ORDER, i]
        a = ints[_WHERE, k]
        # Every sink must keep some demand, or it would have no price.
        if i < n_sources - unclear and demand[a] > masses[first + k]:
            demand[a] -= masses[first + k]
        else:
            ints[_WHERE, k] = _OPEN
            ints[_REST, rest] = k
            rest += 1
    return rest


@njit(nogil=True, cache=True)
def _reopen(
    n_sinks: int,
    n_sources: int,
    rest: int,
    full: Floats,
    prices: Floats,
    floats: Floats,
    ints: Ints,
    masses: Ints,
    first: int,
    rounding: float,
    tree: Ints,
) -> int:
    """Reopen settled sources that are better off elsewhere at these prices; return the new rest.

    They are added to the tree at their sinks, so that it need not be rebuilt. Not all are reopened
    at once, but the least clear first: a few wrong ones distort the prices for many.
    """
    # The smallest cost − price of each source.
    gain, where = floats[_BEST], ints[_WHERE]
    for k in range(n_sources):
        gain[k] = np.inf
    for a in range(n_sinks):
        price, line = prices[a], full[a, :n_sources]
        for k in range(n_sources):
            value, lowest = line[k] - price, gain[k]
            gain[k] = value if value < lowest else lowest
    # From the least clear source on, up to a limit.
    most = rest + rest // 2 + 16
    for i in range(n_sources - 1, -1, -1):
        k = ints[_ORDER, i]
        here = where[k]
        settled = here != _OPEN and rest < most
        if settled and gain[k] < full[here, k] - prices[here] - rounding:
            hang_source(rest, here, masses[first + k], n_sinks, tree)
            where[k] = _OPEN
            ints[_REST, rest] = k
            rest += 1
    return rest


@njit(nogil=True, cache=True, inline="always")
def solve_few_sinks(
    n_sinks: int,
    n_sources: int,
    full: Floats,
    sink_masses: Ints,
    sink_first: int,
    masses: Ints,
    first: int,
    prices: Floats,
    floats: Floats,
    ints: Ints,
    cost: Floats,
    scaled: Ints,
    source: Ints,
    sink: Ints,
    tree: Ints,
) -> float:
    """As `solve_transport`, with the costs in ``full``; the last arguments are the workspace."""
    demand = sink_masses[sink_first : sink_first + n_sinks].copy()
    numbers = ints[_REST]
    bits = index_bits(n_sources)
    highest = highest_cost(n_sinks, n_sources, full, sink)
    factor = cost_factor(n_sinks, highest, bits)
    # Small problems, and those with a single sink, are solved with all sources at once.
    if n_sinks == 1 or n_sources < MANY_SOURCES or n_sources < _PER_SINK * n_sinks:
        rest = n_sources
        for k in range(n_sources):
            numbers[k] = k
            ints[_WHERE, k] = _OPEN
    # Otherwise estimate prices and settle the clear sources.
    else:
        guessed = _guess_prices(
            n_sinks,
            n_sources,
            full,
            numbers,
            demand,
            masses,
            first,
            prices,
            factor,
            bits,
            cost,
            scaled,
            source,
            sink,
            tree,
        )
        if not guessed:
            return -1.0
        _rank_sources(n_sinks, n_sources, full, prices, floats, ints)
        rest = _settle(n_sinks, n_sources, ints, demand, masses, first)
    _begin(
        n_sinks,
        rest,
        full,
        numbers,
        demand,
        masses,
        first,
        factor,
        bits,
        cost,
        scaled,
        source,
        sink,
        tree,
    )
    while True:  # ends, because the rest grows in every round
        value = _finish(n_sinks, rest, prices, factor, bits, cost, scaled, source, sink, tree)
        if value < 0.0 or rest == n_sources:
            break
        known = rest
        rest = _reopen(
            n_sinks,
            n_sources,
            known,
            full,
            prices,
            floats,
            ints,
            masses,
            first,
            _ROUNDING * highest,
            tree,
        )
        if rest == known:
            break
        _take_costs(n_sinks, known, rest, full, numbers, factor, bits, cost, scaled)
    if value < 0.0:
        return value
    # Add the cost of the settled sources.
    settled = 0.0
    for k in range(n_sources):
        if ints[_WHERE, k] != _OPEN:
            settled += masses[first + k] * full[ints[_WHERE, k], k]
    return value + settled * 2.0**-MASS_BITS
