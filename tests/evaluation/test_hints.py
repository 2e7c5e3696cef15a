"""Hints are given where there is a reason, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import GraphBatch, Protocol, WeisfeilerLehman, evaluate
from gramlet.evaluation import table
from gramlet.evaluation.hints import (
    duplicate_hints,
    edge_of_grid_hints,
    equivalent_graphs,
)
from gramlet.evaluation.task import target_of
from reference.evaluation import trees

QUICK = Protocol(folds=4, repeats=2, inner_folds=3, C=(0.01, 1.0, 100.0))


def kinds(result, kind):
    return [hint for hint in result.hints if hint.kind == kind]


def test_options_at_the_edge_of_their_grid():
    tried = {"n_iter": [1, 2, 3], "gamma": [0.1, 1.0, 10.0], "C": [1.0, 10.0], "kind": ["a", "b"]}
    chosen = [{"n_iter": 1, "gamma": 10.0, "C": 10.0, "kind": "a"}] * 3
    (hint,) = edge_of_grid_hints(tried, chosen)
    assert hint.facts == {"option": "gamma", "value": 10.0, "edge": "largest", "share": 1.0}
    assert "gamma: the largest value tried, 10, was chosen in 100 %" in hint.text
    (low,) = edge_of_grid_hints({"C": [0.1, 1.0, 10.0]}, [{"C": 0.1}, {"C": 0.1}, {"C": 1.0}])
    assert low.facts["edge"] == "smallest"
    assert not edge_of_grid_hints({"C": [0.1, 1.0, 10.0]}, [{"C": 0.1}, {"C": 1.0}])


def test_kernels_that_only_know_the_size():
    graphs = trees(80)
    by_size = evaluate("wl", graphs, graphs.sizes > 8, QUICK, options={"n_iter": [1]})
    size = [hint for hint in kinds(by_size, "baseline") if hint.facts["baseline"] == "size"]
    assert len(size) == 1
    assert "nodes and edges alone" in size[0].text
    noise = np.random.default_rng(0).permutation(np.arange(80) % 2)
    nothing = evaluate("wl", graphs, noise, QUICK, options={"n_iter": [1]})
    assert {hint.facts["baseline"] for hint in kinds(nothing, "baseline")} == {"majority", "size"}
    labels = np.array([graphs[i].node_labels[0] for i in range(80)])
    ends = GraphBatch.from_edges([[(0, 1)]] * 80, node_labels=[[int(k), 7] for k in labels])
    found = evaluate("vertex", ends, labels, QUICK)
    assert found.mean == 1.0
    assert not kinds(found, "baseline")


def test_twins_across_folds_and_classes():
    graphs = trees(30)
    doubled = GraphBatch.concatenate([graphs, graphs])
    y = np.r_[np.arange(30) % 2, np.arange(30) % 2]
    result = evaluate("vertex", doubled, y, QUICK)
    (hint,) = kinds(result, "duplicates")
    assert hint.facts["graphs"] == 60
    assert hint.facts["groups"] == 30
    assert hint.facts["conflicting_groups"] == 0
    assert "WL-equivalent" in hint.text
    splits = QUICK.splits(y, np.arange(2))
    twin = np.r_[np.arange(30, 60), np.arange(30)]
    there = np.mean([np.isin(twin[s.test], s.train).mean() for s in splits])
    assert hint.facts["share_of_test_graphs"] == pytest.approx(there)
    assert hint.facts["explained_accuracy"] == pytest.approx(there)
    y[30:] = 1 - y[30:]
    (hint,) = kinds(evaluate("vertex", doubled, y, QUICK), "duplicates")
    assert hint.facts["conflicting_groups"] == 30
    assert hint.facts["explained_accuracy"] == 0.0
    assert not kinds(evaluate("vertex", graphs, np.arange(30) % 2, QUICK), "duplicates")


def test_equivalent_graphs_are_those_that_refinement_cannot_tell_apart():
    hexagon = [(k, (k + 1) % 6) for k in range(6)]
    triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    path = [(k, k + 1) for k in range(5)]
    turned = [(5 - a, 5 - b) for a, b in path]
    graphs = GraphBatch.from_edges([hexagon, triangles, path, turned, path], n_nodes=[6] * 5)
    found = equivalent_graphs(graphs)
    assert found[0] == found[1]
    assert found[2] == found[3] == found[4] != found[0]
    bonds = GraphBatch.from_edges([path, path], edge_labels=[[1] * 5, [1, 1, 2, 1, 1]])
    assert len(set(equivalent_graphs(bonds))) == 2


def test_duplicates_of_a_regression_explain_no_accuracy():
    y = np.linspace(0, 1, 24)
    target = target_of(y, 24)
    from gramlet.evaluation.splits import make_splits

    splits = make_splits(QUICK, y, np.zeros(0), None)
    (hint,) = duplicate_hints(np.arange(24) // 2, target, splits)
    assert hint.facts["conflicting_groups"] == 12
    assert "explained_accuracy" not in hint.facts


@pytest.mark.parametrize(
    ("kernel", "used"),
    [
        ("vertex", False),
        ("edge", True),
        (WeisfeilerLehman(use_edge_labels=True), True),
        (WeisfeilerLehman(use_edge_labels=False), False),
        ("size", True),
    ],
)
def test_edge_labels_that_are_not_used(kernel, used):
    graphs = trees(32)
    result = evaluate(kernel, graphs, np.arange(32) % 2, QUICK)
    found = [hint.facts["column"] for hint in kinds(result, "unused-column")]
    assert found == ([] if used else ["edge_labels"])


def test_attributes_and_labels_that_are_not_there():
    graphs = trees(32)
    bare = GraphBatch(
        graphs.node_offsets, graphs.indptr, graphs.indices,
        node_attributes=np.ones((graphs.n_nodes_total, 2)),
    )  # fmt: skip
    result = evaluate("vertex", bare, np.arange(32) % 2, QUICK)
    assert len(kinds(result, "no-labels")) == 1
    assert [h.facts["column"] for h in kinds(result, "unused-column")] == ["node_attributes"]
    assert not kinds(evaluate("vertex", graphs, np.arange(32) % 2, QUICK), "no-labels")


def test_tables_print_each_hint_once():
    graphs = trees(32)
    results = [evaluate(name, graphs, np.arange(32) % 2, QUICK) for name in ("vertex", "wl")]
    for style in ("text", "markdown"):
        for result in results:
            for hint in result.hints:
                assert table(result, style).count(hint.text) == 1
        assert "does not use" not in table(results, style, hints=False)


def test_rows_that_share_a_hint_share_a_line():
    graphs = trees(32)
    rows = [
        evaluate("vertex", graphs, np.arange(32) % 2, QUICK, name=name) for name in ("one", "two")
    ]
    assert {hint.kind for hint in rows[0].hints} >= {"baseline", "unused-column"}
    text = table(rows)
    assert text.count("Not significantly better than the numbers of nodes and edges alone: ") == 1
    assert text.count("The graphs have edge labels, which one, two do not use.") == 1
    assert "is not better" not in text
    assert "is not significantly better" not in text


def test_they_can_be_left_out():
    graphs = trees(32)
    result = evaluate("vertex", graphs, np.arange(32) % 2, QUICK, baselines=False)
    assert result.hints == ()
    assert result.baselines == {}
