"""Embeddings from the spectrum of the normalised Laplacian: NetLSD, FGSD and the eigenvalues.

They learn nothing from the fitted graphs and draw no random numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Choice, Integer, Number, TupleOf, fields
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require
from gramlet.embeddings.base import DETERMINISTIC_CONSTRAINTS, GraphEmbedding
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.spectral.laplacian_spectra import (
    distance_histograms,
    laplacian_eigenvalues,
    spectral_sums,
)
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags

# A divisor below this in absolute value is treated as 0.
_VANISHES = 1e-12


class _SpectralEmbedding(GraphEmbedding):
    """Base class of embeddings that depend on one graph only."""

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> GraphBatch:
        self._settle()
        return batch

    @abstractmethod
    def _settle(self) -> None:
        """Set the fitted attributes, which depend only on the parameters."""

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> GraphBatch:
        return batch

    def validate(self) -> None:
        """Raise ValueError if the fitted state does not fit the parameters."""
        # All fitted attributes are functions of the parameters.
        fresh = type(self)(**self.get_params(deep=False))
        fresh._settle()
        for name, value in vars(fresh).items():
            same = np.array_equal(np.asarray(getattr(self, name, None)), np.asarray(value))
            require(same or not name.endswith("_"), f"{name} does not fit the parameters")

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(kind="embedding", uses=())


def _eigenvalues(batch: GraphBatch, tiling: Tiling) -> Floats:
    return laplacian_eigenvalues(batch.node_offsets, batch.indptr, batch.indices, tiling)


@shared_texts
class NetLSD(_SpectralEmbedding):
    """NetLSD: the trace of the heat or wave kernel of a graph, at several times.

    With the eigenvalues λ_i of the normalised Laplacian, column t is Σ_i e^{−tλ_i} ("heat") or
    Σ_i cos(tλ_i) ("wave"). Small times describe local structure, large times global structure.
    Cost: the eigenvalues of each graph, O(n³), then O(n) per time.

    Parameters
    ----------
    times : array-like of float or None
        None: 250 times from 0.01 to 100, evenly spaced in their logarithm.
    kind : {"heat", "wave"}
    normalization : {None, "empty", "complete"}
        Divide by the values of the empty graph (that is n) or of the complete graph with the same
        number of nodes. If the divisor is below 1e-12 in absolute value, the result is 0.
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    times_ : array

    Notes
    -----
    An isolated node has the eigenvalue 0. A graph without nodes gets the zero row. Labels and
    weights are ignored.

    References
    ----------
    Tsitsulin, Mottin, Karras, Bronstein, Müller (2018), NetLSD: hearing the shape of a graph.

    Examples
    --------
    >>> from gramlet import NetLSD
    >>> edge, triangle = [(0, 1)], [(0, 1), (1, 2), (0, 2)]
    >>> NetLSD(times=[1.0]).fit_transform([(edge, None), (triangle, None)]).round(4)
    array([[1.1353],
           [1.4463]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "times": ["array-like", None],
        "kind": [StrOptions({"heat", "wave"})],
        "normalization": [StrOptions({"empty", "complete"}), None],
        **DETERMINISTIC_CONSTRAINTS,
    }

    stored = fields(
        times_=ArrayOf("float64", None, least=0.0),
        kind_=Choice("heat", "wave"),
        normalization_=Choice(None, "empty", "complete"),
    )

    def __init__(
        self,
        times: Any = None,
        kind: str = "heat",
        *,
        normalization: str | None = None,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.times = times
        self.kind = kind
        self.normalization = normalization
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settle(self) -> None:
        self.times_ = np.logspace(-2, 2, 250) if self.times is None else _checked_times(self.times)
        self.kind_ = self.kind
        self.normalization_ = self.normalization

    def _features(self, profile: GraphBatch, tiling: Tiling) -> Floats:
        values = _eigenvalues(profile, tiling)
        wave = self.kind_ == "wave"
        sums = spectral_sums(values, profile.node_offsets, self.times_, wave, tiling)
        divisors = self._divisors(profile.sizes)
        there = np.abs(divisors) >= _VANISHES
        return np.divide(sums, divisors, out=np.zeros_like(sums), where=there)

    def _divisors(self, sizes: Ints) -> Floats:
        """Per graph and time: 1, n, or 1 + (n − 1) f(t n/(n − 1))."""
        n = np.asarray(sizes, dtype=np.float64)[:, None]
        if self.normalization_ is None:
            return np.ones((len(n), len(self.times_)))
        if self.normalization_ == "empty":
            return np.broadcast_to(n, (len(n), len(self.times_)))
        others = np.maximum(n - 1.0, 0.0)
        angles = self.times_ * (n / np.maximum(others, 1.0))
        return 1.0 + others * (np.cos(angles) if self.kind_ == "wave" else np.exp(-angles))

    def _names(self) -> list[str]:
        return [f"{self.kind_} {at}: t={t:.6g}" for at, t in enumerate(self.times_)]


def _checked_times(times: Any) -> Floats:
    """Check that there are one or more finite, non-negative times."""
    checked = np.asarray(times)
    plain = checked.ndim == 1 and len(checked) > 0 and checked.dtype.kind in "iuf"
    if not plain or not np.isfinite(checked).all() or (checked < 0).any():
        raise ValueError(
            "The 'times' parameter of NetLSD must be None or a list of one or more finite numbers, "
            f"none of them negative. Got {times!r} instead."
        )
    return checked.astype(np.float64)


@shared_texts
class FGSD(_SpectralEmbedding):
    """FGSD: the histogram of harmonic distances between the nodes of a graph.

    With the pseudo-inverse P of the normalised Laplacian, the distances P_ii + P_jj − 2P_ij of all
    n² ordered pairs of nodes, including i = j, are counted in bins of equal width. Cost: one
    eigendecomposition per graph, O(n³).

    Parameters
    ----------
    n_bins : int, default 200
    range : tuple of two float, default (0, 20)
        The begin of the first bin and the end of the last; values outside are not counted.
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    range_ : tuple of two float

    Notes
    -----
    Distances often lie on the border of two bins (the distance across a single edge is exactly 1).
    They are counted in the upper bin if they are within 1e-9 bin widths of the border; those at the
    upper end of the range are counted in the last bin. A graph without nodes gets the zero row.
    Labels and weights are ignored.

    References
    ----------
    Verma, Zhang (2017), Hunt for the unique, stable, sparse and fast feature learning on graphs.

    Examples
    --------
    >>> from gramlet import FGSD
    >>> edge, triangle = [(0, 1)], [(0, 1), (1, 2), (0, 2)]
    >>> FGSD(n_bins=4, range=(0, 2)).fit_transform([(edge, None), (triangle, None)])
    array([[2., 0., 2., 0.],
           [3., 0., 6., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_bins": [Interval(Integral, 1, None, closed="left")],
        "range": [tuple, list],
        **DETERMINISTIC_CONSTRAINTS,
    }

    stored = fields(range_=TupleOf(Number(), 2), n_bins_=Integer(1, size="n_bins"))

    def __init__(
        self,
        n_bins: int = 200,
        range: tuple[float, float] = (0, 20),
        *,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_bins = n_bins
        self.range = range
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settle(self) -> None:
        ends = self.range
        plain = len(ends) == 2 and all(
            isinstance(x, Real) and not isinstance(x, bool) for x in ends
        )
        if not plain or not np.isfinite(ends).all() or not ends[0] < ends[1]:
            raise ValueError(
                "The 'range' parameter of FGSD must be two finite numbers, the lower end first. "
                f"Got {ends!r} instead."
            )
        self.range_ = (float(ends[0]), float(ends[1]))
        self.n_bins_ = int(self.n_bins)

    def _features(self, profile: GraphBatch, tiling: Tiling) -> Floats:
        return distance_histograms(
            profile.node_offsets,
            profile.indptr,
            profile.indices,
            *self.range_,
            self.n_bins_,
            tiling,
        )

    def _names(self) -> list[str]:
        low, high = self.range_
        borders = np.linspace(low, high, self.n_bins_ + 1).tolist()
        return [f"bin {at}: [{a:.6g}, {b:.6g})" for at, (a, b) in enumerate(pairwise(borders))]


@shared_texts
class SpectralFeatures(_SpectralEmbedding):
    """The smallest eigenvalues of the normalised Laplacian, ascending.

    For graphs with fewer nodes than columns, the remaining columns are 0. This is the simplest
    spectral embedding, a baseline for graphs without labels. Cost: O(n³) per graph.

    Parameters
    ----------
    n_components : int, default 128
        Number of eigenvalues, and of columns.
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    n_components_ : int

    Notes
    -----
    An isolated node has the eigenvalue 0. Labels and weights are ignored.

    References
    ----------
    de Lara, Pineau (2018), A simple baseline algorithm for graph classification.

    Examples
    --------
    >>> from gramlet import SpectralFeatures
    >>> edge, triangle = [(0, 1)], [(0, 1), (1, 2), (0, 2)]
    >>> SpectralFeatures(n_components=4).fit_transform([(edge, None), (triangle, None)]).round(2)
    array([[0. , 2. , 0. , 0. ],
           [0. , 1.5, 1.5, 0. ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        **DETERMINISTIC_CONSTRAINTS,
    }

    stored = fields(n_components_=Integer(1, size="n_components"))

    def __init__(
        self, n_components: int = 128, *, n_jobs: int | None = None, verbose: int | bool = False
    ) -> None:
        self.n_components = n_components
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settle(self) -> None:
        self.n_components_ = int(self.n_components)

    def _features(self, profile: GraphBatch, tiling: Tiling) -> Floats:
        values = _eigenvalues(profile, tiling)
        rank = np.arange(profile.n_nodes_total) - profile.node_offsets[profile.graph_of_node]
        kept = rank < self.n_components_
        rows = np.zeros((len(profile), self.n_components_))
        rows[profile.graph_of_node[kept], rank[kept]] = values[kept]
        return rows

    def _names(self) -> list[str]:
        return [f"eigenvalue {i}" for i in range(self.n_components_)]
