"""Nearest neighbours; their search trees are rebuilt from the points (see `parts`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.checks import is_integer
from gramlet.persistence.schema import (
    Dims,
    Field,
    Schema,
    arrays,
    count,
    csr,
    either,
    flag,
    floats,
    instance,
    labels,
    list_of,
    nothing,
    one_of,
    optional,
    plain,
)

__all__ = ["NEIGHBOURS"]

_METRICS = (
    "euclidean",
    "l2",
    "sqeuclidean",
    "manhattan",
    "l1",
    "cityblock",
    "chebyshev",
    "minkowski",
    "cosine",
    "precomputed",
)
_NEIGHBOURS: dict[str, Field] = {
    "n_features_in_": count("p", least=1),
    "feature_names_in_": optional(labels("p")),
    "n_samples_fit_": count("n", least=1),
    "_fit_X": either(floats("n", "p"), csr("n", "p")),
    "_fit_method": one_of("brute", "kd_tree", "ball_tree"),
    "_tree": either(nothing(), instance("KDTree", "BallTree")),
    "effective_metric_": one_of(*_METRICS),
    "effective_metric_params_": plain(),
}


def _check_neighbours(model: Any, dims: Dims) -> None:
    trees = {"brute": "NoneType", "kd_tree": "KDTree", "ball_tree": "BallTree"}
    if type(model._tree).__name__ != trees[model._fit_method]:
        raise ValueError("the search tree is not of the type that the method of search needs.")
    if model._tree is not None:
        data = np.asarray(model._tree.data)
        fitted = model._fit_X
        if not isinstance(fitted, np.ndarray) or not np.array_equal(data, fitted):
            raise ValueError("the search tree is not one of the fitted points.")
    if not is_integer(model.n_neighbors) or model.n_neighbors > dims["n"]:
        raise ValueError("n_neighbors is larger than the number of fitted samples.")
    if model.effective_metric_ == "precomputed" and dims["n"] != dims["p"]:
        raise ValueError("a model on distances must have as many features as samples.")
    wanted = {"metric", "effective_metric_"}
    if len({getattr(model, name) == "precomputed" for name in wanted}) > 1:
        raise ValueError("metric and effective_metric_ do not agree.")
    params = model.effective_metric_params_
    if type(params) is not dict or not set(params) <= {"p", "w"} or params.get("w") is not None:
        raise ValueError("the metric has unknown parameters.")
    if model.metric_params is not None or callable(model.weights):
        raise ValueError("a custom metric or custom weights cannot be restored.")


def _check_classifier(model: Any, dims: Dims) -> None:
    _check_neighbours(model, dims)
    groups = model.classes_ if model.outputs_2d_ else [model.classes_]
    if type(groups) is not list or (model._y.ndim == 2) is not bool(model.outputs_2d_):
        raise ValueError("classes_ does not fit the number of outputs.")
    codes = model._y.reshape(len(model._y), -1)
    if codes.shape[1] != len(groups) or any(
        codes[:, i].max() >= len(classes) for i, classes in enumerate(groups)
    ):
        raise ValueError("_y has codes without a class.")


_WHERE = "sklearn.neighbors"
NEIGHBOURS = {
    f"{_WHERE}._classification:KNeighborsClassifier": Schema(
        {
            **_NEIGHBOURS,
            "outputs_2d_": flag(),
            "classes_": either(labels(), list_of(labels())),
            "_y": either(arrays("int64", "n", least=0), arrays("int64", "n", None, least=0)),
        },
        {"radius": nothing()},
        _check_classifier,
    ),
    f"{_WHERE}._regression:KNeighborsRegressor": Schema(
        {
            **_NEIGHBOURS,
            "_y": either(
                floats("n"), floats("n", None), arrays("int64", "n"), arrays("int64", "n", None)
            ),
        },
        {"radius": nothing()},
        _check_neighbours,
    ),
}
