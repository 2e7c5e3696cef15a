"""Calls from tests to functions that only compiled code calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba


def from_python(function: Callable[..., Any]) -> Any:
    """A function that Python can call, and which calls the given one."""

    @numba.njit
    def call(*arguments):
        return function(*arguments)

    return call
