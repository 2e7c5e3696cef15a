"""Learned weights find a planted pattern and classify graphs that share little else."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from gramlet import WassersteinWL, WeightedWassersteinWL
from gramlet.engine.core.tiles import Tiling
from gramlet.files.datasets.synthetic import planted_subtrees

N_SETS = 10
PLANTED = "0(0,1,2)"


def accuracies(kernel, data_sets, cost: float):
    """Accuracies on the test graphs of each data set."""
    found = []
    for data in data_sets:
        model = make_pipeline(kernel, SVC(kernel="precomputed", C=cost))
        model.fit(data.graphs[data.train], data.target[data.train])
        found.append(model.score(data.graphs[data.test], data.target[data.test]))
    return np.array(found)


def weighted():
    return WeightedWassersteinWL(n_iter=2, gamma=0.1, radius=1.0, solver="accelerated")


def plain():
    return WassersteinWL(n_iter=2, gamma=0.1)


@pytest.fixture(scope="module")
def data_sets():
    return [planted_subtrees(random_state=seed) for seed in range(N_SETS)]


def test_weights_lift_the_accuracy(data_sets):
    # The smallest C that fits the training graphs, as chosen by cross-validation.
    without = accuracies(plain(), data_sets, cost=0.1)
    learned = accuracies(weighted(), data_sets, cost=0.1)
    assert 0.75 < without.mean() < 0.90  # hard for equal weights, but better than chance
    assert learned.mean() > 0.95
    assert learned.mean() > without.mean() + 0.08
    assert (learned > without).all()


def test_and_never_lower_it_where_the_machine_does_the_work(data_sets):
    assert (
        accuracies(weighted(), data_sets, cost=100.0).mean()
        > accuracies(plain(), data_sets, cost=100.0).mean()
    )


def test_the_planted_pattern_has_a_high_weight(data_sets):
    leaders = []
    for data in data_sets:
        kernel = weighted().fit(data.graphs[data.train], data.target[data.train])
        best = [pattern.text for pattern in kernel.top_patterns(3, level=1)]
        assert PLANTED in best
        leaders.append(best[0])
    assert leaders.count(PLANTED) >= N_SETS - 2


def test_the_pattern_is_what_tells_the_classes_apart(data_sets):
    """The premise: training graphs of one class share a level-1 pattern, which few others have."""
    kernel = WassersteinWL(n_iter=1).fit(data_sets[0].graphs)
    names = [text for texts in kernel.counter_.colouring.patterns() for text in texts]
    has = (
        kernel.counter_.count(data_sets[0].graphs, Tiling())[:, names.index(PLANTED)].toarray()[
            :, 0
        ]
        > 0
    )
    assert has[data_sets[0].target == 1].all()
    assert has[data_sets[0].target == -1].mean() < 0.4
