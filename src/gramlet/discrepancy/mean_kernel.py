"""The exact mean kernel of two graphs and its distance, which graph sampling estimates."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from numbers import Real
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.checks import is_integer
from gramlet.engine.graphlets.patterns import (
    adjacency_matrices,
    classes_of_codes,
    n_pairs,
    patterns,
)
from gramlet.engine.graphlets.spectrum import graphlet_frequencies
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch

BaseKernel = str | Callable[[Floats, Floats], float]

_LARGEST = 5
_NAMES = ("gaussian", "optical", "match")


def mean_kernel(
    G: Any, H: Any, k: int, base_kernel: BaseKernel = "gaussian", sigma: float = 1.0
) -> float:
    """The mean of a kernel between graphlets, over all pairs of k nodes of G and k nodes of H.

    K(G, H) = E k(F, F'), with F and F' induced by k distinct nodes of G and of H, drawn uniformly
    in random order. Cost: the k-spectra (see `GraphletKernel`), then at most 4^{k(k−1)/2} values of
    a callable; the named kernels are first averaged over isomorphism classes.

    Parameters
    ----------
    G, H : one graph each, in any form that `gramlet.as_batch` takes in a list
    k : int
        2 to 5.
    base_kernel : {"gaussian", "optical", "match"} or callable
        "gaussian": exp(−‖a − a'‖² / (2σ²)) of the flattened adjacency matrices; "optical": the
        kernel of `OpticalMap` with its defaults, ‖x‖² ‖x'‖² + (xᵀx')² with x = (a, 1); "match": 1
        for isomorphic graphlets, otherwise 0; or a function of two k×k arrays.
    sigma : float
        For "gaussian".

    Returns
    -------
    float

    References
    ----------
    Ghanem, Keriven, Tremblay (2021), Fast graph kernel with optical random features.

    Examples
    --------
    >>> from gramlet import GraphBatch, mean_kernel
    >>> triangle = GraphBatch.from_edges([[(0, 1), (1, 2), (0, 2)]])
    >>> star = GraphBatch.from_edges([[(0, 1), (0, 2), (0, 3)]])
    >>> mean_kernel(triangle, star, 3, "match"), mean_kernel(star, star, 3, "match")
    (0.0, 0.625)
    """
    shares = _spectra([_one_graph(G, "G"), _one_graph(H, "H")], k)
    return float(_means(shares, k, base_kernel, sigma)[0, 1])


def mmd(
    G: Any, H: Any, k: int | None = None, base_kernel: BaseKernel = "gaussian", sigma: float = 1.0
) -> float:
    """The exact maximum mean discrepancy of two graphs, or an estimate from two embeddings.

    sqrt(K(G, G) + K(H, H) − 2 K(G, H)), with K the `mean_kernel`. For two rows of features of
    `GraphSampling`, their Euclidean distance, which estimates it.

    Parameters
    ----------
    G, H : one graph each, or two arrays of features
    k : int
        2 to 5, for graphs.
    base_kernel, sigma
        As for `mean_kernel`.

    Returns
    -------
    float

    Examples
    --------
    >>> from gramlet import GraphBatch, mmd
    >>> triangle = GraphBatch.from_edges([[(0, 1), (1, 2), (0, 2)]])
    >>> path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    >>> round(mmd(triangle, path, 3, "match"), 6)
    1.414214
    >>> mmd([0.0, 3.0], [4.0, 0.0])
    5.0
    """
    rows = _feature_rows(G, H)
    if rows is not None:
        return float(np.linalg.norm(rows[0] - rows[1]))
    if k is None:
        raise TypeError("mmd of two graphs needs k, the number of nodes of the graphlets.")
    shares = _spectra([_one_graph(G, "G"), _one_graph(H, "H")], k)
    means = _means(shares, k, base_kernel, sigma)
    return float(np.sqrt(max(0.0, means[0, 0] + means[1, 1] - means[0, 1] - means[1, 0])))


def _one_graph(graph: Any, name: str) -> GraphBatch:
    batch = graph if isinstance(graph, GraphBatch) else as_batch([graph])
    if len(batch) != 1:
        raise ValueError(f"{name} must be one graph; got {len(batch)}.")
    return batch


def _feature_rows(G: Any, H: Any) -> tuple[Floats, Floats] | None:
    """Two vectors of one length, or None if the arguments are graphs."""
    vectors = []
    for given in (G, H):
        if isinstance(given, GraphBatch):
            return None
        if isinstance(given, list | tuple) and not all(isinstance(x, Real) for x in given):
            return None
        if not isinstance(given, list | tuple | np.ndarray) or np.ndim(given) != 1:
            return None
        vectors.append(np.asarray(given, dtype=np.float64))
    if vectors[0].shape != vectors[1].shape:
        raise ValueError(
            f"Two embeddings must have the same length; got {len(vectors[0])} and "
            f"{len(vectors[1])}."
        )
    return vectors[0], vectors[1]


def _spectra(graphs: list[GraphBatch], k: int) -> Floats:
    if not is_integer(k) or not 2 <= k <= _LARGEST:
        raise ValueError(
            f"The exact mean kernel takes k from 2 to {_LARGEST}; got k={k!r}. For larger "
            "graphlets, use distances of GraphSampling embeddings."
        )
    return np.concatenate([graphlet_frequencies(graph, int(k)) for graph in graphs])


def _means(shares: Floats, k: int, base_kernel: BaseKernel, sigma: float) -> Floats:
    """Mean kernels between all rows of spectra."""
    if callable(base_kernel):
        return _means_of_callable(shares, int(k), base_kernel)
    if base_kernel not in _NAMES:
        raise ValueError(
            f"base_kernel must be one of {', '.join(_NAMES)}, or a function of two adjacency "
            f"matrices; got {base_kernel!r}."
        )
    if not isinstance(sigma, Real) or not 0 < sigma < np.inf:
        raise ValueError(f"sigma must be positive and finite; got {sigma!r}.")
    return np.asarray(shares @ _class_means(int(k), base_kernel, float(sigma)) @ shares.T)


@cache
def _class_means(k: int, name: str, sigma: float) -> Floats:
    """The mean kernel between two classes: one order of the first, all codes of the second.

    One order is enough, because the named kernels do not change if both patterns are reordered.
    """
    known = patterns(k)
    if name == "match":
        return np.eye(len(known))
    codes = np.arange(1 << n_pairs(k))
    edges, all_edges = known.n_edges[:, None], _n_bits(codes)
    common = _n_bits(known.smallest[:, None] & codes)
    if name == "gaussian":
        # Each edge of only one pattern adds 2 to the squared distance of the matrices.
        values = np.exp(-(edges + all_edges - 2 * common) / sigma**2)
    else:
        values = (2.0 * edges + 1) * (2 * all_edges + 1) + (2 * common + 1) ** 2
    membership = np.zeros((len(codes), len(known)))
    classes = classes_of_codes(codes, k)
    membership[codes, classes] = 1.0 / known.orbit_sizes[classes]
    return np.asarray(values @ membership)


def _n_bits(codes: Ints) -> Ints:
    return ((codes[..., None] >> np.arange(n_pairs(_LARGEST))) & 1).sum(axis=-1)


def _means_of_callable(shares: Floats, k: int, kernel: Callable[[Floats, Floats], float]) -> Floats:
    classes = classes_of_codes(np.arange(1 << n_pairs(k)), k)
    weights = shares[:, classes] / patterns(k).orbit_sizes[classes]
    codes = np.flatnonzero(weights.any(axis=0))
    matrices = adjacency_matrices(codes, k)
    values = np.array([[float(kernel(a, b)) for b in matrices] for a in matrices])
    if not np.isfinite(values).all():
        raise ValueError("base_kernel gave a value that is not finite.")
    return np.asarray(weights[:, codes] @ values @ weights[:, codes].T)
