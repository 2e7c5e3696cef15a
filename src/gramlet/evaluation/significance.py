"""Whether one result is significantly better than another.

Test parts that were scored together are one run; see `scorers.part_scores`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import overload

import numpy as np

from gramlet.common.arrays import Bools, Floats
from gramlet.common.notices import counted
from gramlet.evaluation.protocol import Protocol
from gramlet.evaluation.ranking import Ranking, holm, rank_scores
from gramlet.evaluation.result import Result


@dataclass(frozen=True)
class Comparison:
    """Two results on the same folds, compared.

    Attributes
    ----------
    first, second : str
        Their names; optimistic results are marked.
    difference : float
        Mean score of the first minus that of the second.
    statistic : float
        The corrected t.
    p_value : float
        Two-sided: the probability of such a difference between equally good classifiers.
    n_runs : int
        Test parts compared; those that were pooled because they cannot be scored alone count as
        one per repeat.
    scoring : str
        The scorer of both.
    adjusted : float or None
        The p-value with Holm's correction, if several results were compared.
    n_pooled : int
        Test parts that were pooled.
    """

    first: str
    second: str
    difference: float
    statistic: float
    p_value: float
    n_runs: int
    scoring: str = "accuracy"
    adjusted: float | None = None
    n_pooled: int = 0

    def __str__(self) -> str:
        shown = f"{100 * self.difference:+.1f} points"
        if self.scoring != "accuracy":
            shown = f"{self.difference:+.3f} {self.scoring}"
        corrected = "" if self.adjusted is None else f", Holm {self.adjusted:.3g}"
        parts = f"{self.n_runs} test parts"
        if self.n_pooled:
            parts = f"{counted(self.n_runs, 'independent score')}; {self.n_pooled} parts pooled"
        return (
            f"{self.first} − {self.second}: {shown}, corrected resampled "
            f"t = {self.statistic:.2f}, p = {self.p_value:.3g}{corrected} ({parts})"
        )


@overload
def compare_results(a: Result, b: Result) -> Comparison: ...


@overload
def compare_results(
    a: Iterable[Result], b: None = None, *, alpha: float = ...
) -> list[Comparison] | Ranking: ...


def compare_results(
    a: Result | Iterable[Result], b: Result | None = None, *, alpha: float = 0.05
) -> Comparison | list[Comparison] | Ranking:
    """Compare results: two or more on one data set, or several kernels on several data sets.

    On one data set, every pair is compared by the corrected resampled t-test, with Holm's
    correction for the number of pairs if there are more than two results:
    t = d̄ / sqrt((1/J + n_test/n_train) s²), with d̄ and s² the mean and variance of the J
    differences of scores, and J − 1 degrees of freedom. The plain t-test assumes that the J test
    parts are independent, although their training parts overlap, and finds too many differences;
    n_test/n_train corrects for the overlap. Test parts that were pooled, because they have fewer
    than two graphs or one class where the scorer needs two, have one score and count as one per
    repeat. If that leaves one score per repeat, there is no test, and p is 1.

    On several data sets, kernels are compared by ranks: Friedman's test, Nemenyi's critical
    difference of mean ranks, and Wilcoxon's signed-rank tests of pairs with Holm's correction. The
    independent units are data sets there, not folds; `gramlet.plot_critical_differences` draws it.

    Parameters
    ----------
    a, b : Result
        With the same graphs, targets, splits and scorer. Or ``a`` alone: results of one data
        set on the same folds, or results by name of a kernel (`Result.name`) and of a data set
        (``evaluate(dataset=...)``), every kernel on every data set.
    alpha : float, default 0.05
        The level of significance, for several data sets.

    Returns
    -------
    Comparison, list of Comparison, or Ranking
        For two results; for several of one data set; for several data sets.

    References
    ----------
    Nadeau, Bengio (2003), Inference for the generalization error. Demšar (2006), Statistical
    comparisons of classifiers over multiple data sets.

    Examples
    --------
    >>> from gramlet import Protocol, compare_results, evaluate, load_dataset
    >>> mutag = load_dataset("MUTAG")
    >>> quick = Protocol(folds=10, repeats=1, inner_folds=3)
    >>> results = [evaluate(k, mutag.graphs, mutag.target, quick) for k in ("wl", "majority")]
    >>> compare_results(*results).p_value < 0.05
    True
    """
    if isinstance(a, Result) and isinstance(b, Result):
        return _compared(a, b)
    if b is not None or isinstance(a, Result):
        raise TypeError(
            "compare_results takes two results, or one list of results; got "
            f"{type(a).__name__} and {type(b).__name__}."
        )
    results = list(a)
    if len(results) < 2:
        raise ValueError(f"A comparison needs at least two results; got {len(results)}.")
    # Graphs without a name may be those of the named data set: the folds decide.
    if len({result.data.name for result in results if result.data.name}) <= 1:
        found = [_compared(first, second) for first, second in combinations(results, 2)]
        adjusted = holm([comparison.p_value for comparison in found])
        return [replace(c, adjusted=p) for c, p in zip(found, adjusted, strict=True)]
    return _ranked(results, alpha)


def _ranked(results: list[Result], alpha: float) -> Ranking:
    scorers = sorted({result.scoring for result in results})
    if len(scorers) > 1:
        raise ValueError(f"The results have different scorers: {scorers}. Evaluate all with one.")
    names = [_name(result) for result in results]
    methods, data = list(dict.fromkeys(names)), list(dict.fromkeys(r.data.name for r in results))
    table = np.full((len(data), len(methods)), np.nan)
    for name, result in zip(names, results, strict=True):
        place = data.index(result.data.name), methods.index(name)
        if not np.isnan(table[place]):
            raise ValueError(
                f"There are two results {name!r} on {result.data.name!r}; name them differently."
            )
        table[place] = result.mean
    missing = np.argwhere(np.isnan(table))
    if len(missing):
        row, column = missing[0]
        raise ValueError(
            f"There is no result {methods[column]!r} on {data[row]!r}; a comparison over data sets "
            "needs every kernel on every data set."
        )
    return rank_scores(table, methods, data, alpha, scorers[0])


def _name(result: Result) -> str:
    return f"{result.name} (optimistic)" if result.optimistic else result.name


def _compared(a: Result, b: Result) -> Comparison:
    _check_same_folds(a, b)
    differences = a.scores - b.scores
    if differences.size < 2:
        raise ValueError("A comparison needs at least two test parts; there is one.")
    pooled = a.pooled
    runs = independent_runs(differences, pooled)
    overlap = overlap_of_runs(_overlap(a), pooled)
    return Comparison(
        _name(a),
        _name(b),
        float(differences.mean()),
        *corrected_t(runs, overlap),
        runs.size,
        a.scoring,
        n_pooled=int(pooled.sum()),
    )


def corrected_t(differences: Floats, overlap: float) -> tuple[float, float]:
    """The corrected resampled t of differences, and its two-sided p-value.

    ``overlap`` is n_test / n_train. One difference, or an infinite overlap, is no evidence: t is 0
    and p is 1.
    """
    from scipy.stats import t as student

    runs = differences.size
    if runs < 2 or math.isinf(overlap):
        return 0.0, 1.0
    mean = float(differences.mean())
    variance = float(differences.var(ddof=1))
    if variance > 0:
        statistic = mean / math.sqrt((1 / runs + overlap) * variance)
    else:  # all differences are equal
        statistic = math.copysign(math.inf, mean) if mean else 0.0
    return statistic, float(2 * student.sf(abs(statistic), runs - 1))


def overlap_of(protocol: Protocol) -> float:
    """n_test / n_train."""
    share = protocol.test_size
    return 1 / (protocol.folds - 1) if share is None else share / (1 - share)


def _overlap(result: Result) -> float:
    """n_test / n_train; that of the graphs themselves where a share of groups was held out."""
    protocol = result.protocol
    if protocol.test_size is None or not result.data.n_groups or result.folds is None:
        return overlap_of(protocol)
    tested = float((result.folds >= 0).mean())
    return tested / (1.0 - tested)


def _check_same_folds(a: Result, b: Result) -> None:
    if a.scoring != b.scoring:
        raise ValueError(
            f"The results {a.name!r} and {b.name!r} have different scorers, {a.scoring!r} and "
            f"{b.scoring!r}. Evaluate both with one."
        )
    if a.data.splits != b.data.splits or a.scores.shape != b.scores.shape:
        raise ValueError(
            f"The results {a.name!r} and {b.name!r} do not have the same folds of the same "
            "data. Evaluate both with one Protocol (same folds, repeats and random_state) on the "
            "same graphs."
        )


def independent_runs(values: Floats, pooled: Bools) -> Floats:
    """One value per run: that of each part, and one per repeat for its pooled parts.

    Parameters
    ----------
    values : array, shape (repeats, folds)
        Scores, or differences of scores.
    pooled : array of bool, shape (repeats, folds)

    Examples
    --------
    >>> pooled = np.array([[False, True, True], [False, False, False]])
    >>> independent_runs(np.array([[0.5, 1.0, 1.0], [0.1, 0.2, 0.3]]), pooled).tolist()
    [0.5, 1.0, 0.1, 0.2, 0.3]
    """
    runs: list[float] = []
    for row, together in zip(values, pooled, strict=True):
        runs += row[~together].tolist()
        if together.any():
            runs.append(float(row[together].mean()))
    return np.array(runs)


def overlap_of_runs(overlap: float, pooled: Bools) -> float:
    """n_test / n_train of an average run.

    ``overlap`` is that of a test part, and stays if no parts are pooled. Otherwise the runs of a
    repeat test all graphs once, as folds do. Infinite if each repeat is one run: such runs test
    the same graphs.
    """
    if not pooled.any():
        return overlap
    n_runs = independent_runs(np.zeros(pooled.shape), pooled).size
    apart = n_runs - len(pooled)
    return len(pooled) / apart if apart else math.inf
