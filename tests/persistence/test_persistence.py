"""Saving and loading: every saved model gives the same numbers when loaded."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectKBest, f_regression
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

import gramlet
from gramlet import GraphBatch
from gramlet.kernels import registry
from gramlet.persistence import files
from reference.strategies import with_molecules

N_NODES = 9


@pytest.fixture(scope="module")
def graphs() -> GraphBatch:
    """Rings and paths of nine nodes with all columns, valid for every kernel."""
    rng = np.random.default_rng(0)
    path = [(i, i + 1) for i in range(N_NODES - 1)]
    edges = [path + [(0, N_NODES - 1)] * int(rng.integers(2)) for _ in range(24)]
    batch = GraphBatch.from_edges(
        edges,
        node_labels=[rng.choice(["C", "N", "O"], N_NODES).tolist() for _ in edges],
        edge_labels=[rng.choice([1, 2], len(e)).tolist() for e in edges],
        edge_weights=[rng.uniform(0.5, 2, len(e)) for e in edges],
        node_attributes=[rng.normal(size=(N_NODES, 2)) for _ in edges],
    )
    return with_molecules(batch)


@pytest.fixture(scope="module")
def new_graphs() -> GraphBatch:
    """Graphs with labels that are unknown at fit."""
    rng = np.random.default_rng(1)
    edges = [[(i, i + 1) for i in range(N_NODES - 1)] for _ in range(6)]
    batch = GraphBatch.from_edges(
        edges,
        node_labels=[rng.choice(["C", "N", "S"], N_NODES).tolist() for _ in edges],
        edge_labels=[rng.choice([1, 3], len(e)).tolist() for e in edges],
        edge_weights=[rng.uniform(0.5, 2, len(e)) for e in edges],
        node_attributes=[rng.normal(size=(N_NODES, 2)) for _ in edges],
    )
    return with_molecules(batch)


@pytest.fixture(scope="module")
def classes() -> np.ndarray:
    return np.array(["red", "green", "blue"])[np.arange(24) % 3]


def again(model: Any, folder: Path) -> Any:
    """The model, saved and loaded."""
    gramlet.save(model, folder / "model.gramlet")
    return gramlet.load(folder / "model.gramlet")


def dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if sparse.issparse(matrix) else np.asarray(matrix)


@pytest.mark.parametrize("entry", registry.entries(), ids=lambda entry: entry.name)
def test_every_kernel_gives_the_same_bits(entry, graphs, new_graphs, classes, tmp_path):
    kernel = entry.make().fit(graphs, classes)
    loaded = again(kernel, tmp_path)
    assert type(loaded) is type(kernel)
    assert repr(loaded) == repr(kernel)
    assert sorted(vars(loaded)) == sorted(vars(kernel))
    for batch in (graphs, new_graphs):
        np.testing.assert_array_equal(
            dense(loaded.transform(batch)), dense(kernel.transform(batch))
        )
    if hasattr(kernel, "diagonal"):
        np.testing.assert_array_equal(loaded.diagonal(new_graphs), kernel.diagonal(new_graphs))
    if hasattr(kernel, "get_feature_names_out"):
        names = kernel.get_feature_names_out().tolist()
        assert loaded.get_feature_names_out().tolist() == names


@pytest.mark.parametrize("entry", registry.entries(), ids=lambda entry: entry.name)
def test_every_kernel_can_be_saved_unfitted_and_fitted_later(entry, graphs, classes, tmp_path):
    loaded = again(entry.make(), tmp_path)
    expected = entry.make().fit(graphs, classes).transform(graphs)
    np.testing.assert_array_equal(
        dense(loaded.fit(graphs, classes).transform(graphs)), dense(expected)
    )


CLASSIFIERS = {
    "svc": SVC(kernel="precomputed"),
    "svc-scaled": make_pipeline(StandardScaler(), SVC(C=3.0, class_weight="balanced")),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)),
    "linear-svc": LinearSVC(random_state=0),
    "one-vs-rest": OneVsRestClassifier(LinearSVC(random_state=0)),
    "sgd": SGDClassifier(random_state=0),
    "neighbours-precomputed": KNeighborsClassifier(3, metric="precomputed"),
    "neighbours-tree": KNeighborsClassifier(3, algorithm="kd_tree", leaf_size=2),
    "neighbours-ball": KNeighborsClassifier(3, algorithm="ball_tree", metric="minkowski", p=3),
    "forest": RandomForestClassifier(8, random_state=np.random.RandomState(3)),
    "boosting": GradientBoostingClassifier(n_estimators=4, random_state=0),
    "hist-boosting": HistGradientBoostingClassifier(max_iter=4, random_state=0),
    "network": MLPClassifier((4,), max_iter=20, random_state=0),
    "gaussian-process": GaussianProcessClassifier(RBF(3.0) + WhiteKernel(), optimizer=None),
    "select": make_pipeline(SelectKBest(k=5), LogisticRegression()),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.filterwarnings("ignore")
def test_pipelines_predict_the_same(name, graphs, new_graphs, classes, tmp_path):
    kernel = gramlet.WeisfeilerLehman(n_iter=2, normalize=True)
    model = make_pipeline(kernel, clone(CLASSIFIERS[name])).fit(graphs, classes)
    loaded = again(model, tmp_path)
    assert loaded.predict(new_graphs).tolist() == model.predict(new_graphs).tolist()
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            np.testing.assert_array_equal(
                getattr(loaded, method)(new_graphs), getattr(model, method)(new_graphs)
            )


@pytest.mark.parametrize("scoring", [None, "accuracy"])
def test_a_grid_search_is_saved_with_its_results(scoring, graphs, classes, tmp_path):
    search = GridSearchCV(
        make_pipeline(gramlet.WLOptimalAssignment(), SVC(kernel="precomputed")),
        {"wloptimalassignment__n_iter": [1, 2], "svc__C": [0.1, 1.0]},
        cv=StratifiedKFold(2),
        scoring=scoring,
    ).fit(graphs, classes)
    loaded = again(search, tmp_path)
    assert loaded.best_params_ == search.best_params_
    assert loaded.predict(graphs).tolist() == search.predict(graphs).tolist()
    assert loaded.score(graphs, classes) == search.score(graphs, classes)
    scores = loaded.cv_results_["param_svc__C"]
    assert scores.tolist() == search.cv_results_["param_svc__C"].tolist()


VALUES = {
    "nothing": None,
    "integers": [0, -1, 2**53, -(2**200), True, False],
    "floats": [0.1, -0.0, 1e-310, float("inf"), float("-inf"), 1.7976931348623157e308],
    "text": ["", "ü\n\0", "\ud800", "👍"],
    "bytes": b"\x00\xff",
    "complex": 1 - 2j,
    "collections": [(1, (2,)), {3, 4}, frozenset({"a"}), {1: "a", "1": "b", (1, None): {}}],
    "scalars": [np.float32(0.1), np.int8(-3), np.str_("ab"), np.bytes_(b"x"), np.bool_(True)],
    "dates": [np.datetime64("2020-02-02", "s"), np.timedelta64(3, "D")],
    "types": [np.dtype("<f4"), np.dtype(object), np.float64, np.int32, float, str, object],
    "empty arrays": [np.zeros((0, 3)), np.zeros(0, "U4"), np.zeros((2, 0), object)],
    "odd arrays": [np.arange(6.0).reshape(2, 3).T, np.arange(9)[::2], np.array(5), np.array(["x"])],
    "object arrays": np.array([[1, "a"], [None, (1, 2)]], dtype=object),
    "masked": np.ma.masked_array([1.0, 2.0], mask=[True, False], fill_value=7.0),
}


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        order = a.flags.f_contiguous == b.flags.f_contiguous or not a.flags.forc
        alike = type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and order
        return alike and all(map(same, a.ravel().tolist(), b.ravel().tolist()))
    if isinstance(a, list | tuple):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    return type(a) is type(b) and repr(a) == repr(b)


@pytest.mark.parametrize("name", VALUES)
def test_values_of_all_kinds_come_back(name, tmp_path):
    assert same(VALUES[name], again(VALUES[name], tmp_path))


def test_nan_comes_back(tmp_path):
    loaded = again([float("nan"), np.float64("nan"), np.array([np.nan])], tmp_path)
    assert all(np.isnan(value).all() for value in loaded)


@pytest.mark.parametrize("form", ["csr", "csc", "bsr", "coo", "dia"])
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_sparse_matrices_come_back(form, kind, tmp_path):
    cls = getattr(sparse, f"{form}_{kind}")
    matrix = cls(np.array([[0.0, 1.5, 0.0], [2.0, 0.0, 0.0]]))
    loaded = again(matrix, tmp_path)
    assert type(loaded) is cls
    np.testing.assert_array_equal(loaded.toarray(), matrix.toarray())


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_random_generators_go_on_where_they_were(kind, tmp_path):
    generator = np.random.Generator(getattr(np.random, kind)(7))
    generator.integers(5, size=3, dtype=np.int32)
    generator.spawn(1)
    loaded = again(generator, tmp_path)
    assert loaded.random(4).tolist() == generator.random(4).tolist()
    assert loaded.spawn(1)[0].random() == generator.spawn(1)[0].random()


def test_random_states_go_on_where_they_were(tmp_path):
    state = np.random.RandomState(5)
    state.normal(size=3)
    loaded = again(state, tmp_path)
    assert loaded.normal(size=4).tolist() == state.normal(size=4).tolist()


def test_batches_come_back(graphs, tmp_path):
    loaded = again(graphs, tmp_path)
    assert loaded == graphs
    assert loaded.node_labels.categories == graphs.node_labels.categories
    with pytest.raises(AttributeError, match="immutable"):
        loaded.indptr = None
    nothing = GraphBatch.from_edges([[], []], n_nodes=[0, 2])
    assert again(nothing, tmp_path) == nothing


def test_labels_of_any_kind_stay_apart(tmp_path):
    labels = [1, "1", (1,), None, 2.5, frozenset({1}), b"1"]
    batch = GraphBatch.from_edges([[(0, 1)]], node_labels=[labels])
    kernel = gramlet.VertexHistogram().fit(batch)
    loaded = again(kernel, tmp_path)
    assert loaded.transform(batch).tolist() == [[7.0]]
    assert loaded.get_feature_names_out().tolist() == kernel.get_feature_names_out().tolist()


def test_what_is_shared_is_stored_once_and_shared_again(tmp_path):
    array = np.random.default_rng(0).normal(size=2000)
    labels = ["a", "b"]
    gramlet.save([array], tmp_path / "one")
    loaded = again([array, array, {"x": array}, labels, labels], tmp_path)
    assert loaded[0] is loaded[1] is loaded[2]["x"]
    assert loaded[3] is loaded[4]
    assert (tmp_path / "model.gramlet").stat().st_size < 1.1 * (tmp_path / "one").stat().st_size


@pytest.mark.parametrize("kind", [list, tuple, dict])
def test_collections_that_contain_themselves_are_refused(kind, tmp_path):
    inner: list[Any] = []
    ring = {"inner": inner} if kind is dict else kind([inner])
    inner.append(ring)
    with pytest.raises(TypeError, match="contains itself"):
        gramlet.save(ring, tmp_path / "m")


def test_nesting_too_deep_is_refused_when_saving(tmp_path):
    nested: list[Any] = []
    for _ in range(500):
        nested = [nested]
    with pytest.raises(ValueError, match="nested more than"):
        gramlet.save(nested, tmp_path / "m")


def test_scores_of_scikit_learn_go_by_name(tmp_path):
    assert again({"function": f_regression}, tmp_path)["function"] is f_regression


class OwnTransformer(StandardScaler):
    """A class that is not part of gramlet."""


@pytest.mark.parametrize(
    ("part", "where", "what"),
    [
        (FunctionTransformer(np.log1p), r"\.steps\[0\]\[1\]\.func", "numpy"),
        (FunctionTransformer(lambda x: x), r"\.steps\[0\]\[1\]\.func", "<lambda>"),
        (FunctionTransformer(same), r"\.steps\[0\]\[1\]\.func", "same"),
        (FunctionTransformer(gramlet.load_dataset), r"\.steps\[0\]\[1\]\.func", "load_dataset"),
        (OwnTransformer(), r"\.steps\[0\]\[1\]", "OwnTransformer"),
    ],
)
def test_what_cannot_be_saved_is_named_with_its_place(part, where, what, tmp_path):
    model = make_pipeline(part, SVC())
    with pytest.raises(TypeError, match=f"Pipeline{where}.*{what}") as caught:
        gramlet.save(model, tmp_path / "m")
    assert "set it again after loading" in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_another_version_of_scikit_learn_gives_one_warning(graphs, classes, tmp_path, monkeypatch):
    here = files._libraries()
    model = make_pipeline(gramlet.WeisfeilerLehman(), SVC(kernel="precomputed"))
    monkeypatch.setattr(files, "_libraries", lambda: {**here, "scikit-learn": "1.2.3"})
    gramlet.save(model.fit(graphs, classes), tmp_path / "pipeline")
    gramlet.save(model[0], tmp_path / "kernel")
    monkeypatch.undo()
    with pytest.warns(UserWarning, match="1.2.3") as caught:
        gramlet.load(tmp_path / "pipeline")
    assert len(caught) == 1
    assert here["scikit-learn"] in str(caught[0].message)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():  # a kernel alone does not depend on scikit-learn's version
        warnings.simplefilter("error")
        gramlet.load(tmp_path / "kernel")


def test_another_version_of_gramlet_gives_a_warning(tmp_path, monkeypatch):
    here = files._libraries()
    monkeypatch.setattr(files, "_libraries", lambda: {**here, "gramlet": "0.0.0.dev0"})
    gramlet.save(gramlet.VertexHistogram(), tmp_path / "kernel")
    monkeypatch.undo()
    with pytest.warns(UserWarning, match=r"0\.0\.0\.dev0"):
        gramlet.load(tmp_path / "kernel")
