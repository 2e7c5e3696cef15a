"""The TU format: what comes back is what was written, and every flaw is named by file and line."""

from __future__ import annotations

import pickle
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gramlet import GraphBatch, read_tu, write_tu
from gramlet.files.dataset import Dataset, DatasetNotFoundError
from gramlet.files.tu.digits import parse_digits
from gramlet.files.tu.text import parse_floats, parse_integers
from reference.strategies import graph_batches

# Two graphs: a path of three nodes and one edge.
GOOD = {
    "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n",
    "graph_indicator": "1\n1\n1\n2\n2\n",
    "graph_labels": "1\n-1\n",
    "node_labels": "0\n7\n0\n7\n7\n",
    "edge_labels": "0\n0\n1\n1\n2\n2\n",
    "node_attributes": "0.5, 1\n1, 2\n2, 3\n3, 4\n4, -5e-3\n",
}


def put(folder: Path, name: str = "SET", **changes: str | None) -> Path:
    """Write the good files with changes; None leaves one out."""
    folder = folder / name
    folder.mkdir(parents=True, exist_ok=True)
    for role, text in {**GOOD, **changes}.items():
        if text is not None:
            (folder / f"{name}_{role}.txt").write_text(text, encoding="utf-8")
    return folder


def pack(folder: Path, archive: Path, prefix: str = "") -> Path:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.iterdir()):
            packed.write(file, prefix + f"{folder.name}/{file.name}")
    return archive


# Reading


def test_reads_every_file(tmp_path: Path) -> None:
    data = read_tu(put(tmp_path))
    assert data.name == "SET"
    assert data.target.tolist() == [1, -1]
    assert data.graphs == GraphBatch.from_edges(
        [[(0, 1), (1, 2)], [(0, 1)]],
        node_labels=[[0, 7, 0], [7, 7]],
        edge_labels=[[0, 1], [2]],
        node_attributes=[[[0.5, 1], [1, 2], [2, 3]], [[3, 4], [4, -0.005]]],
    )
    assert type(data.graphs.node_labels[1]) is int


@pytest.mark.parametrize("separator", [",", ", ", " ,\t", ",  "])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", " \n"])
def test_separators_and_line_ends_do_not_matter(
    tmp_path: Path, separator: str, line_end: str
) -> None:
    plain = read_tu(put(tmp_path / "plain"))
    folder = tmp_path / "SET"
    folder.mkdir()
    for role, text in GOOD.items():
        other = text.replace(", ", separator).replace("\n", line_end)
        (folder / f"SET_{role}.txt").write_bytes(other.encode() + b"\n\n")
    assert read_tu(folder).graphs == plain.graphs


def test_last_line_needs_no_end_and_a_mark_at_the_start_is_skipped(tmp_path: Path) -> None:
    folder = put(tmp_path, graph_labels="\ufeff1\n-1")
    assert read_tu(folder).target.tolist() == [1, -1]


def test_ways_to_name_a_data_set(tmp_path: Path) -> None:
    folder = put(tmp_path)
    expected = read_tu(folder).graphs
    archive = pack(folder, tmp_path / "packed.zip")
    pack(folder, tmp_path / "deep.zip", prefix="some/where/")
    nested = put(tmp_path / "outer" / "SET").parent
    raw = tmp_path / "pyg" / "raw"
    raw.parent.mkdir()
    (tmp_path / "pyg" / "SET").mkdir()
    put(tmp_path / "pyg").rename(raw)
    for path in (
        str(folder),
        archive,
        tmp_path / "packed",
        tmp_path / "deep.zip",
        folder / "SET",
        nested,
        raw.parent,
    ):
        assert read_tu(path).graphs == expected, path


