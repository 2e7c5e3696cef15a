"""Tables of numbers in text: one row per line, columns separated by commas.

numpy parses blocks of whole lines, so that a file is never in memory as a whole. A block that it
refuses is read line by line, to find which line is wrong and why.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from gramlet.common.arrays import Array

LONGEST_LINE = 1 << 24

_BLOCK = 1 << 20
_KINDS = bytes({10: 1, 44: 1, 43: 2, 45: 2}.get(byte, 0) for byte in range(256))  # marks, signs


def read_numbers(stream: BinaryIO, file: str, dtype: type) -> Array:
    """The numbers of a text as a (rows, columns) array; errors name the file and the line.

    >>> import io
    >>> read_numbers(io.BytesIO(b"2, 1\\n1,2\\n"), "A.txt", np.int64).tolist()
    [[2, 1], [1, 2]]
    """
    blocks = list(number_blocks(stream, file, dtype))
    return np.concatenate(blocks) if blocks else np.zeros((0, 1), dtype=dtype)


def number_blocks(stream: BinaryIO, file: str, dtype: type) -> Iterator[Array]:
    """The table in a file, some thousand rows at a time; floats must be finite."""
    n_rows, n_columns, ends_in_blanks = 0, 0, False
    text = stream.read(_BLOCK).removeprefix(b"\xef\xbb\xbf")
    while text:
        line_end = stream.readline(LONGEST_LINE)
        text += line_end
        if len(line_end) == LONGEST_LINE and not line_end.endswith(b"\n"):
            line = n_rows + text.count(b"\n") + 1
            raise ValueError(
                f"{file}, line {line} is longer than {LONGEST_LINE:,} bytes; a table of "
                "numbers has one row per line."
            )
        body = text.rstrip()
        if body and ends_in_blanks:
            raise ValueError(_empty(file, n_rows + 1))
        if body:
            n_columns = n_columns or body.partition(b"\n")[0].count(b",") + 1
            yield _parsed(body, file, n_rows, n_columns, dtype)
            n_rows += body.count(b"\n") + 1
        # Empty lines are an error if rows follow.
        ends_in_blanks |= text.count(b"\n", len(body)) > bool(body)
        text = stream.read(_BLOCK)


def _parsed(body: bytes, file: str, n_before: int, n_columns: int, dtype: type) -> Array:
    """The numbers of whole lines, which follow ``n_before`` others."""
    n_rows = body.count(b"\n") + 1
    compact = b"\n" + body.translate(None, b" \t\r") + b"\n"
    marks = b"\n" + (b"," * (n_columns - 1) + b"\n") * n_rows
    # numpy reads an empty field, or a sign alone, as 0, and does not know where lines end.
    kinds = np.frombuffer(compact.translate(_KINDS), dtype=np.uint8)
    has_empty = bool(((kinds[:-1] > 0) & (kinds[1:] == 1)).any())
    if not has_empty and compact.translate(None, b"0123456789+-.eE") == marks:
        try:
            flat: Array = np.fromstring(body.replace(b"\n", b","), dtype=dtype, sep=",")
        except ValueError:
            flat = np.zeros(0, dtype=dtype)
        # A number that overflows is clipped, or infinite: then line by line.
        large = 2**62 if dtype is np.int64 else np.inf
        is_exact = flat.max(initial=0) < large and flat.min(initial=0) > -large
        if is_exact and flat.size == n_rows * n_columns:
            return flat.reshape(n_rows, n_columns)
    return _line_by_line(body, file, n_before, n_columns, dtype)


def _line_by_line(body: bytes, file: str, n_before: int, n_columns: int, dtype: type) -> Array:
    number: Any = _integer if dtype is np.int64 else _finite
    rows = []
    for position, line in enumerate(body.decode("utf-8", "replace").split("\n"), n_before + 1):
        where = f"{file}, line {position}"
        if not line.strip():
            raise ValueError(_empty(file, position))
        row = [number(field.strip(), where) for field in line.split(",")]
        if len(row) != n_columns:
            count = "1 number" if len(row) == 1 else f"{len(row)} numbers"
            raise ValueError(f"{where}: {count} where the lines above have {n_columns}.")
        rows.append(row)
    return np.array(rows, dtype=dtype)


def _empty(file: str, line: int) -> str:
    return f"{file}, line {line}: the line is empty; every line must contain numbers."


def _integer(field: str, where: str) -> int:
    try:
        value = int(_plain(field))
    except ValueError:
        real = _finite(field, where)
        if not real.is_integer():
            raise ValueError(f"{where}: {field[:40]} is not an integer.") from None
        value = int(real)
    if not -(2**63) <= value < 2**63:
        raise ValueError(f"{where}: {field[:40]} is too large for a 64-bit integer.")
    return value


def _finite(field: str, where: str) -> float:
    if not field:
        raise ValueError(f"{where}: a number is missing; is the file truncated?")
    try:
        value = float(_plain(field))
    except ValueError:
        raise ValueError(f"{where}: {field[:40]!r} is not a number.") from None
    if not np.isfinite(value):
        raise ValueError(f"{where}: {field[:40]} is not a finite number.")
    return value


def _plain(field: str) -> str:
    """The field, unless it is a number only in Python (``1_000``)."""
    if "_" in field or not field.isascii():
        raise ValueError(field)
    return field
