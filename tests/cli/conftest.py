"""Fixtures of the command line tests: running a command, and a folder for stored work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gramlet.cli import main
from gramlet.engine.core.compiled import code_folder


@pytest.fixture(scope="session")
def compiled_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A value of NUMBA_CACHE_DIR with which processes share the compiled code of this one."""
    folder = tmp_path_factory.mktemp("compiled")
    if code := code_folder():
        (folder / "gramlet").symlink_to(code.parent, target_is_directory=True)
    return folder


@pytest.fixture(autouse=True)
def kept_work(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, compiled_code: Path
) -> Path:
    """A cache folder that is empty at the beginning of a test."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("GRAMLET_CACHE", str(folder))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(compiled_code))
    return folder


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run a command in this process; returns its exit code, standard output and standard error."""

    def runner(*arguments: object) -> tuple[int, str, str]:
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return runner
