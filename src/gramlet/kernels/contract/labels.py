"""Labels of nodes and edges as integer codes, in the vocabulary of the fitted graphs.

All kernels have the same rule for when labels are used: ``use_labels`` and ``use_edge_labels`` are
True, False or "auto", which means that labels are used if the fitted graphs have them.
"""

from __future__ import annotations

from typing import Any

from gramlet.common.arrays import Ints
from gramlet.common.fields import Choice, Flag, Instance, Optional, fields
from gramlet.common.parameters import StrOptions
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.vocabulary import LabelVocabulary

# Allowed values of `use_labels` and `use_edge_labels`.
LABEL_CHOICE: list[Any] = ["boolean", StrOptions({"auto"})]
_CHOICE = Choice(True, False, "auto")


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
