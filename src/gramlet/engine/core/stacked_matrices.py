"""Stacks of dense matrices of graphs of the same size: one call of LAPACK for many graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats, Ints, Nodes
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles

_ONE = np.ones(1)

# The maximum number of entries in a stack of matrices: few enough to stay in cache, and for the
# graphs of one size to be shared between threads.
_STACK = 200_000


def for_eigensystems(
    sizes: Ints,
    stack_of: Callable[[Ints], Floats],
    use: Callable[[Ints, Any], None],
    *,
    vectors: bool = True,
    largest: int | None = None,
    large: Callable[[int], None] | None = None,
    tiling: Tiling = QUIET,
) -> None:
    """Decompose the symmetric matrices of all graphs, in stacks of matrices of the same size.

    Parameters
    ----------
    sizes : array of int64
        The order of each graph's matrix; graphs of size 0 are skipped.
    stack_of : callable
        Returns the matrices of given graphs of the same size, (graphs, size, size).
    use : callable
        Called with these graphs and numpy's eigenvalues and eigenvectors, or only the eigenvalues
        if ``vectors`` is False.
    largest : int, optional
        Graphs with larger matrices are not decomposed, but passed to ``large`` one by one.
    tiling=tiling
        As for `for_tiles`.

    Examples
    --------
    >>> found = {}
    >>> def keep(graphs, values):
    ...     found.update(zip(graphs.tolist(), values.tolist()))
    >>> identities = lambda graphs: np.stack([np.eye(2)] * len(graphs))
    >>> for_eigensystems(np.array([2, 0, 2]), identities, keep, vectors=False)
    >>> found
    {0: [1.0, 1.0], 2: [1.0, 1.0]}
    """
    groups = _size_groups(sizes, largest)
    n_stacks = len(groups)
    if largest is not None:
        groups += [np.array([graph]) for graph in np.flatnonzero(sizes > largest)]
    costs = np.array([float(sizes[group[0]]) ** 3 * len(group) for group in groups])

    def work(begin: int, end: int) -> None:
        for at in range(begin, end):
            graphs = groups[at]
            if at < n_stacks:
                stack = stack_of(graphs)
                use(graphs, np.linalg.eigh(stack) if vectors else np.linalg.eigvalsh(stack))
            elif large is not None:
                large(int(graphs[0]))

    for_tiles(work, len(groups), costs=costs, tiling=tiling)


def _size_groups(sizes: Ints, largest: int | None = None) -> list[Ints]:
    """Groups of graphs to decompose together: of the same size, and few enough for one stack.

    Graphs without nodes, and those with more than ``largest`` nodes, are not in any group.

    >>> [group.tolist() for group in _size_groups(np.array([2, 0, 3, 2]))]
    [[0, 3], [2]]
    """
    groups = []
    wanted = sizes > 0 if largest is None else (sizes > 0) & (sizes <= largest)
    for size in np.unique(sizes[wanted]):
        graphs = np.flatnonzero(sizes == size)
        piece = max(1, _STACK // int(size) ** 2)
        groups += [graphs[at : at + piece] for at in range(0, len(graphs), piece)]
    return groups


def adjacency_stack(
    graphs: Ints, node_offsets: Ints, indptr: Ints, indices: Nodes, weights: Floats | None
) -> Floats:
    """The (weighted) adjacency matrices of given graphs of the same size: (graphs, size, size).

    >>> edge = np.array([0, 2]), np.array([0, 1, 2]), np.array([1, 0])
    >>> adjacency_stack(np.array([0]), *edge, None).tolist()
    [[[0.0, 1.0], [1.0, 0.0]]]
    """
    size = int(node_offsets[graphs[0] + 1] - node_offsets[graphs[0]])
    stack = np.zeros((len(graphs), size, size))
    _fill_stack(graphs, node_offsets, indptr, indices, _ONE if weights is None else weights, stack)
    return stack


@njit(nogil=True, cache=True)
def _fill_stack(
    graphs: Ints, node_offsets: Ints, indptr: Ints, indices: Nodes, weights: Floats, stack: Floats
) -> None:
    """One weight is that of all arcs."""
    equal = len(weights) == 1
    for at in range(len(graphs)):
        first = node_offsets[graphs[at]]
        for row in range(stack.shape[1]):
            for e in range(indptr[first + row], indptr[first + row + 1]):
                stack[at, row, indices[e] - first] = weights[0 if equal else e]
