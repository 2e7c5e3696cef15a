"""Sums over common walks as polynomials of A×: the weights of walks of j steps, and the largest j.

1ᵀ f(λA×) 1 with f(x) = 1/(1 − x) or exp(x) is, for an undirected pair, a sum of f over a spectrum
within [−r, r]. The Chebyshev series of f there is truncated where the rest is below `_ACCURACY`.
Without negative weights f is at least 1 on average (a sum contains the walks of no steps), so the
error is relative to the sum. The interval is usually short, and a dozen terms are enough.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import ive

from gramlet.common.arrays import Floats
from gramlet.engine.walks.product_walks import GEOMETRIC, STEPS

__all__ = ["MOST_STEPS", "series_weights"]

# The largest error of the series on its interval.
_ACCURACY = 1e-15
# Longer walks are not counted by sequences.
MOST_STEPS = 64
# For exponential sums, the largest r that a series is made for.
_LONGEST = 4.0


def series_weights(kind: int, decay: float, reach: float, n_steps: int) -> Floats | None:
    """Weights w_0 … w_J for which Σ_j w_j 1ᵀA×^j 1 is the sum over walks of all pairs.

    ``reach`` bounds λρ(A×) of all pairs. None if too many terms are needed, or if some weight is
    not positive.

    Examples
    --------
    >>> from gramlet.engine.walks.product_walks import GEOMETRIC, STEPS
    >>> series_weights(STEPS, 0.5, 9.0, 2).tolist()
    [1.0, 0.5, 0.25]
    >>> weights = series_weights(GEOMETRIC, 0.1, 0.06, 0)
    >>> len(weights), bool(abs(np.polyval(weights[::-1], 0.5) - 1 / (1 - 0.05)) < 1e-14)
    (11, True)
    """
    if kind == STEPS:
        with np.errstate(over="ignore"):
            powers = decay ** np.arange(min(n_steps, MOST_STEPS) + 1.0)
        return powers if n_steps <= MOST_STEPS and np.isfinite(powers[-1]) else None
    if not 0.0 < reach < (1.0 if kind == GEOMETRIC else _LONGEST):
        return np.ones(1) if reach == 0.0 else None
    orders = np.arange(2 * MOST_STEPS)
    if kind == GEOMETRIC:
        root = np.sqrt(1.0 - reach * reach)
        terms = 2.0 * (reach / (1.0 + root)) ** orders / root
    else:
        # Modified Bessel functions; `ive` leaves out the factor exp(reach).
        terms = 2.0 * ive(orders, reach) * np.exp(reach)
    rest = np.cumsum(terms[::-1])[::-1]
    terms[0] *= 0.5
    enough = np.flatnonzero(rest <= _ACCURACY)
    if len(enough) == 0 or enough[0] - 1 > MOST_STEPS:
        return None
    scales = (decay / reach) ** np.arange(enough[0])
    weights = chebyshev.cheb2poly(terms[: enough[0]]) * scales
    return weights if (weights > 0.0).all() else None
