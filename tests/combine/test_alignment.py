"""AlignedKernelSum: learned weights compared with trying every set of positive entries."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import gramlet
from gramlet import (
    AlignedKernelSum,
    EdgeHistogram,
    ShortestPath,
    VertexHistogram,
    WeisfeilerLehman,
    WLOptimalAssignment,
)
from gramlet.common.fields import check
from reference import combine

MUTAG = gramlet.load_dataset("MUTAG")
GRAPHS, CLASSES = MUTAG.graphs[:40], MUTAG.target[:40]


def grams(kernels):
    return [kernel.fit_transform(GRAPHS) for kernel in kernels]


MEMBERS = [
    WeisfeilerLehman(n_iter=2),
    ShortestPath(normalize=True),
    VertexHistogram(),
    EdgeHistogram(normalize=True),
    WLOptimalAssignment(n_iter=1),
]


@pytest.mark.parametrize("target", ["classes", "three classes", "strings", "real"])
def test_weights_are_those_of_the_definition(target):
    rng = np.random.default_rng(0)
    y = {
        "classes": CLASSES,
        "three classes": np.arange(40) % 3,
        "strings": np.array(["b", "a"] * 20),
        "real": rng.normal(size=40) + GRAPHS.sizes / 10,
    }[target]
    kernel = AlignedKernelSum(MEMBERS).fit(GRAPHS, y)
    expected = combine.aligned_weights(grams(MEMBERS), y)
    np.testing.assert_allclose(kernel.weights_, expected, rtol=1e-6, atol=1e-9)
    total = sum(w * K for w, K in zip(kernel.weights_, grams(MEMBERS), strict=True))
    np.testing.assert_allclose(kernel.transform(GRAPHS), total, rtol=1e-10)
    np.testing.assert_allclose(
        AlignedKernelSum(MEMBERS).fit_transform(GRAPHS, y), total, rtol=1e-10
    )


def test_a_singular_system_has_its_shortest_minimiser():
    twice = [VertexHistogram(), EdgeHistogram(), VertexHistogram()]
    weights = AlignedKernelSum(twice).fit(GRAPHS, CLASSES).weights_
    np.testing.assert_allclose(weights, combine.aligned_weights(grams(twice), CLASSES), atol=1e-8)
    assert weights[0] == pytest.approx(weights[2])
    scaled = [VertexHistogram(), 3 * VertexHistogram()]
    weights = AlignedKernelSum(scaled).fit(GRAPHS, CLASSES).weights_
    np.testing.assert_allclose(weights, [0.25, 0.75], atol=1e-8)


def test_a_constant_member_gets_no_weight():
    graphs = [([(0, 1)], "CC"), ([(0, 1)], "CO"), ([(0, 1)], "OO"), ([(0, 1)], "CC")]
    blind = ShortestPath(use_labels=False)
    weights = AlignedKernelSum([blind, VertexHistogram()]).fit(graphs, [1, 0, 0, 1]).weights_
    assert weights.tolist() == [0.0, 1.0]


@pytest.mark.parametrize("y", [[1] * 40, [0.5] * 40])
def test_without_alignment_weights_are_equal(y):
    with pytest.warns(UserWarning, match="all weights are equal"):
        kernel = AlignedKernelSum(MEMBERS[:2]).fit(GRAPHS, y)
    assert kernel.weights_.tolist() == [0.5, 0.5]


def test_task_says_otherwise():
    y = np.arange(60) % 40
    graphs = MUTAG.graphs[:60]
    with pytest.warns(UserWarning, match="treated as real"):
        auto = AlignedKernelSum(MEMBERS[:3]).fit(graphs, y)
    real = AlignedKernelSum(MEMBERS[:3], task="regression").fit(graphs, y)
    np.testing.assert_array_equal(auto.weights_, real.weights_)
    classes = AlignedKernelSum(MEMBERS[:3], task="classification").fit(graphs, y)
    assert not np.allclose(classes.weights_, real.weights_)


@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        (None, "auto", "give y"),
        ([1, 0], "auto", "one per graph"),
        ([0.5] * 39 + [np.nan], "auto", "positions 39"),
        ([1.0] * 39 + [np.inf], "auto", "positions 39"),
        ([0.5] * 40, "classification", "not whole"),
        (["a"] * 40, "regression", "contains classes"),
        ([None, *["a"] * 39], "auto", "positions 0"),
    ],
)
def test_bad_targets(y, task, message):
    with pytest.raises(ValueError, match=message):
        AlignedKernelSum(MEMBERS[:2], task=task).fit(GRAPHS, y)


def test_pipeline_and_file(tmp_path):
    kernel = AlignedKernelSum([WeisfeilerLehman(n_iter=2, normalize=True), VertexHistogram()])
    model = make_pipeline(kernel, SVC(kernel="precomputed"))
    scores = cross_val_score(model, GRAPHS, CLASSES, cv=3)
    assert not np.isnan(scores).any()
    kernel.fit(GRAPHS, CLASSES)
    gramlet.save(kernel, tmp_path / "k.gramlet")
    again = gramlet.load(tmp_path / "k.gramlet")
    check(again)
    np.testing.assert_array_equal(again.transform(GRAPHS), kernel.transform(GRAPHS))
    again.weights_ = np.array([2.0, -1.0])
    with pytest.raises(ValueError, match="weights_"):
        check(again)
    tags = kernel.__graph_tags__()
    assert tags.supervised
    assert tags.depends_on_fitted
    assert not tags.features
