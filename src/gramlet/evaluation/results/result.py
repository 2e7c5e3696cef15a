"""Results as data: scores and every prediction, so that other scores can be computed later.

`result_json` converts to JSON and back, `tables` makes tables, `significance` compares results.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Bools, Floats, Ints
from gramlet.evaluation.protocols.protocol import Protocol
from gramlet.evaluation.results.hints import Hint
from gramlet.evaluation.scores.scorers import part_scores, pooled_parts, scorer_of

__all__ = ["DataFacts", "Result"]


@dataclass(frozen=True)
class DataFacts:
    """Facts about the data of an evaluation.

    Attributes
    ----------
    name : str
    n_graphs : int
        The number of graphs that were used.
    classes : dict
        The number of graphs per class; empty for a regression.
    splits : str
        Digest of targets and splits: equal if and only if two results have the same folds.
    left_out : int
        Graphs of classes smaller than ``min_class_size``.
    """

    name: str
    n_graphs: int
    classes: dict[str, int]
    splits: str
    left_out: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The result of an evaluation.

    Attributes
    ----------
    name : str
    scores : array, shape (repeats, folds)
        The score of each test part; the mean over draws, if there are several.
    chosen : list of lists of dict
        The options chosen in each training part, C among them; ``chosen[repeat][fold]``.
    refitted : bool
        Whether the kernel was fitted on each training part (or else computed once and sliced).
    kernel_seconds, other_seconds : float
        Wall time in the kernel, and in choosing and fitting machines. Work that was found in a
        store is not included.
    protocol : Protocol
    data : DataFacts
    task, scoring, classifier : str
        The task, the scorer, and the machine ("" if there is none).
    class_weight : None, "balanced" or dict
        The weights of classes in the machine.
    classes : array
        In sorted order, the last one positive; empty for a regression.
    target : array, shape (n,), or None
    folds : array of int64, shape (repeats, n), or None
        The test part each graph was in; −1 for none.
    predictions : array, shape (repeats, n), or None
        Out-of-fold predictions in the order of the graphs; None or NaN for graphs not tested.
    decisions : array, shape (repeats, n) or (repeats, n, classes), or None
        Decision values of the last of two classes, or of each class.
    tried : dict
        The values that each option was chosen from, and C.
    by_draw : tuple of Result
        With several draws of random numbers, the result of each; predictions are the first's.
    baselines : dict
        Scores of the baselines on the same test parts.
    hints : tuple of Hint
        Possible problems and improvements, as data.
    """

    name: str
    scores: Floats
    chosen: list[list[dict[str, Any]]]
    refitted: bool
    kernel_seconds: float
    other_seconds: float
    protocol: Protocol
    data: DataFacts = field(default_factory=lambda: DataFacts("", 0, {}, ""))
    task: str = "classification"
    scoring: str = "accuracy"
    classifier: str = ""
    class_weight: Any = None
    classes: Array = field(default_factory=lambda: np.zeros(0))
    target: Array | None = None
    folds: Ints | None = None
    predictions: Array | None = None
    decisions: Floats | None = None
    tried: dict[str, list[Any]] = field(default_factory=dict)
    by_draw: tuple[Result, ...] = ()
    baselines: dict[str, Floats] = field(default_factory=dict)
    hints: tuple[Hint, ...] = ()

    @property
    def mean(self) -> float:
        """Mean score over all test parts."""
        return float(self.scores.mean())

    @property
    def std(self) -> float:
        """Standard deviation (n − 1) of the repeats' mean scores.

        The number that most papers print after ±. With one repeat, `std_folds` is used instead. It
        measures how much random folds change the mean, not the uncertainty of the mean: to compare
        two kernels use `gramlet.compare_results`.
        """
        if len(self.scores) == 1:
            return self.std_folds
        return float(self.scores.mean(axis=1).std(ddof=1))

    @property
    def std_folds(self) -> float:
        """Standard deviation (n − 1) of the scores of all test parts; 0 if there is one."""
        return float(self.scores.std(ddof=1)) if self.scores.size > 1 else 0.0

    @property
    def std_draws(self) -> float:
        """Standard deviation (n − 1) between draws of random numbers; 0 if there is one."""
        means = [draw.mean for draw in self.by_draw]
        return float(np.std(means, ddof=1)) if len(means) > 1 else 0.0

    @property
    def n_draws(self) -> int:
        """The number of draws of random numbers."""
        return max(1, len(self.by_draw))

    @property
    def optimistic(self) -> bool:
        """Whether options were chosen on the test parts."""
        return self.protocol.optimistic

    @property
    def seconds(self) -> float:
        """The total time of the evaluation."""
        return self.kernel_seconds + self.other_seconds

    @property
    def accuracies(self) -> Floats:
        """The share of correct predictions in each test part, whatever the scorer was."""
        return self.scores if self.scoring == "accuracy" else self.part_scores("accuracy")

    def score(self, name: str) -> float:
        """The mean over test parts of any scorer of predictions or decision values.

        Parts of fewer than two graphs, or of one class if the scorer needs two, are pooled
        within a repeat.

        Parameters
        ----------
        name : str
            scikit-learn's name of a scorer, e.g. "balanced_accuracy", "roc_auc", "r2",
            "neg_root_mean_squared_error".

        Examples
        --------
        >>> from gramlet import Protocol, evaluate, load_dataset
        >>> mutag = load_dataset("MUTAG")
        >>> quick = Protocol(folds=5, repeats=1, inner_folds=3)
        >>> result = evaluate("vertex", mutag.graphs, mutag.target, quick)
        >>> 0.5 < result.score("balanced_accuracy") < result.score("roc_auc")
        True
        """
        return float(self.part_scores(name).mean())

    def part_scores(self, name: str) -> Floats:
        """The same for each test part; shape (repeats, folds)."""
        if self.by_draw:
            found: Floats = np.mean([draw.part_scores(name) for draw in self.by_draw], axis=0)
            return found
        scorer = scorer_of(name, self.task, len(self.classes))
        if self.predictions is None or self.folds is None or self.target is None:
            raise ValueError(f"The result {self.name!r} has no predictions to score.")
        rows = []
        for repeat, parts in enumerate(self._parts()):
            decisions = None if self.decisions is None else self.decisions[repeat]
            predictions = self.codes(self.predictions[repeat])
            rows.append(part_scores(scorer, self.codes(self.target), predictions, decisions, parts))
        return np.array(rows)

    @property
    def pooled(self) -> Bools:
        """Whether each test part was scored together with others, shape (repeats, folds).

        Parts of fewer than two graphs, or of one class if the scorer needs two, have one score per
        repeat together. No part was if the result does not contain its target and folds.
        """
        if self.target is None or self.folds is None:
            return np.zeros(self.scores.shape, dtype=bool)
        scorer = scorer_of(self.scoring, self.task, len(self.classes))
        truth = self.codes(self.target)
        return np.array([pooled_parts(scorer, truth, parts) for parts in self._parts()])

    def _parts(self) -> list[list[Ints]]:
        """The graphs of each test part, by repeat."""
        assert self.folds is not None, "only called where the folds are known"
        return [
            [np.flatnonzero(row == fold) for fold in range(row.max() + 1)] for row in self.folds
        ]

    def codes(self, values: Array) -> Array:
        """Classes as positions in ``classes``, −1 for others and None; numbers as they are."""
        if self.task == "regression":
            return np.asarray(values, dtype=np.float64)
        known = {value: code for code, value in enumerate(self.classes.tolist())}
        return np.array([known.get(value, -1) for value in values.tolist()], dtype=np.int64)

    def confusion_matrix(self, repeat: int | None = None) -> Ints:
        """How often each class (rows) was predicted as each class (columns), in order of `classes`.

        Over all repeats, or one of them; see `gramlet.evaluation.scores.measures`.
        """
        from gramlet.evaluation.scores.measures import confusion_matrix

        return confusion_matrix(self, repeat)

    def calibration(self, n_bins: int = 10, label: Any = None) -> dict[str, list[float]]:
        """Decision values, or predicted numbers, compared with the true values, in bins."""
        from gramlet.evaluation.scores.measures import calibration

        return calibration(self, n_bins, label)

    def most_chosen(self) -> dict[str, tuple[Any, float]]:
        """Each option's most frequent value and the share of training parts that chose it."""
        sets = [options for row in self.chosen for options in row]
        found: dict[str, tuple[Any, float]] = {}
        for key in sets[0] if sets else ():
            values = [options[key] for options in sets]
            # By repr: options may be lists or estimators, which cannot be counted themselves.
            text, count = Counter(map(repr, values)).most_common(1)[0]
            found[key] = (next(v for v in values if repr(v) == text), count / len(values))
        return found

    def __repr__(self) -> str:
        percent = self.scoring == "accuracy"
        factor, form = (100, ".1f") if percent else (1, ".3f")
        spread = f" ± {factor * self.std:{form}}" if self.std else ""
        unit = " %" if percent else ""
        flag = ", optimistic" if self.optimistic else ""
        return (
            f"Result({self.name!r}, {self.scoring} {factor * self.mean:{form}}{spread}{unit}{flag})"
        )

    def _repr_html_(self) -> str:
        from gramlet.report.notebook import result_html

        return result_html(self)

    def report(
        self,
        path: str | os.PathLike[str],
        data: Any = None,
        *,
        others: Sequence[Result] = (),
        **options: Any,
    ) -> Path:
        """Write one self-contained HTML page about this result, and optionally others.

        Parameters
        ----------
        path : path
            The file, ending in .html.
        data : Dataset or graphs, optional
            What was evaluated; without it the page has no drawings, kernel matrices and maps.
        others : sequence of Result
            Results on the same graphs, shown beside this one.
        **options
            As for `gramlet.write_report`.

        Returns
        -------
        Path
        """
        from gramlet.report.page import write_report

        return write_report(path, [self, *others], data, **options)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, numbers and strings."""
        from gramlet.evaluation.results.result_json import to_dict

        return to_dict(self)

    def to_json(self, indent: int | None = None) -> str:
        """As JSON; options that JSON does not support (estimators) are written as their repr."""
        return json.dumps(self.to_dict(), indent=indent)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Result:
        """The result that `to_dict` wrote."""
        from gramlet.evaluation.results.result_json import from_dict

        return from_dict(fields)

    @classmethod
    def from_json(cls, text: str) -> Result:
        """The result that `to_json` wrote."""
        try:
            fields = json.loads(text)
        except RecursionError:
            raise ValueError("This is not a result that gramlet wrote: it is nested.") from None
        return cls.from_dict(fields)
