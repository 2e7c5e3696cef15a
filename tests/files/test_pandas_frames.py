"""from_pandas: graphs from tables of edges, nodes and targets."""

from __future__ import annotations

import numpy as np
import pytest

import gramlet
from gramlet import GraphBatch

pd = pytest.importorskip("pandas")

EDGES = {"graph": ["b", "a", "a"], "source": ["x", 1, 2], "target": ["y", 2, 3]}
NODES = {"graph": ["a", "a", "a", "b", "b", "b"], "node": [3, 2, 1, "x", "y", "z"]}


def edges(**columns: list[object]):
    return pd.DataFrame({**EDGES, **columns})


def nodes(**columns: list[object]):
    return pd.DataFrame({**NODES, **columns})


def test_edges_alone():
    data = gramlet.from_pandas(edges())
    assert data.ids == ["b", "a"]
    assert data.graphs == GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])
    assert data.target is None
    assert gramlet.from_pandas(edges(), directed=True).graphs.n_edges.tolist() == [1, 2]


def test_nodes_and_targets_decide_the_order():
    data = gramlet.from_pandas(
        edges(label=["p", "q", "r"], weight=[1, 2, 3], d=[0.1, 0.2, 0.3]),
        nodes(label=list("CNOFSP"), m=range(6), k=[0.5] * 6),
        pd.Series({"a": "yes", "b": "no"}, name="outcome"),
        node_attributes=["m", "k"],
        edge_attributes="d",
    )
    assert data.ids == ["a", "b"]
    assert data.target.tolist() == ["yes", "no"]
    assert data.target_name == "outcome"
    assert data.graphs == GraphBatch.from_edges(
        [[(2, 1), (1, 0)], [(0, 1)]],
        n_nodes=[3, 3],
        node_labels=[list("CNO"), list("FSP")],
        node_attributes=[[[0, 0.5], [1, 0.5], [2, 0.5]], [[3, 0.5], [4, 0.5], [5, 0.5]]],
        edge_labels=[["q", "r"], ["p"]],
        edge_weights=[[2, 3], [1]],
        edge_attributes=[[[0.2], [0.3]], [[0.1]]],
    )


def test_graphs_without_edges_come_from_nodes():
    targets = pd.Series({"c": 0, "a": 0, "b": 1})
    more = pd.concat([nodes(), pd.DataFrame({"graph": ["c", "c"], "node": [1, 2]})])
    data = gramlet.from_pandas(edges(), more, targets)
    assert (data.ids, data.target.tolist()) == (["c", "a", "b"], [0, 0, 1])
    assert np.diff(data.graphs.node_offsets).tolist() == [2, 3, 3]
    assert data.graphs.n_edges.tolist() == [0, 2, 1]


@pytest.mark.parametrize("table", [None, nodes()], ids=["edges alone", "nodes"])
def test_targets_of_graphs_without_rows_are_named(table):
    targets = pd.Series({"a": 0, "b": 1, "B ": 1})
    with pytest.warns(UserWarning, match="1 graph without rows in .* without nodes: 'B '"):
        data = gramlet.from_pandas(edges(), table, targets)
    assert data.ids == ["a", "b", "B "]
    assert data.graphs.sizes[2] == 0
    many = pd.Series({"a": 0, "b": 1, **dict.fromkeys("cdefghi", 0)})
    with pytest.warns(UserWarning, match=r"7 graphs without .*: 'c', 'd', 'e', 'f', 'g', \.\.\."):
        gramlet.from_pandas(edges(), table, many)


def test_names_of_columns_and_frames_of_targets():
    table = edges().rename(columns={"graph": "g", "source": "u", "target": "v"})
    targets = pd.DataFrame({"g": ["a", "b"], "y": [0.5, 1.5], "z": [1, 2]})
    data = gramlet.from_pandas(
        table, targets=targets, graph="g", source="u", target="v", target_name="y"
    )
    assert data.target.tolist() == [0.5, 1.5]
    assert data.target_name == "y"
    by_index = targets.set_index("g")[["z"]]
    whole = gramlet.from_pandas(table, targets=by_index, graph="g", source="u", target="v")
    assert whole.target.tolist() == [1, 2]
    assert whole.target.dtype == np.int64


