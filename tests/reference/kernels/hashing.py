"""Kernels on sums and on hashes of neighbourhoods: Hadamard codes in full, neighbourhood hashes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping

import numpy as np

from reference.building import matrix, rows_and_columns
from reference.kernels.histograms import dot, intersection
from reference.plain import PlainGraph

# Hadamard codes


def code_levels(graph: PlainGraph, n_iter: int) -> list[Counter]:
    """The number of nodes with each vector x_t(v), for t = 0..n_iter, X_t = (I + A)^t onehot.

    A vector is the set of its non-zero entries (label, whole number of any size).
    """
    rows: list[Counter] = [Counter([label]) for label in graph.labels]
    levels = []
    for _ in range(n_iter + 1):
        levels.append(Counter(frozenset(row.items()) for row in rows))
        rows = [
            sum((rows[u] for u in graph.neighbours[v]), Counter(rows[v])) for v in range(graph.n)
        ]
    return levels


def hadamard_pair(G: PlainGraph, H: PlainGraph, n_iter: int = 4) -> float:
    """Σ_t the number of pairs of nodes with equal vectors."""
    levels = zip(code_levels(G, n_iter), code_levels(H, n_iter), strict=True)
    return sum(dot(a, b) for a, b in levels)


def hadamard_code(graphs, other=None, n_iter: int = 4, normalize: bool = False) -> np.ndarray:
    """The matrix of HadamardCode: rows `graphs`, columns the fitted graphs `other`."""
    rows, columns = rows_and_columns(graphs, other)
    return matrix(hadamard_pair, rows, columns, normalize, n_iter=n_iter)


# Neighbourhood hashes


def rotate(code: int, places: int, n_bits: int) -> int:
    """ROT: the bits of a code rotated to the left."""
    bits = [(code >> i) & 1 for i in range(n_bits)]
    moved = [bits[(i - places) % n_bits] for i in range(n_bits)]
    return sum(bit << i for i, bit in enumerate(moved))


def hash_round(graph: PlainGraph, codes: list[int], kind: str, n_bits: int) -> list[int]:
    """s_{i+1} of every node from s_i."""
    new = []
    for v in range(graph.n):
        code = rotate(codes[v], 1, n_bits)
        around = [codes[u] for u in graph.neighbours[v]]
        if kind == "simple":
            for value in around:
                code ^= value
        else:
            for value, times in Counter(around).items():
                code ^= rotate(value ^ (times % 2**n_bits), times, n_bits)
        new.append(code)
    return new


def hash_levels(
    graph: PlainGraph, codes: Mapping[Hashable, int], n_iter: int, kind: str, n_bits: int
) -> list[Counter]:
    """The number of nodes with each code after 1..n_iter rounds."""
    current = [codes[label] for label in graph.labels]
    levels = []
    for _ in range(n_iter):
        current = hash_round(graph, current, kind, n_bits)
        levels.append(Counter(current))
    return levels


def neighborhood_hash_pair(
    G: PlainGraph,
    H: PlainGraph,
    codes: Mapping[Hashable, int],
    n_iter: int = 3,
    kind: str = "simple",
    n_bits: int = 32,
) -> float:
    """(1/n_iter) Σ_i c_i/(n + n' − c_i), c_i = Σ_s min of counts after i rounds."""
    if G.n + H.n == 0:
        return 0.0
    total = 0.0
    for a, b in zip(
        hash_levels(G, codes, n_iter, kind, n_bits),
        hash_levels(H, codes, n_iter, kind, n_bits),
        strict=True,
    ):
        shared = intersection(a, b)
        total += shared / (G.n + H.n - shared)
    return total / n_iter


def neighborhood_hash(
    graphs,
    other=None,
    *,
    codes: Mapping[Hashable, int],
    n_iter: int = 3,
    kind: str = "simple",
    n_bits: int = 32,
    normalize: bool = False,
) -> np.ndarray:
    """The matrix of NeighborhoodHash with given codes of the labels."""
    rows, columns = rows_and_columns(graphs, other)
    return matrix(
        neighborhood_hash_pair,
        rows,
        columns,
        normalize,
        codes=codes,
        n_iter=n_iter,
        kind=kind,
        n_bits=n_bits,
    )
