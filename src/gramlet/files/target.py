"""Whether a target contains classes or real numbers, from values or from the cells of a table.

Readers, evaluation and the command line all use this rule.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.common.notices import warn_caller

Task = Literal["classification", "regression"]

# Cells that stand for a missing value.
MISSING = frozenset(
    (
        "",
        "na",
        "NA",
        "n/a",
        "N/A",
        "#N/A",
        "<NA>",
        "null",
        "NULL",
        "None",
        "#NUM!",
        "#DIV/0!",
        "#VALUE!",
    )
)
# As C and Fortran programs write what is not a number.
_NAN = re.compile(r"[+-]?(nan|1\.#(ind|qnan|snan)0*)(\(\w*\))?", re.IGNORECASE)

_MANY_GRAPHS = 50
_MOST_VALUES = 1_000_000  # distinct whole numbers that are counted; more are a regression target
_MOST_LARGE = 1_000_000  # whole numbers beyond 2^53 that are compared
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+\.\d+|(?:\.\d{3})+,\d+)")
_MARKS = "has thousands separators; write it without them"
_POINTED = "has a decimal point, but most values have a decimal comma"
_UNCLEAR = "may have a decimal comma or a thousands separator; write a point, or no comma"


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


def as_values(y: Any) -> Array:
    """Values as an array; strings and others in one list stay what they are.

    numpy would make strings of all: NaN would become a class "nan".

    >>> as_values(["a", float("nan")])
    array(['a', nan], dtype=object)
    """
    values = np.asarray(y)
    are_words = isinstance(y, list | tuple) and values.dtype.kind == "U" and values.ndim == 1
    if are_words and not all(isinstance(value, str) for value in y):
        return np.array(y, dtype=object)
    are_floats = isinstance(y, list | tuple) and values.dtype.kind == "f" and values.ndim == 1
    if are_floats and _merge_as_floats(y):
        return np.array(y, dtype=object)
    return values


def _merge_as_floats(numbers: Any) -> bool:
    """Whether different numbers are equal, or infinite, as floating-point numbers."""
    try:
        return len(set(map(float, numbers))) < len(set(numbers))
    except OverflowError:
        return True


def check_target(y: Any) -> Array:
    """The target as an array of strings, booleans, numbers or objects, with no value missing."""
    values = as_values(y)
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
        if plain.dtype.kind not in "iu" and _merge_as_floats(values.tolist()):
            return values.astype(str)  # classes; as floats different ones would be equal
        return plain if plain.dtype.kind in "iuf" else values.astype(float)
    return values


def is_missing(cell: str) -> bool:
    """Whether a cell of a table stands for a missing value.

    >>> is_missing("NA"), is_missing("-nan"), is_missing("Na")
    (True, True, False)
    """
    return cell in MISSING or _NAN.fullmatch(cell) is not None


class CellFormat:
    """How the cells of a target are written, learned from some or all of them.

    Integers if all cells are written as such and fit in 64 bits, strings if larger ones could not
    be told apart as floats, else floats if all are numbers, else strings. If a
    cell is a number that is not whole, the target is real. Commas are decimal points if most cells
    are numbers then and more of them have a comma than a point; most, not all, so that "<0,1" and
    "2.5" among numbers are found, but "1,2" beside "1,2,3" is a list. Cells with thousands
    separators are not counted; if every comma may be one, a single point shows that they are.

    >>> numbers = CellFormat().learn(["1", "2"]).learn(["0,5"])
    >>> numbers.values(["3", "-12,25"])[0].tolist()
    [3.0, -12.25]
    """

    def __init__(self) -> None:
        self._n_cells = self._n_numbers = self._n_decimals = self._n_points = 0
        self._only_thousands = True  # in every cell with a comma it may separate thousands
        self._word: str | None = None  # the first cell that is not a number
        # Of the cells as they are, and with decimal commas as points.
        self._plain, self._pointed = _Numbers(), _Numbers()

    def learn(self, cells: Sequence[str]) -> CellFormat:
        """Take further cells into account."""
        for cell in cells:
            if _GROUPED.fullmatch(cell):
                continue
            number, decimal, pointed = _number(cell), _is_decimal(cell), _has_point(cell)
            self._n_cells += 1
            self._n_numbers += number is not None
            self._n_decimals += decimal
            self._n_points += pointed
            self._plain.add(number)
            if number is None and not decimal and self._word is None:
                self._word = cell
            if decimal:
                self._only_thousands &= _THOUSANDS.fullmatch(cell) is not None
                number = _number(cell.replace(",", "."))
            if not pointed:  # beside decimal commas such a cell does not fit
                self._pointed.add(number)
        return self

    @property
    def _commas_are_points(self) -> bool:
        most = 2 * (self._n_decimals + self._n_numbers) > self._n_cells
        points = self._n_points > 0 if self._only_thousands else self._n_points >= self._n_decimals
        return self._n_decimals > 0 and most and not points

    @property
    def odd_word(self) -> str | None:
        """The first cell that is not a number, if most cells are numbers and yet are strings.

        >>> CellFormat().learn(["10", "250", ">10000"]).odd_word
        '>10000'
        """
        found = self._pointed if self._commas_are_points else self._plain
        if found.has_fraction or 2 * self._n_numbers <= self._n_cells:
            return None
        return self._word

    def values(self, cells: Sequence[str]) -> tuple[Array, dict[int, str]]:
        """Cells as an array, and the positions of those that do not fit, with reasons.

        The values of the latter are 0 or empty and must not be used.
        """
        unfit = {i: f"{c!r} {_MARKS}" for i, c in enumerate(cells) if _GROUPED.fullmatch(c)}
        found = self._plain
        if self._commas_are_points:
            found = self._pointed
            unfit |= {i: f"{c!r} {_POINTED}" for i, c in enumerate(cells) if _has_point(c)}
            decimals = [i for i, cell in enumerate(cells) if _is_decimal(cell)]
            if self._only_thousands:
                unfit |= {i: f"{cells[i]!r} {_UNCLEAR}" for i in decimals}
            cells = list(cells)
            for i in decimals:
                cells[i] = cells[i].replace(",", ".")
        are_classes = not found.all_numbers or (found.merges and not found.all_integers)
        if are_classes and not found.has_fraction:
            return np.array(list(cells), dtype=str), unfit
        numbers = [None if i in unfit else _number(cell) for i, cell in enumerate(cells)]
        for i, number in enumerate(numbers):
            if i not in unfit and number is None:
                unfit[i] = f"{cells[i][:40]!r} is not a number, though others are"
            elif _endless(number):
                unfit[i] = f"{cells[i]} is not finite"
        if found.all_integers and not unfit:
            return np.array(numbers, dtype=np.int64), {}
        reals = [0.0 if i in unfit else float(n or 0) for i, n in enumerate(numbers)]
        return np.array(reals), unfit


class _Numbers:
    """What is known of the numbers in cells."""

    def __init__(self) -> None:
        self.all_numbers = self.all_integers = True
        self.has_fraction = self.merges = False
        self._large: dict[float, int] = {}  # whole numbers by their value as floats

    def add(self, number: int | float | None) -> None:
        self.all_numbers &= number is not None
        self.all_integers &= isinstance(number, int) and abs(number) < 2**63
        if isinstance(number, int) and abs(number) > 2**53 and len(self._large) < _MOST_LARGE:
            self.merges |= self._large.setdefault(float(number), number) != number
        self.has_fraction |= isinstance(number, float) and not number.is_integer()


class ScannedTarget:
    """The format and the task of a target, without keeping its values.

    Attributes
    ----------
    written : CellFormat
        How the cells are written.
    n_cells : int

    Examples
    --------
    >>> scanned = ScannedTarget()
    >>> scanned.add(["0", "1"])
    >>> scanned.add(["0.5"])
    >>> scanned.task()
    'regression'
    """

    def __init__(self) -> None:
        self.written = CellFormat()
        self.n_cells = 0
        self._is_real = False
        self._numbers: set[float] = set()  # distinct values, while all are whole numbers

    def add(self, cells: Sequence[str]) -> None:
        """Take further cells, none of them missing, into account."""
        self.n_cells += len(cells)
        self.written.learn(cells)
        if self._is_real:
            return
        numbers = self._numbers_in(cells)
        self._numbers.update(numbers.tolist())
        whole = bool((numbers == np.floor(numbers)).all())
        self._is_real = not whole or len(self._numbers) > _MOST_VALUES
        if self._is_real:
            self._numbers.clear()

    def _numbers_in(self, cells: Sequence[str]) -> Floats:
        """The distinct numbers in cells; none if the target contains strings."""
        values, unfit = self.written.values(sorted(set(cells)))
        if values.dtype.kind not in "iuf":
            return np.zeros(0)
        return np.unique(np.delete(values, list(unfit)).astype(np.float64))

    def task(self) -> Task:
        """As `infer_task` finds it for all cells."""
        if self.written.values([])[0].dtype.kind not in "iuf":
            return "classification"
        few = self.n_cells < _MANY_GRAPHS or 5 * len(self._numbers) <= self.n_cells
        return "classification" if few and not self._is_real else "regression"


def odd_word_text(word: str) -> str:
    """The end of a warning of `CellFormat.odd_word`."""
    return (
        f"{word[:40]!r}, while most others are whole numbers: all are read as classes. If they are "
        "numbers to predict, correct it or leave the row out."
    )


def target_from_cells(
    cells: Sequence[str], written: CellFormat | None = None
) -> tuple[Array, dict[int, str]]:
    """A target from the cells of a table, and the positions of cells that do not fit, with reasons.

    ``written`` is the format of the whole column; by default it is learned from the cells.

    >>> target_from_cells(["1", "-1"])[0].tolist(), target_from_cells(["a", "b"])[0].tolist()
    ([1, -1], ['a', 'b'])
    >>> target_from_cells(["0.5", ">9"])[1]
    {1: "'>9' is not a number, though others are"}
    >>> target_from_cells(["0,5", "-12,25", "3"])[0].tolist()
    [0.5, -12.25, 3.0]
    >>> target_from_cells(["1.234,5", "2,5"])[1]
    {0: "'1.234,5' has thousands separators; write it without them"}
    """
    return (CellFormat().learn(cells) if written is None else written).values(cells)


def _is_decimal(cell: str) -> bool:
    """Whether a cell is a number with a decimal comma."""
    return cell.count(",") == 1 and _number(cell.replace(",", ".")) is not None


def _has_point(cell: str) -> bool:
    """Whether a cell is a number with a decimal point."""
    return "." in cell and _number(cell) is not None


def _endless(number: float | int | None) -> bool:
    return isinstance(number, float) and math.isinf(number)


def _number(cell: str) -> int | float | None:
    """An integer, a float, or None; ``1_000`` and digits of other scripts are refused."""
    if "_" in cell or not cell.isascii() or len(cell) > 400:
        return None
    for kind in (int, float):
        try:
            number = kind(cell)
        except (ValueError, OverflowError):
            continue
        if isinstance(number, int) and abs(number) >= 2**1024:
            return math.inf
        return None if math.isnan(number) else number
    return None
