"""Linear models from feature stores: learning, errors, and memory."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.preprocessing import normalize

import gramlet
from gramlet import Dataset, FeatureStore, GraphBatch, HashedFeatures, HashedLinearModel
from gramlet.persistence import ModelFileError
from gramlet.scale.linear_training import Scaling, decisions_of, summarize

HASHED = HashedFeatures(n_iter=1, n_bits=8)


def paths(lengths, labels) -> GraphBatch:
    """Paths of given sizes; all nodes of a graph have the same label."""
    return GraphBatch.from_edges(
        [[(i, i + 1) for i in range(n - 1)] for n in lengths],
        n_nodes=list(lengths),
        node_labels=[[label] * n for n, label in zip(lengths, labels, strict=True)],
    )


def chemistry(n_graphs: int, classes: str, seed: int = 0) -> Dataset:
    """Paths whose class is the label of their nodes, sorted by class as files often are."""
    rng = np.random.default_rng(seed)
    target = np.sort(rng.choice(list(classes), n_graphs))
    return Dataset(paths(rng.integers(2, 9, n_graphs), target), target)


def written(folder, data, batch_size=10, features=HASHED) -> FeatureStore:
    return FeatureStore.write(folder / "store", data, features, batch_size)


@pytest.mark.parametrize("classes", ["CN", "CNO"])
def test_classes_in_a_sorted_file_are_learned(classes, tmp_path):
    data = chemistry(150, classes)
    model = HashedLinearModel(n_epochs=3).fit(written(tmp_path, data, 7))
    assert model.classes_.tolist() == list(classes)
    assert (model.predict(data.graphs) == data.target).all()
    assert model.score_ == 1.0
    assert 0 < model.baseline_ < 0.9
    assert 5 <= model.n_tested_ <= 30
    assert model.coef_.shape == (1 if len(classes) == 2 else 3, 256)
    values = model.decision_function(data.graphs)
    probabilities = model.predict_proba(data.graphs)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    if len(classes) == 2:
        np.testing.assert_allclose(probabilities[:, 1], expit(values))
    else:
        assert (np.argmax(probabilities, axis=1) == np.argmax(values, axis=1)).all()


def test_the_machine_is_the_averaged_descent_of_scikit_learn(tmp_path):
    """One part, nothing held out: the same steps as SGDClassifier on the same rows."""
    data = chemistry(40, "CN")
    model = HashedLinearModel(alpha=1e-4, normalize=True, n_epochs=3, held_out=0.0, random_state=5)
    model.fit(written(tmp_path, data, 40))
    X = normalize(HASHED.transform(data.graphs))
    machine = SGDClassifier("log_loss", alpha=1e-4, average=40, random_state=5)
    for _ in range(3):
        machine.partial_fit(X, (data.target == "N").astype(int), classes=[0, 1])
    np.testing.assert_allclose(model.coef_, machine.coef_, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        model.predict_proba(data.graphs), machine.predict_proba(X), rtol=1e-10
    )
    assert model.score_ is None


def test_numbers_are_learned_and_given_in_their_own_units(tmp_path):
    rng = np.random.default_rng(0)
    lengths = rng.integers(2, 9, 200)
    data = Dataset(paths(lengths, ["C"] * 200), 1000.5 + 50.0 * lengths)
    store = written(tmp_path, data, 32)
    model = HashedLinearModel().fit(store)
    assert model.task_ == "regression"
    assert model.score_ > 0.95
    assert model.baseline_ < 0.1
    assert not hasattr(model, "classes_")
    assert not hasattr(model, "decision_function")
    assert np.abs(model.predict(data.graphs) - data.target).max() < 30
    one = HashedLinearModel(alpha=1e-5, normalize=True, n_epochs=1, held_out=0.0)
    one.fit(FeatureStore.write(tmp_path / "whole", data, HASHED, 200))
    machine = SGDRegressor(alpha=1e-5, eta0=1.0, power_t=0.1, average=100, random_state=0)
    y = (data.target - data.target.mean()) / data.target.std()
    X = normalize(HASHED.transform(data.graphs))
    expected = machine.partial_fit(X, y).predict(X) * data.target.std() + data.target.mean()
    np.testing.assert_allclose(one.predict(data.graphs), expected, rtol=1e-9)


def test_rows_of_very_different_lengths(tmp_path):
    """A graph a thousand times as large as the others does not make the machine diverge."""
    lengths = [*range(2, 60), 4000]
    data = Dataset(paths(lengths, ["C"] * 59), np.log(lengths))
    model = HashedLinearModel(n_epochs=5).fit(written(tmp_path, data))
    assert np.isfinite(model.predict(data.graphs)).all()


def test_the_same_model_again_and_after_a_refit(tmp_path):
    data = chemistry(60, "CN")
    store = written(tmp_path, data)
    first = HashedLinearModel(n_epochs=2).fit(store)
    again = HashedLinearModel(n_epochs=2).fit(str(store.path))
    assert np.array_equal(first.coef_, again.coef_)
    assert first.score_ == again.score_
    numbers = Dataset(data.graphs, np.arange(60) / 7)
    other = FeatureStore.write(tmp_path / "numbers", numbers, HASHED, 10)
    first.fit(other)
    assert not hasattr(first, "classes_")
    assert np.array_equal(first.coef_, HashedLinearModel(n_epochs=2).fit(other).coef_)


def test_class_weights(tmp_path):
    """For equal graphs, the class weights decide."""
    target = np.array(["rare"] * 10 + ["usual"] * 90)
    data = Dataset(paths([4] * 100, ["C"] * 100), target)
    store = written(tmp_path, data, 25)
    plain = HashedLinearModel(n_epochs=5).fit(store)
    assert set(plain.predict(data.graphs)) == {"usual"}
    assert plain.score_ == plain.baseline_
    heavy = HashedLinearModel(n_epochs=5, class_weight={"rare": 50.0}).fit(store)
    assert set(heavy.predict(data.graphs)) == {"rare"}
    balanced = HashedLinearModel(class_weight="balanced")._weights(summarize(store))
    assert balanced == {0: 5.0, 1: pytest.approx(100 / 180)}
    by_number = HashedLinearModel(n_epochs=2, held_out=0.0, class_weight="balanced").fit(store)
    by_name = HashedLinearModel(
        n_epochs=2, held_out=0.0, class_weight={"rare": 5.0, "usual": 100 / 180}
    ).fit(store)
    assert np.array_equal(by_number.coef_, by_name.coef_)
    with pytest.raises(ValueError, match=r"class_weight names 'no'; the classes are \['rare'"):
        HashedLinearModel(class_weight={"no": 2.0}).fit(store)


def test_scoring(tmp_path):
    store = written(tmp_path, chemistry(80, "CN"))
    model = HashedLinearModel(n_epochs=2, scoring="roc_auc").fit(store)
    assert (model.scoring_, model.score_, model.baseline_) == ("roc_auc", 1.0, None)
    with pytest.raises(ValueError, match="'r2' is for regression"):
        HashedLinearModel(scoring="r2").fit(store)


def test_few_parts_are_in_memory(tmp_path, monkeypatch):
    store = written(tmp_path, chemistry(120, "CN"), 3)
    assert store.n_parts == 40
    alive = most = 0
    original = FeatureStore.part

    def part(self, number):
        nonlocal alive, most
        found = original(self, number)
        alive += 1
        weakref.finalize(found[1], ended)
        most = max(most, alive)
        return found

    def ended():
        nonlocal alive
        alive -= 1

    gc.collect()
    monkeypatch.setattr(FeatureStore, "part", part)
    HashedLinearModel(n_epochs=2).fit(store)
    assert 2 <= most <= 10


def test_saved_and_loaded(tmp_path):
    data = chemistry(60, "CNO")
    model = HashedLinearModel(n_epochs=2).fit(written(tmp_path, data))
    gramlet.save(model, tmp_path / "m.gramlet")
    again = gramlet.load(tmp_path / "m.gramlet")
    assert np.array_equal(
        again.decision_function(data.graphs), model.decision_function(data.graphs)
    )
    assert again.features_.get_params() == HASHED.get_params()
    gramlet.save(HASHED, tmp_path / "h.gramlet")
    assert gramlet.load(tmp_path / "h.gramlet").get_params() == HASHED.get_params()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("coef_", np.zeros((3, 255))),
        ("coef_", np.full((3, 256), np.nan)),
        ("intercept_", np.zeros(2)),
        ("classes_", np.array(["C", "C", "O"])),
        ("features_", HashedFeatures(n_bits=None)),
        ("features_", 3),
        ("factor_", -1.0),
        ("normalize_", 1),
        ("task_", "clustering"),
        ("directed_", 1),
        ("node_labels_", "yes"),
        ("features_", HashedFeatures(n_iter=3_000_000, n_bits=8)),
    ],
)
def test_models_that_do_not_fit_together_are_refused(name, value, tmp_path):
    model = HashedLinearModel(n_epochs=1).fit(written(tmp_path, chemistry(30, "CNO")))
    setattr(model, name, value)
    with pytest.raises((ValueError, TypeError, ModelFileError)):
        gramlet.save(model, tmp_path / "m.gramlet")
    assert not (tmp_path / "m.gramlet").exists()


def of_kind(
    n_graphs: int = 20, *, labels: bool = True, edge_labels: bool = True, directed: bool = False
) -> Dataset:
    """Paths of two to four nodes; the target is whether there are more than two."""
    sizes = [2 + i % 3 for i in range(n_graphs)]
    graphs = GraphBatch.from_edges(
        [[(i, i + 1) for i in range(n - 1)] for n in sizes],
        n_nodes=sizes,
        node_labels=[["C"] * n for n in sizes] if labels else None,
        edge_labels=[["-"] * (n - 1) for n in sizes] if edge_labels else None,
        directed=directed,
    )
    return Dataset(graphs, np.array([n > 2 for n in sizes]))


@pytest.mark.parametrize(
    ("fitted", "new", "message"),
    [
        (
            {},
            {"labels": False},
            "was fitted on graphs with node labels, but is given graphs without",
        ),
        ({"labels": False}, {}, "was fitted on graphs without node labels, but is given"),
        ({}, {"directed": True}, "was fitted on undirected graphs; these are directed"),
        ({"directed": True}, {}, "was fitted on directed graphs; these are undirected"),
        ({}, {"edge_labels": False}, "was fitted on graphs with edge labels, but is given"),
    ],
)
def test_graphs_of_another_kind_are_refused(fitted, new, message, tmp_path):
    model = HashedLinearModel(n_epochs=1).fit(written(tmp_path, of_kind(**fitted), 7))
    gramlet.save(model, tmp_path / "m.gramlet")
    again = gramlet.load(tmp_path / "m.gramlet")
    for each in (model, again):
        assert len(each.predict(of_kind(**fitted).graphs)) == 20
        for method in ("predict", "decision_function", "predict_proba"):
            with pytest.raises(ValueError, match=f"HashedLinearModel {message}"):
                getattr(each, method)(of_kind(**new).graphs)


@pytest.mark.parametrize(
    ("features", "refused"),
    [
        (HashedFeatures("wl", 1, n_bits=8, use_edge_labels=False), False),
        (HashedFeatures("sp", 1, n_bits=8), False),
        (HashedFeatures("wl-edge", 1, n_bits=8, use_edge_labels=False), True),
    ],
)
def test_edge_labels_that_are_not_used_may_be_missing(features, refused, tmp_path):
    store = written(tmp_path, of_kind(), features=features)
    model = HashedLinearModel(n_epochs=1).fit(store)
    graphs = of_kind(edge_labels=False).graphs
    if refused:
        with pytest.raises(ValueError, match="with edge labels"):
            model.predict(graphs)
    else:
        assert (model.predict(graphs) == model.predict(of_kind().graphs)).all()


def test_edge_labels_are_ignored_if_the_fitted_graphs_have_none(tmp_path):
    model = HashedLinearModel(n_epochs=1).fit(written(tmp_path, of_kind(edge_labels=False)))
    expected = model.decision_function(of_kind(edge_labels=False).graphs)
    assert np.array_equal(model.decision_function(of_kind().graphs), expected)


def test_graphs_without_edges_are_of_either_kind(tmp_path):
    model = HashedLinearModel(n_epochs=1).fit(written(tmp_path, of_kind()))
    for directed in (False, True):
        alone = GraphBatch.from_edges(
            [[], []], n_nodes=[1, 0], node_labels=[["C"], []], directed=directed
        )
        assert len(model.predict(alone)) == 2
    empty = GraphBatch.from_edges([[]], n_nodes=[0])
    assert len(model.predict(empty)) == 1


class _Parts:
    """A substitute for a store with these targets, one list per part."""

    def __init__(self, *targets) -> None:
        self.path, self.n_parts = "store", len(targets)
        self.targets = [np.asarray(t) for t in targets]

    def part(self, number):
        y = self.targets[number]
        return None, HASHED.transform(paths([2] * len(y), ["C"] * len(y))), y


@pytest.mark.parametrize(
    ("parts", "classes", "members"),
    [
        (([0, 1], [1, 1]), [0, 1], [1, 3]),
        (([True], [False]), [False, True], [1, 1]),
        ((["b"], [], ["a", "long"]), ["a", "b", "long"], [1, 1, 1]),
    ],
)
def test_parts_are_one_target(parts, classes, members):
    store = _Parts(*parts)
    summary = summarize(store)
    assert summary.target.task == "classification"
    assert summary.target.classes.tolist() == classes
    assert summary.target.members().tolist() == members
    for number, y in enumerate(store.targets):
        assert summary.target.classes[summary.part(number)].tolist() == y.tolist()


def test_numbers_are_standardised_by_the_whole():
    rng = np.random.default_rng(0)
    parts = [1e6 + rng.normal(size=n) for n in (1, 50, 7)]
    summary = summarize(_Parts(*parts))
    assert summary.target.task == "regression"
    whole = np.concatenate([summary.part(number) for number in range(3)])
    np.testing.assert_allclose((whole.mean(), whole.std()), (0.0, 1.0), atol=1e-9)


def test_many_whole_numbers_are_real_ones():
    with pytest.warns(UserWarning, match="60 distinct whole numbers for 60 graphs"):
        assert summarize(_Parts(range(30), range(30, 60))).target.task == "regression"
    target = summarize(_Parts(range(30), range(30, 60)), "classification").target
    assert target.n_classes == 60


@pytest.mark.parametrize(
    ("parts", "task", "message"),
    [
        (([1.0, np.nan], [2.0]), "auto", "'store': .* infinite.* for 1 of 3 graphs, at position 1"),
        (([1, 1], [1]), "auto", "1 class"),
        (([0.5, 0.5],), "auto", "0.5 for all 2 graphs"),
        ((["a", "b"],), "regression", "needs numbers"),
        (([0.5, 1.0],), "classification", "not whole"),
        (([],), "auto", "has no graphs"),
        ((range(10_001),), "classification", "more than 10,000"),
    ],
)
def test_targets_that_teach_nothing(parts, task, message):
    with pytest.raises(ValueError, match=message):
        summarize(_Parts(*parts), task)


def test_other_refusals(tmp_path):
    store = FeatureStore.write(tmp_path / "plain", chemistry(20, "CN").graphs, HASHED)
    with pytest.raises(ValueError, match=r"has no targets \(part 0\).*--target"):
        HashedLinearModel().fit(store)
    store = written(tmp_path, chemistry(20, "CN"))
    with pytest.raises(TypeError, match="leave out y"):
        HashedLinearModel().fit(store, [1, 2])
    for wrong in ({"alpha": 0.0}, {"alpha": []}, {"held_out": 0.7}, {"n_epochs": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            HashedLinearModel(**wrong).fit(store)
    with pytest.raises(ValueError, match="is not a feature store"):
        HashedLinearModel().fit(tmp_path / "none")


def test_rows_scale_alike_in_any_blocks():
    X = HASHED.transform(paths([2, 5, 0, 3], "CNCO"))
    coef, intercept = np.random.default_rng(0).normal(size=(3, 256)), np.arange(3.0)
    for kind in (True, False):
        scaling = Scaling(kind, 0.25)
        whole = decisions_of(scaling(X), coef, intercept)
        rows = [decisions_of(scaling(X[i : i + 1]), coef, intercept) for i in range(4)]
        assert np.array_equal(whole, np.concatenate(rows))
        if kind:
            np.testing.assert_allclose(scaling(X).toarray(), normalize(X).toarray())
