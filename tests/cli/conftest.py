"""What the tests of the command line share: a place of their own for work that is kept."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def kept_work(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder that is empty when a test begins."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("GRAMLET_CACHE", str(folder))
    return folder
