"""Warnings that point to the user's code, and counts with their nouns."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

__all__ = ["counted", "warn_caller"]

_PACKAGE = str(Path(__file__).resolve().parent.parent)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Give a warning that points to the innermost caller outside of gramlet."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)


def counted(n: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "edge"), counted(2500, "edge")
    ('1 edge', '2,500 edges')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"
