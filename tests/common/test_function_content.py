"""Functions of one name that compute different things have different contents."""

from __future__ import annotations

import functools
import os
import subprocess
import sys

import numpy as np

from gramlet.common.function_content import function_content, is_function

FACTOR = 2.0


def helper(x):
    return x + 1


def uses_both(x):
    return FACTOR * helper(x)


def closure(value):
    def inside(x):
        return x + value

    return inside


def countdown(n):
    return countdown(n - 1) if n else 0


def test_code_defaults_closures_and_partial_calls_count():
    one = function_content(lambda x: x * 2)
    assert one == function_content(lambda x: x * 2)
    assert one != function_content(lambda x: x * 3)
    assert function_content(lambda x, y=1: x) != function_content(lambda x, y=2: x)
    assert function_content(lambda x, *, y=1: x) != function_content(lambda x, *, y=2: x)
    assert function_content(closure(1)) == function_content(closure(1))
    assert function_content(closure(1)) != function_content(closure(2))
    calls = [functools.partial(helper, n) for n in (1, 1, 2)]
    assert function_content(calls[0]) == function_content(calls[1]) != function_content(calls[2])


def test_global_values_and_functions_count(monkeypatch):
    before = function_content(uses_both)
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert function_content(uses_both) != before
    monkeypatch.setitem(globals(), "FACTOR", 2.0)
    assert function_content(uses_both) == before
    replaced = closure(1)
    replaced.__module__ = __name__
    monkeypatch.setitem(globals(), "helper", replaced)
    assert function_content(uses_both) != before


def test_recursion_ends_and_compiled_functions_have_names():
    assert function_content(countdown) == function_content(countdown)
    assert function_content(np.dot)[0] == "name"
    assert is_function(np.dot)
    assert is_function(functools.partial(helper, 1))
    assert not is_function(3)


def test_sets_in_code_have_one_order_in_all_processes():
    text = (
        "from gramlet.common.function_content import function_content as c\n"
        "print(c(lambda x: x in {'a', 'b', 'c', 'd', 'e'}))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", text],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1
