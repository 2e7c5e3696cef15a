"""Hashes of nodes that depend on their surroundings and not on their numbers.

Colour refinement on 64-bit hashes, without tables and counts. It puts nodes into an order that
relabelling does not change; for comparing graphs there is `colour_refinement`.
"""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

from gramlet.common.arrays import Floats, Ints, UInt64s
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical

__all__ = ["node_signatures", "scramble"]


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
