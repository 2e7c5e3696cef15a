"""Kernels on vectors and strings by enumeration of all subsets, subsequences and paths."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np


def matrix(kernel: Callable[..., float], X, Y=None, **options) -> np.ndarray:
    """kernel(x, y, **options) of every row of X with every row of Y (X itself if None)."""
    Y = X if Y is None else Y
    return np.array([[kernel(x, y, **options) for y in Y] for x in X], dtype=float)


def linear(x, y) -> float:
    """Σ_j x_j y_j."""
    return float(sum(a * b for a, b in zip(x, y, strict=True)))


def polynomial(x, y, degree: int) -> float:
    """(1 + x·y)^degree."""
    return (1.0 + linear(x, y)) ** degree


def all_subsets(x, y) -> float:
    """Σ_A Π_{i∈A} x_i y_i over all subsets A of the coordinates, the empty one too."""
    return sum(anova(x, y, size) for size in range(len(x) + 1))


def anova(x, y, degree: int) -> float:
    """Σ_A Π_{i∈A} x_i y_i over the subsets A of `degree` coordinates; 0 if there is none."""
    return float(
        sum(
            math.prod(x[i] * y[i] for i in subset)
            for subset in itertools.combinations(range(len(x)), degree)
        )
    )


def product_kernel(kernels: Sequence[Callable], blocks=None) -> Callable:
    """(X, Y) ↦ Π_j kernels[j](X[:, blocks[j]], Y[:, blocks[j]]), entry by entry."""
    columns = [[j] for j in range(len(kernels))] if blocks is None else blocks

    def kernel(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
        product = np.ones((len(X), len(Y)))
        for part, chosen in zip(kernels, columns, strict=True):
            product = product * part(X[:, chosen], Y[:, chosen])
        return product

    return kernel


def subsequence_features(s: Sequence, n: int, decay: float) -> dict[tuple, float]:
    """Φ_u(s) = Σ_{I: s[I]=u} λ^(i_n − i_1 + 1), by all index tuples i_1 < ... < i_n."""
    features: dict[tuple, float] = defaultdict(float)
    for indices in itertools.combinations(range(len(s)), n):
        span = indices[-1] - indices[0] + 1
        features[tuple(s[i] for i in indices)] += decay**span
    return dict(features)


def subsequence(s: Sequence, t: Sequence, n: int, decay: float) -> float:
    """Σ_u Φ_u(s) Φ_u(t) over all u of n symbols."""
    of_s, of_t = subsequence_features(s, n, decay), subsequence_features(t, n, decay)
    return float(sum(value * of_t.get(u, 0.0) for u, value in of_s.items()))


def subsequence_gram(S, T=None, *, n: int, decay: float, normalize: bool = False) -> np.ndarray:
    """The matrix of subsequence kernels; normalised by the self-similarities, 0 if one is 0."""
    T = S if T is None else T
    values = matrix(subsequence, S, T, n=n, decay=decay)
    if normalize:
        for i, s in enumerate(S):
            for j, t in enumerate(T):
                norm = math.sqrt(subsequence(s, s, n, decay) * subsequence(t, t, n, decay))
                values[i, j] = values[i, j] / norm if norm > 0 else 0.0
    return values


def path_sum(layers: Sequence[np.ndarray]) -> np.ndarray:
    """Entry (i, j): the sum over all paths from i in the first layer to j in the last.

    A path contains one node per layer; its weight is the product of the weights along it.
    """
    widths = [len(layers[0])] + [layer.shape[1] for layer in layers]
    sums = np.zeros((widths[0], widths[-1]))
    for path in itertools.product(*(range(width) for width in widths)):
        weight = math.prod(layer[path[k], path[k + 1]] for k, layer in enumerate(layers))
        sums[path[0], path[-1]] += weight
    return sums


def all_subsets_layers(x, y) -> list[np.ndarray]:
    """The all-subsets kernel as a layered graph: coordinate j is used (x_j y_j) or skipped (1)."""
    layers = []
    for a, b in zip(x, y, strict=True):
        layers += [np.array([[1.0, a * b]]), np.array([[1.0], [1.0]])]
    return layers


def anova_layers(x, y, degree: int) -> list[np.ndarray]:
    """The ANOVA kernel as a layered graph: node i stands for i coordinates used so far."""
    layers = []
    for a, b in zip(x, y, strict=True):
        step = np.eye(degree + 1)
        for taken in range(degree):
            step[taken, taken + 1] = a * b
        layers.append(step)
    return layers
