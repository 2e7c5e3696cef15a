"""Which classes and functions a saved model may name, and how names are resolved.

This module alone decides which objects a file may create. From scikit-learn these are the classes
in `sklearn_models` and a list of functions; a name that is not on the list is refused before
anything is imported. From gramlet these are the classes of some packages and modules that have a
method ``validate``.
"""

from __future__ import annotations

import enum
import importlib
import types
from functools import cache
from typing import Any

import numpy as np

from gramlet.common.fields import declared_fields
from gramlet.persistence.sklearn_models import SCHEMAS

__all__ = ["find_class", "find_function", "qualified_name", "refusal", "refusal_of_function"]

# Packages of gramlet whose classes occur in fitted models.
_ROOMS = ("combine", "discrepancy", "embeddings", "engine", "kernels", "paths")
# From other packages, only these modules.
_MODULES = ("gramlet.scale.hashed_features", "gramlet.scale.linear_model")
# Scores for the selection of features: functions that compute and do nothing else.
_SELECTION = {
    "sklearn.feature_selection._univariate_selection:chi2",
    "sklearn.feature_selection._univariate_selection:f_classif",
    "sklearn.feature_selection._univariate_selection:f_regression",
    "sklearn.feature_selection._univariate_selection:r_regression",
    "sklearn.feature_selection._mutual_info:mutual_info_classif",
    "sklearn.feature_selection._mutual_info:mutual_info_regression",
}
# Classes with state besides their attributes, which cannot be rebuilt from them.
_NOT_PLAIN = (
    dict,
    list,
    set,
    frozenset,
    str,
    bytes,
    bytearray,
    int,
    float,
    complex,
    type,
    enum.Enum,
    BaseException,
    types.ModuleType,
    np.ndarray,
    np.generic,
)


def qualified_name(thing: Any) -> str:
    """``module:name`` of a class or function."""
    return f"{thing.__module__}:{thing.__qualname__}"


def refusal(cls: type) -> str | None:
    """Why instances of a class cannot be saved; None if they can."""
    room = cls.__module__.split(".")
    if room[0] == "sklearn":
        if qualified_name(cls) in SCHEMAS:
            return None
        return "it is not one of the classes of scikit-learn whose state can be checked"
    if room[0] != "gramlet":
        return "it is defined outside gramlet and scikit-learn"
    if cls.__module__ not in _MODULES and (len(room) < 2 or room[1] not in _ROOMS):
        return "it is not a class that models consist of"
    if issubclass(cls, _NOT_PLAIN) or hasattr(cls, "__del__"):
        return "it has state besides its attributes"
    if _is_abstract(cls):
        return "it is an abstract base class"
    home = next((base for base in cls.__mro__ if "validate" in vars(base)), object)
    if declared_fields(cls) is None and not home.__module__.startswith("gramlet."):
        return "it does not declare what is stored of it"
    return None


def _is_abstract(cls: type) -> bool:
    return any(
        getattr(getattr(cls, name, None), "__isabstractmethod__", False) for name in dir(cls)
    )


@cache
def _allowed_functions() -> frozenset[str]:
    """The functions that a model may name: scores of features and of predictions."""
    from sklearn.metrics import get_scorer, get_scorer_names

    scores = {qualified_name(get_scorer(name)._score_func) for name in get_scorer_names()}
    return frozenset(scores | _SELECTION)


def refusal_of_function(function: Any) -> str | None:
    """Why a function cannot be saved by its name; None if it can."""
    if not isinstance(function, types.FunctionType):
        return "it is not a plain function"
    if qualified_name(function) not in _allowed_functions():
        return "only scikit-learn's scoring functions can be saved"
    return None


def find_class(name: Any) -> type:
    """The class of a name; ValueError if it is not allowed in a model."""
    home, inside = _parts(name)
    if home.startswith("sklearn."):
        allowed = name in SCHEMAS
    else:
        steps = home.split(".")
        # Modules that begin with two underscores are programs, not libraries: importing runs them.
        allowed = home in _MODULES or (
            len(steps) > 2
            and steps[0] == "gramlet"
            and steps[1] in _ROOMS
            and all(step.isidentifier() and not step.startswith("__") for step in steps)
        )
    if not allowed:
        raise ValueError(
            f"the class {name!r} is not allowed in a model: it is not on the list of classes of "
            "gramlet and scikit-learn that can be checked."
        )
    found = _look_up(home, inside, name)
    if not isinstance(found, type):
        raise ValueError(f"{name!r} is not a class.")
    reason = refusal(found)
    if reason is not None:
        raise ValueError(f"the class {name!r} is not allowed in a model: {reason}.")
    return found


def find_function(name: Any) -> Any:
    """The function of a name; ValueError if it is not allowed in a model."""
    home, inside = _parts(name)
    if name not in _allowed_functions():
        raise ValueError(f"the function {name!r} is not allowed in a model.")
    return _look_up(home, inside, name)


def _parts(name: Any) -> tuple[str, str]:
    if not isinstance(name, str) or name.count(":") != 1:
        raise ValueError(f"{name!r} is not the name of a class or function.")
    home, _, inside = name.partition(":")
    return home, inside


def _look_up(home: str, inside: str, name: str) -> Any:
    try:
        found: Any = importlib.import_module(home)
    except ImportError as error:
        raise ValueError(
            f"it needs {name!r}, which cannot be imported here ({error}). Install the versions of "
            "gramlet and scikit-learn it was saved with."
        ) from error
    for step in inside.split("."):
        found = vars(found).get(step) if isinstance(found, type | types.ModuleType) else None
    if not isinstance(found, type | types.FunctionType) or qualified_name(found) != name:
        raise ValueError(
            f"it needs {name!r}, which is not defined there. Install the versions of gramlet and "
            "scikit-learn it was saved with."
        )
    return found