def test_two_data_sets_in_a_folder_must_be_told_apart(tmp_path: Path) -> None:
    folder = put(tmp_path)
    for role, text in GOOD.items():
        (folder / f"OTHER_{role}.txt").write_text(text)
    assert read_tu(folder).name == "SET"  # the folder's own name decides
    renamed = folder.rename(tmp_path / "both")
    with pytest.raises(ValueError, match=r"2 data sets \(OTHER, SET\)"):
        read_tu(renamed)
    assert read_tu(renamed / "OTHER").name == "OTHER"


def test_repeated_arcs_and_single_directions_are_one_edge(tmp_path: Path) -> None:
    doubled = put(tmp_path / "a", A=GOOD["A"] * 2, edge_labels=GOOD["edge_labels"] * 2)
    single = put(tmp_path / "b", A="2,1\n2,3\n5,4\n", edge_labels="0\n1\n2\n")
    assert read_tu(doubled).graphs == read_tu(single).graphs == read_tu(put(tmp_path)).graphs


def test_self_loops_are_dropped_with_one_warning(tmp_path: Path) -> None:
    folder = put(tmp_path, A="1,1\n" + GOOD["A"] + "4,4\n", edge_labels="9\n0\n0\n1\n1\n2\n2\n9\n")
    with pytest.warns(UserWarning, match="2 self-loops were dropped") as caught:
        data = read_tu(folder)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert data.graphs == read_tu(put(tmp_path / "plain")).graphs


def test_isolated_nodes_and_empty_graphs_stay(tmp_path: Path) -> None:
    folder = put(
        tmp_path,
        A="1,2\n",
        graph_indicator="2\n2\n2\n4\n",
        graph_labels="5\n6\n7\n8\n9\n",
        node_labels=None,
        edge_labels=None,
        node_attributes=None,
    )
    graphs = read_tu(folder).graphs
    assert graphs.sizes.tolist() == [0, 3, 0, 1, 0]
    assert graphs.n_edges.tolist() == [0, 1, 0, 0, 0]


def test_empty_files_are_a_data_set_without_nodes(tmp_path: Path) -> None:
    folder = put(tmp_path, **dict.fromkeys(GOOD, ""))
    assert len(read_tu(folder).graphs) == 0


def test_nodes_out_of_order_are_sorted_with_their_columns(tmp_path: Path) -> None:
    sorted_ = read_tu(put(tmp_path))
    # The five nodes in the order 4, 1, 5, 2, 3 of the sorted files.
    shuffled = put(
        tmp_path / "other",
        A="2,4\n4,2\n4,5\n5,4\n1,3\n3,1\n",
        graph_indicator="2\n1\n2\n1\n1\n",
        node_labels="7\n0\n7\n7\n0\n",
        node_attributes="3, 4\n0.5, 1\n4, -5e-3\n1, 2\n2, 3\n",
    )
    assert read_tu(shuffled).graphs == sorted_.graphs


def test_labels_in_columns_are_tuples(tmp_path: Path) -> None:
    data = read_tu(put(tmp_path, node_labels="0,1\n0,2\n0,1\n3,1\n0,1\n"))
    assert list(data.graphs.node_labels) == [(0, 1), (0, 2), (0, 1), (3, 1), (0, 1)]


def test_integral_floats_pass_for_integers(tmp_path: Path) -> None:
    data = read_tu(put(tmp_path, graph_labels="1.0\n-1e0\n"))
    assert data.target.tolist() == [1, -1]
    assert data.target.dtype == np.int64


def test_graph_attributes_are_the_target_where_there_are_no_labels(tmp_path: Path) -> None:
    both = read_tu(put(tmp_path / "both", graph_attributes="0.25\n1e300\n"))
    assert both.target.tolist() == [1, -1]
    assert both.graph_attributes.tolist() == [0.25, 1e300]
    alone = read_tu(put(tmp_path / "alone", graph_labels=None, graph_attributes="1,2\n3,4\n"))
    assert alone.target.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    neither = read_tu(put(tmp_path / "neither", graph_labels=None))
    assert neither.target is None
    assert len(neither.graphs) == 2


