"""Support vector machines: libsvm's predictions rely on these arrays without checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.persistence.schema import (
    Dims,
    Field,
    Schema,
    arrays,
    count,
    csr,
    either,
    exactly,
    flag,
    floats,
    ints,
    labels,
    list_of,
    optional,
    real,
)

__all__ = ["SUPPORT_VECTOR_MACHINES"]

_COEFFICIENTS = either(floats("rows", "support"), csr("rows", "support", "int32", "int64"))
_MACHINE: dict[str, Field] = {
    "n_features_in_": count("p", least=1),
    "feature_names_in_": optional(labels("p")),
    "_sparse": flag(),
    "_effective_probability": optional(flag()),
    "_gamma": real(least=0.0),
    "support_": arrays("int32", "support", least=0),
    "support_vectors_": either(floats("support", "p"), floats(0, 0), csr("support", "p")),
    "_n_support": arrays("int32", "parts"),
    "dual_coef_": _COEFFICIENTS,
    "_dual_coef_": _COEFFICIENTS,
    "intercept_": floats("pairs"),
    "_intercept_": floats("pairs"),
    "_probA": floats("probabilities"),
    "_probB": floats("probabilities"),
    "fit_status_": exactly(0),
    "_num_iter": arrays("int32", "pairs", least=0),
    "shape_fit_": list_of(count(), kind=tuple),
    "n_iter_": either(count(), ints("pairs")),
}
_CLASSES: dict[str, Field] = {"class_weight_": floats("classes"), "classes_": labels("classes")}


def _check_machine(machine: Any, dims: Dims) -> None:
    """Check that the arrays of one model agree, as libsvm reads them."""
    if len(machine.shape_fit_) != 2 or machine.shape_fit_[1] != dims["p"]:
        raise ValueError("shape_fit_ does not fit the number of features.")
    precomputed = machine.kernel == "precomputed"
    if not isinstance(machine.kernel, str):
        raise ValueError("a machine with a custom kernel function cannot be restored.")
    n_fitted, n_support = machine.shape_fit_[0], dims["support"]
    if n_support and machine.support_.max() >= n_fitted:
        raise ValueError("support_ points beyond the fitted samples.")
    if precomputed and n_fitted != dims["p"]:
        raise ValueError("a machine on a Gram matrix must have as many features as samples.")
    vectors, coefficients = machine.support_vectors_, (machine.dual_coef_, machine._dual_coef_)
    if machine._sparse:
        # libsvm reads the stored entries as the full matrix.
        sound = not precomputed and all(
            not isinstance(each, np.ndarray) and each.nnz == dims["rows"] * n_support
            for each in coefficients
        )
        sound = sound and not isinstance(vectors, np.ndarray)
    else:
        shape = (0, 0) if precomputed else (n_support, dims["p"])
        sound = isinstance(vectors, np.ndarray) and vectors.shape == shape
        sound = sound and all(isinstance(each, np.ndarray) for each in coefficients)
        sound = sound and all(each.flags.c_contiguous for each in (vectors, *coefficients))
    if not sound:
        raise ValueError("the support vectors and coefficients do not fit the kernel.")


def _check_classifier(machine: Any, dims: Dims) -> None:
    _check_machine(machine, dims)
    n_classes = dims["classes"]
    n_pairs = n_classes * (n_classes - 1) // 2
    wanted = {"parts": n_classes, "rows": n_classes - 1, "pairs": n_pairs}
    for name, number in wanted.items():
        if dims[name] != number:
            raise ValueError(f"{n_classes} classes need {number} {name}; found {dims[name]}.")
    probability = getattr(machine, "_effective_probability", machine.probability) is True
    if dims["probabilities"] != (n_pairs if probability else 0):
        raise ValueError("the coefficients of probabilities do not fit the number of classes.")
    if n_classes < 2 or (machine._n_support < 0).any():
        raise ValueError("_n_support must not be negative.")
    if int(machine._n_support.sum(dtype=np.int64)) != dims["support"]:
        raise ValueError("_n_support does not add up to the number of support vectors.")


def _check_regressor(machine: Any, dims: Dims) -> None:
    _check_machine(machine, dims)
    if (dims["rows"], dims["pairs"], dims["parts"], dims["probabilities"]) != (1, 1, 2, 0):
        raise ValueError("a machine without classes must have one row of coefficients.")
    # Sparse machines without classes leave it unset; libsvm does not read it.
    if not machine._sparse and (machine._n_support != dims["support"]).any():
        raise ValueError("_n_support is not the number of support vectors.")


_NO_CLASSES: dict[str, Field] = {
    "probability": exactly(False),
    "class_weight": exactly(None),
    "random_state": exactly(None),
}
_WHERE = "sklearn.svm._classes"
SUPPORT_VECTOR_MACHINES = {
    f"{_WHERE}:SVC": Schema(
        {**_MACHINE, **_CLASSES}, {"nu": real(), "epsilon": real()}, _check_classifier
    ),
    f"{_WHERE}:NuSVC": Schema(
        {**_MACHINE, **_CLASSES}, {"C": real(), "epsilon": real()}, _check_classifier
    ),
    f"{_WHERE}:SVR": Schema(_MACHINE, {"nu": real(), **_NO_CLASSES}, _check_regressor),
    f"{_WHERE}:NuSVR": Schema(_MACHINE, {"epsilon": real(), **_NO_CLASSES}, _check_regressor),
    f"{_WHERE}:OneClassSVM": Schema(
        {**_MACHINE, "offset_": floats(1)},
        {"C": real(), "epsilon": real(), **_NO_CLASSES},
        _check_regressor,
    ),
}
