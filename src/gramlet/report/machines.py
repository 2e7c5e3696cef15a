"""Machines on a whole matrix: for learning curves, and for explanations of decisions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.report.kernel_view import KernelView

__all__ = ["LearningCurve", "learning_curve", "machine_for"]

_SHARES = (0.1, 0.2, 0.4, 0.6, 0.8)
_SPLITS = 3
_FEWEST = 20  # the least number of graphs for a curve
_MOST_STEPS = 500_000


def machine_for(view: KernelView, regression: bool, gram: Floats | None = None) -> Any:
    """A machine like that of the evaluation, with the C chosen most often, unfitted.

    A support vector machine for classes, with their weights if these are "balanced"; ridge
    regression on the centred matrix for numbers, its penalty the mean self-similarity divided by C.
    """
    matrix = view.gram if gram is None else gram
    spread = float(np.trace(matrix)) / len(matrix) - float(matrix.mean())
    cost = 1.0 if view.cost is None else view.cost
    if not regression:
        from sklearn.svm import SVC

        if view.result.protocol.scale_C and spread > 0:
            cost /= spread
        balanced = view.result.class_weight == "balanced"
        weights = "balanced" if balanced else None
        return SVC(kernel="precomputed", C=cost, class_weight=weights, max_iter=_MOST_STEPS)
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KernelCenterer, StandardScaler

    ridge = KernelRidge(alpha=spread / cost if spread > 0 else 1.0, kernel="precomputed")
    return make_pipeline(
        KernelCenterer(),
        TransformedTargetRegressor(ridge, transformer=StandardScaler(with_std=False)),
    )


class LearningCurve:
    """Scores by the number of training graphs.

    Attributes
    ----------
    sizes : list of int
    means, spreads : list of float
        Mean and standard deviation over the splits.
    n_graphs : int
        The number of graphs used for the curve.
    """

    def __init__(self, n_graphs: int) -> None:
        self.sizes: list[int] = []
        self.means: list[float] = []
        self.spreads: list[float] = []
        self.n_graphs = n_graphs


def learning_curve(view: KernelView, codes: Array, regression: bool, seed: int) -> LearningCurve:
    """Accuracy, or R², on a fifth of the graphs, for growing training sets from the others.

    C is the one chosen most often at full size; it is not chosen again.

    Raises
    ------
    ValueError
        If the kernel learned from the target, or there are too few graphs.
    """
    if view.supervised:
        raise ValueError(
            "This kernel learns from the target of all graphs: a curve on its matrix would have "
            "seen the test graphs."
        )
    rows, values = view.sample, codes[view.sample]
    if len(rows) < _FEWEST:
        raise ValueError(
            f"A learning curve needs at least {_FEWEST} graphs; there are {len(rows)}."
        )
    gram = view.gram[np.ix_(rows, rows)]
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(rows)) for _ in range(_SPLITS)]
    curve = LearningCurve(len(rows))
    for share in _SHARES:
        size = round(share * len(rows))
        found = [_score(view, gram, values, order, size, regression) for order in orders]
        scores = [score for score in found if score is not None]
        if scores:
            curve.sizes.append(size)
            curve.means.append(float(np.mean(scores)))
            curve.spreads.append(float(np.std(scores)))
    if len(curve.sizes) < 2:
        raise ValueError("The training parts are too small to contain two classes.")
    return curve


def _score(
    view: KernelView, gram: Floats, values: Array, order: Ints, size: int, regression: bool
) -> float | None:
    n_test = len(order) // 5
    test, train = order[:n_test], order[n_test : n_test + size]
    if len(np.unique(values[train])) < 2:
        return None
    from sklearn.metrics import accuracy_score, r2_score

    matrix = gram[np.ix_(train, train)]
    with warnings.catch_warnings():
        # Of many classes the smallest training parts have two graphs each; that is what is shown.
        warnings.filterwarnings("ignore", "The number of unique classes")
        machine = machine_for(view, regression, matrix).fit(matrix, values[train])
    told = machine.predict(gram[np.ix_(test, train)])
    score = r2_score if regression else accuracy_score
    return float(score(values[test], told))
