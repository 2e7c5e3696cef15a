"""Several kernels on several data sets, compared by their ranks: Friedman, Nemenyi, Wilcoxon.

`significance` compares two results on the same folds; `gramlet.plotting` draws the ranking.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from gramlet.common.arrays import Floats


@dataclass(frozen=True)
class PairTest:
    """Wilcoxon's signed-rank test of two methods over data sets.

    Attributes
    ----------
    first, second : str
    statistic : float
        The smaller of the two sums of ranks.
    p_value : float
        Two-sided.
    adjusted : float
        The p-value by Holm's correction for all pairs.
    """

    first: str
    second: str
    statistic: float
    p_value: float
    adjusted: float


@dataclass(frozen=True, eq=False)
class Ranking:
    """Methods ranked over data sets.

    Attributes
    ----------
    methods, data : tuple of str
    scores : array, shape (data sets, methods)
    ranks : array, shape (data sets, methods)
        1 for the best method on a data set; ties share the mean of their ranks.
    friedman, friedman_p : float
        Friedman's χ² for the hypothesis that all methods are equal, corrected for ties, and its
        p-value.
    critical_difference : float
        By Nemenyi: mean ranks that differ by less are not significantly different.
    pairs : tuple of PairTest
    alpha : float
        The level of significance.
    scoring : str

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets. Benavoli,
    Corani, Mangili (2016), Should we really use post-hoc tests based on mean-ranks?
    """

    methods: tuple[str, ...]
    data: tuple[str, ...]
    scores: Floats
    ranks: Floats
    friedman: float
    friedman_p: float
    critical_difference: float
    pairs: tuple[PairTest, ...]
    alpha: float = 0.05
    scoring: str = "accuracy"

    @property
    def mean_ranks(self) -> dict[str, float]:
        """Each method's mean rank, the best first."""
        means = dict(zip(self.methods, self.ranks.mean(axis=0).tolist(), strict=True))
        return dict(sorted(means.items(), key=lambda item: item[1]))

    def cliques(self, test: str = "wilcoxon") -> list[tuple[str, ...]]:
        """Maximal groups of methods, adjacent by mean rank, of which no two differ significantly.

        Parameters
        ----------
        test : {"wilcoxon", "nemenyi"}
            Holm-corrected Wilcoxon tests of pairs, or differences of mean ranks above the critical
            difference.
        """
        if test not in ("wilcoxon", "nemenyi"):
            raise ValueError(f"test must be 'wilcoxon' or 'nemenyi'; got {test!r}.")
        order = list(self.mean_ranks)
        alike = {
            frozenset((pair.first, pair.second)): pair.adjusted > self.alpha for pair in self.pairs
        }
        means = self.mean_ranks

        def differ(a: str, b: str) -> bool:
            if test == "nemenyi":
                return abs(means[a] - means[b]) >= self.critical_difference
            return not alike[frozenset((a, b))]

        groups: list[tuple[str, ...]] = []
        reached = 0
        for start in range(len(order)):
            end = start + 1
            while end < len(order) and not any(differ(order[end], m) for m in order[start:end]):
                end += 1
            if end - start > 1 and end > reached:
                groups.append(tuple(order[start:end]))
                reached = end
        return groups

    def __str__(self) -> str:
        lines = [
            f"{len(self.methods)} methods on {len(self.data)} data sets: Friedman χ² = "
            f"{self.friedman:.2f}, p = {self.friedman_p:.3g}; critical difference "
            f"{self.critical_difference:.2f} (Nemenyi, {self.alpha:g})"
        ]
        lines += [f"{rank:6.2f}  {name}" for name, rank in self.mean_ranks.items()]
        lines += [
            f"{pair.first} − {pair.second}: p = {pair.p_value:.3g}, Holm {pair.adjusted:.3g}"
            for pair in self.pairs
        ]
        return "\n".join(lines)


def rank_scores(
    scores: Floats,
    methods: Sequence[str],
    data: Sequence[str],
    alpha: float = 0.05,
    scoring: str = "accuracy",
) -> Ranking:
    """Rank methods by their scores on data sets; larger scores are better.

    Parameters
    ----------
    scores : array, shape (data sets, methods)
    methods, data : sequences of str
    alpha : float
        The level of significance, between 0 and 1.
    scoring : str
        The name of the score.

    Examples
    --------
    >>> ranking = rank_scores(np.array([[0.9, 0.8], [0.7, 0.6], [0.8, 0.8]]), ["a", "b"], "xyz")
    >>> ranking.mean_ranks
    {'a': 1.1666666666666667, 'b': 1.8333333333333333}
    """
    from scipy.stats import chi2, rankdata

    scores = np.asarray(scores, dtype=np.float64)
    n, k = scores.shape
    if (n, k) != (len(data), len(methods)) or n < 2 or k < 2:
        raise ValueError(
            "A ranking needs scores of at least two methods on at least two data sets, one row "
            f"per data set and one column per method; got shape {scores.shape} for {len(data)} "
            f"data sets and {len(methods)} methods."
        )
    if not (isinstance(alpha, float) and 0 < alpha < 1):
        raise ValueError(f"alpha must be a number between 0 and 1; got {alpha!r}.")
    # Rounded, so that scores of the same number of graphs tie.
    ranks = rankdata(-scores.round(12), axis=1)
    means = ranks.mean(axis=0)
    # With ties the actual sum of squared deviations is used instead of n k (k² − 1) / 12.
    spread = float(((ranks - (k + 1) / 2) ** 2).sum())
    between = n * float(((means - (k + 1) / 2) ** 2).sum())
    statistic = n * (k - 1) * between / spread if spread > 0 else 0.0
    return Ranking(
        tuple(methods),
        tuple(data),
        scores,
        ranks,
        statistic,
        float(chi2.sf(statistic, k - 1)),
        _critical_difference(k, n, alpha),
        _pair_tests(scores, methods),
        alpha,
        scoring,
    )


def _critical_difference(k: int, n: int, alpha: float) -> float:
    """q sqrt(k(k + 1)/(6n)), q the quantile of the studentised range divided by √2."""
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(1 - alpha, k, np.inf)) / math.sqrt(2)
    return quantile * math.sqrt(k * (k + 1) / (6 * n))


def _pair_tests(scores: Floats, methods: Sequence[str]) -> tuple[PairTest, ...]:
    pairs = list(combinations(range(len(methods)), 2))
    tested = [_wilcoxon(scores[:, a] - scores[:, b]) for a, b in pairs]
    adjusted = holm([p_value for _, p_value in tested])
    return tuple(
        PairTest(methods[a], methods[b], statistic, p_value, corrected)
        for (a, b), (statistic, p_value), corrected in zip(pairs, tested, adjusted, strict=True)
    )


def _wilcoxon(differences: Floats) -> tuple[float, float]:
    from scipy.stats import wilcoxon

    differences = differences.round(12)
    if not differences.any():
        return 0.0, 1.0
    # Ranks of zeros are split between both sides, as in Demšar.
    test = wilcoxon(differences, zero_method="zsplit")
    return float(test.statistic), float(test.pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values with Holm's step-down correction for multiple tests.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    adjusted = [0.0] * len(order)
    largest = 0.0
    for position, index in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - position) * p_values[index]))
        adjusted[index] = largest
    return adjusted
