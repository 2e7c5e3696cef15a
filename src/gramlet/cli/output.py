"""Files that commands write: checked before any work is done, complete or absent."""

from __future__ import annotations

import contextlib
import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from gramlet.cli.terminal import WrongUse, note
from gramlet.common.notices import counted, warn_caller
from gramlet.common.safe_writing import check_place as check_place_exists
from gramlet.common.safe_writing import writing

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset

Inputs = Mapping[str, str | Path | None]  # what a command reads, by its name in the help

MATRIX_ENDINGS = (".npy", ".npz", ".csv")
_MOST_LISTED = 20  # rows that were left out


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


def write_table(path: Path | None, heading: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write rows to a file, completely or not at all, or print them if no file is given."""
    with contextlib.ExitStack() as stack:
        file: Any = sys.stdout
        if path is not None:
            place = stack.enter_context(writing(path))
            file = stack.enter_context(place.open("w", encoding="utf-8", newline=""))
        table = csv.writer(file, lineterminator="\n")
        table.writerow(heading)
        table.writerows(rows)


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


def write_matrix(path: Path, name: str, matrix: Any, data: Dataset, **others: Any) -> None:
    """Write a matrix, dense or sparse; the ending, one of `MATRIX_ENDINGS`, gives the format.

    Parameters
    ----------
    path : Path
    name : str
        The name of a dense matrix in an .npz file; a sparse one is stored as its CSR arrays, under
        the names that `scipy.sparse.load_npz` reads.
    matrix : array or sparse matrix
    data : Dataset
        The graphs of its rows; their target and ids become members of an .npz file.
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
            names = names_of(data)
            ids = None if isinstance(names, range) else np.asarray(list(map(str, names)), dtype=str)
            members = _csr(matrix) if sparse.issparse(matrix) else {name: np.asarray(matrix)}
            further = {"target": data.target, "ids": ids, **others}
            members |= {key: value for key, value in further.items() if value is not None}
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
