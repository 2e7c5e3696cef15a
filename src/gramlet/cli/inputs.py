"""INPUT of the commands: a data set's name, or a file or folder in any format `read` supports.

Also the target to learn: `target_of` for machines, `classes_of` for kernels that learn.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramlet.cli.options import Learning, Reading
from gramlet.cli.terminal import Failure, WrongUse

if TYPE_CHECKING:
    from gramlet.evaluation.task import Target
    from gramlet.files.dataset import Dataset


def read_input(
    text: str, reading: Reading, needs_target: bool = True, uses_target: bool = True
) -> Dataset:
    """Read whatever INPUT names.

    Where no target is needed, one that cannot be read is left out with a warning, unless it was
    requested by name; where it is not even used, it is not read.

    Raises
    ------
    WrongUse
        If it does not exist.
    Failure
        If it exists and cannot be read.
    """
    with _naming_file(text):
        if not uses_target and reading.target is None:
            data = _read(text, reading, target=False)
        elif needs_target or reading.target is not None:
            data = _read(text, reading)
        else:
            data = _read_leniently(text, reading)
    if reading.node_labels is not None:
        data.node_label_names = None  # they belong to the labels in the file
    return data


def stream_input(text: str, reading: Reading) -> Iterator[Dataset]:
    """Read what INPUT names in blocks, if it is a table, else whole; errors as in `read_input`.

    No target is needed: one that is missing in places is left out, as `read_input` does.
    """
    from gramlet.files.kinds import TABLES, kind_of
    from gramlet.files.stream import missing_target, stream

    path = Path(text).expanduser()
    if not path.is_file() or kind_of(path) not in TABLES:
        yield read_input(text, reading, needs_target=False)
        return
    refuse_foreign(path, reading)
    options = reading.options()
    if reading.target is None:
        with _naming_file(text):
            missing = missing_target(path, **options)
        if missing is not None:
            _warn_of_target(missing)
            options["target"] = False
    blocks = stream(path, **options)
    while True:
        with _naming_file(text):
            block = next(blocks, None)
        if block is None:
            return
        yield block


@contextlib.contextmanager
def _naming_file(text: str) -> Iterator[None]:
    """Turn all errors of readers into errors of the command, with the name of INPUT."""
    from gramlet.files.dataset import DatasetNotFoundError

    try:
        with naming_input(text):
            yield
    except DatasetNotFoundError as why:
        # A known data set that could not be fetched is a failure of the network.
        raise (Failure if _well_known(text) else WrongUse)(str(why)) from why
    except OSError as why:
        raise Failure(f"{text!r} cannot be read: {why.strerror or why}.") from why


@contextlib.contextmanager
def naming_input(text: str) -> Iterator[None]:
    """Turn errors about the content of INPUT into errors of the command, with its name."""
    from gramlet.files.tables import ColumnNotFoundError

    try:
        yield
    except ColumnNotFoundError as why:
        raise WrongUse(str(why)) from why
    except OSError:  # a missing data set is also a ValueError
        raise
    except ValueError as why:
        raise Failure(with_place(str(why), text)) from why


def _read_leniently(text: str, reading: Reading) -> Dataset:
    """The result of `_read`; without the target if only that cannot be read."""
    try:
        return _read(text, reading)
    except ValueError as why:
        if not _exists(Path(text).expanduser()):
            raise
        try:
            data = _read(text, reading, target=False)
        except ValueError:
            raise why from None
        _warn_of_target(str(why).split(". Correct it")[0])
        return data


def _warn_of_target(problem: str) -> None:
    from gramlet.common.notices import warn_caller

    warn_caller(f"{problem}. It is not needed here, and not read.")


def _read(text: str, reading: Reading, **others: Any) -> Dataset:
    from gramlet.files.datasets.datasets import load_dataset
    from gramlet.files.kinds import kind_of
    from gramlet.files.read import read

    if not text.strip() or "\0" in text:
        raise WrongUse(f"INPUT {text!r} is empty; give a data set's name, a file or a folder.")
    if text == "-":
        raise WrongUse("INPUT '-': standard input is not read; give a file or a folder.")
    path = Path(text).expanduser()
    if path.name != text or kind_of(path) is not None or _is_there(path):
        if not _exists(path):
            raise WrongUse(f"there is no file or folder {text!r}.")
        refuse_foreign(path, reading)
        return read(path, **reading.options(), **others)
    if reading.data_dir is not None and not reading.data_dir.is_dir():
        raise WrongUse(f"--data-dir: {str(reading.data_dir)!r} is not a folder.")
    return _with_options(load_dataset(text, reading.data_dir), text, reading)


def refuse_foreign(path: Path, reading: Reading) -> None:
    """Refuse options that do not apply to the format of a file, before it is read."""
    from gramlet.files.kinds import ReadOptions, kind_of, refuse_foreign_options
    from gramlet.files.tu.members import is_tu

    kind = kind_of(path)
    if kind == ".zip" or not path.is_file():
        kind = "tu" if kind == ".zip" or is_tu(path) else "folder"
    if kind is None:
        return
    try:
        refuse_foreign_options(path, kind, ReadOptions(**reading.options()))
    except ValueError as why:
        raise WrongUse(str(why)) from why


def _with_options(data: Dataset, text: str, reading: Reading) -> Dataset:
    """A data set by name: labels and directions can be changed, columns cannot be named."""
    from gramlet.graphs.conversion.convert import as_batch

    options = reading.options()
    for name in ("target", "molecules", "id", "label"):
        if name in options:
            raise WrongUse(f"--{name} names a column of a file; {text!r} is a data set's name.")
    options.pop("on_error", None)
    if options:
        data.graphs = as_batch(data.graphs, **options)
    return data


def _exists(path: Path) -> bool:
    """Whether a path names a file, a folder, or one of the data sets in a folder or archive."""
    from gramlet.files.tu.members import is_tu

    return path.exists() or is_tu(path)


def _is_there(path: Path) -> bool:
    """Whether a plain word names a file, or a folder that is not one of a known data set's name."""
    if path.is_dir():
        return any(path.glob("*_A.txt")) or not _well_known(path.name)
    return path.is_file()


