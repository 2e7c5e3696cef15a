"""Parts as they are finished: what was predicted, what can still be chosen.

An accuracy cannot exceed what is left if all graphs of unfinished parts are predicted rightly. An
entry of the grid whose accuracy must end below the best so far is given up, which does not change
the choice. `selection` and `best_of_grid` compare the scores.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.evaluation.machines.machines import Outcome

__all__ = ["Tally"]

_ROUNDING = 1e-9  # accuracies that differ by less may be equal


class Tally:
    """The finished ones of some held-out parts.

    Parameters
    ----------
    parts : sequence of arrays of int64
        The held-out graphs of each part.
    target : array
        Of all graphs.
    n_entries : int
        Of the grid.
    best : float
        The accuracy to reach; −inf if no entry is given up.
    equal_parts : bool
        Whether the accuracy is the mean over parts, not over the graphs of all parts.

    Attributes
    ----------
    complete : array of bool
        The entries predicted on each finished part.
    """

    def __init__(
        self,
        parts: Sequence[Ints],
        target: Array,
        n_entries: int,
        best: float,
        equal_parts: bool = False,
    ) -> None:
        self._parts = parts
        self._target = target
        sizes = np.array([len(part) for part in parts], dtype=np.float64)
        # What one wrong prediction of a part takes off the accuracy.
        self._price = 1.0 / (
            len(sizes) * sizes if equal_parts else np.full_like(sizes, sizes.sum())
        )
        self._best = best
        self._most: Floats = np.ones(n_entries)
        self._outcomes: dict[int, Outcome] = {}
        self.complete: Array = np.ones(n_entries, dtype=bool)

    def able(self) -> Array:
        """The entries that can still reach the best accuracy."""
        return self.complete & (self._most >= self._best - _ROUNDING)

    def add(self, part: int, outcome: Outcome, wanted: Array) -> bool:
        """Record predictions of the wanted entries on one part; whether all parts are done."""
        self._outcomes[part] = outcome
        self.complete &= wanted
        if self._best > -np.inf:
            truth = self._target[self._parts[part]]
            wrong = np.count_nonzero(outcome.predictions != truth, axis=1)
            self._most -= self._price[part] * wrong
        return len(self._outcomes) == len(self._parts)

    def outcomes(self) -> list[Outcome]:
        """The predictions of all parts, in order."""
        return [self._outcomes[part] for part in range(len(self._parts))]
