"""INPUT, as commands take it: a data set's name, files in the TU format, or SMILES strings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramlet.cli.errors import Failure, WrongUse

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset

__all__ = ["read_input", "target_of"]


def read_input(
    text: str,
    data_dir: Path | None = None,
    smiles_column: str | None = None,
    label_column: str | None = None,
) -> Dataset:
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
        return _read(text, data_dir, smiles_column, label_column)
    except DatasetNotFoundError as why:
        # A name everyone knows that could not be fetched is the network's failure.
        message = str(why).replace("data_home", "--data-dir")
        raise (Failure if _well_known(text) else WrongUse)(message) from why
    except ColumnNotFoundError as why:
        raise WrongUse(str(why)) from why
    except (ValueError, OSError) as why:
        raise Failure(str(why)) from why


def _read(
    text: str, data_dir: Path | None, smiles_column: str | None, label_column: str | None
) -> Dataset:
    from gramlet.files.datasets import load_dataset
    from gramlet.files.smiles import SMILES_SUFFIXES, read_smiles
    from gramlet.files.tu.dataset import read_tu

    path = Path(text).expanduser()
    if path.suffix.lower() in SMILES_SUFFIXES:
        return read_smiles(path, _column(smiles_column), _column(label_column))
    if smiles_column is not None or label_column is not None:
        raise WrongUse(
            "--smiles-column and --label-column are for files of SMILES strings "
            f"({', '.join(SMILES_SUFFIXES)}); {text!r} is none."
        )
    if path.name != text or path.suffix.lower() == ".zip" or any(path.glob("*_A.txt")):
        if not path.exists():
            raise WrongUse(f"there is no file or folder {text!r}.")
        return read_tu(path)
    if data_dir is not None and not data_dir.is_dir():
        raise WrongUse(f"--data-dir: {str(data_dir)!r} is not a folder.")
    return load_dataset(text, data_dir)


def _column(text: str | None) -> str | int | None:
    return int(text) if text is not None and text.isdecimal() else text


def _well_known(name: str) -> bool:
    from gramlet.files.catalogue import facts_of

    return facts_of(name) is not None


def target_of(dataset: Dataset, text: str) -> Any:
    """The classes, which must be there."""
    if dataset.target is None:
        raise WrongUse(
            f"{text!r} has no classes to learn. A TU data set needs a file _graph_labels.txt; in a "
            "table of SMILES strings name the column of the classes by --label-column."
        )
    return dataset.target
