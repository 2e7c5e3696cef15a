"""A permutation test of whether two sets of graphs come from the same distribution."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from gramlet.combine.gram import gram
from gramlet.common.arrays import Floats
from gramlet.common.checks import is_integer
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch

# The size of a block of permutations that is multiplied at a time.
_BLOCK = 2_000_000


class MMDTest(NamedTuple):
    """The outcome of `mmd_test`.

    Attributes
    ----------
    statistic : float
        The squared maximum mean discrepancy between the two sets.
    pvalue : float
        The probability of a statistic at least as large if both sets have one distribution.
    """

    statistic: float
    pvalue: float


def mmd_test(
    X: Any,
    Y: Any,
    kernel: Any = "gsa-gaussian",
    *,
    n_permutations: int = 1000,
    random_state: Any = None,
    **params: Any,
) -> MMDTest:
    """Test whether two sets of graphs come from the same distribution.

    The statistic is MMD² = mean K(X, X) + mean K(Y, Y) − 2 mean K(X, Y), over all pairs. Under the
    null hypothesis graphs can be exchanged between the sets; the p-value is the share of random
    permutations, including the given one, with a statistic at least as large, so it is never 0 and
    the test keeps its level exactly. Cost: one Gram matrix of all graphs, then O(n²) per
    permutation.

    Parameters
    ----------
    X, Y : graphs, as `gramlet.as_batch` takes them
        Two sets of at least two graphs each.
    kernel : str or estimator, default "gsa-gaussian"
        A name in the registry or an estimator of gramlet. It is fitted on both sets together,
        without knowing which graph is in which set.
    n_permutations : int, default 1000
    random_state : int, RandomState or None
        Seed of the permutations.
    **params
        Parameters of the kernel, if it is given by name.

    Returns
    -------
    MMDTest
        ``statistic`` and ``pvalue``.

    References
    ----------
    Gretton, Borgwardt, Rasch, Schölkopf, Smola (2012), A kernel two-sample test.

    Examples
    --------
    >>> from gramlet import GraphBatch, mmd_test
    >>> stars = GraphBatch.from_edges([[(0, i) for i in range(1, n)] for n in range(4, 14)])
    >>> rings = GraphBatch.from_edges([[(i, (i + 1) % n) for i in range(n)] for n in range(4, 14)])
    >>> mmd_test(stars, rings, "graphlet", random_state=0).pvalue < 0.05
    True
    """
    if not is_integer(n_permutations) or n_permutations < 1:
        raise ValueError(
            f"n_permutations must be an integer of at least 1; got {n_permutations!r}."
        )
    sides = [as_batch(X), as_batch(Y)]
    for name, side in zip("XY", sides, strict=True):
        if len(side) < 2:
            raise ValueError(f"mmd_test needs at least two graphs in {name}; got {len(side)}.")
    matrix = gram(GraphBatch.concatenate(sides), kernel, **params)
    rng = check_random_state(random_state)
    return _permuted(np.asarray(matrix), len(sides[0]), int(n_permutations), rng)


def _permuted(
    matrix: Floats, n_first: int, n_permutations: int, rng: np.random.RandomState
) -> MMDTest:
    n = len(matrix)
    sides = np.full(n, -1.0 / (n - n_first))
    sides[:n_first] = 1.0 / n_first
    statistic = float(sides @ matrix @ sides)
    # Allow for rounding errors of equal statistics.
    threshold = statistic - 1e-12 * float(np.abs(matrix).max())
    rows = max(1, _BLOCK // n)
    at_least = 1
    for begin in range(0, n_permutations, rows):
        count = min(rows, n_permutations - begin)
        shuffled = np.stack([rng.permutation(sides) for _ in range(count)])
        values = np.einsum("ij,ij->i", shuffled @ matrix, shuffled)
        at_least += int((values >= threshold).sum())
    return MMDTest(max(statistic, 0.0), at_least / (n_permutations + 1))
