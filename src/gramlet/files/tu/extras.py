"""Data that the TU format does not support: labels that are not integers, and names.

`write_tu` writes integer codes for other labels and stores their values in ``NAME_gramlet.json``;
`read_tu` restores them. Other readers of the format see plain integers.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from gramlet.common.arrays import Ints
from gramlet.graphs.columns import Categorical

NAME_FIELDS = ("target_names", "node_label_names", "edge_label_names")

_VERSION = 1
_MOST = 100_000_000
_DEEPEST = 16
_TYPES: dict[str, type] = {
    "n_graphs": int,
    "directed": bool,
    "edge_attribute_columns": int,
    "values": dict,
    "names": dict,
    "target_dtype": str,
    "node_attribute_columns": int,
    "edge_weights": bool,
    "ids": list,
    "molecules": list,
    "target_name": str,
}


def encode_values(values: Sequence[Any], what: str) -> list[Any]:
    """Label values as JSON values: numbers, strings, booleans, None, tuples as lists."""
    return [_encode(value, what) for value in values]


def _encode(value: Any, what: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple):
        return [_encode(part, what) for part in value]
    if value is None or type(value) in (bool, int, float, str):
        return value
    raise TypeError(
        f"{what}: a value of type {type(value).__name__} ({value!r}) cannot be written. "
        "Use strings, numbers, booleans, None or tuples of them."
    )


def encode_names(names: Mapping[Any, str], what: str) -> list[list[Any]]:
    """A map from values to names as a list of pairs, since keys in JSON are strings."""
    return [[_encode(value, what), str(name)] for value, name in names.items()]


def decode_extras(text: bytes, file: str) -> dict[str, Any]:
    """The checked contents of a ``NAME_gramlet.json``; ``names`` become dictionaries again."""
    try:
        extras = json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError(f"{file} is nested too deeply.") from None
    except ValueError as why:
        raise ValueError(f"{file} is not valid JSON ({why}).") from why
    if not isinstance(extras, dict) or extras.pop("gramlet", None) != _VERSION:
        raise ValueError(
            f'{file} does not begin with "gramlet": {_VERSION}; it was written by something else '
            "or by a later version. Update gramlet, or remove the file to read plain integers."
        )
    for key, value in extras.items():
        kind = _TYPES.get(key, object)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ValueError(f"{file}: {key} must be of type {_TYPES[key].__name__}.")
        if type(value) is int and not 0 <= value <= _MOST:
            raise ValueError(f"{file}: {key} = {value} is not between 0 and {_MOST:,}.")
    for key in ("ids", "molecules"):
        if not all(isinstance(value, str) for value in extras.get(key, [])):
            raise ValueError(f"{file}: {key} must be a list of strings.")
    try:
        extras["values"] = {
            role: _distinct([_decode(v) for v in values])
            for role, values in extras.get("values", {}).items()
        }
        extras["names"] = {
            field: decode_names(pairs)
            for field, pairs in extras.get("names", {}).items()
            if field in NAME_FIELDS
        }
    except (TypeError, ValueError) as why:
        raise ValueError(f"{file}: values and names must be lists of labels ({why}).") from why
    return extras


def decode_names(pairs: Any) -> dict[Hashable, str]:
    """The reverse of `encode_names`."""
    return {_decode(value): str(name) for value, name in pairs}


def _decode(value: Any, depth: int = 0) -> Hashable:
    if depth > _DEEPEST:
        raise ValueError(f"a label is nested more than {_DEEPEST} deep")
    if isinstance(value, list):
        return tuple(_decode(part, depth + 1) for part in value)
    if not isinstance(value, Hashable):
        raise TypeError(f"{value!r} is not a label")
    return value


def _distinct(values: list[Hashable]) -> tuple[Hashable, ...]:
    if len(set(values)) < len(values):
        raise ValueError("one value is listed twice")
    return tuple(values)


def _refuse_constant(text: str) -> None:
    raise ValueError(f"{text} is not a JSON number")


def header() -> dict[str, Any]:
    """The first entries of every ``NAME_gramlet.json``."""
    return {"gramlet": _VERSION}


def restore_values(codes: Ints, values: tuple[Hashable, ...], file: str) -> Categorical:
    """The column of values that a file's integer codes stand for."""
    outside = np.flatnonzero((codes < 0) | (codes >= len(values)))
    if len(outside):
        line = int(outside[0])
        raise ValueError(
            f"{file}, line {line + 1}: code {codes[line]} is not one of the {len(values)} "
            "values in the data set's _gramlet.json."
        )
    return Categorical(codes, values)
