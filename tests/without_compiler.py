"""Running the tests with the compiler off (``NUMBA_DISABLE_JIT=1``), to see which lines they reach.

Compiled code then runs as plain Python, hundreds of times slower. Hypothesis tries a few examples
per test, and a test that takes longer than a few seconds is ended and counted as skipped; the
ordinary run has them all. Used by `conftest`; the gate itself is in ``.ci/coverage``.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

__all__ = ["COMPILER_IS_OFF", "few_seconds", "lighten"]

COMPILER_IS_OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

EXAMPLES = 3
SECONDS = float(os.environ.get("SECONDS_PER_TEST", "1"))


def lighten(items: list[Any]) -> None:
    """Let hypothesis try few examples."""
    for item in items:
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)  # methods of classes
        if getattr(test, "is_hypothesis_test", False):
            # The only place where the settings of a test can be changed after it was defined.
            own = getattr(test, "_hypothesis_internal_use_settings", None)
            few = settings(own, max_examples=EXAMPLES, deadline=None)
            test._hypothesis_internal_use_settings = few


@contextmanager
def few_seconds() -> Iterator[None]:
    """End a test that is too long for the interpreter; be as silent as compiled code.

    Hashes wrap around by intent, and whole vectors are computed where some lanes are padding that
    nobody reads: numpy's scalars warn of both.
    """

    def end(number: int, frame: Any) -> None:
        if f"{os.sep}gramlet{os.sep}engine{os.sep}" in frame.f_code.co_filename:
            pytest.skip("too long without the compiler")
        # Others may hold locks that an exception from here would leave closed.
        signal.setitimer(signal.ITIMER_PROF, 0.01)

    # Seconds of the processor: a busy machine ends no more tests than an idle one.
    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
