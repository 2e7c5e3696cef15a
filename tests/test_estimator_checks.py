"""scikit-learn's own checks of estimators, for every public estimator.

Checks of the estimator itself (parameters, cloning, representation, tags) run unchanged. Checks
that create a matrix of numbers get as many graphs as the matrix has rows. Checks that need columns
of numbers (NaN, sparse input, feature names of columns) do not apply to graphs and are omitted.
"""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils import estimator_checks, get_tags

import gramlet
from gramlet.kernels import registry
from reference.examples import random_graphs
from reference.strategies import with_molecules

# Arguments of the estimators that cannot be created without.
MADE = {
    "FeatureMap": lambda: gramlet.FeatureMap(gramlet.VertexHistogram()),
    "RConvolution": lambda: gramlet.RConvolution(sizes, [equal]),
    "KernelSum": lambda: gramlet.KernelSum(two_kernels(), [0.5, 2.0]),
    "EmbeddingKernel": lambda: gramlet.EmbeddingKernel(gramlet.LocalDegreeProfile()),
    "KernelProduct": lambda: gramlet.KernelProduct(two_kernels()),
    "AlignedKernelSum": lambda: gramlet.AlignedKernelSum(two_kernels()),
    "KernelDistance": lambda: gramlet.KernelDistance(gramlet.VertexHistogram()),
    "GraphNystroem": lambda: gramlet.GraphNystroem("vertex", 5, random_state=0),
}
OF_THE_ESTIMATOR = (
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_mixin_order",
    "check_valid_tag_types",
    "check_estimator_tags_renamed",
)
WITH_GRAPHS = (
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_estimators_pickle",
    "check_pipeline_consistency",
)


def two_kernels():
    return [gramlet.VertexHistogram(normalize=True), gramlet.WeisfeilerLehman(n_iter=1)]


def sizes(graph):
    """The decomposition for `RConvolution`: the number of nodes."""
    return [(graph.n_nodes_total,)]


def equal(a, b):
    return float(a == b)


def public_estimators() -> dict[str, BaseEstimator]:
    """Every public class that is an estimator, with its defaults."""
    found = {}
    for name in gramlet.__all__:
        value = getattr(gramlet, name)
        if inspect.isclass(value) and issubclass(value, BaseEstimator):
            found[name] = MADE.get(name, value)()
    return found


PUBLIC = public_estimators()
# The first row of each class; all rows pass the tests of the registry.
ROWS = {entry.class_name: entry for entry in reversed(registry.entries())}
COMBINED = {
    "FeatureMap": PUBLIC["FeatureMap"],
    "KernelMap": gramlet.KernelMap("vertex", n_components=2),
    "RConvolution": PUBLIC["RConvolution"],
    **{
        name: PUBLIC[name]
        for name in (
            "KernelSum",
            "EmbeddingKernel",
            "KernelProduct",
            "AlignedKernelSum",
            "KernelDistance",
            "GraphNystroem",
            "GraphNeighbors",
        )
    },
    "GraphClassifier": gramlet.GraphClassifier("vertex", cv=2, C=1.0),
    "GraphRegressor": gramlet.GraphRegressor("vertex"),
}


def check_named(name: str):
    """A check of scikit-learn by its name; skipped if this version does not have it."""
    check = getattr(estimator_checks, name, None)
    if check is None:
        pytest.skip(f"this scikit-learn has no {name}")
    return check


@pytest.fixture
def graphs_for_numbers(monkeypatch):
    """Make the checks of scikit-learn fit graphs instead of the matrices they create."""
    graphs = with_molecules(random_graphs(0, n_graphs=40))
    if not hasattr(estimator_checks, "_enforce_estimator_tags_X"):
        pytest.skip("this scikit-learn makes the input of its checks in another way")

    def instead(estimator, X, *args, **kwargs):
        return graphs[np.arange(len(X)) % len(graphs)]

    monkeypatch.setattr(estimator_checks, "_enforce_estimator_tags_X", instead)


@pytest.mark.parametrize("check", OF_THE_ESTIMATOR)
@pytest.mark.parametrize("name", PUBLIC)
def test_the_estimator_itself(name, check):
    check_named(check)(name, PUBLIC[name])


@pytest.mark.parametrize("name", PUBLIC)
def test_an_unfitted_transformer_says_so(name):
    if hasattr(PUBLIC[name], "transform") and get_tags(PUBLIC[name]).requires_fit:
        check_named("check_transformers_unfitted")(name, PUBLIC[name])


@pytest.mark.parametrize("check", WITH_GRAPHS)
@pytest.mark.parametrize("name", [*{**ROWS, **COMBINED}])
def test_with_graphs(name, check, graphs_for_numbers):
    if name in ("MolecularDescriptors", "MorganKernel"):
        pytest.importorskip("rdkit", reason="molecules are read by RDKit")
    estimator = ROWS[name].make() if name in ROWS else COMBINED[name]
    check_named(check)(name, estimator)


@pytest.mark.parametrize("name", ROWS)
def test_missing_classes_are_named(name, graphs_for_numbers):
    if not get_tags(ROWS[name].make()).target_tags.required:
        pytest.skip("learns without classes")
    check_named("check_requires_y_none")(name, ROWS[name].make())


def test_the_checks_notice_a_wrong_estimator(graphs_for_numbers):
    """The checks above can fail: an estimator whose fit depends on earlier fits."""

    class Restless(TransformerMixin, BaseEstimator):
        def __init__(self, scale=1.0):
            self.scale = scale

        def fit(self, X, y=None):
            self.drift_ = getattr(self, "drift_", 0) + 1
            return self

        def transform(self, X):
            return np.full((len(X), 1), float(self.drift_))

    with pytest.raises(AssertionError, match="Idempotency"):
        estimator_checks.check_fit_idempotent("Restless", Restless())


@pytest.mark.parametrize("name", PUBLIC)
def test_unfitted_estimators_pickle(name):
    again = pickle.loads(pickle.dumps(PUBLIC[name]))
    assert repr(again) == repr(clone(PUBLIC[name]))
