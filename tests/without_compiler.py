"""Running the tests with the compiler off (``NUMBA_DISABLE_JIT=1``), to measure coverage.

Compiled code then runs as plain Python, hundreds of times slower. Hypothesis tries few examples per
test, and a test that takes longer than a few seconds is ended and counted as skipped; the ordinary
run includes all of them. Used by `conftest`; the required coverage is in ``.ci/coverage``.
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
    """Reduce the number of examples that hypothesis tries."""
    for item in items:
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)  # methods of classes
        if getattr(test, "is_hypothesis_test", False):
            # Only here can the settings of a test be changed after its definition.
            own = getattr(test, "_hypothesis_internal_use_settings", None)
            few = settings(own, max_examples=EXAMPLES, deadline=None)
            test._hypothesis_internal_use_settings = few


@contextmanager
def few_seconds() -> Iterator[None]:
    """End a test that takes too long in the interpreter; no numpy warnings, as in compiled code.

    Hashes overflow intentionally, and vectors are computed with padding that is never read:
    numpy's scalars warn about both.
    """

    def end(number: int, frame: Any) -> None:
        if f"{os.sep}gramlet{os.sep}engine{os.sep}" in frame.f_code.co_filename:
            pytest.skip("too long without the compiler")
        # Other code may hold locks, which an exception raised here would not release.
        signal.setitimer(signal.ITIMER_PROF, 0.01)

    # Processor seconds: a busy machine ends no more tests than an idle one.
    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
