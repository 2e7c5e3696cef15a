"""Bounds for graph sampling: how many samples and random features are enough.

The functions take and return numbers; no graphs are needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from numbers import Real
from typing import Any

from gramlet.common.checks import is_integer

__all__ = ["fourier_components", "graphlet_samples", "mmd_bound", "n_graphlets"]


def n_graphlets(k: int) -> int:
    """The number N_k of graphs on k nodes up to isomorphism, connected or not.

    By Burnside's lemma, N_k = (1/k!) Σ_π 2^{c(π)}, with c(π) the number of cycles of the
    permutation π on the pairs of nodes. The sum is over cycle types. Cost: the number of partitions
    of k.

    Parameters
    ----------
    k : int
        At least 1.

    References
    ----------
    Harary (1955), The number of linear, directed, rooted, and connected graphs.

    Examples
    --------
    >>> from gramlet.theory import n_graphlets
    >>> [n_graphlets(k) for k in range(3, 9)]
    [4, 11, 34, 156, 1044, 12346]
    """
    return _n_graphlets(_count("k", k))


def graphlet_samples(k: int, eps: float, delta: float) -> int:
    """The number of samples that suffices for the k-spectrum of a graph.

    With s = ⌈2 (N_k ln 2 + ln(1/δ)) / ε²⌉ uniform samples the estimated spectrum is, with
    probability at least 1 − δ, less than ε from the true one in the L1 norm.

    Parameters
    ----------
    k : int
        Number of nodes of the graphlets, at least 1.
    eps : float
        The error, > 0.
    delta : float
        The probability of a larger error, in (0, 1).

    Returns
    -------
    int

    References
    ----------
    Shervashidze et al. (2009), Efficient graphlet kernels for large graph comparison, Theorem 2
    and its corollary.

    Examples
    --------
    >>> from gramlet.theory import graphlet_samples
    >>> graphlet_samples(4, 0.1, 0.1)
    1986
    """
    eps, delta = _positive("eps", eps), _probability("delta", delta)
    return math.ceil(2 * (n_graphlets(k) * math.log(2) + math.log(1 / delta)) / eps**2)


def mmd_bound(m: int, s: int, delta: float, feature_bound: float = 1.0) -> float:
    """The largest error of the *squared* distance of two embeddings, with probability 1 − δ.

    |‖z − z'‖² − MMD²| ≤ B² (4 √ln(6/δ) / √m + 8 (1 + √(2 ln(3/δ))) / √s), with z and z' the
    embeddings of two graphs from s samples each, with m random features of absolute value at most
    B.

    Parameters
    ----------
    m : int
        Number of random features, at least 1.
    s : int
        Number of samples per graph, at least 1.
    delta : float
        The probability of a larger error, in (0, 1).
    feature_bound : float
        B, > 0: 1 for complex exponentials, √2 for the real cosine features of `GaussianMap`.
        Optical features are not bounded, so the bound does not hold for them.

    Returns
    -------
    float

    Examples
    --------
    >>> from gramlet.theory import mmd_bound
    >>> round(mmd_bound(5000, 2000, 0.05), 4)
    0.8146
    """
    m, s = _count("m", m), _count("s", s)
    delta, feature_bound = _probability("delta", delta), _positive("feature_bound", feature_bound)
    from_features = 4 * math.sqrt(math.log(6 / delta)) / math.sqrt(m)
    from_samples = 8 * (1 + math.sqrt(2 * math.log(3 / delta))) / math.sqrt(s)
    return feature_bound**2 * (from_features + from_samples)


def fourier_components(eps: float, n: int, delta: float) -> int:
    """The number of random Fourier features that suffices for all kernel values of n points.

    The smallest m ≥ (4/ε²) ln(n(n−1)/δ): with probability at least 1 − δ, all n(n−1)/2 inner
    products of features are within ε of the kernel (Hoeffding's inequality and the union bound).

    Parameters
    ----------
    eps : float
        The error, > 0.
    n : int
        Number of points, at least 2.
    delta : float
        The probability that some error is larger, in (0, 1).

    Returns
    -------
    int

    References
    ----------
    Rahimi & Recht (2008), Random features for large-scale kernel machines.

    Examples
    --------
    >>> from gramlet.theory import fourier_components
    >>> fourier_components(0.1, 100, 0.05)
    4879
    """
    eps, n, delta = _positive("eps", eps), _count("n", n, least=2), _probability("delta", delta)
    return math.ceil(4 / eps**2 * math.log(n * (n - 1) / delta))


@cache
def _n_graphlets(k: int) -> int:
    total = Fraction(0)
    for cycles in _partitions(k, k):
        pair_cycles = sum(length // 2 for length in cycles)
        for i, a in enumerate(cycles):
            pair_cycles += sum(math.gcd(a, b) for b in cycles[i + 1 :])
        centraliser = math.prod(cycles) * math.prod(
            math.factorial(cycles.count(length)) for length in set(cycles)
        )
        total += Fraction(2**pair_cycles, centraliser)
    return int(total)


def _partitions(total: int, largest: int) -> Iterator[list[int]]:
    """All partitions of a number into parts, largest part first."""
    if total == 0:
        yield []
    for part in range(min(total, largest), 0, -1):
        for rest in _partitions(total - part, part):
            yield [part, *rest]


def _count(name: str, value: Any, least: int = 1) -> int:
    if not is_integer(value):
        raise TypeError(f"{name} must be an integer; got {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}; got {value}.")
    return int(value)


def _number(name: str, value: Any) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number; got {value!r}.")
    return float(value)


def _positive(name: str, value: Any) -> float:
    number = _number(name, value)
    if not 0 < number < math.inf:
        raise ValueError(f"{name} must be positive and finite; got {value}.")
    return number


def _probability(name: str, value: Any) -> float:
    number = _number(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} is a probability and must lie between 0 and 1; got {value}.")
    return number
