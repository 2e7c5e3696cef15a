"""Matrices larger than the memory are refused before any work."""

from __future__ import annotations

import pytest

from gramlet import WeisfeilerLehman, load_dataset
from gramlet.engine.core import memory


def test_available_memory_is_plausible():
    available = memory.available_bytes()
    assert available is None or 1 << 20 < available < 1 << 50


def test_what_does_not_fit_is_refused_before_work(monkeypatch):
    graphs = load_dataset("MUTAG").graphs
    kernel = WeisfeilerLehman().fit(graphs)
    monkeypatch.setattr(memory, "_SMALL", 0)
    monkeypatch.setattr(memory, "available_bytes", lambda: 100_000)
    monkeypatch.setattr(WeisfeilerLehman, "_fit", lambda *_: pytest.fail("work was done"))
    monkeypatch.setattr(type(kernel.profile_), "compare", lambda *_: pytest.fail("work was done"))
    with pytest.raises(MemoryError, match=r"188 × 188 .* 0\.0 GB .*K\.zarr.*FeatureMap"):
        WeisfeilerLehman().fit_transform(graphs)
    with pytest.raises(MemoryError, match="WeisfeilerLehman"):
        kernel.transform(graphs)
