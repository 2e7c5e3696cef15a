"""Decorators for compiled functions: numba's ``njit`` with settings that shorten the first run.

Three defaults of numba take most of the time of a cold start and bring nothing here. Each function
is made callable from C; a function that only compiled code calls is made callable from Python; and
a function that is called with a constant, or with a variable that starts as one, is compiled once
for the constant and once more for integers. `code_cache` stores the compiled code.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numba
from numba.core import types
from numba.core.registry import CPUDispatcher
from numba.core.types.misc import unliteral

from gramlet.engine.core.code_cache import CodeCache
from gramlet.engine.core.lean_compiling import (
    InnerCompiler,
    OuterCompiler,
    inner_libraries,
    lean_helpers,
)

__all__ = ["inner", "njit", "read_only"]


def njit(*, cache: bool = True, **options: Any) -> Callable[[Any], Any]:
    """A decorator: compile a function that Python calls; ``options`` are numba's.

    >>> import numpy as np
    >>> @njit(nogil=True, cache=False)
    ... def total(values):
    ...     found = 0
    ...     for value in values:
    ...         found += value
    ...     return found
    >>> total(np.array([1, 2]))
    3
    """

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = _lean(function, OuterCompiler, options)
        if cache and dispatcher is not function:
            dispatcher._cache = CodeCache(function)
        return dispatcher

    return decorate


def inner(function: Callable[..., Any] | None = None, *, cache: bool = True, **options: Any) -> Any:
    """A decorator: compile a function that only compiled code calls.

    Without the code that unpacks Python objects, compiling takes about half as long. A call from
    Python, which would crash the process, raises a TypeError.

    >>> @inner(cache=False)
    ... def plus(a, b):
    ...     return a + b
    """

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = _lean(function, InnerCompiler, {**options, "no_cpython_wrapper": True})
        if dispatcher is not function:
            dispatcher.__class__ = _InnerDispatcher
            if cache:
                dispatcher._cache = _InnerCache(function)
        return dispatcher

    return decorate if function is None else decorate(function)


def _lean(function: Callable[..., Any], steps: Any, options: dict[str, Any]) -> Any:
    """A dispatcher of numba that compiles no more than is needed; the function if that is off."""
    dispatcher = numba.njit(no_cfunc_wrapper=True, pipeline_class=steps, **options)(function)
    if dispatcher is not function:
        _ignore_constants(dispatcher)
        _compile_leanly(dispatcher)
    return dispatcher


class _InnerCache(CodeCache):
    """The compiled code of an inner function: what its callers link, no machine code."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with inner_libraries(target_context.codegen()):
            return super().load_overload(sig, target_context)


class _InnerDispatcher(CPUDispatcher):
    """A compiled function that Python cannot call: it has no wrapper for Python objects."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            f"{self.py_func.__name__} is called by compiled code only; decorate it with njit "
            "instead of inner to call it from Python."
        )


def read_only(values: Any) -> Any:
    """A read-only view of an array.

    For numba, read-only and writable arrays have different types. The arrays of a batch of graphs
    are read-only; a function that takes these as well as others is compiled only once if it gets
    all of them as read-only.
    """
    view = values.view()
    view.flags.writeable = False
    return view


def _ignore_constants(dispatcher: Any) -> None:
    """Compile calls with constants as calls with variables of the same type.

    While types are inferred, a variable that starts as 0 has the type "the integer 0" until the
    loop that changes it is seen, and calls are compiled for that type as well.
    """
    template_of = dispatcher.get_call_template

    def general_template(args: Any, kws: Any) -> Any:
        return template_of(
            tuple(_general(given) for given in args),
            {name: _general(given) for name, given in kws.items()},
        )

    dispatcher.get_call_template = general_template


def _compile_leanly(dispatcher: Any) -> None:
    """Compile without garbage collection, which takes an eighth of the time and frees nothing.

    numba's own functions that are called from here are compiled as inner functions.
    """
    compile_now = dispatcher.compile

    def compile_in_peace(signature: Any) -> Any:
        collects = gc.isenabled()
        gc.disable()
        try:
            with lean_helpers():
                return compile_now(signature)
        finally:
            if collects:
                _make_old()
                gc.enable()

    dispatcher.compile = compile_in_peace


def _make_old() -> None:
    """Move new objects to the oldest generation without looking at them.

    Otherwise the next collection would visit all that compiling has left, which is kept anyway.
    """
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


def _general(given: Any) -> Any:
    if isinstance(given, types.IntegerLiteral | types.BooleanLiteral):
        return unliteral(given)
    return given
