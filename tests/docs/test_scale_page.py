"""The page on scale: its blocks run and leave no files; its plan follows from its model."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")
CHUNK = 2048


def test_blocks_run_and_write_nothing_beside_the_page(tmp_path, monkeypatch):
    pytest.importorskip("zarr", reason="the extra [scale] is not installed")
    here, elsewhere = tmp_path / "docs", tmp_path / "temporary"
    here.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr("tempfile.tempdir", str(elsewhere))
    names: dict[str, object] = {}
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
    assert len(blocks) >= 4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # from estimators that have not converged
        for block in blocks:
            exec(compile(block, "docs/scale.md", "exec"), names)
    assert os.listdir(here) == []
    assert {path.name for path in elsewhere.glob("*/*")} == {"K.zarr", "store"}


def number(cell: str) -> float:
    """The number at the beginning of a cell: 10⁶, 3·10⁵, 119,805, 12 million."""
    found = re.match(r"(?:([\d.]+)·)?10([⁵⁶⁷])", cell)
    if found:
        return float(found[1] or 1) * 10.0 ** "⁰¹²³⁴⁵⁶⁷".index(found[2])
    found = re.match(r"([\d,.]+)( million)?", cell)
    assert found, cell
    return float(found[1].replace(",", "")) * (1e6 if found[2] else 1)


def rows(heading: str) -> list[list[str]]:
    """The cells of the table that begins with a heading."""
    table = PAGE[PAGE.index(heading) :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_the_plan_for_matrices_follows_from_the_model():
    """Tiles, disk and memory by formula, core-hours by the time of a tile."""
    plan = rows("| graphs | tiles |")
    assert [number(line[0]) for line in plan] == [1e5, 3e5, 1e6, 1e7]
    for graphs, tiles, hours, disk, memory in plan:
        n, n_tiles = number(graphs), number(tiles)
        side = -(-n // CHUNK)
        assert n_tiles == pytest.approx(side * (side + 1) / 2, rel=0.01)
        assert number(disk) == pytest.approx(8e-12 * n**2, rel=0.1)
        fit, worker = (float(found) for found in re.findall(r"[\d.]+", memory))
        assert fit == pytest.approx(0.25 + 6e-6 * n, rel=0.1)
        assert worker == pytest.approx(0.4 + 0.9e-6 * n, rel=0.1)
        assert 3600 * number(hours) / n_tiles == pytest.approx(0.077, rel=0.05)


def test_the_plan_is_filled_in():
    assert not re.search(r"NEIGH|TODO|XX", PAGE)
    plan = rows("| graphs | hashed features |")
    assert [number(line[0]) for line in plan] == [1e5, 1e6, 1e7]
    assert all(cell for line in plan for cell in line)
