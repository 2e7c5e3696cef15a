"""SDF files with properties, and folders of graphs with a table of targets."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

import gramlet
from gramlet import GraphBatch
from gramlet.files.tables import ColumnNotFoundError

Chem = pytest.importorskip("rdkit.Chem", reason="SDF files are read by RDKit")


def record(smiles: str, title: str = "", **properties: object) -> str:
    molecule = Chem.MolFromSmiles(smiles)
    molecule.SetProp("_Name", title)
    data = "".join(f">  <{name}>\n{value}\n\n" for name, value in properties.items())
    return f"{Chem.MolToMolBlock(molecule)}{data}$$$$\n"


def sdf(folder: Path, *records: str, name: str = "m.sdf") -> Path:
    path = folder / name
    path.write_bytes("".join(records).encode())
    return path


# SDF


def test_a_property_that_is_cut_or_repeated(tmp_path: Path) -> None:
    whole = record("CCO", y=1.5) + record("CC", y=2.5)
    path = sdf(tmp_path, whole[:-8])  # up to "2."
    assert path.read_text().endswith("2.")
    with pytest.raises(ValueError, match=r"line \d+: the file ends inside the property 'y'"):
        gramlet.read(path)
    path = sdf(tmp_path, whole.removesuffix("$$$$\n"))  # complete, and often written so
    assert gramlet.read(path).target.tolist() == [1.5, 2.5]
    twice = record("CC", y=2.5).replace("$$$$", ">  <y>\n3.5\n\n$$$$")
    with pytest.raises(ValueError, match=r"the property 'y' is there twice"):
        gramlet.read(sdf(tmp_path, record("CCO", y=1.5), twice))


def test_molecules_with_properties(tmp_path: Path) -> None:
    path = sdf(
        tmp_path,
        record("CCO", "ethanol", logS=1.1, code="a\nb"),
        record("c1ccccc1O", "phenol", logS=-0.2, code="c").replace("\n", "\r\n"),
    )
    data = gramlet.read(path, "logS")
    assert data.graphs == gramlet.as_batch(["CCO", "c1ccccc1O"])
    assert data.target.tolist() == [1.1, -0.2]
    assert data.ids == ["ethanol", "phenol"]
    assert data.molecules == ["CCO", "Oc1ccccc1"]
    assert gramlet.read(path, "logS", id="code").ids == ["a\nb", "c"]
    assert gramlet.read(path).target is None
    with pytest.raises(ColumnNotFoundError, match=r"'z' \(target=\); there are 'logS', 'code'"):
        gramlet.read(path, "z")
    packed = tmp_path / "p.sdf.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert gramlet.read(packed, "logS").ids == data.ids


def test_damaged_records_are_named_by_line(tmp_path: Path) -> None:
    bad = record("CC", "bad", y=2).replace(" C ", " Xx")
    path = sdf(tmp_path, record("CCO", "a", y=1.5), bad, record("C", "c"), record("N", "d", y=4))
    with pytest.raises(ValueError, match=r"m.sdf, line 15: "):
        gramlet.read(path)
    with pytest.warns(UserWarning, match="2 of 4 molecules were left out"):
        data = gramlet.read(path, on_error="skip")
    assert data.ids == ["a", "d"]
    assert data.target.tolist() == [1.5, 4.0]
    assert "Xx" in data.skipped[0].reason
    assert [each.reason for each in data.skipped] == [
        data.skipped[0].reason,
        "the target 'y' is missing",
    ]


def test_cut_off_and_empty_sdf(tmp_path: Path) -> None:
    whole = record("CCO", "a") + record("c1ccccc1", "b")
    path = sdf(tmp_path, whole[: len(whole) // 2 + 40])
    with pytest.raises(ValueError, match=r"line 12: the record ends before 'M  END'"):
        gramlet.read(path)
    with pytest.raises(ValueError, match="has no molecules"):
        gramlet.read(sdf(tmp_path, "\n\n"))
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="this is not text in UTF-8"):
        gramlet.read(path)


# Folders


def graph_file(folder: Path, name: str, n_nodes: int, **data: object) -> None:
    nodes = [{"id": i} for i in range(n_nodes)]
    edges = [{"source": i, "target": i + 1} for i in range(n_nodes - 1)]
    (folder / name).write_text(json.dumps({"nodes": nodes, "edges": edges, "graph": data}))


def test_a_folder_with_a_table(tmp_path: Path) -> None:
    for i in range(1, 5):
        graph_file(tmp_path, f"g{i}.json", i)
    (tmp_path / "g5.g6").write_text("Bw\n")
    (tmp_path / "notes.txt").write_text("nothing")
    (tmp_path / "targets.csv").write_text(
        "file;kind;value\ng3.json;x;0.5\ng1;y;1\ng5;x;2\ng2;x;3\ng4.json;y;4\n"
    )
    data = gramlet.read(tmp_path, "value")
    assert data.ids == ["g3", "g1", "g5", "g2", "g4"]
    assert data.graphs.sizes.tolist() == [3, 1, 3, 2, 4]
    assert data.graphs.n_edges.tolist() == [2, 0, 3, 1, 3]
    assert data.target.tolist() == [0.5, 1.0, 2.0, 3.0, 4.0]
    assert (data.name, data.target_name) == (tmp_path.name, "value")
    assert gramlet.read(tmp_path, "kind").target.tolist() == ["x", "y", "x", "x", "y"]
    with pytest.raises(ColumnNotFoundError, match=r"targets.csv: no column is called 'z'"):
        gramlet.read(tmp_path, "z")


def test_a_table_without_headings_and_a_folder_without_table(tmp_path: Path) -> None:
    graph_file(tmp_path, "b.json", 2, y=7)
    graph_file(tmp_path, "a.json", 1, y=8)
    data = gramlet.read(tmp_path)
    assert (data.ids, data.target.tolist()) == (["a", "b"], [8, 7])
    (tmp_path / "t.tsv").write_text("b\t1\na\t0\n")
    data = gramlet.read(tmp_path)
    assert (data.ids, data.target.tolist()) == (["b", "a"], [1, 0])


def test_flaws_of_folders(tmp_path: Path) -> None:
    graph_file(tmp_path, "a.json", 1)
    graph_file(tmp_path, "b.json", 2)
    (tmp_path / "c.json").write_text("{")
    graph_file(tmp_path, "d.json", 3)
    (tmp_path / "two.jsonl").write_text('{"nodes": []}\n{"nodes": []}\n')
    table = tmp_path / "t.csv"
    table.write_text("name,y\na,1\nb,\nc,3\ntwo,5\nghost,4\nb,2\n")
    with pytest.raises(ValueError, match=r"t.csv, line 6: there is no file 'ghost'"):
        gramlet.read(tmp_path)
    with pytest.warns(UserWarning, match="6 of 7 files were left out"):
        data = gramlet.read(tmp_path, on_error="skip")
    assert (data.ids, data.target.tolist()) == (["a"], [1])
    assert [each.reason.partition(" (")[0] for each in data.skipped] == [
        "there is no file 'ghost'",
        "'b' is listed a second time",
        "t.csv has no row for this file",
        "the target 'y' is missing",
        "not valid JSON",
        "2 graphs in one file; a folder needs one",
    ]
    (tmp_path / "u.csv").write_text("name,y\n")
    with pytest.raises(ValueError, match=r"2 tables \(t.csv, u.csv\)"):
        gramlet.read(tmp_path)


def test_advice_on_a_file_of_a_folder_is_given_once(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"nodes": [{"id": 0}], "edges": []}')
    for name, text, reason in (
        ("b.json", '{"nodes": 3}', "not a node-link graph; it needs a list 'nodes'"),
        ("b.jsonl", '{"nodes": [1]}', "line 1: node 0 is not an object"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(ValueError, match=re.escape(name)) as caught:
            gramlet.read(tmp_path)
        assert reason in str(caught.value)
        assert str(caught.value).count("Correct it") == 1
        with pytest.warns(UserWarning, match="1 of 2"):
            skipped = gramlet.read(tmp_path, on_error="skip").skipped
        assert len(skipped) == 1
        assert "Correct it" not in str(skipped[0])
        (tmp_path / name).unlink()


def test_folders_without_graphs(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="has no files of graphs; known are TU folders"):
        gramlet.read(tmp_path)
    (tmp_path / "t.csv").write_text("a,1\n")
    with pytest.raises(FileNotFoundError, match="has no files of graphs"):
        gramlet.read(tmp_path)


def test_a_folder_of_molecules(tmp_path: Path) -> None:
    sdf(tmp_path, record("CCO", "x"), name="one.sdf")
    (tmp_path / "two.mol").write_text(record("CC", "y").removesuffix("$$$$\n"))
    (tmp_path / "t.csv").write_text("file,y\ntwo,0\none,1\n")
    data = gramlet.read(tmp_path)
    assert data.ids == ["two", "one"]
    assert data.target.tolist() == [0, 1]
    assert data.molecules == ["CC", "CCO"]
    graph_file(tmp_path, "z.json", 1)
    (tmp_path / "t.csv").write_text("file,y\ntwo,0\none,1\nz,1\n")
    with pytest.raises(ValueError, match="molecules and other graphs cannot be in one"):
        gramlet.read(tmp_path)


def test_a_folder_of_smiles(tmp_path: Path) -> None:
    (tmp_path / "one.smi").write_text("CCO ethanol\n")
    (tmp_path / "two.smi").write_text("# alkanes\nCC\n")
    assert gramlet.read(tmp_path).ids == ["one", "two"]
    sdf(tmp_path, record("CCC"), name="three.sdf")
    (tmp_path / "t.csv").write_text("file,y\ntwo.smi,0\none,1\nthree,0\n")
    data = gramlet.read(tmp_path)
    assert data.molecules == ["CC", "CCO", "CCC"]
    assert data.target.tolist() == [0, 1, 0]
    (tmp_path / "two.smi").write_text("CC a\nCCC b\n")
    (tmp_path / "one.smi").write_bytes(b"CCO \xff\n")
    with pytest.warns(UserWarning, match="2 of 3 molecules were left out"):
        data = gramlet.read(tmp_path, on_error="skip")
    assert data.ids == ["three"]
    assert [each.place.removeprefix(str(tmp_path)) for each in data.skipped] == [
        "/two.smi",
        "/one.smi, line 1",
    ]


def test_molecules_beside_other_graphs_are_not_left_out_in_silence(tmp_path: Path) -> None:
    (tmp_path / "one.smi").write_text("CCO\n")
    (tmp_path / "two.g6").write_text("A_\n")
    with pytest.raises(ValueError, match=r"one\.smi: molecules and other graphs cannot be in one"):
        gramlet.read(tmp_path)


def test_tu_folders_come_first(tmp_path: Path) -> None:
    graphs = GraphBatch.from_edges([[(0, 1)]])
    gramlet.write_tu(graphs, tmp_path / "SET", [1])
    gramlet.write_tu(graphs, tmp_path / "ZIPPED.zip", [0.5])
    for path in ("SET", "SET/SET", "ZIPPED.zip", "ZIPPED"):
        assert gramlet.read(tmp_path / path).graphs == graphs
    assert gramlet.read(tmp_path / "SET", "graph_labels").target.tolist() == [1]
    with pytest.raises(ValueError, match=r"has no file SET_graph_attributes.txt"):
        gramlet.read(tmp_path / "SET", "graph_attributes")
    with pytest.raises(ValueError, match=r"target= is 'graph_labels' or 'graph_attributes'"):
        gramlet.read(tmp_path / "SET", "y")
    with pytest.raises(ValueError, match="is TU data, to which molecules= does not apply"):
        gramlet.read(tmp_path / "SET", molecules="y")
    assert gramlet.read(tmp_path / "SET", directed=True).graphs.directed


def test_no_target_is_read_if_none_is_wanted(tmp_path: Path) -> None:
    networks = tmp_path / "networks"
    networks.mkdir()
    for i in range(2):
        (networks / f"g{i}.json").write_text(
            f'{{"graph": {{"y": {"null" if i else 1}}}, "nodes": [{{"id": 0}}], "links": []}}'
        )
    (tmp_path / "t.csv").write_text("smiles,y\nC,1\nCC,\n")
    whole = record("CCO", "a") + record("C", "b")
    for path in (networks, tmp_path / "t.csv", sdf(tmp_path, whole)):
        data = gramlet.read(path, target=False)
        assert len(data.graphs) == 2
        assert data.target is None
        assert data.target_name is None
    (networks / "table.csv").write_text("file,kind\ng0,\ng1,a\n")
    assert gramlet.read(networks, target=False).target is None
    with pytest.raises(ValueError, match="the target 'kind' is missing"):
        gramlet.read(networks)
    mutag = Path(gramlet.__file__).parent / "files" / "data" / "MUTAG.zip"
    assert gramlet.read(mutag, target=False).target is None
    with pytest.raises(ValueError, match=r"whose target= is 'graph_labels'.*got 0"):
        gramlet.read(mutag, target=0)
