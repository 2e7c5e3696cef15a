"""Gram matrices and features of all graphs that several evaluations have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.evaluation.machines.blocks import Features
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.fingerprint import digest_of

__all__ = ["KeptOutputs"]

_MOST_BYTES = 1 << 30


class KeptOutputs:
    """Outputs of estimators, kept in memory until there is no more room.

    Evaluations ask for them in the same order, so that the first are worth most.

    Parameters
    ----------
    most_bytes : int
        The size of all that is kept.

    Examples
    --------
    >>> import numpy as np
    >>> from gramlet import VertexHistogram, load_dataset
    >>> graphs = load_dataset("MUTAG").graphs
    >>> kept = KeptOutputs()
    >>> first = kept.outputs(VertexHistogram(), [{}], graphs, lambda: [np.eye(188)])
    >>> kept.outputs(VertexHistogram(), [{}], graphs, lambda: []) is first
    True
    """

    def __init__(self, most_bytes: int = _MOST_BYTES) -> None:
        self._left = most_bytes
        self._found: dict[str, list[Floats | Features]] = {}

    def outputs(
        self,
        estimator: Any,
        option_sets: Sequence[dict[str, Any]],
        graphs: GraphBatch,
        compute: Callable[[], list[Floats | Features]],
    ) -> list[Floats | Features]:
        """What an estimator gives for all graphs with each set of options; computed if unknown."""
        key = digest_of(graphs, estimator, list(option_sets))
        if key in self._found:
            return self._found[key]
        found = compute()
        n_bytes = sum(_size(output) for output in found)
        if n_bytes <= self._left:
            self._found[key] = found
            self._left -= n_bytes
        return found


def _size(output: Floats | Features) -> int:
    rows: Any = output.rows if isinstance(output, Features) else output
    if isinstance(rows, np.ndarray):
        return int(rows.nbytes)
    return int(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes)
