"""write and convert: files read back are equal, or nothing is written and the loss is named."""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gramlet
from gramlet import Dataset, GraphBatch
from reference.strategies import graph_batches

needs_networkx = pytest.mark.skipif(
    importlib.util.find_spec("networkx") is None,
    reason="network files are read and written by networkx: pip install gramlet[graphs]",
)
KINDS = ("jsonl", "json", "jsonl.gz", "graphml", "graphml.gz", "zip")


def _fits_graphml(graphs: GraphBatch) -> bool:
    """Whether all labels are strings and numbers."""
    columns = [c for c in (graphs.node_labels, graphs.edge_labels) if c is not None]
    return all(isinstance(label, str | int | float) for column in columns for label in column)


@needs_networkx
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs=graph_batches(), kind=st.sampled_from(KINDS), data=st.data())
def test_round_trip(
    tmp_path_factory: pytest.TempPathFactory, graphs: GraphBatch, kind: str, data: st.DataObject
) -> None:
    if not len(graphs):
        return
    folder = tmp_path_factory.mktemp("round")
    n = len(graphs)
    target = data.draw(
        st.sampled_from([None, np.arange(n), np.linspace(0, 1 / 3, n) + 0.1, np.array(["ü<&"] * n)])
    )
    full = Dataset(
        graphs,
        target,
        name="x",
        ids=[f"{i} \t&<" for i in range(n)],
        target_name=None if target is None else "what",
        description="<Über> alles\n\n& mehr",
        target_names={0: "null", "b": "B"},
    )
    path = folder / f"x.{kind}"
    if kind.startswith("graphml") and not _fits_graphml(graphs):
        with pytest.raises(ValueError, match="cannot"):
            gramlet.write(full, path)
        assert list(folder.iterdir()) == []
        return
    gramlet.write(full, path)
    back = gramlet.read(path)
    assert back.graphs == graphs
    for field in ("ids", "target_name", "description", "target_names"):
        assert back[field] == full[field], field
    if target is None:
        assert back.target is None
    else:
        assert back.target.tolist() == target.tolist()
        assert back.target.dtype.kind == target.dtype.kind
    assert [file.name for file in folder.iterdir()] == [path.name]


@needs_networkx
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("directed", [False, True])
def test_all_columns(tmp_path: Path, kind: str, directed: bool) -> None:
    graphs = GraphBatch.from_edges(
        [[(0, 1), (2, 1)], [], []],
        n_nodes=[3, 2, 0],
        node_labels=[["a", "ü", " <&\n"], ["x", ""], []],
        node_attributes=[[[1.5, 0.1], [2, 1e-300], [3, -0.0]], [[4, 4], [5, 5]], None],
        edge_labels=[[1, -2], [], []],
        edge_weights=[[0.1, 1e300], [], []],
        edge_attributes=[[[1.0], [2.0]], None, None],
        directed=directed,
    )
    path = tmp_path / f"all.{kind}"
    gramlet.write(Dataset(graphs, [True, False, True]), path)
    back = gramlet.read(path)
    assert back.graphs == graphs
    assert back.graphs.directed is directed
    assert back.target.tolist() == [True, False, True]


@needs_networkx
def test_mutag_goes_round(tmp_path: Path) -> None:
    mutag = gramlet.load_dataset("MUTAG")
    gramlet.write(mutag, tmp_path / "a")
    steps = ["a", "b.jsonl", "c.graphml", "d.zip", "e.json.gz"]
    for one, other in pairwise(steps):
        gramlet.convert(tmp_path / one, tmp_path / other)
    back = gramlet.read(tmp_path / "e.json.gz")
    assert back.graphs == mutag.graphs
    n_labels = mutag.graphs.n_nodes_total + mutag.graphs.n_edges.sum()
    n_data = (tmp_path / "c.graphml").read_text().count("<data ")
    assert n_data == n_labels + len(mutag.graphs) + 1  # targets, and what is said of all graphs
    assert back.target.tolist() == mutag.target.tolist()
    for field in ("node_label_names", "edge_label_names", "description", "target_names"):
        assert back[field] == mutag[field], field


