"""Saving and loading: every saved model gives the same numbers; what cannot be saved is named."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import (
    decomposition,
    gaussian_process,
    linear_model,
    multiclass,
    neighbors,
    preprocessing,
    svm,
)
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import gramlet
from gramlet import GraphBatch
from gramlet.kernels import registry
from gramlet.kernels.contract.count_kernel import CountKernel
from gramlet.persistence import files
from gramlet.persistence.container import read_container
from gramlet.persistence.sklearn_models import MODELS
from persistence.mutants import DIRECTED, FITTED, NEW, NEW_ARCS, models

RNG = np.random.default_rng(0)
X = RNG.random((12, 4))
CLASSES, TWO, TARGETS = np.arange(12) % 3, np.arange(12) % 2, RNG.random(12)
BOTH = np.column_stack([TARGETS, TARGETS[::-1]])
GRAM = X @ X.T
SPARSE = sparse.csr_matrix(X)


def again(model: Any, folder: Path) -> Any:
    """The model, saved and loaded."""
    gramlet.save(model, folder / "model.gramlet")
    return gramlet.load(folder / "model.gramlet")


def same_answers(model: Any, loaded: Any, data: Any, rtol: float = 0.0) -> None:
    """Check that a model gives the same numbers when loaded."""
    assert type(loaded) is type(model)
    assert repr(loaded) == repr(model)
    for method in ("transform", "predict", "decision_function", "predict_proba", "diagonal"):
        if hasattr(model, method):
            before, after = (getattr(each, method)(data) for each in (model, loaded))
            if sparse.issparse(before):
                before, after = before.toarray(), after.toarray()
            if np.asarray(before).dtype.kind == "f":
                np.testing.assert_allclose(after, before, rtol, rtol)
            else:
                np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("name", models())
@pytest.mark.filterwarnings("ignore")
def test_every_model_gives_the_same_bits(name, tmp_path):
    model = models()[name]()
    loaded = again(model, tmp_path)
    same_answers(model, loaded, NEW_ARCS if name in DIRECTED else NEW)
    if isinstance(model, CountKernel) and hasattr(model, "get_feature_names_out"):
        names = model.get_feature_names_out().tolist()
        assert loaded.get_feature_names_out().tolist() == names


@pytest.mark.parametrize("entry", registry.entries(), ids=lambda entry: entry.name)
def test_every_kernel_can_be_saved_unfitted(entry, tmp_path):
    kernel = entry.make()
    loaded = again(kernel, tmp_path)
    assert repr(loaded) == repr(kernel)
    assert vars(loaded).keys() == vars(kernel).keys()


FITS: dict[str, tuple[Any, Any, Any]] = {
    "svc": (svm.SVC(), X, CLASSES),
    "svc-text": (svm.SVC(), X, np.array(["a", "b", "c"], dtype=object)[CLASSES]),
    "svc-gram": (svm.SVC(kernel="precomputed", class_weight="balanced"), GRAM, TWO),
    "svc-sparse": (svm.SVC(), SPARSE, CLASSES),
    "svr": (svm.SVR(), X, TARGETS),
    "svr-sparse": (svm.SVR(), SPARSE, TARGETS),
    "linear-svc": (svm.LinearSVC(), X, CLASSES),
    "logistic": (linear_model.LogisticRegression(), SPARSE, TWO),
    "ridge": (linear_model.Ridge(), X, BOTH),
    "ridge-classifier": (linear_model.RidgeClassifier(), X, CLASSES),
    "sgd": (linear_model.SGDClassifier(random_state=0), X, CLASSES),
    "sgd-average": (linear_model.SGDClassifier(average=True, random_state=0), X, TWO),
    "sgd-regressor": (linear_model.SGDRegressor(random_state=0), X, TARGETS),
    "kernel-ridge": (KernelRidge(kernel="rbf"), X, BOTH),
    "standard": (preprocessing.StandardScaler(), X, None),
    "standard-sparse": (preprocessing.StandardScaler(with_mean=False), SPARSE, None),
    "normalizer": (preprocessing.Normalizer(), X, None),
    "centerer": (preprocessing.KernelCenterer(), GRAM, None),
    "binarizer": (preprocessing.LabelBinarizer(), CLASSES, None),
    "kernel-pca": (decomposition.KernelPCA(2, kernel="precomputed"), GRAM, None),
    "neighbours": (neighbors.KNeighborsClassifier(3, weights="distance"), X, CLASSES),
    "neighbours-text": (
        neighbors.KNeighborsClassifier(3),
        SPARSE,
        np.array(["a", "b", "c"])[CLASSES],
    ),
    "neighbours-ball": (neighbors.KNeighborsClassifier(3, algorithm="ball_tree", p=1), X, TWO),
    "neighbours-regressor": (neighbors.KNeighborsRegressor(3), X, BOTH),
    "process": (
        gaussian_process.GaussianProcessRegressor(
            ConstantKernel() * WhiteKernel() + WhiteKernel(), optimizer=None, normalize_y=True
        ),
        X,
        TARGETS,
    ),
    "one-vs-rest": (multiclass.OneVsRestClassifier(svm.LinearSVC()), X, CLASSES),
    "target": (
        TransformedTargetRegressor(
            linear_model.Ridge(), transformer=preprocessing.StandardScaler()
        ),
        X,
        TARGETS,
    ),
    "pipeline": (make_pipeline(preprocessing.StandardScaler(), svm.SVC()), X, CLASSES),
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore")
def test_estimators_of_scikit_learn_give_the_same_numbers(name, tmp_path):
    model, data, y = FITS[name]
    assert repr(again(model, tmp_path)) == repr(model)
    model = model.fit(data) if y is None else model.fit(data, y)
    same_answers(model, again(model, tmp_path), data, 1e-12)
    # Loaded models can be fitted again.
    loaded = again(model, tmp_path)
    same_answers(model, loaded.fit(data) if y is None else loaded.fit(data, y), data, 1e-12)


@pytest.mark.filterwarnings("ignore")
def test_every_class_of_the_table_is_tried(tmp_path):
    seen: set[str] = set()
    for model, data, y in FITS.values():
        gramlet.save(model.fit(data) if y is None else model.fit(data, y), tmp_path / "m")
        waiting = [read_container(tmp_path / "m")[0]["model"]]
        for node in waiting:
            if isinstance(node, dict):
                seen.add(str(node.get("class")))
                waiting.extend(node.values())
            elif isinstance(node, list):
                waiting.extend(node)
    assert {f"sklearn:{cls.__name__}" for cls in MODELS} <= seen


VALUES = {
    "nothing": None,
    "integers": [0, -1, 2**53, -(2**200), True, False],
    "floats": [0.1, -0.0, 1e-310, float("inf"), float("-inf"), float("nan"), 1.797e308],
    "text": ["", "ü\n\0", "\ud800", "👍", "[" * 5000, '"]}\\'],
    "bytes": b"\x00\xff",
    "collections": [(1, (2,)), {3, 4}, frozenset({"a"}), {1: "a", "1": "b", (1, None): {}}],
    "scalars": [np.float32(0.1), np.int8(-3), np.str_("ab"), np.bytes_(b"x"), np.bool_(True)],
    "empty arrays": [np.zeros((0, 3)), np.zeros(0, "U4"), np.zeros((3, 0))],
    "odd arrays": [np.arange(6.0).reshape(2, 3).T, np.arange(9)[::2], np.array(5), np.array(["x"])],
    "object arrays": np.array(["a", None, 1], dtype=object),
    "sparse": [SPARSE, sparse.csr_array(X), sparse.csr_matrix((2, 0))],
}


def same(a: Any, b: Any) -> bool:
    if sparse.issparse(a):
        return type(a) is type(b) and a.dtype == b.dtype and same(a.toarray(), b.toarray())
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


def test_batches_come_back(tmp_path):
    loaded = again(FITTED, tmp_path)
    assert loaded == FITTED
    with pytest.raises(AttributeError, match="immutable"):
        loaded.indptr = None
    nothing = GraphBatch.from_edges([[], []], n_nodes=[0, 2])
    assert again(nothing, tmp_path) == nothing


def test_labels_of_any_kind_stay_apart(tmp_path):
    labels = [1, "1", (1,), None, 2.5, frozenset({1}), b"1"]
    batch = GraphBatch.from_edges([[(0, 1)]], node_labels=[labels])
    kernel = gramlet.VertexHistogram().fit(batch)
    assert again(kernel, tmp_path).transform(batch).tolist() == [[7.0]]


def test_what_is_shared_is_stored_once_and_shared_again(tmp_path):
    array, kernel = RNG.normal(size=2000), gramlet.VertexHistogram()
    gramlet.save([array], tmp_path / "one")
    loaded = again([array, array, {"x": array}, kernel, (kernel,)], tmp_path)
    assert loaded[0] is loaded[1] is loaded[2]["x"]
    assert loaded[3] is loaded[4][0]
    assert (tmp_path / "model.gramlet").stat().st_size < 1.1 * (tmp_path / "one").stat().st_size


class OwnTransformer(preprocessing.StandardScaler):
    """A class that is not part of gramlet."""


def ring() -> Any:
    kernel = gramlet.KernelSum([gramlet.VertexHistogram()])
    kernel.kernels.append(kernel)
    return kernel


def nested() -> Any:
    inner: list[Any] = []
    inner.append(inner)
    return inner


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (lambda: RandomForestClassifier(), "RandomForestClassifier.*SVR.*joblib or skops"),
        (lambda: OwnTransformer(), "OwnTransformer.*joblib or skops"),
        (lambda: GridSearchCV(svm.SVC(), {"C": [1]}), "GridSearchCV.*best_estimator_"),
        (lambda: svm.SVC(kernel=np.dot), r"steps\[1\]\[1\]\.kernel: it is a function"),
        (lambda: svm.SVC(random_state=np.random.RandomState(0)), "random_state as an integer"),
        (
            lambda: gaussian_process.GaussianProcessRegressor(RBF()),
            r"steps\[1\]\[1\]\.kernel.*RBF",
        ),
        (lambda: gramlet.OpticalMap(5, device=print), r"\.device: it is a function"),
        (
            lambda: neighbors.KNeighborsClassifier(2).fit(X, np.column_stack([TWO, TWO])),
            "several targets",
        ),
        (lambda: svm.SVC(C=-1.0), "'C' parameter of SVC"),
        (ring, "contains itself"),
        (nested, "nested more than 80 levels"),
        (lambda: 2**4200, "4096 bits"),
        (lambda: np.array(["2020-01-01"], "M8[D]"), "array of type datetime64"),
    ],
)
def test_what_cannot_be_saved_is_named_with_its_place_and_the_way_out(part, message, tmp_path):
    model = make_pipeline(gramlet.VertexHistogram(), "passthrough")
    model.steps[1] = ("part", part())
    gramlet.save(1, tmp_path / "m")
    with pytest.raises((TypeError, ValueError), match=f"cannot save Pipeline.*{message}|{message}"):
        gramlet.save(model, tmp_path / "m")
    assert gramlet.load(tmp_path / "m") == 1


def test_what_cannot_be_loaded_is_not_saved(tmp_path):
    model = svm.SVC(kernel="precomputed").fit(np.eye(4), [0, 1, 0, 1])
    model.support_ = model.support_ + 100
    with pytest.raises(TypeError, match="support_"):
        gramlet.save(model, tmp_path / "m")


def test_another_version_gives_one_warning(tmp_path, monkeypatch):
    here = files._libraries()
    model = make_pipeline(gramlet.WeisfeilerLehman(), svm.SVC(kernel="precomputed"))
    for library in ("scikit-learn", "gramlet"):
        monkeypatch.setattr(files, "_libraries", lambda name=library: {**here, name: "1.2.3"})
        gramlet.save(model, tmp_path / "pipeline")
        gramlet.save(model[0], tmp_path / "kernel")
        monkeypatch.setattr(files, "_libraries", lambda: here)
        with pytest.warns(UserWarning, match=f"{library} 1.2.3.*{here[library]}") as caught:
            gramlet.load(tmp_path / "pipeline")
        assert len(caught) == 1
        assert caught[0].filename == __file__
        with warnings.catch_warnings(record=True) as of_kernel:
            warnings.simplefilter("always")
            gramlet.load(tmp_path / "kernel")  # a kernel alone does not depend on scikit-learn
        assert len(of_kernel) == (library == "gramlet")