def _well_known(name: str) -> bool:
    from gramlet.files.datasets.catalogue import facts_of

    return facts_of(name) is not None


def with_place(message: str, text: str) -> str:
    """The message, preceded by the file's name unless it contains that already."""
    return message if Path(text).name in message else f"{text!r}: {message}"


def target_of(dataset: Dataset, text: str, learning: Learning | None = None) -> Target:
    """The target to learn, classes or numbers; raise if it is missing or cannot be used."""
    from gramlet.evaluation.task import target_of as checked_target

    learning = Learning() if learning is None else learning
    if dataset.target is None and dataset.get("unread"):
        raise WrongUse(
            f"{text!r} has several columns or values that could be the target, or none with a "
            f"usual name: {', '.join(map(repr, dataset.unread))}. Name one with --target."
        )
    if dataset.target is None:
        raise WrongUse(
            f"{text!r} has no classes or numbers to learn. A TU data set needs a file "
            "_graph_labels.txt or _graph_attributes.txt; for a table or a file of graphs name the "
            "column with --target."
        )
    n_graphs, names = len(dataset.graphs), dataset.target_names
    try:
        return checked_target(
            dataset.target, n_graphs, learning.task, learning.min_class_size, names
        )
    except ValueError as why:
        shown = f"the target {dataset.target_name!r}" if dataset.target_name else "the target"
        message = str(why)
        message = f"{shown}{message[1:]}" if message.startswith("y ") else message
        raise WrongUse(f"{text!r}: {message}") from why


def classes_of(dataset: Dataset, text: str, kernel: str) -> Any:
    """The classes, for a kernel that learns from them."""
    target = target_of(dataset, text)
    refuse_numbers(target, text, kernel)
    return target.plain


def refuse_numbers(target: Target, text: str, kernel: str) -> None:
    """Refuse numbers as the target of a kernel that learns from classes."""
    if target.task == "regression":
        raise WrongUse(
            f"kernel {kernel!r} learns from classes, but the target of {text!r} consists of real "
            "numbers. Choose another kernel, or use --task classification if the command has it."
        )
