"""Compiled functions, the folder of compiled code, and sorting.

To make a folder impossible to write for every user, including root, a file takes its place.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import gramlet
from compiled_calls import from_python
from gramlet.engine.core.compiled import njit, read_only
from gramlet.engine.core.short_sort import sort_short, stable_order
from without_compiler import COMPILER_IS_OFF

compiled_only = pytest.mark.skipif(COMPILER_IS_OFF, reason="the compiler is off")

PACKAGE = Path(gramlet.__file__).parent
SCRIPT = """
import numpy as np
from gramlet.engine.core.compiling import n_compiled
from gramlet.engine.core.compiled import code_folder
from gramlet.engine.counts.comparison import count_codes
counts = count_codes(np.array([0, 2, 3]), np.array([1, 1, 0]), 2)
assert counts.toarray().tolist() == [[0, 2], [1, 0]]
print(n_compiled() > 0, code_folder())
"""


def run(environment: dict[str, str], source: Path = PACKAGE.parent) -> tuple[str, str, str]:
    """Whether something was compiled, the folder for compiled code, and standard error."""
    hidden = ("GRAMLET_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "NUMBA_DISABLE_JIT")
    others = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**others, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    compiled, folder = done.stdout.split(maxsplit=1)
    return compiled, folder.strip(), done.stderr


@pytest.fixture
def installed(tmp_path) -> Path:
    """A copy of the package without compiled code."""
    source = tmp_path / "installed"
    shutil.copytree(PACKAGE, source / "gramlet", ignore=shutil.ignore_patterns("__pycache__"))
    return source


@pytest.fixture
def sealed(installed) -> Path:
    """A copy of the package in which no compiled code can be written."""
    (installed / "gramlet" / "__pycache__").write_text("")
    return installed


@compiled_only
@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "GRAMLET_CACHE"])
def test_the_folder_can_be_chosen_and_is_used_again(tmp_path, variable):
    chosen = tmp_path / "chosen"
    first, second = (run({variable: str(chosen)}) for _ in range(2))
    parent = chosen / ("gramlet" if variable == "NUMBA_CACHE_DIR" else "compiled")
    (folder,) = parent.iterdir()
    assert first == ("True", str(folder), "")
    assert second == ("False", str(folder), "")
    assert list(folder.rglob("*.nbi"))


@compiled_only
def test_a_read_only_installation_uses_the_folder_of_the_user(tmp_path, sealed):
    home = {"XDG_CACHE_HOME": str(tmp_path / "home")}
    first, second = run(home, sealed), run(home, sealed)
    assert Path(first[1]).parent == tmp_path / "home" / "gramlet" / "compiled"
    assert first == ("True", first[1], "")
    assert second == ("False", first[1], "")


@compiled_only
def test_without_any_folder_it_works_and_says_so_once(tmp_path, sealed):
    (tmp_path / "file").write_text("")
    compiled, folder, said = run({"XDG_CACHE_HOME": str(tmp_path / "file")}, sealed)
    assert (compiled, folder) == ("True", "None")
    assert said.count("Compiled code cannot be kept in") == 1
    assert "GRAMLET_CACHE" in said


@compiled_only
def test_damaged_files_are_compiled_again(tmp_path):
    place = {"NUMBA_CACHE_DIR": str(tmp_path)}
    _, folder, _ = run(place)
    for suffix in ("nbi", "nbc"):
        for damage in (
            lambda content: b"",
            lambda content: content[: len(content) // 2],
            lambda content: bytes(len(content)),
            lambda content: b"no compiled code",
        ):
            (path,) = Path(folder).rglob(f"*.{suffix}")
            path.write_bytes(damage(path.read_bytes()))
            assert run(place) == ("True", folder, "")
    assert run(place) == ("False", folder, "")


@compiled_only
def test_a_change_of_any_source_compiles_again_and_old_folders_are_removed(tmp_path, installed):
    place = {"NUMBA_CACHE_DIR": str(tmp_path / "code")}
    called = installed / "gramlet" / "engine" / "core" / "short_sort.py"
    folders = []
    for _ in range(5):
        compiled, folder, _ = run(place, installed)
        assert compiled == "True"
        folders.append(folder)
        called.write_text(called.read_text() + "# changed\n")
    assert len(set(folders)) == 5
    assert sorted(map(str, (tmp_path / "code" / "gramlet").iterdir())) == sorted(folders[-4:])


@compiled_only
def test_the_folder_of_other_functions_stays():
    before = numba.config.CACHE_DIR

    @njit(nogil=True, cache=True)
    def shifted(x):
        return x + 1

    assert shifted(1) == 2
    assert before == numba.config.CACHE_DIR


def test_no_module_is_replaced():
    """Other libraries of the process find ordinary modules."""
    script = """
import sys, types
import gramlet
gramlet.WeisfeilerLehman
names = ("pandas", "scipy.stats", "scipy.special")
assert all(type(sys.modules[n]) is types.ModuleType for n in names if n in sys.modules)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


def test_read_only_is_a_view():
    values = np.arange(3)
    view = read_only(values)
    assert np.shares_memory(values, view)
    assert values.flags.writeable
    assert not view.flags.writeable


@pytest.mark.parametrize("n", [0, 1, 2, 24, 25, 48, 49, 100, 1000])
def test_sorting(n):
    rng = np.random.default_rng(n)
    sort, order_of = from_python(sort_short), from_python(stable_order)
    for high in (3, 10**9):
        for values in (rng.integers(0, high, n), np.arange(n), np.arange(n)[::-1].copy()):
            result = values.copy()
            sort(result)
            assert result.tolist() == sorted(values.tolist())
            keys = values.astype(float)
            expected = np.argsort(keys, kind="stable")
            assert order_of(keys).tolist() == expected.tolist()


def test_every_compiled_function_comes_from_here():
    """numba's own decorator would use another folder, and fail in a read-only installation."""
    for path in (PACKAGE / "engine").rglob("*.py"):
        if path.name != "compiled.py":
            assert "from numba import njit" not in path.read_text(), path
