"""How functions are compiled: from where they are called, for which types; sorting."""

from __future__ import annotations

import ast
import gc
from pathlib import Path

import numpy as np
import pytest

import gramlet
from compiled_calls import from_python
from gramlet.engine.core.compiled import inner, njit, read_only
from gramlet.engine.core.short_sort import sort_short, stable_order
from without_compiler import COMPILER_IS_OFF

PACKAGE = Path(gramlet.__file__).parent

compiled_only = pytest.mark.skipif(COMPILER_IS_OFF, reason="the compiler is off")


@inner(cache=False)
def _plus(a, b):
    return a + b


@njit(nogil=True, cache=False)
def _sum_up_to(n):
    total = 0
    for i in range(n):
        total = _plus(total, i)
    return _plus(total, 0)


@compiled_only
def test_constants_are_not_types_of_their_own():
    assert _sum_up_to(5) == 10
    assert len(_plus.signatures) == 1


@compiled_only
def test_inner_functions_refuse_calls_from_python():
    with pytest.raises(TypeError, match="_plus is called by compiled code only"):
        _plus(1, 2)


@compiled_only
@pytest.mark.parametrize("enabled", [True, False])
def test_collection_is_as_it_was_after_compiling(enabled):
    during = []

    @njit(cache=False)
    def shifted(x):
        return x + 1

    compile_now = shifted.compile

    def watched(signature):
        result = compile_now(signature)
        during.append(gc.isenabled())
        return result

    shifted.compile = watched
    was = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        assert shifted(1) == 2
        assert gc.isenabled() is enabled
        assert during == [enabled]
    finally:
        (gc.enable if was else gc.disable)()


@compiled_only
def test_what_compiling_leaves_is_collected_like_all_other_objects():
    """It becomes old at once, so that no collection of new objects visits it."""
    found = []

    @njit(cache=False)
    def shifted(x):
        return x + 1

    was = gc.isenabled()
    gc.enable()
    gc.callbacks.append(lambda phase, info: found.append(info["generation"]))
    try:
        assert shifted(1) == 2
        assert gc.get_freeze_count() == 0
        assert len(gc.get_objects(generation=0)) < 5000
        assert found == [], "a collection ran while compiling"
        gc.collect()
        assert found == [2, 2]
    finally:
        gc.callbacks.pop()
        (gc.enable if was else gc.disable)()


@compiled_only
def test_objects_that_a_program_has_frozen_stay_frozen():
    @njit(cache=False)
    def shifted(x):
        return x + 1

    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        assert shifted(1) == 2
        assert gc.get_freeze_count() >= frozen - 100  # some are freed by themselves
    finally:
        gc.unfreeze()


@inner(cache=False)
def _checked(values, at):
    if at >= len(values):
        raise ValueError("no such place", at)
    return values[at]


@njit(cache=False)
def _entry(values, at):
    return _checked(np.sort(values), at)


@compiled_only
def test_inner_functions_have_no_machine_code_and_raise_errors_all_the_same():
    assert _entry(np.array([3, 1, 2]), 1) == 2
    with pytest.raises(ValueError, match="no such place") as caught:
        _entry(np.array([3, 1, 2]), 7)
    assert caught.value.args == ("no such place", 7)
    (compiled,) = _checked.overloads.values()
    assert compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name) == 0


@compiled_only
def test_functions_of_numba_serve_other_code_too():
    """`_entry` has compiled np.sort and its parts; other code can use the same."""
    import numba

    assert _entry(np.array([3, 1, 2]), 0) == 1

    @numba.njit
    def sorted_twice(values):
        return np.sort(values), np.sort(values[::-1])

    once, again = sorted_twice(np.array([3, 1, 2]))
    assert once.tolist() == again.tolist() == [1, 2, 3]


@compiled_only
def test_numba_is_as_it_was_after_compiling():
    import numba
    from numba.core.target_extension import CPU, jit_registry

    @njit(cache=False)
    def wrong(x):
        return x.no_such_attribute

    assert jit_registry[CPU] is numba.jit
    with pytest.raises(numba.TypingError):
        wrong(1)
    assert jit_registry[CPU] is numba.jit
    assert gc.isenabled()


def test_read_only_is_a_view():
    values = np.arange(3)
    view = read_only(values)
    assert np.shares_memory(values, view)
    assert values.flags.writeable
    assert not view.flags.writeable


def _decorated(tree):
    """The compiled functions of a module, by name: the name of the decorator."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if isinstance(called, ast.Name) and called.id in ("inner", "njit"):
                    found[node.name] = called.id
    return found


def test_inner_functions_are_called_by_compiled_code_only():
    trees = {path: ast.parse(path.read_text()) for path in PACKAGE.rglob("*.py")}
    names = {
        ".".join(("gramlet", *path.relative_to(PACKAGE).with_suffix("").parts)): _decorated(tree)
        for path, tree in trees.items()
    }
    wrong = []
    for path, tree in trees.items():
        module = ".".join(("gramlet", *path.relative_to(PACKAGE).with_suffix("").parts))
        visible = dict(names[module])
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in names:
                for alias in node.names:
                    if alias.name in names[node.module]:
                        visible[alias.asname or alias.name] = names[node.module][alias.name]
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and node.name in names[module]:
                continue  # compiled itself
            for part in ast.walk(node):
                called = part.func if isinstance(part, ast.Call) else None
                if isinstance(called, ast.Name) and visible.get(called.id) == "inner":
                    wrong.append(f"{path.name}:{part.lineno} {called.id}")
    assert wrong == []


@pytest.mark.parametrize("n", [0, 1, 2, 24, 25, 48, 49, 100, 1000])
def test_sorting(n):
    rng = np.random.default_rng(n)
    sort, order_of = from_python(sort_short), from_python(stable_order)
    for high in (3, 10**9):
        for values in (rng.integers(0, high, n), np.arange(n), np.arange(n)[::-1].copy()):
            found = values.copy()
            sort(found)
            assert found.tolist() == sorted(values.tolist())
            keys = values.astype(float)
            expected = np.argsort(keys, kind="stable")
            assert order_of(keys).tolist() == expected.tolist()


def test_every_compiled_function_comes_from_here():
    """numba's own decorator would use another folder, and fail in a read-only installation."""
    for path in (PACKAGE / "engine").rglob("*.py"):
        if path.name not in ("compiled.py", "code_cache.py"):
            assert "from numba import njit" not in path.read_text(), path
