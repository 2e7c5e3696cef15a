"""Validation of estimator parameters: the only import of scikit-learn's private validation.

scikit-learn has no public interface for constraints on parameters. If its private module moves,
only this file changes.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    StrOptions,
    validate_params,
)

__all__ = [
    "require_parameters",
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "StrOptions",
    "validate_params",
]


def require_parameters(estimator: Any) -> None:
    """Raise ValueError if a parameter of an estimator is missing or has an invalid value.

    >>> from sklearn.svm import SVC
    >>> require_parameters(SVC(C=2.0))
    """
    name = type(estimator).__name__
    missing = [key for key in estimator._get_param_names() if key not in vars(estimator)]
    if missing:
        raise ValueError(f"{name} lacks the parameters {missing}.")
    if getattr(estimator, "_parameter_constraints", None):
        estimator._validate_params()
