"""One kernel on all graphs of a report: its matrix, spectrum, map, neighbours and machine.

The kernel has the options that were chosen most often and is fitted once on all graphs, for
illustration; estimates come from the results.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.base import clone

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.evaluation.results.result import Result
from gramlet.kernels.contract.tags import graph_tags
from gramlet.report.material import Material

__all__ = ["KernelView", "view_of"]

_MOST_FOR_SPECTRUM = 1500
_NEGATIVE = 1e-8  # of the largest eigenvalue: tolerance for rounding


@dataclass(frozen=True, eq=False)
class KernelView:
    """A fitted kernel and its matrix between the graphs that were used.

    Attributes
    ----------
    result : Result
    estimator : estimator
        Fitted on the graphs that were used.
    gram : array
    supervised : bool
        Whether the kernel learned from the target.
    """

    result: Result
    estimator: Any
    gram: Floats
    supervised: bool

    @property
    def cost(self) -> float | None:
        """The C chosen most often; None if there was none to choose."""
        value = self.result.most_chosen().get("C", (None, 0.0))[0]
        return None if value is None else float(value)

    @cached_property
    def feature_names(self) -> Array:
        """The names of the kernel's explicit features."""
        names: Array = self.estimator.get_feature_names_out()
        return names

    @cached_property
    def sample(self) -> Ints:
        """An evenly spread sample of graphs for eigenvalues and curves."""
        n = len(self.gram)
        return np.unique(np.linspace(0, n - 1, min(n, _MOST_FOR_SPECTRUM)).astype(np.int64))

    @cached_property
    def eigenvalues(self) -> Floats:
        """The eigenvalues of the matrix of the sample, ascending."""
        part = self.gram[np.ix_(self.sample, self.sample)]
        values: Floats = np.linalg.eigvalsh((part + part.T) / 2).astype(np.float64)
        return values

    @property
    def positive(self) -> bool:
        """Whether the matrix of the sample is positive semi-definite, up to rounding."""
        values = self.eigenvalues
        return bool(values[0] >= -_NEGATIVE * max(abs(float(values[-1])), 1e-300))

    @property
    def effective_rank(self) -> float:
        """exp of the entropy of the eigenvalues' shares: the number of directions in use."""
        values = np.maximum(self.eigenvalues, 0)
        total = values.sum()
        if not total > 0:
            return 0.0
        shares = values[values > 0] / total
        return float(np.exp(-(shares * np.log(shares)).sum()))

    @property
    def dominance(self) -> float:
        """The mean of the diagonal over the mean of the rest; infinite if the rest is 0."""
        n = len(self.gram)
        own = float(np.trace(self.gram)) / n
        rest = (float(self.gram.sum()) - own * n) / max(1, n * (n - 1))
        return own / rest if rest > 0 else float("inf")

    @cached_property
    def map(self) -> tuple[Floats, Floats]:
        """Scores of the two leading components, and their shares of the variance."""
        from scipy.sparse.linalg import eigsh

        n = len(self.gram)
        if n < 3:
            raise ValueError(f"A map needs at least three graphs; there are {n}.")
        means = self.gram.mean(axis=0)
        centred = self.gram - means[:, None] - means[None, :] + means.mean()
        if n <= 60:
            values, vectors = np.linalg.eigh(centred)
        else:
            values, vectors = eigsh(centred, k=2, which="LA", v0=np.linspace(1, 2, n))
        order = np.argsort(values)[::-1][:2]
        leading, axes = np.maximum(values[order], 0), vectors[:, order]
        axes = axes * np.sign(axes[np.argmax(np.abs(axes), axis=0), [0, 1]])
        total = float(np.trace(centred))
        shares = leading / total if total > 0 else np.zeros(2)
        return axes * np.sqrt(leading), shares

    def neighbours(self, position: int, count: int = 3) -> list[tuple[int, float]]:
        """The graphs most similar to one, by the cosine in the kernel's space."""
        own = np.maximum(np.diagonal(self.gram), 1e-300)
        cosines = self.gram[position] / np.sqrt(own * own[position])
        cosines[position] = -np.inf
        order = np.argsort(-cosines, kind="stable")[:count]
        return [(int(i), float(cosines[i])) for i in order if np.isfinite(cosines[i])]


def view_of(material: Material, result: Result) -> KernelView:
    """Fit the kernel of a result on all graphs that were used.

    Raises
    ------
    ValueError, TypeError
        If that is not possible.
    """
    batch = material.graphs
    if batch is None:
        raise ValueError("The graphs were not given to this report.")
    if len(material.kept) < len(batch):
        batch = batch[material.kept]
    estimator = clone(material.kernels[result.name])
    if "n_jobs" in estimator.get_params(deep=False):
        estimator.set_params(n_jobs=material.n_jobs)
    tags = graph_tags(estimator) if hasattr(estimator, "__graph_tags__") else None
    y = None if material.target is None else material.target[material.kept]
    if tags is not None and tags.kind == "embedding":
        features = estimator.fit(batch, y).transform(batch)
        gram = features @ features.T
        gram = np.asarray(gram.todense() if hasattr(gram, "todense") else gram, dtype=np.float64)
    else:
        gram = np.asarray(estimator.fit_transform(batch, y), dtype=np.float64)
    if "n_jobs" in estimator.get_params(deep=False):
        estimator.set_params(n_jobs=None)  # not part of what is shown
    if gram.shape != (len(batch), len(batch)):
        raise ValueError(
            f"{type(estimator).__name__} is not a kernel: its matrix has shape {gram.shape}."
        )
    return KernelView(result, estimator, gram, tags is not None and tags.supervised)
