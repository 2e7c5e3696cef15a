"""Gradient boosting on histograms, without categorical features: trees as arrays of nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.persistence.schema import (
    Dims,
    Field,
    Schema,
    arrays,
    count,
    either,
    flag,
    floats,
    instance,
    ints,
    labels,
    list_of,
    nothing,
    optional,
    real,
)

__all__ = ["HISTOGRAM_BOOSTING"]

_MOST_THREADS = 4096


def _check_nodes(place: str, value: Any, dims: Dims) -> None:
    """Require a tree: children after their parents, every node reached once, no categories."""
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE

    if type(value) is not np.ndarray or value.dtype != PREDICTOR_RECORD_DTYPE or value.ndim != 1:
        raise ValueError(f"{place} must be an array of nodes.")
    here = np.arange(len(value))
    inner = value["is_leaf"] == 0
    children = np.concatenate([value["left"][inner], value["right"][inner]]).astype(np.int64)
    sound = (
        len(value) > 0
        and (children > np.concatenate([here[inner]] * 2)).all()
        and np.array_equal(np.sort(children), here[1:])
        and (value["is_leaf"] <= 1).all()
        and not value["is_categorical"].any()
        and np.isfinite(value["value"]).all()
        and not np.isnan(value["num_threshold"]).any()
        and (value["feature_idx"] >= 0).all()
    )
    if not sound:
        raise ValueError(f"{place} is not a valid tree.")


def _check_boosting(model: Any, dims: Dims) -> None:
    per_stage = model.n_trees_per_iteration_
    if model._n_features != dims["p"] or len(model._bin_mapper.is_categorical_) != dims["p"]:
        raise ValueError("the bins do not fit the number of features.")
    if hasattr(model, "classes_"):
        n_classes = dims["classes"]
        if n_classes < 2 or per_stage != (1 if n_classes == 2 else n_classes):
            raise ValueError("the trees per stage do not fit the number of classes.")
    elif per_stage != 1:
        raise ValueError("a regression has one tree per stage.")
    for stage in model._predictors:
        if len(stage) != per_stage:
            raise ValueError("a stage does not have as many trees as the others.")
        if any(tree.nodes["feature_idx"].max() >= dims["p"] for tree in stage):
            raise ValueError("a tree uses a feature that does not exist.")


_NO_SETS = arrays("uint32", 0, 8)
_BOOSTING: dict[str, Field] = {
    "n_features_in_": count("p", least=1),
    "feature_names_in_": optional(labels("p")),
    "is_categorical_": nothing(),
    "_preprocessor": nothing(),
    "_is_categorical_remapped": nothing(),
    "n_trees_per_iteration_": count("stage", least=1),
    "_random_seed": count(),
    "_feature_subsample_rng": instance("Generator"),
    "_n_features": count("p"),
    "_loss": instance("BaseLoss"),
    "do_early_stopping_": flag(),
    "_use_validation_data": flag(),
    "_bin_mapper": instance("_BinMapper"),
    "_baseline_prediction": floats(1, "stage"),
    "_predictors": list_of(list_of(instance("TreePredictor"))),
    "_scorer": nothing(),
    "train_score_": floats(None),
    "validation_score_": floats(None),
    "_label_encoder": optional(instance("LabelEncoder")),
}
_WHERE = "sklearn.ensemble._hist_gradient_boosting"
HISTOGRAM_BOOSTING = {
    f"{_WHERE}.gradient_boosting:HistGradientBoostingClassifier": Schema(
        {**_BOOSTING, "classes_": labels("classes")}, check=_check_boosting
    ),
    f"{_WHERE}.gradient_boosting:HistGradientBoostingRegressor": Schema(
        _BOOSTING, check=_check_boosting
    ),
    f"{_WHERE}.predictor:TreePredictor": Schema(
        always={
            "nodes": Field(_check_nodes),
            "binned_left_cat_bitsets": _NO_SETS,
            "raw_left_cat_bitsets": _NO_SETS,
        },
        trial=False,
    ),
    f"{_WHERE}.binning:_BinMapper": Schema(
        {
            "is_categorical_": arrays("uint8", "p", least=0, most=0),
            "missing_values_bin_idx_": count(),
            "bin_thresholds_": list_of(floats(None, least=-np.inf, most=np.inf), "p"),
            "n_bins_non_missing_": either(arrays("uint32", "p"), ints("p")),
        },
        {
            "n_bins": count(),
            "subsample": either(nothing(), count()),
            "is_categorical": nothing(),
            "known_categories": nothing(),
            "random_state": either(nothing(), count()),
            "n_threads": real(1, _MOST_THREADS),
        },
        trial=False,
    ),
}
