"""Results as data: what an evaluation found, to JSON and back.

How results are shown is in `tables`, how two are compared in `significance`.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.evaluation.protocol import Protocol

__all__ = ["DataFacts", "Result"]

_FORMAT = "gramlet result 1"


@dataclass(frozen=True)
class DataFacts:
    """What was evaluated on.

    Attributes
    ----------
    name : str
    n_graphs : int
    classes : dict
        How many graphs each class has.
    splits : str
        Digest of classes and splits: equal if and only if two results stand on the same folds.
    """

    name: str
    n_graphs: int
    classes: dict[str, int]
    splits: str


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """What an evaluation found.

    Attributes
    ----------
    name : str
    accuracies : array, shape (repeats, folds)
        Share of right answers in each test part.
    chosen : list of lists of dict
        The options chosen in each training part, C among them; ``chosen[repeat][fold]``.
    refitted : bool
        Whether the kernel was fitted on each training part (or else computed once and sliced).
    kernel_seconds, other_seconds : float
        Time in the kernel, and in choosing and fitting classifiers; as the clock on the wall goes.
    protocol : Protocol
    data : DataFacts
    """

    name: str
    accuracies: Floats
    chosen: list[list[dict[str, Any]]]
    refitted: bool
    kernel_seconds: float
    other_seconds: float
    protocol: Protocol
    data: DataFacts = field(default_factory=lambda: DataFacts("", 0, {}, ""))

    @property
    def mean(self) -> float:
        """Mean accuracy over all test parts."""
        return float(self.accuracies.mean())

    @property
    def std(self) -> float:
        """Standard deviation (n − 1) of the repeats' mean accuracies.

        The number most papers print behind ±. With one repeat there is none, and `std_folds` stands
        in. It says how much random folds change the mean, not how sure the mean is: for comparing
        two kernels use `gramlet.compare_results`.
        """
        if len(self.accuracies) == 1:
            return self.std_folds
        return float(self.accuracies.mean(axis=1).std(ddof=1))

    @property
    def std_folds(self) -> float:
        """Standard deviation (n − 1) of the accuracies of all test parts; 0 if there is one."""
        return float(self.accuracies.std(ddof=1)) if self.accuracies.size > 1 else 0.0

    @property
    def seconds(self) -> float:
        """All the time the evaluation took."""
        return self.kernel_seconds + self.other_seconds

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
        spread = f" ± {100 * self.std:.1f}" if self.std else ""
        return f"Result({self.name!r}, accuracy {100 * self.mean:.1f}{spread} %)"

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, dicts, numbers and strings."""
        return {
            "format": _FORMAT,
            "name": self.name,
            "mean": self.mean,
            "std": self.std,
            "std_folds": self.std_folds,
            "accuracies": self.accuracies.tolist(),
            "chosen": [[_plain(options) for options in row] for row in self.chosen],
            "refitted": self.refitted,
            "kernel_seconds": self.kernel_seconds,
            "other_seconds": self.other_seconds,
            "protocol": {**asdict(self.protocol), "C": list(self.protocol.C)},
            "data": asdict(self.data),
        }

    def to_json(self, indent: int | None = None) -> str:
        """As JSON; options that JSON does not know (estimators) are written as their repr."""
        return json.dumps(self.to_dict(), indent=indent)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Result:
        """The result that `to_dict` wrote down."""
        if not isinstance(fields, dict) or fields.get("format") != _FORMAT:
            raise ValueError(f"This is not a result that gramlet wrote ({_FORMAT!r} is missing).")
        try:
            costs = tuple(fields["protocol"]["C"])
            return cls(
                name=fields["name"],
                accuracies=np.array(fields["accuracies"], dtype=np.float64),
                chosen=fields["chosen"],
                refitted=fields["refitted"],
                kernel_seconds=fields["kernel_seconds"],
                other_seconds=fields["other_seconds"],
                protocol=Protocol(**{**fields["protocol"], "C": costs}),
                data=DataFacts(**fields["data"]),
            )
        except (KeyError, TypeError) as why:
            raise ValueError(f"This result is damaged: {why}.") from why

    @classmethod
    def from_json(cls, text: str) -> Result:
        """The result that `to_json` wrote down."""
        return cls.from_dict(json.loads(text))


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    return {key: _plain_value(value) for key, value in options.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain_value(item) for item in value]
    return value if isinstance(value, bool | int | float | str | None) else repr(value)
