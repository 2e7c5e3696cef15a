"""Probabilities of classes from decision values: sigmoids of maximum likelihood (Platt 1999)."""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Floats, Ints

_STEPS, _ENOUGH = 200, 1e-12


def fit_sigmoids(decisions: Floats, codes: Ints, n_classes: int) -> Floats:
    """A and B of 1 / (1 + exp(A f + B)), for the last of two classes or for each of several.

    Parameters
    ----------
    decisions : array, shape (n,) or (n, classes)
        Decision values of graphs that were not in the training part.
    codes : array of int64
    n_classes : int

    Returns
    -------
    array, shape (sigmoids, 2)
    """
    if n_classes == 2:
        return _fit_sigmoid(decisions, codes == 1)[None]
    return np.array([_fit_sigmoid(decisions[:, c], codes == c) for c in range(n_classes)])


def probabilities(decisions: Floats, sigmoids: Floats) -> Floats:
    """One probability per graph and class; the rows sum to 1."""
    values = decisions[:, None] if decisions.ndim == 1 else decisions
    logits = -(values * sigmoids[:, 0] + sigmoids[:, 1])
    chances = _sigmoid(logits)
    if len(sigmoids) == 1:
        return np.hstack([1.0 - chances, chances])
    totals = chances.sum(axis=1, keepdims=True)
    # All sigmoids may be 0 in double precision; their logarithms are not.
    lost = totals[:, 0] == 0.0
    if lost.any():
        chances[lost] = np.exp(logits[lost] - logits[lost].max(axis=1, keepdims=True))
        totals = chances.sum(axis=1, keepdims=True)
    return chances / totals


def _fit_sigmoid(values: Floats, positive: Ints) -> Floats:
    """Maximum likelihood with Platt's targets, A at most 0, by damped Newton steps.

    The targets (n₊ + 1)/(n₊ + 2) and 1/(n₋ + 2) keep A and B finite if the classes are separated.
    """
    n_positive = int(np.count_nonzero(positive))
    n_negative = len(values) - n_positive
    targets = np.where(positive, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    scale = float(np.abs(values).max(initial=0.0)) or 1.0
    x = np.column_stack([values / scale, np.ones(len(values))])
    mean = float(targets.mean())
    constant = np.array([0.0, np.log((1 - mean) / mean)])
    coefficients = constant
    loss = _loss(x @ coefficients, targets)
    for _ in range(_STEPS):
        chances = _sigmoid(-(x @ coefficients))
        gradient = x.T @ (targets - chances)
        curvature = (x * (chances * (1 - chances))[:, None]).T @ x
        step = np.linalg.solve(curvature + 1e-12 * np.eye(2), gradient)
        size = 1.0
        while size > 1e-10:
            moved = coefficients - size * step
            new = _loss(x @ moved, targets)
            if new <= loss - 1e-4 * size * float(gradient @ step):
                break
            size /= 2
        else:
            break
        coefficients, loss = moved, new
        if float(np.abs(gradient).max()) <= _ENOUGH * len(values):
            break
    if coefficients[0] > 0:
        return constant
    return coefficients / np.array([scale, 1.0])


def _loss(exponents: Floats, targets: Floats) -> float:
    """The negative logarithm of the likelihood; p = 1 / (1 + exp(exponent))."""
    return float((targets * exponents + np.logaddexp(0.0, -exponents)).sum())


def _sigmoid(logits: Floats) -> Floats:
    from scipy.special import expit

    values: Floats = expit(logits)
    return values
