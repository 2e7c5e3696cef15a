"""Whether one result is better than another by more than the luck of the folds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gramlet.common.arrays import Floats
from gramlet.evaluation.protocol import Protocol
from gramlet.evaluation.result import Result

__all__ = ["Comparison", "compare_results", "corrected_t", "overlap_of"]


@dataclass(frozen=True)
class Comparison:
    """Two results on the same folds, compared.

    Attributes
    ----------
    first, second : str
        Their names; those of optimistic results say so.
    difference : float
        Mean score of the first minus that of the second.
    statistic : float
        The corrected t.
    p_value : float
        Two-sided: how often so large a difference would come up between equally good classifiers.
    n_runs : int
        Test parts compared.
    scoring : str
        The scorer of both.
    """

    first: str
    second: str
    difference: float
    statistic: float
    p_value: float
    n_runs: int
    scoring: str = "accuracy"

    def __str__(self) -> str:
        shown = f"{100 * self.difference:+.1f} points"
        if self.scoring != "accuracy":
            shown = f"{self.difference:+.3f} {self.scoring}"
        return (
            f"{self.first} − {self.second}: {shown}, corrected resampled "
            f"t = {self.statistic:.2f}, p = {self.p_value:.3g} ({self.n_runs} test parts)"
        )


def compare_results(a: Result, b: Result) -> Comparison:
    """Compare two results on the same folds by the corrected resampled t-test.

    t = d̄ / sqrt((1/J + n_test/n_train) s²), with d̄ and s² the mean and variance of the J
    differences of scores, and J − 1 degrees of freedom. The plain t-test takes the J test parts
    for independent, though their training parts overlap, and finds differences that are not there;
    n_test/n_train corrects for the overlap.

    Parameters
    ----------
    a, b : Result
        Of the same graphs, targets, protocol splits and scorer.

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
    _check_same_folds(a, b)
    differences = (a.scores - b.scores).ravel()
    if differences.size < 2:
        raise ValueError("A comparison needs at least two test parts; there is one.")
    statistic, p_value = corrected_t(differences, overlap_of(a.protocol))
    names = [f"{r.name} (optimistic)" if r.optimistic else r.name for r in (a, b)]
    mean = float(differences.mean())
    return Comparison(names[0], names[1], mean, statistic, p_value, differences.size, a.scoring)


def corrected_t(differences: Floats, overlap: float) -> tuple[float, float]:
    """The corrected resampled t of differences, and its two-sided p-value.

    ``overlap`` is n_test / n_train.
    """
    from scipy.stats import t as student

    runs = differences.size
    mean = float(differences.mean())
    variance = float(differences.var(ddof=1))
    if variance > 0:
        statistic = mean / math.sqrt((1 / runs + overlap) * variance)
    else:  # one and the same difference everywhere
        statistic = math.copysign(math.inf, mean) if mean else 0.0
    return statistic, float(2 * student.sf(abs(statistic), runs - 1))


def overlap_of(protocol: Protocol) -> float:
    """n_test / n_train."""
    share = protocol.test_size
    return 1 / (protocol.folds - 1) if share is None else share / (1 - share)


def _check_same_folds(a: Result, b: Result) -> None:
    if a.scoring != b.scoring:
        raise ValueError(
            f"The results {a.name!r} and {b.name!r} have different scorers, {a.scoring!r} and "
            f"{b.scoring!r}. Evaluate both with one."
        )
    if a.data.splits != b.data.splits or a.scores.shape != b.scores.shape:
        raise ValueError(
            f"The results {a.name!r} and {b.name!r} do not stand on the same folds of the same "
            "data. Evaluate both with one Protocol (same folds, repeats and random_state) on the "
            "same graphs."
        )
