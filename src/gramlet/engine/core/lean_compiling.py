"""The steps of compiling that the first run waits for, without those whose results nobody uses.

numba generates machine code for every function that compiled code calls, and then links its
intermediate code into each caller, where it is generated once more. Only the latter is ever run.
Here inner functions, and numba's own functions for arrays, remain intermediate code until a caller
from Python is finished. Besides, numba compiles its own functions once for every set of options
among their callers; here they see one set.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.target_extension import CPU, jit_registry

__all__ = ["InnerCompiler", "OuterCompiler", "inner_libraries", "lean_helpers"]


class _SharedFlags(Flags):
    """Options of a function, of which those it calls see only what concerns them."""

    def copy(self) -> Flags:
        shared = _SharedFlags(self)
        shared.no_cpython_wrapper = shared.no_cfunc_wrapper = True
        shared.release_gil = False
        return shared

    def __hash__(self) -> int:
        return hash(_SharedFlags)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _SharedFlags):
            return self is other or self._values == other._values
        return NotImplemented


class OuterCompiler(Compiler):
    """numba's steps for a function that Python calls."""

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, return_type: Any, flags: Any,
        locals: Any,
    ) -> None:  # fmt: skip
        flags = _SharedFlags(flags)
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)

    def compile_extra(self, func: Any) -> Any:
        result = super().compile_extra(func)
        # The objects that this function and those inside it refer to.
        for environment in result._find_referenced_environments():
            result.library.codegen.set_env(environment.env_name, environment)
        return result


class _InnerLibrary(JITCodeLibrary):
    """The intermediate code of a function and of those it calls, to be linked into callers."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        return 0  # for numba: there is no such function

    @property
    def codegen(self) -> Any:
        return _NoEnvironment

    def serialize_using_object_code(self) -> Any:
        return self.serialize_using_bitcode()

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        name, kind, data = state
        library = cls(codegen, name)
        library._final_module = llvm.parse_bitcode(data if kind == "bitcode" else data[1])
        library._finalized = True
        return library


class InnerCompiler(OuterCompiler):
    """numba's steps for a function that only compiled code calls: no machine code."""

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, return_type: Any, flags: Any,
        locals: Any,
    ) -> None:  # fmt: skip
        if library is None:
            library = _InnerLibrary(targetctx.codegen(), "inner")
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)


class _NoEnvironment:
    """Stands for the code generator where numba hands it the objects that a function refers to."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Left to the caller, as all of the rest."""


@contextmanager
def inner_libraries(codegen: Any) -> Iterator[None]:
    """Read libraries from the cache as those of inner functions."""
    with global_compiler_lock:
        codegen._library_class = _InnerLibrary
        try:
            yield
        finally:
            del codegen._library_class


@contextmanager
def lean_helpers() -> Iterator[None]:
    """Compile numba's own functions as inner functions, if code that is compiled calls them."""
    with global_compiler_lock:
        before = jit_registry.pop(CPU)  # what is there cannot be replaced
        jit_registry[CPU] = _helper_jit
        try:
            yield
        finally:
            del jit_registry[CPU]
            jit_registry[CPU] = before


def _helper_jit(**options: Any) -> Any:
    """numba's decorator for functions behind those of numpy and Python."""
    if not options.get("no_cpython_wrapper"):
        return numba.jit(**options)
    return numba.jit(**options, no_cfunc_wrapper=True, pipeline_class=InnerCompiler)
