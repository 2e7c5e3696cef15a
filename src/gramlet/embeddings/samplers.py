"""Samplers, and the patterns drawn from a batch: every distinct one once, and counts per graph.

The engine makes the draws. As patterns repeat, a feature map is evaluated only on the distinct
ones, and weighted by counts.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import fields
from gramlet.common.parameters import Interval
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.graphlets.patterns import n_pairs, unpacked_labels
from gramlet.engine.graphlets.sampling import sample_codes, sample_counts
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch

# Up to 7 nodes, distinct codes are found by marking them in a table instead of sorting.
_MOST_CODES_IN_A_TABLE = 1 << 21


def stream_seed(random_state: Any) -> int:
    """The seed that, together with a graph, determines the graph's random stream."""
    return int(check_random_state(random_state).randint(2**63 - 1, dtype=np.int64))


class Sampler(BaseEstimator):
    """Base class of samplers: a distribution of k nodes of a graph."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    stored = fields()

    @abstractmethod
    def engine_flyback(self) -> float | None:
        """Check the parameters; return the flyback as the engine takes it, None for uniform."""

    def sample(
        self, X: Any, k: int, n_samples: int, random_state: Any = None, n_jobs: int | None = None
    ) -> Ints:
        """Codes of subgraphs induced by k nodes, in the order drawn.

        Bit 0 of a code is the pair (0, 1) of drawn nodes, then (0, 2), ..., (0, k−1), (1, 2), ...
        The draws from a graph depend only on ``random_state`` and the graph, not on other graphs.

        Parameters
        ----------
        X : graphs, as `gramlet.as_batch` takes them
        k : int
            2 to 8; graphs with fewer nodes are padded with isolated nodes.
        n_samples : int
            Number of subgraphs per graph.
        random_state : int, RandomState or None
        n_jobs : int or None
            Number of threads.

        Returns
        -------
        array of int64, shape (len(X), n_samples)

        Examples
        --------
        >>> from gramlet import UniformSampler
        >>> triangle = ([(0, 1), (1, 2), (0, 2)], None)
        >>> UniformSampler().sample([triangle], k=3, n_samples=4).tolist()
        [[7, 7, 7, 7]]
        """
        flyback = self.engine_flyback()
        seed = stream_seed(random_state)
        return sample_codes(as_batch(X), k, n_samples, seed, flyback=flyback, n_jobs=n_jobs)


class UniformSampler(Sampler):
    """Draws k distinct nodes uniformly, in uniformly random order.

    The expected class indicator of the drawn subgraphs is the k-spectrum of the graphlet kernel. On
    large, sparse graphs most of these subgraphs have hardly any edges; use `RandomWalkSampler`
    there.

    Examples
    --------
    >>> from gramlet import UniformSampler
    >>> UniformSampler().sample([([(0, 1)], ["a", "a"])], k=2, n_samples=3).tolist()
    [[1, 1, 1]]
    """

    def engine_flyback(self) -> None:
        """None, which means uniform draws."""


class RandomWalkSampler(Sampler):
    """Draws the first k distinct nodes of a random walk that may return to its start.

    The start is uniform. At every step the walk returns to the start with probability ``flyback``,
    otherwise it moves to a uniform neighbour; a node visited for the first time is collected. When
    all nodes of a component are collected, the walk continues from a new start, a uniform node not
    yet collected. Nodes are in the order in which they are collected. If a walk finds no new node
    for many steps, the next one is drawn from its exact distribution, so that any flyback below 1
    is fast.

    Parameters
    ----------
    flyback : float in [0, 1), default 0.15

    Examples
    --------
    A walk on a path of four nodes draws connected nodes:

    >>> from gramlet import RandomWalkSampler
    >>> path = [([(0, 1), (1, 2), (2, 3)], None)]
    >>> set(RandomWalkSampler().sample(path, k=2, n_samples=50, random_state=0)[0].tolist())
    {1}
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "flyback": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(self, flyback: float = 0.15) -> None:
        self.flyback = flyback

    def engine_flyback(self) -> float:
        """The probability of returning to the start."""
        self._validate_params()
        return float(self.flyback)


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
    sampled = sample_counts(
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
        codes, columns = _distinct_codes(sampled.codes, k)
        words, base = np.zeros(len(codes), dtype=np.int64), 0
    else:
        codes, words, columns = _distinct_pairs(sampled.codes, sampled.label_words)
        base = labels.base
    shape = (len(batch), len(codes))
    matrix = sparse.csr_matrix((sampled.counts.astype(np.float64), columns, sampled.indptr), shape)
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
