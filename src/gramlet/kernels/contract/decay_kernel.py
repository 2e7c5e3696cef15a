"""Kernels k = exp(−γ d): one matrix of distances gives the kernel matrices of many γ."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats
from gramlet.engine.core.memory import require_room
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.kernels.contract.kernel import GraphKernel
from gramlet.kernels.contract.normalisation import canonical, normalize_in_place, unit
from gramlet.kernels.contract.profile import Profile

_ROWS = 16  # that are converted at once; they stay in the cache


class DecayProfile(Profile):
    """Graphs compared by k = exp(−γ d); a subclass defines d."""

    gamma: float

    @abstractmethod
    def distances(self, other: Self | None, tiling: Tiling = QUIET) -> Floats:
        """The matrix of d to other graphs, or the symmetric one between all of these if None."""

    @abstractmethod
    def own_distances(self) -> Floats:
        """The distance of each graph to itself, which need not be 0."""

    def require_distances(self, which: str) -> None:
        """Raise ValueError for graphs that have no distance to others."""

    def values(self, distances: Array, out: Array | None = None) -> Array:
        """Kernel values, in ``out`` or, because the matrix may be large, instead of distances.

        They are computed in the precision of the distances.
        """
        out = distances if out is None else out
        for begin in range(0, len(out), _ROWS):
            rows = out[begin : begin + _ROWS]
            np.multiply(distances[begin : begin + _ROWS], -self.gamma, out=rows)
            np.exp(rows, out=rows)
        return out

    def compare(self, other: Self, tiling: Tiling = QUIET) -> Floats:
        return self.values(self.distances(other, tiling))

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        return self.values(self.distances(None, tiling))

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        return self.values(self.own_distances())


class DecayKernel(GraphKernel):
    """Base class of kernels whose profiles are `DecayProfile`.

    If ``gamma`` is a parameter that `fit` does not use, the tags ``after_fit`` and ``distances``
    say so.
    """

    gamma: float

    def distance(self, X: Any) -> Floats:
        """Compute the distances of X to the fitted graphs, shape (len(X), n fitted)."""
        profile, fitted = self._profiles(X)
        profile.require_distances("given")
        fitted.require_distances("fitted")
        distances: Floats = profile.distances(fitted, self._tiling())
        return distances

    def decays(self, X: Any = None) -> Decays:
        """Compute the distances of X, or of the fitted graphs, for the matrices of several γ."""
        return Decays(self, X)

    def _repairs(self) -> bool:
        """Whether whole matrices are changed before they are normalised."""
        return False

    def _current(self, profile: Any) -> Any:
        return replace(profile, gamma=float(self.gamma))


class Decays:
    """Kernel matrices from one matrix of distances.

    Parameters
    ----------
    kernel : DecayKernel
        Fitted.
    X : GraphBatch or any input of `gramlet.as_batch`, optional
        The rows; by default the fitted graphs.
    """

    def __init__(self, kernel: DecayKernel, X: Any = None) -> None:
        check_is_fitted(kernel)
        self._kernel = kernel
        self._rows: Any = None if X is None else kernel.profile_of(X)
        self._distances: dict[bool, Array] = {}  # by whether they are normalised
        n_fitted = len(kernel.profile_)
        n_rows = n_fitted if self._rows is None else len(self._rows)
        require_room(n_rows, n_fitted, type(kernel).__name__)
        self._distances_for(self._normalized())

    def matrix(self, out: Array | None = None) -> Array:
        """The matrix of `transform`, or of `fit_transform`, with the kernel's current parameters.

        Parameters may have changed that `fit` does not use: see the tag ``after_fit``. The matrix
        may use the memory of ``out``, if given. Normalised values may differ in the last digits.
        """
        kernel = self._kernel
        distances = self._distances_for(self._normalized())
        out = np.empty_like(distances) if out is None else out
        fitted = kernel._current(kernel.profile_)
        rows = fitted if self._rows is None else kernel._current(self._rows)
        rows.values(distances, out)
        if kernel._repairs():
            whole = self._rows is None
            return kernel._finished_gram(out) if whole else kernel._finished(out, rows, fitted)
        if kernel.normalize == "tanimoto":
            normalize_in_place(out, rows.norms(), fitted.norms(), "tanimoto")
            if self._rows is None:
                np.fill_diagonal(out, unit(rows.norms()))
        elif kernel.normalize:
            own, other = rows.norms(), fitted.norms()
            out[own <= 0] = 0.0
            out[:, other <= 0] = 0.0
            if self._rows is None:
                np.fill_diagonal(out, np.where(own > 0, 1.0, 0.0))
        return out

    def _normalized(self) -> bool:
        """Whether half of the self-distances is subtracted, which makes exp(−γ d) a cosine."""
        return canonical(self._kernel.normalize) == "cosine" and not self._kernel._repairs()

    def _distances_for(self, normalized: bool) -> Array:
        if normalized not in self._distances:
            fitted: Any = self._kernel.profile_
            rows = fitted if self._rows is None else self._rows
            others = None if self._rows is None else fitted
            distances: Floats = rows.distances(others, self._kernel._tiling())
            if normalized:
                _normalize(distances, rows.own_distances(), fitted.own_distances())
            self._distances[normalized] = distances
        return self._distances[normalized]


def _normalize(distances: Floats, own: Floats, others: Floats) -> None:
    """Subtract half of both self-distances: exp(−γ d) is then normalised, whatever γ is."""
    if not (own.any() or others.any()):
        return
    half = 0.5 * others
    for row, distance in zip(distances, own, strict=True):
        row -= 0.5 * distance + half
