"""Output of commands: to terminals of all kinds, and to files that are complete or absent."""

from __future__ import annotations

import codecs
import contextlib
import csv
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from gramlet.cli.errors import WrongUse
from gramlet.common.notices import counted, warn_caller
from gramlet.common.safe_writing import check_place as check_place_exists
from gramlet.common.safe_writing import writing

if TYPE_CHECKING:
    from rich.console import Console

    from gramlet.files.dataset import Dataset

Inputs = Mapping[str, str | Path | None]  # what a command reads, by its name in the help

_ENDLESS = 10_000  # columns

_REPLACING = "gramlet.ascii"
_NOT_ASCII = "×±─━·…–—≥≤’“”√Σ∞γσλφμαη"
_WORDS = 'x +- - - ; ... - - >= <= \' " " sqrt sum inf gamma sigma lambda phi mu alpha eta'
_IN_ASCII = dict(zip(_NOT_ASCII, _WORDS.split(), strict=True))


def prepare_streams() -> None:
    """Let standard output and standard error accept any text, whatever they are connected to.

    A character that the terminal cannot show is written in ASCII; a closed stream discards all.
    """
    codecs.register_error(_REPLACING, _in_ascii)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            with contextlib.suppress(OSError, ValueError):
                stream.reconfigure(errors=_REPLACING)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_ascii, error.object[error.start : error.end])), error.end


def _ascii(character: str) -> str:
    from unicodedata import normalize

    if character in _IN_ASCII:
        return _IN_ASCII[character]
    plain = normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or character.encode("ascii", "backslashreplace").decode()


def console(stderr: bool = False) -> Console:
    """A rich console: colours on a terminal, plain unwrapped lines in a pipe."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else _ENDLESS)


def grid(*headings: str, right: tuple[int, ...] = (), headings_shown: bool = True) -> Any:
    """An empty table without lines; the columns ``right`` are aligned right."""
    from rich.table import Table

    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="underline",
        show_header=headings_shown,
    )
    for column, heading in enumerate(headings):
        side = "right" if column in right else "left"
        table.add_column(
            heading,
            justify=side,  # type: ignore[arg-type]
            no_wrap=column == 0,
            overflow="fold",
        )
    return table


def note(text: str) -> None:
    """Print a remark on standard error."""
    with contextlib.suppress(OSError, ValueError):  # work continues if the pipe is closed
        print(text, file=sys.stderr, flush=True)


def show_warning(message: Warning | str, *others: Any, **more: Any) -> None:
    """A warning on one line, without the source line that raised it."""
    note(f"gramlet: warning: {' '.join(str(message).split())}")


def refuse_inputs(place: Path, inputs: Inputs) -> None:
    """Refuse to write to a file or folder that the command reads."""
    for name, given in inputs.items():
        if given is None:
            continue
        # One of them does not exist, is no valid name, or is a link to itself.
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            which = _part_read(place, Path(given).expanduser())
            if which:
                raise WrongUse(
                    f"{str(place)!r} is {which.format(name)}; name another place for the output."
                )


def _part_read(place: Path, source: Path) -> str:
    """Which part of the source a place is, also by links; "" if it is none."""
    from gramlet.files.kinds import kind_of
    from gramlet.files.tu.members import is_tu

    archives = (parent for parent in source.parents if parent.is_file())
    if any(place.samefile(path) for path in (source, *archives) if path.exists()):
        return "{} itself"
    if not place.is_file() or place.resolve(strict=True).parent != source.resolve():
        return ""
    is_member = place.suffix == ".txt" if is_tu(source) else kind_of(place) is not None
    return "a file of {}" if is_member else ""


def check_place(path: Path, endings: Sequence[str] = (), *, inputs: Inputs) -> Path:
    """Refuse a file that cannot be written, or that the command reads, before any work is done."""
    refuse_inputs(path, inputs)
    if endings and path.suffix.lower() not in endings:
        raise WrongUse(
            f"{str(path)!r}: the file's name must end in {' or '.join(endings)}; the ending gives "
            "the format to write."
        )
    try:
        check_place_exists(path)
    except OSError as why:
        raise WrongUse(str(why)) from why
    return path


_MOST_LISTED = 20  # rows that were left out


def write_table(path: Path | None, heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows to a file, completely or not at all, or print them if no file is given."""
    if path is None:
        out = csv.writer(sys.stdout, lineterminator="\n")
        out.writerow(heading)
        out.writerows(rows)
        return
    with writing(path) as place, place.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(heading)
        out.writerows(rows)


def names_of(data: Dataset) -> Sequence[Any]:
    """The names of graphs in tables: their ids, or their positions.

    If rows of the file were left out, their lines: positions would be those of other rows.
    """
    if data.ids is not None:
        return data.ids
    places = data.get("places")
    if places is not None:
        return [str(place).rsplit(", ", 1)[-1] for place in places]
    return range(len(data.graphs))


def ids_of(data: Dataset) -> Any:
    """The ids of graphs as an array of strings, or their lines as for `names_of`; or None."""
    import numpy as np

    names = names_of(data)
    return None if isinstance(names, range) else np.asarray(list(map(str, names)), dtype=str)


def note_skipped(data: Dataset, others: str = "") -> None:
    """List rows that were left out, on standard error; ``others`` says where all are listed."""
    skipped = data.skipped or ()
    for each in skipped[:_MOST_LISTED]:
        note(str(each))
    if len(skipped) > _MOST_LISTED:
        note(f"... and {len(skipped) - _MOST_LISTED} more{others}.")


def warn_of_repeated_ids(data: Dataset, text: str) -> None:
    """Warn if graphs share ids, so that rows of a table do not show which graph they mean."""
    ids = data.ids or ()
    repeated = len(ids) - len(set(ids))
    if repeated:
        warn_caller(
            f"{text}: {counted(repeated, 'id')} of {counted(len(ids), 'graph')} repeat an earlier "
            "one; these graphs cannot be told apart in the table."
        )


ENDINGS = (".npy", ".npz", ".csv")


def write_matrix(path: Path, name: str, matrix: Any, **others: Any) -> None:
    """Write a matrix, dense or sparse; the ending gives the format.

    Parameters
    ----------
    path : Path
        Ends in one of `ENDINGS`.
    name : str
        The name of a dense matrix in an .npz file; a sparse one is stored as its CSR arrays, under
        the names that `scipy.sparse.load_npz` reads.
    matrix : array or sparse matrix
    **others : array or None
        Further members of an .npz file; None is left out.
    """
    import numpy as np
    from scipy import sparse

    ending = path.suffix.lower()
    if sparse.issparse(matrix) and ending != ".npz":
        matrix = matrix.toarray()
    # A stream, not a name: numpy would append its ending to a name that ends in .NPY or .NPZ.
    with writing(path) as place, place.open("wb") as file:
        if ending == ".npy":
            # Only `write`: to a file, numpy would write in C and not give the reason of a failure.
            np.save(SimpleNamespace(write=file.write), np.asarray(matrix))
        elif ending == ".npz":
            members = _csr(matrix) if sparse.issparse(matrix) else {name: np.asarray(matrix)}
            members |= {key: value for key, value in others.items() if value is not None}
            np.savez_compressed(file, allow_pickle=False, **members)
        else:
            np.savetxt(file, matrix, fmt="%.17g", delimiter=",")


def _csr(matrix: Any) -> dict[str, Any]:
    import numpy as np

    matrix = matrix.tocsr()
    return {
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "shape": np.array(matrix.shape),
        "format": np.array("csr"),
    }
