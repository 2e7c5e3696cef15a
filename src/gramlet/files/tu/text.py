"""Tables of numbers in text: one row per line, columns separated by commas.

A file is read in blocks of whole lines and is never in memory as a whole. Each block is parsed by
vectorised passes over its bytes; if that fails, it is read line by line, to find which line is
wrong and why. `graphs` and `dataset` interpret the numbers.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints, UInt8s

__all__ = ["LONGEST_LINE", "float_blocks", "integer_blocks", "parse_floats", "parse_integers"]

LONGEST_LINE = 1 << 24

_BLOCK = 1 << 20
_NEWLINE, _SPACE, _COMMA = ord("\n"), ord(" "), ord(",")
_INT64 = np.iinfo(np.int64)


def parse_integers(text: bytes, file: str) -> Ints:
    """The integers of a text as a (rows, columns) array; errors name the file and the line.

    >>> parse_integers(b"2, 1\\n1,2\\n", "A.txt").tolist()
    [[2, 1], [1, 2]]
    """
    return joined(integer_blocks(io.BytesIO(text), file), np.dtype(np.int64))


def parse_floats(text: bytes, file: str) -> Floats:
    """The finite numbers of a text as a (rows, columns) array; errors name the file and the line.

    >>> parse_floats(b" 1.5, 2e-3\\n", "attributes.txt").tolist()
    [[1.5, 0.002]]
    """
    return joined(float_blocks(io.BytesIO(text), file), np.dtype(np.float64))


def joined(blocks: Iterator[Array], dtype: np.dtype[Any]) -> Array:
    """One table from its blocks; of shape (0, 1) if there is no row."""
    parts = list(blocks)
    if not parts:
        return np.zeros((0, 1), dtype=dtype)
    return np.concatenate(parts, dtype=dtype, casting="safe")


def integer_blocks(stream: BinaryIO, file: str) -> Iterator[Array]:
    """The table of integers in a file, some thousand rows at a time."""
    for first_row, n_columns, body in _line_blocks(stream, file):
        table = _parse_fast(body, n_columns, np.dtype(np.int64))
        # The fast parser clips a number that overflows; the slow one distinguishes it from a true
        # extreme.
        if table is None or bool(((table == _INT64.max) | (table == _INT64.min)).any()):
            table = _parse_slowly(body, file, first_row, n_columns, _integer, np.dtype(np.int64))
        yield table


def float_blocks(stream: BinaryIO, file: str) -> Iterator[Floats]:
    """The table of finite numbers in a file, some thousand rows at a time."""
    for first_row, n_columns, body in _line_blocks(stream, file):
        table = _parse_fast(body, n_columns, np.dtype(np.float64))
        if table is None or not np.isfinite(table).all():
            table = _parse_slowly(body, file, first_row, n_columns, _finite, np.dtype(np.float64))
        yield table


def _line_blocks(stream: BinaryIO, file: str) -> Iterator[tuple[int, int, bytes]]:
    """Blocks of whole lines: the number of lines before, the columns of line 1, the bytes.

    The byte order mark and white space after the last row are left out.
    """
    rows, n_columns = 0, 0
    rest = stream.read(_BLOCK).removeprefix(b"\xef\xbb\xbf")
    piece = rest
    while piece:
        piece = stream.read(_BLOCK)
        body, rest = _cut(rest + piece, last=not piece)
        if not body:
            if len(rest) > LONGEST_LINE:
                raise ValueError(
                    f"{file}, line {rows + 1} is longer than {LONGEST_LINE:,} bytes; a table of "
                    "numbers has one row per line."
                )
            continue
        n_columns = n_columns or body.partition(b"\n")[0].count(b",") + 1
        yield rows, n_columns, body
        rows += body.count(b"\n")


def _cut(text: bytes, last: bool) -> tuple[bytes, bytes]:
    """Whole lines up to the last one that is not empty, and the bytes after them."""
    filled = len(text.rstrip())
    if last:
        return (text[:filled] + b"\n" if filled else b""), b""
    end = text.rfind(b"\n", 0, filled) + 1
    after = text.find(b"\n", filled)
    if after >= 0 and filled:
        end = after + 1
    rest = text[end:]
    if not rest.strip():
        # White space only: if rows follow, empty lines are an error, however many there are.
        rest = b"\n" if b"\n" in rest else rest[:1]
    return text[:end], rest


def _parse_fast(body: bytes, n_columns: int, dtype: np.dtype[Any]) -> Array | None:
    """All numbers of a block in one pass, or None if anything is unusual."""
    raw = np.frombuffer(body, dtype=np.uint8)
    line_ends = np.flatnonzero(raw == _NEWLINE)
    commas = np.searchsorted(np.flatnonzero(raw == _COMMA), line_ends)
    per_line = np.diff(commas, prepend=0)
    shape = (len(line_ends), n_columns)
    # Fields of white space would be read as zeros; they are found by counting words and fields.
    if (per_line != n_columns - 1).any() or _count_words(raw) != shape[0] * shape[1]:
        return None
    # With commas in place of line ends, each number is between two commas, and the parser stops at
    # two numbers in a field, or at a letter.
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            flat = np.fromstring(body[:-1].replace(b"\n", b","), dtype=dtype, sep=" ,")
        except (DeprecationWarning, ValueError):
            return None
    if flat.size != shape[0] * shape[1]:
        return None
    return np.asarray(flat.reshape(shape))


def _count_words(raw: UInt8s) -> int:
    """The number of runs of bytes that are neither commas nor white space."""
    inside = (raw > _SPACE) & (raw != _COMMA)
    return int(np.count_nonzero(inside[1:] & ~inside[:-1])) + int(inside[0])


def _parse_slowly(
    body: bytes, file: str, first_row: int, n_columns: int, number: Any, dtype: np.dtype[Any]
) -> Array:
    rows: list[list[Any]] = []
    lines = body[:-1].decode("utf-8", "replace").split("\n")
    for position, line in enumerate(lines, start=first_row + 1):
        where = f"{file}, line {position}"
        if not line.strip():
            raise ValueError(f"{where}: the line is empty; every line must contain numbers.")
        row = [number(field.strip(), where) for field in line.split(",")]
        if len(row) != n_columns:
            raise ValueError(
                f"{where}: {_count(len(row), 'number')} where the lines above have {n_columns}."
            )
        rows.append(row)
    return np.array(rows, dtype=dtype)


def _integer(field: str, where: str) -> int:
    try:
        value = int(_plain(field))
    except ValueError:
        real = _finite(field, where)
        if not real.is_integer():
            raise ValueError(f"{where}: {_shown(field)} is not an integer.") from None
        value = int(real)
    if not _INT64.min <= value <= _INT64.max:
        raise ValueError(f"{where}: {_shown(field)} is too large for a 64-bit integer.")
    return value


def _finite(field: str, where: str) -> float:
    if not field:
        raise ValueError(f"{where}: a number is missing; is the file truncated?")
    try:
        value = float(_plain(field))
    except ValueError:
        raise ValueError(f"{where}: {_shown(field)!r} is not a number.") from None
    if not np.isfinite(value):
        raise ValueError(f"{where}: {_shown(field)} is not a finite number.")
    return value


def _plain(field: str) -> str:
    """The field, unless it is a number only in Python (``1_000``)."""
    if "_" in field or not field.isascii():
        raise ValueError(field)
    return field


def _shown(field: str) -> str:
    return field if len(field) <= 40 else field[:40] + "..."


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