def test_targets_in_a_column_of_nodes_or_edges():
    data = gramlet.from_pandas(edges(y=[1.5, 0.5, 0.5]), targets="y")
    assert (data.ids, data.target.tolist(), data.target_name) == (["b", "a"], [1.5, 0.5], "y")
    of_nodes = nodes(kind=list("pppqqq"))
    assert gramlet.from_pandas(edges(), of_nodes, "kind").target.tolist() == ["p", "q"]
    with pytest.raises(ValueError, match="'y' has several values for the graph 'a'"):
        gramlet.from_pandas(edges(y=[1, 2, 3]), targets="y")
    with pytest.raises(ValueError, match="edges has no column 'z'"):
        gramlet.from_pandas(edges(), targets="z")


def test_it_agrees_with_a_plain_construction():
    rng = np.random.default_rng(0)
    graph = rng.integers(0, 40, 3000)
    ends = rng.integers(0, 12, (3000, 2))
    proper = ends[:, 0] != ends[:, 1]
    table = pd.DataFrame({"graph": graph, "source": ends[:, 0], "target": ends[:, 1]})[proper]
    data = gramlet.from_pandas(
        table, pd.DataFrame({"graph": np.repeat(range(40), 12), "node": np.tile(range(12), 40)})
    )
    plain = [table[table.graph == g][["source", "target"]].to_numpy() for g in range(40)]
    assert data.graphs == GraphBatch.from_edges(plain, n_nodes=[12] * 40)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edges": edges().drop(columns="graph")}, "edges has no column 'graph'; it has 'source'"),
        ({"edges": edges(source=["x", None, 2])}, "edges: column 'source' has no value .* index 1"),
        ({"edges": edges(target=["x", 2, 3])}, "row 0 is a self-loop at the node 'x' .* graph 'b'"),
        ({"edges": edges(target=["y", 2, 9]), "nodes": nodes()}, "node 9 of .* 'a', which has"),
        ({"nodes": nodes(node=[3, 3, 1, "x", "y", "z"])}, "node 3 of the graph 'a' more than once"),
        ({"targets": pd.Series({"a": 1})}, "edges: row 0 belongs to the graph 'b', which has no"),
        ({"targets": pd.Series({"a": 1.0, "b": np.nan})}, "no value for the graph 'b'"),
        ({"targets": pd.Series({"a": 1.0, "b": np.inf})}, "missing, NaN or infinite for 1 of 2"),
        ({"targets": pd.Series([1, 2, 3], index=["a", "b", "a"])}, "graph 'a' more than once"),
        ({"targets": pd.DataFrame({"graph": ["a"], "y": [1], "z": [1]})}, "name one by"),
        ({"edges": edges(weight=[1, 2, "x"])}, "column 'weight' must contain numbers"),
        ({"edges": edges(weight=[1, 2, np.inf])}, "column 'weight' is not finite in .* index 2"),
        ({"node_label": "label"}, "names a column of nodes; give nodes="),
        ({"edge_label": "kind"}, "edges has no column 'kind'"),
        (
            {
                "edges": pd.DataFrame(
                    {"graph": [0, 0], "source": [1, 2], "target": [2, 1], "label": ["a", "b"]}
                )
            },
            "lists the edge .* more than once, with different",
        ),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        gramlet.from_pandas(**{"edges": edges(), **arguments})


def test_what_is_no_frame():
    with pytest.raises(
        TypeError, match="edges must be a DataFrame of pandas, polars or pyarrow; got list"
    ):
        gramlet.from_pandas([(0, 1)])
    with pytest.raises(TypeError, match="targets must be a pandas Series"):
        gramlet.from_pandas(edges(), targets=[1, 2])


def test_columns_that_are_not_read_are_said():
    with pytest.warns(UserWarning, match=r"nodes: 'element' is not read. .* node_label="):
        gramlet.from_pandas(edges(), nodes(element=list("CCOCNC")))
    with pytest.warns(UserWarning, match=r"edges: 'kind', 'w' are not read. .* edge_label="):
        gramlet.from_pandas(edges(kind=list("xyx"), w=[1, 2, 3]))


def test_columns_beside_those_read_and_the_target_are_not_said(recwarn):
    gramlet.from_pandas(edges(kind=list("xyx"), w=[1, 2, 3]), edge_label="kind")
    gramlet.from_pandas(edges(), nodes(y=[1, 1, 1, 0, 0, 0]), "y")
    assert not recwarn
