"""Linear models and kernel ridge regression: coefficients, one row per class or target."""

from __future__ import annotations

from typing import Any

from gramlet.persistence.schema import (
    Dims,
    Field,
    Schema,
    count,
    csr,
    either,
    exactly,
    flag,
    floats,
    instance,
    ints,
    labels,
    nothing,
    optional,
    plain,
    real,
)

__all__ = ["LINEAR_MODELS"]

Fields = dict[str, Field]

_FEATURES: dict[str, Field] = {
    "n_features_in_": count("p", least=1),
    "feature_names_in_": optional(labels("p")),
}
_SOLUTION: dict[str, Field] = {
    "n_iter_": optional(either(nothing(), count(), ints(None))),
    "solver_": optional(plain()),
}
_CLASSIFIER: dict[str, Field] = {
    **_FEATURES,
    **_SOLUTION,
    "classes_": labels("classes"),
    "coef_": floats("rows", "p"),
    "intercept_": either(floats("rows"), real()),
}
_REGRESSOR: dict[str, Field] = {
    **_FEATURES,
    **_SOLUTION,
    "coef_": either(floats("p"), floats("targets", "p")),
    "intercept_": either(real(), floats("targets"), floats(1)),
}


def _check_classifier(model: Any, dims: Dims) -> None:
    n_classes = len(model.classes_)  # a property of some models in some versions
    wanted = 1 if n_classes == 2 else n_classes
    if n_classes < 2 or dims["rows"] != wanted:
        raise ValueError(f"{n_classes} classes do not fit {dims['rows']} rows of coefficients.")


def _classifier(more: Fields | None = None, always: Fields | None = None) -> Schema:
    return Schema({**_CLASSIFIER, **(more or {})}, always or {}, _check_classifier)


def _regressor(more: Fields | None = None, always: Fields | None = None) -> Schema:
    return Schema({**_REGRESSOR, **(more or {})}, always or {})


_BINARIZER = instance("LabelBinarizer")
_RIDGE_CLASSES: Fields = {
    "_label_binarizer": _BINARIZER,
    "classes_": optional(labels("classes")),
}
_STORED: Fields = {"_store_cv_results": optional(flag())}
_GRADIENT_LOSS = instance(
    "Hinge",
    "SquaredHinge",
    "CyHalfBinomialLoss",
    "ModifiedHuber",
    "CyHalfSquaredError",
    "CyHuberLoss",
    "EpsilonInsensitive",
    "SquaredEpsilonInsensitive",
    "Log",
)
_COST: Fields = {"C": optional(real())}
_STEPS: dict[str, Field] = {
    "t_": real(least=0.0),
    "_expanded_class_weight": floats("classes"),
    "_loss_function_": optional(_GRADIENT_LOSS),
    "loss_function_": optional(_GRADIENT_LOSS),
}
_AVERAGES: dict[str, Field] = {
    name: optional(either(nothing(), floats(None), floats(None, None)))
    for name in (
        "_average_coef",
        "_average_intercept",
        "_standard_coef",
        "_standard_intercept",
        "average_coef_",
        "average_intercept_",
        "standard_coef_",
        "standard_intercept_",
    )
}
_SCORE: dict[str, Field] = {"alpha_": either(real(), floats(None)), "best_score_": plain()}
_RIDGE_CV: dict[str, Field] = {
    **_SCORE,
    "cv_results_": optional(plain()),
}


def _check_kernel_ridge(model: Any, dims: Dims) -> None:
    if not isinstance(model.kernel, str):
        raise ValueError("a kernel function of its own cannot be restored.")
    if model.kernel == "precomputed" and dims["n"] != dims["p"]:
        raise ValueError("a model on a Gram matrix must have as many features as samples.")


_RIDGE = "sklearn.linear_model._ridge"
_DESCENT = "sklearn.linear_model._coordinate_descent"
_GRADIENT = "sklearn.linear_model._stochastic_gradient"
_PATH: dict[str, Field] = {
    "alpha_": real(),
    "alphas_": either(floats(None), floats(None, None)),
    "mse_path_": either(floats(None, None), floats(None, None, None)),
}
_GAP: dict[str, Field] = {"dual_gap_": optional(either(real(), floats(None)))}
LINEAR_MODELS = {
    "sklearn.svm._classes:LinearSVC": _classifier(),
    "sklearn.svm._classes:LinearSVR": _regressor(),
    "sklearn.linear_model._logistic:LogisticRegression": _classifier(),
    f"{_RIDGE}:RidgeClassifier": _classifier(_RIDGE_CLASSES),
    f"{_RIDGE}:RidgeClassifierCV": _classifier(
        {**_RIDGE_CLASSES, **_RIDGE_CV},
        {
            "gcv_mode": optional(nothing()),
            "alpha_per_target": optional(exactly(False)),
            **_STORED,
        },
    ),
    f"{_RIDGE}:Ridge": _regressor(),
    f"{_RIDGE}:RidgeCV": _regressor(_RIDGE_CV, _STORED),
    "sklearn.linear_model._base:LinearRegression": _regressor(
        {"rank_": optional(either(count(), plain())), "singular_": optional(floats(None))}
    ),
    f"{_DESCENT}:Lasso": _regressor(_GAP, {"l1_ratio": exactly(1.0)}),
    f"{_DESCENT}:ElasticNet": _regressor(_GAP),
    f"{_DESCENT}:LassoCV": _regressor({**_GAP, **_PATH}),
    f"{_DESCENT}:ElasticNetCV": _regressor({**_GAP, **_PATH, "l1_ratio_": real()}),
    "sklearn.linear_model._huber:HuberRegressor": _regressor(
        {"scale_": real(), "outliers_": plain()}
    ),
    f"{_GRADIENT}:SGDClassifier": _classifier({**_STEPS, **_AVERAGES}, _COST),
    f"{_GRADIENT}:SGDRegressor": _regressor({"t_": real(least=0.0), **_AVERAGES}, _COST),
    "sklearn.linear_model._perceptron:Perceptron": _classifier(
        {**_STEPS, **_AVERAGES},
        {
            "loss": exactly("perceptron"),
            "learning_rate": exactly("constant"),
            "epsilon": real(),
            "power_t": real(),
            "average": flag(),
            **_COST,
        },
    ),
    "sklearn.kernel_ridge:KernelRidge": Schema(
        {
            **_FEATURES,
            "dual_coef_": either(floats("n"), floats("n", "targets")),
            "X_fit_": either(floats("n", "p"), csr("n", "p")),
        },
        check=_check_kernel_ridge,
    ),
}
