"""Stacks of small dense matrices of graphs of one size: LAPACK is called once for many graphs."""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.compiled import njit

__all__ = ["adjacency_stack", "eigen_costs", "size_groups"]

# How many entries a stack of matrices has at most.
_STACK = 2_000_000


def size_groups(sizes: Ints, largest: int | None = None) -> list[Ints]:
    """Groups of graphs to decompose together: of one size, and not too many for one stack.

    Graphs without nodes, and those of more than ``largest`` nodes, are in no group.

    >>> [group.tolist() for group in size_groups(np.array([2, 0, 3, 2]))]
    [[0, 3], [2]]
    """
    groups = []
    wanted = sizes > 0 if largest is None else (sizes > 0) & (sizes <= largest)
    for size in np.unique(sizes[wanted]):
        graphs = np.flatnonzero(sizes == size)
        piece = max(1, _STACK // int(size) ** 2)
        groups += [graphs[at : at + piece] for at in range(0, len(graphs), piece)]
    return groups


def eigen_costs(sizes: Ints, groups: list[Ints]) -> Floats:
    """The relative cost of decomposing each group."""
    return np.array([float(sizes[group[0]]) ** 3 * len(group) for group in groups])


def adjacency_stack(
    graphs: Ints, node_offsets: Ints, indptr: Ints, indices: Ints, weights: Floats | None
) -> Floats:
    """The (weighted) adjacency matrices of some graphs of one size: (graphs, size, size).

    >>> edge = np.array([0, 2]), np.array([0, 1, 2]), np.array([1, 0])
    >>> adjacency_stack(np.array([0]), *edge, None).tolist()
    [[[0.0, 1.0], [1.0, 0.0]]]
    """
    size = int(node_offsets[graphs[0] + 1] - node_offsets[graphs[0]])
    stack = np.zeros((len(graphs), size, size))
    values = np.ones(len(indices)) if weights is None else weights
    _fill_stack(graphs, node_offsets, indptr, indices, values, stack)
    return stack


@njit(nogil=True, cache=True)
def _fill_stack(
    graphs: Ints, node_offsets: Ints, indptr: Ints, indices: Ints, weights: Floats, stack: Floats
) -> None:
    for at in range(len(graphs)):
        first = node_offsets[graphs[at]]
        for row in range(stack.shape[1]):
            for e in range(indptr[first + row], indptr[first + row + 1]):
                stack[at, row, indices[e] - first] = weights[e]
