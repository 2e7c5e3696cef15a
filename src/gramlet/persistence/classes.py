"""Which classes a saved model may contain, what is stored of them, and how they are rebuilt.

From scikit-learn these are the classes in the table of `sklearn_models`, from gramlet the classes
of some packages that declare what they store. Nothing else is ever imported or created.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from gramlet.common import fields
from gramlet.persistence.sklearn_models import MODELS

# Packages of gramlet whose classes occur in fitted models.
_PACKAGES = (
    "combine",
    "discrepancy",
    "embeddings",
    "engine",
    "graphs",
    "kernels",
    "models",
    "paths",
    "scale",
)
_SKLEARN = {f"sklearn:{cls.__name__}": cls for cls in MODELS}
_NAMES = {cls: name for name, cls in _SKLEARN.items()}


def name_of(cls: type) -> str:
    """The name of a class in files; TypeError with the reason if it cannot be saved."""
    if cls in _NAMES:
        return _NAMES[cls]
    what = f"an instance of {cls.__module__}.{cls.__qualname__}"
    is_function = any("__call__" in vars(base) for base in cls.__mro__)
    if is_function and not hasattr(cls, "get_params") and not cls.__module__.startswith("gramlet."):
        raise TypeError("a function or a class, which a file cannot hold. Leave it out.")
    if issubclass(cls, np.random.Generator | np.random.RandomState):
        raise TypeError(f"{what}. Give random_state as an integer, and fit again.")
    if hasattr(cls, "best_estimator_") or cls.__name__.endswith("SearchCV"):
        raise TypeError(f"{what}. Save its best_estimator_.")
    if cls.__module__.startswith("gramlet."):
        name = f"{cls.__module__}:{cls.__qualname__}"
        if _is_storable(cls) and _in_packages(cls.__module__):
            return name
        raise TypeError(f"{what}, which does not declare what is stored of it.")
    names = ", ".join(sorted(cls.__name__ for cls in MODELS))
    raise TypeError(
        f"{what}. gramlet saves its own estimators and these of scikit-learn: {names}. For others, "
        "save the whole model with joblib or skops."
    )


def named(name: Any) -> type:
    """The class of a name in a file; ValueError if it is not allowed."""
    if type(name) is not str:
        raise ValueError(f"{name!r} is not the name of a class.")
    if name in _SKLEARN:
        return _SKLEARN[name]
    module, _, inside = name.partition(":")
    if not _in_packages(module):
        raise ValueError(f"the class {name!r} is not allowed in a model.")
    try:
        cls = getattr(importlib.import_module(module), inside, None)
    except ImportError:
        cls = None
    if not isinstance(cls, type) or f"{cls.__module__}:{cls.__qualname__}" != name:
        raise ValueError(
            f"it needs {name!r}, which is not defined here. Install the version of gramlet it was "
            "saved with."
        )
    if not _is_storable(cls):
        raise ValueError(f"the class {name!r} is not allowed in a model.")
    return cls


def _in_packages(module: str) -> bool:
    steps = module.split(".")
    # Modules that begin with two underscores are programs, not libraries: importing runs them.
    return (
        len(steps) > 2
        and steps[0] == "gramlet"
        and steps[1] in _PACKAGES
        and all(step.isidentifier() and not step.startswith("__") for step in steps)
    )


def _is_storable(cls: type) -> bool:
    return fields.declared_fields(cls) is not None


def state_of(value: Any) -> dict[str, Any]:
    """What is stored of an instance."""
    model = MODELS.get(type(value))
    if model is None:
        return fields.state_of(value)
    if model.state_of is not None:
        return model.state_of(value)
    return {key: item for key, item in vars(value).items() if key not in model.left_out}


def check(value: Any, state: Mapping[str, Any]) -> None:
    """Check an instance whose parts are checked; ValueError if anything in it is wrong."""
    _check_state(type(value), state)
    _check_whole(value)


def restored(cls: type, state: dict[str, Any]) -> Any:
    """An instance with this state, which is checked."""
    _check_state(cls, state)
    model = MODELS.get(cls)
    if model is not None and model.restored is not None:
        return model.restored(state)
    if issubclass(cls, tuple):
        value: Any = tuple.__new__(cls, [state[name] for name in cls._fields])  # type: ignore[attr-defined]
    else:
        value = object.__new__(cls)
        if fields.has_own_state(cls):
            value.__setstate__(state)
        else:
            for name, item in state.items():
                # Not by the class's own method, which refuses changes to immutable objects.
                object.__setattr__(value, name, item)
    _check_whole(value)
    return value


def _check_state(cls: type, state: Mapping[str, Any]) -> None:
    model = MODELS.get(cls)
    if model is None:
        fields.check_state(cls, state)
    else:
        fields.check_state(cls, state, model.fields)


def _check_whole(value: Any) -> None:
    fields.check_whole(value)
    model = MODELS.get(type(value))
    if model is None or model.check is None:
        return
    fitted = (name for name, field in model.fields.items() if name[-1] == "_" and field.required)
    if all(hasattr(value, name) for name in fitted):
        model.check(value)