def test_edge_attributes_become_weights_only_if_asked(tmp_path: Path) -> None:
    folder = put(tmp_path, edge_attributes="1\n1\n.5\n.5\n3\n3\n")
    assert read_tu(folder).graphs.edge_weights is None
    assert read_tu(folder).graphs.edge_attributes[:, 0].tolist() == [1, 1, 0.5, 0.5, 3, 3]
    weighted = read_tu(folder, edge_weights=True).graphs
    assert weighted.adjacency(0, weighted=True).tolist() == [[0, 1, 0], [1, 0, 0.5], [0, 0.5, 0]]
    with pytest.raises(ValueError, match=r"SET_edge_attributes.txt, line 1: .*one number"):
        read_tu(put(tmp_path / "two", edge_attributes="1,2\n" * 6), edge_weights=True)
    with pytest.raises(ValueError, match=r"SET_edge_attributes.txt is missing"):
        read_tu(put(tmp_path / "none"), edge_weights=True)


def test_names_of_labels_come_from_the_readme(tmp_path: Path) -> None:
    folder = put(tmp_path)
    text = "About\n\nNode labels:\n\n  0  C\n  7  a long name\n\nEdge labels:\n 0 x\n"
    (folder / "README.txt").write_bytes(text.replace("\n", "\r\n").encode())
    data = read_tu(folder)
    assert data.description.startswith("About\n\nNode labels:")
    assert data.node_label_names == {0: "C", 7: "a long name"}
    assert data.edge_label_names == {0: "x"}


