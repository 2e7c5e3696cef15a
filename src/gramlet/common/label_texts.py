"""Labels as bytes that are the same in every process.

Labels that Python holds equal (1, 1.0, True) give the same bytes, others do not. Types whose values
cannot be written down are refused.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from fractions import Fraction
from numbers import Complex, Rational, Real
from typing import Any

import numpy as np

__all__ = ["label_bytes"]


def label_bytes(label: Hashable) -> bytes:
    """Bytes of a label: None, a string, bytes, a number, or a tuple or frozenset of these.

    >>> label_bytes(1) == label_bytes(1.0) == label_bytes(True)
    True
    >>> label_bytes("1") == label_bytes(1)
    False
    """
    plain: Any = label.item() if isinstance(label, np.generic) else label
    if plain is None:
        return b"n"
    if isinstance(plain, str):
        return b"s" + plain.encode("utf-8", "surrogatepass")
    if isinstance(plain, bytes):
        return b"b" + plain
    if isinstance(plain, tuple):
        return b"t" + _framed([label_bytes(item) for item in plain])
    if isinstance(plain, frozenset):
        return b"f" + _framed(sorted(label_bytes(item) for item in plain))
    if isinstance(plain, Complex):
        return b"d" + _number(plain)
    raise ValueError(
        f"A label of type {type(plain).__name__} cannot be hashed alike in every process: "
        f"{plain!r}. Use strings, bytes, numbers, None or tuples of these, or give codes= for "
        "the labels."
    )


def _framed(parts: list[bytes]) -> bytes:
    """The parts with their lengths before them, so that no two lists give the same bytes."""
    return b"".join(str(len(part)).encode() + b":" + part for part in parts)


def _number(value: Any) -> bytes:
    """Numbers by their exact value, whatever their type."""
    if not isinstance(value, Real):
        imaginary = b"" if value.imag == 0 else b"+" + _number(value.imag) + b"j"
        return _number(value.real) + imaginary
    if not isinstance(value, Rational) and not math.isfinite(value):
        return str(float(value)).encode()
    return str(Fraction(value if isinstance(value, Rational) else float(value))).encode()
