"""stream: files of any size as an iterator of Datasets, in bounded memory.

Tables (.csv, .tsv, .smi) are read row by row. Files of other kinds have no rows to stop after: they
are read whole and handed out in blocks. What a row means is left to the readers of each kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gramlet.common.checks import require_count
from gramlet.common.notices import counted, warn_caller
from gramlet.files.dataset import Dataset, Skipped
from gramlet.files.kinds import TABLES, kind_of, stem_of
from gramlet.files.molecules.rows import MoleculeOptions
from gramlet.files.molecules.tables import dataset_of_table, stream_molecule_tables
from gramlet.files.problems import Problems
from gramlet.files.read import ReadOptions, adjusted, read, refuse_foreign_options

__all__ = ["stream", "stream_blocks"]

_NO_LIMIT = 2**63 - 1  # a file of any size

Block = Callable[[], Dataset]


def stream(path: str | Path, batch_size: int = 10_000, **reader_options: Any) -> Iterator[Dataset]:
    """Read a file in Datasets of at most ``batch_size`` graphs, in bounded memory.

    Tables of molecules (``.csv``, ``.tsv``, ``.smi``, packed or not) are read row by row: never
    more than one block is in memory. The columns are found in the first block. Files of other
    kinds are read whole and then handed out in blocks.

    Parameters
    ----------
    path : str or Path
    batch_size : int, default 10,000
        Rows per block; rows that are left out count.
    **reader_options
        As for `gramlet.read`: ``target``, ``molecules``, ``id``, ``on_error`` and others. With
        ``on_error="skip"`` each Dataset lists in ``skipped`` what was left out of its block, by
        line of the file, and one warning at the end counts all.

    Yields
    ------
    Dataset

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
    n_read, skipped = 0, 0
    first: Skipped | None = None
    for block in blocks:
        dataset = block()
        n_read += len(dataset.graphs)
        if dataset.skipped:
            first = first or dataset.skipped[0]
            skipped += len(dataset.skipped)
        yield dataset
    if skipped:
        warn_caller(
            f"{path}: {skipped:,} of {counted(n_read + skipped, 'row')} were left out, the first "
            f"at {first}. The field 'skipped' of each block lists them."
        )


def stream_blocks(
    path: str | Path, batch_size: int = 10_000, **reader_options: Any
) -> Iterator[Block]:
    """The blocks of `stream`, each a function that makes the Dataset.

    A block that nobody calls costs next to nothing, so that work can begin in the middle.
    """
    batch_size = require_count("batch_size", batch_size, 1)
    path = Path(path).expanduser()
    unknown = sorted(set(reader_options) - set(ReadOptions.__dataclass_fields__))
    if unknown:
        raise TypeError(f"stream() has no option {unknown[0]!r}; it takes those of gramlet.read.")
    kind = kind_of(path) if path.is_file() else None
    if kind in TABLES:
        options = ReadOptions(**{"max_bytes": _NO_LIMIT, **reader_options})
        refuse_foreign_options(path, kind, options)
        return _table_blocks(path, kind, batch_size, options)
    return _whole_blocks(path, batch_size, reader_options)


def _table_blocks(path: Path, kind: str, batch_size: int, options: ReadOptions) -> Iterator[Block]:
    how = MoleculeOptions(tuple(options.atoms), options.hydrogens, options.n_jobs)
    tables = stream_molecule_tables(
        path, smi=kind == ".smi", target=options.target, molecules=options.molecules,
        id=options.id, sep=options.sep, header=options.header, batch_size=batch_size,
        max_bytes=options.max_bytes,
    )  # fmt: skip
    for table, columns in tables:

        def block(table: Any = table, columns: Any = columns) -> Dataset:
            problems = Problems(options.on_error)
            with warnings.catch_warnings():
                # One warning for the whole file, at its end.
                warnings.filterwarnings("ignore", message=".*were left out", category=UserWarning)
                found = dataset_of_table(table, columns, how, problems, stem_of(path))
            return adjusted(found, options.directed, options.node_labels)

        yield block


def _whole_blocks(path: Path, batch_size: int, options: dict[str, Any]) -> Iterator[Block]:
    dataset = read(path, **options)
    for begin in range(0, len(dataset.graphs), batch_size):
        part = slice(begin, begin + batch_size)

        def block(part: slice = part) -> Dataset:
            return Dataset(
                dataset.graphs[part],
                None if dataset.target is None else dataset.target[part],
                name=dataset.name,
                ids=None if dataset.ids is None else list(dataset.ids[part]),
                molecules=None if dataset.molecules is None else list(dataset.molecules[part]),
                target_name=dataset.target_name,
            )

        yield block
