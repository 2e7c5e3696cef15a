"""Runs tables cell by cell and experiments data set by data set; finished ones are reused.

A cell that another version of gramlet computed, or that was computed with other options or another
protocol, is computed again. A row that several tables have in common is computed once. If a data
set is missing, its cells say so and the others run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.papers import experiments
from benchmarks.papers.cells import Cell, CellFolder
from benchmarks.papers.tables import SELECTIONS, Experiment, Published, Row, Table, published
from gramlet._version import __version__
from gramlet.evaluation.protocol import Protocol
from gramlet.evaluation.run import evaluate
from gramlet.evaluation.store import Store
from gramlet.files.dataset import Dataset, DatasetNotFoundError
from gramlet.files.datasets.datasets import load_dataset
from gramlet.files.datasets.download import DownloadError
from gramlet.graphs.fingerprint import digest_of
from gramlet.kernels import registry


@dataclass(frozen=True)
class Line:
    """A row of a table on a data set: the published number, and the computed cells.

    Attributes
    ----------
    data, row : str
    published : Published or None
    cells : dict
        Cells by selection.
    missing : str
        Why there are no cells, and what to do about it; "" if there are.
    """

    data: str
    row: str
    published: Published | None
    cells: dict[str, Cell]
    missing: str = ""


def run_table(
    table: Table,
    folder: CellFolder,
    data: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
    repeats: int | None = None,
    selections: Sequence[str] = SELECTIONS,
    data_home: str | Path | None = None,
    download: bool = False,
    n_jobs: int | None = None,
    tell: Callable[[Line], None] = lambda line: None,
) -> list[Line]:
    """Compute the missing cells of a table.

    Parameters
    ----------
    table : Table
    folder : CellFolder
        Where finished cells are kept. A cell of this version, of the same row and protocol, with
        at least as many repeats is reused.
    data, rows : sequences of str, optional
        Some of the table's data sets and rows; by default all.
    repeats : int, optional
        By default the protocol's.
    selections : sequence of {"nested", "best-of-grid"}
        Those among them that the table has are computed.
    data_home : path, optional
        A folder with data sets.
    download : bool
        Whether missing data sets are downloaded.
    n_jobs : int or None
    tell : callable
        Called with each line when it is finished.

    Returns
    -------
    list of Line
    """
    protocol = table.protocol if repeats is None else replace(table.protocol, repeats=repeats)
    lines = []
    for name in _chosen(data, table.data, "data set", table.name):
        loaded = _loaded(name, data_home, download)
        for wanted in _chosen(rows, [row.name for row in table.rows], "row", table.name):
            row = table.row(wanted)
            printed = published(table.name, row.name, name)
            if not row.kernel:
                line = Line(name, row.name, printed, {}, "published numbers only")
            elif isinstance(loaded, str):
                line = Line(name, row.name, printed, {}, loaded)
            else:
                line = _line(table, row, loaded, name, protocol, selections, folder, n_jobs)
            tell(line)
            lines.append(line)
    return lines


def _chosen(
    wanted: Sequence[str] | None, offered: Sequence[str], what: str, table: str
) -> Sequence[str]:
    if wanted is None:
        return offered
    for name in wanted:
        if name not in offered:
            raise ValueError(
                f"Table {table!r} has no {what} {name!r}; it has {', '.join(offered)}."
            )
    return wanted


def _loaded(name: str, data_home: str | Path | None, download: bool) -> Dataset | str:
    """The data set, or the reason why it is missing and how to get it."""
    try:
        return load_dataset(name, data_home, download=download)
    except (DatasetNotFoundError, DownloadError) as why:
        way = "" if download else "--download gets it, or "
        return (
            f"{name} is missing ({str(why).splitlines()[0].rstrip('.')}). {way.capitalize()}"
            f"put {name}.zip into a folder and name it with --data-dir."
        )


def _line(
    table: Table,
    row: Row,
    data: Dataset,
    name: str,
    protocol: Protocol,
    selections: Sequence[str],
    folder: CellFolder,
    n_jobs: int | None,
) -> Line:
    """A row on a data set; if it needs a library that is not installed, ``missing`` says so."""
    printed = published(table.name, row.name, name)
    try:
        cells = {
            selection: _cell(table, row, data, name, protocol, selection, folder, n_jobs)
            for selection in selections
            if selection in table.selections
        }
    except ImportError as why:
        return Line(name, row.name, printed, {}, f"{row.name}: {why}")
    return Line(name, row.name, printed, cells)


def _estimator(row: Row) -> Any:
    networks = {"gin": "GINClassifier", "deep-sets": "DeepSetsClassifier"}
    if row.kernel in networks:
        from benchmarks.papers import network_classifiers

        return getattr(network_classifiers, networks[row.kernel])(**row.params)
    return registry.make(row.kernel, **row.params)


def _settings_of(row: Row, protocol: Protocol) -> str:
    """A digest of the settings of a cell, except the graphs and the number of repeats."""
    rules = {key: value for key, value in protocol.to_dict().items() if key != "repeats"}
    chosen = [row.kernel, dict(row.params), dict(row.options), row.classifier, row.fit_once, rules]
    return digest_of(chosen)[:16]


def _cell(
    table: Table,
    row: Row,
    data: Dataset,
    name: str,
    protocol: Protocol,
    selection: str,
    folder: CellFolder,
    n_jobs: int | None,
) -> Cell:
    rules = replace(protocol, selection=selection)
    if row.C is not None:
        rules = replace(rules, C=row.C)
    settings = _settings_of(row, rules)
    kept = folder.read(table.name, row.name, name, selection)
    if (
        kept is not None
        and kept.repeats >= protocol.repeats
        and (kept.version, kept.settings) == (__version__, settings)
    ):
        return kept
    equal = folder.equal(name, selection, settings, protocol.repeats)
    if equal is not None:  # the same row of another table
        cell = replace(equal, table=table.name, row=row.name)
        folder.write(cell)
        return cell
    kernel = _estimator(row)
    # Embeddings' features are scaled by the evaluation; kernels are normalised.
    normalize = True if hasattr(kernel, "normalize") else None
    begin = time.process_time()
    result = evaluate(
        kernel,
        data.graphs,
        data.target,
        rules,
        options=row.options,
        classifier=row.classifier,
        fit_once=row.fit_once,
        normalize=normalize,
        name=row.name,
        dataset=name,
        baselines=False,
        store=Store(folder.parts),
        n_jobs=n_jobs,
    )
    seconds = time.process_time() - begin
    cell = Cell.of(result, table.name, row.name, rules, seconds, settings)
    folder.write(cell)
    return cell


def run_experiment(
    experiment: Experiment,
    folder: CellFolder,
    data: Sequence[str] | None = None,
    repeats: int | None = None,
    data_home: str | Path | None = None,
    download: bool = False,
    n_jobs: int | None = None,
) -> dict[str, Any]:
    """Run an experiment, unless this version has run it already.

    Returns
    -------
    dict
        By data set ("" if the experiment generates its own), the measurements: a dict with a
        "heading", a list of "rows", and the seconds taken; or, for a missing data set, a string
        that says so.
    """
    function = getattr(experiments, experiment.function)
    found: dict[str, Any] = {}
    names = _chosen(data, experiment.data, "data set", experiment.name) if experiment.data else [""]
    for name in names:
        kept = folder.read_measurements(experiment.name, name)
        asked = {} if repeats is None else {"repeats": repeats}
        current = kept is not None and kept["version"] == __version__
        if current and kept is not None and kept["repeats"] >= (repeats or 1):
            found[name] = kept
            continue
        if name:
            loaded = _loaded(name, data_home, download)
            if isinstance(loaded, str):
                found[name] = loaded
                continue
            measured = function(loaded, n_jobs=n_jobs, **asked)
        else:
            measured = function(n_jobs=n_jobs, **asked)
        folder.write_measurements(experiment.name, name, measured)
        found[name] = {**measured, "version": __version__}
    return found
