"""Every class of scikit-learn on the list can be saved when fitted and gives the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import (
    calibration,
    compose,
    decomposition,
    dummy,
    ensemble,
    feature_selection,
    gaussian_process,
    kernel_approximation,
    kernel_ridge,
    linear_model,
    model_selection,
    multiclass,
    neighbors,
    neural_network,
    pipeline,
    preprocessing,
    svm,
    tree,
)
from sklearn.gaussian_process import kernels as gp

import gramlet
from gramlet.persistence.container import read_container
from gramlet.persistence.sklearn_models import SCHEMAS

RNG = np.random.default_rng(0)
X = RNG.random((12, 4))
CLASSES, TWO, TARGETS = np.arange(12) % 3, np.arange(12) % 2, RNG.random(12)
BOTH = np.column_stack([TARGETS, TARGETS[::-1]])
GRAM = X @ X.T
SPARSE = sparse.csr_matrix(X)
_ALL_KERNELS = (
    gp.ConstantKernel() * gp.Matern()
    + gp.RationalQuadratic()
    + gp.DotProduct()
    + gp.ExpSineSquared()
    + gp.RBF(np.ones(4)) ** 2
    + gp.WhiteKernel()
)

FITS: dict[str, tuple[Any, Any, Any]] = {
    "svc": (svm.SVC(), X, CLASSES),
    "svc-text": (svm.SVC(), X, np.array(["a", "b", "c"])[CLASSES]),
    "svc-gram": (svm.SVC(kernel="precomputed", class_weight="balanced"), GRAM, TWO),
    "svc-sparse": (svm.SVC(), SPARSE, CLASSES),
    "nu-svc": (svm.NuSVC(nu=0.1), X, CLASSES),
    "svr": (svm.SVR(), X, TARGETS),
    "svr-sparse": (svm.SVR(), SPARSE, TARGETS),
    "nu-svr": (svm.NuSVR(kernel="precomputed"), GRAM, TARGETS),
    "one-class": (svm.OneClassSVM(), X, None),
    "linear-svc": (svm.LinearSVC(), X, CLASSES),
    "linear-svr": (svm.LinearSVR(), X, TARGETS),
    "logistic": (linear_model.LogisticRegression(), X, CLASSES),
    "logistic-sparse": (linear_model.LogisticRegression(), SPARSE, TWO),
    "ridge-classifier": (linear_model.RidgeClassifier(), X, CLASSES),
    "ridge-classifier-cv": (linear_model.RidgeClassifierCV(), X, CLASSES),
    "sgd": (linear_model.SGDClassifier(random_state=0), X, CLASSES),
    "sgd-average": (linear_model.SGDClassifier(average=True, random_state=0), X, TWO),
    "sgd-log": (linear_model.SGDClassifier(loss="log_loss", random_state=0), X, TWO),
    "sgd-regressor": (linear_model.SGDRegressor(random_state=0), X, TARGETS),
    "perceptron": (linear_model.Perceptron(), X, CLASSES),
    "ridge": (linear_model.Ridge(), X, BOTH),
    "ridge-cv": (linear_model.RidgeCV(store_cv_results=True), X, TARGETS),
    "least-squares": (linear_model.LinearRegression(), X, BOTH),
    "lasso": (linear_model.Lasso(0.01), X, TARGETS),
    "elastic-net": (linear_model.ElasticNet(0.01), X, TARGETS),
    "lasso-cv": (linear_model.LassoCV(cv=2), X, TARGETS),
    "elastic-net-cv": (linear_model.ElasticNetCV(cv=2), X, TARGETS),
    "huber": (linear_model.HuberRegressor(), X, TARGETS),
    "kernel-ridge": (kernel_ridge.KernelRidge(kernel="rbf"), X, BOTH),
    "standard": (preprocessing.StandardScaler(), X, None),
    "standard-sparse": (preprocessing.StandardScaler(with_mean=False), SPARSE, None),
    "min-max": (preprocessing.MinMaxScaler(), X, None),
    "max-abs": (preprocessing.MaxAbsScaler(), X, None),
    "robust": (preprocessing.RobustScaler(), X, None),
    "normalizer": (preprocessing.Normalizer(), X, None),
    "binarizer": (preprocessing.Binarizer(), X, None),
    "function": (preprocessing.FunctionTransformer(), X, None),
    "centerer": (preprocessing.KernelCenterer(), GRAM, None),
    "label-encoder": (preprocessing.LabelEncoder(), CLASSES, None),
    "label-binarizer": (preprocessing.LabelBinarizer(), CLASSES, None),
    "pca": (decomposition.PCA(2, whiten=True), X, None),
    "truncated": (decomposition.TruncatedSVD(2, random_state=0), SPARSE, None),
    "kernel-pca": (decomposition.KernelPCA(2, kernel="rbf", fit_inverse_transform=True), X, None),
    "nystroem": (kernel_approximation.Nystroem(n_components=3, random_state=0), X, None),
    "variance": (feature_selection.VarianceThreshold(), X, None),
    "select": (feature_selection.SelectKBest(feature_selection.chi2, k=2), X, CLASSES),
    "select-share": (feature_selection.SelectPercentile(), X, CLASSES),
    "neighbours": (neighbors.KNeighborsClassifier(3, weights="distance"), X, CLASSES),
    "neighbours-cosine": (neighbors.KNeighborsClassifier(3, metric="cosine"), X, CLASSES),
    "neighbours-regressor": (neighbors.KNeighborsRegressor(3), X, BOTH),
    "tree": (tree.DecisionTreeClassifier(), X, np.column_stack([CLASSES, TWO])),
    "tree-regressor": (tree.DecisionTreeRegressor(), X, TARGETS),
    "extra-tree": (tree.ExtraTreeClassifier(), X, CLASSES),
    "extra-tree-regressor": (tree.ExtraTreeRegressor(), X, TARGETS),
    "forest": (ensemble.RandomForestClassifier(3, oob_score=True), X, CLASSES),
    "forest-regressor": (ensemble.RandomForestRegressor(3), X, BOTH),
    "extra-trees": (ensemble.ExtraTreesClassifier(3), X, CLASSES),
    "extra-trees-regressor": (ensemble.ExtraTreesRegressor(3), X, TARGETS),
    "boosting": (ensemble.GradientBoostingClassifier(n_estimators=2), X, CLASSES),
    "boosting-two": (ensemble.GradientBoostingClassifier(n_estimators=2), X, TWO),
    "boosting-regressor": (ensemble.GradientBoostingRegressor(n_estimators=2), X, TARGETS),
    "histogram": (
        ensemble.HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2),
        X,
        CLASSES,
    ),
    "histogram-regressor": (
        ensemble.HistGradientBoostingRegressor(max_iter=2, min_samples_leaf=2),
        X,
        TARGETS,
    ),
    "network": (neural_network.MLPClassifier((3,), max_iter=3, solver="sgd"), X, CLASSES),
    "network-lbfgs": (neural_network.MLPClassifier((3,), max_iter=3, solver="lbfgs"), X, TWO),
    "network-regressor": (
        neural_network.MLPRegressor(hidden_layer_sizes=(3,), max_iter=3, early_stopping=True),
        X,
        TARGETS,
    ),
    "gp": (gaussian_process.GaussianProcessRegressor(_ALL_KERNELS, optimizer=None), X, BOTH),
    "gp-classifier": (gaussian_process.GaussianProcessClassifier(gp.RBF()), X, TWO),
    "gp-pairs": (
        gaussian_process.GaussianProcessClassifier(gp.RBF(), multi_class="one_vs_one"),
        X,
        CLASSES,
    ),
    "dummy": (dummy.DummyClassifier(), X, CLASSES),
    "dummy-regressor": (dummy.DummyRegressor(), X, TARGETS),
    "one-vs-rest": (multiclass.OneVsRestClassifier(svm.LinearSVC()), X, CLASSES),
    "one-vs-one": (multiclass.OneVsOneClassifier(svm.LinearSVC()), X, CLASSES),
    "calibrated": (calibration.CalibratedClassifierCV(svm.LinearSVC(), cv=2), X, CLASSES),
    "target": (
        compose.TransformedTargetRegressor(
            linear_model.Ridge(), transformer=preprocessing.StandardScaler()
        ),
        X,
        TARGETS,
    ),
    "union": (
        pipeline.make_pipeline(
            pipeline.FeatureUnion([("a", decomposition.PCA(1)), ("b", "passthrough")]),
            linear_model.LogisticRegression(),
        ),
        X,
        CLASSES,
    ),
    "search": (
        model_selection.GridSearchCV(
            pipeline.make_pipeline(preprocessing.StandardScaler(), svm.SVC()),
            {"svc__C": [1.0, 2.0]},
            cv=model_selection.StratifiedShuffleSplit(2, test_size=0.5, random_state=0),
        ),
        X,
        CLASSES,
    ),
    "random-search": (
        model_selection.RandomizedSearchCV(
            svm.SVC(),
            {"C": [1.0, 2.0]},
            n_iter=2,
            cv=model_selection.StratifiedKFold(2),
            scoring=["accuracy", "f1_macro"],
            refit="accuracy",
        ),
        X,
        CLASSES,
    ),
}


@pytest.mark.parametrize("name", FITS)
@pytest.mark.filterwarnings("ignore")
def test_fitted_estimators_give_the_same_numbers(name, tmp_path):
    model, data, y = FITS[name]
    model = model.fit(data) if y is None else model.fit(data, y)
    gramlet.save(model, tmp_path / "m")
    loaded = gramlet.load(tmp_path / "m")
    assert type(loaded) is type(model)
    assert sorted(vars(loaded)) == sorted(vars(model))
    for method in ("predict", "transform", "decision_function"):
        if hasattr(model, method):
            before, after = (getattr(each, method)(data) for each in (model, loaded))
            if sparse.issparse(before):
                before, after = before.toarray(), after.toarray()
            if np.asarray(before).dtype.kind == "f":
                np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-12)
            else:
                assert np.array_equal(before, after)


@pytest.mark.filterwarnings("ignore")
def test_every_class_on_the_list_is_in_one_of_them(tmp_path):
    seen: set[str] = set()
    splitters = [
        model_selection.KFold(),
        model_selection.GroupKFold(),
        model_selection.LeaveOneOut(),
        model_selection.ShuffleSplit(),
    ]
    networks = [neural_network.MLPClassifier((2,), max_iter=2).fit(X, TWO)]
    models = [
        model.fit(data, y) if y is not None else model.fit(data) for model, data, y in FITS.values()
    ]
    for model in (*models, *splitters, *networks):
        gramlet.save(model, tmp_path / "m")
        waiting = [read_container(tmp_path / "m")[0]["model"]]
        for node in waiting:
            if isinstance(node, dict):
                seen.add(str(node.get("object")))
                waiting.extend(node.values())
            elif isinstance(node, list):
                waiting.extend(node)
    assert set(SCHEMAS) <= seen


@pytest.mark.parametrize("kernel", ["wl", "sp", "vertex"])
@pytest.mark.parametrize(
    ("make", "last"),
    [
        (lambda k: gramlet.GraphNystroem(k, n_components=5, random_state=0), svm.SVC()),
        (lambda k: gramlet.KernelMap(k, n_components=3), linear_model.LogisticRegression()),
        (gramlet.KernelDistance, neighbors.KNeighborsClassifier(3, metric="precomputed")),
        (
            lambda k: gramlet.GraphNeighbors(k, 5),
            neighbors.KNeighborsClassifier(3, metric="precomputed"),
        ),
        (gramlet.FeatureMap, linear_model.LogisticRegression(max_iter=500)),
    ],
)
def test_pipelines_that_begin_with_a_map_of_a_kernel(kernel, make, last, tmp_path):
    mutag = gramlet.load_dataset("MUTAG")
    from gramlet.kernels.registry import get

    first = make(get(kernel).make())
    model = pipeline.make_pipeline(first, last).fit(mutag.graphs[:40], mutag.target[:40])
    gramlet.save(model, tmp_path / "m.gramlet")
    again = gramlet.load(tmp_path / "m.gramlet")
    new = mutag.graphs[40:60]
    assert np.array_equal(again.predict(new), model.predict(new))
