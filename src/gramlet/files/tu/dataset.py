"""The TU format: text files for adjacency, graph membership, labels and attributes.

`read_tu` reads the files of one data set into a `Dataset`; every error names file and line.
`members` finds the files, `text` parses numbers, `write` writes files.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.notices import counted, warn_caller
from gramlet.files.dataset import Dataset
from gramlet.files.opening import DEFAULT_MAX_BYTES
from gramlet.files.tu.extras import decode_extras, restore_values
from gramlet.files.tu.members import TUFiles, open_tu
from gramlet.files.tu.text import number_blocks, read_numbers
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.build import width_for
from gramlet.graphs.columns import Categorical, pick

# More graphs without nodes than this are treated as an error in the file, so that they do not use
# up the memory.
_MOST_EMPTY = 10_000_000

_ENTRY = re.compile(r"(-?\d{1,18})[ \t]+(\S.*)")
_BETWEEN = re.compile(r",\s+(?=-?\d{1,18}\s)")
_TARGET_TYPES = {"bool": np.dtype(bool), "str": np.dtype(str), "int": np.dtype(np.int64)}


def read_tu(
    path: str | Path,
    *,
    edge_weights: bool | None = None,
    directed: bool | None = None,
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Dataset:
    """Read a data set in the TU format.

    ``NAME_A.txt`` (edges) and ``NAME_graph_indicator.txt`` (the graph of each node) are required.
    ``NAME_graph_labels.txt`` gives the target, or else ``NAME_graph_attributes.txt`` does (numbers
    to regress on; a field ``graph_attributes`` if there are labels as well).
    ``NAME_node_labels.txt``, ``NAME_edge_labels.txt``, ``NAME_node_attributes.txt`` and
    ``NAME_edge_attributes.txt`` are optional. Labels in several columns become tuples.
    Repeated edges are merged; if their labels, weights or attributes differ, the first is kept
    and one warning counts the others. Self-loops are dropped with one warning that counts them.
    Nodes are sorted by graph if the file does not list them in that order. A graph whose number
    does not occur in ``NAME_graph_indicator.txt`` has no nodes.

    The cost is linear in the size of the files; text is read in blocks.

    Parameters
    ----------
    path : str or Path
        A folder, a zip archive, either without ``.zip``, or the common beginning of the files'
        names: ``folder/NAME``, or ``archive.zip/NAME`` where an archive has several data sets.
    edge_weights : bool, optional
        Whether the one column of ``NAME_edge_attributes.txt`` becomes ``edge_weights``. By default
        only if :func:`write_tu` wrote it as weights: in most data sets it is not a weight but a
        distance or an angle, and becomes ``edge_attributes``.
    directed : bool, optional
        Whether a line of ``NAME_A.txt`` is an arc from the first node to the second. By default
        graphs are undirected, unless :func:`write_tu` wrote directed ones.
    max_bytes : int
        The largest total size of the files, unpacked.

    Returns
    -------
    Dataset
        ``graphs``, ``target``, ``name``, ``description`` (the README), and ``target_names``,
        ``node_label_names``, ``edge_label_names`` if the files contain them.

    References
    ----------
    Morris et al., TUDataset: A collection of benchmark datasets for learning with graphs, 2020.

    Examples
    --------
    >>> import tempfile
    >>> from gramlet import GraphBatch, read_tu, write_tu
    >>> graphs = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tu(graphs, f"{folder}/TINY", target=["edge", "path"])
    ...     tiny = read_tu(f"{folder}/TINY")
    >>> tiny.graphs == graphs, tiny.target.tolist()
    (True, ['edge', 'path'])
    """
    files = open_tu(path, max_bytes)
    extras = _read_extras(files)
    target, attributes = _read_target(files, extras)
    n_graphs = extras.get("n_graphs") if target is None else len(target)
    graphs = _read_graphs(files, n_graphs, extras, edge_weights, directed)
    readmes = files.readmes()
    readme = "\n".join(readmes)
    names = {
        "target_names": names_in_readme(readme, "Class labels"),
        "node_label_names": names_in_readme(readme, "Node labels"),
        "edge_label_names": names_in_readme(readme, "Edge labels"),
        **extras.get("names", {}),
    }
    fields: dict[str, Any] = {} if attributes is None else {"graph_attributes": attributes}
    for field in ("ids", "molecules"):
        if field in extras and len(extras[field]) != len(graphs):
            location = files.location(f"{files.name}_gramlet.json")
            raise ValueError(
                f"{location}: {field} has {len(extras[field])} entries for {len(graphs)} graphs."
            )
    fields |= {f: extras[f] for f in ("ids", "molecules", "target_name") if f in extras}
    return Dataset(
        graphs,
        target,
        name=files.name,
        description=readmes[0].strip() if readmes else "",
        **names,
        **fields,
    )


def _read_extras(files: TUFiles) -> dict[str, Any]:
    file = f"{files.name}_gramlet.json"
    if not files.has_file(file):
        return {}
    return decode_extras(files.read(file), files.location(file))


def _read_target(files: TUFiles, extras: dict[str, Any]) -> tuple[Array | None, Floats | None]:
    """The target, and the graph attributes if they are not the target."""
    attributes = None
    if files.has("graph_attributes"):
        attributes = _squeeze(_read(files, "graph_attributes", np.float64))
    if not files.has("graph_labels"):
        return attributes, None
    labels = _read(files, "graph_labels", np.int64)
    if attributes is not None:
        because = f"{files.file_name('graph_labels')} lists {len(labels)} graphs"
        _check_rows(files, "graph_attributes", len(attributes), len(labels), because)
    values = extras.get("values", {}).get("graph_labels")
    if values is None:
        return _squeeze(labels), attributes
    location = files.location(files.file_name("graph_labels"))
    restored = np.asarray(restore_values(labels[:, 0], values, location))
    dtype = _TARGET_TYPES.get(extras.get("target_dtype", ""))
    return restored if dtype is None else restored.astype(dtype), attributes


def _squeeze(table: Array) -> Array:
    return table[:, 0] if table.shape[1] == 1 else table


def names_in_readme(readme: str, subject: str) -> dict[int, str] | None:
    """The names under a heading such as ``Node labels:``, one ``number  name`` per line.

    The heading is a line that begins with the subject and ends with a colon; blank lines, and the
    heading of the first component of a label, are ignored. A line may have several names with
    commas between them. Labels of several components have no names. Takes one pass over the lines.

    >>> names_in_readme("Node labels:\\n\\n  0  C\\n  1  N\\n\\nEdge labels:\\n", "Node labels")
    {0: 'C', 1: 'N'}
    >>> names_in_readme("Edge labels map:\\nComponent 0:\\n\\t0\\tC, 1 O\\n", "Edge labels")
    {0: 'C', 1: 'O'}
    """
    names: dict[int, str] = {}
    inside = False
    for line in map(str.strip, readme.split("\n")):
        if not line:
            continue
        entries = [_ENTRY.fullmatch(part) for part in _BETWEEN.split(line)] if inside else [None]
        if all(entries):
            names.update((int(entry[1]), entry[2].strip()) for entry in entries if entry)
        elif inside and line == "Component 0:":
            continue
        elif names and line == "Component 1:":
            return None
        elif names:
            break
        else:
            inside = line.startswith(subject) and line.endswith(":")
    return names or None


# Graphs


def _read_graphs(
    files: TUFiles,
    n_graphs: int | None,
    extras: dict[str, Any],
    edge_weights: bool | None,
    directed: bool | None,
) -> GraphBatch:
    """The batch that the files describe; ``n_graphs`` is None if no file contains the number."""
    graph_of_node, n_graphs = _graph_of_node(files, n_graphs)
    n_nodes = len(graph_of_node)
    tails, heads = _read_arcs(files, graph_of_node)
    because = f"{files.file_name('A')} lists {len(tails)} edges"
    weights, attributes = _edge_attributes(files, len(tails), because, extras, edge_weights)
    of_edges: dict[str, Any] = {
        "edge_labels": _labels(files, "edge_labels", len(tails), because, extras),
        "edge_weights": weights,
        "edge_attributes": attributes,
    }
    because = f"{files.file_name('graph_indicator')} lists {n_nodes} nodes"
    of_nodes: dict[str, Any] = {
        "node_labels": _labels(files, "node_labels", n_nodes, because, extras),
        "node_attributes": _attributes(files, "node_attributes", n_nodes, because, extras),
    }
    if (np.diff(graph_of_node) < 0).any():  # nodes are not sorted by graph
        order = np.argsort(graph_of_node, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(n_nodes)
        tails, heads = place[tails], place[heads]
        of_nodes = {name: pick(column, order) for name, column in of_nodes.items()}
    proper = np.flatnonzero(tails != heads)
    n_loops = len(tails) - len(proper)
    if n_loops:
        verb = "was" if n_loops == 1 else "were"
        warn_caller(
            f"{_place(files, 'A')}: {counted(n_loops, 'self-loop')} {verb} dropped; graphs are "
            "simple."
        )
        tails, heads = tails[proper], heads[proper]
        of_edges = {name: pick(column, proper) for name, column in of_edges.items()}
    directed = extras.get("directed", False) if directed is None else directed
    columns = [column for column in of_edges.values() if column is not None]
    if columns:
        kept, n_differ = first_of_parallel(n_nodes, tails, heads, directed, columns)
        if n_differ:
            warn_caller(
                f"{_place(files, 'A')}: {counted(n_differ, 'line')} left out, each of an edge that "
                "an earlier line has with other labels, weights or attributes; the first is kept."
            )
        tails, heads = tails[kept], heads[kept]
        of_edges = {name: pick(column, kept) for name, column in of_edges.items()}
    offsets = np.zeros(n_graphs + 1, dtype=np.int64)
    np.cumsum(np.bincount(graph_of_node, minlength=n_graphs), out=offsets[1:])
    return GraphBatch.from_arcs(offsets, tails, heads, directed=directed, **of_nodes, **of_edges)


def first_of_parallel(
    n_nodes: int, tails: Array, heads: Array, directed: bool, columns: list[Any]
) -> tuple[Ints, int]:
    """The rows to keep, one per edge in the order of the file, and how many others differ.

    A row that repeats an edge with the same data in all columns is merged and not counted.

    >>> tails, heads = np.array([0, 1, 0]), np.array([1, 0, 1])
    >>> kept, n_differ = first_of_parallel(2, tails, heads, False, [np.array([5, 5, 6])])
    >>> kept.tolist(), n_differ
    ([0], 1)
    """
    low, high = (tails, heads) if directed else np.sort([tails, heads], axis=0)
    key = low.astype(np.int64) * n_nodes + high
    order = np.argsort(key, kind="stable")
    is_first = np.append(True, np.diff(key[order]) != 0)[: len(order)]
    first = order[is_first]
    first_of_row = first[np.cumsum(is_first) - 1]
    differs = np.zeros(len(order), dtype=bool)
    for column in columns:
        values = column.codes if isinstance(column, Categorical) else column
        unequal = values[order] != values[first_of_row]
        differs |= unequal if unequal.ndim == 1 else unequal.any(axis=1)
    return np.sort(first), int(np.count_nonzero(differs))


def _graph_of_node(files: TUFiles, n_graphs: int | None) -> tuple[Ints, int]:
    """The graph (from 0) of each node, in the order of the file, and the number of graphs."""
    role = "graph_indicator"
    table = _read(files, role, np.int64)
    _require_columns(files, role, table, 1, "a line contains the graph of one node")
    number = table[:, 0]
    stated = n_graphs is not None
    if n_graphs is None:  # no file contains it; empty graphs after the last one are lost
        n_graphs = int(number.max(initial=0))
    outside = np.flatnonzero((number < 1) | (number > n_graphs))
    if len(outside):
        why = f"graph {number[outside[0]]} does not exist; the graphs are numbered 1 to {n_graphs}"
        targets = "graph_labels" if files.has("graph_labels") else "graph_attributes"
        if stated and files.has(targets):
            why += f", the lines of {files.file_name(targets)}. Is that file truncated?"
        else:
            why += "."
        _refuse_at(files, role, int(outside[0]), why)
    if n_graphs - len(number) > _MOST_EMPTY:
        why = (
            f"lists {len(number)} nodes for {n_graphs:,} graphs; more than {_MOST_EMPTY:,} would be"
        )
        raise ValueError(f"{_place(files, role)} {why} empty.")
    return number - 1, n_graphs


def _read_arcs(files: TUFiles, graph_of_node: Ints) -> tuple[Array, Array]:
    """Both ends of the arcs, counted from 0, checked block by block."""
    n_nodes, n_lines = len(graph_of_node), 0
    ends = [np.zeros((2, 0), dtype=width_for(n_nodes))]  # in 32 bits if they fit
    with files.open("A") as stream:
        for table in number_blocks(stream, _place(files, "A"), np.int64):
            _require_columns(files, "A", table, 2, "a line contains the two nodes of one edge")
            outside = np.flatnonzero(((table < 1) | (table > n_nodes)).any(axis=1))
            if len(outside):
                u, v = table[outside[0]]
                why = f"the edge ({u}, {v}) is out of range; nodes are numbered 1 to {n_nodes}."
                _refuse_at(files, "A", int(outside[0]) + n_lines, why)
            graphs = graph_of_node[table - 1]
            across = np.flatnonzero(graphs[:, 0] != graphs[:, 1])
            if len(across):
                (u, v), (one, other) = table[across[0]], graphs[across[0]] + 1
                why = (
                    f"the edge ({u}, {v}) joins a node of graph {one} to one of graph {other}; an "
                    "edge must stay in one graph."
                )
                _refuse_at(files, "A", int(across[0]) + n_lines, why)
            ends.append((table - 1).T.astype(ends[0].dtype))
            n_lines += len(table)
    tails, heads = np.concatenate(ends, axis=1)
    return tails, heads


def _labels(
    files: TUFiles, role: str, n_rows: int, because: str, extras: dict[str, Any]
) -> Categorical | None:
    if not files.has(role):
        return None
    table = _read(files, role, np.int64, n_rows, because)
    values = extras.get("values", {}).get(role)
    if values is not None:
        _require_columns(files, role, table, 1, "a line contains one code")
        return restore_values(table[:, 0], values, _place(files, role))
    if table.shape[1] == 1:
        return Categorical.from_values(table[:, 0])
    distinct, codes = np.unique(table, axis=0, return_inverse=True)
    return Categorical(codes.reshape(-1), map(tuple, distinct.tolist()))


def _edge_attributes(
    files: TUFiles, n_rows: int, because: str, extras: dict[str, Any], edge_weights: bool | None
) -> tuple[Floats | None, Floats | None]:
    """Edge weights and edge attributes; `write_tu` writes the weights first."""
    role = "edge_attributes"
    weights_first = extras.get("edge_weights", False)
    if not files.has(role) and not edge_weights and not weights_first:
        return None, None
    table = _read(files, role, np.float64, n_rows, because)
    if not len(table):
        table = np.zeros((0, weights_first + extras.get("edge_attribute_columns", 1)))
    if weights_first and edge_weights is not False:
        return table[:, 0], (table[:, 1:] if table.shape[1] > 1 else None)
    if edge_weights:
        _require_columns(files, role, table, 1, "edge_weights=True needs one number per line")
        return table[:, 0], None
    return None, table


def _attributes(
    files: TUFiles, role: str, n_rows: int, because: str, extras: dict[str, Any]
) -> Floats | None:
    if not files.has(role):
        return None
    table = _read(files, role, np.float64, n_rows, because)
    return table if len(table) else np.zeros((0, extras.get("node_attribute_columns", 1)))


# Single files


def _place(files: TUFiles, role: str) -> str:
    return files.location(files.file_name(role))


def _read(
    files: TUFiles, role: str, dtype: type, n_rows: int | None = None, because: str = ""
) -> Array:
    """A table of numbers, with the number of rows that another file requires."""
    with files.open(role) as stream:
        table = read_numbers(stream, _place(files, role), dtype)
    _check_rows(files, role, len(table), n_rows, because)
    return table


def _check_rows(files: TUFiles, role: str, n_lines: int, n_rows: int | None, because: str) -> None:
    if n_rows is None or n_lines == n_rows:
        return
    verdict = "is missing" if n_lines < n_rows else "is one too many"
    why = f"{verdict}: the file has {n_lines} lines, but {because}."
    raise ValueError(f"{_place(files, role)}, line {min(n_lines, n_rows) + 1} {why}")


def _refuse_at(files: TUFiles, role: str, row: int, why: str) -> NoReturn:
    raise ValueError(f"{_place(files, role)}, line {row + 1}: {why}")


def _require_columns(files: TUFiles, role: str, table: Array, n_columns: int, what: str) -> None:
    if len(table) and table.shape[1] != n_columns:
        _refuse_at(files, role, 0, f"{what}; got {table.shape[1]} columns.")
