"""Tables: `.csv`, `.tsv`, `.smi` and `.parquet`, with separator, headings and columns found.

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
from gramlet.files.opening import DEFAULT_MAX_BYTES, brief, open_text, text_problem

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

    def heading(self, column: int) -> str:
        """The heading of a column, or its number."""
        return self.headings[column] if self.headings is not None else str(column)

    def place(self, row: Row) -> str:
        """The place of a row, for messages."""
        unit = "row" if kind_of(self.path) == ".parquet" else "line"
        return f"{self.path}, {unit} {row.line}"

    def describe(self) -> str:
        """The columns of the table, for messages."""
        if self.headings is None:
            return f"there are {self.n_columns} columns, numbered from 0"
        if len(self.headings) == 1:
            return f"there is {self.headings[0]!r}, and no comma, semicolon or tab between columns"
        return f"there are {', '.join(map(repr, self.headings))}"


def read_tables(
    path: Path,
    sep: str | None,
    is_headings: Callable[[list[str]], bool],
    batch_size: int | None = None,
    max_bytes: int = DEFAULT_MAX_BYTES,
    width: int = 2,
) -> Iterator[Table]:
    """The rows of a file that are not empty, in tables of ``batch_size`` rows; by default in one.

    ``is_headings`` decides whether the first row contains headings. All rows must have as many
    cells as the first; missing cells at the end of a row count as empty. A line of a `.smi` file
    without headings has ``width`` cells, the last of which may contain spaces.
    """
    if kind_of(path) == ".parquet":
        headings, rows = _parquet_rows(path, max_bytes)
        yield from _in_blocks(path, headings, rows, batch_size)
        return
    with open_text(path, max_bytes) as text:
        lines = _lines(text, path)
        if kind_of(path) == ".smi":
            rows = _smi_rows(lines, is_headings, width)
        else:
            head = list(itertools.islice(lines, _HEAD))
            rows = _csv_rows(itertools.chain(head, lines), sep or _separator(head, path))
        first = next(rows, None)
        if first is not None and first.problem is not None:
            raise ValueError(f"{path}, line {first.line}: {first.problem}.")
        if first is None or not is_headings(first.cells):
            whole = itertools.chain([first] if first else [], rows)
            yield from _in_blocks(path, None, whole, batch_size)
            return
        following = list(itertools.islice(rows, _HEAD))
        _warn_of_data(path, first.cells, following)
        rows = itertools.chain(following, rows)
        yield from _in_blocks(path, first.cells, rows, batch_size)


def _in_blocks(
    path: Path, headings: list[str] | None, rows: Iterator[Row], batch_size: int | None
) -> Iterator[Table]:
    """Tables of rows of equal width."""
    width = None if headings is None else len(headings)
    while block := list(itertools.islice(rows, batch_size)):
        width = width or len(block[0].cells)
        yield Table(path, headings, [_filled(row, width) for row in block])
    if width is None:
        raise ValueError(f"{path} has no rows.")


def _smi_rows(
    lines: Iterator[str], is_headings: Callable[[list[str]], bool], width: int
) -> Iterator[Row]:
    """A molecule and its name per line, separated by white space, or by tabs if all lines have one.

    The first lines decide, also whether there are names. Comments are left out.
    """
    numbered = ((n, line.strip()) for n, line in enumerate(lines, start=1))
    rows = ((n, line) for n, line in numbered if line and not line.startswith("#"))
    head = list(itertools.islice(rows, _HEAD))
    if not head:
        return
    sep = "\t" if all("\t" in line for _, line in head) else None
    words = head[0][1].split(sep)
    if is_headings(words):
        width = len(words)
    else:
        width = max(len(line.split(sep, width - 1)) for _, line in head)
    for number, line in itertools.chain(head, rows):
        cells = [cell.strip() for cell in line.split(sep, width - 1)]
        yield Row(number, cells + [""] * (width - len(cells)), text_problem(line))


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

    def damaged(why: BaseException) -> ValueError:
        return ValueError(f"{path} cannot be read as Parquet ({brief(why)}).")

    try:
        file = ParquetFile(path)
        facts = file.metadata
        size = sum(facts.row_group(i).total_byte_size for i in range(facts.num_row_groups))
        headings = [str(name) for name in file.schema_arrow.names]
    except damage as why:
        raise damaged(why) from None
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
                    columns = [column.to_pylist() for column in next(batches).columns]
                except StopIteration:
                    return
                except damage as why:
                    raise damaged(why) from None
                for cells in zip(*columns, strict=True):
                    number += 1
                    yield Row(number, ["" if c is None else str(c).strip() for c in cells])

    return headings, rows()


def _warn_of_data(path: Path, headings: list[str], rows: list[Row]) -> None:
    """Warn if a heading is also a value of its column: the first row may be data."""
    for i, heading in enumerate(headings):
        if heading and any(row.cells[i : i + 1] == [heading] for row in rows):
            warn_caller(
                f"{path}: the first row is read as headings, but {heading!r} is also a value of "
                "its column. If the row is data, correct it, or give header=False."
            )
            return


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
                yield Row(line, [cell.strip() for cell in cells], text_problem("".join(cells)))
        line = reader.line_num + 1


def _parse_problem(why: csv.Error, first: int, last: int) -> str:
    reason = "a quoted field does not end" if "unexpected end" in str(why) else str(why)
    if last == first:
        return reason
    return f"{reason} in the row that begins in line {first} and is read up to line {last}"


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
