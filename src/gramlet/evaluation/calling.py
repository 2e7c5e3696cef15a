"""Where a warning points: at the line outside the package that made the call."""

from __future__ import annotations

import sys

__all__ = ["outside"]


def outside() -> int:
    """The ``stacklevel`` at which a warning given by the caller names the user's own line."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("gramlet."):
        frame, level = frame.f_back, level + 1
    return level
