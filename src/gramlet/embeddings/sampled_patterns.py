"""The patterns drawn from a batch: every distinct pattern once, and the counts of each graph.

As patterns repeat, a feature map is evaluated only on the distinct ones, and weighted by counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.graphlets.patterns import n_pairs, unpacked_labels
from gramlet.engine.graphlets.sampling import sample_counts
from gramlet.graphs.batch import GraphBatch

__all__ = ["Drawn", "LabelBlock", "draw"]


# Up to 7 nodes, distinct codes are found by marking them in a table instead of sorting.
_MOST_CODES_IN_A_TABLE = 1 << 21


@dataclass(frozen=True)
class LabelBlock:
    """The label codes of the nodes of a batch, and the number of fitted labels.

    Codes from ``n_labels`` on are unseen labels and share the code ``n_labels``; padding nodes of a
    small graph have the code ``n_labels + 1``.
    """

    codes: Ints
    n_labels: int

    @property
    def base(self) -> int:
        """A number larger than any code."""
        return self.n_labels + 2


@dataclass(frozen=True)
class Drawn:
    """Distinct patterns, and how often each graph drew them.

    Attributes
    ----------
    k : int
    codes : array, shape (number of patterns,)
    words : array, shape (number of patterns,)
        The labels of the patterns' nodes, packed; all 0 without labels.
    base : int
        The base of the packed labels; 0 without labels.
    indptr, columns, counts : arrays
        CSR: graph i drew the pattern ``columns[e]`` ``counts[e]`` times, for e from ``indptr[i]``
        to ``indptr[i + 1]``; columns increase within a graph.
    """

    k: int
    codes: Ints
    words: Ints
    base: int
    indptr: Ints
    columns: Ints
    counts: Floats

    @property
    def n_graphs(self) -> int:
        """The number of graphs."""
        return len(self.indptr) - 1

    def node_labels(self) -> Ints:
        """The labels of every pattern's nodes, one row per pattern."""
        return unpacked_labels(self.words, self.k, self.base)

    def regrouped(self, groups: Ints, n_groups: int) -> tuple[Ints, Ints, Floats]:
        """CSR of the counts of groups of patterns; patterns of group −1 are left out."""
        rows = np.repeat(np.arange(self.n_graphs), np.diff(self.indptr))
        which = groups[self.columns]
        kept = which >= 0
        cells, place = np.unique(rows[kept] * n_groups + which[kept], return_inverse=True)
        counts = np.bincount(place, weights=self.counts[kept], minlength=len(cells))
        starts = np.searchsorted(cells, np.arange(self.n_graphs + 1) * n_groups)
        return starts.astype(np.int64), cells % n_groups, counts.astype(np.float64)


def draw(
    batch: GraphBatch,
    k: int,
    n_samples: int,
    seed: int,
    flyback: float | None,
    labels: LabelBlock | None,
    tiling: Tiling = QUIET,
) -> Drawn:
    """Draw ``n_samples`` subgraphs from every graph and count the patterns."""
    found = sample_counts(
        batch,
        k,
        n_samples,
        seed,
        flyback=flyback,
        labels=None if labels is None else np.minimum(labels.codes, labels.n_labels),
        n_labels=0 if labels is None else labels.n_labels + 1,
        tiling=tiling,
    )
    if labels is None:
        codes, columns = _distinct_codes(found.codes, k)
        words, base = np.zeros(len(codes), dtype=np.int64), 0
    else:
        codes, words, columns = _distinct_pairs(found.codes, found.label_words)
        base = labels.base
    shape = (len(batch), len(codes))
    matrix = sparse.csr_matrix((found.counts.astype(np.float64), columns, found.indptr), shape)
    # Converting to CSC and back sorts the entries of every row in linear time.
    matrix = matrix.tocsc().tocsr()
    indptr, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    return Drawn(k, codes, words, base, indptr, columns, matrix.data)


def _distinct_codes(codes: Ints, k: int) -> tuple[Ints, Ints]:
    """The distinct codes, and the position of every code among them."""
    n_codes = 1 << n_pairs(k)
    if n_codes > _MOST_CODES_IN_A_TABLE:
        return np.unique(codes, return_inverse=True)
    present = np.zeros(n_codes, dtype=bool)
    present[codes] = True
    distinct = np.flatnonzero(present)
    place = np.zeros(n_codes, dtype=np.int64)
    place[distinct] = np.arange(len(distinct))
    return distinct, place[codes]


def _distinct_pairs(codes: Ints, words: Ints) -> tuple[Ints, Ints, Ints]:
    """Codes and words of the distinct pairs, and the position of every pair among them."""
    values, which = np.unique(words, return_inverse=True)
    n_values = max(len(values), 1)
    keys, places = np.unique(codes * n_values + which, return_inverse=True)
    distinct, word = np.divmod(keys, n_values)
    return distinct, values[word], places
