"""Optimal transport between two discrete distributions, one problem at a time.

`wasserstein` is the function for users, `emd` is the same for compiled code. The method is in
`network_simplex`; `earth_mover` compares many pairs of point sets at once.
"""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from gramlet.common.arrays import Bools, Floats, Ints
from gramlet.engine.core.compiled import njit
from gramlet.engine.transport.network_simplex import (
    FLOW,
    MASS_BITS,
    Workspace,
    arc_above,
    solve_transport,
    transport_workspace,
)

# How far apart the two total masses may be, relative to the larger.
_TOTALS = 1e-9


@overload
def wasserstein(
    a: ArrayLike, b: ArrayLike, cost: ArrayLike, *, return_plan: Literal[False] = False
) -> float: ...


@overload
def wasserstein(
    a: ArrayLike, b: ArrayLike, cost: ArrayLike, *, return_plan: Literal[True]
) -> tuple[float, Floats]: ...


def wasserstein(
    a: ArrayLike, b: ArrayLike, cost: ArrayLike, *, return_plan: bool = False
) -> float | tuple[float, Floats]:
    """The least cost of moving the masses ``a`` to the masses ``b`` (earth mover's distance).

    The minimum of Σ_ij P_ij cost_ij over plans P ≥ 0 with row sums a and column sums b, exactly,
    by the network simplex method. If ``cost`` is a distance between points and the masses add up
    to 1, it is the 1-Wasserstein distance. Cost: about O(n m (n + m)) for an n × m problem;
    a few microseconds for 20 × 10, a millisecond for 300 × 300.

    Parameters
    ----------
    a : array of shape (n,)
        Non-negative masses; those that are 0 are ignored.
    b : array of shape (m,)
        Non-negative masses with the same total as ``a``.
    cost : array of shape (n, m)
        The cost of moving a unit of mass from i to j, not negative.
    return_plan : bool, default False
        Also return an optimal plan P.

    Returns
    -------
    value : float
    plan : array of shape (n, m)
        Only with ``return_plan=True``; at most n + m − 1 of its entries are not 0.

    References
    ----------
    Cunningham (1976), A network simplex method. Rubner, Tomasi, Guibas (2000), The earth mover's
    distance as a metric for image retrieval.

    Examples
    --------
    >>> from gramlet import wasserstein
    >>> wasserstein([0.5, 0.5], [0.25, 0.75], [[0.0, 1.0], [1.0, 0.0]])
    0.25
    >>> value, plan = wasserstein([1, 2], [2, 1], [[0, 3], [1, 0]], return_plan=True)
    >>> value, plan.round(9).tolist()
    (1.0, [[1.0, 0.0], [1.0, 1.0]])
    """
    left, right = _checked_masses(a, "a"), _checked_masses(b, "b")
    costs = _checked_costs(cost, len(left), len(right))
    total = _common_total(left, right)
    plan = np.zeros(costs.shape if return_plan else (0, 0))
    value = 0.0
    if total > 0.0:
        n_small, n_large = sorted(costs.shape)
        value = emd(left, right, costs, plan, transport_workspace(n_small, n_large))
    if value < 0.0:
        raise RuntimeError(
            f"wasserstein: no optimum of the {len(left)} × {len(right)} problem after very many "
            "steps. Please report the problem; adding small random numbers to the costs helps."
        )
    return (value, plan) if return_plan else value


def _checked_masses(values: ArrayLike, name: str) -> Floats:
    masses = np.ascontiguousarray(values, dtype=np.float64)
    if masses.ndim != 1 or len(masses) == 0:
        raise ValueError(
            f"The masses {name} given to wasserstein must be a non-empty 1-d array; "
            f"got shape {masses.shape}."
        )
    _refuse(~np.isfinite(masses), masses, f"The masses {name}", "finite")
    _refuse(masses < 0.0, masses, f"The masses {name}", "0 or more")
    return masses


def _checked_costs(values: ArrayLike, n: int, m: int) -> Floats:
    costs = np.ascontiguousarray(values, dtype=np.float64)
    if costs.shape != (n, m):
        raise ValueError(
            f"The costs given to wasserstein must have one row per mass of a and one column per "
            f"mass of b, shape ({n}, {m}); got shape {costs.shape}."
        )
    _refuse(~np.isfinite(costs), costs, "The costs", "finite")
    _refuse(costs < 0.0, costs, "The costs", "0 or more (add a constant to all of them)")
    return costs


def _refuse(bad: Bools, values: Floats, what: str, allowed: str) -> None:
    if bad.any():
        place: Any = tuple(int(i) for i in np.argwhere(bad)[0])
        place = place[0] if len(place) == 1 else place
        raise ValueError(
            f"{what} given to wasserstein must be {allowed}; entry {place} is {values[place]}."
        )


def _common_total(left: Floats, right: Floats) -> float:
    totals = float(left.sum()), float(right.sum())
    if not np.isfinite(totals).all():
        raise ValueError("The masses given to wasserstein add up to infinity; scale them down.")
    if abs(totals[0] - totals[1]) > _TOTALS * max(totals):
        raise ValueError(
            f"The masses given to wasserstein must add up to the same total; a adds up to "
            f"{totals[0]!r} and b to {totals[1]!r}. Divide each by its sum."
        )
    return max(totals)


@njit(nogil=True, cache=True)
def _integer_masses(masses: Floats) -> tuple[Ints, Ints, float]:
    """The points whose masses are not 0, their masses as integers, and the factor between both.

    The integers add up to ``2 ** MASS_BITS``; what rounding leaves is added to the largest.
    """
    factor = 2.0**MASS_BITS / masses.sum()
    points = np.flatnonzero(masses * factor >= 1.0)
    shares = (masses[points] * factor).astype(np.int64)
    shares[shares.argmax()] += (np.int64(1) << MASS_BITS) - shares.sum()
    return points, shares, factor


@njit(nogil=True, cache=True)
def emd(a: Floats, b: Floats, costs: Floats, plan: Floats, work: Workspace) -> float:
    """`wasserstein` without its checks, for compiled code, on a workspace to use again.

    The workspace of `transport_workspace` must be large enough. Both totals must be positive; the
    masses ``b`` are scaled to the total of ``a``. ``plan`` must be all zeros and is filled in
    unless its size is 0. A value below 0 means that no optimum was found.
    """
    # The smaller side becomes the sinks.
    total = a.sum()
    points, demand, factor = _integer_masses(a)
    others, supply, _ = _integer_masses(b)
    swapped = len(points) > len(others)
    if swapped:
        points, others, demand, supply = others, points, supply, demand
    n_sinks, n_sources = len(points), len(others)
    for i in range(n_sinks):
        work.tree[FLOW, i] = demand[i]
        for j in range(n_sources):
            p, q = points[i], others[j]
            work.cost[i, j] = costs[q, p] if swapped else costs[p, q]
    for j in range(n_sources):
        work.tree[FLOW, n_sinks + j] = supply[j]
    value = solve_transport(n_sinks, n_sources, work)
    # The flows on the arcs of the optimal tree are the plan.
    if plan.size > 0:
        for x in range(n_sinks + n_sources):
            i, j, flow = arc_above(x, n_sinks, work.tree)
            if flow > 0:
                p, q = points[i], others[j]
                if swapped:
                    p, q = q, p
                plan[p, q] += flow / factor
    return value * total
