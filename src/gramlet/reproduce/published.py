"""The published numbers of tables in papers, in one file, with their sources."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["Published", "published", "source_of"]


@dataclass(frozen=True)
class Published:
    """One published number.

    Attributes
    ----------
    mean : float or str
        In percent; a time is a string, as printed.
    std : float or None
        The number after ±, if it is known.
    """

    mean: float | str
    std: float | None = None

    def __str__(self) -> str:
        if isinstance(self.mean, str):
            return self.mean
        return f"{self.mean:g}" if self.std is None else f"{self.mean:g} ± {self.std:g}"


@cache
def _document() -> dict[str, Any]:
    text = files("gramlet.reproduce").joinpath("published.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def published(table: str, row: str, data: str) -> Published | None:
    """The published number of a row on a data set; None if the paper has none.

    >>> str(published("mlg-1", "MLG", "MUTAG")), published("mlg-1", "MLG", "COLLAB")
    ('84.21 ± 2.61', None)
    """
    found = _document()["tables"].get(table, {}).get(row, {}).get(data)
    return None if found is None else Published(*found)


def source_of(name: str) -> str:
    """The paper that a table is from.

    >>> source_of("mlg")
    'Kondor, Pan (2016), The multiscale Laplacian graph kernel'
    """
    source: str = _document()["sources"][name]
    return source
