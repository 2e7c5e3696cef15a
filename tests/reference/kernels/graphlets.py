"""Induced subgraphs by enumeration: spectra, distributions of samplers, feature maps, mean kernels.

A labelled pattern on k nodes is an integer, one bit for each pair (0,1), (0,2), ..., (1,2), ...
from the lowest.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from reference.plain import PlainGraph, one_graph

# Patterns


def pairs(k: int) -> list[tuple[int, int]]:
    """The pairs of k nodes in the order of their bits."""
    return list(itertools.combinations(range(k), 2))


def pattern_of(adjacency: np.ndarray) -> int:
    """The pattern of a k×k adjacency matrix."""
    return sum(1 << bit for bit, (i, j) in enumerate(pairs(len(adjacency))) if adjacency[i, j] != 0)


def adjacency_of(pattern: int, k: int) -> np.ndarray:
    """The k×k adjacency matrix of a pattern."""
    matrix = np.zeros((k, k))
    for bit, (i, j) in enumerate(pairs(k)):
        matrix[i, j] = matrix[j, i] = pattern >> bit & 1
    return matrix


def renumbered(pattern: int, k: int, order: Sequence[int]) -> int:
    """The pattern with node order[i] renamed to i."""
    bit_of = {pair: bit for bit, pair in enumerate(pairs(k))}
    new = 0
    for bit, (i, j) in enumerate(pairs(k)):
        old = bit_of[min(order[i], order[j]), max(order[i], order[j])]
        new |= (pattern >> old & 1) << bit
    return new


@cache
def canonical(pattern: int, k: int) -> int:
    """The smallest pattern isomorphic to this one, found by trying all k! orders."""
    return min(renumbered(pattern, k, order) for order in itertools.permutations(range(k)))


def classes(k: int) -> list[int]:
    """One pattern (the smallest) of each isomorphism class on k nodes."""
    seen: set[int] = set()
    smallest = []
    for pattern in range(2 ** len(pairs(k))):
        if pattern not in seen:
            smallest.append(pattern)
            seen.update(renumbered(pattern, k, p) for p in itertools.permutations(range(k)))
    return smallest


def n_classes(k: int) -> int:
    """N_k by Burnside's lemma: the mean over all orders of the number of fixed patterns.

    An order leaves a pattern fixed if it is constant along each cycle of pairs.
    """
    kept = 0
    for order in itertools.permutations(range(k)):
        left, cycles = set(pairs(k)), 0
        while left:
            i, j = first = next(iter(left))
            while (i, j) in left:
                left.remove((i, j))
                i, j = sorted((order[i], order[j]))
            assert (i, j) == first
            cycles += 1
        kept += 2**cycles
    return kept // math.factorial(k)


def is_connected(pattern: int, k: int) -> bool:
    """Whether a walk from node 0 reaches all k nodes."""
    matrix, reached = adjacency_of(pattern, k), {0}
    for _ in range(k):
        reached |= {j for i in reached for j in range(k) if matrix[i, j]}
    return len(reached) == k


# Spectra


def padded(graph, k: int) -> np.ndarray:
    """The adjacency matrix, with isolated nodes added up to k."""
    graph = one_graph(graph)
    size = max(graph.n, k)
    matrix = np.zeros((size, size))
    matrix[: graph.n, : graph.n] = graph.adjacency()
    return matrix


def spectrum(graph, k: int, connected_only: bool = False) -> dict[int, float]:
    """The frequency of each isomorphism class among all induced subgraphs on k nodes.

    With `connected_only`, among the connected ones; empty if there is none.
    """
    matrix = padded(graph, k)
    counts: dict[int, int] = defaultdict(int)
    for nodes in itertools.combinations(range(len(matrix)), k):
        pattern = canonical(pattern_of(matrix[np.ix_(nodes, nodes)]), k)
        if not connected_only or is_connected(pattern, k):
            counts[pattern] += 1
    total = sum(counts.values())
    return {pattern: count / total for pattern, count in counts.items()}


def graphlet_kernel(G, H, k: int = 3, connected_only: bool = False) -> float:
    """The dot product of the two spectra."""
    f, g = spectrum(G, k, connected_only), spectrum(H, k, connected_only)
    return sum(value * g.get(pattern, 0.0) for pattern, value in f.items())


def spectrum_with_repetition(graph, k: int) -> dict[int, float]:
    """The frequency of each labelled pattern among k distinct nodes in all orders."""
    matrix = padded(graph, k)
    counts: dict[int, int] = defaultdict(int)
    for nodes in itertools.permutations(range(len(matrix)), k):
        counts[pattern_of(matrix[np.ix_(nodes, nodes)])] += 1
    total = math.perm(len(matrix), k)
    return {pattern: count / total for pattern, count in counts.items()}


def estimate(graph, node_tuples, k: int) -> dict[int, float]:
    """The estimated spectrum of given samples: the mean of their class indicators."""
    matrix = padded(graph, k)
    frequencies: dict[int, float] = defaultdict(float)
    for nodes in node_tuples:
        nodes = list(nodes)
        frequencies[canonical(pattern_of(matrix[np.ix_(nodes, nodes)]), k)] += 1 / len(node_tuples)
    return dict(frequencies)


# Distributions of the samplers


def uniform_law(graph, k: int) -> dict[tuple[int, ...], float]:
    """All ordered choices of k distinct nodes are equally likely."""
    size = len(padded(graph, k))
    return dict.fromkeys(itertools.permutations(range(size), k), 1 / math.perm(size, k))


def next_node_law(matrix: np.ndarray, collected, start: int, here: int, flyback: float):
    """The probability of each new node to be the first one that the walk meets.

    From x the walk returns to the start with probability p, otherwise it moves to a uniform
    neighbour; the probabilities satisfy a linear system. None if no new node can be reached.
    """
    reachable = {start}
    for _ in range(len(matrix)):
        reachable |= {int(j) for i in reachable for j in np.flatnonzero(matrix[i])}
    old = sorted(reachable & set(collected))
    new = sorted(reachable - set(collected))
    if not new:
        return None
    stay, leave = np.zeros((len(old), len(old))), np.zeros((len(old), len(new)))
    for row, x in enumerate(old):
        stay[row, old.index(start)] += flyback
        for u in np.flatnonzero(matrix[x]):
            chance = (1 - flyback) / matrix[x].sum()
            if u in old:
                stay[row, old.index(u)] += chance
            else:
                leave[row, new.index(u)] += chance
    hits = np.linalg.solve(np.eye(len(old)) - stay, leave)
    return dict(zip(new, hits[old.index(here)].tolist(), strict=True))


def walk_law(graph, k: int, flyback: float) -> dict[tuple[int, ...], float]:
    """The exact probability of each ordered choice under the random walk sampler."""
    matrix = padded(graph, k)
    size = len(matrix)
    law: dict[tuple[int, ...], float] = defaultdict(float)

    def collect(collected: tuple[int, ...], start: int, chance: float) -> None:
        if chance == 0:
            return
        if len(collected) == k:
            law[collected] += chance
            return
        steps = next_node_law(matrix, collected, start, collected[-1], flyback)
        if steps is not None:
            for node, probability in steps.items():
                collect((*collected, node), start, chance * probability)
            return
        rest = [v for v in range(size) if v not in collected]
        for node in rest:
            collect((*collected, node), node, chance / len(rest))

    for node in range(size):
        collect((node,), node, 1 / size)
    return dict(law)


def expected_embedding(graph, k: int, law: dict, feature_map: Callable) -> np.ndarray:
    """The mean of φ over a sampler's distribution: the limit of (1/s) Σ_j φ(F_j)."""
    matrix = padded(graph, k)
    return sum(chance * feature_map(matrix[np.ix_(nodes, nodes)]) for nodes, chance in law.items())


