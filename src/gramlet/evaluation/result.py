"""Results as data: scores and every prediction, so that other scores can be computed later.

`result_table` makes tables, `significance` compares results.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Bools, Floats, Ints
from gramlet.common.checks import require_count
from gramlet.evaluation.hints import Hint
from gramlet.evaluation.protocol import Protocol
from gramlet.evaluation.scorers import (
    part_scores,
    percent_or_number,
    plain_score,
    pooled_parts,
    score_text,
    scorer_of,
)

_FORMAT = "gramlet result 3"


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
    n_groups : int
        The number of groups that were kept whole; 0 if there are none.
    """

    name: str
    n_graphs: int
    classes: dict[str, int]
    splits: str
    left_out: int = 0
    n_groups: int = 0


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
    normalize : str
        How the kernel was normalised: "tanimoto", "cosine", "none", "by itself" if k(G, G) is
        always 1, several of these if there was a choice, "" for baselines and embeddings.
    classes : array
        In sorted order, the last one positive; empty for a regression.
    target : array, shape (n,), or None
    folds : array of int64, shape (repeats, n), or None
        The test part each graph was in; −1 for none.
    predictions : array, shape (repeats, n), or None
        Out-of-fold predictions in the order of the graphs; None or NaN for graphs not tested.
    decisions : array, shape (repeats, n) or (repeats, n, classes), or None
        Decision values of the last of two classes, or of each class.
    deviations : array, shape (repeats, n), or None
        Standard deviations of predicted numbers, of machines that know them.
    tried : dict
        The values that each option was chosen from, and C.
    by_draw : tuple of Result
        With several draws of random numbers, the result of each; predictions are the first's.
    baselines : dict
        Scores of the baselines on the same test parts.
    data_hints : tuple of Hint
        What to know about the graphs: unused columns, duplicates, classes in few groups.
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
    normalize: str = ""
    classes: Array = field(default_factory=lambda: np.zeros(0))
    target: Array | None = None
    folds: Ints | None = None
    predictions: Array | None = None
    decisions: Floats | None = None
    deviations: Floats | None = None
    tried: dict[str, list[Any]] = field(default_factory=dict)
    by_draw: tuple[Result, ...] = ()
    baselines: dict[str, Floats] = field(default_factory=dict)
    data_hints: tuple[Hint, ...] = ()

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
    def hints(self) -> tuple[Hint, ...]:
        """Possible problems and improvements, as data; none without baselines."""
        from gramlet.evaluation.hints import baseline_hints, edge_of_grid_hints, pooled_hints
        from gramlet.evaluation.significance import overlap_of

        if not self.baselines:
            return self.data_hints
        pooled = self.pooled
        chosen = [
            options for draw in (self.by_draw or (self,)) for row in draw.chosen for options in row
        ]
        # Ridge chooses C in the training parts, also where options are chosen on the test parts.
        on_test_parts = set(self.tried) - ({"C"} if self.classifier == "ridge" else set())
        return (
            *edge_of_grid_hints(self.tried, chosen, on_test_parts if self.optimistic else set()),
            *baseline_hints(
                self.name,
                self.scores,
                self.baselines,
                pooled,
                overlap_of(self.protocol),
                self.scoring,
            ),
            *pooled_hints(pooled, self.task),
            *self.data_hints,
        )

    def describe_protocol(self) -> str:
        """The protocol in one line for the head of a table."""
        return self.protocol.describe(grouped=self.data.n_groups > 0)

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
            scores: Floats = np.mean([draw.part_scores(name) for draw in self.by_draw], axis=0)
            return scores
        scorer = scorer_of(name, self.task, len(self.classes))
        if self.predictions is None or self.folds is None or self.target is None:
            raise ValueError(f"The result {self.name!r} has no predictions to score.")
        rows = []
        for repeat, parts in enumerate(self._parts()):
            rows.append(
                part_scores(
                    scorer,
                    self.codes(self.target),
                    parts,
                    self.codes(self.predictions[repeat]),
                    None if self.decisions is None else self.decisions[repeat],
                    None if self.deviations is None else self.deviations[repeat],
                )
            )
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

        Parameters
        ----------
        repeat : int, optional
            One repeat, in which every graph counts once; by default all of them.
        """
        if self.task != "classification":
            raise ValueError(
                "A confusion matrix needs classes; this is the result of a regression."
            )
        predictions, truth = self._stored()
        counts = np.zeros((len(self.classes), len(self.classes)), dtype=np.int64)
        for row in predictions if repeat is None else predictions[repeat : repeat + 1]:
            codes = self.codes(row)
            tested = (codes >= 0) & (truth >= 0)
            np.add.at(counts, (truth[tested], codes[tested]), 1)
        return counts

    def calibration(self, n_bins: int = 10, label: Any = None) -> dict[str, list[float]]:
        """Observed values of graphs with similar predictions, in bins of equal numbers of graphs.

        Parameters
        ----------
        n_bins : int
        label : class, optional
            The class of the decision values; required for more than two classes, else the last.

        Returns
        -------
        dict
            ``value``: the mean decision value (or predicted number) of each bin; ``observed``: the
            share of the class there (or the mean true number); ``count``: predictions in the bin.
        """
        require_count("n_bins", n_bins, 1)
        values, truth = self._stored()
        if self.task == "classification":
            if self.decisions is None:
                raise ValueError(f"The result {self.name!r} has no decision values.")
            code = self._code(label)
            truth = (truth == code).astype(np.float64)
            if self.decisions.ndim == 2:
                values = self.decisions if code == 1 else -self.decisions
            else:
                values = self.decisions[:, :, code]
        flat, true = values.ravel(), np.tile(truth, len(values))
        flat, true = flat[np.isfinite(flat)], true[np.isfinite(flat)]
        order = np.argsort(flat, kind="stable")
        bins = [part for part in np.array_split(order, n_bins) if len(part)]
        return {
            "value": [float(flat[part].mean()) for part in bins],
            "observed": [float(true[part].mean()) for part in bins],
            "count": [len(part) for part in bins],
        }

    def _stored(self) -> tuple[Any, Array]:
        """The predictions, and the target as codes or numbers."""
        if self.predictions is None or self.target is None:
            raise ValueError(f"The result {self.name!r} has no predictions.")
        return self.predictions, self.codes(self.target)

    def _code(self, label: Any) -> int:
        known = self.classes.tolist()
        if label is None:
            if len(known) > 2:
                raise ValueError(f"label: choose a class, one of {', '.join(map(repr, known))}.")
            return len(known) - 1
        if label not in known:
            raise ValueError(
                f"label must be one of the classes {', '.join(map(repr, known))}; got {label!r}."
            )
        return int(known.index(label))

    def most_chosen(self) -> dict[str, tuple[Any, float]]:
        """Each option's most frequent value and the share of training parts that chose it.

        Where a kernel was chosen too, the other options are those of the kernel chosen most often.
        """
        sets = [options for row in self.chosen for options in row]
        n_parts = len(sets)
        most: dict[str, tuple[Any, float]] = {}
        if sets and "kernel" in sets[0]:
            kernel = Counter(options["kernel"] for options in sets).most_common(1)[0][0]
            sets = [options for options in sets if options["kernel"] == kernel]
        for key in sets[0] if sets else ():
            values = [options[key] for options in sets]
            # By repr: options may be lists or estimators, which cannot be counted themselves.
            text, count = Counter(map(repr, values)).most_common(1)[0]
            most[key] = (next(v for v in values if repr(v) == text), count / n_parts)
        return most

    def __repr__(self) -> str:
        mean = percent_or_number(plain_score(self.mean, self.scoring), self.scoring)
        if self.std:
            spread = percent_or_number(self.std, self.scoring)
            mean = f"{mean.removesuffix(' %')} ± {spread}"
        flag = ", optimistic" if self.optimistic else ""
        return f"Result({self.name!r}, {score_text(self.scoring)} {mean}{flag})"

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
        """Plain lists, dicts, numbers and strings; numbers are exact, missing ones are None."""
        return {
            "format": _FORMAT,
            "name": self.name,
            "task": self.task,
            "scoring": self.scoring,
            "classifier": self.classifier,
            **_weights(self.class_weight),
            "normalize": self.normalize,
            "optimistic": self.optimistic,
            "mean": self.mean,
            "std": self.std,
            "std_folds": self.std_folds,
            "std_draws": self.std_draws,
            "scores": self.scores.tolist(),
            **({"accuracies": self.scores.tolist()} if self.scoring == "accuracy" else {}),
            "chosen": [[plain_value(options) for options in row] for row in self.chosen],
            "tried": plain_value(self.tried),
            "refitted": self.refitted,
            "kernel_seconds": self.kernel_seconds,
            "other_seconds": self.other_seconds,
            "protocol": self.protocol.to_dict(),
            "data": asdict(self.data),
            "classes": self.classes.tolist(),
            "target": None if self.target is None else self.target.tolist(),
            "folds": None if self.folds is None else self.folds.tolist(),
            "predictions": _listed(self.predictions),
            "decisions": _listed(self.decisions),
            "deviations": _listed(self.deviations),
            "by_draw": [draw.to_dict() for draw in self.by_draw],
            "baselines": {name: scores.tolist() for name, scores in self.baselines.items()},
            "hints": _plain_hints(self.hints),
            "data_hints": _plain_hints(self.data_hints),
        }

    def to_json(self, indent: int | None = None) -> str:
        """As JSON; options that JSON does not support (estimators) are written as their repr."""
        return json.dumps(self.to_dict(), indent=indent)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Result:
        """The result that `to_dict` wrote.

        Raises
        ------
        ValueError
            If it is not a result, or parts of it are missing.
        """
        if not isinstance(fields, dict) or fields.get("format") != _FORMAT:
            raise ValueError(f"This is not a result that gramlet wrote ({_FORMAT!r} is missing).")
        try:
            task = fields["task"]
            classes = np.array(fields["classes"])
            target, folds = fields["target"], fields["folds"]
            weights = fields.get("class_weight")
            result = cls(
                name=fields["name"],
                scores=np.array(fields["scores"], dtype=np.float64),
                chosen=fields["chosen"],
                refitted=fields["refitted"],
                kernel_seconds=fields["kernel_seconds"],
                other_seconds=fields["other_seconds"],
                protocol=Protocol.from_dict(fields["protocol"]),
                data=DataFacts(**fields["data"]),
                task=task,
                scoring=fields["scoring"],
                classifier=fields["classifier"],
                class_weight=dict(weights) if isinstance(weights, list) else weights,
                normalize=fields.get("normalize", ""),
                classes=classes,
                target=None if target is None else np.array(target),
                folds=None if folds is None else np.array(folds, dtype=np.int64),
                predictions=_predictions(fields["predictions"], task),
                decisions=_floats(fields["decisions"]),
                deviations=_floats(fields["deviations"]),
                tried=fields["tried"],
                by_draw=tuple(cls.from_dict(draw) for draw in fields["by_draw"]),
                baselines={
                    k: np.array(v, dtype=np.float64) for k, v in fields["baselines"].items()
                },
                data_hints=tuple(Hint(**hint) for hint in fields["data_hints"]),
            )
            result._require_shapes()
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as why:
            raise ValueError(f"This result is damaged: {why}.") from why
        return result

    def _require_shapes(self) -> None:
        """Raise a ValueError if arrays do not fit together."""
        if self.scores.ndim != 2:
            raise ValueError("scores must have one row per repeat")
        n = None if self.target is None else len(self.target)
        for name in ("folds", "predictions", "decisions", "deviations"):
            values = getattr(self, name)
            if values is None:
                continue
            wrong = n is not None and values.shape[1:2] != (n,)
            if values.ndim < 2 or len(values) != len(self.scores) or wrong:
                raise ValueError(f"{name} has the shape {values.shape}, for {n} graphs")

    @classmethod
    def from_json(cls, text: str) -> Result:
        """The result that `to_json` wrote."""
        try:
            fields = json.loads(text)
        except RecursionError:
            raise ValueError("This is not a result that gramlet wrote: it is nested.") from None
        return cls.from_dict(fields)


def _plain_hints(hints: Sequence[Hint]) -> list[dict[str, Any]]:
    return [{**asdict(hint), "facts": plain_value(hint.facts)} for hint in hints]


def _weights(class_weight: Any) -> dict[str, Any]:
    """Class weights as a field, if there are any; those of classes as pairs."""
    if class_weight is None:
        return {}
    if isinstance(class_weight, Mapping):
        class_weight = [[plain_value(key), float(value)] for key, value in class_weight.items()]
    return {"class_weight": class_weight}


def _listed(values: Array | None) -> Any:
    """As lists; missing numbers as None."""
    if values is None:
        return None
    if values.dtype.kind != "f":
        return values.tolist()
    plain = values.astype(object)
    plain[np.isnan(values)] = None
    return plain.tolist()


def _floats(values: Any) -> Floats | None:
    # None becomes NaN.
    return None if values is None else np.array(values, dtype=np.float64)


def _predictions(values: Any, task: str) -> Array | None:
    if values is None or task == "regression":
        return _floats(values)
    if any(value is None for row in values for value in row):
        objects = np.empty((len(values), len(values[0])), dtype=object)
        objects[:] = values
        return objects
    return np.array(values)


def plain_value(value: Any) -> Any:
    """A value that JSON supports: lists for arrays and tuples, the repr of anything else."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain_value(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain_value(item) for key, item in value.items()}
    return value if isinstance(value, bool | int | float | str | None) else repr(value)
