"""The indicator of the pattern: the map that turns graph sampling into the graphlet kernel."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Sometimes, fields
from gramlet.common.stored_state import require
from gramlet.embeddings.feature_maps import GraphletMap
from gramlet.embeddings.sampled_patterns import Drawn
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.graphlets.patterns import (
    MAX_LABELLED_NODES,
    MAX_NODES,
    canonical_labelled,
    classes_of_codes,
    n_pairs,
    pattern_names,
    patterns,
    unpacked_labels,
)

__all__ = ["MatchMap"]


# With more columns than this, the matrix is sparse.
_MOST_DENSE_COLUMNS = 4096


class MatchMap(GraphletMap):
    """The indicator of a graphlet's pattern.

    φ(F) is 1 for the pattern of F and 0 elsewhere: up to isomorphism, with one column for each of
    the N_k classes, or with ``isomorphic=False``, one for each of the 2^{k(k−1)/2} patterns. The
    mean over uniform samples estimates the k-spectrum of the graphlet kernel.

    With more than 4096 columns (k = 8, or ``isomorphic=False`` from k = 6 on) the result is a CSR
    matrix. With labels, isomorphisms preserve them, and patterns have up to 5 nodes; the columns
    are the patterns drawn from the fitted graphs, and other patterns of new graphs are left out.

    Parameters
    ----------
    isomorphic : bool, default True
        Whether isomorphic patterns share a column.

    Examples
    --------
    >>> import numpy as np
    >>> from gramlet import MatchMap
    >>> triangle, empty = np.ones((3, 3)) - np.eye(3), np.zeros((3, 3))
    >>> MatchMap().fit_transform([triangle, empty])
    array([[0., 0., 0., 1.],
           [1., 0., 0., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"isomorphic": ["boolean"]}

    stored = fields(known_=Sometimes(ArrayOf("int64", None, 2, least=0)))  # with labels

    def __init__(self, isomorphic: bool = True) -> None:
        self.isomorphic = isomorphic

    def _most_labelled_nodes(self) -> int:
        return MAX_LABELLED_NODES if self.isomorphic else MAX_NODES

    def learn(self, drawn: Drawn) -> None:
        """With labels, store the patterns drawn from the fitted graphs."""
        if self.n_labels_ is not None:
            self.known_ = np.unique(np.column_stack(self._forms(drawn)), axis=0)

    def validate(self) -> None:
        """Raise ValueError if there are patterns that do not exist."""
        super().validate()
        require((self.n_labels_ is not None) == hasattr(self, "known_"), "known_ needs labels")
        if self.n_labels_ is not None and len(self.known_):
            code, word = (int(column.max()) for column in self.known_.T)
            exist = code < 1 << n_pairs(self.k_) and word < (self.n_labels_ + 2) ** self.k_
            require(exist, "known_ contains patterns that do not exist")

    def _forms(self, drawn: Drawn) -> tuple[Ints, Ints]:
        if self.isomorphic:
            return canonical_labelled(drawn.codes, drawn.words, drawn.k, drawn.base)
        return drawn.codes, drawn.words

    def _n_columns(self) -> int:
        if self.n_labels_ is not None:
            return len(self.known_)
        return len(patterns(self.k_)) if self.isomorphic else 1 << n_pairs(self.k_)

    def _columns_of(self, codes: Ints) -> Ints:
        return classes_of_codes(codes, self.k_) if self.isomorphic else codes

    def sums(self, drawn: Drawn, tiling: Tiling = QUIET) -> Any:
        """For every graph, the number of times that each pattern was drawn."""
        if self.n_labels_ is None:
            groups = self._columns_of(drawn.codes)
        else:
            groups = self._known_columns(drawn)
        n_columns = self._n_columns()
        indptr, columns, counts = drawn.regrouped(groups, max(n_columns, 1))
        shape = (drawn.n_graphs, n_columns)
        return self._as_matrix(sparse.csr_matrix((counts, columns, indptr), shape=shape))

    def _known_columns(self, drawn: Drawn) -> Ints:
        """The column of every pattern; −1 for those not drawn in `fit`."""
        rows = np.column_stack(self._forms(drawn))
        both = np.concatenate([self.known_, rows])
        _, place = np.unique(both, axis=0, return_inverse=True)
        place = place.reshape(-1)
        column_of_place = np.full(place.max(initial=-1) + 1, -1, dtype=np.int64)
        column_of_place[place[: len(self.known_)]] = np.arange(len(self.known_))
        return column_of_place[place[len(self.known_) :]]

    def _as_matrix(self, counts: sparse.csr_matrix) -> Any:
        return counts if counts.shape[1] > _MOST_DENSE_COLUMNS else counts.toarray()

    def _describe(self, matrices: Floats) -> Any:
        rows, columns = np.triu_indices(self.k_, 1)
        bits = (matrices[:, rows, columns] != 0).astype(np.int64)
        codes = bits @ (1 << np.arange(n_pairs(self.k_), dtype=np.int64))
        entries = (np.ones(len(codes)), self._columns_of(codes), np.arange(len(codes) + 1))
        return self._as_matrix(sparse.csr_matrix(entries, shape=(len(codes), self._n_columns())))

    def names(self) -> list[str]:
        """The pattern of each column: its edges, and its node labels if they are used."""
        if self.n_labels_ is not None:
            return self._labelled_names()
        if self.isomorphic:
            return pattern_names(patterns(self.k_).smallest, self.k_)
        if self.k_ == MAX_NODES:
            raise ValueError(
                f"MatchMap(isomorphic=False) has {self._n_columns()} columns at k={self.k_}: too "
                "many to name. Column c is the pattern with the code c."
            )
        return pattern_names(np.arange(self._n_columns()), self.k_)

    def _labelled_names(self) -> list[str]:
        words = [*(self.label_names_ or []), "new", "-"]  # the last two: see `LabelBlock`
        labels = unpacked_labels(self.known_[:, 1], self.k_, len(words))
        texts = [",".join(words[label] for label in row) for row in labels.tolist()]
        plain = pattern_names(self.known_[:, 0], self.k_)
        return [f"{name}; labels {text}" for name, text in zip(plain, texts, strict=True)]
