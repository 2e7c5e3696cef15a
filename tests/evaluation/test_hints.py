"""Hints are given if there is a reason, and only then."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import GraphBatch, Protocol, WeisfeilerLehman, evaluate
from gramlet.evaluation import table
from gramlet.evaluation.hints import (
    column_hints,
    duplicate_hints,
    edge_of_grid_hints,
    isomorphism_classes,
    users_of,
)
from gramlet.evaluation.task import target_of
from gramlet.kernels import registry
from reference.evaluation import trees
from reference.strategies import with_molecules

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


def test_options_chosen_on_the_test_parts():
    tried, chosen = {"gamma": [0.1, 1.0, 10.0], "C": [1.0, 2.0, 4.0]}, [{"gamma": 10.0, "C": 4.0}]
    gamma, cost = edge_of_grid_hints(tried, chosen, {"gamma"})
    assert gamma.text == (
        "gamma: the largest value tried, 10, was chosen on the test parts. Larger values may do "
        "better: --param gamma=10,100,1000."
    )
    assert cost.text.endswith("Larger values may do better: --C 4 --C 8 --C 16.")
    assert "was chosen in 100 % of the training parts" in cost.text


@pytest.mark.parametrize(
    ("classifier", "where"),
    [("svc", "on the test parts"), ("ridge", "% of the training parts")],
)
def test_where_the_best_of_a_grid_was_chosen(classifier, where):
    graphs = trees(40)
    rules = Protocol(4, 1, 3, C=(1e-9, 1e-8, 1e-7), selection="best-of-grid")
    y = graphs.sizes > 8
    found = evaluate("vertex", graphs, y, rules, options={}, classifier=classifier)
    (hint,) = kinds(found, "edge-of-grid")
    assert where in hint.text


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
    assert "60 of 60 graphs are isomorphic to another one (30 groups, 0 with" in hint.text
    assert hint.facts["exact"]
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


def test_twins_are_isomorphic_not_only_alike_to_refinement():
    hexagon = [(k, (k + 1) % 6) for k in range(6)]
    triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    path = [(k, k + 1) for k in range(5)]
    turned = [(0, 3), (3, 1), (1, 5), (5, 2), (2, 4)]
    graphs = GraphBatch.from_edges([hexagon, triangles, path, turned, path], n_nodes=[6] * 5)
    assert isomorphism_classes(graphs).tolist() == [0, 1, 2, 2, 2]
    bonds = GraphBatch.from_edges([path, path], edge_labels=[[1] * 5, [1, 1, 2, 1, 1]])
    assert len(set(isomorphism_classes(bonds))) == 2


def test_twins_are_looked_for_once_for_several_kernels(monkeypatch):
    from gramlet.combine import duplicates

    looked = []
    monkeypatch.setattr(duplicates, "find_duplicates", lambda g: looked.append(len(g)) or [[0, 1]])
    some, others = trees(24), trees(20, seed=1)
    for kernel in ("vertex", "edge"):
        evaluate(kernel, some, np.arange(24) % 2, QUICK)
    assert looked == [24]
    evaluate("vertex", others, np.arange(20) % 2, QUICK)
    assert looked == [24, 20]


def test_the_hint_of_twins_says_which_columns_were_not_compared():
    edge = [[(0, 1)]] * 24
    attributes = np.arange(48.0).reshape(24, 2, 1)
    graphs = GraphBatch.from_edges(edge, node_attributes=list(attributes))
    (hint,) = kinds(evaluate("vertex", graphs, np.arange(24) % 2, QUICK), "duplicates")
    assert (
        "24 of 24 graphs are isomorphic to another one except for their node attributes"
        in hint.text
    )


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


COLUMNS = ["node_labels", "edge_labels", "edge_weights", "node_attributes", "edge_attributes"]
SETTINGS = [
    # Descriptors use labels only of graphs without the column of molecules.
    *[(row.name, {}) for row in registry.entries() if row.name != "descriptors"],
    ("wl", {"n_iter": 0}),
    ("wl", {"use_edge_labels": False}),
    ("wl", {"base": "edge", "use_edge_labels": False}),
    ("wl", {"base": "shortest-path"}),
    ("wl", {"base": "nspdk", "n_iter": 1, "use_edge_labels": False}),
    ("wl-oa", {"use_edge_labels": False}),
    ("wwl", {"use_attributes": True}),
    ("wwl", {"use_attributes": True, "n_iter": 0}),
    ("edge", {"use_edge_labels": False}),
    ("e-oa", {"use_edge_labels": False}),
    ("nspdk", {"use_edge_labels": False}),
    ("sp", {"weighted": True}),
    ("sp", {"use_labels": False}),
    ("rw", {"weighted": True, "decay": 1e-3}),
    ("rw", {"use_labels": False, "decay": 1e-3}),
    ("propagation", {"use_attributes": True}),
    ("graph-hopper", {"node_kernel": "label"}),
    ("graph-hopper", {"use_labels": True}),
    ("graph-hopper", {"weighted": True}),
    ("pyramid-match", {"use_labels": False}),
    ("emd", {"use_labels": False}),
    ("rge", {"use_labels": False}),
    ("gsa-match", {"use_labels": True}),
    ("flg", {"vertex_features": "degree"}),
    ("flg", {"vertex_features": "attributes"}),
    ("mlg", {"vertex_features": "heat"}),
    ("subgraph-matching", {"node_kernel": "gaussian"}),
    ("subgraph-matching", {"edge_kernel": "one"}),
    ("subgraph-matching", {"node_kernel": lambda a, b: float(a == b)}),
    ("marginalized", {"node_kernel": "gaussian", "edge_kernel": "one"}),
    ("marginalized", {"edge_kernel": "label*gaussian", "weighted": True}),
    ("core", {"base": "nspdk"}),
    ("deep", {"base": "nspdk"}),
]


@pytest.fixture(scope="module")
def rich():
    """Graphs with every column; each column tells some of them apart."""
    edges = [[(0, 1), (1, 2), (2, 3), (0, 2), (3, 4)], [(0, 1), (1, 2), (2, 0), (2, 3)]] * 6
    rng = np.random.default_rng(0)
    n_nodes = [5, 4] * 6
    batch = GraphBatch.from_edges(
        edges,
        n_nodes=n_nodes,
        node_labels=[rng.integers(3, size=n).tolist() for n in n_nodes],
        edge_labels=[rng.integers(2, size=len(e)).tolist() for e in edges],
        edge_weights=[rng.choice([1.0, 3.0], size=len(e)) for e in edges],
        node_attributes=[rng.normal(size=(n, 2)) for n in n_nodes],
        edge_attributes=[rng.normal(size=(len(e), 2)) for e in edges],
    )
    return with_molecules(batch)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize(
    ("name", "params"), SETTINGS, ids=lambda value: str(value).split(" at 0x")[0][:60]
)
def test_what_is_called_unused_does_not_change_similarities(rich, name, params, column):
    row = registry.get(name)
    random = {"random_state": 0} if "random_state" in row.make().get_params() else {}
    kernel = row.make(**random, **params)
    if column in kernel.__graph_tags__().needs:
        return
    y = np.arange(12) % 2
    before = kernel.fit_transform(rich, y)
    other = row.make(**random, **params)
    after = other.fit_transform(rich.with_columns(**{column: None}), y)
    same = np.shape(before) == np.shape(after) and np.allclose(_dense(before), _dense(after))
    hints = column_hints(name, [kernel], rich)
    if "molecules" in kernel.__graph_tags__().uses and "labels" in column:
        same = False  # labels were made of the molecules: no hint
    assert (column in [hint.facts.get("column") for hint in hints]) == same


def test_a_hint_names_the_parameter_that_helps(rich):
    hints = {h.facts["column"]: h.text for h in column_hints("sp", [registry.make("sp")], rich)}
    assert hints["edge_weights"] == (
        "The graphs have edge weights, which sp does not use. weighted=True (--param "
        "weighted=true) makes it use them."
    )
    assert hints["edge_labels"] == (
        "The graphs have edge labels, which sp does not use. wl-oa and nspdk do: --kernel wl-oa "
        "--kernel nspdk."
    )


def test_kernels_that_hints_name_use_the_column():
    for column in ("node_labels", "edge_labels", "edge_weights", "node_attributes"):
        names = users_of(column).split("--kernel ")[1:]
        assert names
        assert all(column in registry.get(name.strip(" .")).tags.uses for name in names)


def test_weights_and_labels_that_are_all_equal_are_not_missed(rich):
    equal = rich.with_columns(edge_weights=np.full(len(rich.indices), 2.0))
    columns = [h.facts.get("column") for h in column_hints("sp", [registry.make("sp")], equal)]
    assert "edge_weights" not in columns


def test_parts_of_pipelines_and_unknown_kernels(rich):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from gramlet import RandomGraphEmbedding, RConvolution

    pipeline = make_pipeline(RandomGraphEmbedding(), LogisticRegression())
    told = [h.facts["column"] for h in column_hints("mine", [pipeline], rich)]
    assert told == ["edge_labels", "edge_weights", "node_attributes", "edge_attributes"]
    unknown = RConvolution(lambda graph: [], [])
    assert column_hints("mine", [unknown], rich) == []
    both = [registry.make("sp"), registry.make("sp", weighted=True)]
    assert "edge_weights" not in [h.facts["column"] for h in column_hints("sp", both, rich)]


def _dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


def test_attributes_and_labels_that_are_not_there():
    graphs = trees(32)
    bare = GraphBatch(
        graphs.node_offsets,
        graphs.indptr,
        graphs.indices,
        node_attributes=np.ones((graphs.n_nodes_total, 2)),
    )
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
