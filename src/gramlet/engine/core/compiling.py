"""A notice when the first run on a machine compiles, and a clock that leaves compiling out.

Compiled code is cached on disk. The listeners here react to numba's event of an actual compilation;
code that is read from the cache causes none.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from numba.core import event

NOTICE = "compiling; the first run on this machine takes some seconds more"


def _to_stderr(text: str) -> None:
    print(f"gramlet: {text}", file=sys.stderr, flush=True)


class _Announcer(event.Listener):
    """Gives one notice when something is compiled."""

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
    """From now on, print one notice on standard error when numba compiles something.

    Parameters
    ----------
    say : callable, optional
        Called with the notice instead of printing it.
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
    """A clock that stops while any thread compiles; compilations may be nested."""

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
    """Seconds since an arbitrary moment, without the time spent compiling."""
    return _stopwatch.read()


def n_compiled() -> int:
    """How many functions this process compiled instead of reading them from the cache."""
    return _stopwatch.n_compiled
