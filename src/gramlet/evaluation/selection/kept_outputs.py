"""Gram matrices and features of all graphs that several evaluations have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gramlet.common.arrays import Floats
from gramlet.evaluation.digests import digest_of
from gramlet.evaluation.machines.blocks import Features
from gramlet.graphs.batch import GraphBatch

__all__ = ["KeptOutputs"]

_MOST_BYTES = 1 << 30


class KeptOutputs:
    """Outputs of estimators, kept in memory; the oldest are dropped if there are too many.

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
        self._most_bytes = most_bytes
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
        if key not in self._found:
            self._found[key] = compute()
            while len(self._found) > 1 and self._bytes() > self._most_bytes:
                del self._found[next(iter(self._found))]
        return self._found[key]

    def _bytes(self) -> int:
        return sum(_size(output) for outputs in self._found.values() for output in outputs)


def _size(output: Floats | Features) -> int:
    rows = output.rows if isinstance(output, Features) else output
    return int(rows.data.nbytes)
