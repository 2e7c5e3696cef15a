"""The ODD-STh kernel: subtrees of the decompositions into directed acyclic graphs, unfolded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable

import numpy as np

from reference.building import matrix, rows_and_columns
from reference.kernels.laplacian import hops_from
from reference.kernels.weisfeiler_lehman import multiset
from reference.plain import PlainGraph


def tree(graph: PlainGraph, hops: dict[int, int], u: int, height: int) -> tuple[Hashable, int]:
    """T_v(u) and its number of nodes, given the hops from v: (label, multiset of the children).

    A child is the head w of an arc of u that is one hop farther from v, within `height` hops.
    """
    children = [
        tree(graph, hops, w, height)
        for w in graph.neighbours[u]
        if hops[w] == hops[u] + 1 and hops[w] <= height
    ]
    shape = (graph.labels[u], multiset(child for child, _ in children))
    return shape, 1 + sum(size for _, size in children)


def tree_counts(graph: PlainGraph, height: int) -> Counter:
    """f_T: the number of pairs (v, u within `height` hops of v) with T_v(u) = T, by (T, |T|)."""
    counts: Counter = Counter()
    for v in range(graph.n):
        hops = hops_from(graph, v)
        for u, distance in hops.items():
            if distance <= height:
                counts[tree(graph, hops, u, height)] += 1
    return counts


def odd_sth_pair(G: PlainGraph, H: PlainGraph, height: int = 3, decay: float = 1.0) -> float:
    """Σ_T decay^{|T|} f_T(G) f_T(H)."""
    a, b = tree_counts(G, height), tree_counts(H, height)
    return float(sum(decay ** key[1] * count * b[key] for key, count in a.items()))


def odd_sth(
    graphs, other=None, height: int = 3, decay: float = 1.0, normalize: bool = False
) -> np.ndarray:
    """The matrix of ODDSTh: rows `graphs`, columns the fitted graphs `other`."""
    rows, columns = rows_and_columns(graphs, other)
    return matrix(odd_sth_pair, rows, columns, normalize, height=height, decay=decay)
