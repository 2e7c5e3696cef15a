"""Reading the TU format: every file, every form of the path, and the benchmark data."""

from __future__ import annotations

import gzip
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

import gramlet
from gramlet import GraphBatch, read_tu
from gramlet.files.dataset import DatasetNotFoundError
from reference.tu_files import GOOD, pack, put


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
    assert read_tu(folder).name == "SET"  # the name of the folder decides
    renamed = folder.rename(tmp_path / "both")
    with pytest.raises(ValueError, match=r"2 data sets \(OTHER, SET\)"):
        read_tu(renamed)
    assert read_tu(renamed / "OTHER").name == "OTHER"


def test_two_data_sets_in_an_archive_must_be_told_apart(tmp_path: Path) -> None:
    both = tmp_path / "both.zip"
    with zipfile.ZipFile(both, "w") as archive:
        for name in ("ONE", "TWO"):
            for role, text in GOOD.items():
                archive.writestr(f"{name}/{name}_{role}.txt", text)
    with pytest.raises(ValueError, match=r"2 data sets \(ONE, TWO\); name one .*both.zip/ONE\."):
        gramlet.read(both)
    assert gramlet.read(both / "ONE").name == "ONE"
    assert gramlet.read(both / "TWO").name == "TWO"
    with pytest.raises(DatasetNotFoundError, match=r"no data set 'SIX'; it has ONE, TWO\."):
        gramlet.read(both / "SIX")


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


def test_labels_by_degree_or_none(tmp_path: Path) -> None:
    folder = put(tmp_path)
    assert list(gramlet.read(folder, node_labels="degree").graphs.node_labels) == [1, 2, 1, 1, 1]
    assert gramlet.read(folder, node_labels="none").graphs.node_labels is None


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
            0: "aromatic",
            1: "no chemical bond",
            2: "single",
            3: "double",
            4: "triple",
        }
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


def test_files_packed_with_gzip_are_read(tmp_path: Path) -> None:
    folder = put(tmp_path)
    plain = gramlet.read(folder)
    for file in list(folder.iterdir()):
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        file.unlink()
    packed = gramlet.read(folder)
    assert packed.graphs == plain.graphs
    assert packed.target.tolist() == plain.target.tolist()
    assert gramlet.read(folder / "SET").graphs == plain.graphs
    with pytest.raises(ValueError, match="max_bytes"):
        read_tu(folder, max_bytes=40)
    edges = folder / "SET_A.txt.gz"
    edges.write_bytes(edges.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"SET_A.txt.gz is not a complete gzip file"):
        read_tu(folder)


def test_a_folder_with_edges_names_the_file_that_is_missing(tmp_path: Path) -> None:
    folder = put(tmp_path, graph_indicator=None)
    with pytest.raises(ValueError, match=r"no file that ends in _graph_indicator.txt"):
        gramlet.read(folder)


def test_a_short_file_of_classes_is_suspected(tmp_path: Path) -> None:
    folder = put(tmp_path, graph_labels="1\n")
    with pytest.raises(ValueError, match=r"numbered 1 to 1, the lines of SET_graph_labels.txt. Is"):
        gramlet.read(folder)


def test_maps_of_labels_with_components_as_in_aids(tmp_path: Path) -> None:
    for name, text in {
        "T_A.txt": "1, 2\n2, 1\n",
        "T_graph_indicator.txt": "1\n1\n",
        "T_node_labels.txt": "0\n1\n",
        "T_label_readme.txt": "Node labels:\t\t[symbol]\n\nNode labels were converted to integer "
        "values using this map:\n\nComponent 0:\n\t0\tC  \n\t1\tO  \n\n\nEdge labels were "
        "converted to integer values using this map:\n\nComponent 0:\n\t0\t1\n\t1\t2\n",
        "README.txt": "About the data.\n",
    }.items():
        (tmp_path / name).write_text(text)
    data = read_tu(tmp_path)
    assert data.node_label_names == {0: "C", 1: "O"}
    assert data.edge_label_names == {0: "1", 1: "2"}
    assert data.description == "About the data."
