"""Random graphs: their distributions, and equal graphs for equal seeds."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from gramlet import WassersteinWL, WeightedWassersteinWL
from gramlet.files.datasets.synthetic import (
    planted_subtrees,
    random_labelled_graphs,
    stochastic_block_model_classes,
)
from reference.kernels.wasserstein import wwl_distance
from reference.plain import plain_graphs

GENERATORS = {
    "blocks": lambda seed: stochastic_block_model_classes(20, random_state=seed).graphs,
    "planted": lambda seed: planted_subtrees(3, random_state=seed).graphs,
    "uniform": lambda seed: random_labelled_graphs(20, 9, 12, 3, random_state=seed),
}


@pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS)
def test_same_seed_same_graphs(make) -> None:
    assert make(7) == make(7) == make(np.int64(7)) == make(np.random.default_rng(7))
    assert make(7) != make(8)
    legacy = [make(np.random.RandomState(7)) for _ in range(2)]
    assert legacy[0] == legacy[1]
    stream = np.random.default_rng(7)
    assert make(stream) != make(stream)  # a generator advances
    assert make(None) != make(None)


@pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS)
def test_wrong_seeds(make) -> None:
    with pytest.raises(TypeError, match=r"random_state must be an int.*got str"):
        make("seed")
    with pytest.raises(ValueError, match="must not be negative"):
        make(-1)


# Block models


def test_block_model_settings_of_the_paper() -> None:
    data = stochastic_block_model_classes(random_state=0)
    assert len(data.graphs) == 300
    assert set(data.graphs.sizes) == {60}
    assert np.bincount(data.target).tolist() == [150, 150]
    assert data.within_prob == pytest.approx([0.3, 0.36])
    assert 9 * data.within_prob + 50 * data.between_prob == pytest.approx([10, 10])


def test_block_model_frequencies() -> None:
    data = stochastic_block_model_classes(
        400,
        n_nodes=24,
        n_communities=4,
        expected_degree=6,
        within_prob=0.3,
        similarity=2.5,
        random_state=1,
    )
    src, dst = data.graphs.arcs()
    upper = src < dst
    src, dst = src[upper] % 24, dst[upper] % 24
    of_class = data.target[data.graphs.graph_of_node[data.graphs.arcs()[0][upper]]]
    inside = src // 6 == dst // 6
    for k in (0, 1):
        n_within, n_between = 200 * 4 * 15, 200 * 6 * 36
        within = (inside & (of_class == k)).sum() / n_within
        between = (~inside & (of_class == k)).sum() / n_between
        for found, p, n in (
            (within, data.within_prob[k], n_within),
            (between, data.between_prob[k], n_between),
        ):
            assert abs(found - p) < 4.5 * np.sqrt(p * (1 - p) / n)
    degrees = data.graphs.degrees.reshape(400, 24).mean(axis=1)
    assert abs(degrees[data.target == 0].mean() - degrees[data.target == 1].mean()) < 0.2


def test_block_model_in_pieces_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = stochastic_block_model_classes(31, random_state=3)
    monkeypatch.setattr("gramlet.files.datasets.synthetic._CHUNK", 5000)
    assert stochastic_block_model_classes(31, random_state=3).graphs == whole.graphs


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_nodes": 61}, ValueError, "n_communities=6 must divide n_nodes=61"),
        ({"n_communities": 1}, ValueError, "n_communities must be at least 2"),
        ({"within_prob": 1.5}, ValueError, "Class 0 would need p_within = 1.5"),
        ({"similarity": 4}, ValueError, r"Class 1 would need p_within = 1.2"),
        ({"expected_degree": 1}, ValueError, "Class 0 would need p_between = -0.034"),
        ({"expected_degree": 59.9}, ValueError, "Class 0 would need p_between"),
        ({"within_prob": np.nan}, ValueError, "which is not a probability"),
        ({"n_graphs": -1}, ValueError, "n_graphs must be at least 0"),
        ({"n_graphs": 2.5}, TypeError, r"n_graphs must be an integer; got 2\.5"),
    ],
)
def test_block_model_wrong_use(
    arguments: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        stochastic_block_model_classes(**arguments)


def test_no_graphs_at_all() -> None:
    assert len(stochastic_block_model_classes(0, random_state=0).graphs) == 0
    assert len(random_labelled_graphs(0, 5, 3, 2, random_state=0)) == 0


# Planted patterns


def has_pattern(graph) -> bool:
    return any(
        graph.labels[v] == 0 and sorted(graph.labels[u] for u in graph.neighbours[v]) == [0, 1, 2]
        for v in range(graph.n)
    )


def test_planted_groups() -> None:
    data = planted_subtrees(n_per_group=5, random_state=0)
    assert data.group.tolist() == sorted([*range(1, 9)] * 5)
    assert (data.target == 1).tolist() == [g in (1, 2, 5, 6) for g in data.group]
    assert data.train.tolist() == [g <= 4 for g in data.group]
    assert (data.test == ~data.train).all()
    assert set(data.graphs.sizes) == {11}
    assert set(data.graphs.n_edges) == {11}
    assert set(data.graphs.node_labels) == {0, 1, 2}


def test_the_pattern_is_in_the_substructures_of_one_class() -> None:
    data = planted_subtrees(1, random_state=0)
    trees = plain_graphs(data.substructures)
    assert [has_pattern(tree) for tree in trees] == [
        True,
        True,
        False,
        False,
        True,
        True,
        False,
        False,
    ]
    assert set(data.substructures.sizes) == {8}
    assert set(data.substructures.n_edges) == {7}


def test_noise_leaves_the_pattern_alone() -> None:
    data = planted_subtrees(30, n_noise_nodes=6, n_noise_edges=5, random_state=2)
    graphs = plain_graphs(data.graphs)
    assert all(has_pattern(g) for g, y in zip(graphs, data.target, strict=True) if y == 1)
    assert {len(g.edges()) for g in graphs} == {7 + 6 + 5}
    for g, group in zip(graphs, data.group, strict=True):
        tree = plain_graphs(data.substructures[int(group) - 1])[0]
        assert g.labels[:8] == tree.labels
        assert g.neighbours[:3] == tree.neighbours[:3]
        assert set(tree.edges()) <= set(g.edges())


def test_substructure_5_is_as_far_from_2_as_from_4() -> None:
    trees = planted_subtrees(1, random_state=0).substructures
    for n_iter, include_initial in ((0, True), (1, True), (2, True), (1, False), (2, False)):
        settings = {"n_iter": n_iter, "include_initial": include_initial}
        to_own = wwl_distance(trees[4], trees[1], **settings)
        to_other = wwl_distance(trees[4], trees[3], **settings)
        assert to_own == pytest.approx(to_other)


def test_testing_examples_confuse_the_plain_kernel_only() -> None:
    """About five of six are correct with equal weights, nearly all with learned weights."""
    plain, learned = [], []
    for seed in range(4):
        data = planted_subtrees(random_state=seed)
        plain.append(_accuracy(WassersteinWL(n_iter=2), data))
        learned.append(_accuracy(WeightedWassersteinWL(n_iter=2, solver="accelerated"), data))
    assert 0.7 < np.mean(plain) < 0.92
    assert np.mean(learned) > 0.95


def _accuracy(kernel, data) -> float:
    """Accuracy on the test groups, with C chosen by cross-validation on the training groups."""
    seen, unseen = data.graphs[data.train], data.graphs[data.test]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": 10.0 ** np.arange(-3, 4)}, cv=folds)
    search.fit(kernel.fit(seen, data.target[data.train]).transform(seen), data.target[data.train])
    return float(search.score(kernel.transform(unseen), data.target[data.test]))


def test_planted_wrong_use() -> None:
    with pytest.raises(ValueError, match="n_per_group must be at least 1"):
        planted_subtrees(0)
    with pytest.raises(ValueError, match=r"n_noise_edges=7 is more than the 6 pairs"):
        planted_subtrees(1, n_noise_nodes=0, n_noise_edges=7)
    full = planted_subtrees(1, n_noise_nodes=0, n_noise_edges=6, random_state=0)
    assert set(full.graphs.n_edges) == {13}


def test_noise_edges_are_uniform() -> None:
    data = planted_subtrees(600, n_noise_nodes=0, n_noise_edges=1, random_state=5)
    first = plain_graphs(data.graphs[data.group == 1])
    tree = set(plain_graphs(data.substructures[0])[0].edges())
    counts = Counter(next(iter(set(g.edges()) - tree)) for g in first)
    assert len(counts) == 6
    assert sum((c - 100) ** 2 / 100 for c in counts.values()) < 25  # chi-square with 5 degrees


# Uniform graphs


@pytest.mark.parametrize("n_edges", [2, 5])
def test_uniform_graphs_are_uniform(n_edges: int) -> None:
    """Sparse (edges drawn) and dense (non-edges drawn): all edge sets are equally likely."""
    n_graphs = 6000
    batch = random_labelled_graphs(n_graphs, 4, n_edges, random_state=0)
    counts = Counter(tuple(g.edges()) for g in plain_graphs(batch))
    sets = list(combinations(combinations(range(4), 2), n_edges))
    assert set(counts) == set(sets)
    expected = n_graphs / len(sets)
    chi_square = sum((c - expected) ** 2 / expected for c in counts.values())
    assert chi_square < 3 * len(sets) + 10


@pytest.mark.parametrize(("n_nodes", "n_edges"), [(30, 0), (30, 100), (30, 300), (30, 435), (1, 0)])
def test_uniform_graphs_have_the_size_asked_for(n_nodes: int, n_edges: int) -> None:
    batch = random_labelled_graphs(50, n_nodes, n_edges, 4, random_state=1)
    assert set(batch.sizes) == {n_nodes}
    assert set(batch.n_edges) == {n_edges}
    assert set(batch.node_labels) <= {0, 1, 2, 3}


def test_uniform_graphs_of_many_sizes() -> None:
    sizes, edges = [0, 1, 2, 5, 400, 3], [0, 0, 1, 9, 1000, 2]
    batch = random_labelled_graphs(6, sizes, edges, random_state=1)
    assert batch.sizes.tolist() == sizes
    assert batch.n_edges.tolist() == edges
    assert batch.node_labels is None


def test_uniform_labels() -> None:
    labels = random_labelled_graphs(100, 100, 10, 5, random_state=2).node_labels
    counts = np.bincount(labels.codes)
    assert ((counts - 2000) ** 2 / 2000).sum() < 25


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((2, 3, 4), ValueError, "Graph 0: n_edges=4 is more than the 3 pairs of 3 nodes"),
        ((2, [5, 2], [4, 2]), ValueError, "Graph 1: n_edges=2 is more than the 1 pairs"),
        ((2, [5, 2, 3], 0), ValueError, r"one for each of the 2 graphs; got shape \(3,\)"),
        ((2, -1, 0), ValueError, "n_nodes must not be negative"),
        ((2, 3.5, 0), TypeError, "n_nodes must be integers"),
        ((2, 3, 1, -1), ValueError, "n_labels must be at least 0"),
        ((True, 3, 1), TypeError, "n_graphs must be an integer"),
    ],
)
def test_uniform_wrong_use(
    arguments: tuple[object, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        random_labelled_graphs(*arguments)
