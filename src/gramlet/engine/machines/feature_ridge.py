"""Ridge regression with a bias on features, for embeddings with fewer features than graphs.

With X = U S Vᵀ, the centred features of a training part, the fit, the exact leave-one-out residuals
and the weights of the features take O(np) per penalty λ after one decomposition, O(np²) for n
graphs and p features; the forms in `kernel_ridge` and `tridiagonal_ridge` take O(n³). Singular
values are those of X, so that directions are told apart that a Gram matrix loses to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.engine.machines.kernel_ridge import NOTHING

__all__ = ["FeatureRidge", "decompose_features"]


@dataclass(frozen=True)
class FeatureRidge:
    """The singular value decomposition of centred features.

    Attributes
    ----------
    squares : array, shape (r,)
        Squared singular values.
    vectors : array, shape (p, r)
        Right singular vectors.
    scores : array, shape (n, r)
        The centred features in the directions of the vectors, U S.
    mean_self_similarity : float
        Mean squared length of the centred features; 0 if they do not distinguish any graphs.
    """

    squares: Floats
    vectors: Floats
    scores: Floats
    mean_self_similarity: float

    def penalties(self, costs: Floats) -> Floats:
        """λ for each C: the mean self-similarity divided by C; 1 if that is 0."""
        scale = self.mean_self_similarity
        return scale / costs if scale > 0 else np.ones(len(costs))

    def leave_one_out(self, targets: Floats, penalties: Floats) -> tuple[Floats, Floats]:
        """Exact leave-one-out residuals of each graph, and `coefficients`.

        The residuals have the shape (penalties, n, t). A residual is r_i / (1 − h_i), with the
        residuals r of the fit to all graphs and the diagonal h of the smoother (with the bias).

        Parameters
        ----------
        targets : array, shape (n, t)
        penalties : array
        """
        centred = targets - targets.mean(axis=0)
        rotated = self.scores.T @ centred
        inverse = 1.0 / (self.squares[:, None] + penalties)  # (r, penalties)
        left = 1.0 - 1.0 / len(targets) - (self.scores**2) @ inverse
        # A graph that alone has a feature determines its own prediction if penalties are tiny.
        np.maximum(left, np.finfo(np.float64).eps, out=left)
        shrunk = inverse.T[:, :, None] * rotated
        return (centred - self.scores @ shrunk) / left.T[:, :, None], self._weights(shrunk)

    def coefficients(self, targets: Floats, penalties: Floats) -> Floats:
        """Weights of the centred features; shape (penalties, p, t)."""
        rotated = self.scores.T @ (targets - targets.mean(axis=0))
        return self._weights(rotated / (self.squares + penalties[:, None])[:, :, None])

    def _weights(self, shrunk: Floats) -> Floats:
        weights: Floats = self.vectors @ shrunk
        return weights if self.mean_self_similarity > 0 else np.zeros_like(weights)


def decompose_features(features: Floats) -> tuple[FeatureRidge, Floats]:
    """The decomposition of the features of a training part, and their mean.

    Examples
    --------
    >>> points = np.arange(5.0)[:, None]
    >>> form, mean = decompose_features(points)
    >>> form.leave_one_out(2.0 * points, np.array([1e-9]))[0].round(3).ravel() + 0.0
    array([0., 0., 0., 0., 0.])
    """
    from scipy.linalg import qr, svd

    mean: Floats = features.mean(axis=0)
    centred = features - mean
    # Of the triangular factor: it is p × p, and has the same singular values and right vectors.
    triangle = qr(centred, mode="r", check_finite=False)[0][: centred.shape[1]]
    values, right = svd(triangle, full_matrices=False, check_finite=False)[1:]
    mean_square = float((centred**2).sum()) / len(features)
    if mean_square <= NOTHING * float((features**2).sum(axis=1).max(initial=0.0)):
        mean_square = 0.0
    vectors = np.ascontiguousarray(right.T)
    return FeatureRidge(values**2, vectors, centred @ vectors, mean_square), mean