# Flaws


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"A": "1,2\n2,x\n"}, r"SET_A.txt, line 2: 'x' is not a number"),
        ({"A": "1,2\n2,1.5\n"}, r"SET_A.txt, line 2: 1.5 is not an integer"),
        ({"A": "1,2\n\n2,1\n"}, r"SET_A.txt, line 2: the line is empty"),
        ({"A": "1,2\n2,1,3\n"}, r"SET_A.txt, line 2: 3 numbers where the lines above have 2"),
        ({"A": "1,2\n2,\n"}, r"SET_A.txt, line 2: a number is missing; is the file cut off"),
        ({"A": "1,2\n2 1\n"}, r"SET_A.txt, line 2: '2 1' is not a number"),
        ({"A": "1\n2\n"}, r"SET_A.txt, line 1: a line holds the two nodes.*got 1 columns"),
        ({"A": "1,2,3\n"}, r"SET_A.txt, line 1: .*got 3 columns"),
        ({"A": "1,2\n0,1\n"}, r"SET_A.txt, line 2: the edge \(0, 1\).*numbered 1 to 5"),
        ({"A": "1,2\n1,6\n"}, r"SET_A.txt, line 2: the edge \(1, 6\).*numbered 1 to 5"),
        ({"A": "1,2\n3,4\n"}, r"SET_A.txt, line 2: .*joins a node of graph 1 to one of graph 2"),
        ({"A": "1,99999999999999999999\n"}, r"SET_A.txt, line 1: .*too large for a 64-bit"),
        ({"A": "1,1_0\n"}, r"SET_A.txt, line 1: '1_0' is not a number"),
        ({"A": None}, r"SET_A.txt is missing"),
        ({"graph_indicator": "1\n1\n1\n2\n3\n"}, r"indicator.txt, line 5: graph 3.*1 to 2"),
        ({"graph_indicator": "0\n0\n0\n1\n1\n"}, r"indicator.txt, line 1: graph 0.*1 to 2"),
        (
            {"graph_indicator": "1\n1\n1\n2\n-9223372036854775808\n"},
            r"indicator.txt, line 5: graph -9223372036854775808 does not exist",
        ),
        (
            {"graph_indicator": "1\n1\n1\n2\n900000000000\n", "graph_labels": None},
            r"indicator.txt, line 5: graph 900000000000 would leave more than 10,000,000",
        ),
        (
            {"graph_indicator": "-3\n" * 5, "graph_labels": None},
            r"indicator.txt, line 1: graph -3 does not exist",
        ),
        ({"graph_indicator": "1,1\n"}, r"indicator.txt, line 1: .*got 2 columns"),
        ({"graph_labels": "1\nno\n"}, r"SET_graph_labels.txt, line 2: 'no' is not a number"),
        (
            {"node_labels": "0\n7\n0\n7\n"},
            r"SET_node_labels.txt, line 5 is missing: the file has 4 lines, but "
            r"SET_graph_indicator.txt lists 5 nodes",
        ),
        ({"node_labels": "0\n" * 7}, r"SET_node_labels.txt, line 6 is one too many"),
        (
            {"edge_labels": "0\n" * 5},
            r"SET_edge_labels.txt, line 6 is missing: .*SET_A.txt lists 6 edges",
        ),
        ({"node_attributes": "1\n"}, r"SET_node_attributes.txt, line 2 is missing"),
        ({"node_attributes": "1\n2\nnan\n4\n5\n"}, r"attributes.txt, line 3: nan is not a finite"),
        (
            {"node_attributes": "1\n2\n3\n4\n-inf\n"},
            r"attributes.txt, line 5: -inf is not a finite",
        ),
        ({"graph_attributes": "1\n2\n3\n"}, r"graph_attributes.txt, line 3 is one too many"),
        ({"graph_labels": "1\n1 2\n"}, r"SET_graph_labels.txt, line 2: '1 2' is not a number"),
        ({"node_labels": "0\n7\n0;1\n7\n7\n"}, r"node_labels.txt, line 3: '0;1' is not a number"),
        ({"edge_labels": "0\n" * 5 + "1,2\n"}, r"edge_labels.txt, line 6: 2 numbers where the"),
        ({"edge_attributes": "1\n" * 5 + "x\n"}, r"edge_attributes.txt, line 6: 'x' is not a num"),
        ({"edge_attributes": "1\n" * 5}, r"edge_attributes.txt, line 6 is missing"),
        ({"A": "1,2\n1,1000000000000000000\n"}, r"SET_A.txt, line 2: .*numbered 1 to 5"),
        ({"A": "1,2\n1,300000000\n"}, r"SET_A.txt, line 2: .*numbered 1 to 5"),
    ],
)
def test_flaws_are_named_by_file_and_line(
    tmp_path: Path, changes: dict[str, str | None], message: str
) -> None:
    folder = put(tmp_path, **changes)
    with pytest.raises(ValueError, match=message):
        read_tu(folder)
    if changes.get("A", "") is not None:
        with pytest.raises(ValueError, match=message):
            read_tu(pack(folder, tmp_path / "SET.zip"))


def test_the_first_of_parallel_edges_is_kept_with_one_warning(tmp_path: Path) -> None:
    folder = put(
        tmp_path,
        edge_labels="0\n5\n1\n1\n2\n6\n",
        edge_attributes="1,1\n1,1\n.5,0\n.5,3\n3,3\n3,3\n",
    )
    with pytest.warns(UserWarning, match="SET_A.txt: 3 lines left out") as caught:
        graphs = read_tu(folder).graphs
    assert len(caught) == 1
    assert list(graphs.edge_labels) == [0, 0, 1, 1, 2, 2]
    assert graphs.edge_attributes.tolist() == [[1, 1], [1, 1], [0.5, 0], [0.5, 0], [3, 3], [3, 3]]


