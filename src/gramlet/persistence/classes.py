"""Which classes and functions a saved model may name, and how a name becomes a class again.

The one place that decides what a file may bring to life. A name is looked up in a module of gramlet
or scikit-learn, step by step in the modules' own dictionaries; nothing is called on the way, and
what is found must be a class of an allowed kind, defined where the name says.
"""

from __future__ import annotations

import enum
import importlib
import types
from typing import Any

import numpy as np

__all__ = ["find_class", "find_function", "qualified_name", "refusal", "refusal_of_function"]

# Kinds of scikit-learn's classes that fitted estimators are made of, besides compiled ones.
_SKLEARN_KINDS = frozenset(
    {
        "sklearn.base:BaseEstimator",
        "sklearn.gaussian_process.kernels:Kernel",
        "sklearn.calibration:_CalibratedClassifier",
        "sklearn.model_selection._split:BaseCrossValidator",
        "sklearn.model_selection._split:BaseShuffleSplit",
        "sklearn.model_selection._split:_RepeatedSplits",
        "sklearn.metrics._scorer:_BaseScorer",
        "sklearn.metrics._scorer:_PassthroughScorer",
        "sklearn.neural_network._stochastic_optimizers:BaseOptimizer",
        "sklearn.ensemble._hist_gradient_boosting.predictor:TreePredictor",
        "sklearn._loss.loss:BaseLoss",
        "sklearn._loss.link:BaseLink",
        "sklearn._loss.link:Interval",
    }
)
# Functions that compute and do nothing else; files and downloads live in other rooms.
_FUNCTION_ROOMS = (
    "gramlet.kernels.",
    "gramlet.embeddings.",
    "gramlet.engine.",
    "gramlet.paths.",
    "sklearn.feature_selection._univariate_selection.",
    "sklearn.feature_selection._mutual_info.",
    "sklearn.metrics._classification.",
    "sklearn.metrics._ranking.",
    "sklearn.metrics._regression.",
    "sklearn.metrics.pairwise.",
)
# Not made of attributes alone, so that they cannot be built from their attributes.
_NOT_PLAIN = (
    dict, list, set, frozenset, str, bytes, bytearray, int, float, complex, type, enum.Enum,
    BaseException, types.ModuleType, np.ndarray, np.generic,
)  # fmt: skip


def qualified_name(thing: Any) -> str:
    """``module:name`` of a class or function."""
    return f"{thing.__module__}:{thing.__qualname__}"


def refusal(cls: type) -> str | None:
    """Why instances of a class cannot be saved; None if they can."""
    room = cls.__module__.partition(".")[0]
    if room not in ("gramlet", "sklearn") or cls.__module__ == room:
        return "it is defined outside gramlet and scikit-learn"
    if room == "sklearn" and not any(
        qualified_name(base) in _SKLEARN_KINDS for base in cls.__mro__
    ):
        return "it is not one of the classes of scikit-learn whose state is known to be plain"
    if issubclass(cls, _NOT_PLAIN):
        return "it is made of more than its attributes"
    if hasattr(cls, "__del__"):
        return "it does something when it is deleted"
    return None


def refusal_of_function(function: Any) -> str | None:
    """Why a function cannot be saved by its name; None if it can."""
    if not isinstance(function, types.FunctionType):
        return "it is not a plain function"
    if not f"{function.__module__}.".startswith(_FUNCTION_ROOMS):
        return "of functions only kernels of gramlet and scores of scikit-learn can be saved"
    if "<" in function.__qualname__ or "." in function.__qualname__:
        return "it is not a function of a module"
    return None


def find_class(name: Any) -> type:
    """The class of a name; ValueError if there is none that a model may have."""
    found = _look_up(name)
    if not isinstance(found, type):
        raise ValueError(f"{name!r} is not a class.")
    reason = refusal(found)
    if reason is not None:
        raise ValueError(f"the class {name!r} is not allowed in a model: {reason}.")
    return found


def find_function(name: Any) -> Any:
    """The function of a name; ValueError if there is none that a model may have."""
    found = _look_up(name)
    reason = refusal_of_function(found)
    if reason is not None:
        raise ValueError(f"the function {name!r} is not allowed in a model: {reason}.")
    return found


def _look_up(name: Any) -> Any:
    if not isinstance(name, str) or name.count(":") != 1:
        raise ValueError(f"{name!r} is not the name of a class or function.")
    home, _, inside = name.partition(":")
    steps = home.split(".")
    # Modules that begin with two underscores are programs, not libraries: importing runs them.
    importable = (
        len(steps) > 1
        and steps[0] in ("gramlet", "sklearn")
        and all(step.isidentifier() and not step.startswith("__") for step in steps)
        and not {"tests", "conftest"} & set(steps)
    )
    if not importable:
        raise ValueError(
            f"it names {name!r}; only classes of gramlet and scikit-learn may be in a model."
        )
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
