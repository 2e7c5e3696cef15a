"""Labels as bytes and as 128-bit numbers that depend on their value alone.

They are the same in every process, batch and order. Labels that are equal in Python (1, 1.0, True)
have the same bytes, others do not ("1", (1,)). `gramlet.engine.core.hashes` uses the numbers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable
from numbers import Complex, Integral, Number
from typing import Any

import numpy as np

from gramlet.common.arrays import UInt64s
from gramlet.graphs.columns import Categorical

__all__ = ["column_hashes", "label_bytes", "label_hash"]

# The bytes for a missing column of labels; no label has these bytes.
_NO_LABEL = b"-"


def label_bytes(label: Any) -> bytes:
    """Bytes that are equal for two labels if and only if the labels are equal in Python.

    Labels are None, strings, bytes, numbers and tuples of these; a ValueError names other types.

    >>> label_bytes(1) == label_bytes(1.0) == label_bytes(True) != label_bytes("1")
    True
    """
    if label is None:
        return b"n"
    if isinstance(label, str):
        return _framed(b"s", str.encode(label, "utf-8", "surrogatepass"))
    if isinstance(label, bytes):
        return _framed(b"b", bytes(label))
    if isinstance(label, tuple):
        return _framed(b"t", b"".join(label_bytes(part) for part in label))
    found = _number_bytes(label)
    if found is None:
        kind = type(label)
        raise ValueError(
            f"Labels of type {kind.__module__}.{kind.__qualname__} have no content hash: {label!r}."
            " Labels must be None, strings, bytes, numbers or tuples of these; turn others into "
            "strings first."
        )
    return found


def _framed(kind: bytes, content: bytes) -> bytes:
    return kind + str(len(content)).encode() + b":" + content


def _number_bytes(label: Any) -> bytes | None:
    """The exact value of a number as a fraction; None if it is not a number."""
    if isinstance(label, np.bool_):
        label = bool(label)
    if not isinstance(label, Number) or isinstance(label, np.timedelta64):
        return None
    if isinstance(label, Integral):
        label = int(label)
    if isinstance(label, Complex) and not hasattr(label, "as_integer_ratio"):
        if label.imag == 0:
            return _number_bytes(label.real)
        parts = [_number_bytes(part) for part in (label.real, label.imag)]
        return None if None in parts else _framed(b"c", b"".join(part or b"" for part in parts))
    try:
        numerator, denominator = label.as_integer_ratio()
    except OverflowError:
        return b"i+" if label > 0 else b"i-"
    except (AttributeError, ValueError, TypeError):
        return None
    return _framed(b"r", f"{int(numerator):x}/{int(denominator):x}".encode())


def label_hash(label: Hashable) -> tuple[int, int]:
    """128 bits of a label's content, as two numbers below 2⁶⁴."""
    return _halves(label_bytes(label))


def _halves(content: bytes) -> tuple[int, int]:
    digest = hashlib.blake2b(content, digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def column_hashes(column: Categorical | None, count: int) -> UInt64s:
    """The content hashes of a column of labels, shape (count, 2).

    Without a column all entries get the value for "no label".

    >>> column = Categorical.from_values(["C", "O", "C"])
    >>> hashes = column_hashes(column, 3)
    >>> bool((hashes[0] == hashes[2]).all()), bool((hashes[0] == hashes[1]).any())
    (True, False)
    """
    if column is None:
        return np.tile(np.array(_halves(_NO_LABEL), dtype=np.uint64), (count, 1))
    table = np.zeros((len(column.categories), 2), dtype=np.uint64)
    for code in np.unique(column.codes).tolist():
        table[code] = label_hash(column.categories[code])
    hashes: UInt64s = table[column.codes]
    return hashes
