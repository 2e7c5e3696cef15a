"""Data sets by name: from a local folder, from the package, from the cache, or downloaded.

This module decides where to look and in which order, and reads the embedded molecules of B3DB;
`tu` reads other files, `catalogue` lists the names and their statistics, and `download` accesses
the network. How B3DB was made is in ``tools/prepare_b3db.py``, and in ``files/data/README.md``.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, overload

import numpy as np

from gramlet.common.arrays import Array
from gramlet.common.places import cache_folder
from gramlet.files.dataset import Dataset, DatasetNotFoundError
from gramlet.files.datasets.catalogue import content_digest, similar_names
from gramlet.files.datasets.download import BASE_URL, DownloadError, fetch
from gramlet.files.kinds import kind_of
from gramlet.files.tu.dataset import read_tu
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical

_EMBEDDED = Path(__file__).parents[1] / "data"
_EMBEDDED_NAMES = {name.lower(): name for name in ("MUTAG", "B3DB", "B3DB-logBB")}

# Names of classes that are neither in the files nor in their README.
_TARGET_NAMES = {"MUTAG": {-1: "not mutagenic", 1: "mutagenic"}}


@overload
def load_dataset(
    name: str,
    data_home: str | Path | None = ...,
    *,
    download: bool = ...,
    edge_weights: bool | None = ...,
    return_X_y: Literal[False] = ...,
) -> Dataset: ...


@overload
def load_dataset(
    name: str,
    data_home: str | Path | None = ...,
    *,
    download: bool = ...,
    edge_weights: bool | None = ...,
    return_X_y: Literal[True],
) -> tuple[GraphBatch, Array]: ...


def load_dataset(
    name: str,
    data_home: str | Path | None = None,
    *,
    download: bool = True,
    edge_weights: bool | None = None,
    return_X_y: bool = False,
) -> Dataset | tuple[GraphBatch, Array]:
    """Load a data set by its name: an embedded one, or one of the TU collection.

    A folder ``NAME`` or an archive ``NAME.zip`` is looked for in ``data_home``, in the folders of
    the environment variable ``GRAMLET_DATA``, in the package (MUTAG, B3DB and B3DB-logBB, in upper
    or lower case), and in the cache (``GRAMLET_CACHE``, or the platform's cache folder). If it is
    in none of them, it is downloaded into the cache from the address in ``GRAMLET_URL``, or else
    from the collection's own, and checked against its SHA-256 digest where that is known.

    Parameters
    ----------
    name : str
        As in :func:`list_datasets`, or any other name of the collection.
    data_home : str or Path, optional
        A folder that contains data sets.
    download : bool
        Whether the network may be used.
    edge_weights : bool, optional
        As for :func:`read_tu`.
    return_X_y : bool
        Whether to return ``(graphs, target)`` alone.

    Returns
    -------
    Dataset
        ``graphs``, ``target``, ``name``, ``description`` and, where known, ``target_names``,
        ``node_label_names``, ``edge_label_names``; for B3DB also ``molecules`` and ``ids``.

    References
    ----------
    Morris et al., TUDataset: A collection of benchmark datasets for learning with graphs, 2020.

    Examples
    --------
    >>> from gramlet import load_dataset
    >>> mutag = load_dataset("MUTAG")
    >>> mutag.graphs[0]
    GraphBatch(1 graph, 17 nodes, 19 edges, 3 node labels, 3 edge labels)
    >>> mutag.target[:5].tolist()
    [1, -1, -1, 1, -1]
    >>> X, y = load_dataset("mutag", return_X_y=True)
    >>> load_dataset("B3DB").molecules[0]
    'O=C(O)c1cc(N=Nc2ccc(S(=O)(=O)Nc3ccccn3)cc2)ccc1O'
    """
    dataset = _load(name, data_home, download, edge_weights)
    return (dataset.graphs, dataset.target) if return_X_y else dataset


def _load(
    name: str, data_home: str | Path | None, download: bool, edge_weights: bool | None
) -> Dataset:
    is_name = isinstance(name, str) and re.fullmatch(r"[A-Za-z0-9][\w.-]*", name, re.ASCII)
    if not is_name or kind_of(Path(name)) is not None:
        raise ValueError(
            f"load_dataset: {name!r} is not the name of a data set (letters, digits, '-', '_', "
            "'.'). To read files of your own use gramlet.read(path)."
        )
    if data_home is not None and not Path(data_home).expanduser().is_dir():
        raise DatasetNotFoundError(f"load_dataset: data_home={str(data_home)!r} is not a folder.")
    own = _own_folders(data_home)
    if next(_places(name, own), None) is None:
        name = _EMBEDDED_NAMES.get(name.lower(), name)
    folders = [*own, _EMBEDDED, cache_folder() / "datasets"]
    place = next(_places(name, own if name in B3DB_NAMES else folders), None)
    if place is None and name in B3DB_NAMES:
        return load_b3db(name)
    if place is None:
        place = _download(name, folders[-1], download)
    dataset = read_tu(place, edge_weights=edge_weights)
    dataset.name = name
    if dataset.target_names is None:
        dataset.target_names = _TARGET_NAMES.get(name)
    return dataset


def _own_folders(data_home: str | Path | None) -> list[Path]:
    stated = [] if data_home is None else [str(data_home)]
    listed = os.environ.get("GRAMLET_DATA", "").split(os.pathsep)
    return [Path(folder).expanduser() for folder in [*stated, *listed] if folder]


def _places(name: str, folders: list[Path]) -> Iterator[Path]:
    for folder in folders:
        if (folder / name).is_dir():
            yield folder / name
        if (folder / f"{name}.zip").is_file():
            yield folder / f"{name}.zip"


def _download(name: str, folder: Path, allowed: bool) -> Path:
    base = os.environ.get("GRAMLET_URL") or BASE_URL
    if not allowed:
        raise DatasetNotFoundError(_not_found(name, "downloading was not allowed"))
    try:
        return fetch(
            f"{base.rstrip('/')}/{name}.zip", folder / f"{name}.zip", digest=content_digest(name)
        )
    except DownloadError as why:
        raise DatasetNotFoundError(_not_found(name, str(why).rstrip("."))) from why
    except OSError as why:
        reason = f"the cache folder {folder} cannot be written ({why})"
        raise DatasetNotFoundError(_not_found(name, reason)) from why


def _not_found(name: str, reason: str) -> str:
    meant = [other for other in similar_names(name) if other != name]
    hint = f" Did you mean {' or '.join(meant)}?" if meant else ""
    return (
        f"The data set {name!r} is not on this machine, and could not be downloaded: {reason}."
        f"{hint} Put {name}.zip (or a folder {name}) into a folder of your own and name it with "
        f"data_home= (--data-dir) or the environment variable GRAMLET_DATA; the collection is at "
        f"{BASE_URL}."
    )


B3DB_NAMES = ("B3DB", "B3DB-logBB")

_DATA = Path(__file__).parents[1] / "data"
_DESCRIPTION = """\
Molecules that do (BBB+) or do not (BBB-) pass the blood-brain barrier, and logBB, the decimal
logarithm of the ratio of concentrations in brain and blood, where it was measured. Prepared from
the package qc-B3DB 1.1.1 (CC0): flat molecules, each once, those with conflicting values left out.
Meng, Xi, Huang, Ayers, A curated diverse molecular database of blood-brain barrier permeability
with chemical descriptors, Scientific Data 8, 289, 2021."""


def load_b3db(name: str = "B3DB") -> Dataset:
    """The embedded data set B3DB, or its part with measured values.

    Parameters
    ----------
    name : {"B3DB", "B3DB-logBB"}
        All molecules with their classes (1 for BBB+, 0 for BBB-), or the molecules with a measured
        logBB as the target.

    Returns
    -------
    Dataset
        With ``molecules`` (SMILES strings), ``ids`` (numbers of the original table) and
        ``target_name``; "B3DB" also has ``logBB``, which is NaN where it was not measured.

    Examples
    --------
    >>> from gramlet.files.datasets.datasets import load_b3db
    >>> load_b3db().molecules[3]
    'CCNC(=NCCSCc1ncccc1Br)NC#N'
    >>> load_b3db("B3DB-logBB").target[:4].tolist()
    [-2.69, -2.52, -2.4, -2.15]
    """
    with gzip.open(_DATA / "B3DB.csv.gz", "rt", encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file))
    graphs = _stored_graphs(_DATA / "B3DB.npz", [row["smiles"] for row in rows])
    ids = [row["id"] for row in rows]
    values = np.array([float(row["logBB"] or "nan") for row in rows])
    if name == "B3DB":
        return Dataset(
            graphs,
            np.array([int(row["class"]) for row in rows]),
            name=name,
            description=_DESCRIPTION,
            target_names={1: "BBB+", 0: "BBB-"},
            target_name="class",
            ids=ids,
            logBB=values,
        )
    measured = np.flatnonzero(~np.isnan(values))
    return Dataset(
        graphs[measured],
        values[measured],
        name=name,
        description=_DESCRIPTION,
        target_name="logBB",
        ids=[ids[i] for i in measured],
    )


def _stored_graphs(path: Path, smiles: list[str]) -> GraphBatch:
    """The graphs: per atom the number of earlier neighbours, per bond the distance and the type."""
    with np.load(path, allow_pickle=False) as stored:
        sizes = stored["sizes"].astype(np.int64)
        earlier = stored["earlier"].astype(np.int64)
        atoms = np.repeat(np.arange(len(earlier)), earlier)
        return GraphBatch.from_arcs(
            np.concatenate([[0], np.cumsum(sizes)]),
            atoms,
            atoms - stored["steps"],
            node_labels=Categorical(stored["atoms"], stored["atom_labels"].tolist()),
            edge_labels=Categorical(stored["bonds"], stored["bond_labels"].tolist()),
            molecules=smiles,
        )
