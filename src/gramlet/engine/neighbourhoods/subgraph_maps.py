"""Sums over structure-preserving maps of small subgraphs of one graph into another.

Every set of nodes of the first graph is visited once, along the ESU tree. The sum is over all its
injections into the second graph that map edges to edges and non-edges to non-edges, weighted by the
product of node and edge kernels. Injections of a set are extended to those of the sets grown from
it; those of weight 0 are dropped. A bijection between two subsets is counted once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints, Nodes
from gramlet.common.stored_state import require, require_array, require_offsets
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import taken as taken_rows
from gramlet.engine.neighbourhoods.small_subgraphs import edge_code, join_candidates
from gramlet.graphs.build import narrow, width_for

__all__ = ["MappedGraphs", "map_sums"]


@dataclass(frozen=True)
class MappedGraphs:
    """Graphs prepared for maps, stored one after the other.

    Attributes
    ----------
    node_offsets, indptr, indices : arrays of integers, as in a `GraphBatch`
    labels, edge_labels : arrays of int64
        Codes of nodes and arcs: rows of the tables of kernel values.
    attributes : array of float64, shape (nodes, columns)
        Has no columns if attributes are not compared.
    """

    node_offsets: Ints
    indptr: Ints
    indices: Nodes
    labels: Ints
    edge_labels: Ints
    attributes: Floats

    def take(self, rows: Ints) -> MappedGraphs:
        """The graphs at these positions."""
        node_offsets, nodes = taken_rows(self.node_offsets, rows)
        indptr, arcs = taken_rows(self.indptr, nodes)
        shift = node_offsets[:-1] - self.node_offsets[:-1][rows]
        per_graph = np.diff(indptr[node_offsets])
        indices = self.indices[arcs] + np.repeat(shift, per_graph)
        return MappedGraphs(
            node_offsets,
            indptr,
            narrow(indices, int(node_offsets[-1])),
            self.labels[nodes],
            self.edge_labels[arcs],
            self.attributes[nodes],
        )

    def validate(self) -> None:
        """Raise ValueError if the arrays do not fit together."""
        offsets = require_offsets("node_offsets", self.node_offsets)
        n_nodes = int(offsets[-1])
        indptr = require_offsets("indptr", self.indptr, n_nodes, len(self.indices))
        n_arcs = int(indptr[-1])
        width = width_for(n_nodes)
        require_array("indices", self.indices, width, (n_arcs,), least=0, most=n_nodes - 1)
        owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        tails = np.repeat(np.arange(n_nodes), np.diff(indptr))
        same = np.array_equal(owner[tails], owner[self.indices])
        require(same, "arcs must stay in their graph")
        keys = tails * max(1, n_nodes) + self.indices
        require((np.diff(keys) > 0).all(), "neighbours must be sorted, each once")
        require_array("labels", self.labels, "int64", (n_nodes,), least=0)
        require_array("edge_labels", self.edge_labels, "int64", (n_arcs,), least=0)
        require_array("attributes", self.attributes, "float64", (n_nodes, None))


def map_sums(
    begin: int,
    end: int,
    first: MappedGraphs,
    second: MappedGraphs,
    tables: tuple[Floats, Floats],
    mu: float,
    size_weights: Floats,
    connected: bool,
    triangle: bool,
    out: Floats,
) -> None:
    """Fill the rows begin:end of ``out`` with the kernel of pairs of graphs.

    Parameters
    ----------
    tables : pair of arrays
        Kernel values of node labels, and of edge labels.
    mu : float
        Node values are also multiplied by exp(−mu ‖a − a'‖²).
    size_weights : array
        The weight of sets of 1, 2, ... nodes.
    triangle : bool
        Only pairs (i, j) with j ≥ i.
    """
    _fill(
        begin,
        end,
        first.node_offsets,
        first.indptr,
        first.indices,
        first.labels,
        first.edge_labels,
        first.attributes,
        second.node_offsets,
        second.indptr,
        second.indices,
        second.labels,
        second.edge_labels,
        second.attributes,
        tables[0],
        tables[1],
        mu,
        size_weights,
        connected,
        triangle,
        out,
    )


@njit(nogil=True, cache=True)
def _node_values(
    low: int,
    high: int,
    labels: Ints,
    attributes: Floats,
    low2: int,
    high2: int,
    labels2: Ints,
    attributes2: Floats,
    table: Floats,
    mu: float,
) -> Floats:
    """κ_V of all pairs of nodes of two graphs."""
    values = np.empty((high - low, high2 - low2))
    for v in range(low, high):
        for w in range(low2, high2):
            square = 0.0
            for c in range(attributes.shape[1]):
                square += (attributes[v, c] - attributes2[w, c]) ** 2
            values[v - low, w - low2] = table[labels[v], labels2[w]] * np.exp(-mu * square)
    return values


@njit(nogil=True, cache=True)
def _fill(
    begin: int,
    end: int,
    nodes: Ints,
    indptr: Ints,
    indices: Nodes,
    labels: Ints,
    edges: Ints,
    attributes: Floats,
    nodes2: Ints,
    indptr2: Ints,
    indices2: Nodes,
    labels2: Ints,
    edges2: Ints,
    attributes2: Floats,
    node_table: Floats,
    edge_table: Floats,
    mu: float,
    size_weights: Floats,
    connected: bool,
    triangle: bool,
    out: Floats,
) -> None:
    taken = np.zeros(len(indptr) - 1, dtype=np.bool_)
    for i in range(begin, end):
        for j in range(i if triangle else 0, len(nodes2) - 1):
            values = _node_values(
                nodes[i],
                nodes[i + 1],
                labels,
                attributes,
                nodes2[j],
                nodes2[j + 1],
                labels2,
                attributes2,
                node_table,
                mu,
            )
            out[i, j] = _pair_sum(
                nodes[i],
                nodes[i + 1],
                indptr,
                indices,
                edges,
                nodes2[j],
                nodes2[j + 1],
                indptr2,
                indices2,
                edges2,
                values,
                edge_table,
                size_weights,
                connected,
                taken,
            )


@njit(nogil=True, cache=True)
def _pair_sum(
    low: int,
    high: int,
    indptr: Ints,
    indices: Nodes,
    edges: Ints,
    low2: int,
    high2: int,
    indptr2: Ints,
    indices2: Nodes,
    edges2: Ints,
    values: Floats,
    edge_table: Floats,
    size_weights: Floats,
    connected: bool,
    taken: Bools,
) -> float:
    """The weighted sum over all sets of the first graph and all their injections.

    ``taken`` is False everywhere, before and after.
    """
    size = len(size_weights)
    candidates = np.empty(high - low, dtype=np.int64)
    members, following = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
    n_candidates = np.zeros(size + 1, dtype=np.int64)
    # Injections of the first d members of the current set are starts[d]:starts[d + 1].
    starts = np.zeros(size + 2, dtype=np.int64)
    images, weights = np.empty((256, size), dtype=np.int64), np.empty(256)
    total = 0.0
    for root in range(low, high):
        depth, node, behind = -1, root, 0
        while True:
            # Join.
            depth += 1
            members[depth], following[depth] = node, behind
            n_candidates[depth + 1] = join_candidates(
                node,
                root,
                high,
                indptr,
                indices,
                connected,
                taken,
                candidates,
                n_candidates[depth],
            )
            # Extend the injections.
            room = (starts[depth + 1] - starts[depth] + 1) * (high2 - low2) + starts[depth + 1]
            if room > len(weights):
                images, weights = _larger(images, weights, room)
            starts[depth + 2] = _extended(
                depth,
                members,
                starts,
                images,
                weights,
                indptr,
                indices,
                edges,
                low,
                low2,
                high2,
                indptr2,
                indices2,
                edges2,
                values,
                edge_table,
            )
            part = 0.0
            for k in range(starts[depth + 1], starts[depth + 2]):
                part += weights[k]
            total += size_weights[depth] * part
            # Leave sets that are full, have tried all candidates or cannot be mapped.
            if starts[depth + 2] == starts[depth + 1]:
                following[depth] = n_candidates[depth + 1]
            while depth >= 0 and (depth + 1 == size or following[depth] == n_candidates[depth + 1]):
                if connected:
                    for p in range(n_candidates[depth], n_candidates[depth + 1]):
                        taken[candidates[p]] = False
                depth -= 1
            if depth < 0:
                break
            node = candidates[following[depth]]
            following[depth] += 1
            behind = following[depth]
    return total


@njit(nogil=True, cache=True)
def _larger(images: Ints, weights: Floats, room: int) -> tuple[Ints, Floats]:
    more_images = np.empty((2 * room, images.shape[1]), dtype=np.int64)
    more_weights = np.empty(2 * room)
    more_images[: len(images)], more_weights[: len(weights)] = images, weights
    return more_images, more_weights


@njit(nogil=True, cache=True)
def _extended(
    depth: int,
    members: Ints,
    starts: Ints,
    images: Ints,
    weights: Floats,
    indptr: Ints,
    indices: Nodes,
    edges: Ints,
    low: int,
    low2: int,
    high2: int,
    indptr2: Ints,
    indices2: Nodes,
    edges2: Ints,
    values: Floats,
    edge_table: Floats,
) -> int:
    """Append the injections of depth + 1 members, extending those of depth members; their end."""
    node = members[depth]
    end = starts[depth + 1]
    if depth == 0:
        # The root alone; starts[1] is 0.
        for w in range(low2, high2):
            value = values[node - low, w - low2]
            if value != 0.0:
                images[end, 0], weights[end] = w, value
                end += 1
        return end
    # Every injection of the previous members, with every node as the image of the new one.
    for k in range(starts[depth], starts[depth + 1]):
        for w in range(low2, high2):
            value = weights[k] * values[node - low, w - low2]
            # It must be another node, with the same edges to earlier images.
            for i in range(depth):
                if value == 0.0:
                    break
                if images[k, i] == w:
                    value = 0.0
                    break
                a = edge_code(indptr, indices, edges, members[i], node)
                b = edge_code(indptr2, indices2, edges2, images[k, i], w)
                if (a > 0) != (b > 0):
                    value = 0.0
                elif a > 0:
                    value *= edge_table[a - 1, b - 1]
            if value != 0.0:
                for i in range(depth):
                    images[end, i] = images[k, i]
                images[end, depth], weights[end] = w, value
                end += 1
    return end
