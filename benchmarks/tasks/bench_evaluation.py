"""Kernel ridge in cross-validation, compared with scikit-learn's grid search over the same model.

The model has a bias: a centred kernel and a centred target, as in `evaluate`. In scikit-learn it is
a pipeline of KernelCenterer and KernelRidge with a TransformedTargetRegressor. There are two cases:

- the same rule, leave-one-out in every training part, on few molecules, so that scikit-learn
  finishes in acceptable time: the choices must be the same;
- 1,000 molecules and 10 × 5 folds: scikit-learn chooses by five inner folds, gramlet by
  leave-one-out as always. The two rules could choose differently; the check verifies that they do
  not on these molecules.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.cases import Case, register
from benchmarks.data import Source
from gramlet import Protocol, evaluate, gram, load_dataset
from gramlet.evaluation.splits import make_splits

COSTS = tuple(10.0**k for k in range(-6, 7))


def molecules(n_graphs: int) -> Any:
    """A Gram matrix, one number per molecule (its class, 0 or 1), and the protocol."""

    def load(source: Source) -> Any:
        data = load_dataset("B3DB")
        n = min(n_graphs, 60) if source.quick else n_graphs
        chosen = np.random.default_rng(0).permutation(len(data.graphs))[:n]
        matrix = gram(data.graphs[chosen], "wl", n_iter=3, normalize=True)
        return matrix, data.target[chosen], Protocol(repeats=1, C=COSTS)

    return load


def ours(data: Any) -> Any:
    """The C chosen in each training part."""
    matrix, target, protocol = data
    result = evaluate({"wl": matrix}, None, target, protocol, task="regression", baselines=False)[
        "wl"
    ]
    return np.array([options["C"] for options in result.chosen[0]])


def theirs(data: Any, inner: str) -> Any:
    """The same by GridSearchCV, with the penalties that correspond to the values of C."""
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.model_selection import GridSearchCV, KFold, LeaveOneOut
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KernelCenterer, StandardScaler

    matrix, target, protocol = data
    model = make_pipeline(
        KernelCenterer(),
        TransformedTargetRegressor(
            KernelRidge(kernel="precomputed"), transformer=StandardScaler(with_std=False)
        ),
    )
    folds = LeaveOneOut() if inner == "one" else KFold(5, shuffle=True, random_state=0)
    chosen = []
    for split in make_splits(protocol, target, np.zeros(0), None):
        block = matrix[np.ix_(split.train, split.train)]
        spread = np.trace(block) / len(block) - block.mean()
        penalties = spread / np.array(COSTS)
        search = GridSearchCV(
            model,
            {"transformedtargetregressor__regressor__alpha": penalties},
            cv=folds,
            scoring="neg_mean_squared_error",
        )
        search.fit(block, target[split.train])
        search.predict(matrix[np.ix_(split.test, split.train)])
        chosen.append(COSTS[search.best_index_])
    return np.array(chosen)


register(
    Case(
        "ridge-choices",
        "kernel ridge, 10 folds, 13 penalties by leave-one-out in both, 40 molecules of B3DB",
        molecules(40),
        ours,
        lambda data: theirs(data, "one"),
        "GridSearchCV(cv=LeaveOneOut())",
        target_ratio=20.0,
    )
)
register(
    Case(
        "ridge-folds",
        "kernel ridge, 10 × 5 folds, 13 penalties, 1,000 molecules of B3DB",
        molecules(1000),
        ours,
        lambda data: theirs(data, "five"),
        "GridSearchCV, five inner folds",
        target_ratio=20.0,
    )
)
