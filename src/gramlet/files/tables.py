"""Tables in text: `.csv`, `.tsv` and `.smi`, with separator, headings and columns found.

Returns rows with the number of the line on which each begins. The callers interpret the cells.
"""

from __future__ import annotations

import csv
import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from gramlet.common.notices import warn_caller
from gramlet.files.kinds import kind_of
from gramlet.files.opening import DEFAULT_MAX_BYTES, is_text, open_text

__all__ = [
    "ColumnNotFoundError",
    "Row",
    "Table",
    "find_column",
    "read_lines",
    "read_table",
    "stream_lines",
    "stream_tables",
]

SEPARATORS = (",", ";", "\t")

_HEAD = 60
_PARQUET_ROWS = 4096
_LONGEST_LINE = 1 << 24


class ColumnNotFoundError(ValueError):
    """A table does not have the requested column."""


@dataclass(frozen=True)
class Row:
    """The cells of one row, and its first line; ``problem`` is set if it cannot be used."""

    line: int
    cells: list[str]
    problem: str | None = None


@dataclass(frozen=True)
class Table:
    """Rows under headings; without headings, columns are known by number."""

    path: Path
    headings: list[str] | None
    rows: list[Row]

    @property
    def n_columns(self) -> int:
        return len(self.headings) if self.headings is not None else len(self.rows[0].cells)

    def name(self, column: int) -> str:
        """The name of a column in messages."""
        return repr(self.headings[column]) if self.headings is not None else f"{column}"

    def place(self, row: Row) -> str:
        """The place of a row, for messages."""
        return f"{self.path}, {'row' if _is_parquet(self.path) else 'line'} {row.line}"

    def describe(self) -> str:
        """The columns of the table, for messages."""
        if self.headings is None:
            return f"there are {self.n_columns} columns, numbered from 0"
        if len(self.headings) == 1:
            return f"there is {self.headings[0]!r}, and no comma, semicolon or tab between columns"
        return f"there are {', '.join(map(repr, self.headings))}"


