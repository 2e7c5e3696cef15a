"""Hashes of nodes and graphs that depend on their content alone.

Not on the batch, nor on the order or numbering of nodes, nor on the process. `node_signatures`, 64
bits per node, puts nodes into an order that relabelling does not change. `refine_hashes` and
`multiset_hashes` are colour refinement with 128-bit hashes instead of consecutive ids: two lanes of
64 bits go through one bijection of 128 bits; the hash of a multiset is the sum of its members'
images, lane by lane. Different contents collide with a probability of about 2⁻¹²⁸ per pair, at
worst times the square of the multiplicities: far below 1e-20.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints, Nodes, UInt64s
from gramlet.engine.core.compiled import njit
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical

_A = np.uint64(0x9E3779B97F4A7C15)
_B = np.uint64(0xBF58476D1CE4E5B9)
_C = np.uint64(0x94D049BB133111EB)
_D = np.uint64(0xD6E8FEB86659FD93)
_S32, _S29 = np.uint64(32), np.uint64(29)
# Constants that distinguish the roles in which a hash is added.
_NEIGHBOUR, _OUT, _IN, _NODE, _GRAPH = (
    np.uint64((2 * k + 1) * 0x9E3779B97F4A7C15 % 2**64) for k in range(1, 6)
)


@njit(nogil=True, cache=True)
def mix(a: np.uint64, b: np.uint64, role: np.uint64) -> tuple[np.uint64, np.uint64]:
    """A bijection of 128 bits, a different one for every role. Every step is invertible."""
    a ^= role
    b += role * _D
    for _ in range(2):
        a = (a ^ (a >> _S32)) * _B
        b = (b + a) * _C
        b ^= b >> _S29
        a = (a + b) * _D
        a ^= a >> _S32
        b = (b ^ a) * _A
        b ^= b >> _S32
    return a, b


@njit(nogil=True, cache=True)
def refine_hashes(
    hashes: UInt64s,
    indptr: Ints,
    indices: Nodes,
    labels: UInt64s,
    in_indptr: Ints,
    in_indices: Nodes,
    in_arcs: Ints,
) -> UInt64s:
    """One round of refinement: own hash, then the multisets over out-arcs and over in-arcs.

    ``hashes`` has shape (nodes, 2), ``labels`` shape (arcs, 2). An empty ``in_indptr`` means that
    the graphs are undirected, and only out-arcs are used.
    """
    out = np.empty_like(hashes)
    for v in range(len(hashes)):
        a, b = mix(hashes[v, 0], hashes[v, 1], _OUT)
        # The arcs that leave v.
        sum_a, sum_b = np.uint64(0), np.uint64(0)
        for p in range(indptr[v], indptr[v + 1]):
            u = indices[p]
            x, y = mix(hashes[u, 0] ^ labels[p, 0], hashes[u, 1] + labels[p, 1], _NEIGHBOUR)
            sum_a += x
            sum_b += y
        a, b = mix(a + sum_a, b ^ sum_b, _OUT)
        # The arcs that end at v.
        sum_a, sum_b = np.uint64(0), np.uint64(0)
        if len(in_indptr) > 0:
            for p in range(in_indptr[v], in_indptr[v + 1]):
                u, arc = in_indices[p], in_arcs[p]
                x, y = mix(hashes[u, 0] ^ labels[arc, 0], hashes[u, 1] + labels[arc, 1], _NEIGHBOUR)
                sum_a += x
                sum_b += y
        out[v, 0], out[v, 1] = mix(a + sum_a, b ^ sum_b, _IN)
    return out


@njit(nogil=True, cache=True)
def multiset_hashes(offsets: Ints, hashes: UInt64s, flags: Bools) -> UInt64s:
    """The hash of every group's multiset of hashes and its flag, shape (groups, 2)."""
    n = len(offsets) - 1
    out = np.empty((n, 2), dtype=np.uint64)
    for g in range(n):
        sum_a, sum_b = np.uint64(0), np.uint64(0)
        for v in range(offsets[g], offsets[g + 1]):
            x, y = mix(hashes[v, 0], hashes[v, 1], _NODE)
            sum_a += x
            sum_b += y
        role = _GRAPH if flags[g] else _GRAPH ^ _NODE
        out[g, 0], out[g, 1] = mix(sum_a, sum_b, role)
    return out


def node_signatures(batch: GraphBatch, n_rounds: int) -> UInt64s:
    """One hash per node, of its labels, attributes, surroundings and graph.

    Nodes that some isomorphism maps to each other have equal signatures; so have the few others
    that ``n_rounds`` of refinement cannot distinguish.
    """
    ties = _of_arcs(batch)
    colours = scramble(_of_nodes(batch))
    for _ in range(n_rounds):
        sums = _sums(scramble(colours[batch.indices] ^ ties), batch.indptr)
        colours = scramble(colours + np.uint64(0x9E3779B97F4A7C15) * sums)
    of_graph = _sums(scramble(colours), batch.node_offsets)
    return scramble(colours ^ scramble(of_graph)[batch.graph_of_node])


def _of_nodes(batch: GraphBatch) -> UInt64s:
    found = np.zeros(batch.n_nodes_total, dtype=np.uint64)
    if batch.node_labels is not None:
        found += _of_labels(batch.node_labels)
    if batch.node_attributes is not None:
        for column in batch.node_attributes.T:
            found = scramble(found + _bits(column))
    return found


def _of_arcs(batch: GraphBatch) -> UInt64s:
    found = np.zeros(len(batch.indices), dtype=np.uint64)
    if batch.edge_labels is not None:
        found += _of_labels(batch.edge_labels)
    if batch.edge_weights is not None:
        found = scramble(found + _bits(batch.edge_weights))
    return found


def _of_labels(column: Categorical) -> UInt64s:
    """Hashes of the labels' names: their codes depend on the order of the nodes."""
    names = (repr(value).encode("utf-8", "surrogatepass") for value in column.categories)
    hashes = [int.from_bytes(blake2b(name, digest_size=8).digest(), "little") for name in names]
    return np.array(hashes, dtype=np.uint64)[column.codes]


def _bits(values: Floats) -> UInt64s:
    return np.ascontiguousarray(values + 0.0).view(np.uint64)  # + 0.0: −0 is 0


def _sums(values: UInt64s, offsets: Ints) -> UInt64s:
    """Sums over consecutive ranges, modulo 2⁶⁴: the order within a range does not matter."""
    running = np.zeros(len(values) + 1, dtype=np.uint64)
    np.cumsum(values, out=running[1:])
    sums: UInt64s = running[offsets[1:]] - running[offsets[:-1]]
    return sums


def scramble(values: UInt64s) -> UInt64s:
    """A bijection of 64-bit numbers whose values look random (splitmix64)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
