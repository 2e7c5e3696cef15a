"""Networks as classifiers of graphs: inputs, learning, early stopping, repeatability."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from benchmarks.papers.network_classifiers import DeepSetsClassifier, GINClassifier
from sklearn.base import clone

from gramlet import GraphBatch, Protocol, evaluate
from reference.examples import random_graphs
from reference.strategies import permuted

pytest.importorskip("torch", reason="networks need PyTorch (gramlet[bench])")
pytest.importorskip("torch_geometric", reason="networks need PyTorch Geometric (gramlet[bench])")

QUICK = {"n_hidden": 8, "n_layers": 2, "max_epochs": 40, "dropout": 0.0, "random_state": 0}


def rings_and_paths(n=40, labels=False):
    """Class 1: a ring; class 0: a path of as many nodes. Nodes have the same labels in both."""
    rng = np.random.default_rng(0)
    edges, sizes, target = [], [], []
    for i in range(n):
        size = int(rng.integers(5, 12))
        path = [(j, j + 1) for j in range(size - 1)]
        edges.append([*path, (size - 1, 0)] if i % 2 else path)
        sizes.append(size)
        target.append("ring" if i % 2 else "path")
    names = [["C"] * size for size in sizes] if labels else None
    return GraphBatch.from_edges(edges, n_nodes=sizes, node_labels=names), np.array(target)


def marked(n=40):
    """Class 1 has a node labelled O; edges carry no information."""
    labels = [["C"] * 4 + (["O"] if i % 2 else ["C"]) for i in range(n)]
    edges = [[(0, 1), (1, 2), (2, 3), (3, 4)]] * n
    return GraphBatch.from_edges(edges, node_labels=labels), np.arange(n) % 2


def test_structure_is_seen_by_one_and_not_by_the_other():
    graphs, target = rings_and_paths(labels=True)
    # Equal labels: sums over nodes depend on sizes only, which are equal in both classes.
    gin = GINClassifier(**QUICK).fit(graphs, target)
    blind = DeepSetsClassifier(**QUICK).fit(graphs, target)
    assert gin.score(graphs, target) > 0.9
    assert blind.score(graphs, target) < 0.8


@pytest.mark.parametrize("kind", [GINClassifier, DeepSetsClassifier])
def test_labels_are_learned(kind):
    graphs, target = marked()
    model = kind(**QUICK).fit(graphs[:30], target[:30])
    assert model.score(graphs[30:], target[30:]) == 1.0
    chances = model.predict_proba(graphs[30:])
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert np.array_equal(model.classes_[chances.argmax(axis=1)], model.predict(graphs[30:]))
    assert np.array_equal(model.decision_function(graphs[30:]) > 0, model.predict(graphs[30:]) == 1)


@pytest.mark.parametrize("kind", [GINClassifier, DeepSetsClassifier])
def test_the_same_seed_gives_the_same_network(kind):
    import torch

    graphs, target = random_graphs(0, n_graphs=12), np.arange(12) % 3
    options = QUICK | {"dropout": 0.5, "max_epochs": 3}
    torch.manual_seed(5)
    before = torch.rand(1)
    torch.manual_seed(5)
    models = [kind(**options).fit(graphs, target) for _ in range(2)]
    assert torch.equal(torch.rand(1), before)  # the caller's random numbers are not affected
    assert np.array_equal(*(model.predict_proba(graphs) for model in models))
    other = kind(**options | {"random_state": 1}).fit(graphs, target)
    assert not np.array_equal(other.predict_proba(graphs), models[0].predict_proba(graphs))
    again = pickle.loads(pickle.dumps(models[0]))
    assert np.array_equal(again.predict_proba(graphs), models[0].predict_proba(graphs))
    assert clone(models[0]).get_params() == models[0].get_params()


def test_the_numbering_of_nodes_does_not_matter():
    graphs, target = random_graphs(1, n_graphs=10), np.arange(10) % 2
    model = GINClassifier(**QUICK | {"max_epochs": 3}).fit(graphs, target)
    shuffled = permuted(graphs, np.random.default_rng(0))
    np.testing.assert_allclose(
        model.predict_proba(shuffled), model.predict_proba(graphs), atol=1e-5
    )


def test_training_stops_when_the_held_out_part_no_longer_gains():
    graphs, target = rings_and_paths(20)
    rng = np.random.default_rng(0)
    noise = rng.permutation(target)  # nothing to learn
    model = GINClassifier(**QUICK | {"max_epochs": 200, "patience": 3}).fit(graphs, noise)
    assert model.n_epochs_ < 200
    assert model.n_epochs_ == int(np.argmin(model.history_)) + 1 + 3
    every = GINClassifier(**QUICK | {"max_epochs": 7, "validation_share": 0}).fit(graphs, target)
    assert every.n_epochs_ == 7


def test_attributes_are_standardised_and_needed_where_they_are_used():
    rng = np.random.default_rng(0)
    target = np.arange(30) % 2
    rows = [1e4 + 10 * t + rng.normal(size=(3, 1)) for t in target]
    graphs = GraphBatch.from_edges([[(0, 1), (1, 2)]] * 30, node_attributes=rows)
    model = DeepSetsClassifier(**QUICK, use_attributes=True).fit(graphs, target)
    assert model.score(graphs, target) == 1.0
    bare = GraphBatch.from_edges([[(0, 1)]])
    with pytest.raises(ValueError, match="needs node attributes"):
        model.predict(bare)


def test_strange_graphs():
    graphs, target = marked(12)
    odd = GraphBatch.from_edges([[], [], [(0, 1)]], n_nodes=[0, 1, 2], node_labels=[[], "C", "XO"])
    for kind in (GINClassifier, DeepSetsClassifier):
        model = kind(**QUICK | {"max_epochs": 2, "batch_size": 1}).fit(graphs, target)
        assert np.isfinite(model.predict_proba(odd)).all()
        assert model.predict_proba(odd[:0]).shape == (0, 2)
        with_empty = GraphBatch.concatenate([odd, odd])
        model = kind(**QUICK | {"max_epochs": 2, "batch_size": 1}).fit(with_empty, [0, 1, 0] * 2)
        assert np.isfinite(model.predict_proba(graphs)).all()


@pytest.mark.parametrize(
    ("params", "y", "message"),
    [
        ({"n_hidden": 0}, [0, 1, 0], "'n_hidden' parameter of GINClassifier"),
        ({"dropout": 1.0}, [0, 1, 0], "'dropout' parameter"),
        ({"validation_share": 1.0}, [0, 1, 0], "'validation_share' parameter"),
        ({}, [0, 0, 0], "at least two classes; got 1"),
        ({}, [0, 1], "one class per graph, 3 here"),
    ],
)
def test_bad_input(params, y, message):
    with pytest.raises(ValueError, match=message):
        GINClassifier(**params).fit(random_graphs(0, n_graphs=3), y)


def test_directed_graphs_are_refused():
    arcs = GraphBatch.from_edges([[(0, 1)], [(1, 0)]], directed=True)
    with pytest.raises(ValueError, match="to_undirected"):
        GINClassifier().fit(arcs, [0, 1])


def test_networks_and_kernels_stand_on_the_same_splits():
    graphs, target = marked(40)
    protocol = Protocol.errica(folds=4, inner_size=0.25)
    options = {"n_hidden": [4, 8]}
    network = evaluate(
        DeepSetsClassifier(max_epochs=5),
        graphs,
        target,
        protocol,
        options=options,
        baselines=False,
    )
    kernel = evaluate("vertex", graphs, target, protocol, baselines=False)
    assert network.data.splits == kernel.data.splits
    assert network.n_draws == 3
    assert kernel.n_draws == 1
    np.testing.assert_allclose(
        network.scores, np.mean([draw.scores for draw in network.by_draw], axis=0)
    )
    # The options are chosen once; the final fits share them.
    assert all(draw.chosen == network.chosen for draw in network.by_draw)
