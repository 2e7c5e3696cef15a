"""Candidates: kernels that learn from the classes, several kernels, and selection among them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from gramlet import (
    GraphClassifier,
    Protocol,
    WeightedWassersteinWL,
    WeisfeilerLehman,
    evaluate,
    load_dataset,
)
from gramlet.evaluation.candidates import candidates_of
from gramlet.evaluation.grid_search import Data, select
from gramlet.evaluation.machines import machine_of
from gramlet.evaluation.scorers import scorer_of
from gramlet.evaluation.task import target_of
from gramlet.files.datasets.synthetic import planted_subtrees
from reference.evaluation import trees

OPTIONS = {"n_iter": [1, 2], "gamma": [0.1, 1.0, 10.0], "radius": [0.1, 1.0]}
QUICK = Protocol(folds=3, repeats=1, inner_folds=2, C=(0.1, 1.0, 10.0))


class Counted(WeightedWassersteinWL):
    """A kernel outside the registry that counts its fits."""

    fits: ClassVar[list[int]] = []

    def _fit(self, batch, y, tiling):
        self.fits.append(len(batch))
        return super()._fit(batch, y, tiling)


@pytest.fixture(scope="module")
def planted():
    data = planted_subtrees(n_per_group=8, random_state=0)
    return data.graphs, data.target


def test_shuffled_classes_give_chance(monkeypatch):
    data = planted_subtrees(n_per_group=10, random_state=1)
    shuffled = np.random.default_rng(0).permutation(data.target)
    protocol = Protocol(folds=5, repeats=3, inner_folds=2, C=(1.0, 100.0))
    options = {"n_iter": [2], "gamma": [1.0, 10.0], "radius": [1.0]}
    sizes = []
    fit = WeightedWassersteinWL._fit
    monkeypatch.setattr(
        WeightedWassersteinWL,
        "_fit",
        lambda self, b, *rest: sizes.append(len(b)) or fit(self, b, *rest),
    )
    blind = evaluate("weighted-wwl", data.graphs, shuffled, protocol, options=options)
    assert blind.refitted
    assert 0.3 < blind.mean < 0.7
    # Fitted on the training parts (64 of 80) and on halves of these, never on more graphs.
    assert set(sizes) == {32, 64}
    # With informative classes the same protocol finds them.
    assert evaluate("weighted-wwl", data.graphs, data.target, protocol, options=options).mean > 0.9


def test_one_fit_serves_all_values_of_gamma(planted):
    graphs, y = planted
    once = WeightedWassersteinWL(solver="accelerated")
    known = evaluate(once, graphs, y, QUICK, options=OPTIONS)
    Counted.fits.clear()
    unknown = evaluate(Counted(solver="accelerated"), graphs, y, QUICK, options=OPTIONS)
    assert np.array_equal(known.accuracies, unknown.accuracies)
    assert known.chosen == unknown.chosen
    # Outside the registry: one fit per set of options, at least on one inner fold of each part.
    assert len(Counted.fits) >= 12 * QUICK.folds


def test_number_of_fits(planted, monkeypatch):
    graphs, y = planted
    fits = []
    fit = WeightedWassersteinWL._fit
    monkeypatch.setattr(
        WeightedWassersteinWL,
        "_fit",
        lambda self, b, *rest: fits.append(len(b)) or fit(self, b, *rest),
    )
    kernel = WeightedWassersteinWL(solver="accelerated")
    model = GraphClassifier(kernel, options=OPTIONS, C=QUICK.C, cv=QUICK.inner_folds)
    model.fit(graphs, y)
    assert fits.pop() == len(graphs)
    # n_iter × radius, on each inner fold or, once they cannot win, on fewer; γ and C need no fit.
    assert 4 + QUICK.inner_folds - 1 <= len(fits) <= 4 * QUICK.inner_folds


def test_ties_go_to_the_options_listed_first():
    """All options are equally good here, also if several of them share one fit."""
    data = load_dataset("MUTAG")
    chosen = [0, 1, 2, 125, 126, 127]
    graphs = data.graphs[[i for i in chosen for _ in range(6)]]
    y = np.repeat([0, 0, 0, 1, 1, 1], 6)
    kernel = WeightedWassersteinWL(solver="accelerated")
    result = evaluate(kernel, graphs, y, QUICK, options={"gamma": [3.0, 1.0], "radius": [1.0, 0.5]})
    assert result.mean == 1.0
    assert all(
        (found["gamma"], found["radius"]) == (3.0, 1.0) for row in result.chosen for found in row
    )


def test_one_of_several_kernels_is_chosen_in_each_training_part():
    graphs = trees(60)
    y = (graphs.sizes > 8).astype(int)
    y[::7] = 1 - y[::7]
    rules = Protocol(folds=3, repeats=2, inner_folds=3, C=(0.1, 10.0))
    kernels = ["vertex", WeisfeilerLehman(), "size"]
    several = evaluate(kernels, graphs, y, rules, options={"n_iter": [1, 2]})
    alone = {
        "vertex": evaluate("vertex", graphs, y, rules, options={}),
        "WeisfeilerLehman()": evaluate(kernels[1], graphs, y, rules, options={"n_iter": [1, 2]}),
        "size": evaluate("size", graphs, y, rules),
    }
    assert several.tried["kernel"] == list(alone)
    for repeat, row in enumerate(several.chosen):
        for fold, chosen in enumerate(row):
            one = alone[chosen["kernel"]]
            tested = several.folds[repeat] == fold
            np.testing.assert_array_equal(
                several.predictions[repeat, tested], one.predictions[repeat, tested]
            )
            assert {"kernel": chosen["kernel"], **one.chosen[repeat][fold]} == chosen
    # The first listed is chosen if all are equal.
    twice = evaluate(["vertex", "vertex", "edge"], graphs, y, rules)
    assert twice.mean == evaluate(["vertex", "edge"], graphs, y, rules).mean
    with pytest.raises(ValueError, match="None of the kernels has a parameter 'gamma'"):
        evaluate(["vertex", "wl"], graphs, y, rules, options={"gamma": [1.0]})
    with pytest.raises(ValueError, match="the list is empty"):
        evaluate([], graphs, y, rules)


def test_the_selection_of_all_graphs_has_scores_and_out_of_fold_values():
    graphs = trees(48)
    y = (graphs.sizes > 8).astype(int)
    y[::5] = 1 - y[::5]
    protocol = Protocol(inner_folds=4, C=(0.1, 10.0))
    target = target_of(y, 48)
    candidates = candidates_of(["vertex", "wl"], {"n_iter": [1, 2]}, None, 0, target.task)
    split = protocol.whole(target.values, target.classes)
    selection = select(
        candidates,
        Data(graphs, target),
        [split],
        machine_of("svc", target, protocol),
        scorer_of("accuracy", target.task),
        keep_predictions=True,
    )
    assert [entry["C"] for entry in selection.grid] == [0.1, 10.0] * 3
    assert [entry["kernel"] for entry in selection.grid] == ["vertex"] * 2 + ["wl"] * 4
    held = np.concatenate([part for _, part in split.inner])
    prediction = selection.out_of_fold[0]
    right = prediction.values[0] == y[held]
    assert selection.best[0] == pytest.approx(right.mean())
    by_fold = [part.mean() for part in np.split(right, np.cumsum([12, 12, 12]))]
    assert selection.stds[0, selection.chosen[0]] == pytest.approx(np.std(by_fold))
    np.testing.assert_array_equal(prediction.decisions[0] > 0, prediction.values[0] == 1)
