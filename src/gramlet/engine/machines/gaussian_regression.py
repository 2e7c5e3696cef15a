"""Gaussian process regression with a constant mean, from one eigendecomposition.

The covariance is a² (K + s I). With K = UΛUᵀ, the likelihood of every noise s on a grid takes O(n),
and the mean m and the scale a² are those of maximum likelihood. `gramlet.evaluation` compares
kernels by the likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Floats

_STEPS = np.arange(-16, 9) / 4.0  # powers of ten of s / mean(diag K)


@dataclass(frozen=True)
class GaussianRegression:
    """A fitted process.

    Attributes
    ----------
    mean, scale : float
        m and a.
    noise : float
        s.
    log_likelihood : float
        ln p(y); 0 for a constant target, which is predicted with deviation 0.
    vectors : array, shape (n, n)
        U.
    weights : array, shape (n,)
        1 / (Λ + s).
    coefficients : array, shape (n,)
        (K + s I)⁻¹ (y − m).
    """

    mean: float
    scale: float
    noise: float
    log_likelihood: float
    vectors: Floats
    weights: Floats
    coefficients: Floats

    @classmethod
    def fit(cls, gram: Floats, target: Floats) -> GaussianRegression:
        """Maximise ln p = −½ (n ln(2π a²) + ln|K + s I| + n) over s; ties go to the larger s.

        Negative eigenvalues of K count as 0.

        >>> fitted = GaussianRegression.fit(np.eye(3), np.array([1.0, 2.0, 3.0]))
        >>> round(fitted.mean, 12)
        2.0
        """
        n = len(target)
        values, vectors = np.linalg.eigh(gram)
        values = values.clip(0.0)
        size = float(np.trace(gram)) / n
        noises = (size if size > 0 else 1.0) * 10.0**_STEPS
        weights = 1.0 / (values + noises[:, None])  # one row per noise
        # The target is moved and scaled, so that squares neither overflow nor vanish.
        centre = float(target[0])
        spread = float(np.abs(target - centre).max())
        if spread == 0.0:
            return cls(centre, 0.0, float(noises[-1]), 0.0, vectors, weights[-1], np.zeros(n))
        ones, rotated = vectors.sum(axis=0), vectors.T @ ((target - centre) / spread)
        means = (weights @ (ones * rotated)) / (weights @ ones**2)
        rests = rotated - means[:, None] * ones
        squares = (weights * rests**2).sum(axis=1) / n
        likelihoods = -0.5 * (
            n * np.log(2.0 * np.pi * squares) - np.log(weights).sum(axis=1) + n
        ) - n * np.log(spread)
        # Rounded, so that likelihoods that differ by rounding tie.
        best = len(noises) - 1 - int(likelihoods[::-1].round(9).argmax())
        return cls(
            centre + spread * float(means[best]),
            spread * float(np.sqrt(squares[best])),
            float(noises[best]),
            float(likelihoods[best]),
            vectors,
            weights[best],
            spread * (vectors @ (weights[best] * rests[best])),
        )

    @classmethod
    def restored(
        cls, gram: Floats, mean: float, scale: float, noise: float, coefficients: Floats
    ) -> GaussianRegression:
        """A process that was fitted before, from its Gram matrix and what `fit` chose."""
        values, vectors = np.linalg.eigh(gram)
        weights = 1.0 / (values.clip(0.0) + noise)
        return cls(mean, scale, noise, np.nan, vectors, weights, coefficients)

    def predict(self, cross: Floats, diagonal: Floats) -> tuple[Floats, Floats]:
        """Means and standard deviations of new targets, the noise included.

        Parameters
        ----------
        cross : array, shape (m, n)
            Kernel values of new graphs with the fitted ones.
        diagonal : array, shape (m,)
            Self-similarities of the new graphs.
        """
        explained = (cross @ self.vectors) ** 2 @ self.weights
        variance = np.maximum(diagonal - explained, 0.0) + self.noise
        return self.mean + cross @ self.coefficients, self.scale * np.sqrt(variance)
