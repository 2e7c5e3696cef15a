"""Network files: all content is read; hostile and damaged files are refused in one line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

import gramlet
from gramlet import GraphBatch
from gramlet.files.tables import ColumnNotFoundError

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")


def put(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def example(directed: bool = False) -> nx.Graph:
    graph = (nx.DiGraph if directed else nx.Graph)(target=1.5, name="first")
    for node, label in enumerate("abca"):
        graph.add_node(node, label=label, attr=float(node))
    graph.add_edge(0, 1, label="x", weight=2.0)
    graph.add_edge(2, 1, label="y", weight=0.5)
    return graph


def expected(directed: bool = False) -> GraphBatch:
    return GraphBatch.from_edges(
        [[(0, 1), (2, 1)]],
        node_labels=[list("abca")],
        node_attributes=[[[0.0], [1.0], [2.0], [3.0]]],
        edge_labels=[["x", "y"]],
        edge_weights=[[2.0, 0.5]],
        directed=directed,
    )


# Content


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["graphml", "gexf", "json", "jsonl"])
def test_graphs_with_all_columns(tmp_path: Path, kind: str, directed: bool, packed: bool) -> None:
    path = tmp_path / f"one.{kind}"
    graph = example(directed)
    if kind == "graphml":
        nx.write_graphml(graph, path)
    elif kind == "gexf":
        # GEXF reserves "label" for nodes; labels of edges need another name.
        nx.write_gexf(graph, path)
    else:
        put(path, json.dumps(nx.node_link_data(graph, edges="links" if directed else "edges")))
    if packed:
        path = put(tmp_path / f"one.{kind}.gz", gzip.compress(path.read_bytes()))
    data = gramlet.read(path)
    if kind == "gexf":
        assert data.graphs.directed is directed
        assert list(data.graphs.node_labels) == list("abca")
        return
    assert data.graphs == expected(directed)
    assert data.graphs.directed is directed
    assert data.target.tolist() == [1.5]
    assert data.ids == ["first"]
    assert data.target_name == "target"
    other = gramlet.read(path, directed=not directed).graphs
    assert other.directed is not directed
    assert other.n_edges.tolist() == [2 if directed else 4]


def test_gml(tmp_path: Path) -> None:
    text = """graph [ directed 1 target 3
      node [ id 7 label "a" ] node [ id 9 label "a" ] edge [ source 9 target 7 weight 2.5 ] ]"""
    data = gramlet.read(put(tmp_path / "g.gml", text))
    assert data.graphs == GraphBatch.from_edges(
        [[(1, 0)]], node_labels=[["a", "a"]], edge_weights=[[2.5]], directed=True
    )
    assert data.target.tolist() == [3]


def test_several_graphs_with_targets_and_ids(tmp_path: Path) -> None:
    lines = [
        json.dumps({"graph": {"id": f"g{i}", "y": i % 2}, "nodes": [{"id": 0}], "edges": []})
        for i in range(3)
    ]
    data = gramlet.read(put(tmp_path / "s.jsonl", "\n".join(lines) + "\n\n"))
    assert data.ids == ["g0", "g1", "g2"]
    assert data.target.tolist() == [0, 1, 0]
    as_list = put(tmp_path / "s.json", "[" + ",".join(lines) + "]")
    assert gramlet.read(as_list).graphs == data.graphs
    with pytest.raises(ColumnNotFoundError, match=r"called 'z' \(target=\); there are 'id', 'y'"):
        gramlet.read(as_list, "z")


def test_attributes_as_lists_and_as_columns(tmp_path: Path) -> None:
    as_list = {"nodes": [{"id": 0, "attr": [1, 2]}, {"id": 1, "attr": [3, 4]}]}
    as_columns = {"nodes": [{"attr_0": 1, "attr_1": 2}, {"attr_0": 3, "attr_1": 4}]}
    for i, content in enumerate((as_list, as_columns)):
        data = gramlet.read(put(tmp_path / f"{i}.json", json.dumps(content)))
        assert data.graphs.node_attributes.tolist() == [[1, 2], [3, 4]]


def test_columns_under_other_names(tmp_path: Path) -> None:
    content = {
        "nodes": [{"id": "u", "atom": "C", "mass": 12}, {"id": "v", "atom": "O", "mass": 16}],
        "edges": [{"source": "u", "target": "v", "order": 2}],
    }
    path = put(tmp_path / "m.json", json.dumps(content))
    with pytest.warns(UserWarning, match="carry data under") as caught:
        assert gramlet.read(path).graphs == GraphBatch.from_edges([[(0, 1)]])
    said = [str(each.message) for each in caught]
    assert len(said) == 2
    assert "nodes carry data under 'atom', 'mass', which is not read" in said[0]
    assert "edges carry data under 'order'" in said[1]
    named = gramlet.read(path, label="atom", attr="mass", edge_label="order").graphs
    assert list(named.node_labels) == ["C", "O"]
    assert named.node_attributes.tolist() == [[12], [16]]
    with pytest.raises(ValueError, match=r"no node has 'atoms' \(label=\)"):
        gramlet.read(path, label="atoms", edge_label="order")


def test_loops_and_parallel_edges_are_counted_once(tmp_path: Path) -> None:
    graph = nx.MultiGraph()
    graph.add_edges_from([(0, 1, {"weight": 1}), (0, 1, {"weight": 2}), (1, 0, {"weight": 3})])
    graph.add_edges_from([(2, 2, {"weight": 1}), (1, 2, {"weight": 4})])
    nx.write_graphml(graph, tmp_path / "m.graphml")
    put(tmp_path / "m.json", json.dumps(nx.node_link_data(graph, edges="edges")))
    for name in ("m.graphml", "m.json"):
        with pytest.warns(UserWarning, match="dropped") as caught:
            graphs = gramlet.read(tmp_path / name).graphs
        said = [str(each.message).partition(": ")[2] for each in caught]
        assert said == [
            "1 self-loop was dropped; graphs are simple.",
            "2 parallel edges were dropped; graphs are simple, and the first is kept.",
        ]
        assert {each.filename for each in caught} == {__file__}
        assert graphs == GraphBatch.from_edges([[(0, 1), (1, 2)]], edge_weights=[[1, 4]])


def test_opposite_arcs_that_differ_are_counted(tmp_path: Path) -> None:
    content = {
        "directed": True,
        "nodes": [{"id": 0}, {"id": 1}, {"id": 2}],
        "edges": [
            {"source": 0, "target": 1, "label": "a"},
            {"source": 1, "target": 0, "label": "b"},
            {"source": 1, "target": 2, "label": "c"},
            {"source": 2, "target": 1, "label": "c"},
        ],
    }
    path = put(tmp_path / "d.json", json.dumps(content))
    assert gramlet.read(path).graphs.n_edges.tolist() == [4]
    with pytest.warns(UserWarning, match="1 parallel edge was dropped"):
        graphs = gramlet.read(path, directed=False).graphs
    assert list(graphs.edge_labels) == ["a", "a", "c", "c"]


def test_directed_and_undirected_graphs_in_one_file(tmp_path: Path) -> None:
    rest = '"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1}]}'
    lines = [f'{{"directed": {directed}, {rest}' for directed in ("true", "false")]
    path = put(tmp_path / "b.jsonl", "\n".join(lines))
    with pytest.raises(ValueError, match=r"line 1 is directed and .*line 2 is undirected"):
        gramlet.read(path)
    assert gramlet.read(path, directed=False).graphs.n_edges.tolist() == [1, 1]


# graph6 and sparse6


def test_files_of_graph6_and_sparse6(tmp_path: Path) -> None:
    graphs = [nx.petersen_graph(), nx.path_graph(3), nx.empty_graph(0)]
    for name, encode in (("p.g6", nx.to_graph6_bytes), ("p.s6.gz", nx.to_sparse6_bytes)):
        content = b"".join(encode(graph) for graph in graphs)
        path = put(tmp_path / name, gzip.compress(content) if name.endswith("gz") else content)
        assert gramlet.read(path).graphs == gramlet.as_batch(graphs)
    path = put(tmp_path / "bad.g6", b"Bw\nBww\n\x01\nC\n")
    with pytest.raises(ValueError, match=r"bad.g6, line 2: 3 nodes need 1 characters; .* has 2"):
        gramlet.read(path)
    with pytest.warns(UserWarning, match="3 of 4 graphs"):
        data = gramlet.read(path, on_error="skip")
    assert len(data.graphs) == 1
    assert [each.place[-1] for each in data.skipped] == ["2", "3", "4"]


@pytest.mark.parametrize("line", [b"~~~~~~~~", b":~~~~~~~~", b"~", b":", b"~~??"])
def test_huge_numbers_of_nodes_allocate_nothing(tmp_path: Path, line: bytes) -> None:
    with pytest.raises(ValueError, match=r"x.g6, line 1: "):
        gramlet.read(put(tmp_path / "x.g6", line + b"\n"))


def test_many_nodes_without_edges_are_refused(tmp_path: Path) -> None:
    # Each line of five characters stands for 133,795 nodes.
    with pytest.raises(ValueError, match=r"x.s6, line 8: .* more than 1,000,000 nodes"):
        gramlet.read(put(tmp_path / "x.s6", b":~_ib\n" * 1000))


# Hostile and damaged files

LAUGHS = """<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">]>
<graphml><graph edgedefault="undirected"><node id="&b;"/></graph></graphml>"""
OUTSIDE = """<?xml version="1.0"?><!DOCTYPE g [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<graphml><graph edgedefault="undirected"><node id="&a;"/></graph></graphml>"""
DEEP = "<graphml>" + "<a>" * 5000 + "</a>" * 5000 + "</graphml>"


@pytest.mark.parametrize("kind", ["graphml", "gexf"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LAUGHS, "Refusing to read .*: it declares a DTD or XML entities"),
        (OUTSIDE, "Refusing to read .*: it declares a DTD or XML entities"),
        (DEEP, "nested more than 64 deep"),
        ("<graphml><graph", "line 1: not well-formed XML .*cut off"),
        ("", "not well-formed XML"),
        ("\x00\x01", "not well-formed XML"),
    ],
)
def test_hostile_xml(tmp_path: Path, kind: str, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gramlet.read(put(tmp_path / f"x.{kind}", text))


HEAD = '<graphml><key id="k" for="node" attr.name="label" attr.type="int"/>'


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            '<graph><node id="a"><data key="k">x</data></node></graph>',
            r"x.graphml cannot be read as GraphML \(invalid literal .*'x'",
        ),
        ('<graph><node id="a"/><node id="a"/></graph>', "line 1: two nodes of one graph .* 'a'"),
        ('<graph><edge source="a"/></graph>', "an edge is outside of a graph or has no source"),
        ('<graph><edge source="a" target="b"/></graph>', "ends at 'a', which is not a node"),
        ("<node/>", "a node is outside of a graph"),
        ("<graph><hyperedge/></graph>", "hyperedges are not supported"),
        ('<graph><node id="a"><graph/></node></graph>', "a graph inside of a node"),
        ("", "has no graphs"),
        (
            '<graph><node id="a"/><edge source="a" target="a" directed="true"/></graph>',
            "directed=true edge found in undirected graph",
        ),
        (
            '<graph><node id="a"><data key="k">1</data></node><node id="b"/></graph>',
            "node 'b' has no label, but node 'a' has",
        ),
    ],
)
def test_graphml_that_is_no_graph(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gramlet.read(put(tmp_path / "x.graphml", HEAD + body + "</graphml>"))


def test_graphml_defaults_types_and_drawings(tmp_path: Path) -> None:
    text = """<graphml xmlns:y="u"><key id="c" for="node" attr.name="label" attr.type="string">
      <default>grey</default></key><key id="w" for="edge" attr.name="weight" attr.type="double"/>
      <key id="d" for="node"/><key id="b" for="graph" attr.name="class" attr.type="boolean"/>
      <graph edgedefault="directed"><data key="b">true</data>
      <node id="n0"><data key="d"><y:Shape><y:Label>drawn</y:Label></y:Shape></data></node>
      <node id="n1"><data key="c"> red </data></node>
      <edge source="n1" target="n0"><data key="w">1e3</data></edge></graph></graphml>"""
    data = gramlet.read(put(tmp_path / "x.graphml", text))
    assert list(data.graphs.node_labels) == ["grey", " red "]
    assert data.graphs.edge_weights.tolist() == [1000.0]
    assert data.target.tolist() == [True]
    assert data.graphs.directed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("{", r"x.json: not valid JSON"),
        ("3", "not a node-link graph"),
        ('{"nodes": 3}', "needs a list 'nodes'"),
        ('{"nodes": [3]}', "node 0 is not an object"),
        ('{"nodes": [{"id": 1}], "adjacency": [[]]}', "write it with networkx's node_link_data"),
        ('{"nodes": [], "edges": [{"source": 1}]}', "edge 0 has no 'source' and 'target'"),
        ('{"nodes": [], "edges": [{"source": 1, "target": 2}]}', "ends at 1, which is not a node"),
        ('{"nodes": [{"id": 1}, {"id": 1}]}', "two nodes have the id 1"),
        ('{"nodes": [{"id": {}}]}', "must be a string or a number"),
        (
            '{"nodes": [{"id": 1, "attr": "x"}]}',
            "'attr' of node 1 is 'x'; attributes must be finite",
        ),
        ('{"nodes": [{"id": 1, "attr": 1e999}]}', "must be finite numbers"),
        ('{"nodes": [{"id": 1, "attr": NaN}]}', "NaN is not a JSON number"),
        ('{"nodes": [{"id": 1, "label": {}}]}', "Labels must be hashable.*type dict"),
        ('{"nodes": [{"attr": [1]}, {"attr": [1, 2]}]}', "vectors of one length"),
        ('{"nodes": [{"attr_0": null}]}', r"attr. of node 0 is .None,.; attributes must be finite"),
        ('{"nodes": [], "directed": 1}', "'directed' true or false"),
        ('{"nodes": [], "graph": {"target": [1]}}', "the target 'target' is a list"),
        ('{"nodes": [], "graph": {"target": null}}', "the target 'target' is missing"),
        ("[]", "has no graphs"),
        ('{"nodes": [], "graph": {"gramlet": "{"}}', "notes of gramlet are damaged"),
    ],
)
def test_json_that_is_no_graph(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gramlet.read(put(tmp_path / "x.json", text))


def test_bad_lines_may_be_left_out(tmp_path: Path) -> None:
    good = '{"nodes": [{"id": 0}], "graph": {"y": %d}}'
    text = "\n".join([good % 0, "{", good % 1, '{"nodes": 1}', good % 2])
    path = put(tmp_path / "x.jsonl", text)
    with pytest.raises(ValueError, match=r"x.jsonl, line 2: not valid JSON"):
        gramlet.read(path)
    with pytest.warns(UserWarning, match="2 of 5 graphs were left out"):
        data = gramlet.read(path, on_error="skip")
    assert data.target.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="none of 1 graph can be read"):
        gramlet.read(put(tmp_path / "y.jsonl", "{\n"), on_error="skip")


@pytest.mark.parametrize("kind", ["gml", "gexf", "graphml"])
@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9, 0.97])
def test_cut_off_files(tmp_path: Path, kind: str, cut: float) -> None:
    graph = nx.relabel_nodes(nx.petersen_graph(), str)
    path = tmp_path / f"p.{kind}"
    getattr(nx, f"write_{kind}")(graph, path)
    whole = path.read_bytes()
    with pytest.raises(ValueError, match=rf"p\.{kind}"):
        gramlet.read(put(path, whole[: int(len(whole) * cut)]))


def test_columns_that_only_some_graphs_have(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", '{"nodes": [{"label": 1}]}\n{"nodes": [{}]}\n{"nodes": []}\n')
    with pytest.raises(ValueError, match=r"line 1 has node_labels and .*line 2 has none"):
        gramlet.read(path)


# Names of nodes that formats call labels


@pytest.mark.parametrize("ending", ["gml", "gexf"])
def test_ids_that_networkx_writes_as_labels_are_no_labels(tmp_path: Path, ending: str) -> None:
    graph = nx.path_graph(5)
    path = tmp_path / f"x.{ending}"
    getattr(nx, f"write_{ending}")(graph, path)
    with pytest.warns(UserWarning, match="labels of nodes are their ids"):
        data = gramlet.read(path)
    assert data.graphs == gramlet.as_batch([graph])
    assert len(gramlet.read(path, label="label").graphs.node_labels.categories) == 5
    nx.set_node_attributes(graph, {node: "ab"[node % 2] for node in graph}, "kind")
    getattr(nx, f"write_{ending}")(graph, path)
    assert len(gramlet.read(path, label="kind").graphs.node_labels.categories) == 2


def test_labels_that_look_like_names_are_kept_with_a_warning(tmp_path: Path) -> None:
    graph = nx.relabel_nodes(nx.path_graph(5), dict(enumerate("vwxyz")))
    nx.set_node_attributes(graph, "if", "kind")
    nx.write_gml(graph, tmp_path / "x.gml")
    with pytest.warns(UserWarning, match=r"these may be names. label= takes .* \('kind'\)"):
        data = gramlet.read(tmp_path / "x.gml")
    assert len(data.graphs.node_labels.categories) == 5


def test_labels_of_graphml_are_labels_whatever_they_are(tmp_path: Path) -> None:
    graph = nx.path_graph(5)
    nx.set_node_attributes(graph, {node: str(node) for node in graph}, "label")
    nx.write_graphml(graph, tmp_path / "x.graphml")
    assert len(gramlet.read(tmp_path / "x.graphml").graphs.node_labels.categories) == 5


def test_a_name_that_no_node_has_is_answered_with_those_there_are(tmp_path: Path) -> None:
    nx.write_graphml(example(), tmp_path / "x.graphml")
    with pytest.raises(
        ValueError, match=r"no node has 'lable' \(label=\); nodes have 'attr', 'lab"
    ):
        gramlet.read(tmp_path / "x.graphml", label="lable")


def test_gml_may_be_utf8_and_nothing_else(tmp_path: Path) -> None:
    text = 'graph [\n node [ id 0 label "é" ]\n node [ id 1 label "b" ]\n]\n'
    data = gramlet.read(put(tmp_path / "x.gml", text))
    assert list(data.graphs.node_labels.categories) == ["é", "b"]
    with pytest.raises(ValueError, match=r"y.gml, line 2: this is not text in UTF-8"):
        gramlet.read(put(tmp_path / "y.gml", text.encode("latin-1")))


@pytest.mark.parametrize("ending", ["graphml", "gexf"])
def test_xml_in_another_encoding_is_not_called_cut_off(tmp_path: Path, ending: str) -> None:
    graph = nx.Graph()
    graph.add_node("n", label="caffe")
    path = tmp_path / f"x.{ending}"
    getattr(nx, f"write_{ending}")(graph, path)
    put(path, path.read_text().replace("caffe", "caffé").encode("latin-1"))
    with pytest.raises(ValueError, match=rf"x.{ending}, line \d+: .*Save it as UTF-8"):
        gramlet.read(path)


def test_nothing_readable_is_said_before_a_target_is_looked_for(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", "{}\n{}\n")
    with pytest.raises(ValueError, match=r"none of 2 graphs can be read; the first is .*line 1"):
        gramlet.read(path, target="y", on_error="skip")


UNUSABLE = {
    "weight": (
        {"weight": "heavy"},
        {},
        r"the 'weight' of edge \(0, 1\) is 'heavy'; weights must be",
    ),
    "infinite": ({"weight": 1e999}, {}, r"edge \(0, 1\) is inf; weights must be finite numbers"),
    "no label": ({"weight": 1}, {"label": None}, "node 1 has no label, but node 0 has"),
    "label": ({"weight": 1}, {"label": {"a": 1}}, "Labels must be hashable.*type dict: .*a.: 1"),
    "attributes": ({"weight": 1}, {"attr": [1, 2]}, "node attributes must be .* of one length"),
}


def line(number: int, edge: dict[str, object], node: dict[str, object]) -> str:
    nodes = [{"id": i, "label": "a", "attr": [i]} for i in range(2)]
    nodes[1] |= node
    return json.dumps(
        {
            "graph": {"id": f"g{number}", "y": number},
            "nodes": nodes,
            "edges": [{"source": 0, "target": 1, **edge}],
        }
    ).replace("Infinity", "1e999")


@pytest.mark.parametrize("defect", UNUSABLE)
@pytest.mark.parametrize("in_folder", [False, True])
def test_a_graph_that_cannot_be_used_may_be_left_out(
    tmp_path: Path, defect: str, in_folder: bool
) -> None:
    edge, node, reason = UNUSABLE[defect]
    lines = [line(0, {"weight": 1}, {}), line(1, edge, node), line(2, {"weight": 1}, {})]
    if in_folder:
        path, place = tmp_path, "g1.json"
        for i, text in enumerate(lines):
            put(tmp_path / f"g{i}.json", text)
    else:
        path, place = put(tmp_path / "x.jsonl", "\n".join(lines)), "x.jsonl, line 2"
    with pytest.raises(ValueError, match=f'{place}: .*{reason}.* on_error="skip"'):
        gramlet.read(path)
    with pytest.warns(UserWarning, match="1 of 3 (graphs|files) were left out"):
        data = gramlet.read(path, on_error="skip")
    assert (data.ids, data.target.tolist(), len(data.graphs)) == (["g0", "g2"], [0, 2], 2)
    assert [each.place.endswith(place) for each in data.skipped] == [True]


def test_a_file_of_a_folder_with_a_table_that_cannot_be_used_may_be_left_out(
    tmp_path: Path,
) -> None:
    for i, weight in enumerate((1.0, float("nan"), 2.0)):
        nx.write_graphml(nx.Graph([("u", "v", {"weight": weight})]), tmp_path / f"g{i}.graphml")
    put(tmp_path / "table.csv", "file,y\ng2,5\ng1,6\ng0,7\n")
    with pytest.raises(ValueError, match=r"g1.graphml: .* edge \('u', 'v'\) is nan; weights must"):
        gramlet.read(tmp_path)
    with pytest.warns(UserWarning, match="1 of 3 files were left out"):
        data = gramlet.read(tmp_path, on_error="skip")
    assert (data.ids, data.target.tolist()) == (["g2", "g0"], [5, 7])
    assert data.graphs.edge_weights.tolist() == [2, 2, 1, 1]


def test_a_graph_of_a_graphml_file_with_a_stray_edge_may_be_left_out(tmp_path: Path) -> None:
    graph = '<graph edgedefault="undirected"><node id="a"/><node id="b"/>%s</graph>'
    edge = '<edge source="a" target="%s"/>'
    text = f"<graphml>{graph % (edge % 'b')}{graph % (edge % 'x')}{graph % ''}</graphml>"
    path = put(tmp_path / "x.graphml", text)
    with pytest.raises(ValueError, match=r"x.graphml, graph 1: an edge ends at 'x', which is not"):
        gramlet.read(path)
    with pytest.warns(UserWarning, match="1 of 3 graphs were left out"):
        assert gramlet.read(path, on_error="skip").graphs.n_edges.tolist() == [1, 0]


GEXF = '<gexf version="1.2"><graph><nodes>{}</nodes><edges>{}</edges></graph></gexf>'


@pytest.mark.parametrize(
    ("nodes", "edges", "message"),
    [
        ('<node id="0"/><node id="1"/>', '<edge id="0" source="0" target="9"/>', "ends at '9'"),
        (
            '<node id="0" label="C"/><node id="0" label="D"/>',
            "",
            "two nodes of one graph have the id '0'",
        ),
    ],
)
def test_gexf_nodes_that_edges_lack_or_repeat(nodes, edges, message, tmp_path: Path) -> None:
    path = put(tmp_path / "g.gexf", GEXF.format(nodes, edges))
    with pytest.raises(ValueError, match=message):
        gramlet.read(path)


def test_a_repeated_edge_in_gml_is_named_unless_it_is_a_multigraph(tmp_path: Path) -> None:
    text = """graph [ %s node [ id 0 ] node [ id 1 ]
    edge [ source 0 target 1 label "a" ] edge [ source 1 target 0 label "b" ] ]"""
    with pytest.raises(ValueError, match=r"g.gml cannot be .*edge #1 \(1--0\) is duplicated"):
        gramlet.read(put(tmp_path / "g.gml", text % ""))
    with pytest.warns(UserWarning, match="parallel"):
        data = gramlet.read(put(tmp_path / "g.gml", text % "multigraph 1"))
    assert data.graphs == GraphBatch.from_edges([[(0, 1)]], n_nodes=[2], edge_labels=[["a"]])


def test_all_graphs_of_a_gml_file(tmp_path: Path) -> None:
    one = 'graph [ target %d node [ id 4 label "graph [" ] ]'
    data = gramlet.read(put(tmp_path / "g.gml", f"# two\n{one % 1}\n{one % 2}\n"))
    assert data.target.tolist() == [1, 2]
    assert list(data.graphs.node_labels) == ["graph [", "graph ["]


@pytest.mark.parametrize("xmlns", ["", ' xmlns="http://graphml.graphdrawing.org/xmlns/1.0rc"'])
def test_all_graphs_of_a_graphml_file_in_any_namespace(tmp_path: Path, xmlns: str) -> None:
    graph = '<graph edgedefault="undirected"><node id="a"/><node id="b"/>%s</graph>'
    edge = '<edge source="a" target="b"/>'
    text = f"<graphml{xmlns}>{graph % edge}{graph % ''}</graphml>"
    data = gramlet.read(put(tmp_path / "x.graphml.gz", gzip.compress(text.encode())))
    assert data.graphs.n_edges.tolist() == [1, 0]


def test_edges_and_links_at_once(tmp_path: Path) -> None:
    both = {"nodes": [{"id": 0}, {"id": 1}], "links": [], "edges": [{"source": 0, "target": 1}]}
    with pytest.raises(ValueError, match="both 'edges' and 'links'"):
        gramlet.read(put(tmp_path / "g.jsonl", json.dumps(both)))


@pytest.mark.parametrize("text", ["graph [ node 5 ]", "graph [ node [ id 0 ", "graph 3", ""])
def test_damaged_gml_is_one_line(text, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"g\.gml cannot be read as GML \("):
        gramlet.read(put(tmp_path / "g.gml", text))
