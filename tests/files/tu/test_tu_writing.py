"""Writing the TU format: files read back are equal, and are written completely or not at all."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gramlet import GraphBatch, read_tu, write_tu
from gramlet.files.dataset import Dataset
from reference.strategies import graph_batches
from reference.tu_files import GOOD, put

OPTIONS = {"suppress_health_check": [HealthCheck.function_scoped_fixture]}


@settings(**OPTIONS)
@given(graphs=graph_batches(), as_archive=st.booleans(), data=st.data())
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory,
    graphs: GraphBatch,
    as_archive: bool,
    data: st.DataObject,
) -> None:
    folder = tmp_path_factory.mktemp("round")
    kind = data.draw(st.sampled_from(["none", "int", "str", "float", "bool", "mixed", "rows"]))
    n = len(graphs)
    target = {
        "none": None,
        "int": np.arange(n) - 2,
        "str": np.array([f"class {i % 2}" for i in range(n)], dtype=str),
        "float": np.linspace(0, 1 / 3, n),
        "bool": np.arange(n) % 2 == 0,
        "mixed": np.array([(1, "1", None)[i % 3] for i in range(n)], dtype=object),
        "rows": np.arange(2.0 * n).reshape(n, 2) / 7,
    }[kind]
    path = folder / ("NEW.zip" if as_archive else "NEW")
    write_tu(graphs, path, target)
    back = read_tu(path)
    assert back.graphs == graphs
    assert sorted(p.name for p in folder.iterdir()) == [path.name]  # no temporary files remain
    if target is None:
        assert back.target is None
    elif n:
        assert back.target.tolist() == target.tolist()
        assert back.target.dtype.kind == target.dtype.kind
        assert [type(v) for v in back.target] == [type(v) for v in target]


def test_labels_of_many_kinds_come_back_as_they_were(tmp_path: Path) -> None:
    labels = [1, "1", (1,), ("a", (2, None)), 2.5, False, "ü,\n"]
    graphs = GraphBatch.from_edges([[]], node_labels=[labels])
    write_tu(graphs, tmp_path / "KINDS")
    back = read_tu(tmp_path / "KINDS").graphs
    assert list(back.node_labels) == labels
    assert [type(v) for v in back.node_labels] == [type(v) for v in labels]


def test_plain_integers_need_no_extra_file(tmp_path: Path) -> None:
    data = read_tu(put(tmp_path))
    write_tu(data, tmp_path / "COPY")
    names = {f.name for f in (tmp_path / "COPY").iterdir()}
    assert names == {f"COPY_{role}.txt" for role in GOOD}
    assert (tmp_path / "COPY" / "COPY_A.txt").read_text() == GOOD["A"]


def test_integer_tuples_are_columns(tmp_path: Path) -> None:
    graphs = GraphBatch.from_edges([[(0, 1)]], node_labels=[[(1, 2), (3, 4)]])
    write_tu(graphs, tmp_path / "COLUMNS", target=[0])
    assert (tmp_path / "COLUMNS" / "COLUMNS_node_labels.txt").read_text() == "1, 2\n3, 4\n"
    assert not (tmp_path / "COLUMNS" / "COLUMNS_gramlet.json").exists()
    assert read_tu(tmp_path / "COLUMNS").graphs == graphs


def test_names_and_description_travel(tmp_path: Path) -> None:
    graphs = GraphBatch.from_edges([[(0, 1)]], node_labels=[["x", 2]])
    data = Dataset(
        graphs,
        [3],
        description="What it is.",
        target_names={3: "three"},
        node_label_names={"x": "unknown", 2: "two"},
    )
    write_tu(data, tmp_path / "a" / "NAMED.zip")
    back = read_tu(tmp_path / "a" / "NAMED.zip")
    for field in ("description", "target_names", "node_label_names", "edge_label_names"):
        assert back[field] == data[field]


def test_as_batch_inputs_can_be_written(tmp_path: Path) -> None:
    pytest.importorskip("gramlet.graphs.conversion.convert")
    write_tu([np.array([[0, 1], [1, 0]])], tmp_path / "MATRIX", target=["a"])
    assert read_tu(tmp_path / "MATRIX").graphs.n_edges.tolist() == [1]


def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    graphs = GraphBatch.from_edges([[(0, 1)]])
    for name in ("SET", "SET.zip"):
        write_tu(graphs, tmp_path / name, target=[1])
        with pytest.raises(FileExistsError, match="overwrite=True"):
            write_tu(graphs, tmp_path / name, target=[2])
        assert read_tu(tmp_path / name).target.tolist() == [1]
        write_tu(graphs, tmp_path / name, target=[2], overwrite=True)
        assert read_tu(tmp_path / name).target.tolist() == [2]


def test_a_folder_with_other_things_is_never_replaced(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match=r"thesis.tex"):
        write_tu(GraphBatch.from_edges([[(0, 1)]]), home, overwrite=True)
    assert (home / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize(
    ("beside_a_data_set", "other"),
    [
        (False, "diary.txt"),
        (False, "README.txt"),
        (False, "SET_A.txt"),
        (True, "diary.txt"),
        (True, "SET_notes.txt"),
        (True, "SETTING_node_labels.txt"),
    ],
)
def test_other_text_files_are_never_replaced(
    tmp_path: Path, beside_a_data_set: bool, other: str
) -> None:
    graphs, folder = GraphBatch.from_edges([[(0, 1)]]), tmp_path / "SET"
    folder.mkdir()
    if beside_a_data_set:
        write_tu(graphs, folder, target=[1], overwrite=True)
    (folder / other).write_text("years of work")
    with pytest.raises(FileExistsError, match=other):
        write_tu(graphs, folder, target=[2], overwrite=True)
    assert (folder / other).read_text() == "years of work"


def test_every_file_of_a_data_set_is_replaced(tmp_path: Path) -> None:
    graphs = GraphBatch.from_edges(
        [[(0, 1)]],
        node_labels=[["a", "b"]],
        node_attributes=[[[0.5], [1.5]]],
        edge_labels=[["x"]],
        edge_weights=[[2.0]],
    )
    for name in ("OLD", "NEW"):
        data = Dataset(graphs, [0.5], description="What it is.", target_names={0.5: "half"})
        write_tu(data, tmp_path / "SET", name=name, overwrite=True)
    assert {f.name.partition("_")[0] for f in (tmp_path / "SET").iterdir()} == {"NEW", "README.txt"}
    write_tu(graphs, tmp_path / "SET", target=["a"], overwrite=True)
    assert read_tu(tmp_path / "SET").graphs == graphs


def test_of_several_data_sets_in_a_folder_none_is_replaced(tmp_path: Path) -> None:
    write_tu(GraphBatch.from_edges([[(0, 1)]]), tmp_path / "SET")
    for file in list((tmp_path / "SET").iterdir()):
        (tmp_path / "SET" / file.name.replace("SET", "TWO")).write_bytes(file.read_bytes())
    with pytest.raises(FileExistsError, match="not part of one TU data set"):
        write_tu(GraphBatch.from_edges([[(0, 1)]]), tmp_path / "SET", overwrite=True)


def test_a_failed_write_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs = GraphBatch.from_edges([[(0, 1)]])
    write_tu(graphs, tmp_path / "SET", target=[1])
    write_tu(graphs, tmp_path / "SET.zip", target=[1])

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(Path, "write_bytes", full)
    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    for name in ("SET", "SET.zip"):
        with pytest.raises(OSError, match="no space left"):
            write_tu(graphs, tmp_path / name, target=[2], overwrite=True)
        assert read_tu(tmp_path / name).target.tolist() == [1]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["SET", "SET.zip"]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"target": [1, 2]}, ValueError, r"shape \(2,\) for 1 graphs"),
        ({"target": 3}, ValueError, r"shape \(\) for 1 graphs"),
        ({"target": [np.nan]}, ValueError, "NaN or infinity"),
        ({"target": [["a", "b"]]}, ValueError, "several columns must contain numbers"),
        ({"target": np.array([object()])}, TypeError, "type object"),
        ({"name": "a/b"}, ValueError, "cannot be used in names"),
        ({"name": ""}, ValueError, "cannot be used in names"),
        ({"name": ".."}, ValueError, "cannot be used in names"),
    ],
)
def test_what_cannot_be_written(
    tmp_path: Path, arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        write_tu(GraphBatch.from_edges([[(0, 1)]]), tmp_path / "SET", **arguments)
    assert not (tmp_path / "SET").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not valid JSON"),
        ("[]", "does not begin with"),
        ('{"gramlet": 99}', "does not begin with"),
        ('{"gramlet": 1, "n_graphs": -1}', "n_graphs = -1 is not between 0"),
        ('{"gramlet": 1, "values": []}', "values must be of type dict"),
        ('{"gramlet": 1, "values": {"node_labels": 3}}', "must be lists of labels"),
        ('{"gramlet": 1, "values": {"node_labels": [{"a": 1}]}}', "must be lists of labels"),
        ('{"gramlet": 1, "values": {"node_labels": ["a", "b"]}}', "line 2: code 7 is not one of"),
        ('{"gramlet": 1, "values": {"node_labels": ["a", "a"]}}', "one value is listed twice"),
        ('{"gramlet": 1, "values": {"node_labels": [NaN]}}', "NaN is not a JSON number"),
        ('{"gramlet": 1, "n_graphs": true}', "n_graphs must be of type int"),
        ("[" * 100_000, "nested too deeply"),
        ('{"gramlet": 1, "values": {"node_labels": [' + "[" * 99 + "]" * 99 + "]}}", "deep"),
        ('{"gramlet": 1, "ids": [1, 2]}', "ids must be a list of strings"),
        ('{"gramlet": 1, "molecules": ["C"]}', "molecules has 1 entries for 2 graphs"),
    ],
)
def test_damaged_extras_are_refused(tmp_path: Path, text: str, message: str) -> None:
    folder = put(tmp_path)
    (folder / "SET_gramlet.json").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_tu(folder)


def test_extras_do_not_allocate_what_they_name(tmp_path: Path) -> None:
    folder = put(tmp_path, graph_labels=None)
    (folder / "SET_gramlet.json").write_text('{"gramlet": 1, "n_graphs": 99000000}')
    with pytest.raises(ValueError, match="lists 5 nodes for 99,000,000 graphs"):
        read_tu(folder)
