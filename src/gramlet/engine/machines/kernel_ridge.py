"""Ridge regression with a bias, for many penalties and targets from one decomposition.

With the centred Gram matrix K = UΛUᵀ of a training part, the fit, the exact leave-one-out residuals
and the predictions of new graphs take O(n²) per penalty λ. With fewer features than graphs the
singular values of the centred features take the place of Λ; they also resolve directions that a
Gram matrix loses to rounding. `gramlet.evaluation` chooses the penalties and interprets the
targets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Bools, Floats

NEGATIVE = 1e-10  # eigenvalues below −this × the largest are not rounding errors
NOTHING = 1e-14  # a centred matrix this much smaller than the plain one is a rounding error


@dataclass(frozen=True)
class CentredSpectrum:
    """The eigendecomposition of a centred Gram matrix.

    Attributes
    ----------
    values : array, shape (n,)
        Eigenvalues; negative ones are replaced by 0.
    vectors : array, shape (n, n)
    used : array of bool, shape (n,)
        Directions that are used for predictions: all except those of negative eigenvalues.
    mean_self_similarity : float
        Trace divided by n; 0 if the kernel does not distinguish any graphs.
    """

    values: Floats
    vectors: Floats
    used: Bools
    mean_self_similarity: float

    def penalties(self, costs: Floats) -> Floats:
        """λ for each C: the mean self-similarity divided by C.

        1 if the matrix is zero: then the prediction is the mean for every penalty.
        """
        scale = self.mean_self_similarity
        return scale / costs if scale > 0 else np.ones(len(costs))

    def leave_one_out(self, targets: Floats, penalties: Floats) -> tuple[Floats, Floats]:
        """Exact leave-one-out residuals of each graph, and `coefficients`.

        Both have the shape (penalties, n, t). A residual is r_i / (1 − h_i), with the residuals r
        of the fit to all graphs and the diagonal h of the smoother (with the bias).

        Parameters
        ----------
        targets : array, shape (n, t)
        penalties : array
        """
        n = len(self.values)
        shrunk = penalties / (self.values[:, None] + penalties)  # (n, penalties)
        left = (self.vectors**2) @ shrunk - 1.0 / n  # the constant direction is not shrunk
        rotated = self.vectors.T @ (targets - targets.mean(axis=0))
        residuals = np.empty((len(penalties), n, targets.shape[1]))
        for p in range(len(penalties)):
            fitted = self.vectors @ (shrunk[:, p, None] * rotated)
            residuals[p] = fitted / left[:, p, None]
        return residuals, self.coefficients(targets, penalties)

    def coefficients(self, targets: Floats, penalties: Floats) -> Floats:
        """Dual coefficients on the centred training graphs; shape (penalties, n, t)."""
        if not self.mean_self_similarity > 0:
            return np.zeros((len(penalties), *targets.shape))
        rotated = self.vectors.T @ (targets - targets.mean(axis=0))
        return np.stack(
            [
                self.vectors @ ((self.used / (self.values + penalty))[:, None] * rotated)
                for penalty in penalties
            ]
        )


def centre(gram: Floats, cross: Floats) -> tuple[Floats, Floats]:
    """Centre the Gram matrix of a training part, and the rows of new graphs.

    The result is the dot products after the mean of the training part is subtracted from all
    features.

    Examples
    --------
    >>> points = np.array([[0.0], [2.0]])
    >>> centre(points @ points.T, np.array([[5.0]]) @ points.T)[1]
    array([[-4.,  4.]])
    """
    means = gram.mean(axis=0)
    centred = gram - means - means[:, None] + means.mean()
    return centred, centre_rows(gram, cross)


def centre_rows(gram: Floats, cross: Floats) -> Floats:
    """The second result of `centre`: the rows of new graphs."""
    means = gram.mean(axis=0)
    rows: Floats = cross - cross.mean(axis=1, keepdims=True) - means + means.mean()
    return rows


def decompose(centred: Floats, size: float) -> CentredSpectrum:
    """The spectrum of a centred Gram matrix.

    Parameters
    ----------
    centred : array, shape (n, n)
    size : float
        The largest absolute value of the matrix before it was centred; values far below it are
        rounding errors.
    """
    n = len(centred)
    values, vectors = np.linalg.eigh(centred)
    largest = float(np.abs(values).max(initial=0.0))
    used = values >= -NEGATIVE * largest
    mean = float(np.trace(centred)) / n
    if mean <= NOTHING * size:
        mean = 0.0
    return CentredSpectrum(np.where(used, values, 0.0).clip(0.0), vectors, used, mean)


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
