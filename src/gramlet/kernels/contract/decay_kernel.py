"""Kernels k = exp(−γ d): one matrix of distances gives the kernel matrices of many γ."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Floats
from gramlet.engine.core.memory import require_room
from gramlet.kernels.contract.kernel import GraphKernel, divide_rows, divisors

__all__ = ["DecayKernel", "Decays"]

_ROWS = 16  # that are converted and normalised at once; they stay in the cache


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
        fitted: Any = kernel.profile_
        first: Any = fitted if X is None else self._rows
        require_room(len(first), len(fitted), type(kernel).__name__)
        self._distances: Floats = first.distances(None if X is None else fitted, kernel._tiling())

    def matrix(self, out: Floats | None = None) -> Floats:
        """The matrix of `transform`, or of `fit_transform`, with the kernel's current parameters.

        Parameters may have changed that `fit` does not use: see the tag ``after_fit``. The matrix
        is written to ``out``, if given.
        """
        kernel, distances = self._kernel, self._distances
        out = np.empty_like(distances) if out is None else out
        fitted = kernel._current(kernel.profile_)
        rows = fitted if self._rows is None else kernel._current(self._rows)
        if kernel._repairs():
            rows.values(distances, out)
            whole = self._rows is None
            return kernel._finished_gram(out) if whole else kernel._finished(out, rows, fitted)
        own, other = rows.norms(), fitted.norms()
        left, right = divisors(own), divisors(other)
        for begin in range(0, len(out), _ROWS):
            strip = slice(begin, begin + _ROWS)
            rows.values(distances[strip], out[strip])
            if kernel.normalize:
                divide_rows(out[strip], left[strip], right)
        if kernel.normalize and self._rows is None:
            np.fill_diagonal(out, np.where(own > 0, 1.0, 0.0))
        return out
