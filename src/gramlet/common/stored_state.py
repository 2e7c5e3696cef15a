"""Checks of state that comes from a file, besides those of `fields`."""

from __future__ import annotations

from typing import Any

# Sums of squares of numbers up to this size are finite.
LARGEST = 1e140
# Integers up to this size are exact in double precision.
LARGEST_COUNT = 1 << 53


def require(holds: Any, message: str) -> None:
    """Raise ValueError with this message unless ``holds`` is true.

    >>> require(1 < 2, "numbers are out of order")
    """
    if not holds:
        raise ValueError(message)


def require_instance(name: str, value: Any, *kinds: type) -> None:
    """Require an instance of one of these classes.

    >>> require_instance("owner", "ShortestPath", str)
    """
    if not isinstance(value, kinds):
        names = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"{name} must be a {names}; found a {type(value).__name__}.")
