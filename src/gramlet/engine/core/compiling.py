"""A notice when the first run on a machine has to compile.

Compiled code is cached on disk; a cache hit is silent. Only numba's own event of a real compilation
is listened to.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from numba.core import event

__all__ = ["announce_compilation", "has_compiled"]

NOTICE = "compiling; the first run on this machine takes some seconds more"


def _to_stderr(text: str) -> None:
    print(f"gramlet: {text}", file=sys.stderr, flush=True)


class _Announcer(event.Listener):
    """Says once that something is being compiled."""

    def __init__(self) -> None:
        self.say: Callable[[str], None] = _to_stderr
        self.heard = False

    def on_start(self, event: Any) -> None:
        if not self.heard:
            self.heard = True
            self.say(NOTICE)

    def on_end(self, event: Any) -> None:
        pass


_announcer = _Announcer()
_registered = False


def announce_compilation(say: Callable[[str], None] | None = None) -> None:
    """From now on, say once on standard error if numba really compiles something.

    Parameters
    ----------
    say : callable, optional
        Takes the notice instead of standard error.
    """
    global _registered
    _announcer.say = _to_stderr if say is None else say
    if not _registered:
        event.register("numba:compile", _announcer)
        _registered = True


def has_compiled() -> bool:
    """Whether anything was compiled since `announce_compilation`."""
    return _announcer.heard
