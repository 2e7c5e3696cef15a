"""Where compiled code is kept: the chosen folder, and read-only folders.

To make a folder impossible to write for every user, including root, a file takes its place.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gramlet
from without_compiler import COMPILER_IS_OFF

pytestmark = pytest.mark.skipif(COMPILER_IS_OFF, reason="the compiler is off")

PACKAGE = Path(gramlet.__file__).parent
SCRIPT = """
import numpy as np
from gramlet.engine.core.compiling import n_compiled
from gramlet.engine.core.code_cache import folder_for_new_code
from gramlet.engine.counts.comparison import count_codes
counts = count_codes(np.array([0, 2, 3]), np.array([1, 1, 0]), 2)
assert counts.toarray().tolist() == [[0, 2], [1, 0]]
print(n_compiled() > 0, folder_for_new_code())
"""


def run(environment: dict[str, str], source: Path = PACKAGE.parent) -> tuple[str, str, str]:
    """Whether something was compiled, the folder for new code, and standard error."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("GRAMLET_CACHE", "NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "NUMBA_DISABLE_JIT")
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**kept, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1", **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    compiled, folder = done.stdout.split(maxsplit=1)
    return compiled, folder.strip(), done.stderr


@pytest.fixture
def sealed(tmp_path) -> Path:
    """A copy of the package in which no file can be written beside the sources."""
    source = tmp_path / "installed"
    shutil.copytree(PACKAGE, source / "gramlet", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [source / "gramlet", *(source / "gramlet").rglob("*")]:
        if folder.is_dir():
            (folder / "__pycache__").write_text("")
    return source


@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "GRAMLET_CACHE"])
def test_the_folder_can_be_chosen_and_is_used_again(tmp_path, sealed, variable):
    chosen = tmp_path / "chosen"
    first, second = (run({variable: str(chosen)}, sealed) for _ in range(2))
    expected = chosen if variable == "NUMBA_CACHE_DIR" else chosen / "compiled"
    assert first == ("True", str(expected), "")
    assert second == ("False", str(expected), "")
    assert list(expected.rglob("*.nbi"))


def test_a_read_only_installation_uses_the_folder_of_the_user(tmp_path, sealed):
    home = {"XDG_CACHE_HOME": str(tmp_path / "home")}
    expected = str(tmp_path / "home" / "gramlet" / "compiled")
    assert run(home, sealed) == ("True", expected, "")
    assert run(home, sealed) == ("False", expected, "")


def test_without_any_folder_it_works_and_says_so_once(tmp_path, sealed):
    (tmp_path / "file").write_text("")
    compiled, folder, said = run({"XDG_CACHE_HOME": str(tmp_path / "file")}, sealed)
    assert (compiled, folder) == ("True", "None")
    assert said.count("Compiled code cannot be kept in") == 1
    assert "GRAMLET_CACHE" in said


def test_code_of_a_read_only_installation_is_used(tmp_path, sealed):
    """Compiled by the owner beside the sources, used by another user who cannot write there."""
    beside = sealed / "gramlet" / "engine" / "counts" / "__pycache__"
    beside.unlink()
    assert run({"XDG_CACHE_HOME": str(tmp_path / "owner")}, sealed)[0] == "True"
    assert list(beside.glob("comparison._count_runs*.nbi"))
    # Root can write to every folder, so another folder is preferred and this one is only read.
    user = {"GRAMLET_CACHE": str(tmp_path / "user")}
    assert run(user, sealed) == ("False", str(tmp_path / "user" / "compiled"), "")


CALLS_INNER = """
import numpy as np
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.compiling import n_compiled
from gramlet.engine.core.hash_table import hash_of
from gramlet.engine.core.short_sort import sort_short
@njit(cache=False)
def tried(values):
    sort_short(values)
    return hash_of(values, 0, len(values))
print(tried(np.arange(100)[::-1].copy()), n_compiled())
"""


def test_inner_functions_are_kept_for_callers_to_come(tmp_path):
    """A caller that is not in the cache itself uses the stored code of the functions it calls."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", CALLS_INNER],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    )
    assert first[0] == second[0]
    assert int(first[1]) > int(second[1]) == 1
