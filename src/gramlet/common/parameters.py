"""Checks of estimators' parameters: the one place that imports scikit-learn's private validation.

scikit-learn offers no public way to state what a parameter may be; if its module moves, only this
file changes.
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
    """Require that an estimator has all its parameters, each of them allowed; ValueError if not.

    >>> from sklearn.svm import SVC
    >>> require_parameters(SVC(C=2.0))
    """
    name = type(estimator).__name__
    missing = [key for key in estimator._get_param_names() if key not in vars(estimator)]
    if missing:
        raise ValueError(f"{name} lacks the parameters {missing}.")
    if getattr(estimator, "_parameter_constraints", None):
        estimator._validate_params()
