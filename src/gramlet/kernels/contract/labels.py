"""Labels of nodes and edges as integer codes, in the vocabulary of the fitted graphs.

All kernels have the same rule for when labels are used: ``use_labels`` and ``use_edge_labels`` are
True, False or "auto", which means that labels are used if the fitted graphs have them. A label not
seen in `fit` is a new label; graphs with labels and graphs without labels cannot be compared.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from gramlet.common.arrays import Ints
from gramlet.common.fields import Choice, Flag, Instance, Labels, Optional, Text, fields
from gramlet.common.parameters import StrOptions
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical

# Allowed values of `use_labels` and `use_edge_labels`.
LABEL_CHOICE: list[Any] = ["boolean", StrOptions({"auto"})]
_CHOICE = Choice(True, False, "auto")


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


class NodeLabels:
    """Reads node labels.

    Parameters
    ----------
    choice : bool or "auto"
        Whether labels are used. If not, or if graphs have none, all nodes have the same code.

    Attributes
    ----------
    vocabulary : LabelVocabulary
    """

    stored = fields(choice=_CHOICE, used=Flag(), vocabulary=Instance(LabelVocabulary))

    def __init__(self, choice: bool | str = True) -> None:
        self.choice = choice

    def fit(self, batch: GraphBatch) -> Ints:
        """Learn the labels of these graphs; return the code of each node."""
        self.used = batch.node_labels is not None if self.choice == "auto" else bool(self.choice)
        column = batch.node_labels if self.used else None
        self.vocabulary, codes = LabelVocabulary.fit(column, batch.n_nodes_total, "node labels")
        return codes

    def encode(self, batch: GraphBatch) -> Ints:
        """The code of each node; labels not seen at fit get codes from ``len(self)`` on."""
        column = batch.node_labels if self.used else None
        return self.vocabulary.encode(column, batch.n_nodes_total)

    def __len__(self) -> int:
        return len(self.vocabulary)

    def names(self) -> list[str]:
        """Readable and distinct names of the labels."""
        return self.vocabulary.names()


class EdgeLabels:
    """Reads edge labels.

    Parameters
    ----------
    choice : bool or "auto"
        Whether edge labels are used. If the fitted graphs have none, they are not used in any
        case, and those of later graphs are ignored.
    """

    stored = fields(choice=_CHOICE, used=Flag(), vocabulary=Optional(Instance(LabelVocabulary)))

    def __init__(self, choice: bool | str = "auto") -> None:
        self.choice = choice

    def fit(self, batch: GraphBatch) -> Ints | None:
        """Learn the labels; return the code of each arc, or None if edge labels are not used."""
        self.used = bool(self.choice) and batch.edge_labels is not None
        self.vocabulary: LabelVocabulary | None = None
        if not self.used:
            return None
        self.vocabulary, codes = LabelVocabulary.fit(
            batch.edge_labels, len(batch.indices), "edge labels"
        )
        return codes

    def encode(self, batch: GraphBatch) -> Ints | None:
        """The code of each arc of new graphs, or None if edge labels are not used."""
        if self.vocabulary is None:
            return None
        return self.vocabulary.encode(batch.edge_labels, len(batch.indices))

    def names(self) -> list[str] | None:
        """Readable and distinct names of the labels; None if they are not used."""
        return None if self.vocabulary is None else self.vocabulary.names()
