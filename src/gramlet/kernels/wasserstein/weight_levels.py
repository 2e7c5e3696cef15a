"""Parameters of the levels of learned weights: checks, and one number per level."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.common.checks import is_integer

__all__ = ["fixed_places", "level_radii"]


def level_radii(radius: Any, n_iter: int, include_initial: bool) -> Floats:
    """One radius per level, from one number or one per level.

    >>> level_radii(0.5, 1, True)
    array([0.5, 0.5])
    """
    n_levels = n_iter + (1 if include_initial else 0)
    radii = np.asarray(radius, dtype=np.float64)
    if radii.ndim == 0:
        return np.full(n_levels, float(radii))
    if radii.shape != (n_levels,):
        raise ValueError(
            f"radius must be one number or one per level ({n_levels} levels here); got "
            f"{radii.size} numbers."
        )
    if not (np.isfinite(radii).all() and (radii > 0).all()):
        raise ValueError(f"Every radius must be a number above 0; got {radii.tolist()}.")
    return radii


def fixed_places(fixed_levels: Any, n_iter: int, include_initial: bool) -> tuple[int, ...]:
    """The positions of the fixed levels among all levels, ascending and without duplicates.

    >>> fixed_places((0, 2), 2, True), fixed_places([2], 2, False)
    ((0, 2), (1,))
    """
    first = 0 if include_initial else 1
    for level in fixed_levels:
        if not (is_integer(level) and first <= level <= n_iter):
            raise ValueError(
                "fixed_levels must contain existing levels, "
                f"{list(range(first, n_iter + 1))} here; got {level!r}."
            )
    return tuple(sorted({int(level) - first for level in fixed_levels}))
