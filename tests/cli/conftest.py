"""Fixtures of the command line tests: one folder for stored work, one for compiled code."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def kept_work(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that is empty at the beginning of a test."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("GRAMLET_CACHE", str(folder))
    # Otherwise every process would compile anew.
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "compiled"))
    return folder
