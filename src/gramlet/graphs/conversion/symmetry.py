"""Whether edges listed as arcs form an undirected graph, for data that does not specify it."""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Array, Ints

__all__ = ["is_symmetric"]


def is_symmetric(arcs: Ints, *columns: Array | None) -> bool:
    """Whether every arc has its opposite, with the same data; compared exactly, NaN equals NaN.

    Parameters
    ----------
    arcs : array of shape (m, 2)
        For repeated arcs only the first is used.
    *columns : arrays of length m, or None
        Data of the arcs.

    Examples
    --------
    >>> is_symmetric(np.array([(0, 1), (1, 0)]))
    True
    >>> is_symmetric(np.array([(0, 1), (1, 0)]), np.array([0.5, 0.25]))
    False
    """
    if len(arcs) == 0:
        return True
    by_tail, by_head = _first_of_each(arcs, 0), _first_of_each(arcs, 1)
    if not np.array_equal(arcs[by_tail], arcs[by_head][:, ::-1]):
        return False
    return all(
        column is None or _same(np.asarray(column)[by_tail], np.asarray(column)[by_head])
        for column in columns
    )


def _first_of_each(arcs: Ints, side: int) -> Ints:
    """Positions of the distinct arcs, sorted by one end and then by the other."""
    order = np.lexsort((arcs[:, 1 - side], arcs[:, side]))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (arcs[order[1:]] != arcs[order[:-1]]).any(axis=1)
    return order[new]


def _same(here: Array, there: Array) -> bool:
    return not ((here != there) & ~((here != here) & (there != there))).any()
