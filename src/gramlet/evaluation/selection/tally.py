"""The inner folds of one split as they are finished: what was predicted, what can still be chosen.

An accuracy over all folds cannot exceed the share of graphs that are not yet predicted wrongly. An
entry of the grid whose accuracy must end below the best so far is given up, which does not change
the choice. `selection` compares the scores.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Array, Ints
from gramlet.evaluation.machines.machines import Outcome
from gramlet.evaluation.protocols.splits import Split

__all__ = ["Tally"]


class Tally:
    """The finished inner folds of one split.

    Parameters
    ----------
    split : Split
    target : array
        Of all graphs.
    n_entries : int
        Of the grid.
    best : float
        The accuracy to reach, rounded to 12 digits; −inf if no entry is given up.

    Attributes
    ----------
    complete : array of bool
        The entries predicted on each finished fold.
    """

    def __init__(self, split: Split, target: Array, n_entries: int, best: float) -> None:
        self._held = [part for _, part in split.inner]
        self._target = target
        self._total = sum(len(part) for part in self._held)
        self._best = best
        self._wrong: Ints = np.zeros(n_entries, dtype=np.int64)
        self._outcomes: dict[int, Outcome] = {}
        self.complete: Array = np.ones(n_entries, dtype=bool)

    def able(self) -> Array:
        """The entries that can still reach the best accuracy."""
        if self._best == -np.inf:
            return self.complete.copy()
        most = np.round((self._total - self._wrong) / self._total, 12)
        return self.complete & (most >= self._best)

    def add(self, fold: int, outcome: Outcome, wanted: Array) -> bool:
        """Record predictions of the wanted entries on one fold; whether all folds are done."""
        self._outcomes[fold] = outcome
        self.complete &= wanted
        if self._best > -np.inf:
            truth = self._target[self._held[fold]]
            self._wrong += np.count_nonzero(outcome.predictions != truth, axis=1)
        return len(self._outcomes) == len(self._held)

    def outcomes(self) -> list[Outcome]:
        """The predictions of all folds, in order."""
        return [self._outcomes[fold] for fold in range(len(self._held))]