def test_directed_files(tmp_path: Path) -> None:
    folder = put(
        tmp_path,
        A="1,2\n2,1\n3,2\n4,5\n4,5\n",
        edge_labels="0\n5\n1\n2\n3\n",
        edge_attributes="1\n2\n3\n4\n4\n",
    )
    with pytest.warns(UserWarning, match="1 line left out"):
        graphs = read_tu(folder, directed=True).graphs
    assert graphs == GraphBatch.from_edges(
        [[(0, 1), (1, 0), (2, 1)], [(0, 1)]],
        node_labels=[[0, 7, 0], [7, 7]],
        edge_labels=[[0, 5, 1], [2]],
        node_attributes=[[[0.5, 1], [1, 2], [2, 3]], [[3, 4], [4, -0.005]]],
        edge_attributes=[[[1], [2], [3]], [[4]]],
        directed=True,
    )
    plain = put(tmp_path / "plain", A="1,2\n3,2\n4,5\n4,5\n", edge_labels=None)
    assert read_tu(plain, directed=True).graphs.n_edges.tolist() == [2, 1]
    assert not read_tu(plain).graphs.directed


def test_directed_graphs_with_edge_attributes_come_back(tmp_path: Path) -> None:
    graphs = GraphBatch.from_edges(
        [[(0, 1), (1, 0)], []],
        n_nodes=[2, 1],
        edge_weights=[[1, 2], []],
        edge_attributes=[[[0.1, 0.2], [0.3, 0.4]], None],
        directed=True,
    )
    write_tu(graphs, tmp_path / "NEW.zip", [0.5, 1])
    back = read_tu(tmp_path / "NEW.zip").graphs
    assert back.directed
    assert back == graphs
    assert read_tu(tmp_path / "NEW.zip", edge_weights=False).graphs.edge_attributes.shape == (2, 3)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DatasetNotFoundError, match=r"nowhere does not exist, nor does nowhere.zip"):
        read_tu(tmp_path / "nowhere")
    with pytest.raises(DatasetNotFoundError, match="holds no TU data set"):
        read_tu(tmp_path)
    with zipfile.ZipFile(tmp_path / "else.zip", "w") as archive:
        archive.writestr("readme", "nothing")
    with pytest.raises(DatasetNotFoundError, match=r"else.zip holds no TU data set"):
        read_tu(tmp_path / "else.zip")
    # Both a missing file and a wrong value, to whoever catches it.
    assert issubclass(DatasetNotFoundError, FileNotFoundError)
    assert issubclass(DatasetNotFoundError, ValueError)


@pytest.mark.parametrize(
    "member", ["../SET_A.txt", "/etc/SET_A.txt", "SET/../../x", "C:/SET_A.txt", "..\\SET_A.txt"]
)
def test_archives_that_reach_outside_are_refused(tmp_path: Path, member: str) -> None:
    archive = pack(put(tmp_path), tmp_path / "evil.zip")
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr(member, "1,2\n")
    with pytest.raises(ValueError, match="points outside"):
        read_tu(archive)
    assert not (tmp_path.parent / "SET_A.txt").exists()


def test_archives_that_blow_up_are_refused(tmp_path: Path) -> None:
    folder = put(tmp_path, A="1,2\n" * 2_000_000)
    archive = pack(folder, tmp_path / "bomb.zip")
    assert archive.stat().st_size < 50_000
    with pytest.raises(ValueError, match=r"SET_A.txt.*the limit is 1,000,000.*raise max_bytes"):
        read_tu(archive, max_bytes=1_000_000)
    with pytest.raises(ValueError, match="the limit is 1,000,000"):
        read_tu(folder, max_bytes=1_000_000)