def read_table(
    path: Path,
    sep: str | None,
    is_headings: Callable[[list[str]], bool],
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Table:
    """The rows of a `.csv` or `.tsv` file that are not empty.

    ``is_headings`` decides whether the first row contains headings. All rows must have as many
    cells as the first; missing cells at the end of a row count as empty.
    """
    if _is_parquet(path):
        names, found = _parquet_rows(path, max_bytes)
        rows = list(found)
        if not rows:
            raise ValueError(f"{path} has no rows.")
        return Table(path, names, rows)
    with open_text(path, max_bytes) as text:
        lines = _lines(text, path)
        head = list(itertools.islice(lines, _HEAD))
        sep = sep or _separator(head, path)
        table = list(_csv_rows(itertools.chain(head, lines), sep))
    if not table:
        raise ValueError(f"{path} has no rows.")
    _refuse_problem(path, table[0])
    headings = table.pop(0).cells if is_headings(table[0].cells) else None
    if headings is not None:
        _warn_of_data(path, headings, table[:_HEAD])
    if not table:
        raise ValueError(f"{path} has a line of headings and no rows.")
    width = len(headings) if headings is not None else len(table[0].cells)
    return Table(path, headings, [_filled(row, width) for row in table])


def stream_tables(
    path: Path,
    sep: str | None,
    is_headings: Callable[[list[str]], bool],
    batch_size: int,
    max_bytes: int,
) -> Iterator[Table]:
    """The rows of a `.csv` or `.tsv` file in tables of ``batch_size`` rows, read lazily."""
    if _is_parquet(path):
        names, rows = _parquet_rows(path, max_bytes)
        empty = True
        while block := list(itertools.islice(rows, batch_size)):
            empty = False
            yield Table(path, names, block)
        if empty:
            raise ValueError(f"{path} has no rows.")
        return
    with open_text(path, max_bytes, "surrogateescape") as text:
        lines = _lines(text, path)
        head = list(itertools.islice(lines, _HEAD))
        rows = _csv_rows(itertools.chain(head, lines), sep or _separator(head, path))
        first = next(rows, None)
        if first is None:
            raise ValueError(f"{path} has no rows.")
        _refuse_problem(path, first)
        headings = first.cells if is_headings(first.cells) else None
        if headings is None:
            rows = itertools.chain([first], rows)
        else:
            following = list(itertools.islice(rows, _HEAD))
            _warn_of_data(path, headings, following)
            rows = itertools.chain(following, rows)
        width = len(first.cells)
        empty = True
        while block := list(itertools.islice(rows, batch_size)):
            empty = False
            yield Table(path, headings, [_filled(row, width) for row in block])
        if empty:
            raise ValueError(f"{path} has a line of headings and no rows.")


def _is_parquet(path: Path) -> bool:
    return kind_of(path) == ".parquet"


def _parquet_rows(path: Path, max_bytes: int) -> tuple[list[str], Iterator[Row]]:
    """The headings, and the rows with cells as text, some thousand at a time."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise ImportError(
            f"Reading {path.name} needs pyarrow: pip install gramlet[tables]"
        ) from None
    damage = (ArrowException, OSError, ValueError)
    try:
        file = ParquetFile(path)
        facts = file.metadata
        size = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
        headings = [str(name) for name in file.schema_arrow.names]
    except damage as why:
        raise ValueError(f"{path} cannot be read as Parquet ({_brief(why)}).") from None
    if size > max_bytes:
        raise ValueError(
            f"{path} has more than {max_bytes:,} bytes, unpacked. If you trust the file, raise "
            "max_bytes."
        )

    def rows() -> Iterator[Row]:
        number = 0
        with file:
            batches = file.iter_batches(_PARQUET_ROWS)
            while True:
                try:
                    batch = next(batches, None)
                    columns = [] if batch is None else [c.to_pylist() for c in batch.columns]
                except damage as why:
                    raise ValueError(f"{path} cannot be read as Parquet ({_brief(why)}).") from None
                if batch is None:
                    return
                for cells in zip(*columns, strict=True):
                    number += 1
                    yield Row(number, ["" if c is None else str(c).strip() for c in cells])

    return headings, rows()


def _brief(why: BaseException) -> str:
    return " ".join(str(why).split())[:200] or type(why).__name__


def _warn_of_data(path: Path, headings: list[str], rows: list[Row]) -> None:
    """Warn if a heading is also a value of its column: the first row may be data."""
    for i, heading in enumerate(headings):
        if heading and any(row.cells[i : i + 1] == [heading] for row in rows):
            warn_caller(
                f"{path}: the first row is read as headings, but {heading!r} is also a value of "
                "its column. If the row is data, correct it, or give header=False."
            )
            return


def stream_lines(path: Path, batch_size: int, max_bytes: int) -> Iterator[list[Row]]:
    """The lines of a `.smi` file, as `read_lines` returns them, in lists of ``batch_size``."""
    with open_text(path, max_bytes, "surrogateescape") as text:
        rows = _smi_rows(text, path)
        empty = True
        while block := list(itertools.islice(rows, batch_size)):
            empty = False
            yield block
    if empty:
        raise ValueError(f"{path} has no rows.")


def _smi_rows(text: TextIO, path: Path) -> Iterator[Row]:
    for number, line in enumerate(_lines(text, path), start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield Row(number, [line.strip()], _problem(line))


def _lines(text: TextIO, path: Path) -> Iterator[str]:
    number = 1
    while line := text.readline(_LONGEST_LINE):
        if len(line) == _LONGEST_LINE:
            raise ValueError(
                f"{path}, line {number} is longer than {_LONGEST_LINE:,} characters; this is not "
                "a table."
            )
        yield line
        number += 1


def _csv_rows(lines: Iterator[str], sep: str) -> Iterator[Row]:
    """The rows. If one cannot be parsed, each of its lines is a row with the problem.

    Each of its lines, since a quote that is not closed makes one row of all that follows. Reading
    continues after them.
    """
    reader = csv.reader(lines, delimiter=sep, strict=True)
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as why:
            problem = _parse_problem(why, line, reader.line_num)
            yield from (Row(number, [], problem) for number in range(line, reader.line_num + 1))
        else:
            if any(cell.strip() for cell in cells):
                yield Row(line, [cell.strip() for cell in cells], _problem("".join(cells)))
        line = reader.line_num + 1


def _parse_problem(why: csv.Error, first: int, last: int) -> str:
    reason = "a quoted field does not end" if "unexpected end" in str(why) else str(why)
    if last == first:
        return reason
    return f"{reason} in the row that begins in line {first} and is read up to line {last}"


def _problem(text: str) -> str | None:
    return None if is_text(text) else "it is not text in UTF-8"


def _refuse_problem(path: Path, row: Row) -> None:
    if row.problem is not None:
        raise ValueError(f"{path}, line {row.line}: {row.problem}.")


def _separator(head: list[str], path: Path) -> str:
    """The separator that gives most of the first rows the same number of cells, at least two.

    If several do, it is not the comma, which may be a decimal one in every row.
    """
    usual = "\t" if ".tsv" in path.name.lower() else ","
    scores = {}
    for candidate in SEPARATORS:
        try:
            rows = [row for row in csv.reader(head, delimiter=candidate) if any(row)]
        except csv.Error:
            continue
        if len(head) == _HEAD:
            rows = rows[:-1]  # it may continue beyond the first rows
        widths = Counter(map(len, rows))
        if widths:
            width, count = widths.most_common(1)[0]
            scores[candidate] = (width > 1, count / len(rows), candidate != ",", width)
    best = max(scores, key=scores.__getitem__, default=usual)
    return best if scores and scores[best][0] else usual


def _filled(row: Row, width: int) -> Row:
    """The row, filled up to as many cells as the first row has."""
    problem = row.problem
    if len(row.cells) > width:
        problem = (
            f"the row has {len(row.cells)} cells where the first has {width}; put quotes around "
            "cells that contain the separator"
        )
    return Row(row.line, row.cells[:width] + [""] * (width - len(row.cells)), problem)


def read_lines(path: Path, max_bytes: int = DEFAULT_MAX_BYTES) -> list[Row]:
    """The lines of a `.smi` file, one cell each; comments and empty lines are left out."""
    with open_text(path, max_bytes) as text:
        rows = list(_smi_rows(text, path))
    if not rows:
        raise ValueError(f"{path} has no rows.")
    return rows


def find_column(
    table: Table, wanted: str | int | None, usual: Sequence[str], parameter: str
) -> int | None:
    """The number of a column: by its number, by its heading, or by a usual heading."""
    if wanted is None:
        folded = [_folded(heading) for heading in table.headings or ()]
        name = next((name for name in usual if name in folded), None)
        return None if name is None else _only(table, folded, name, parameter)
    if table.headings is not None and wanted in table.headings:
        return _only(table, table.headings, str(wanted), parameter)
    if isinstance(wanted, str) and not (table.headings is None and wanted.isdecimal()):
        raise ColumnNotFoundError(
            f"{table.path}: no column is called {wanted!r} ({parameter}=); {table.describe()}."
        )
    number = int(wanted)
    if not 0 <= number < table.n_columns:
        raise ColumnNotFoundError(
            f"{table.path}: there is no column {number} ({parameter}=); {table.describe()}."
        )
    return number


def _only(table: Table, headings: list[str], name: str, parameter: str) -> int:
    """The number of the column with a heading, which must be one."""
    places = [i for i, heading in enumerate(headings) if heading == name]
    if len(places) > 1:
        raise ColumnNotFoundError(
            f"{table.path}: {len(places)} columns are called {name!r}, with the numbers "
            f"{', '.join(map(str, places))}; give one of the numbers with {parameter}=."
        )
    return places[0]


def _folded(heading: str) -> str:
    return heading.strip().lower().replace(" ", "_").replace("-", "_")
