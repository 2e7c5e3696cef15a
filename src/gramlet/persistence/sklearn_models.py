"""The classes of scikit-learn that a model may contain, and what is stored of each.

An entry of `MODELS` names the attributes that instances have besides their parameters, which
scikit-learn checks itself. To add a class: declare what its ``__init__`` and ``fit`` set, and add a
model with it to the tests. Attributes are named one by one, so that a state that another version
of scikit-learn has, or a file invents, is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import KernelPCA
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, Product, Sum, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
    SGDRegressor,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import KernelCenterer, LabelBinarizer, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC

from gramlet.common.fields import (
    ArrayOf,
    Choice,
    Classes,
    Counts,
    Either,
    Field,
    Flag,
    Instance,
    Integer,
    ListOf,
    Number,
    Optional,
    Plain,
    Sometimes,
    TupleOf,
    check_whole,
)
from gramlet.common.stored_state import require
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch

Fields = dict[str, Field]


@dataclass(frozen=True)
class Model:
    """What is stored of a class.

    Attributes
    ----------
    fields : mapping of str to Field
        Attributes besides the parameters.
    check : callable, optional
        Checks conditions between attributes of a fitted instance.
    left_out : tuple of str
        Attributes that instances have but do not need; they are not stored.
    state_of, restored : callable, optional
        What is stored instead of the attributes, and the instance that is rebuilt from it.
    """

    fields: Mapping[str, Field] = field(default_factory=dict)
    check: Callable[[Any], None] | None = None
    left_out: tuple[str, ...] = ()
    state_of: Callable[[Any], dict[str, Any]] | None = None
    restored: Callable[[dict[str, Any]], Any] | None = None


def _floats(*shape: int | str | None, least: float | None = None) -> Field:
    return ArrayOf("float64", *shape, least=least)


_NAMES: Fields = {"feature_names_in_": Sometimes(Classes("n_features"))}
_FEATURES: Fields = {**_NAMES, "n_features_in_": Integer(1, size="n_features")}
_MAYBE_FEATURES: Fields = {**_NAMES, "n_features_in_": Sometimes(Integer(1))}
_ESTIMATOR = Instance(BaseEstimator)
_ROWS = Either(_floats("n", "n_features"), Counts("n", "n_features", signed=True))

# Linear models: one row of coefficients per class or target


def _check_rows(model: Any) -> None:
    n_classes = len(model.classes_)
    n_rows = 1 if n_classes == 2 else n_classes
    require(n_classes > 1 and len(model.coef_) == n_rows, "coef_ must have one row per class")


_LINEAR: Fields = {
    **_FEATURES,
    "coef_": Either(_floats("rows", "n_features"), _floats("n_features")),
    "intercept_": Either(_floats("rows"), _floats(1), Number()),
    "n_iter_": Sometimes(Plain()),
    "solver_": Sometimes(Plain()),
}
_LINEAR_CLASSES: Fields = {
    **_LINEAR,
    "classes_": Classes(),
    "coef_": _floats("rows", "n_features"),
    "intercept_": Either(_floats("rows"), Number()),
}
_DESCENT: Fields = {
    "t_": Number(0.0),
    "C": Sometimes(Number()),
    "_expanded_class_weight": Sometimes(_floats(None)),
    **{
        f"_{kind}_{part}": Sometimes(Either(_floats(None), _floats(None, None)))
        for kind in ("average", "standard")
        for part in ("coef", "intercept")
    },
}
# The loss of a descent is made again by the next fit.
_LOSSES = ("_loss_function_", "loss_function_")

# Support vector machines: libsvm's predictions rely on these arrays without checks

_DUAL = Either(_floats("rows", "support"), Counts("rows", "support", signed=True))
_MACHINE: Fields = {
    **_FEATURES,
    "nu": Number(),
    "_sparse": Flag(),
    "_effective_probability": Sometimes(Flag()),
    "_gamma": Number(0.0),
    "support_": ArrayOf("int32", "support", least=0),
    "support_vectors_": Either(
        _floats("support", "n_features"),
        _floats(0, 0),
        Counts("support", "n_features", signed=True),
    ),
    "_n_support": ArrayOf("int32", None),
    "dual_coef_": _DUAL,
    "_dual_coef_": _DUAL,
    "intercept_": _floats("pairs"),
    "_intercept_": _floats("pairs"),
    "_probA": _floats("probabilities"),
    "_probB": _floats("probabilities"),
    "fit_status_": Choice(0),
    "_num_iter": ArrayOf("int32", "pairs", least=0),
    "shape_fit_": TupleOf(Integer(), 2),
    "n_iter_": Either(ArrayOf("int32", "pairs"), Integer()),
}


def _check_machine(machine: Any, n_rows: int, n_pairs: int) -> None:
    """Check that the arrays agree, as libsvm reads them."""
    precomputed = machine.kernel == "precomputed"
    n_fitted, n_features = machine.shape_fit_
    support, vectors = machine.support_, machine.support_vectors_
    require(n_features == machine.n_features_in_, "shape_fit_ must fit the number of features")
    require(not precomputed or n_fitted == n_features, "a Gram matrix must be square")
    require((support < n_fitted).all(), "support_ must be positions of fitted samples")
    require(len(machine.intercept_) == n_pairs, "intercept_ must fit the number of classes")
    for dual in (machine.dual_coef_, machine._dual_coef_):
        require(dual.shape == (n_rows, len(support)), "dual_coef_ must fit the classes")
        # libsvm reads the stored entries of a sparse matrix as the full one.
        full = dual.nnz == n_rows * len(support) if machine._sparse else dual.flags.c_contiguous
        require(full, "dual_coef_ must be full")
    if machine._sparse:
        require(
            not precomputed and vectors.indices.dtype == np.int32, "support_vectors_ do not fit"
        )
    else:
        shape = (0, 0) if precomputed else (len(support), n_features)
        fit = vectors.shape == shape and vectors.flags.c_contiguous
        require(fit, "support_vectors_ must have one row per support vector")


def _check_svc(machine: Any) -> None:
    n_classes = len(machine.classes_)
    n_pairs = n_classes * (n_classes - 1) // 2
    _check_machine(machine, n_classes - 1, n_pairs)
    sizes = machine._n_support
    require(len(sizes) == n_classes > 1 and (sizes >= 0).all(), "_n_support must fit the classes")
    require(sizes.sum(dtype=np.int64) == len(machine.support_), "_n_support must fit support_")
    probability = getattr(machine, "_effective_probability", machine.probability) is True
    require(len(machine._probA) == n_pairs * probability, "_probA must fit the classes")


def _check_svr(machine: Any) -> None:
    _check_machine(machine, 1, 1)
    # A sparse machine leaves _n_support unset; libsvm does not read it then.
    sizes = machine._n_support
    sound = machine._sparse or (sizes == len(machine.support_)).all()
    require(len(sizes) == 2 and sound, "_n_support must be the number of support vectors")
    require(len(machine._probA) == 0, "a machine without classes has no probabilities")


# Kernel ridge and other models that keep the fitted samples


def _check_square(model: Any) -> None:
    square = model.kernel != "precomputed" or len(model.X_fit_) == model.n_features_in_
    require(square, "a Gram matrix must be square")


def _neighbours_of(model: Any) -> dict[str, Any]:
    """Parameters and training rows; the search tree is built again from these."""
    state = {name: value for name, value in vars(model).items() if name in model.get_params(False)}
    if not hasattr(model, "_fit_X"):
        return state
    if getattr(model, "outputs_2d_", False):
        raise TypeError("a classifier of several targets, which gramlet does not save.")
    classes = getattr(model, "classes_", None)
    state["rows_"] = model._fit_X
    state["targets_"] = model._y if classes is None else classes[model._y]
    if hasattr(model, "feature_names_in_"):
        state["feature_names_in_"] = model.feature_names_in_
    return state


def _neighbours(cls: Any) -> Callable[[dict[str, Any]], Any]:
    def restored(state: dict[str, Any]) -> Any:
        rows, targets = state.pop("rows_", None), state.pop("targets_", None)
        names = state.pop("feature_names_in_", None)
        model = cls(**state)
        if rows is not None:
            _check_neighbours(model, rows)
            model.fit(rows, targets)
        if names is not None:
            model.feature_names_in_ = names
        return model

    return restored


def _check_neighbours(model: Any, rows: Any) -> None:
    check_whole(model)
    require(model.metric_params is None, "metric_params cannot be restored")
    require(model.n_neighbors <= rows.shape[0], "n_neighbors must not exceed the training rows")


_TARGETS = Either(_floats("n"), _floats("n", "targets"))


def _process_state(model: Any) -> dict[str, Any]:
    """The attributes with the graphs as one batch, without the generator of fit."""
    state = {name: value for name, value in vars(model).items() if name != "_rng"}
    samples = state.get("X_train_")
    if isinstance(samples, np.ndarray) and samples.dtype == object:
        state["X_train_"] = as_batch(samples)
    return state


def _check_process(model: Any) -> None:
    n_samples = len(model.X_train_)
    require(n_samples == len(model.alpha_), "X_train_ must have one sample per target")
    require((np.diagonal(model.L_) > 0).all(), "L_ must have a positive diagonal")


# Estimators made of others


def _check_steps(model: Any) -> None:
    """Check names and estimators; a memory folder would be written to by the next fit."""
    require(model.memory is None, "memory must be None")
    for step in model.steps:
        require(type(step) is tuple and len(step) == 2, "steps must be pairs")
        sound = isinstance(step[1], BaseEstimator) or step[1] in ("passthrough", None)
        require(sound, "steps must be estimators")
    model._validate_names([name for name, _ in model.steps])


def _check_one_vs_rest(model: Any) -> None:
    n_classes = len(model.label_binarizer_.classes_)
    require(n_classes > 1, "there must be two classes")
    n_parts = 1 if n_classes == 2 else n_classes
    require(len(model.estimators_) == n_parts, "estimators_ must be one per class")


_BOUNDS = Plain()
_GP_PAIR: Fields = {"k1": Instance(Kernel), "k2": Instance(Kernel)}

MODELS: dict[type, Model] = {
    Pipeline: Model(check=_check_steps),
    OneVsRestClassifier: Model(
        {
            **_MAYBE_FEATURES,
            "label_binarizer_": Instance(LabelBinarizer),
            "classes_": Sometimes(Classes()),
            "estimators_": ListOf(_ESTIMATOR),
        },
        _check_one_vs_rest,
    ),
    TransformedTargetRegressor: Model(
        {
            **_MAYBE_FEATURES,
            "_training_dim": Choice(1, 2),
            "transformer_": _ESTIMATOR,
            "regressor_": _ESTIMATOR,
        }
    ),
    SVC: Model(
        {
            **_MACHINE,
            "epsilon": Number(),
            "class_weight_": _floats("classes"),
            "classes_": Classes("classes"),
        },
        _check_svc,
    ),
    SVR: Model(
        {
            **_MACHINE,
            "probability": Choice(False),
            "class_weight": Choice(None),
            "random_state": Choice(None),
        },
        _check_svr,
    ),
    LinearSVC: Model(_LINEAR_CLASSES, _check_rows),
    LogisticRegression: Model(_LINEAR_CLASSES, _check_rows),
    RidgeClassifier: Model(
        {
            **_LINEAR_CLASSES,
            "classes_": Sometimes(Classes()),
            "_label_binarizer": Instance(LabelBinarizer),
        },
        _check_rows,
    ),
    Ridge: Model(_LINEAR),
    SGDClassifier: Model({**_LINEAR_CLASSES, **_DESCENT}, _check_rows, _LOSSES),
    SGDRegressor: Model({**_LINEAR, **_DESCENT}, left_out=_LOSSES),
    KernelRidge: Model({**_FEATURES, "dual_coef_": _TARGETS, "X_fit_": _ROWS}, _check_square),
    KernelPCA: Model(
        {
            **_FEATURES,
            "X_fit_": _ROWS,
            "gamma_": Optional(Number()),
            "_centerer": Instance(KernelCenterer, n_features_in_="n"),
            "eigenvalues_": _floats("k", least=0.0),
            "eigenvectors_": _floats("n", "k"),
        },
        _check_square,
    ),
    KNeighborsClassifier: Model(
        {**_NAMES, "rows_": _ROWS, "targets_": Plain()},
        state_of=_neighbours_of,
        restored=_neighbours(KNeighborsClassifier),
    ),
    KNeighborsRegressor: Model(
        {**_NAMES, "rows_": _ROWS, "targets_": Plain()},
        state_of=_neighbours_of,
        restored=_neighbours(KNeighborsRegressor),
    ),
    GaussianProcessRegressor: Model(
        {
            **_MAYBE_FEATURES,
            "X_train_": Either(Instance(GraphBatch), _floats("n", "n_features")),
            "y_train_": _TARGETS,
            "kernel_": Instance(Kernel),
            "_y_train_mean": Either(Number(), _floats("targets"), _floats()),
            "_y_train_std": Either(Number(), _floats("targets"), _floats()),
            "log_marginal_likelihood_value_": Number(),
            "L_": _floats("n", "n"),
            "alpha_": _TARGETS,
        },
        _check_process,
        state_of=_process_state,
    ),
    ConstantKernel: Model({"constant_value": Number(0.0), "constant_value_bounds": _BOUNDS}),
    WhiteKernel: Model({"noise_level": Number(0.0), "noise_level_bounds": _BOUNDS}),
    Sum: Model(_GP_PAIR),
    Product: Model(_GP_PAIR),
    StandardScaler: Model(
        {
            **_FEATURES,
            "n_samples_seen_": Either(Number(0.0), ArrayOf("int64", "n_features", least=0)),
            "mean_": Optional(_floats("n_features")),
            "var_": Optional(_floats("n_features")),
            "scale_": Optional(_floats("n_features", least=1e-140)),
        }
    ),
    Normalizer: Model(_FEATURES),
    KernelCenterer: Model(
        {**_FEATURES, "K_fit_rows_": _floats("n_features"), "K_fit_all_": Number()}
    ),
    LabelBinarizer: Model(
        {"classes_": Classes(), "y_type_": Choice("binary", "multiclass"), "sparse_input_": Flag()}
    ),
}
