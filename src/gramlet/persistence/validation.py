"""Checks objects before they are returned: gramlet's by their own method, others by a schema.

`save` and `load` both call `validate_object` for every object in a model, parts before the whole,
so that a model which was saved can be loaded.
"""

from __future__ import annotations

import copyreg
import types
import warnings
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common import fields
from gramlet.common.stored_state import require_integer
from gramlet.persistence.classes import qualified_name
from gramlet.persistence.schema import Dims, Field, Schema
from gramlet.persistence.sklearn_models import SCHEMAS

__all__ = ["check_names", "validate_object"]

# More threads or processes than any machine has.
_MOST_JOBS = 4096
# The attribute that `set_output` sets.
_OUTPUT = "_sklearn_output_config"
_OUTPUTS = [{"transform": kind} for kind in ("default", "pandas", "polars")]
_ANSWERS = ("predict", "predict_proba", "decision_function", "transform")


def validate_object(value: Any) -> None:
    """Check an instance of an allowed class; ValueError if anything in it is wrong."""
    cls = type(value)
    if cls.__module__.startswith("gramlet."):
        fields.check(value)
    else:
        _check_state(value, SCHEMAS[qualified_name(cls)])


def check_names(cls: type, names: Iterable[str]) -> None:
    """Refuse attributes that would hide attributes of the class."""
    slots = set(copyreg._slotnames(cls))  # type: ignore[attr-defined]
    for name in names:
        if not isinstance(name, str) or not name.isidentifier() or name.startswith("__"):
            raise ValueError(f"{name!r} is not the name of an attribute.")
        own = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
        hides = isinstance(
            own,
            types.FunctionType | property | classmethod | staticmethod | cached_property | type,
        )
        if name not in slots and (hides or hasattr(type(own), "__get__")):
            raise ValueError(f"{cls.__name__}.{name} is not an attribute that is stored.")


def _check_jobs(attributes: Mapping[str, Any]) -> None:
    """Check that the number of threads is plausible."""
    n_jobs = attributes.get("n_jobs")
    if n_jobs is not None and require_integer("n_jobs", n_jobs, -_MOST_JOBS, _MOST_JOBS) == 0:
        raise ValueError("n_jobs must not be 0.")


def _check_state(value: Any, schema: Schema) -> None:
    name = type(value).__name__
    attributes = vars(value)
    parameters = type(value)._get_param_names() if hasattr(value, "_get_param_names") else []
    known = {*parameters, *schema.always, *schema.fitted}
    unknown = sorted(set(attributes) - known - schema.left_out - {_OUTPUT})
    if unknown:
        raise ValueError(
            f"{name} has attributes that this version of gramlet does not know: {unknown}."
        )
    required = {key for key, field in schema.always.items() if field.required}
    missing = sorted({*parameters, *required} - set(attributes))
    if missing:
        raise ValueError(f"{name} lacks {missing}.")
    _check_jobs(attributes)
    if attributes.get(_OUTPUT, {"transform": "default"}) not in _OUTPUTS:
        raise ValueError(f"{name} requests an unknown type of output.")
    if getattr(value, "_parameter_constraints", None):
        value._validate_params()
    dims: Dims = {}
    _check_fields(name, attributes, schema.always, dims)
    if not schema.fitted or any(key in attributes for key in schema.fitted):
        _check_fitted(value, schema, dims)


def _check_fitted(value: Any, schema: Schema, dims: Dims) -> None:
    name, attributes = type(value).__name__, vars(value)
    missing = [
        key for key, field in schema.fitted.items() if field.required and key not in attributes
    ]
    if missing:
        raise ValueError(f"{name} is fitted but lacks {missing}.")
    _check_fields(name, attributes, schema.fitted, dims)
    if schema.check is not None:
        try:
            schema.check(value, dims)
        except Exception as error:
            raise ValueError(f"{name}: {error}") from error
    if schema.trial and "p" in dims:
        _try(value, dims["p"])


def _check_fields(
    name: str, attributes: Mapping[str, Any], fields: Mapping[str, Field], dims: Dims
) -> None:
    for key, field in fields.items():
        if key in attributes:
            field.check(f"{name}.{key}", attributes[key], dims)


def _has_no_shares(value: Any) -> bool:
    """Whether it is a one-vs-one Gaussian process, whose predict_proba only raises."""
    return getattr(value, "multi_class", None) == "one_vs_one" and len(value.classes_) > 2


def _try(value: Any, n_features: int) -> None:
    """Check that an estimator's results for a row of zeros are finite numbers."""
    row = np.zeros((1, n_features))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for method in _ANSWERS:
            try:
                answer = getattr(value, method, None)
                if method == "predict_proba" and _has_no_shares(value):
                    continue
                result: Any = None if answer is None else answer(row)
            except Exception as error:
                raise ValueError(
                    f"{type(value).__name__}.{method} fails for a row of zeros: {error}"
                ) from error
            if sparse.issparse(result):
                result = result.data
            for array in result if isinstance(result, list) else [result]:
                numbers = np.asarray(array)
                if numbers.dtype.kind in "fc" and not np.isfinite(numbers).all():
                    raise ValueError(
                        f"{type(value).__name__}.{method} gives numbers that are not finite."
                    )
