"""INPUT, as commands take it: a data set's name, files in the TU format, or SMILES strings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramlet.cli.errors import Failure, WrongUse
from gramlet.cli.option_groups import Reading

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset

__all__ = ["read_input", "target_of"]


def read_input(text: str, reading: Reading) -> Dataset:
    """Read whatever INPUT names.

    Raises
    ------
    WrongUse
        If there is no such thing.
    Failure
        If it is there and cannot be read.
    """
    from gramlet.files.dataset import DatasetNotFoundError
    from gramlet.files.smiles import ColumnNotFoundError

    try:
        return _read(text, reading)
    except DatasetNotFoundError as why:
        # A name everyone knows that could not be fetched is the network's failure.
        message = str(why).replace("data_home", "--data-dir")
        raise (Failure if _well_known(text) else WrongUse)(message) from why
    except ColumnNotFoundError as why:
        raise WrongUse(str(why)) from why
    except OSError as why:
        raise Failure(f"{text!r} cannot be read: {why.strerror or why}.") from why
    except ValueError as why:
        raise Failure(_with_place(str(why), text)) from why


def _read(text: str, reading: Reading) -> Dataset:
    from gramlet.files.datasets import load_dataset
    from gramlet.files.smiles import SMILES_SUFFIXES, read_smiles
    from gramlet.files.tu.dataset import read_tu

    if not text.strip() or "\0" in text:
        raise WrongUse(f"INPUT {text!r} names nothing; give a data set's name, a file or a folder.")
    path = Path(text).expanduser()
    if path.suffix.lower() in SMILES_SUFFIXES:
        return read_smiles(path, _column(reading.molecules), _column(reading.target))
    if reading.molecules is not None or reading.target is not None:
        raise WrongUse(
            "--molecules and --target are for files of SMILES strings "
            f"({', '.join(SMILES_SUFFIXES)}); {text!r} is none."
        )
    if path.name != text or path.suffix.lower() == ".zip" or _is_there(path):
        if not path.exists():
            raise WrongUse(f"there is no file or folder {text!r}.")
        return read_tu(path)
    if reading.data_dir is not None and not reading.data_dir.is_dir():
        raise WrongUse(f"--data-dir: {str(reading.data_dir)!r} is not a folder.")
    return load_dataset(text, reading.data_dir)


def _is_there(path: Path) -> bool:
    """Whether a plain word names a file, or a folder that is not one of a known data set's name."""
    if path.is_dir():
        return any(path.glob("*_A.txt")) or not _well_known(path.name)
    return path.is_file()


def _column(text: str | None) -> str | int | None:
    return int(text) if text is not None and text.isdecimal() else text


def _well_known(name: str) -> bool:
    from gramlet.files.catalogue import facts_of

    return facts_of(name) is not None


def _with_place(message: str, text: str) -> str:
    """The message with the file's name in it, if it does not have that already."""
    return message if Path(text).name in message else f"{text!r}: {message}"


def target_of(dataset: Dataset, text: str) -> Any:
    """The classes, which must be there."""
    if dataset.target is None:
        raise WrongUse(
            f"{text!r} has no classes to learn. A TU data set needs a file _graph_labels.txt; in a "
            "table of SMILES strings name the column of the classes by --target."
        )
    return dataset.target
