"""The labels of the fitted graphs as codes, and the codes of labels of later graphs.

All kernels have the same rule: a label not seen in `fit` is a new label; graphs with labels and
graphs without labels cannot be compared.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from gramlet.common.arrays import Ints
from gramlet.common.fields import Labels, Optional, Text, fields
from gramlet.graphs.columns import Categorical


def wrong_kind(fitted: str, given: str, what: str, owner: str = "The kernel") -> str:
    """The message for graphs with labels if the fitted ones have none ("without"), or the reverse.

    >>> wrong_kind("with", "without", "node labels")[:57]
    'The kernel was fitted on graphs with node labels, but is '
    """
    ignored = " use_edge_labels=False ignores edge labels." if what == "edge labels" else ""
    return (
        f"{owner} was fitted on graphs {fitted} {what}, but is given graphs {given} {what}. "
        f"Use graphs of one kind.{ignored}"
    )


class LabelVocabulary:
    """Codes of the labels of the fitted graphs.

    Parameters
    ----------
    values : tuple of hashable or None
        The labels, in the order of their codes; None if the fitted graphs have no labels (then the
        only code is 0).
    what : str
        "node labels" or "edge labels", for messages.
    """

    stored = fields(values=Optional(Labels()), what=Text())

    def __init__(self, values: tuple[Hashable, ...] | None, what: str) -> None:
        self.values = values
        self.what = what

    @classmethod
    def fit(cls, column: Categorical | None, count: int, what: str) -> tuple[LabelVocabulary, Ints]:
        """The vocabulary of a column of ``count`` labels, and their codes in it."""
        if column is None:
            vocabulary = cls(None if count else (), what)
        else:
            vocabulary = cls(column.used(), what)
        return vocabulary, vocabulary.encode(column, count)

    def encode(self, column: Categorical | None, count: int) -> Ints:
        """Codes of a column; labels not in the vocabulary get codes from ``len(self)`` on."""
        if count == 0:
            return np.zeros(0, dtype=np.int64)
        if (column is None) != (self.values is None):
            # `()` means that the fitted graphs have no nodes or edges: every label is new.
            if self.values == ():
                return np.zeros(count, dtype=np.int64)
            fitted, given = ("without", "with") if column is not None else ("with", "without")
            raise ValueError(wrong_kind(fitted, given, self.what))
        if column is None or self.values is None:
            return np.zeros(count, dtype=np.int64)
        return column.recode({v: i for i, v in enumerate(self.values)}, len(self.values))

    def __len__(self) -> int:
        return 1 if self.values is None else len(self.values)

    def names(self) -> list[str]:
        """Readable and distinct names of the labels."""
        if self.values is None:
            return ["*"]
        plain = [str(value) for value in self.values]
        special = any(not text or set(text) & set("(),:|") for text in plain)
        if special or len(set(plain)) < len(plain):
            return [repr(value) for value in self.values]
        return plain
