"""Estimators made of others: pipelines, searches, multi-class schemes, calibration, splitters."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from gramlet.common.checks import is_integer
from gramlet.persistence.schema import (
    Dims,
    Field,
    Schema,
    count,
    either,
    flag,
    instance,
    labels,
    list_of,
    nothing,
    one_of,
    optional,
    plain,
    real,
    require_plain,
)

__all__ = ["COMPOSITES"]

_ESTIMATOR = instance("BaseEstimator")
_FEATURES: dict[str, Field] = {
    "n_features_in_": optional(count("p", least=1)),
    "feature_names_in_": optional(labels("p")),
}


def _check_steps(place: str, value: Any, dims: Dims) -> None:
    """Require pairs of a name and an estimator."""
    names = []
    for step in value if type(value) is list else [None]:
        if type(step) is not tuple or len(step) != 2 or type(step[0]) is not str:
            raise ValueError(f"{place} must be a list of names and estimators.")
        names.append(step[0])
        if step[1] not in ("passthrough", "drop", None):
            _ESTIMATOR.check(f"{place}[{step[0]!r}]", step[1], dims)
    if len(set(names)) < len(names) or not names or any("__" in name for name in names):
        raise ValueError(f"{place} must have names that differ and have no '__'.")


_STEPS = Field(_check_steps)


def _check_pipeline(model: Any, dims: Dims) -> None:
    """Pass a row of zeros through the steps after the first: each must accept its input."""
    steps = [step for _, step in model.steps if step not in ("passthrough", None)]
    if not steps or not all(_is_fitted(step) for step in steps):
        return
    width = _width(steps[0])
    if width is None or not str(type(steps[0]).__module__).startswith("gramlet."):
        return
    row: Any = np.zeros((1, width))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for step in steps[1:-1]:
            row = step.transform(row)
        if len(steps) > 1:
            last = getattr(steps[-1], "predict", None) or steps[-1].transform
            last(row)


def _is_fitted(step: Any) -> bool:
    return any(name.endswith("_") and not name.startswith("__") for name in vars(step))


def _width(step: Any) -> int | None:
    """The number of output columns of a fitted kernel or feature map of gramlet."""
    if hasattr(step, "n_fitted_"):
        return int(step.n_fitted_)
    counter = getattr(getattr(step, "kernel_", None), "counter_", None)
    if type(step).__name__ == "FeatureMap" and counter is not None:  # names take long
        return int(counter.n_features)
    if not hasattr(step, "get_feature_names_out"):
        return None
    return len(step.get_feature_names_out())


def _check_several(model: Any, dims: Dims) -> None:
    """One machine per class, or one for two classes."""
    n_classes = dims["classes"]
    wanted = 1 if n_classes == 2 else n_classes
    if n_classes < 2 or len(model.estimators_) != wanted:
        raise ValueError(f"{n_classes} classes need {wanted} estimators.")
    own = getattr(model.label_binarizer_, "classes_", None)
    if own is None or len(own) != n_classes:
        raise ValueError("label_binarizer_ has another number of classes.")
    _same_features(model, model.estimators_)


def _check_pairs(model: Any, dims: Dims) -> None:
    n_classes = dims["classes"]
    if n_classes < 2 or len(model.estimators_) != n_classes * (n_classes - 1) // 2:
        raise ValueError(f"{n_classes} classes do not fit {len(model.estimators_)} estimators.")
    own = model.pairwise_indices_
    if own is not None and len(own) != len(model.estimators_):
        raise ValueError("pairwise_indices_ does not fit the estimators.")


def _same_features(model: Any, parts: Any) -> None:
    wanted = getattr(model, "n_features_in_", None)
    for part in parts:
        if wanted is not None and getattr(part, "n_features_in_", wanted) != wanted:
            raise ValueError("a part has another number of features than the whole.")


def _check_search(search: Any, dims: Dims) -> None:
    if not hasattr(search, "best_index_"):
        return
    n_candidates = len(search.cv_results_["params"])
    if not is_integer(search.best_index_) or not 0 <= search.best_index_ < n_candidates:
        raise ValueError("best_index_ is not the index of a candidate.")


def _check_calibrated(model: Any, dims: Dims) -> None:
    if not model.calibrated_classifiers_:
        raise ValueError("there must be at least one calibrated classifier.")
    for part in model.calibrated_classifiers_:
        if len(part.classes) != dims["classes"]:
            raise ValueError("a calibrated classifier has another number of classes.")
    _same_features(model, [part.estimator for part in model.calibrated_classifiers_])


def _check_calibrators(place: str, value: Any, dims: Dims) -> None:
    list_of(instance("_SigmoidCalibration")).check(place, value, dims)
    n_classes = dims["classes"]
    if n_classes < 2 or len(value) != (1 if n_classes == 2 else n_classes):
        raise ValueError(f"{place} does not fit {n_classes} classes.")


_CALIBRATED: dict[str, Field] = {
    "classes": labels("classes"),
    "estimator": _ESTIMATOR,
    "calibrators": Field(_check_calibrators),
    "method": one_of("sigmoid"),
}


def _check_kwargs(place: str, value: Any, dims: Dims) -> None:
    if type(value) is not dict:
        raise ValueError(f"{place} must be a dict.")
    require_plain(place, value)


_SCORER: dict[str, Field] = {
    "_score_func": instance("function"),
    "_sign": one_of(1, -1),
    "_kwargs": Field(_check_kwargs),
    "_response_method": plain(),
    "_deprecation_msg": optional(nothing()),
}
_ANY_SCORER = instance("_BaseScorer", "_PassthroughScorer")


def _check_scorers(place: str, value: Any, dims: Dims) -> None:
    for each in value.values() if type(value) is dict else [value]:
        _ANY_SCORER.check(place, each, dims)


_SEARCH: dict[str, Field] = {
    "n_splits_": count(),
    "multimetric_": flag(),
    "_checked_cv_orig": optional(instance("BaseCrossValidator", "BaseShuffleSplit")),
    "best_index_": optional(count()),
    "best_score_": optional(real()),
    "best_params_": optional(plain()),
    "best_estimator_": optional(_ESTIMATOR),
    "refit_time_": optional(real()),
    "scorer_": Field(_check_scorers),
    "cv_results_": instance("dict"),
    "feature_names_in_": optional(labels()),
}
_RANDOM = either(nothing(), count(), instance("RandomState"))
_FOLDS: dict[str, Field] = {"n_splits": count(least=2), "shuffle": flag(), "random_state": _RANDOM}
_SHARE = either(nothing(), count(), real(0.0, 1.0))
_SHUFFLES: dict[str, Field] = {
    "n_splits": count(least=1),
    "test_size": _SHARE,
    "train_size": _SHARE,
    "random_state": _RANDOM,
    "_default_test_size": _SHARE,
}
_SPLIT, _SEARCHES = "sklearn.model_selection._split", "sklearn.model_selection._search"
COMPOSITES = {
    "sklearn.pipeline:Pipeline": Schema(
        # A folder named in a file would be read and written when the pipeline is fitted again.
        always={"steps": _STEPS, "memory": nothing(), "transform_input": optional(plain())},
        check=_check_pipeline,
        trial=False,
    ),
    "sklearn.pipeline:FeatureUnion": Schema(
        _FEATURES, {"transformer_list": _STEPS, "transformer_weights": plain()}, trial=False
    ),
    f"{_SEARCHES}:GridSearchCV": Schema(
        _SEARCH, {"estimator": _ESTIMATOR}, _check_search, trial=False
    ),
    f"{_SEARCHES}:RandomizedSearchCV": Schema(
        _SEARCH, {"estimator": _ESTIMATOR}, _check_search, trial=False
    ),
    "sklearn.multiclass:OneVsRestClassifier": Schema(
        {
            **_FEATURES,
            "label_binarizer_": instance("LabelBinarizer"),
            "classes_": optional(labels("classes")),
            "estimators_": list_of(_ESTIMATOR),
        },
        {"estimator": _ESTIMATOR},
        _check_several,
    ),
    "sklearn.multiclass:OneVsOneClassifier": Schema(
        {
            **_FEATURES,
            "classes_": labels("classes"),
            "estimators_": list_of(_ESTIMATOR, kind=tuple),
            "pairwise_indices_": either(nothing(), plain()),
        },
        {"estimator": _ESTIMATOR},
        _check_pairs,
    ),
    "sklearn.calibration:CalibratedClassifierCV": Schema(
        {
            **_FEATURES,
            "classes_": labels("classes"),
            "calibrated_classifiers_": list_of(instance("_CalibratedClassifier")),
        },
        check=_check_calibrated,
    ),
    "sklearn.calibration:_CalibratedClassifier": Schema(always=_CALIBRATED, trial=False),
    "sklearn.calibration:_SigmoidCalibration": Schema({"a_": real(), "b_": real()}, trial=False),
    "sklearn.compose._target:TransformedTargetRegressor": Schema(
        {
            **_FEATURES,
            "_training_dim": one_of(1, 2),
            "transformer_": _ESTIMATOR,
            "regressor_": _ESTIMATOR,
        },
        {"func": nothing(), "inverse_func": nothing()},
        trial=False,
    ),
    "sklearn.metrics._scorer:_Scorer": Schema(always=_SCORER, trial=False),
    "sklearn.metrics._scorer:_PassthroughScorer": Schema(
        always={"_estimator": _ESTIMATOR}, trial=False, left_out=frozenset({"_metadata_request"})
    ),
    f"{_SPLIT}:KFold": Schema(always=_FOLDS),
    f"{_SPLIT}:StratifiedKFold": Schema(always=_FOLDS),
    f"{_SPLIT}:GroupKFold": Schema(always=_FOLDS),
    f"{_SPLIT}:LeaveOneOut": Schema(),
    f"{_SPLIT}:ShuffleSplit": Schema(always=_SHUFFLES),
    f"{_SPLIT}:StratifiedShuffleSplit": Schema(always=_SHUFFLES),
}
