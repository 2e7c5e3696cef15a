"""Whether one result is better than another by more than the luck of the folds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gramlet.evaluation.result import Result

__all__ = ["Comparison", "compare_results"]


@dataclass(frozen=True)
class Comparison:
    """Two results on the same folds, compared.

    Attributes
    ----------
    first, second : str
        Their names.
    difference : float
        Mean accuracy of the first minus that of the second.
    statistic : float
        The corrected t.
    p_value : float
        Two-sided: how often so large a difference would come up between equally good classifiers.
    n_runs : int
        Test parts compared.
    """

    first: str
    second: str
    difference: float
    statistic: float
    p_value: float
    n_runs: int

    def __str__(self) -> str:
        return (
            f"{self.first} − {self.second}: {100 * self.difference:+.1f} points, corrected "
            f"resampled t = {self.statistic:.2f}, p = {self.p_value:.3g} ({self.n_runs} test parts)"
        )


def compare_results(a: Result, b: Result) -> Comparison:
    """Compare two results on the same folds by the corrected resampled t-test.

    t = d̄ / sqrt((1/J + n_test/n_train) s²), with d̄ and s² the mean and variance of the J
    differences of accuracy, and J − 1 degrees of freedom. The plain t-test takes the J test parts
    for independent, though their training parts overlap, and finds differences that are not there;
    n_test/n_train corrects for the overlap.

    Parameters
    ----------
    a, b : Result
        Of the same graphs, classes and protocol splits.

    Returns
    -------
    Comparison

    References
    ----------
    Nadeau, Bengio (2003), Inference for the generalization error.

    Examples
    --------
    >>> from gramlet import Protocol, compare_results, evaluate, load_dataset
    >>> mutag = load_dataset("MUTAG")
    >>> quick = Protocol(folds=10, repeats=1, inner_folds=3)
    >>> results = [evaluate(k, mutag.graphs, mutag.target, quick) for k in ("wl", "majority")]
    >>> compare_results(*results).p_value < 0.05
    True
    """
    from scipy.stats import t as student

    _check_same_folds(a, b)
    differences = (a.accuracies - b.accuracies).ravel()
    runs = differences.size
    if runs < 2:
        raise ValueError("A comparison needs at least two test parts; there is one.")
    mean = float(differences.mean())
    variance = float(differences.var(ddof=1))
    if variance > 0:
        statistic = mean / math.sqrt((1 / runs + _overlap(a)) * variance)
    else:  # one and the same difference everywhere
        statistic = math.copysign(math.inf, mean) if mean else 0.0
    p_value = float(2 * student.sf(abs(statistic), runs - 1))
    return Comparison(a.name, b.name, mean, statistic, p_value, runs)


def _overlap(result: Result) -> float:
    """n_test / n_train."""
    share = result.protocol.test_size
    return 1 / (result.protocol.folds - 1) if share is None else share / (1 - share)


def _check_same_folds(a: Result, b: Result) -> None:
    if a.data.splits != b.data.splits or a.accuracies.shape != b.accuracies.shape:
        raise ValueError(
            f"The results {a.name!r} and {b.name!r} do not stand on the same folds of the same "
            "data. Evaluate both with one Protocol (same folds, repeats and random_state) on the "
            "same graphs."
        )
