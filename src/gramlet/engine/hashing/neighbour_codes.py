"""Codes of nodes from those of their neighbours: short hashes, and residues of sums.

Hashes combine short codes by rotations and exclusive ors. Repeated sums over neighbours,
X_{t+1} = (I + A) X_t, count for each label the walks of t steps (a step may stay at its node) that
end at a node of that label: integers that grow without limit. Here a vector x is represented by
Σ_l c_l x_l modulo three primes, and neighbours' residues are summed instead of their vectors.

Two different vectors collide modulo one prime p if p divides all their differences or, otherwise,
with a probability of at most 2/p over the coefficients c. The primes were drawn at random from the
2.6e16 primes between 2⁶⁰ and 2⁶¹; a difference of at most 10,000 · 31 bits has at most 5,200 of
them as divisors. All three collide with a probability below (5,200/2.6e16 + 2⁻⁵⁹)³ < 1e-38 per pair
of vectors, so the probability of any collision among ten million nodes is below 1e-24.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gramlet.common.arrays import Ints, Nodes, UInt64s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.hashes import scramble
from gramlet.engine.core.short_sort import sort_short
from gramlet.graphs.batch import GraphBatch

# The bound on collisions above holds up to this number of rounds.
MAX_ROUNDS = 10_000
PRIMES = np.array(
    [1_347_839_974_974_911_087, 2_189_949_016_581_152_707, 1_405_060_381_241_903_933],
    dtype=np.int64,
)


def label_residues(labels: Ints) -> Ints:
    """The residues of the one-hot vectors of labels, shape (nodes, 3).

    A coefficient depends only on the label's code, so that later graphs may have more labels.

    >>> residues = label_residues(np.array([0, 1, 0]))
    >>> residues.shape, bool((residues[0] == residues[2]).all())
    ((3, 3), True)
    """
    keys: UInt64s = (3 * labels[:, None] + np.arange(3)).astype(np.uint64)
    # The remainders are nearly uniform: none is more than twice as likely as any other.
    return (scramble(scramble(keys)) % PRIMES.astype(np.uint64)).astype(np.int64)


def residue_levels(batch: GraphBatch, labels: Ints, n_iter: int) -> Iterator[Ints]:
    """The residues of all nodes' vectors x_0, ..., x_{n_iter}, each of shape (nodes, 3)."""
    residues = label_residues(labels)
    yield residues
    for _ in range(n_iter):
        residues = _next_residues(batch.indptr, batch.indices, residues, PRIMES)
        yield residues


@njit(nogil=True, cache=True)
def _next_residues(indptr: Ints, indices: Nodes, residues: Ints, primes: Ints) -> Ints:
    """One round: every node's residues plus those of its neighbours."""
    out = residues.copy()
    for v in range(len(indptr) - 1):
        for p in range(indptr[v], indptr[v + 1]):
            u = indices[p]
            for k in range(len(primes)):
                total = out[v, k] + residues[u, k]
                out[v, k] = total - primes[k] if total >= primes[k] else total
    return out


def hash_levels(
    indptr: Ints, indices: Nodes, codes: UInt64s, n_iter: int, n_bits: int, counting: bool
) -> UInt64s:
    """The codes of all nodes after 1, ..., ``n_iter`` rounds, shape (n_iter, nodes).

    Parameters
    ----------
    codes : array of uint64
        The codes before the first round, below 2^n_bits.
    n_bits : int
        From 1 to 64.
    counting : bool
        Whether equal codes of neighbours are counted; if not, two of them cancel.

    Examples
    --------
    >>> one_edge = np.array([0, 1, 2]), np.array([1, 0])
    >>> hash_levels(*one_edge, np.array([1, 2], np.uint64), 1, 3, False).tolist()
    [[0, 5]]
    """
    levels = np.empty((n_iter, len(codes)), dtype=np.uint64)
    for i in range(n_iter):
        codes = _round(indptr, indices, codes, n_bits, counting)
        levels[i] = codes
    return levels


@njit(nogil=True, cache=True)
def _rotated(code: np.uint64, places: int, n_bits: int, mask: np.uint64) -> np.uint64:
    left = places % n_bits
    if left == 0:
        return code
    return ((code << np.uint64(left)) | (code >> np.uint64(n_bits - left))) & mask


@njit(nogil=True, cache=True)
def _round(indptr: Ints, indices: Nodes, codes: UInt64s, n_bits: int, counting: bool) -> UInt64s:
    """One round of the simple or the counting hash."""
    mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - n_bits)
    out = np.empty(len(codes), dtype=np.uint64)
    around = np.empty(16, dtype=np.int64)
    for v in range(len(codes)):
        code = _rotated(codes[v], 1, n_bits, mask)
        begin, degree = indptr[v], indptr[v + 1] - indptr[v]
        # The simple hash: exclusive or of all neighbours.
        if not counting:
            for p in range(begin, begin + degree):
                code ^= codes[indices[p]]
            out[v] = code
            continue
        # The counting hash: sort, so that equal codes are side by side.
        if degree > len(around):
            around = np.empty(2 * degree, dtype=np.int64)
        for p in range(degree):
            around[p] = np.int64(codes[indices[begin + p]])
        sort_short(around[:degree])
        # Each code is combined with its count and rotated by it.
        p = 0
        while p < degree:
            q = p
            while q < degree and around[q] == around[p]:
                q += 1
            mixed = np.uint64(around[p]) ^ (np.uint64(q - p) & mask)
            code ^= _rotated(mixed, q - p, n_bits, mask)
            p = q
        out[v] = code
    return out
