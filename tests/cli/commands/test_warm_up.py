"""``gramlet warm-up``: afterwards nothing is compiled any more."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from gramlet.cli import main
from gramlet.cli.commands.warm_up import TOOLS, compiled_by, names_of_work
from gramlet.kernels import registry
from without_compiler import COMPILER_IS_OFF

AFTER = """
from gramlet import gram, load_dataset
from gramlet.engine.core.compiling import n_compiled
gram(load_dataset("MUTAG").graphs[:20], kernel="vertex", normalize=True)
print(n_compiled())
"""


def test_without_names_it_is_everything():
    names = names_of_work()
    assert sorted(names) == sorted([*(row.name for row in registry.entries()), *TOOLS])
    assert names_of_work(["SP", "sp", "wl"]) == ["sp", "wl"]


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_tools_work(name):
    compiled_by(name)


def test_an_unknown_name_is_wrong_use(capsys):
    assert main(["warm-up", "weisfeiler"]) == 2
    assert "weisfeiler" in capsys.readouterr().err


@pytest.mark.parametrize("number", ["0", "-1", "x"])
def test_numbers_of_processes_below_one_are_refused(capsys, number):
    assert main(["warm-up", "vertex", "--processes", number]) == 2
    assert "Invalid value for '--processes'" in capsys.readouterr().err


@pytest.mark.skipif(COMPILER_IS_OFF, reason="the compiler is off")
def test_a_later_process_compiles_nothing(tmp_path):
    folder = tmp_path / "cache"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-c", "from gramlet.cli import main; raise SystemExit(main())"]
    done = [
        subprocess.run(
            [*command, "warm-up", "vertex", "--processes", "1"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        for _ in range(2)
    ]
    assert done[0].stderr.startswith("1/1 vertex: ")
    assert done[0].stdout.strip().partition("kept in ")[2].startswith(str(folder))
    assert "nothing to compile" in done[1].stderr
    after = subprocess.run(
        [sys.executable, "-c", AFTER], env=environment, capture_output=True, text=True, check=True
    )
    assert after.stdout.strip() == "0"


@pytest.mark.skipif(COMPILER_IS_OFF, reason="the compiler is off")
def test_a_folder_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").write_text("")
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from gramlet.cli import main; raise SystemExit(main())",
            "warm-up",
            "vertex",
        ],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "file")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "compiled code cannot be kept in" in done.stderr
    assert "GRAMLET_CACHE" in done.stderr
