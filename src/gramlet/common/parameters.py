"""Validation of estimator parameters: the only import of scikit-learn's private validation.

scikit-learn has no public interface for constraints on parameters. If its private module moves,
only this file changes.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    StrOptions,
    make_constraint,
    validate_params,
)

__all__ = [
    "CheckedEstimator",
    "require_parameters",
    "HasMethods",
    "Interval",
    "InvalidParameterError",
    "StrOptions",
    "validate_params",
]


class CheckedEstimator(BaseEstimator):
    """A base class that collects parameter names and constraints once per class.

    scikit-learn reads the signature of ``__init__`` and builds the constraints in every call, which
    takes as long as computing a small Gram matrix. Errors are raised by scikit-learn itself.
    """

    @classmethod
    def _get_param_names(cls) -> list[str]:
        of_class: Any = cls
        return list(_names(of_class))

    def _validate_params(self) -> None:
        cls: Any = type(self)
        for name, allowed in _constraints(cls):
            value = getattr(self, name)
            if not any(constraint.is_satisfied_by(value) for constraint in allowed):
                super()._validate_params()  # raises


@cache
def _names(cls: Any) -> tuple[str, ...]:
    inherited: Any = super(CheckedEstimator, cls)
    return tuple(inherited._get_param_names())


@cache
def _constraints(cls: Any) -> list[tuple[str, list[Any]]]:
    """The parameters to check, each with its constraints, one of which must be satisfied."""
    stated = cls._parameter_constraints
    return [
        (name, [make_constraint(one) for one in stated[name]])
        for name in _names(cls)
        if stated.get(name, "no_validation") != "no_validation"
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
