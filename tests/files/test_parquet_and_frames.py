"""Parquet tables, and frames of polars and pyarrow, are read as those of pandas and .csv are."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import gramlet
from gramlet import GraphBatch

pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install gramlet[tables]")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("narwhals")

MOLECULES = {"id": ["a", "b", "c"], "smiles": ["CCO", "CC", "C"], "y": [0.5, 1.0, 2.25]}
EDGES = {"graph": ["a", "a", "b"], "source": [1, 2, 1], "target": [2, 3, 2]}


def frames(columns: dict[str, list]) -> list:
    made = [pa.table(columns)]
    polars = sys.modules.get("polars") or pytest.importorskip("polars")
    return [*made, polars.DataFrame(columns)]


def test_parquet_is_a_table_like_others(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    path = tmp_path / "m.parquet"
    pq.write_table(pa.table(MOLECULES), path)
    data = gramlet.read(path)
    assert (data.ids, data.target.tolist()) == (["a", "b", "c"], [0.5, 1.0, 2.25])
    blocks = list(gramlet.stream(path, 2))
    assert [block.ids for block in blocks] == [["a", "b"], ["c"]]
    pq.write_table(pa.table({**MOLECULES, "y": [1, None, 2]}), path)
    with pytest.raises(ValueError, match=r"m.parquet, row 2: the target 'y' is missing"):
        gramlet.read(path)
    with pytest.raises(ValueError, match="to which sep= does not apply"):
        gramlet.read(path, sep=";")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match=r"m.parquet cannot be read as Parquet"):
        gramlet.read(path)


def test_frames_of_polars_and_pyarrow() -> None:
    expected = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1)]])
    targets = frames({"graph": ["b", "a"], "y": [1.5, 0.5]})
    for edges, target in zip(frames(EDGES), targets, strict=True):
        assert gramlet.from_pandas(edges).graphs == expected
        data = gramlet.from_pandas(edges, targets=target)
        assert (data.ids, data.target.tolist(), data.target_name) == (["b", "a"], [1.5, 0.5], "y")


def test_columns_of_polars_and_pyarrow() -> None:
    pytest.importorskip("rdkit")
    expected = gramlet.as_batch(["CCO", "CC"])
    for frame in frames({"smiles": ["CCO", "CC"]}):
        assert gramlet.as_batch(frame) == expected
        assert gramlet.as_batch(frame["smiles"]) == expected
    for frame in frames({"smiles": ["CCO", None]}):
        with pytest.raises(ValueError, match="Graph 1 is missing"):
            gramlet.as_batch(frame["smiles"])
    with pytest.raises(ValueError, match="DataFrame of one column; this one has 3"):
        gramlet.as_batch(frames(EDGES)[0])


def test_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(ImportError, match=r"pip install gramlet\[tables\]"):
        gramlet.as_batch(pa.table({"x": ["C"]}))
