"""Scalers, projections, feature selection, label encoders."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.persistence.schema import (
    Dims,
    Field,
    Schema,
    count,
    csr,
    either,
    flag,
    floats,
    instance,
    ints,
    labels,
    nothing,
    one_of,
    optional,
    plain,
    real,
)

__all__ = ["TRANSFORMERS"]

_FEATURES: dict[str, Field] = {
    "n_features_in_": count("p", least=1),
    "feature_names_in_": optional(labels("p")),
}
_SEEN = either(count(), real(least=0.0), ints("p"))
_ROW = floats("p")
_MAYBE_ROW = either(nothing(), floats("p"))
_SMALLEST = 1e-140


def _transformer(**fields: Field) -> Schema:
    return Schema({**_FEATURES, **fields})


def _check_scale(name: str) -> Any:
    """Refuse divisors so small that the result is not finite."""

    def check(scaler: Any, dims: Dims) -> None:
        scale = getattr(scaler, name)
        if scale is not None and (np.abs(scale) < _SMALLEST).any():
            raise ValueError(f"{name} contains numbers too small to divide by.")

    return check


def _check_kernel(model: Any, dims: Dims) -> None:
    if not isinstance(model.kernel, str):
        raise ValueError("a kernel function of its own cannot be restored.")
    if model.kernel == "precomputed" and dims["n"] != dims["p"]:
        raise ValueError("a model on a Gram matrix must have as many features as samples.")
    centerer = model._centerer
    if getattr(centerer, "n_features_in_", None) != dims["n"]:
        raise ValueError("_centerer does not fit the number of samples.")
    if (model.eigenvalues_ < 0).any():
        raise ValueError("eigenvalues_ must not be negative.")


def _check_selector(selector: Any, dims: Dims) -> None:
    if not callable(selector.score_func):
        raise ValueError("score_func must be a function.")


def _check_pca(model: Any, dims: Dims) -> None:
    if model.whiten and (model.explained_variance_ <= 0).any():
        raise ValueError("explained_variance_ must be positive.")


def _check_function(model: Any, dims: Dims) -> None:
    if model.func is not None or model.inverse_func is not None:
        raise ValueError("only a FunctionTransformer without functions can be restored.")


def _check_scores(place: str, value: Any, dims: Dims) -> None:
    """Require one number per feature; for a constant feature it may not be finite."""
    if type(value) is not np.ndarray or value.dtype != np.float64:
        raise ValueError(f"{place} must be an array of float64.")
    if value.shape != (dims["p"],):
        raise ValueError(f"{place} must have one number per feature.")


_SCORES = Field(_check_scores)
_DATA = "sklearn.preprocessing._data"
_LABEL = "sklearn.preprocessing._label"
TRANSFORMERS = {
    f"{_DATA}:StandardScaler": Schema(
        {
            **_FEATURES,
            "n_samples_seen_": _SEEN,
            "mean_": _MAYBE_ROW,
            "var_": _MAYBE_ROW,
            "scale_": _MAYBE_ROW,
        },
        check=_check_scale("scale_"),
    ),
    f"{_DATA}:MinMaxScaler": _transformer(
        n_samples_seen_=_SEEN,
        scale_=_ROW,
        min_=_ROW,
        data_min_=_ROW,
        data_max_=_ROW,
        data_range_=_ROW,
    ),
    f"{_DATA}:MaxAbsScaler": Schema(
        {**_FEATURES, "n_samples_seen_": _SEEN, "max_abs_": _ROW, "scale_": _ROW},
        check=_check_scale("scale_"),
    ),
    f"{_DATA}:RobustScaler": Schema(
        {**_FEATURES, "center_": _MAYBE_ROW, "scale_": _MAYBE_ROW}, check=_check_scale("scale_")
    ),
    f"{_DATA}:Normalizer": _transformer(),
    f"{_DATA}:Binarizer": _transformer(),
    f"{_DATA}:KernelCenterer": _transformer(K_fit_rows_=_ROW, K_fit_all_=real()),
    "sklearn.preprocessing._function_transformer:FunctionTransformer": Schema(
        _FEATURES, check=_check_function
    ),
    "sklearn.decomposition._pca:PCA": Schema(
        {
            **_FEATURES,
            "_fit_svd_solver": plain(),
            "mean_": _ROW,
            "noise_variance_": real(),
            "n_samples_": count(),
            "n_components_": count("k"),
            "components_": floats("k", "p"),
            "explained_variance_": floats("k"),
            "explained_variance_ratio_": floats("k"),
            "singular_values_": floats("k"),
        },
        check=_check_pca,
    ),
    "sklearn.decomposition._truncated_svd:TruncatedSVD": _transformer(
        components_=floats("k", "p"),
        explained_variance_=floats("k"),
        explained_variance_ratio_=floats("k"),
        singular_values_=floats("k"),
    ),
    "sklearn.decomposition._kernel_pca:KernelPCA": Schema(
        {
            **_FEATURES,
            "X_fit_": either(floats("n", "p"), csr("n", "p")),
            "gamma_": either(nothing(), real()),
            "_centerer": instance("KernelCenterer"),
            "eigenvalues_": floats("k"),
            "eigenvectors_": floats("n", "k"),
            "dual_coef_": optional(floats("n", "p")),
            "X_transformed_fit_": optional(floats("n", "k")),
        },
        check=_check_kernel,
    ),
    "sklearn.kernel_approximation:Nystroem": _transformer(
        components_=either(floats("k", "p"), csr("k", "p")),
        normalization_=floats("k", "k"),
        component_indices_=ints("k"),
        _n_features_out=count("k"),
    ),
    "sklearn.feature_selection._variance_threshold:VarianceThreshold": _transformer(
        variances_=_ROW
    ),
    "sklearn.feature_selection._univariate_selection:SelectKBest": Schema(
        {**_FEATURES, "scores_": _SCORES, "pvalues_": either(nothing(), _SCORES)},
        check=_check_selector,
    ),
    "sklearn.feature_selection._univariate_selection:SelectPercentile": Schema(
        {**_FEATURES, "scores_": _SCORES, "pvalues_": either(nothing(), _SCORES)},
        check=_check_selector,
    ),
    f"{_LABEL}:LabelEncoder": Schema({"classes_": labels()}, trial=False),
    f"{_LABEL}:LabelBinarizer": Schema(
        {
            "classes_": labels(),
            "y_type_": one_of("binary", "multiclass", "multilabel-indicator"),
            "sparse_input_": flag(),
        },
        trial=False,
    ),
}
