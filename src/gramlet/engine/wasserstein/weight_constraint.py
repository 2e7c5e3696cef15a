"""The constraint on learned weights: near 1 at every level, not negative, fixed at some levels.

Projects weights and minimises linear functions under the constraint; `pattern_weights` finds the
best weights.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints

CONSTRAINTS = ("ball", "box")


@dataclass(frozen=True)
class WeightConstraint:
    """w ≥ 0 and, at every level h, ‖w_h − 1‖₂ ≤ radius_h ("ball") or |w_σ − 1| ≤ radius_h ("box").

    Attributes
    ----------
    level_starts : array of int64, shape (levels + 1,)
        Level h has the weights ``level_starts[h]:level_starts[h + 1]``.
    radii : array of float64, shape (levels,)
    kind : {"ball", "box"}
    fixed : tuple of int
        Positions in ``radii`` of the levels whose weights are 1.
    free : array of bool, one entry per weight
        Whether the weight may differ from 1.
    """

    level_starts: Ints
    radii: Floats
    kind: str = "ball"
    fixed: tuple[int, ...] = ()
    free: Bools = field(init=False)

    def __post_init__(self) -> None:
        allowed = np.ones(len(self.radii), dtype=bool)
        allowed[list(self.fixed)] = False
        object.__setattr__(self, "free", np.repeat(allowed, np.diff(self.level_starts)))

    def project(self, weights: Floats) -> Floats:
        """The nearest weights that satisfy the constraint."""
        if self.kind == "ball":
            nearest = project(weights, self.level_starts, self.radii)
        else:
            radii = self._of_weights()
            nearest = np.clip(weights, np.maximum(0.0, 1.0 - radii), 1.0 + radii)
        return np.where(self.free, nearest, 1.0)

    def least_product(self, gradient: Floats) -> float:
        """A lower bound of gradient · (w − 1) over all w that satisfy the constraint.

        It is the exact minimum for "box", and for "ball" with radii up to 1; for larger balls,
        weights below 0 are included.
        """
        slopes = np.where(self.free, gradient, 0.0)
        if self.kind == "ball":
            levels = zip(self.level_starts[:-1], self.level_starts[1:], self.radii, strict=True)
            return -float(sum(r * np.linalg.norm(slopes[a:b]) for a, b, r in levels))
        radii = self._of_weights()
        moves = np.where(slopes > 0.0, -np.minimum(radii, 1.0), radii)
        return float(slopes @ moves)

    def reach(self, gradient: Floats) -> float | None:
        """The length of a step against the gradient from w = 1 to the boundary of every ball.

        None for boxes: their weights reach the boundary after very different lengths.
        """
        if self.kind == "box":
            return None
        slopes = np.where(self.free, gradient, 0.0)
        norms = np.array([np.linalg.norm(slopes[a:b]) for a, b in pairwise(self.level_starts)])
        steep = norms > 0.0
        return float((self.radii[steep] / norms[steep]).max(initial=0.0))

    def _of_weights(self) -> Floats:
        return np.repeat(self.radii, np.diff(self.level_starts))


def project(weights: Floats, level_starts: Ints, radii: Floats) -> Floats:
    """The nearest weights with ‖w_h − 1‖₂ ≤ radius_h at every level and w ≥ 0.

    At each level, the projection of z is w − 1 = max(−1, s (z − 1)) with the largest s ≤ 1 that
    satisfies the ball; s is exact, and found by sorting the entries to see which ones stop at −1.

    >>> project(np.array([4.0, 1.0]), np.array([0, 2]), np.array([0.5]))
    array([1.5, 1. ])
    """
    out = np.asarray(weights, dtype=np.float64).copy()
    for h, radius in enumerate(radii):
        level = slice(level_starts[h], level_starts[h + 1])
        out[level] = 1.0 + _into_ball(out[level] - 1.0, radius)
    return out


def _into_ball(u: Floats, radius: float) -> Floats:
    clipped = np.maximum(u, -1.0)
    if float(np.dot(clipped, clipped)) <= radius**2:
        return clipped
    # Entries below −1/s stop at −1. With the k lowest stopped: k + s² Σ_rest u² = radius². More
    # entries stop as s grows, so the right k is the first for which no other entry would stop.
    order = np.sort(u)
    rests = np.append(np.cumsum((order**2)[::-1])[::-1], 0.0)
    k, s = 0, radius / np.sqrt(rests[0])
    while k < len(order) and s * order[k] < -1.0:
        k += 1
        s = np.sqrt(max(radius**2 - k, 0.0) / rests[k]) if rests[k] > 0.0 else 0.0
    return np.maximum(s * u, -1.0)
