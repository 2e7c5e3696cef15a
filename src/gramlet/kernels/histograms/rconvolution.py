"""The R-convolution kernel for any decomposition and any kernels on parts: general and slow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.profile import Profile
from gramlet.kernels.contract.tags import GraphTags

Parts = list[tuple[Any, ...]]


@dataclass(frozen=True)
class PartProfile(Profile):
    """The parts of each graph, and the kernels between parts."""

    parts: list[Parts]
    kernels: tuple[Callable[[Any, Any], float], ...]

    def __len__(self) -> int:
        return len(self.parts)

    def take(self, rows: Ints) -> PartProfile:
        return PartProfile([self.parts[i] for i in rows.tolist()], self.kernels)

    def compare(self, other: PartProfile, tiling: Tiling = QUIET) -> Floats:
        out = np.zeros((len(self), len(other)))

        def fill(begin: int, end: int) -> None:
            for i in range(begin, end):
                out[i] = [self._value(self.parts[i], parts) for parts in other.parts]

        for_tiles(fill, len(self), tiling=tiling)
        return out

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        n = len(self)
        out = np.zeros((n, n))

        def fill(begin: int, end: int) -> None:
            for i in range(begin, end):
                for j in range(i, n):
                    out[i, j] = self._value(self.parts[i], self.parts[j])

        for_tiles(fill, n, costs=np.arange(n, 0, -1, dtype=np.float64), tiling=tiling)
        mirror(out)
        return out

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        return np.array([self._value(parts, parts) for parts in self.parts], dtype=np.float64)

    def _value(self, left: Parts, right: Parts) -> float:
        total = 0.0
        for p in left:
            for q in right:
                product = 1.0
                for kernel, a, b in zip(self.kernels, p, q, strict=True):
                    product *= kernel(a, b)
                    if product == 0.0:
                        break
                total += product
        if not np.isfinite(total):
            raise ValueError(
                "A kernel on parts gave a value that is not finite; check the 'kernels' parameter."
            )
        return float(total)


@shared_texts
class RConvolution(GraphKernel):
    """R-convolution kernel: sums over all pairs of parts of two graphs.

    k(G, G') = Σ_{p ∈ R(G)} Σ_{q ∈ R(G')} Π_d k_d(p_d, q_d), where R decomposes a graph into
    d-tuples of parts. Positive semi-definite if all k_d are. It is written in plain Python, as a
    reference for fast kernels and for experiments with new ones. Cost: the product of the numbers
    of parts, per pair of graphs.

    Parameters
    ----------
    decompose : callable
        Takes one graph (a `GraphBatch` of one, directed or not) and returns a list of tuples of
        parts.
    kernels : sequence of callables
        One kernel per place of the tuples; takes two parts and returns a number.
    normalize : bool, default False
        Divide by sqrt(k(G,G) k(G',G')); if a norm is 0, the entry is 0.
    n_jobs : int or None
        Number of threads; they speed up Python code only a little.
    verbose : bool or int
        Show a progress bar on a terminal.

    References
    ----------
    Haussler (1999), Convolution kernels on discrete structures.

    Examples
    --------
    The vertex histogram kernel, as a sum over pairs of nodes with equal labels:

    >>> from gramlet import RConvolution
    >>> def nodes(graph):
    ...     return [(label,) for label in graph.node_labels]
    >>> def equal(a, b):
    ...     return float(a == b)
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["C", "C", "N"])]
    >>> RConvolution(nodes, [equal]).fit_transform(graphs)
    array([[2., 2.],
           [2., 5.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "decompose": [callable],
        "kernels": ["array-like"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        decompose: Callable[[GraphBatch], Any],
        kernels: Sequence[Callable[[Any, Any], float]],
        *,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.decompose = decompose
        self.kernels = kernels
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, batch: GraphBatch) -> None:
        if len(self.kernels) == 0 or not all(callable(k) for k in self.kernels):
            raise ValueError(
                "The 'kernels' parameter of RConvolution must be one callable for each place of "
                f"the tuples that 'decompose' gives; got {self.kernels!r}."
            )

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> PartProfile:
        return self._profile(batch, tiling)

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> PartProfile:
        parts = [self._parts(batch[i], i) for i in range(len(batch))]
        return PartProfile(parts, tuple(self.kernels))

    def _parts(self, graph: GraphBatch, position: int) -> Parts:
        parts = [tuple(part) for part in self.decompose(graph)]
        for part in parts:
            if len(part) != len(self.kernels):
                raise ValueError(
                    f"'decompose' gave a tuple of {len(part)} parts for graph {position}, but "
                    f"there are {len(self.kernels)} kernels; give one kernel for each place."
                )
        return parts

    def __graph_tags__(self) -> GraphTags:
        # `decompose` gets directed graphs with their arcs and may use the directions.
        return GraphTags(directed=True)
