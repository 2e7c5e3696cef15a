"""One random stream per graph: xoshiro256++, seeded by a seed and by the graph itself.

The stream depends only on the seed, the number of nodes and the edges: neither on the batch, nor on
the graph's position in it, nor on threads. Equal graphs have equal streams.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Ints, Nodes, UInt64s
from gramlet.engine.core.compiled import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)


def wrapping_integers() -> np.errstate:
    """A context for calls of the functions below without the compiler: no overflow warnings."""
    return np.errstate(over="ignore")


@njit(nogil=True, cache=True)
def _mixed(x: np.uint64) -> np.uint64:
    """The splitmix64 step: every bit of the input affects every bit of the output."""
    x = x + _GOLDEN
    x = (x ^ (x >> np.uint64(30))) * _MIX_1
    x = (x ^ (x >> np.uint64(27))) * _MIX_2
    return x ^ (x >> np.uint64(31))


@njit(nogil=True, cache=True)
def graph_stream(
    seed: int, first: int, last: int, indptr: Ints, indices: Nodes, state: UInt64s
) -> None:
    """Set the state for the graph on the nodes first:last."""
    x = _mixed(_mixed(np.uint64(seed)) ^ np.uint64(last - first))
    for u in range(first, last):
        for a in range(indptr[u], indptr[u + 1]):
            if indices[a] > u:
                x = _mixed(x ^ np.uint64(u - first))
                x = _mixed(x ^ np.uint64(indices[a] - first))
    for word in range(4):
        x = _mixed(x)
        state[word] = x


@njit(nogil=True, cache=True)
def _rotated(x: np.uint64, places: np.uint64) -> np.uint64:
    return (x << places) | (x >> (np.uint64(64) - places))


@njit(nogil=True, cache=True)
def next_bits(state: UInt64s) -> np.uint64:
    """64 random bits (xoshiro256++, Blackman & Vigna)."""
    result = _rotated(state[0] + state[3], np.uint64(23)) + state[0]
    shifted = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = _rotated(state[3], np.uint64(45))
    return result


@njit(nogil=True, cache=True)
def below(n: int, state: UInt64s) -> int:
    """A uniform integer in 0..n−1 (n < 2³²), by multiplication, exact by rejection (Lemire)."""
    width = np.uint64(n)
    product = (next_bits(state) >> np.uint64(32)) * width
    if product & _LOW_32 < width:
        too_small = (np.uint64(1) << np.uint64(32)) % width
        while product & _LOW_32 < too_small:
            product = (next_bits(state) >> np.uint64(32)) * width
    return np.int64(product >> np.uint64(32))  # type: ignore[return-value]


@njit(nogil=True, cache=True)
def uniform(state: UInt64s) -> float:
    """A uniform number in [0, 1), a multiple of 2⁻⁵³."""
    return np.float64(next_bits(state) >> np.uint64(11)) * 2.0**-53
