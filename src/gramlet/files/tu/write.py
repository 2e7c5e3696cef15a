"""Writing graphs in the TU format, so that reading restores them to the last bit.

Integers are written to the format's own files, everything else to ``NAME_gramlet.json`` (see
`extras`). A folder or archive is written completely or not at all.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.common.safe_writing import writing, writing_folder
from gramlet.files.dataset import Dataset
from gramlet.files.tu.extras import NAME_FIELDS, encode_names, encode_values, header
from gramlet.files.tu.members import foreign_files
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical

_INT64 = np.iinfo(np.int64)


def write_tu(
    data: Any,
    path: str | Path,
    target: Any = None,
    name: str | None = None,
    *,
    overwrite: bool = False,
) -> None:
    """Write graphs, and their target, in the TU format; :func:`read_tu` restores equal ones.

    Integer labels and integer targets are written as they are, tuples of integers as columns, other
    labels (strings, floats, None, ...) as codes whose values are in ``NAME_gramlet.json``.
    Floating-point targets become ``NAME_graph_attributes.txt``, edge weights the first column of
    ``NAME_edge_attributes.txt`` and edge attributes the others, all numbers with as many digits as
    they need. ``NAME_gramlet.json`` records whether graphs are directed.

    Parameters
    ----------
    data : Dataset, or graphs in any form `as_batch` accepts
    path : str or Path
        The folder to write, or the archive if it ends in ``.zip``.
    target : array-like, optional
        One value (or row) per graph; by default the Dataset's own.
    name : str, optional
        The beginning of the files' names; by default the last part of ``path``.
    overwrite : bool
        Whether an existing data set may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> from gramlet import load_dataset, read_tu, write_tu
    >>> mutag = load_dataset("MUTAG")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tu(mutag, f"{folder}/copy.zip")
    ...     read_tu(f"{folder}/copy.zip").graphs == mutag.graphs
    True
    """
    path = Path(path).expanduser()
    graphs, dataset = _graphs_of(data)
    if target is None and dataset is not None:
        target = dataset.target
    as_archive = path.suffix.lower() == ".zip"
    name = (path.stem if as_archive else path.name) if name is None else name
    if not re.fullmatch(r"[^\s/\\:]+", name) or name.startswith("."):
        raise ValueError(f"write_tu: {name!r} cannot be used in names of files; give another name.")
    _refuse_to_overwrite(path, overwrite, as_archive)
    contents = _contents(name, graphs, target, dataset)
    path.parent.mkdir(parents=True, exist_ok=True)
    if as_archive:
        _write_archive(path, name, contents)
    else:
        _write_folder(path, contents)


def _graphs_of(data: Any) -> tuple[GraphBatch, Dataset | None]:
    if isinstance(data, Dataset):
        return data.graphs, data
    if isinstance(data, GraphBatch):
        return data, None
    from gramlet.graphs.conversion.convert import as_batch

    return as_batch(data), None


# Contents of the files


def _contents(
    name: str, graphs: GraphBatch, target: Any, dataset: Dataset | None
) -> dict[str, str]:
    """The text of each file, by file name."""
    roles: dict[str, str] = {}
    values: dict[str, list[Any]] = {}
    extras: dict[str, Any] = {}
    src, dst = graphs.arcs()
    roles["A"] = _table(np.stack([src + 1, dst + 1], axis=1))
    roles["graph_indicator"] = _table((graphs.graph_of_node + 1)[:, None])
    for role, column in (("node_labels", graphs.node_labels), ("edge_labels", graphs.edge_labels)):
        if column is not None:
            roles[role], coded = _label_text(column, role)
            if coded is not None:
                values[role] = coded
    if graphs.directed:
        extras["directed"] = True
    _add_edge_attributes(graphs, roles, extras)
    for what in ("node_attributes", "edge_attributes"):
        rows = getattr(graphs, what)
        if rows is not None and len(rows) and not rows.shape[1]:
            raise ValueError(f"write_tu: {what} without columns cannot be stored; drop them.")
    if graphs.node_attributes is not None:
        roles["node_attributes"] = _float_table(graphs.node_attributes, "node_attributes")
        if not len(graphs.node_attributes):
            extras["node_attribute_columns"] = graphs.node_attributes.shape[1]
    if target is None:
        extras["n_graphs"] = len(graphs)
    else:
        role, roles_text, coded = _target_text(target, len(graphs))
        roles[role] = roles_text
        if coded is not None:
            values[role] = coded
            extras["target_dtype"] = _dtype_name(np.asarray(target))
    if values:
        extras["values"] = values
    return _named(name, roles, extras, dataset)


def _add_edge_attributes(graphs: GraphBatch, roles: dict[str, str], extras: dict[str, Any]) -> None:
    """Weights and attributes of edges share one file, weights first."""
    columns = []
    if graphs.edge_weights is not None:
        columns.append(_finite(graphs.edge_weights[:, None], "edge_weights"))
        extras["edge_weights"] = True
    if graphs.edge_attributes is not None:
        columns.append(_finite(graphs.edge_attributes, "edge_attributes"))
        if not len(graphs.edge_attributes):
            extras["edge_attribute_columns"] = graphs.edge_attributes.shape[1]
    if columns:
        roles["edge_attributes"] = _table(np.concatenate(columns, axis=1))


def _named(
    name: str, roles: dict[str, str], extras: dict[str, Any], dataset: Dataset | None
) -> dict[str, str]:
    contents = {f"{name}_{role}.txt": text for role, text in roles.items()}
    if dataset is not None:
        names = {
            field: encode_names(dataset[field], field)
            for field in NAME_FIELDS
            if dataset.get(field) is not None
        }
        if names:
            extras["names"] = names
        for field in ("ids", "molecules"):
            if dataset.get(field) is not None:
                extras[field] = [str(value) for value in dataset[field]]
        if dataset.get("target_name"):
            extras["target_name"] = dataset.target_name
        if dataset.description:
            contents["README.txt"] = dataset.description + "\n"
    if extras:
        try:
            text = json.dumps({**header(), **extras}, indent=1, allow_nan=False)
        except ValueError as why:
            raise ValueError(
                "write_tu: a label or target is NaN or infinite, which cannot be stored. Use "
                "strings or finite numbers."
            ) from why
        contents[f"{name}_gramlet.json"] = text + "\n"
    return contents


def _table(table: Array) -> str:
    if not len(table):
        return ""
    columns = [map(repr, column.tolist()) for column in table.T]
    rows: Iterable[str] = (
        columns[0] if len(columns) == 1 else map(", ".join, zip(*columns, strict=True))
    )
    return "\n".join(rows) + "\n"


def _float_table(table: Array, what: str) -> str:
    return _table(_finite(table, what))


def _finite(table: Array, what: str) -> Floats:
    table = np.asarray(table, dtype=np.float64)
    if not np.isfinite(table).all():
        raise ValueError(
            f"write_tu: {what} contains NaN or infinity, which the format does not support."
        )
    return table


def _label_text(column: Categorical, what: str) -> tuple[str, list[Any] | None]:
    """The text of a label file, and the values if it contains codes."""
    categories = column.categories
    if all(_is_integer(c) for c in categories):
        table = np.array(categories, dtype=np.int64).reshape(-1, 1)
    elif _are_integer_rows(categories):
        table = np.array(categories, dtype=np.int64)
    else:
        return _table(column.codes[:, None]), encode_values(categories, what)
    return _table(table[column.codes]), None


def _is_integer(value: Any) -> bool:
    return type(value) is int and _INT64.min <= value <= _INT64.max


def _are_integer_rows(values: tuple[Any, ...]) -> bool:
    """Whether all are tuples of integers of one length, at least two, to write as columns."""
    return (
        all(isinstance(v, tuple) and all(map(_is_integer, v)) for v in values)
        and len({len(v) for v in values}) == 1
        and len(values[0]) > 1
    )


def _target_text(target: Any, n_graphs: int) -> tuple[str, str, list[Any] | None]:
    """The role of the file for the target, its text, and the values if it contains codes."""
    target = np.asarray(target)
    if target.ndim not in (1, 2) or len(target) != n_graphs:
        raise ValueError(
            f"write_tu: the target has shape {target.shape} for {n_graphs} graphs; "
            "give one value (or one row) per graph."
        )
    table = target.reshape(n_graphs, -1) if target.size else target.reshape(n_graphs, 1)
    if target.dtype.kind == "f":
        return "graph_attributes", _float_table(table, "the target"), None
    if target.dtype.kind in "iu":
        return "graph_labels", _table(table), None
    if target.ndim == 2:
        raise ValueError("write_tu: a target with several columns must contain numbers.")
    column = Categorical.from_values(target)
    text = _table(column.codes[:, None])
    return "graph_labels", text, encode_values(column.categories, "the target")


def _dtype_name(target: Array) -> str:
    return {"b": "bool", "U": "str"}.get(target.dtype.kind, "object")


# Writing to disk


def _refuse_to_overwrite(path: Path, overwrite: bool, as_archive: bool) -> None:
    if not path.exists():
        return
    if not overwrite:
        raise FileExistsError(f"{path} already exists; give overwrite=True to replace it.")
    if as_archive != path.is_file():
        kind = "an archive" if as_archive else "a folder"
        raise FileExistsError(f"{path} exists and is not {kind}; remove it first.")
    if not as_archive:
        foreign = foreign_files(path)
        if foreign:
            raise FileExistsError(
                f"{path} contains files that are not part of one TU data set ({foreign[0]}); it is "
                "not replaced. Choose another folder."
            )


def _write_archive(path: Path, name: str, contents: dict[str, str]) -> None:
    with writing(path) as place, zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, text in contents.items():
            archive.writestr(f"{name}/{file}", text.encode())


def _write_folder(path: Path, contents: dict[str, str]) -> None:
    with writing_folder(path) as fresh:
        for file, text in contents.items():
            (fresh / file).write_bytes(text.encode())
