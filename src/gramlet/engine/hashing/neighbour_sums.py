"""Repeated sums over neighbours, X_{t+1} = (I + A) X_t, as residues that distinguish vectors.

x_t(v) counts, for each label, the walks of t steps (a step may stay at its node) from v to a node
of that label: integers that grow without limit. Here a vector x is represented by Σ_l c_l x_l
modulo three primes, and neighbours' residues are summed instead of their vectors.

Two different vectors collide modulo one prime p if p divides all their differences or, otherwise,
with a probability of at most 2/p over the coefficients c. The primes were drawn at random from the
2.6e16 primes between 2⁶⁰ and 2⁶¹; a difference of at most 10,000 · 31 bits has at most 5,200 of
them as divisors. All three collide with a probability below (5,200/2.6e16 + 2⁻⁵⁹)³ < 1e-38 per pair
of vectors, so the probability of any collision among ten million nodes is below 1e-24.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Ints, Nodes, UInt64s
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.node_hashes import scramble

__all__ = ["MAX_ROUNDS", "PRIMES", "label_residues", "next_residues", "representatives"]

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


@njit(nogil=True, cache=True)
def next_residues(indptr: Ints, indices: Nodes, residues: Ints, primes: Ints) -> Ints:
    """One round: every node's residues plus those of its neighbours."""
    out = residues.copy()
    for v in range(len(indptr) - 1):
        for p in range(indptr[v], indptr[v + 1]):
            u = indices[p]
            for k in range(len(primes)):
                total = out[v, k] + residues[u, k]
                out[v, k] = total - primes[k] if total >= primes[k] else total
    return out


def representatives(ids: Ints, n_ids: int) -> Ints:
    """The first position of each id.

    >>> representatives(np.array([0, 1, 0, 2]), 3).tolist()
    [0, 1, 3]
    """
    first = np.zeros(n_ids, np.int64)
    first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
    return first
