"""Files of SMILES strings by the names of two columns; `gramlet.read` does more.

Kept for the commands that name columns this way.
"""

from __future__ import annotations

from pathlib import Path

from gramlet.files.dataset import Dataset, DatasetNotFoundError
from gramlet.files.kinds import TABLES, kind_of
from gramlet.files.read import read
from gramlet.files.tables import ColumnNotFoundError

__all__ = ["SMILES_SUFFIXES", "ColumnNotFoundError", "read_smiles"]

SMILES_SUFFIXES = (".smi", ".smiles", ".csv", ".tsv")


def read_smiles(
    path: str | Path,
    smiles_column: str | int | None = None,
    label_column: str | int | None = None,
) -> Dataset:
    """Read molecules from a ``.smi``, ``.csv`` or ``.tsv`` file, as :func:`gramlet.read` does.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from gramlet.files.smiles import read_smiles
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "alcohols.csv")
    ...     _ = file.write_text("smiles,label\\nCCO,alcohol\\nCC,other\\n")
    ...     read_smiles(file).target.tolist()
    ['alcohol', 'other']
    """
    path = Path(path)
    if kind_of(path) not in TABLES:
        raise ValueError(
            f"{path}: files of SMILES strings end in {', '.join(SMILES_SUFFIXES)}; got "
            f"{path.suffix or 'no ending'!r}."
        )
    if not path.is_file():
        raise DatasetNotFoundError(f"There is no file {path}.")
    return read(path, label_column, molecules=smiles_column)