def test_damaged_archives(tmp_path: Path) -> None:
    whole = pack(put(tmp_path), tmp_path / "SET.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"cut.zip is not a readable zip archive"):
        read_tu(tmp_path / "cut.zip")
    start = whole.index(b"SET_A.txt") + len(b"SET_A.txt")
    (tmp_path / "flipped.zip").write_bytes(
        whole[:start] + bytes([whole[start] ^ 0xFF, whole[start + 1] ^ 0xFF]) + whole[start + 2 :]
    )
    with pytest.raises(ValueError, match=r"flipped.zip: SET/SET_A.txt cannot be read"):
        read_tu(tmp_path / "flipped.zip")


def test_litter_in_archives_is_passed_over(tmp_path: Path) -> None:
    archive = pack(put(tmp_path), tmp_path / "mac.zip")
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr("__MACOSX/SET/._SET_graph_indicator.txt", b"\0\1")
        packed.writestr("SET/._SET_A.txt", b"\0\1")
    assert len(read_tu(archive).graphs) == 2


@pytest.mark.parametrize(
    "spelling", ["{0}//{1}", "./{0}/{1}", "{0}\\{1}", "deep//{0}/./{1}", "{1}"]
)
def test_members_under_any_spelling(tmp_path: Path, spelling: str) -> None:
    folder = put(tmp_path)
    with zipfile.ZipFile(tmp_path / "SET.zip", "w") as packed:
        for file in folder.iterdir():
            packed.writestr(spelling.format("SET", file.name), file.read_bytes())
    assert read_tu(tmp_path / "SET.zip").graphs == read_tu(folder).graphs


def test_two_spellings_of_one_member_are_refused(tmp_path: Path) -> None:
    archive = pack(put(tmp_path), tmp_path / "SET.zip")
    with zipfile.ZipFile(archive, "a") as packed:
        packed.writestr("SET//SET_A.txt", "1,2\n")
    with pytest.raises(ValueError, match=r"SET/SET_A.txt is there twice"):
        read_tu(archive)


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED])
def test_damage_inside_of_packed_files(tmp_path: Path, method: int) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(1, 6, size=(5000, 2))
    folder = put(tmp_path, A="".join(f"{u},{v}\n" for u, v in rows), edge_labels=None)
    with zipfile.ZipFile(tmp_path / "SET.zip", "w", method) as packed:
        for file in sorted(folder.iterdir()):
            packed.write(file, f"SET/{file.name}")
        offset = packed.getinfo("SET/SET_A.txt").header_offset
    content = bytearray((tmp_path / "SET.zip").read_bytes())
    for place in range(offset + 800, offset + 830):
        content[place] ^= 0x55
    (tmp_path / "SET.zip").write_bytes(content)
    with pytest.raises(ValueError, match=r"SET.zip: SET(/SET)?_A.txt"):
        read_tu(tmp_path / "SET.zip")


def test_a_readme_of_blank_lines_takes_no_time(tmp_path: Path) -> None:
    folder = put(tmp_path)
    (folder / "README.txt").write_text("Node labels:\n" + " \n" * 300_000 + "0 C\n\n" * 3)
    start = time.process_time()
    assert read_tu(folder).node_label_names == {0: "C"}
    assert time.process_time() - start < 2


# Numbers in text


@given(
    st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**8 - 1)), min_size=1, max_size=30),
    st.integers(1, 40),
    st.sampled_from([",", ", ", " , "]),
    st.sampled_from(["\n", "\r\n", " \n"]),
    st.sampled_from(["", "\n", "\n\n \n"]),
)
def test_blocks_of_any_size_give_the_same_numbers(
    rows: list[tuple[int, int]], size: int, separator: str, line_end: str, rest: str
) -> None:
    written = line_end.join(f"{u}{separator}{v}" for u, v in rows) + rest
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gramlet.files.tu.text._BLOCK", size)
        assert parse_integers(written.encode(), "file").tolist() == [list(row) for row in rows]
        with pytest.raises(ValueError, match=rf"file, line {len(rows) + 1}: the line is empty"):
            parse_integers((written.rstrip() + "\n \n\n1,2").encode(), "file")


