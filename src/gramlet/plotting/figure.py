"""Imports matplotlib, or raises an error that explains how to install it."""

from __future__ import annotations

from typing import Any

__all__ = ["new_axes", "pyplot"]


def pyplot() -> Any:
    """matplotlib.pyplot, imported when it is first needed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            "Plots need matplotlib. Install it with: pip install gramlet[plot]"
        ) from None
    return plt


def new_axes(ax: Any, **size: Any) -> Any:
    """The given axes, or those of a new figure."""
    return pyplot().subplots(layout="constrained", **size)[1] if ax is None else ax
