"""What the cells of a target say together, learned block by block: their format and the task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.files.target import CellFormat, Task

__all__ = ["ScannedTarget"]

_MANY_GRAPHS = 50  # as in `infer_task`
_MOST_VALUES = 1_000_000  # distinct whole numbers that are counted; more are a regression target


class ScannedTarget:
    """The format and the task of a target, without keeping its values.

    Attributes
    ----------
    written : CellFormat
        How the cells are written.
    n_cells : int

    Examples
    --------
    >>> scanned = ScannedTarget()
    >>> scanned.add(["0", "1"])
    >>> scanned.add(["0.5"])
    >>> scanned.task()
    'regression'
    """

    def __init__(self) -> None:
        self.written = CellFormat()
        self.n_cells = 0
        self._is_real = False
        self._numbers: set[float] = set()  # distinct values, while all are whole numbers

    def add(self, cells: Sequence[str]) -> None:
        """Take further cells, none of them missing, into account."""
        self.n_cells += len(cells)
        self.written.learn(cells)
        if self._is_real:
            return
        numbers = self._numbers_in(cells)
        self._numbers.update(numbers.tolist())
        whole = bool((numbers == np.floor(numbers)).all())
        self._is_real = not whole or len(self._numbers) > _MOST_VALUES
        if self._is_real:
            self._numbers.clear()

    def _numbers_in(self, cells: Sequence[str]) -> Floats:
        """The distinct numbers in cells; none if the target contains strings."""
        values, unfit = self.written.values(sorted(set(cells)))
        if values.dtype.kind not in "iuf":
            return np.zeros(0)
        return np.unique(np.delete(values, list(unfit)).astype(np.float64))

    def task(self) -> Task:
        """As `infer_task` finds it for all cells."""
        if self.written.values([])[0].dtype.kind not in "iuf":
            return "classification"
        few = self.n_cells < _MANY_GRAPHS or 5 * len(self._numbers) <= self.n_cells
        return "classification" if few and not self._is_real else "regression"