@given(st.lists(st.lists(st.integers(0, 10**8 - 1), min_size=3, max_size=3), min_size=1))
def test_digits_eight_at_once(rows: list[list[int]]) -> None:
    body = "".join(",".join(map(str, row)) + "\n" for row in rows).encode()
    table = parse_digits(body, 3)
    assert table is not None
    assert table.tolist() == rows
    assert parse_digits(body, 2) is None
    for damage in (b"-", b"x", b",", b"\n", b"\r"):
        assert parse_digits(damage + body, 3) is None
        if damage != b"\r" or len(rows) > 1:  # a single row may end in a carriage return
            assert parse_digits(body[:-1] + damage + b"\n", 3) is None


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gramlet.files.tu.text._BLOCK", 100)
    monkeypatch.setattr("gramlet.files.tu.text.LONGEST_LINE", 1000)
    with pytest.raises(ValueError, match="file, line 2 is longer than 1,000 bytes"):
        parse_integers(b"1\n" + b"1" * 5000, "file")


@given(
    st.lists(
        st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-5, 5)), min_size=1, max_size=9
    )
)
def test_integers_are_exact(rows: list[tuple[int, int]]) -> None:
    text = "\n".join(f"{a},{b}" for a, b in rows).encode()
    assert parse_integers(text, "file").tolist() == [list(row) for row in rows]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_floats_are_exact(values: list[float]) -> None:
    text = "\n".join(map(repr, values)).encode()
    assert parse_floats(text, "file")[:, 0].tobytes() == np.array(values).tobytes()


@given(st.text(alphabet="0123456789,. \n-ex", max_size=25))
def test_any_text_is_a_table_or_an_error_with_a_line(text: str) -> None:
    """The fast way and a plain reading agree on every text."""
    lines = text.rstrip().split("\n") if text.strip() else []
    try:
        plain = [[float(field) for field in line.split(",")] for line in lines]
        sound = len({len(row) for row in plain}) <= 1
    except ValueError:
        sound = False
    sound = sound and bool(np.isfinite([x for row in plain for x in row]).all())
    if sound:
        assert parse_floats(text.encode(), "file").tolist() == plain
    else:
        with pytest.raises(ValueError, match=r"file, line \d+: "):
            parse_floats(text.encode(), "file")


# Writing

OPTIONS = {"max_examples": 60, "suppress_health_check": [HealthCheck.function_scoped_fixture]}


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
    assert sorted(p.name for p in folder.iterdir()) == [path.name]  # nothing is left beside it
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
    pytest.importorskip("gramlet.graphs.convert")
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
        ({"target": [["a", "b"]]}, ValueError, "several columns must hold numbers"),
        ({"target": np.array([object()])}, TypeError, "type object"),
        ({"name": "a/b"}, ValueError, "cannot begin the names"),
        ({"name": ""}, ValueError, "cannot begin the names"),
        ({"name": ".."}, ValueError, "cannot begin the names"),
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
        ('{"gramlet": 1, "values": {"node_labels": ["a", "b"]}}', "line 2: code 7 stands for none"),
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


# The container


def test_a_dataset_unpacks_and_knows_its_task() -> None:
    graphs = GraphBatch.from_edges([[(0, 1)], []], n_nodes=[2, 1])
    X, y = Dataset(graphs, [0.5, 1])
    assert X is graphs
    assert y.tolist() == [0.5, 1]
    assert Dataset(graphs, [0.5, 1]).task == "regression"
    assert Dataset(graphs, ["a", "b"]).task == "classification"
    assert Dataset(graphs).task is None
    assert Dataset(graphs, [[1, 2], [3, 4]]).task is None
    with pytest.raises(AttributeError, match="follows from the target"):
        Dataset(graphs).task = "regression"
    with pytest.raises(ValueError, match="ids has 1 entries for 2 graphs"):
        Dataset(graphs, ids=["a"])


def test_dataset_fields_by_attribute_and_key() -> None:
    graphs = GraphBatch.from_edges([[(0, 1)]])
    data = Dataset(graphs, [1], name="X", group=np.array([4]))
    assert data.group is data["group"]
    assert data.target_names is None
    assert "group" in dir(data)
    data.note = "mine"
    assert data["note"] == "mine"
    with pytest.raises(AttributeError, match="no field 'colour'; it has graphs, target"):
        _ = data.colour
    with pytest.raises(ValueError, match=r"shape \(2,\) for 1 graphs"):
        Dataset(graphs, [1, 2])
    back = pickle.loads(pickle.dumps(data))
    assert isinstance(back, Dataset)
    assert back.graphs == graphs
    assert back.note == "mine"


