"""Whether a target contains classes or real numbers, from values or from the cells of a table.

Readers, evaluation and the command line all use this rule.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gramlet.common.arrays import Array
from gramlet.common.notices import warn_caller

__all__ = ["MISSING", "Task", "check_target", "infer_task", "is_missing", "target_from_cells"]

Task = Literal["classification", "regression"]

# Cells that stand for a missing value.
MISSING = frozenset(
    ("", "nan", "NaN", "NAN", "na", "NA", "n/a", "N/A", "#N/A", "<NA>", "null", "NULL", "None")
)

_MANY_GRAPHS = 50
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+\.\d+|(?:\.\d{3})+,\d+)")
_MARKS = "has thousands separators; write it without them"


def infer_task(y: Any, *, warn: bool = False) -> Task:
    """Whether a target is for classification or for regression.

    Strings and booleans are classes. Numbers are a regression target if one of them is not whole,
    or if there are at least 50 graphs and more than a fifth as many distinct values as graphs.

    Parameters
    ----------
    y : array-like, one value per graph
    warn : bool
        Whether to warn when whole numbers are used as a regression target.

    Returns
    -------
    "classification" or "regression"

    Raises
    ------
    ValueError
        If values are missing, NaN or infinite; the message lists their positions.

    Examples
    --------
    >>> from gramlet.files.target import infer_task
    >>> infer_task(["active", "inactive"]), infer_task([0, 1, 1]), infer_task([0.5, 1.0])
    ('classification', 'classification', 'regression')
    """
    values = check_target(y)
    if values.dtype.kind not in "iuf":
        return "classification"
    if values.dtype.kind == "f" and not bool((values == np.floor(values)).all()):
        return "regression"
    n_distinct = len(np.unique(values))
    if len(values) < _MANY_GRAPHS or 5 * n_distinct <= len(values):
        return "classification"
    if warn:
        warn_caller(
            f"The target has {n_distinct} distinct whole numbers for {len(values)} graphs and is "
            'treated as real; task="classification" treats them as classes.'
        )
    return "regression"


def check_target(y: Any) -> Array:
    """The target as an array of strings, booleans, numbers or objects, with no value missing."""
    values = np.asarray(y)
    if values.ndim != 1:
        raise ValueError(f"The target must have one value per graph; got shape {values.shape}.")
    if values.dtype.kind == "O":
        values = _plain_array(values)
    if values.dtype.kind == "O":
        missing = [i for i, value in enumerate(values) if value is None or value != value]
    elif values.dtype.kind in "fc":
        missing = np.flatnonzero(~np.isfinite(values)).tolist()
    else:
        missing = []
    if missing:
        shown = ", ".join(map(str, missing[:10])) + (", ..." if len(missing) > 10 else "")
        raise ValueError(
            f"The target is missing, NaN or infinite for {len(missing)} of {len(values)} graphs "
            f"(positions {shown}). Leave these graphs out."
        )
    return values


def _plain_array(values: Array) -> Array:
    """Objects that are all numbers, or all strings, as an array of that type."""
    kinds = {type(value) for value in values}
    if kinds and all(issubclass(k, str) for k in kinds):
        return values.astype(str)
    if kinds and all(issubclass(k, bool | np.bool_) for k in kinds):
        return values.astype(bool)
    numbers = (int, float, np.integer, np.floating)
    if kinds and all(issubclass(k, numbers) and not issubclass(k, bool) for k in kinds):
        plain = np.array(values.tolist())
        return plain if plain.dtype.kind in "iuf" else values.astype(float)
    return values


def is_missing(cell: str) -> bool:
    """Whether a cell of a table stands for a missing value."""
    return cell in MISSING


def target_from_cells(cells: Sequence[str]) -> tuple[Array, dict[int, str]]:
    """A target from the cells of a table, and the positions of cells that do not fit, with reasons.

    Integers if all cells are written as such, else floats if all are numbers, else strings. If a
    cell is a number that is not whole, the target is real, and cells that are not numbers do not
    fit; their values in the array are 0 and must not be used. Commas are read as decimal points if
    most cells are numbers then and none has a point. Cells in which a comma could also separate
    thousands do not fit, and neither do numbers with commas and points.

    >>> target_from_cells(["1", "-1"])[0].tolist(), target_from_cells(["a", "b"])[0].tolist()
    ([1, -1], ['a', 'b'])
    >>> target_from_cells(["0.5", ">9"])[1]
    {1: "'>9' is not a number, though others are"}
    >>> target_from_cells(["0,5", "-12,25", "3"])[0].tolist()
    [0.5, -12.25, 3.0]
    >>> target_from_cells(["1.234,5", "2,5"])[1]
    {0: "'1.234,5' has thousands separators; write it without them"}
    """
    grouped = {i: f"{cell!r} {_MARKS}" for i, cell in enumerate(cells) if _GROUPED.fullmatch(cell)}
    if grouped:
        rest = target_from_cells([cell for i, cell in enumerate(cells) if i not in grouped])[1]
        left = [i for i in range(len(cells)) if i not in grouped]
        return np.zeros(len(cells)), grouped | {left[i]: why for i, why in rest.items()}
    if any(map(_is_decimal, cells)) and _have_decimal_commas(cells):
        unclear = {i: cell for i, cell in enumerate(cells) if _is_decimal(cell)}
        if all(map(_THOUSANDS.fullmatch, unclear.values())):
            why = "may have a decimal comma or a thousands separator; write a point, or no comma"
            return np.zeros(len(cells)), {i: f"{cell!r} {why}" for i, cell in unclear.items()}
        cells = [cell.replace(",", ".") if _is_decimal(cell) else cell for cell in cells]
    numbers = [_number(cell) for cell in cells]
    is_real = any(isinstance(n, float) and not n.is_integer() for n in numbers if n is not None)
    if all(n is not None for n in numbers):
        endless = {i: f"{cells[i]} is not finite" for i, n in enumerate(numbers) if _endless(n)}
        if all(isinstance(n, int) and abs(n) < 2**63 for n in numbers):
            return np.array(numbers, dtype=np.int64), {}
        return np.array([0.0 if _endless(n) else float(n or 0) for n in numbers]), endless
    if not is_real:
        return np.array(list(cells), dtype=str), {}
    unfit = {
        i: f"{cells[i][:40]!r} is not a number, though others are"
        if n is None
        else f"{cells[i]} is not finite"
        for i, n in enumerate(numbers)
        if n is None or _endless(n)
    }
    return np.array([0.0 if i in unfit else float(n or 0) for i, n in enumerate(numbers)]), unfit


def _have_decimal_commas(cells: Sequence[str]) -> bool:
    """Whether most cells are numbers if commas are read as points, and none has a point.

    Most, not all, so that "<0,1" among numbers is found; but "1,2" beside "1,2,3" is a list.
    """
    n_numbers = sum(_is_decimal(cell) or _number(cell) is not None for cell in cells)
    return 2 * n_numbers > len(cells) and not any(
        "." in cell and _number(cell) is not None for cell in cells
    )


def _is_decimal(cell: str) -> bool:
    """Whether a cell is a number with a decimal comma."""
    return cell.count(",") == 1 and _number(cell.replace(",", ".")) is not None


def _endless(number: float | int | None) -> bool:
    return isinstance(number, float) and math.isinf(number)


def _number(cell: str) -> int | float | None:
    """An integer, a float, or None; ``1_000`` and digits of other scripts are refused."""
    if "_" in cell or not cell.isascii() or len(cell) > 400:
        return None
    for kind in (int, float):
        try:
            return kind(cell)
        except (ValueError, OverflowError):
            continue
    return None
