"""The TU format: text files for adjacency, graph membership, labels and attributes.

`read_tu` reads the files of one data set into a `Dataset`. `members` finds the files, `text` parses
numbers, `write` writes files, and `datasets` loads data sets by name.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.files.dataset import Dataset
from gramlet.files.tu.extras import decode_extras, restore_values
from gramlet.files.tu.graphs import check_rows, read_floats, read_graphs, read_integers
from gramlet.files.tu.members import DEFAULT_MAX_BYTES, TUFiles, open_tu
from gramlet.files.tu.write import write_tu

__all__ = ["read_tu", "write_tu"]

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

    The cost is linear in the size of the files; text is read in blocks, so that reading needs
    little more memory than the batch.

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
    graphs = read_graphs(files, n_graphs, extras, edge_weights, directed)
    description = files.readme()
    readme = files.label_readme()
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
    return Dataset(graphs, target, name=files.name, description=description, **names, **fields)


def _read_extras(files: TUFiles) -> dict[str, Any]:
    file = f"{files.name}_gramlet.json"
    if not files.has_file(file):
        return {}
    return decode_extras(files.read(file), files.location(file))


def _read_target(files: TUFiles, extras: dict[str, Any]) -> tuple[Array | None, Floats | None]:
    """The target, and the graph attributes if they are not the target."""
    attributes = None
    if files.has("graph_attributes"):
        attributes = _squeeze(read_floats(files, "graph_attributes"))
    if not files.has("graph_labels"):
        return attributes, None
    labels = read_integers(files, "graph_labels")
    if attributes is not None:
        counted = f"{files.file_name('graph_labels')} lists {len(labels)} graphs"
        check_rows(files, "graph_attributes", len(attributes), len(labels), counted)
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