# The benchmark data


@pytest.mark.parametrize(
    ("name", "n_graphs", "n_nodes", "n_edges", "classes"),
    [
        ("MUTAG", 188, 3371, 3721, [-1, 1]),
        ("PTC_MR", 344, 4915, 5054, [-1, 1]),
        ("ENZYMES", 600, 19580, 37282, [1, 2, 3, 4, 5, 6]),
        ("PROTEINS", 1113, 43471, 81044, [1, 2]),
        ("NCI1", 4110, 122747, 132753, [0, 1]),
        ("IMDB-BINARY", 1000, 19773, 96531, [0, 1]),
        ("IMDB-MULTI", 1500, 19502, 98903, [1, 2, 3]),
    ],
)
def test_benchmark_data(
    shared_data: Path, name: str, n_graphs: int, n_nodes: int, n_edges: int, classes: list[int]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = read_tu(shared_data / f"{name}.zip")
    assert len(data.graphs) == n_graphs
    assert data.graphs.n_nodes_total == n_nodes
    assert data.graphs.n_edges.sum() == n_edges
    assert np.unique(data.target).tolist() == classes


@pytest.mark.parametrize(
    ("name", "n_graphs", "n_empty", "n_attributes", "n_classes"),
    [
        ("BZR_MD", 306, 0, 1, 2),
        ("Letter-high", 2250, 0, None, 15),
        ("Fingerprint", 2800, 651, 2, 15),
    ],
)
def test_archives_as_their_authors_ship_them(
    shared_data: Path,
    name: str,
    n_graphs: int,
    n_empty: int,
    n_attributes: int | None,
    n_classes: int,
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = read_tu(shared_data / "upstream" / f"{name}.zip")
    assert len(data.graphs) == n_graphs
    assert (data.graphs.sizes == 0).sum() == n_empty
    assert len(np.unique(data.target)) == n_classes
    found = data.graphs.edge_attributes
    assert (None if found is None else found.shape[1]) == n_attributes
    if name == "BZR_MD":
        assert data.edge_label_names == {
            0: "aromatic", 1: "no chemical bond", 2: "single", 3: "double", 4: "triple"
        }  # fmt: skip
        assert found[0, 0] == 1.386571072826777
    else:
        assert data.target_names[0] == {"Letter-high": "N", "Fingerprint": "L"}[name]


def test_benchmark_data_against_a_plain_reading(shared_data: Path) -> None:
    graphs = read_tu(shared_data / "ENZYMES.zip").graphs
    with zipfile.ZipFile(shared_data / "ENZYMES.zip") as archive:
        lines = {
            role: archive.read(f"ENZYMES/ENZYMES_{role}.txt").decode().split("\n")[:-1]
            for role in ("A", "graph_indicator", "node_labels", "node_attributes")
        }
    of_graph = [int(line) for line in lines["graph_indicator"]]
    start = {g: of_graph.index(g) for g in set(of_graph)}
    neighbours: dict[int, set[int]] = {}
    for line in lines["A"]:
        u, v = (int(field) - 1 for field in line.split(","))
        neighbours.setdefault(u, set()).add(v)
        neighbours.setdefault(v, set()).add(u)
    for i in (0, 17, 295, 599):
        first = start[i + 1]
        dense = graphs.adjacency(i)
        for u in range(len(dense)):
            assert {first + int(v) for v in np.flatnonzero(dense[u])} == neighbours.get(
                first + u, set()
            )
    assert list(graphs.node_labels) == [int(line) for line in lines["node_labels"]]
    row = [float(field) for field in lines["node_attributes"][12345].split(",")]
    assert graphs.node_attributes[12345].tolist() == row
