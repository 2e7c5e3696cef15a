"""Tables of numbers in text: one row a line, columns separated by commas.

The fast way is one vectorised pass over the whole file. Only when that fails is the file read line
by line, to say which line is wrong and why. What the numbers mean is `tudataset`'s affair.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints, UInt8s

__all__ = ["parse_floats", "parse_integers"]

_NEWLINE, _SPACE, _COMMA = ord("\n"), ord(" "), ord(",")
_INT64 = np.iinfo(np.int64)


def parse_integers(text: bytes, file: str) -> Ints:
    """The integers of a text as a (rows, columns) array; errors name the file and the line.

    >>> parse_integers(b"2, 1\\n1,2\\n", "A.txt").tolist()
    [[2, 1], [1, 2]]
    """
    body = _body(text)
    table = _parse_fast(body, np.dtype(np.int64))
    # An overflowing number is clipped by the fast way: the slow one tells it from a true extreme.
    if table is None or (
        table.size and bool(((table == _INT64.max) | (table == _INT64.min)).any())
    ):
        table = _parse_slowly(body, file, _integer, np.dtype(np.int64))
    return table


def parse_floats(text: bytes, file: str) -> Floats:
    """The finite numbers of a text as a (rows, columns) array; errors name the file and the line.

    >>> parse_floats(b" 1.5, 2e-3\\n", "attributes.txt").tolist()
    [[1.5, 0.002]]
    """
    body = _body(text)
    table = _parse_fast(body, np.dtype(np.float64))
    if table is None or not np.isfinite(table).all():
        table = _parse_slowly(body, file, _finite, np.dtype(np.float64))
    return table


def _body(text: bytes) -> bytes:
    """The text without byte order mark and without white space after the last row."""
    return text.removeprefix(b"\xef\xbb\xbf").rstrip()


def _parse_fast(body: bytes, dtype: np.dtype[Any]) -> Array | None:
    """All numbers in one pass, or None if anything at all is unusual."""
    if not body:
        return np.zeros((0, 1), dtype=dtype)
    raw = np.frombuffer(body, dtype=np.uint8)
    line_ends = np.append(np.flatnonzero(raw == _NEWLINE), len(raw))
    commas = np.searchsorted(np.flatnonzero(raw == _COMMA), line_ends)
    per_line = np.diff(commas, prepend=0)
    shape = (len(line_ends), int(per_line[0]) + 1)
    # Fields of white space only would be read as zeros; then there are fewer words than fields.
    if (per_line != per_line[0]).any() or _count_words(raw) != shape[0] * shape[1]:
        return None
    # With every line end a comma too, each number stands between two commas: two numbers in a
    # field, or a letter, stop the parser.
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            flat = np.fromstring(body.replace(b"\n", b","), dtype=dtype, sep=" ,")
        except (DeprecationWarning, ValueError):
            return None
    if flat.size != shape[0] * shape[1]:
        return None
    return np.asarray(flat.reshape(shape))


def _count_words(raw: UInt8s) -> int:
    """How many runs of bytes there are that are neither commas nor white space."""
    inside = (raw > _SPACE) & (raw != _COMMA)
    return int(np.count_nonzero(inside[1:] & ~inside[:-1])) + int(inside[0])


def _parse_slowly(body: bytes, file: str, number: Any, dtype: np.dtype[Any]) -> Array:
    rows: list[list[Any]] = []
    for position, line in enumerate(body.decode("utf-8", "replace").split("\n"), start=1):
        where = f"{file}, line {position}"
        if not line.strip():
            raise ValueError(f"{where}: the line is empty; every line must hold numbers.")
        row = [number(field.strip(), where) for field in line.split(",")]
        if rows and len(row) != len(rows[0]):
            raise ValueError(
                f"{where}: {_count(len(row), 'number')} where the lines above have {len(rows[0])}."
            )
        rows.append(row)
    return np.array(rows, dtype=dtype)


def _integer(field: str, where: str) -> int:
    try:
        value = int(_plain(field))
    except ValueError:
        real = _finite(field, where)
        if not real.is_integer():
            raise ValueError(f"{where}: {field} is not an integer.") from None
        value = int(real)
    if not _INT64.min <= value <= _INT64.max:
        raise ValueError(f"{where}: {field} is too large for a 64-bit integer.")
    return value


def _finite(field: str, where: str) -> float:
    if not field:
        raise ValueError(f"{where}: a number is missing; is the file cut off?")
    try:
        value = float(_plain(field))
    except ValueError:
        shown = field if len(field) <= 40 else field[:40] + "..."
        raise ValueError(f"{where}: {shown!r} is not a number.") from None
    if not np.isfinite(value):
        raise ValueError(f"{where}: {field} is not a finite number.")
    return value


def _plain(field: str) -> str:
    """The field, unless Python would read as a number what other readers do not (``1_000``)."""
    if "_" in field or not field.isascii():
        raise ValueError(field)
    return field


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
