"""Results as plain lists and dicts, and back: numbers are exact, missing ones are null."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.evaluation.protocols.protocol import Protocol
from gramlet.evaluation.results.hints import Hint
from gramlet.evaluation.results.result import DataFacts, Result

__all__ = ["from_dict", "plain_value", "to_dict"]

_FORMAT = "gramlet result 2"


def to_dict(result: Result) -> dict[str, Any]:
    """Plain lists, dicts, numbers and strings."""
    return {
        "format": _FORMAT,
        "name": result.name,
        "task": result.task,
        "scoring": result.scoring,
        "classifier": result.classifier,
        **_weights(result.class_weight),
        "optimistic": result.optimistic,
        "mean": result.mean,
        "std": result.std,
        "std_folds": result.std_folds,
        "std_draws": result.std_draws,
        "scores": result.scores.tolist(),
        **({"accuracies": result.scores.tolist()} if result.scoring == "accuracy" else {}),
        "chosen": [[plain_value(options) for options in row] for row in result.chosen],
        "tried": plain_value(result.tried),
        "refitted": result.refitted,
        "kernel_seconds": result.kernel_seconds,
        "other_seconds": result.other_seconds,
        "protocol": result.protocol.to_dict(),
        "data": asdict(result.data),
        "classes": result.classes.tolist(),
        "target": None if result.target is None else result.target.tolist(),
        "folds": None if result.folds is None else result.folds.tolist(),
        "predictions": _listed(result.predictions),
        "decisions": _listed(result.decisions),
        "by_draw": [to_dict(draw) for draw in result.by_draw],
        "baselines": {name: scores.tolist() for name, scores in result.baselines.items()},
        "hints": [{**asdict(hint), "facts": plain_value(hint.facts)} for hint in result.hints],
    }


def from_dict(fields: dict[str, Any]) -> Result:
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
        result = Result(
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
            classes=classes,
            target=None if target is None else np.array(target),
            folds=None if folds is None else np.array(folds, dtype=np.int64),
            predictions=_predictions(fields["predictions"], task),
            decisions=_floats(fields["decisions"]),
            tried=fields["tried"],
            by_draw=tuple(from_dict(draw) for draw in fields["by_draw"]),
            baselines={k: np.array(v, dtype=np.float64) for k, v in fields["baselines"].items()},
            hints=tuple(Hint(**hint) for hint in fields["hints"]),
        )
        _require_shapes(result)
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as why:
        raise ValueError(f"This result is damaged: {why}.") from why
    return result


def _require_shapes(result: Result) -> None:
    """Raise a ValueError if arrays do not fit together."""
    if result.scores.ndim != 2:
        raise ValueError("scores must have one row per repeat")
    repeats = len(result.scores)
    n = None if result.target is None else len(result.target)
    for name in ("folds", "predictions", "decisions"):
        values = getattr(result, name)
        if values is None:
            continue
        if values.ndim < 2 or len(values) != repeats or (n is not None and values.shape[1] != n):
            raise ValueError(f"{name} has the shape {values.shape}, for {n} graphs")


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
        found = np.empty((len(values), len(values[0])), dtype=object)
        found[:] = values
        return found
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
