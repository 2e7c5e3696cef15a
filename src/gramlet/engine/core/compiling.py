"""A notice when the first run on a machine has to compile, and a clock that does not count it.

Compiled code is cached on disk; a cache hit is silent. Only numba's own event of a real compilation
is listened to.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from numba.core import event

__all__ = ["announce_compilation", "clock", "has_compiled", "n_compiled"]

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


class _Stopwatch(event.Listener):
    """Stands still while anything is compiled, in whatever thread; functions may nest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._since = 0.0
        self._compiling = 0.0
        self.n_compiled = 0

    def on_start(self, event: Any) -> None:
        with self._lock:
            if self._depth == 0:
                self._since = time.perf_counter()
            self._depth += 1
            self.n_compiled += 1

    def on_end(self, event: Any) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._compiling += time.perf_counter() - self._since

    def read(self) -> float:
        with self._lock:
            now = self._since if self._depth else time.perf_counter()
            return now - self._compiling


_stopwatch = _Stopwatch()
event.register("numba:compile", _stopwatch)


def clock() -> float:
    """Seconds since some moment, without those that went into compiling."""
    return _stopwatch.read()


def n_compiled() -> int:
    """How many functions were compiled by this process, not read from the cache."""
    return _stopwatch.n_compiled
