"""Whole evaluations with support vector machines, compared with scikit-learn's nested grid search.

Both sides use the same Gram matrices (Weisfeiler-Lehman, levels 1 to 6, normalised), the same outer
and inner parts and the same values of C. They choose level and C by the number of correct
predictions over the inner parts; the first of equal choices wins. scikit-learn's side is
GridSearchCV(SVC(kernel="precomputed")). The two solvers have the same tolerance but stop at
different solutions, so a graph close to the boundary may be classified differently. If choices
differ, the case reports in how many parts.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.cases import Case, register
from benchmarks.data import Source
from gramlet import Protocol, WeisfeilerLehman, evaluate, load_dataset
from gramlet.common.arrays import Floats, Ints

LEVELS = (1, 2, 3, 4, 5, 6)


class Matrices(NamedTuple):
    """The input of both sides."""

    graphs: Any
    target: Ints
    grams: list[Floats]
    protocol: Protocol


def matrices(source: Source, n_graphs: int) -> Matrices:
    """A sample of NCI1, or of MUTAG, and its matrices."""
    whole = load_dataset("MUTAG" if source.quick else "NCI1", data_home=source.folder)
    n = min(source.n_graphs or n_graphs, len(whole.graphs))
    chosen = np.sort(np.random.default_rng(0).permutation(len(whole.graphs))[:n])
    graphs = whole.graphs[chosen]
    target = np.unique(np.asarray(whole.target)[chosen], return_inverse=True)[1]
    grams = [WeisfeilerLehman(h, normalize=True).fit_transform(graphs) for h in LEVELS]
    return Matrices(graphs, target, grams, Protocol(folds=5, repeats=1))


def ours(data: Matrices) -> Floats:
    """Level, C and accuracy per outer part; includes computing the kernel."""
    result = evaluate(
        WeisfeilerLehman(normalize=True),
        data.graphs,
        data.target,
        data.protocol,
        options={"n_iter": list(LEVELS)},
        baselines=False,
    )
    chosen = [(options["n_iter"], options["C"]) for options in result.chosen[0]]
    return np.column_stack([np.array(chosen, dtype=float), result.scores[0]])


def theirs(data: Matrices) -> Floats:
    """The same with scikit-learn."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    found = []
    for split in data.protocol.splits(data.target, np.unique(data.target)):
        place = np.zeros(len(data.target), dtype=np.int64)
        place[split.train] = np.arange(len(split.train))
        inner = [(place[fit], place[held]) for fit, held in split.inner]
        sizes = np.array([len(held) for _, held in inner])
        best = (-1.0, 0, 0.0, 0.0)
        for level, gram in zip(LEVELS, data.grams, strict=True):
            search = GridSearchCV(
                SVC(kernel="precomputed"),
                {"C": list(data.protocol.C)},
                cv=inner,
                refit=partial(_most_right, sizes=sizes),
            ).fit(gram[np.ix_(split.train, split.train)], data.target[split.train])
            right = float(_right(search.cv_results_, sizes).max())
            if right > best[0]:
                told = search.predict(gram[np.ix_(split.test, split.train)])
                accuracy = float(np.mean(told == data.target[split.test]))
                best = (right, level, search.best_params_["C"], accuracy)
        found.append(best[1:])
    return np.array(found)


def _right(results: Any, sizes: Ints) -> Floats:
    """The number of correct predictions over all inner parts, for each C."""
    scores = [results[f"split{k}_test_score"] for k in range(len(sizes))]
    counts: Floats = np.round(np.array(scores) * sizes[:, None]).sum(axis=0)
    return counts


def _most_right(results: Any, sizes: Ints) -> int:
    return int(_right(results, sizes).argmax())


def same_choices(ours: Floats, theirs: Floats) -> None:
    """Raise an AssertionError unless levels, C and accuracies are the same in each part."""
    different = np.flatnonzero((ours != theirs).any(axis=1))
    assert len(different) == 0, (
        f"{len(different)} of {len(ours)} parts differ: {ours[different].tolist()} and "
        f"{theirs[different].tolist()}"
    )


register(
    Case(
        "nested-svm",
        "evaluate: 5 × 5 folds, 7 values of C, 6 levels of WL, 1,000 graphs of NCI1",
        partial(matrices, n_graphs=1000),
        ours,
        theirs,
        "GridSearchCV(SVC(kernel='precomputed')), matrices given",
        check=same_choices,
        target_ratio=8.0,
    )
)
