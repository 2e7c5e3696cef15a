"""write and convert: write graphs to files of other formats, without losing anything silently.

A file is read back and compared before it gets its name. Node-link JSON, GraphML and tables of
molecules are written here; `tu.write` writes the TU format.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import reprlib
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gramlet.common.notices import counted
from gramlet.common.safe_writing import writing
from gramlet.files.dataset import Dataset
from gramlet.files.kinds import ReadOptions, kind_of
from gramlet.files.molecule_tables import ID_HEADINGS, MOLECULE_HEADINGS
from gramlet.files.network_graphs import NOTES, notes_of
from gramlet.files.read import read, read_as
from gramlet.files.tu.extras import encode_values
from gramlet.files.tu.write import write_tu
from gramlet.graphs.conversion.libraries import to_networkx

_NAMES = ("target_names", "node_label_names", "edge_label_names", "description")
_GRAPH_COLUMNS = (
    "node_labels",
    "edge_labels",
    "edge_weights",
    "node_attributes",
    "edge_attributes",
)
# Fields that are written, and fields about the file that was read.
_FIELDS = {"graphs", "target", "name", "target_name", "ids", "molecules", "skipped", "unread"}
_FIELDS |= {"places", *_NAMES}
_TABLES = (".csv", ".tsv", ".smi")
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_SUFFIXES = (".zip", ".jsonl", ".json", ".graphml", ".smi", ".csv", ".tsv")


def convert(
    input: str | Path,
    output: str | Path,
    target: str | int | None = None,
    *,
    overwrite: bool = False,
    drop: Collection[str] = (),
    **options: Any,
) -> Dataset:
    """Read a file in any supported format and write it in another.

    Parameters
    ----------
    input : str or Path
        As for :func:`read`.
    output : str or Path
        As for :func:`write`.
    target, **options
        As for :func:`read`.
    overwrite, drop
        As for :func:`write`.

    Returns
    -------
    Dataset
        The data that was read and written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import gramlet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "few.csv")
    ...     _ = file.write_text("smiles,y\\nCCO,1\\nCC,0\\n")
    ...     _ = gramlet.convert(file, f"{folder}/few.jsonl")
    ...     gramlet.read(f"{folder}/few.jsonl").target.tolist()
    [1, 0]
    """
    dataset = read(input, target, **options)
    write(dataset, output, overwrite=overwrite, drop=drop)
    return dataset


def write(
    dataset: Dataset,
    path: str | Path,
    *,
    overwrite: bool = False,
    drop: Collection[str] = (),
) -> None:
    """Write graphs, with target and ids, to a file in the format that its ending gives.

    Without ending or ``.zip``: the TU format. ``.jsonl``, ``.json``: node-link graphs.
    ``.graphml``: all graphs in one file. ``.csv``, ``.tsv``, ``.smi``: the SMILES
    strings of molecules. All but TU may end in ``.gz``. The file is read back and compared: either
    :func:`read` gives an equal Dataset, or nothing is written and a ValueError names what cannot be
    stored. The atoms of molecules that come from a table may have another order: that of the
    SMILES strings.

    Parameters
    ----------
    dataset : Dataset
    path : str or Path
    overwrite : bool
        Whether an existing file may be replaced.
    drop : collection of str
        Fields of the Dataset, or columns of its graphs, that may be left out: "target", "ids",
        "description", "edge_weights", ...

    Examples
    --------
    >>> import tempfile
    >>> import gramlet
    >>> mutag = gramlet.load_dataset("MUTAG")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gramlet.write(mutag, f"{folder}/mutag.jsonl.gz")
    ...     gramlet.read(f"{folder}/mutag.jsonl.gz").graphs == mutag.graphs
    True
    """
    path = Path(path).expanduser()
    dataset = _without(dataset, drop)
    kind = kind_of(path) if path.suffix else ".zip"
    if kind not in _SUFFIXES:
        raise ValueError(
            f"{path}: graphs are written to {', '.join(_SUFFIXES)}, or without ending to a TU "
            f"folder; got {path.suffix!r}."
        )
    _refuse_losses(dataset, path, kind)
    if kind == ".zip":
        write_tu(dataset, path, overwrite=overwrite)
        return
    if path.exists() and not overwrite:
        raise FileExistsError(f"{path} already exists; give overwrite=True to replace it.")
    try:
        text = _WRITERS[kind](dataset, kind).encode("utf-8")
    except ValueError as why:
        raise ValueError(f"{path}: {why}") from why
    path.parent.mkdir(parents=True, exist_ok=True)
    with writing(path) as place:
        if path.suffix.lower() == ".gz":
            with gzip.GzipFile(place, "wb", mtime=0) as file:
                file.write(text)
        else:
            place.write_bytes(text)
        _compare(dataset, place, kind, path)


def _without(dataset: Dataset, drop: Collection[str]) -> Dataset:
    """The Dataset without the fields and columns to drop."""
    if isinstance(drop, str):
        raise TypeError(f"drop must be a list of names; got {drop!r}.")
    columns = {name: None for name in drop if name in _GRAPH_COLUMNS}
    fields = {name: value for name, value in dataset.items() if name not in drop}
    unknown = [name for name in drop if name not in _GRAPH_COLUMNS and name not in dataset]
    if unknown or "graphs" in drop:
        raise ValueError(
            f"drop: {(unknown or ['graphs'])[0]!r} is neither a field of the Dataset that can be "
            "left out nor a column of its graphs."
        )
    if "target" in drop:
        fields["target_name"] = fields["target_names"] = None
    if columns:
        fields["graphs"] = dataset.graphs.with_columns(**columns)
    return Dataset(**fields)


def _refuse_losses(dataset: Dataset, path: Path, kind: str) -> None:
    """Refuse fields that the format does not support."""
    lost = [name for name in dataset.keys() - _FIELDS if dataset[name] is not None]
    if kind in _TABLES:
        if dataset.molecules is None:
            raise ValueError(
                f"{path}: {kind} files contain molecules, but this data set has no SMILES strings."
            )
        lost += [name for name in _NAMES if dataset.get(name)]
        taken = (*MOLECULE_HEADINGS, *ID_HEADINGS)
        if dataset.target is not None and str(dataset.target_name).lower() in taken:
            raise ValueError(
                f"{path}: the target is called {dataset.target_name!r}, which is the heading of "
                "molecules or ids. Set another target_name."
            )
    if kind == ".smi" and dataset.target is not None:
        lost.append("target")
    if dataset.target is not None and dataset.target.ndim > 1 and kind != ".zip":
        lost.append("target")
    if lost:
        names = ", ".join(map(repr, sorted(lost)))
        raise ValueError(
            f"{path}: a {kind} file cannot store {names}. Choose another format, or drop it with "
            f"drop={sorted(lost)!r}."
        )


def _compare(dataset: Dataset, place: Path, kind: str, path: Path) -> None:
    """Read the file back, and refuse it if anything differs."""
    options = ReadOptions()
    if kind in (".csv", ".tsv"):
        target = None if dataset.target is None else dataset.target_name or "target"
        options = ReadOptions(target=target, molecules="smiles", header=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            back = read_as(place, kind, options)
    except ValueError as why:
        reason = str(why).replace(str(place), str(path))
        raise ValueError(f"{path}: the data cannot be stored in a {kind} file ({reason})") from why
    differs = [
        field
        for field in ("target", "ids", "molecules", *_NAMES)
        if not _same(dataset.get(field), back.get(field))
    ]
    if dataset.graphs != back.graphs:
        differs += _numbers(dataset) if kind in _TABLES else _differing_columns(dataset, back)
    if differs:
        raise ValueError(
            f"{path}: a {kind} file cannot store {', '.join(map(repr, differs))} unchanged. "
            "Choose another format, or leave them out with drop=."
        )
    if kind in _TABLES and dataset.graphs != back.graphs:
        _refuse_other_molecules(dataset, back, path)


def _numbers(dataset: Dataset) -> list[str]:
    """The columns of numbers, which SMILES strings do not have."""
    columns = ("edge_weights", "node_attributes", "edge_attributes")
    return [name for name in columns if getattr(dataset.graphs, name) is not None]


def _refuse_other_molecules(dataset: Dataset, back: Dataset, path: Path) -> None:
    """Refuse graphs that are not those of their SMILES strings, in any order of the atoms."""
    from gramlet.graphs.molecules.structures import first_other_molecule

    mine, theirs = dataset.graphs, back.graphs
    way_out = "Write the graphs themselves, for example to .jsonl."
    if mine.directed:
        raise ValueError(f"{path}: SMILES strings cannot store directed graphs. {way_out}")
    position = first_other_molecule(mine, theirs)
    if position is None:
        return
    one, other = mine[position], theirs[position]
    reason = "has other labels or edges than"
    if (one.n_nodes_total, len(one.indices)) != (other.n_nodes_total, len(other.indices)):
        counts = (
            f"{counted(g.n_nodes_total, 'node')} and {counted(int(g.n_edges[0]), 'edge')}"
            for g in (one, other)
        )
        reason = f"has {' instead of '.join(counts)} in"
    raise ValueError(
        f"{path}: the graph of molecule {position} {reason} its SMILES string "
        f"{reprlib.repr((dataset.molecules or [])[position])}, which is all that the file would "
        f"store. {way_out}"
    )


def _differing_columns(dataset: Dataset, back: Dataset) -> list[str]:
    mine, theirs = dataset.graphs, back.graphs
    bare = dict.fromkeys(_GRAPH_COLUMNS)
    if mine.with_columns(**bare) != theirs.with_columns(**bare):
        return ["graphs"]
    return [
        name
        for name in _GRAPH_COLUMNS
        if mine.with_columns(**{**bare, name: getattr(mine, name)})
        != theirs.with_columns(**{**bare, name: getattr(theirs, name)})
    ]


def _same(mine: Any, theirs: Any) -> bool:
    if mine is None or theirs is None or isinstance(mine, str):
        return not mine and not theirs if mine is None or theirs is None else bool(mine == theirs)
    if isinstance(mine, dict):
        return bool(mine == theirs)
    one, other = np.asarray(mine), np.asarray(theirs)
    return one.dtype.kind == other.dtype.kind and one.tolist() == other.tolist()


# Text of each format


def write_json_lines(dataset: Dataset, kind: str) -> str:
    """One node-link graph per line."""
    return "".join(f"{line}\n" for line in _lines(dataset))


def write_json(dataset: Dataset, kind: str) -> str:
    """A list of node-link graphs."""
    return "[\n" + ",\n".join(_lines(dataset)) + "\n]\n"


def _lines(dataset: Dataset) -> Iterator[str]:
    for position, graph in enumerate(map(_node_link, _networkx_graphs(dataset))):
        try:
            yield json.dumps(graph, allow_nan=False)
        except ValueError as why:
            columns = {"target or data": graph["graph"], "nodes": graph["nodes"]}
            what = next((name for name, part in columns.items() if not _is_json(part)), "edges")
            raise ValueError(
                f"graph {position} has a number in its {what} that is NaN or infinite, which JSON "
                "cannot store. Correct it, or leave the graph out."
            ) from why


def _node_link(graph: Any) -> dict[str, Any]:
    from networkx import node_link_data

    return dict(node_link_data(graph, edges="edges"))


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except ValueError:
        return False
    return True


def _fill(rows: list[dict[str, Any]], name: str, values: Sequence[Any]) -> None:
    for row, value in zip(rows, values, strict=True):
        row[name] = value


def _graph_data(dataset: Dataset) -> list[dict[str, Any]]:
    """Id, target and SMILES string of each graph; the first also has the common fields."""
    rows: list[dict[str, Any]] = [{} for _ in range(len(dataset.graphs))]
    if dataset.ids is not None:
        _fill(rows, "id", [str(name) for name in dataset.ids])
    if dataset.target is not None:
        values = encode_values(dataset.target.tolist(), "the target")
        _fill(rows, dataset.target_name or "target", values)
    if dataset.molecules is not None:
        _fill(rows, "smiles", list(dataset.molecules))
    notes = notes_of(dataset)
    if notes and rows:
        rows[0][NOTES] = notes
    return rows


def _networkx_graphs(dataset: Dataset) -> Iterator[Any]:
    """The graphs with id, target and other fields as their data."""
    batch = dataset.graphs
    for noun, labels in (("node labels", batch.node_labels), ("edge labels", batch.edge_labels)):
        if labels is not None:
            encode_values(labels.categories, noun)  # refuses what cannot be read back
    for graph, data in zip(to_networkx(batch), _graph_data(dataset), strict=True):
        graph.graph.update(data)
        yield graph


def write_graphml(dataset: Dataset, kind: str) -> str:
    """All graphs in one GraphML document; attributes as ``attr_0``, ``attr_1``, ..."""
    graphs = list(_networkx_graphs(dataset))
    from networkx.readwrite.graphml import GraphMLWriter

    writer = GraphMLWriter()
    for graph in graphs:
        if NOTES in graph.graph:
            graph.graph[NOTES] = json.dumps(graph.graph[NOTES])
        if "id" in graph.graph:  # in GraphML the name of the element
            graph.graph["name"] = graph.graph.pop("id")
        _flatten(graph.graph)
        for _, data in graph.nodes(data=True):
            _flatten(data)
        for _, _, data in graph.edges(data=True):
            _flatten(data)
        writer.add_graph_element(graph)
        # Otherwise networkx writes the data of this graph again with each later one.
        writer.attributes.clear()
    text = io.BytesIO()
    writer.dump(text)
    return text.getvalue().decode()


def _flatten(data: dict[str, Any]) -> None:
    for i, value in enumerate(data.pop("attr", ())):
        data[f"attr_{i}"] = value
    for name, value in data.items():
        if not isinstance(value, str | int | float):
            raise ValueError(
                f"GraphML cannot store {name!r} = {value!r}: only strings and numbers are "
                "supported."
            )
        if isinstance(value, str) and _ILLEGAL.search(value):
            raise ValueError(
                f"GraphML cannot store {name!r}: it contains characters that are not allowed in "
                "XML."
            )


def write_table(dataset: Dataset, kind: str) -> str:
    """The SMILES strings of molecules, with ids and, in tables, the target."""
    molecules = dataset.molecules or []
    if kind == ".smi":
        ids = dataset.ids if dataset.ids is not None else [""] * len(molecules)
        return "".join(f"{f'{s} {name}'.strip()}\n" for s, name in zip(molecules, ids, strict=True))
    columns: dict[str, Any] = {"smiles": molecules}
    if dataset.ids is not None:
        columns["id"] = dataset.ids
    if dataset.target is not None:
        columns[dataset.target_name or "target"] = [
            value if isinstance(value, str) else repr(value) for value in dataset.target.tolist()
        ]
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter="\t" if kind == ".tsv" else ",", lineterminator="\n")
    table.writerow(columns)
    table.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


_WRITERS: dict[str, Callable[[Dataset, str], str]] = {
    ".jsonl": write_json_lines,
    ".json": write_json,
    ".graphml": write_graphml,
    ".smi": write_table,
    ".csv": write_table,
    ".tsv": write_table,
}
