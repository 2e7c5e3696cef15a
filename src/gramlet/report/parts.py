"""What a page is made of: tables, figures and texts, which the template escapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple


class Markup(str):
    """A piece of HTML or SVG whose texts have been escaped already.

    Templates recognise it by its method ``__html__``.

    >>> Markup("<b>bold</b>").__html__()
    '<b>bold</b>'
    """

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)


class Cell(NamedTuple):
    """The text of a cell, and the number or text by which it is sorted."""

    text: str
    key: Any = None

    @property
    def sort_key(self) -> str:
        return self.text if self.key is None else str(self.key)


@dataclass(frozen=True)
class Table:
    """A table that can be sorted and, if it is long, filtered."""

    caption: str
    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    numeric: frozenset[int] = frozenset()
    note: str = ""

    @property
    def long(self) -> bool:
        return len(self.rows) > 20

    @classmethod
    def of_facts(
        cls,
        caption: str,
        rows: Sequence[tuple[str, str]],
        what: tuple[str, str] = ("fact", "value"),
    ) -> Table:
        """A table of names and values."""
        return cls(caption, what, [(Cell(name), Cell(value)) for name, value in rows])


@dataclass(frozen=True)
class Figure:
    """A picture with its caption; or, if there is none, the reason.

    A wide one has a line of its own.
    """

    picture: Markup | None
    caption: str
    why_not: str = ""
    wide: bool = False


def score_limits(scoring: str) -> tuple[float, float]:
    """The lowest and the highest value that a score can have, errors being positive.

    >>> score_limits("accuracy"), score_limits("r2"), score_limits("neg_mean_squared_error")
    ((0.0, 1.0), (-inf, 1.0), (0.0, inf))
    """
    if scoring.startswith("neg_"):
        return 0.0, math.inf
    shares = ("accuracy", "f1", "precision", "recall", "roc_auc", "average_precision", "jaccard")
    if scoring == "balanced_accuracy" or scoring.startswith(shares):
        return 0.0, 1.0
    return -math.inf, 1.0 if scoring in ("r2", "explained_variance") else math.inf


def sentence(text: str) -> str:
    """The text with a capital first letter.

    >>> sentence("accuracy with 95 % intervals")
    'Accuracy with 95 % intervals'
    """
    return text[:1].upper() + text[1:]
