"""Checks of estimators' parameters: the one place that imports scikit-learn's private validation.

scikit-learn offers no public way to state what a parameter may be; if its module moves, only this
file changes.
"""

from __future__ import annotations

from sklearn.utils._param_validation import (
    HasMethods,
    Interval,
    InvalidParameterError,
    StrOptions,
    validate_params,
)

__all__ = ["HasMethods", "Interval", "InvalidParameterError", "StrOptions", "validate_params"]
