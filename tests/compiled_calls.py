"""Calling, in a test, a function that only compiled code calls (`inner`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def from_python(function: Callable[..., Any]) -> Any:
    """The function behind one that Python can call."""

    @numba.njit
    def call(*arguments):
        return function(*arguments)

    return call
