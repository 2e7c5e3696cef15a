"""Flaws of TU files and archives: each is named by file and line."""

from __future__ import annotations

import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from gramlet import GraphBatch, read_tu, write_tu
from gramlet.files.dataset import DatasetNotFoundError
from reference.tu_files import pack, put


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"A": "1,2\n2,x\n"}, r"SET_A.txt, line 2: 'x' is not a number"),
        ({"A": "1,2\n2,1.5\n"}, r"SET_A.txt, line 2: 1.5 is not an integer"),
        ({"A": "1,2\n\n2,1\n"}, r"SET_A.txt, line 2: the line is empty"),
        ({"A": "1,2\n2,1,3\n"}, r"SET_A.txt, line 2: 3 numbers where the lines above have 2"),
        ({"A": "1,2\n2,\n"}, r"SET_A.txt, line 2: a number is missing; is the file truncated"),
        ({"A": "1,2\n2 1\n"}, r"SET_A.txt, line 2: '2 1' is not a number"),
        ({"A": "1\n2\n"}, r"SET_A.txt, line 1: a line contains the two nodes.*got 1 columns"),
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
            r"indicator.txt lists 5 nodes for 900,000,000,000 graphs; more than 10,000,000",
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
    # It can be caught as a missing file and as a wrong value.
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
    with pytest.raises(ValueError, match=r"SET/SET_A.txt occurs twice"):
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
