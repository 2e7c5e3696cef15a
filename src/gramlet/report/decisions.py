"""Which patterns favour a class, or higher values: one linear explanation per class.

With two classes there is one decision; with more, one machine per class against all others. They
are fitted on all graphs with the C chosen most often, for illustration and not for estimates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from gramlet.common.arrays import Floats
from gramlet.explain.linear import LinearExplanation, explain_linear
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.tags import graph_tags
from gramlet.kernels.weisfeiler_lehman.colour_counts import colouring_of
from gramlet.report.kernel_view import KernelView
from gramlet.report.machines import machine_for
from gramlet.report.material import Material

__all__ = ["Decision", "decisions_of"]

_MOST_CLASSES = 6


class Decision(NamedTuple):
    """The explanation for one class, or for higher or lower values.

    ``sign`` is −1 if the explanation is for the other side; ``kernel`` is the name of the result it
    belongs to.
    """

    name: str
    kernel: str
    code: int
    explanation: LinearExplanation
    sign: float

    def coefficients(self) -> Floats:
        """What one occurrence of each pattern adds for this side."""
        values: Floats = self.sign * self.explanation.coefficients[0]
        return values

    @property
    def constant(self) -> float:
        """What every decision for this side contains, whatever the graph."""
        return float(self.sign * self.explanation.intercept[0])

    def nodes(self, graph: GraphBatch) -> Floats:
        """What each node of a graph adds for this side."""
        values: Floats = self.sign * self.explanation.nodes(graph).sum(axis=1)
        return values

    @property
    def by_node(self) -> bool:
        """Whether decisions can be split by node."""
        return colouring_of(self.explanation.kernel) is not None


def decisions_of(material: Material, view: KernelView) -> list[Decision]:
    """One decision per class (for the largest six of many), or two for a regression.

    Raises
    ------
    ValueError
        If the kernel has no explicit features, or the results no target.
    """
    kernel = view.estimator
    if not hasattr(kernel, "__graph_tags__") or not graph_tags(kernel).features:
        raise ValueError(
            f"{type(kernel).__name__} has no explicit features, so patterns have no values "
            "in its decisions. Kernels with explicit features are, for example, wl, sp, "
            "graphlet, nspdk and odd-sth."
        )
    if material.target is None:
        raise ValueError("The results contain no target.")
    name = view.result.name
    try:
        if material.regression:
            explained = _explained(view, material.codes, True)
            return [
                Decision("higher values", name, 1, explained, 1.0),
                Decision("lower values", name, 0, explained, -1.0),
            ]
        names = material.class_names
        if len(names) == 2:
            explained = _explained(view, material.codes, False)
            return [Decision(names[c], name, c, explained, 2.0 * c - 1.0) for c in (1, 0)]
        counts = np.bincount(material.codes, minlength=len(names))
        largest = sorted(np.argsort(-counts, kind="stable")[:_MOST_CLASSES].tolist())
        found = []
        for c in largest:
            explained = _explained(view, (material.codes == c).astype(int), False)
            found.append(Decision(names[c], name, c, explained, 1.0))
        return found
    except TypeError as why:
        raise ValueError(str(why)) from why


def _explained(view: KernelView, values: Floats, regression: bool) -> LinearExplanation:
    machine = machine_for(view, regression).fit(view.gram, values)
    return explain_linear(Pipeline([("kernel", view.estimator), ("machine", machine)]))
