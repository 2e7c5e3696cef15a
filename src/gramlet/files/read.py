"""read: read files of graphs and molecules in every supported format.

Recognises the format of a path and calls the reader of that format.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from gramlet.files.dataset import Dataset, DatasetNotFoundError
from gramlet.files.folders import read_folder
from gramlet.files.kinds import (
    TABLES,
    ReadOptions,
    describe_kinds,
    kind_of,
    refuse_foreign_options,
)
from gramlet.files.molecule_tables import read_molecule_table
from gramlet.files.network_files import parse_graphs
from gramlet.files.network_graphs import dataset_of_graphs
from gramlet.files.opening import DEFAULT_MAX_BYTES, OnError, Problems
from gramlet.files.sdf import read_sdf
from gramlet.files.tu.dataset import read_tu
from gramlet.files.tu.members import is_tu


def read(
    path: str | Path,
    target: str | int | Literal[False] | None = None,
    *,
    molecules: str | int | None = None,
    id: str | int | None = None,
    sep: str | None = None,
    header: bool | None = None,
    directed: bool | None = None,
    node_labels: str | None = None,
    label: str | None = None,
    edge_label: str | None = None,
    weight: str | None = None,
    attr: str | None = None,
    edge_attr: str | None = None,
    edge_weights: bool | None = None,
    atoms: tuple[str, ...] = ("element", "charge"),
    hydrogens: bool = False,
    on_error: OnError = "raise",
    n_jobs: int | None = None,
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Dataset:
    """Read graphs or molecules from a file or folder in any supported format.

    ==========================  ==================================================================
    TU folder or ``.zip``       graphs and target, see :func:`read_tu`
    ``.csv``, ``.tsv``          a table with a column of SMILES strings, ids and a target; the
                                separator (``,`` ``;`` tab) and the headings are found
    ``.parquet``                a table like these, with the extra ``[tables]``
    ``.smi``                    a SMILES string per line, then a name
    ``.sdf``                    molecules with properties
    ``.graphml``, ``.gexf``,    graphs with data on nodes, edges and graphs
    ``.gml``, ``.json``,
    ``.jsonl`` (node-link)
    ``.g6``, ``.s6``            graphs without data, one per line
    folder of such files        one graph per file, sorted by name; or as listed in the folder's one
                                ``.csv`` or ``.tsv``, whose first column names files, with or
                                without ending
    ==========================  ==================================================================

    All but zips may be packed with gzip. Labels in .gml and .gexf that are the ids of the nodes, as
    networkx writes them, are not read, with a warning, unless ``label="label"`` is given. Nothing
    is downloaded and nothing in a file is executed. Self-loops are dropped and the
    first of parallel edges is kept, with one warning that counts what was left out.

    Parameters
    ----------
    path : str or Path
    target : str or int, optional
        The column of the target: its heading or its number from 0; in SDF a property; in network
        files the name of data of the graphs. By default "target", "label", "class", "y" or
        "activity", or in tables the only column left. For TU data ``"graph_labels"`` or
        ``"graph_attributes"``. False: no target, whatever the file contains, so that none can be
        missing.
    molecules : str or int, optional
        The column of SMILES strings; by default "smiles" or the like, or the only column that
        contains SMILES strings.
    id : str or int, optional
        The column of identifiers.
    sep, header : str, bool, optional
        The separator of a table, and whether its first row contains headings.
    directed : bool, optional
        Whether graphs are directed. By default .graphml, .gexf, .gml and node-link files specify
        it, and all others are undirected.
    node_labels : "degree" or "none", optional
        Degrees as labels instead of the file's, or no labels; as for :func:`as_batch`.
    label, edge_label, weight, attr, edge_attr : str, optional
        Names of columns in network files; by default "label", "label", "weight", "attr", "attr".
        Attributes may be lists, or numbers under ``attr_0``, ``attr_1``, ...
    edge_weights : bool, optional
        As for :func:`read_tu`.
    atoms, hydrogens, n_jobs
        How molecules are converted to graphs; as for :func:`molecules`.
    on_error : "raise" or "skip"
        What to do with rows, records or graphs that cannot be read or have no target: raise a
        ValueError with file and line, or leave them out. Then ``dataset.skipped`` lists them, one
        warning counts them, and ids and targets stay with their graphs.
    max_bytes : int
        The largest size of a file, unpacked.

    Returns
    -------
    Dataset
        ``graphs``, ``target``, ``name``, and where the file has them ``ids``, ``molecules``,
        ``target_name``, ``skipped``, and ``unread``, the columns or properties of molecules that
        are none of these.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import gramlet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "solubility.csv")
    ...     _ = file.write_text("name;smiles;logS\\nethanol;CCO;1.1\\nbenzene;c1ccccc1;-1.64\\n")
    ...     data = gramlet.read(file, target="logS")
    >>> data.target.tolist(), data.ids, data.task
    ([1.1, -1.64], ['ethanol', 'benzene'], 'regression')
    """
    path = Path(path).expanduser()
    options = ReadOptions(
        target,
        molecules,
        id,
        sep,
        header,
        directed,
        node_labels,
        label,
        edge_label,
        weight,
        attr,
        edge_attr,
        edge_weights,
        tuple(atoms),
        hydrogens,
        on_error,
        n_jobs,
        max_bytes,
    )
    return read_as(path, _kind(path), options)


def read_as(path: Path, kind: str, options: ReadOptions) -> Dataset:
    """Read a file of a known format: "tu", "folder", or one of the endings in `kinds`."""
    refuse_foreign_options(path, kind, options)
    problems = Problems(options.on_error)
    if kind == "tu":
        dataset = _read_tu(path, options)
    elif kind == "folder":
        dataset = read_folder(path, options, problems)
    elif kind in TABLES:
        dataset = read_molecule_table(path, options, problems)
    elif kind == ".sdf":
        dataset = read_sdf(path, options, problems)
    else:
        graphs = parse_graphs(path, kind, problems, options.max_bytes)
        dataset = dataset_of_graphs(graphs, path, options, problems)
    return adjusted(dataset, options.directed, options.node_labels)


def _kind(path: Path) -> str:
    """ "tu", "folder", or the ending that gives the format of a file."""
    if path.is_dir():
        return "tu" if is_tu(path) else "folder"
    if not path.exists():
        if is_tu(path):
            return "tu"
        raise DatasetNotFoundError(
            f"There is no file or folder {path}. Data sets are loaded by name with "
            "gramlet.load_dataset."
        )
    kind = kind_of(path)
    if kind is None:
        ending = f"its ending is {path.suffix!r}" if path.suffix else "its name has no ending"
        raise ValueError(f"{path} is of no known kind: {ending}. Known are {describe_kinds()}.")
    return "tu" if kind == ".zip" else kind


def _read_tu(path: Path, options: ReadOptions) -> Dataset:
    target = options.target
    if target is not False and target not in (None, "graph_labels", "graph_attributes"):
        raise ValueError(
            f"{path} is TU data, whose target= is 'graph_labels' or 'graph_attributes'; got "
            f"{target!r}."
        )
    dataset = read_tu(
        path,
        edge_weights=options.edge_weights,
        directed=options.directed,
        max_bytes=options.max_bytes,
    )
    if target is False:
        dataset["target"] = dataset["target_names"] = None
    elif target == "graph_attributes" and dataset.get("graph_attributes") is not None:
        dataset.target = dataset.graph_attributes
        dataset.target_names = None
    elif target is not None and (
        dataset.target is None or (dataset.target.dtype.kind == "f") != (target != "graph_labels")
    ):
        raise ValueError(f"{path} has no file {dataset.name}_{target}.txt.")
    return dataset


def adjusted(dataset: Dataset, directed: bool | None, node_labels: str | None) -> Dataset:
    """The data set with the requested directions and labels."""
    if directed is None and node_labels is None:
        return dataset
    from gramlet.graphs.conversion.convert import as_batch

    changes: dict[str, Any] = {}
    if directed is not None and dataset.graphs.directed != directed:
        changes["directed"] = directed
    if node_labels is not None:
        changes["node_labels"] = node_labels
    if changes:
        dataset.graphs = as_batch(dataset.graphs, **changes)
    return dataset
