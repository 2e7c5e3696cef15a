"""What a function computes, as plain values: so that two functions of one name can be told apart.

Stored work is found again by a digest of its parameters, some of which may be functions.
"""

from __future__ import annotations

import functools
import types
from typing import Any

import numpy as np

__all__ = ["function_content", "is_function"]

_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, np.ndarray)


def is_function(thing: Any) -> bool:
    """Whether a value is a function, a method, a partial call or a class."""
    return callable(thing) and (
        hasattr(thing, "__qualname__") or isinstance(thing, functools.partial)
    )


def function_content(function: Any) -> list[Any]:
    """The name of a function, its code, and the values that it uses, as a nested list.

    Values are those of defaults, of enclosing functions, and of global names that are plain or are
    functions of the same module. Functions that are not written in Python are known by name.

    >>> one, two = (function_content(eval(f"lambda x: x + {n}")) for n in (1, 2))
    >>> one == function_content(lambda x: x + 1), one == two
    (True, False)
    """
    return _content(function, [])


def _content(function: Any, known: list[Any]) -> list[Any]:
    if any(function is one for one in known):  # it calls itself
        return ["known"]
    known = [*known, function]
    if isinstance(function, functools.partial):
        parts = [_content(function.func, known), list(function.args), dict(function.keywords)]
        return ["partial", *parts]
    if isinstance(function, types.MethodType):
        return ["method", _content(function.__func__, known), function.__self__]
    name = f"{function.__module__}.{function.__qualname__}"
    plain = getattr(function, "py_func", function)  # a function that numba compiled
    if not isinstance(plain, types.FunctionType):
        return ["name", name]
    code = plain.__code__
    cells = [_cell_content(cell, known) for cell in plain.__closure__ or ()]
    used = {
        key: _content(value, known) if isinstance(value, types.FunctionType) else value
        for key, value in plain.__globals__.items()
        if key in _names(code) and _counts(value, plain.__module__)
    }
    return ["function", name, _code(code), plain.__defaults__, plain.__kwdefaults__, cells, used]


def _cell_content(cell: Any, known: list[Any]) -> Any:
    try:
        value = cell.cell_contents
    except ValueError:  # not assigned yet
        return ["empty"]
    return _content(value, known) if is_function(value) else value


def _counts(value: Any, module: str) -> bool:
    if isinstance(value, types.FunctionType):
        return value.__module__ == module
    return isinstance(value, _PLAIN)


def _names(code: types.CodeType) -> set[str]:
    """The names that code refers to, and functions inside it."""
    inside = (_names(const) for const in code.co_consts if isinstance(const, types.CodeType))
    return set(code.co_names).union(*inside)


def _code(code: types.CodeType) -> list[Any]:
    return [code.co_code, list(code.co_names), [_constant(const) for const in code.co_consts]]


def _constant(value: Any) -> Any:
    if isinstance(value, types.CodeType):
        return _code(value)
    if isinstance(value, frozenset):  # their order differs from process to process
        return ["set", *sorted(map(repr, value))]
    if isinstance(value, tuple):
        return [_constant(item) for item in value]
    return value if isinstance(value, _PLAIN) else repr(value)
