"""Checks of single values; messages name the parameter, what it must be and what it was."""

from __future__ import annotations

from numbers import Integral
from typing import Any

__all__ = ["is_integer", "require_count"]


def is_integer(value: Any) -> bool:
    """Whether the type of a value is an integer type; booleans are not integers.

    >>> is_integer(3), is_integer(3.0), is_integer(True)
    (True, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def require_count(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return the integer, or raise an error that names the parameter.

    >>> require_count("n_graphs", 3, 1)
    3
    """
    if not is_integer(value):
        raise TypeError(f"{name} must be an integer; got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}; got {value}.")
    if most is not None and value > most:
        raise ValueError(f"{name} must be at most {most}; got {value}.")
    return int(value)