# Feature maps with given random numbers


def gaussian_map(adjacency: np.ndarray, frequencies: np.ndarray, phases: np.ndarray) -> np.ndarray:
    """sqrt(2/m) cos(Wᵀa + b), W of shape (k², m)."""
    return math.sqrt(2 / len(phases)) * np.cos(frequencies.T @ adjacency.ravel() + phases)


def eigen_gaussian_map(
    adjacency: np.ndarray, frequencies: np.ndarray, phases: np.ndarray
) -> np.ndarray:
    """The same on the ascending eigenvalues, W of shape (k, m)."""
    eigenvalues = np.sort(np.linalg.eigvalsh(adjacency))
    return math.sqrt(2 / len(phases)) * np.cos(frequencies.T @ eigenvalues + phases)


def optical_map(adjacency: np.ndarray, transmission: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """|W a + b|² / sqrt(m), W complex of shape (m, k²)."""
    return np.abs(transmission @ adjacency.ravel() + bias) ** 2 / math.sqrt(len(bias))


# Kernels between graphlets: the expected inner products of the maps


def gaussian_kernel(A: np.ndarray, B: np.ndarray, sigma: float = 1.0) -> float:
    """exp(−‖a − b‖² / (2σ²)) of the flattened matrices."""
    return math.exp(-float(((A - B) ** 2).sum()) / (2 * sigma**2))


def eigen_gaussian_kernel(A: np.ndarray, B: np.ndarray, sigma: float = 1.0) -> float:
    """The same of the ascending eigenvalues."""
    difference = np.sort(np.linalg.eigvalsh(A)) - np.sort(np.linalg.eigvalsh(B))
    return math.exp(-float(difference @ difference) / (2 * sigma**2))


def optical_kernel(A: np.ndarray, B: np.ndarray, bias: bool = True, scale: float = 1.0) -> float:
    """scale⁴ (‖x‖²‖y‖² + (xᵀy)²), x = (a, 1) or a."""
    x = np.append(A.ravel(), 1.0) if bias else A.ravel()
    y = np.append(B.ravel(), 1.0) if bias else B.ravel()
    return scale**4 * float((x @ x) * (y @ y) + (x @ y) ** 2)


def match_kernel(A: np.ndarray, B: np.ndarray) -> float:
    """1 for isomorphic graphlets, else 0."""
    k = len(A)
    return float(canonical(pattern_of(A), k) == canonical(pattern_of(B), k))


# Mean kernel and its distance


def mean_kernel(
    G: PlainGraph, H: PlainGraph, k: int, base_kernel="gaussian", sigma: float = 1.0
) -> float:
    """The mean of the base kernel over all pairs of k ordered nodes of G and k of H."""
    base = {
        "gaussian": lambda A, B: gaussian_kernel(A, B, sigma),
        "optical": optical_kernel,
        "match": match_kernel,
    }.get(base_kernel, base_kernel)
    total = 0.0
    for pattern, frequency in spectrum_with_repetition(G, k).items():
        for other, other_frequency in spectrum_with_repetition(H, k).items():
            value = base(adjacency_of(pattern, k), adjacency_of(other, k))
            total += frequency * other_frequency * value
    return total


def mmd(G, H, k: int, base_kernel="gaussian", sigma: float = 1.0) -> float:
    """sqrt(K(G,G) + K(H,H) − 2K(G,H)) of the mean kernel K."""
    square = (
        mean_kernel(G, G, k, base_kernel, sigma)
        + mean_kernel(H, H, k, base_kernel, sigma)
        - 2 * mean_kernel(G, H, k, base_kernel, sigma)
    )
    return math.sqrt(max(0.0, square))


# Theory


def graphlet_samples(k: int, eps: float, delta: float) -> int:
    """⌈2(N_k ln 2 + ln(1/δ))/ε²⌉."""
    return math.ceil(2 * (n_classes(k) * math.log(2) + math.log(1 / delta)) / eps**2)


def mmd_bound(m: int, s: int, delta: float, feature_bound: float = 1.0) -> float:
    """B² (4√ln(6/δ)/√m + 8(1 + √(2 ln(3/δ)))/√s)."""
    of_features = 4 * math.sqrt(math.log(6 / delta)) / math.sqrt(m)
    of_samples = 8 * (1 + math.sqrt(2 * math.log(3 / delta))) / math.sqrt(s)
    return feature_bound**2 * (of_features + of_samples)


def fourier_components(eps: float, n: int, delta: float) -> int:
    """⌈(4/ε²) ln(n(n−1)/δ)⌉: the union bound over the n(n−1)/2 pairs."""
    return math.ceil(4 / eps**2 * math.log(n * (n - 1) / delta))