def test_molecules_keep_their_strings(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("name;smiles;logS\nethanol;CCO;1.1\nbenzene, etc;c1ccccc1;-2\n")
    steps = ["m.csv", "a.zip", "b.jsonl", "c.graphml", "d.tsv", "e.csv.gz"]
    for one, other in pairwise(steps):
        read = gramlet.convert(tmp_path / one, tmp_path / other)
        assert read.molecules == ["CCO", "c1ccccc1"]
    last = gramlet.read(tmp_path / "e.csv.gz")
    assert last.ids == ["ethanol", "benzene, etc"]
    assert last.target.tolist() == [1.1, -2.0]
    assert last.target_name == "logS"
    with pytest.raises(ValueError, match=r"a .smi file cannot store 'target'.*drop=\['target'\]"):
        gramlet.convert(tmp_path / "m.csv", tmp_path / "f.smi")
    gramlet.convert(tmp_path / "m.csv", tmp_path / "f.smi", drop=["target"])
    assert (tmp_path / "f.smi").read_text() == "CCO ethanol\nc1ccccc1 benzene, etc\n"


def test_molecules_of_sdf_files_fit_into_tables(tmp_path: Path) -> None:
    chem = pytest.importorskip("rdkit.Chem")
    structures = ["OCC", "O=C(O)c1ccccc1N", "[Cl-].C[NH3+]", "O"]
    with chem.SDWriter(str(tmp_path / "m.sdf")) as file:
        for number, text in enumerate(structures):
            molecule = chem.MolFromSmiles(text)
            molecule.SetProp("_Name", f"n{number}")
            molecule.SetProp("active", str(number % 2))
            file.write(molecule)
    read = gramlet.read(tmp_path / "m.sdf", "active")
    for kind, drop in ((".csv", ()), (".tsv.gz", ()), (".smi", ["target"])):
        gramlet.write(read, tmp_path / f"m{kind}", drop=drop)
        back = gramlet.read(tmp_path / f"m{kind}")
        assert back.graphs != read.graphs  # the atoms have another order
        assert gramlet.graph_hashes(back.graphs) == gramlet.graph_hashes(read.graphs)
        assert (back.ids, back.molecules) == (read.ids, read.molecules)


def test_graphs_that_are_not_those_of_the_strings(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    graphs = gramlet.as_batch(["CCO", "CC"])
    for data, message in (
        (
            Dataset(graphs, molecules=["CCO", "CCC"]),
            r"molecule 1 has 2 nodes and 1 edge instead of 3 nodes and 2 edges in .* string 'CCC'",
        ),
        (Dataset(graphs, molecules=["CCO", "CN"]), r"molecule 1 has other labels or edges .* 'CN'"),
        (Dataset(graphs, molecules=["COC", "CC"]), r"molecule 0 has other labels or edges"),
        (Dataset(gramlet.as_batch(graphs, directed=True), molecules=["CCO", "CC"]), "directed"),
        (
            Dataset(graphs.with_columns(edge_weights=np.ones(6)), molecules=["CCO", "CC"]),
            r"cannot store 'edge_weights' unchanged",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            gramlet.write(data, tmp_path / "x.smi")
        assert list(tmp_path.iterdir()) == []


def labelled(*labels: object) -> GraphBatch:
    return GraphBatch.from_edges([[]], node_labels=[list(labels)])


@needs_networkx
def test_losses_are_named(tmp_path: Path) -> None:
    graphs = GraphBatch.from_edges([[(0, 1)]], node_labels=[[(1, 2), "a"]], edge_weights=[[2.0]])
    with pytest.raises(ValueError, match=r"GraphML cannot store 'label' = \(1, 2\)"):
        gramlet.write(Dataset(graphs), tmp_path / "x.graphml")
    gramlet.write(Dataset(graphs), tmp_path / "x.graphml", drop=["node_labels"])
    back = gramlet.read(tmp_path / "x.graphml").graphs
    assert back == graphs.with_columns(node_labels=None)
    plain = GraphBatch.from_edges([[(0, 1)]])
    for data, name, message in (
        (Dataset(plain, group=[1]), "y.jsonl", "cannot store 'group'"),
        (Dataset(plain, [[1, 2]]), "y.jsonl", "cannot store 'target'"),
        (Dataset(plain), "y.csv", "has no SMILES strings"),
        (Dataset(plain), "y.txt", "graphs are written to .zip, .jsonl"),
        (
            Dataset(GraphBatch.from_edges([[]], node_labels=[[None, 1]])),
            "y.jsonl",
            "cannot be stored",
        ),
        (
            Dataset(GraphBatch.from_edges([[]], node_labels=[["\x00"]])),
            "y.graphml",
            "not allowed in XML",
        ),
        (Dataset(plain, np.array([None])), "y.jsonl", "cannot be stored"),
    ):
        with pytest.raises(ValueError, match=message):
            gramlet.write(data, tmp_path / name)
        assert not (tmp_path / name).exists()
    with pytest.raises(ValueError, match="drop: 'colour' is neither"):
        gramlet.write(Dataset(plain), tmp_path / "z.jsonl", drop=["colour"])
    assert [file.name for file in tmp_path.iterdir()] == ["x.graphml"]


@needs_networkx
def test_nothing_is_overwritten_unasked(tmp_path: Path) -> None:
    data = Dataset(GraphBatch.from_edges([[(0, 1)]]), [1])
    for name in ("a.jsonl", "a.zip", "a"):
        gramlet.write(data, tmp_path / name)
        with pytest.raises(FileExistsError, match="overwrite=True"):
            gramlet.write(data, tmp_path / name)
        gramlet.write(Dataset(data.graphs, [2]), tmp_path / name, overwrite=True)
        assert gramlet.read(tmp_path / name).target.tolist() == [2]


@needs_networkx
def test_numbers_that_json_cannot_store_are_named(tmp_path: Path) -> None:
    graphs = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], edge_weights=[[1.0], [np.inf]])
    for ending in ("json", "jsonl"):
        path = tmp_path / f"g.{ending}"
        with pytest.raises(ValueError, match=rf"g\.{ending}: graph 1 has a number in its edges"):
            gramlet.write(Dataset(graphs), path)
        assert not path.exists()
    labelled = GraphBatch.from_edges([[(0, 1)]], node_labels=[[float("inf"), 1]])
    empty = GraphBatch.from_edges([[(0, 1)]], node_attributes=[np.ones((2, 0))])
    for data in (labelled, empty):
        with pytest.raises(ValueError, match="cannot be stored"):
            gramlet.write(Dataset(data), tmp_path / "tu")
        assert not (tmp_path / "tu").exists()


def test_a_target_called_id_is_refused_in_tables(tmp_path: Path) -> None:
    pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")
    data = Dataset(gramlet.as_batch(["C", "CC"]), [0, 1], molecules=["C", "CC"], target_name="id")
    with pytest.raises(ValueError, match="the target is called 'id'"):
        gramlet.write(data, tmp_path / "m.csv")
