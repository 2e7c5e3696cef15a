"""stream: files of any size as an iterator of Datasets, in bounded memory.

Tables (.csv, .tsv, .smi) are read row by row. Files of other formats are read completely and
returned in blocks. The readers of each format interpret the rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gramlet.common.checks import require_count
from gramlet.common.notices import counted, warn_caller
from gramlet.files.dataset import Dataset, Skipped
from gramlet.files.kinds import TABLES, ReadOptions, kind_of, refuse_foreign_options
from gramlet.files.molecule_tables import dataset_of_table, molecule_tables, scan_target
from gramlet.files.opening import Problems
from gramlet.files.read import adjusted, read
from gramlet.files.tables import Table
from gramlet.files.target import Task, odd_word_text

_NO_LIMIT = 2**63 - 1  # a file of any size
_BLOCK = 10_000

Block = Callable[[], Dataset]


def stream(path: str | Path, batch_size: int = 10_000, **reader_options: Any) -> Iterator[Dataset]:
    """Read a file in Datasets of at most ``batch_size`` graphs, in bounded memory.

    Tables of molecules (``.csv``, ``.tsv``, ``.smi``, packed or not) are read row by row: never
    more than one block is in memory. The columns are found in the first block. If there is a
    target, the file is read twice: first to see how its values are written, so that all blocks have
    targets of one type and the task of the whole file. Files of other formats are read completely
    and then returned in blocks.

    Parameters
    ----------
    path : str or Path
    batch_size : int, default 10,000
        Rows per block, including rows that are left out.
    **reader_options
        As for `gramlet.read`: ``target``, ``molecules``, ``id``, ``on_error`` and others. With
        ``on_error="skip"`` each Dataset lists in ``skipped`` what was left out of its block, by
        line of the file, and one warning at the end counts all.

    Yields
    ------
    Dataset
        For tables its field ``lines`` contains the line of each graph.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import gramlet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "alkanes.csv")
    ...     _ = file.write_text("smiles,y\\nC,0\\nCC,1\\nCCC,1\\n")
    ...     [(len(block.graphs), block.target.tolist()) for block in gramlet.stream(file, 2)]
    [(2, [0, 1]), (1, [1])]
    """
    blocks = stream_blocks(path, batch_size, **reader_options)
    return _read_all(Path(path), blocks)


def _read_all(path: Path, blocks: Iterator[Block]) -> Iterator[Dataset]:
    left_out = LeftOut(path)
    for block in blocks:
        dataset = block()
        left_out.count(dataset)
        yield dataset
    left_out.finish("The field 'skipped' of each block lists them.")


@dataclass
class LeftOut:
    """How many rows of a file were read and left out, block by block."""

    path: Path
    n_read: int = 0
    n_skipped: int = 0
    first: Skipped | None = field(default=None)

    def count(self, dataset: Dataset) -> None:
        """Add a block."""
        self.add(len(dataset.graphs), dataset.skipped or ())

    def add(self, n_read: int, skipped: Sequence[Skipped]) -> None:
        """Add so many rows, and what was left out between them."""
        self.n_read += n_read
        self.n_skipped += len(skipped)
        if skipped:
            self.first = self.first or skipped[0]

    def finish(self, where: str) -> None:
        """Warn of what was left out, and where it is listed; raise if nothing was read."""
        if not self.n_skipped:
            return
        total = counted(self.n_read + self.n_skipped, "row")
        if not self.n_read:
            raise ValueError(
                f"{self.path}: none of {total} can be read; the first is {self.first}."
            )
        warn_caller(
            f"{self.path}: {self.n_skipped:,} of {total} were left out, the first at "
            f"{self.first}. {where}"
        )


def stream_blocks(
    path: str | Path, batch_size: int = 10_000, **reader_options: Any
) -> Iterator[Block]:
    """The blocks of `stream`, each a function that returns the Dataset.

    A block that is not called costs almost nothing, so that work can start in the middle.
    """
    batch_size = require_count("batch_size", batch_size, 1)
    path = Path(path).expanduser()
    unknown = sorted(set(reader_options) - set(ReadOptions.__dataclass_fields__))
    if unknown:
        raise TypeError(f"stream() has no option {unknown[0]!r}; it takes those of gramlet.read.")
    kind = kind_of(path) if path.is_file() else None
    if kind in TABLES:
        options = _options(reader_options)
        refuse_foreign_options(path, kind, options)
        return _table_blocks(path, batch_size, options)
    return _whole_blocks(path, batch_size, reader_options)


def missing_target(path: Path, **reader_options: Any) -> str | None:
    """The first place where a table of molecules lacks a target, if it has such a column; or None.

    Reads the file without making graphs.
    """
    return scan_target(path, _options(reader_options), _BLOCK).missing


def _options(reader_options: dict[str, Any]) -> ReadOptions:
    return ReadOptions(**{"max_bytes": _NO_LIMIT, **reader_options})


def _table_blocks(path: Path, batch_size: int, options: ReadOptions) -> Iterator[Block]:
    columns, target, _ = scan_target(path, options, batch_size)
    written, task = (None, None) if target is None else (target.written, target.task())
    if written is not None and written.odd_word is not None:
        warn_caller(f"{path}: a target is {odd_word_text(written.odd_word)}")
    for table, _ in molecule_tables(path, options, batch_size):

        def block(table: Table = table) -> Dataset:
            problems = Problems(options.on_error, of_block=True)
            dataset = dataset_of_table(table, columns, options, problems, written)
            if columns.id is not None and dataset.ids is None:
                dataset.ids = [""] * len(dataset.graphs)  # blocks of one file have equal columns
            if task is not None:
                dataset["task"] = task
            left_out = {each.place for each in problems.skipped}
            dataset.lines = [row.line for row in table.rows if table.place(row) not in left_out]
            return adjusted(dataset, options.directed, options.node_labels)

        yield block


def _whole_blocks(path: Path, batch_size: int, options: dict[str, Any]) -> Iterator[Block]:
    with warnings.catch_warnings():
        # One warning for the whole file, at its end.
        warnings.filterwarnings("ignore", message=".*were left out", category=UserWarning)
        dataset = read(path, **options)
    yield from slices_of(dataset, batch_size)


def slices_of(dataset: Dataset, batch_size: int) -> Iterator[Block]:
    """A data set as blocks; what its reader left out is listed in the first."""
    task = _task_of(dataset)
    for begin in range(0, len(dataset.graphs), batch_size):
        yield _Slice(dataset, begin, begin + batch_size, task)


def _task_of(dataset: Dataset) -> Task | None:
    """The task of a data set; None if values are missing, which is an error where it is needed."""
    try:
        return dataset.task
    except ValueError:
        return None


@dataclass(frozen=True)
class _Slice:
    """Some graphs of a data set, so that only these are sent to another process."""

    dataset: Dataset
    begin: int
    end: int
    task: Task | None = None

    def __call__(self) -> Dataset:
        whole, part = self.dataset, slice(self.begin, self.end)
        return Dataset(
            whole.graphs[part],
            None if whole.target is None else whole.target[part],
            name=whole.name,
            ids=None if whole.ids is None else list(whole.ids[part]),
            molecules=None if whole.molecules is None else list(whole.molecules[part]),
            target_name=whole.target_name,
            skipped=whole.skipped if self.begin == 0 else None,
            task=self.task,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        dataset = self()
        return _Slice, (dataset, 0, len(dataset.graphs), self.task)
