"""One kernel fitted on all graphs of a report: its matrix, spectrum, map, neighbours, decisions.

The kernel has the options that were chosen most often and is fitted once on all graphs, for
illustration; estimates come from the results.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline, make_pipeline

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.evaluation.result import Result
from gramlet.explain import Explanation, explain_linear
from gramlet.explain.sums import has_patterns
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.tags import graph_tags
from gramlet.kernels.weisfeiler_lehman.colour_counts import colouring_of
from gramlet.report.material import Material

_MOST_FOR_SPECTRUM = 1500
_MOST_CLASSES = 6  # whose decisions are explained
_FEWEST = 20  # graphs for a learning curve


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
        return bool(values[0] >= -1e-8 * max(abs(float(values[-1])), 1e-300))

    @property
    def effective_rank(self) -> float:
        """exp of the entropy of the eigenvalues' shares: the number of directions in use."""
        values = self.eigenvalues[self.eigenvalues > 0]
        shares = values / values.sum()
        return float(np.exp(-(shares * np.log(shares)).sum())) if len(shares) else 0.0

    @property
    def dominance(self) -> float:
        """The mean of the diagonal over the mean of the rest; infinite if the rest is 0."""
        n = len(self.gram)
        diagonal = float(np.trace(self.gram)) / n
        rest = (float(self.gram.sum()) - diagonal * n) / max(1, n * (n - 1))
        return diagonal / rest if rest > 0 else float("inf")

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
        squares = np.maximum(np.diagonal(self.gram), 1e-300)
        cosines = self.gram[position] / np.sqrt(squares * squares[position])
        cosines[position] = -np.inf
        order = np.argsort(-cosines, kind="stable")[:count]
        return [(int(i), float(cosines[i])) for i in order if np.isfinite(cosines[i])]

    def machine(self, regression: bool) -> Any:
        """A machine like that of the evaluation, with the C chosen most often, unfitted.

        A support vector machine for classes, with their weights if these are "balanced"; ridge
        regression on the centred matrix for numbers, its penalty the mean self-similarity divided
        by C.
        """
        spread = float(np.trace(self.gram)) / len(self.gram) - float(self.gram.mean())
        cost = self.result.most_chosen().get("C", (None, 0.0))[0]
        cost = 1.0 if cost is None else float(cost)
        if not regression:
            from sklearn.svm import SVC

            if self.result.protocol.scale_C and spread > 0:
                cost /= spread
            weights = "balanced" if self.result.class_weight == "balanced" else None
            return SVC(kernel="precomputed", C=cost, class_weight=weights, max_iter=500_000)
        from sklearn.compose import TransformedTargetRegressor
        from sklearn.kernel_ridge import KernelRidge
        from sklearn.preprocessing import KernelCenterer, StandardScaler

        ridge = KernelRidge(alpha=spread / cost if spread > 0 else 1.0, kernel="precomputed")
        centred = TransformedTargetRegressor(ridge, transformer=StandardScaler(with_std=False))
        return make_pipeline(KernelCenterer(), centred)


def view_of(material: Material, result: Result) -> KernelView:
    """Fit the kernel of a result on all graphs that were used.

    Raises
    ------
    ValueError, TypeError
        If that is not possible.
    """
    batch = material.used_graphs
    estimator = clone(material.kernels[result.name])
    if "n_jobs" in estimator.get_params(deep=False):
        estimator.set_params(n_jobs=material.n_jobs)
    tags = graph_tags(estimator) if hasattr(estimator, "__graph_tags__") else None
    y = None if material.target is None else material.target[material.kept]
    gram = estimator.fit_transform(batch, y)
    if tags is not None and tags.kind == "embedding":
        gram = gram @ gram.T
    gram = np.asarray(gram.todense() if hasattr(gram, "todense") else gram, dtype=np.float64)
    if "n_jobs" in estimator.get_params(deep=False):
        estimator.set_params(n_jobs=None)  # not part of what is shown
    if gram.shape != (len(batch), len(batch)):
        raise ValueError(
            f"{type(estimator).__name__} is not a kernel: its matrix has shape {gram.shape}."
        )
    return KernelView(result, estimator, gram, tags is not None and tags.supervised)


class LearningCurve(NamedTuple):
    """Scores by the number of training graphs: their means and deviations over five folds."""

    sizes: Ints
    means: Floats
    spreads: Floats
    n_graphs: int


def learning_curve_of(
    view: KernelView, values: Array, regression: bool, seed: int
) -> LearningCurve:
    """Accuracy, or R², on a fifth of the graphs, for growing training sets from the others.

    C is the one chosen most often at full size; it is not chosen again.

    Raises
    ------
    ValueError
        If the kernel learned from the target, or there are too few graphs.
    """
    import warnings

    from sklearn.model_selection import KFold, learning_curve

    if view.supervised:
        raise ValueError(
            "This kernel learns from the target of all graphs: a curve on its matrix would have "
            "seen the test graphs."
        )
    rows = view.sample
    if len(rows) < _FEWEST:
        raise ValueError(
            f"A learning curve needs at least {_FEWEST} graphs; there are {len(rows)}."
        )
    with warnings.catch_warnings():
        # Small parts have few graphs of many classes, or one class alone; then there is no score.
        warnings.simplefilter("ignore")
        sizes, _, scores = learning_curve(
            view.machine(regression),
            view.gram[np.ix_(rows, rows)],
            values[rows],
            train_sizes=np.array([0.125, 0.25, 0.5, 0.75, 1.0]),
            cv=KFold(5, shuffle=True, random_state=seed),
            scoring="r2" if regression else "accuracy",
        )
    scored = np.isfinite(scores).any(axis=1)
    if scored.sum() < 2:
        raise ValueError("The training parts are too small to contain two classes.")
    scores = scores[scored]
    return LearningCurve(
        sizes[scored], np.nanmean(scores, axis=1), np.nanstd(scores, axis=1), len(rows)
    )


class Decision(NamedTuple):
    """The explanation for one class, or for higher or lower values.

    ``sign`` is −1 if the explanation is for the other side; ``kernel`` is the name of the result it
    belongs to.
    """

    name: str
    kernel: str
    code: int
    explanation: Explanation
    sign: float

    def values(self) -> Floats:
        """The value of each pattern for this side."""
        values: Floats = self.sign * self.explanation.values()
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

    With two classes there is one machine; with more, one per class against all others.

    Raises
    ------
    ValueError
        If the kernel is not a sum over patterns, or the results have no target.
    """
    kernel, name = view.estimator, view.result.name
    if not has_patterns(kernel):
        raise ValueError(
            f"{type(kernel).__name__} is not a sum over patterns, so patterns have no values in "
            "its decisions. Kernels that are: wl, wl-oa, sp, graphlet, nspdk and odd-sth."
        )
    if material.target is None:
        raise ValueError("The results contain no target.")

    def explained(values: Array) -> Explanation:
        machine = view.machine(material.regression).fit(view.gram, values)
        return explain_linear(Pipeline([("kernel", kernel), ("machine", machine)]))

    try:
        names = material.class_names
        if material.regression:
            names = ["lower values", "higher values"]
        if len(names) == 2:
            whole = explained(material.codes)
            return [Decision(names[c], name, c, whole, 2.0 * c - 1.0) for c in (1, 0)]
        counts = np.bincount(material.codes, minlength=len(names))
        largest = sorted(np.argsort(-counts, kind="stable")[:_MOST_CLASSES].tolist())
        return [
            Decision(names[c], name, c, explained((material.codes == c).astype(int)), 1.0)
            for c in largest
        ]
    except TypeError as why:
        raise ValueError(str(why)) from why
