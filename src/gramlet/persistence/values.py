"""Plain values of Python, numpy and scipy that JSON does not have."""

from __future__ import annotations

import base64
import math
import re
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Array
from gramlet.persistence.codec import Codec, of_types
from gramlet.persistence.container import plain_dtype

__all__ = ["VALUE_CODECS"]

# Python's own


def _unpack_bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


_TYPES = {kind.__name__: kind for kind in (bool, int, float, complex, str, bytes, object)}


def _is_type(value: Any) -> bool:
    if not isinstance(value, type):
        return False
    if value in _TYPES.values():
        return True
    # Abstract ones (np.floating) stand for a concrete one in np.dtype; they are not told.
    return issubclass(value, np.generic) and value.__name__ in np.sctypeDict


def _pack_type(value: type) -> str:
    return value.__name__ if value in _TYPES.values() else f"numpy.{np.dtype(value).name}"


def _unpack_type(name: str) -> type:
    if name in _TYPES:
        return _TYPES[name]
    if not re.fullmatch(r"numpy\.[a-z]+[0-9]*", name):
        raise ValueError(f"{name!r} is not the name of a type of numbers.")
    dtype = np.dtype(name.removeprefix("numpy."))
    if not plain_dtype(dtype):
        raise ValueError(f"{name!r} is not the name of a type of numbers.")
    return dtype.type


# numpy's


def _pack_scalar(value: np.generic) -> tuple[str, Any]:
    if isinstance(value, np.str_):
        return "str", str(value)
    return value.dtype.str, value.tobytes()


def _unpack_scalar(parts: tuple[str, Any]) -> np.generic:
    name, content = parts
    if name == "str":
        return np.str_(content)
    dtype = _unpack_dtype(name)
    if dtype.kind == "S":
        return np.bytes_(content)
    if not plain_dtype(dtype) or len(content) != dtype.itemsize:
        raise ValueError(f"a number of type {name!r} does not have as many bytes.")
    scalar: np.generic = np.frombuffer(content, dtype)[0]
    return scalar


def _unpack_dtype(name: str) -> np.dtype[Any]:
    if not re.fullmatch(r"[<>=|][a-zA-Z][0-9]*(\[[0-9a-zA-Z]+\])?", name):
        raise ValueError(f"{name!r} is not the name of a type of numbers.")
    return np.dtype(name)


def _is_object_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype == object


def _unpack_object_array(parts: tuple[tuple[int, ...], list[Any]]) -> Array:
    shape, items = parts
    if any(extent < 0 for extent in shape) or math.prod(shape) != len(items):
        raise ValueError(f"an array of shape {shape} does not have as many entries.")
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):  # one by one: numpy would unpack tuples into rows
        array[i] = item
    return array.reshape(shape)


def _pack_masked(value: np.ma.MaskedArray[Any, Any]) -> tuple[Any, ...]:
    return np.asarray(value.data), np.ma.getmaskarray(value), np.asarray(value.fill_value)


def _unpack_masked(parts: tuple[Any, Any, Any]) -> np.ma.MaskedArray[Any, Any]:
    data, mask, fill_value = parts
    return np.ma.MaskedArray(data, mask=mask, fill_value=fill_value[()])


_BIT_GENERATORS = {
    kind.__name__: kind
    for kind in (
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.MT19937,
        np.random.Philox,
        np.random.SFC64,
    )
}


def _is_generator(value: Any) -> bool:
    return type(value) is np.random.Generator and (
        type(value.bit_generator).__name__ in _BIT_GENERATORS
        and type(value.bit_generator.seed_seq) is np.random.SeedSequence
    )


def _pack_generator(value: np.random.Generator) -> tuple[Any, ...]:
    source = value.bit_generator
    return dict(source.state), dict(source.seed_seq.state)  # type: ignore[attr-defined]


def _check_position(state: dict[str, Any]) -> None:
    """The place in a generator's buffer, which its compiled code believes."""
    buffers = {"MT19937": ("pos", state["state"], 624), "Philox": ("buffer_pos", state, 4)}
    if state["bit_generator"] in buffers:
        name, place, last = buffers[state["bit_generator"]]
        if not 0 <= place[name] <= last:
            raise ValueError(f"a random generator in it is at {place[name]} of {last}.")


def _unpack_generator(parts: tuple[dict[str, Any], dict[str, Any]]) -> np.random.Generator:
    state, seed = parts
    _check_position(state)
    source = _BIT_GENERATORS[state["bit_generator"]](np.random.SeedSequence(**seed))
    source.state = state  # type: ignore[assignment]
    return np.random.Generator(source)


def _unpack_random_state(state: dict[str, Any]) -> np.random.RandomState:
    _check_position(state)
    value = np.random.RandomState(0)
    value.set_state(state)
    return value


# scipy's

_COMPRESSED = ("csr", "csc", "bsr")
_SPARSE = {
    cls.__name__: cls
    for form in (*_COMPRESSED, "coo", "dia")
    for cls in (getattr(sparse, f"{form}_matrix"), getattr(sparse, f"{form}_array"))
}


def _pack_sparse(value: Any) -> dict[str, Any]:
    if value.format in _COMPRESSED:
        parts: tuple[Any, ...] = (value.data, value.indices, value.indptr)
    elif value.format == "coo":
        parts = (value.data, tuple(value.coords))
    else:
        parts = (value.data, value.offsets)
    return {"class": type(value).__name__, "shape": tuple(value.shape), "parts": parts}


def _unpack_sparse(told: dict[str, Any]) -> Any:
    value = _SPARSE[told["class"]](told["parts"], shape=told["shape"])
    if value.format in _COMPRESSED:
        value.check_format(full_check=True)
    return value


VALUE_CODECS = (
    Codec("bytes", of_types(bytes), lambda v: base64.b64encode(v).decode("ascii"), _unpack_bytes),
    Codec("complex", of_types(complex), lambda v: (v.real, v.imag), lambda v: complex(*v)),
    Codec("slice", of_types(slice), lambda v: (v.start, v.stop, v.step), lambda v: slice(*v)),
    Codec("range", of_types(range), lambda v: (v.start, v.stop, v.step), lambda v: range(*v)),
    Codec("type", _is_type, _pack_type, _unpack_type),
    Codec(
        "scalar",
        lambda v: isinstance(v, np.generic) and plain_dtype(v.dtype) and v.dtype.kind != "V",
        _pack_scalar,
        _unpack_scalar,
    ),
    Codec(
        "dtype",
        lambda v: isinstance(v, np.dtype) and v.kind != "V",
        lambda v: v.str,
        _unpack_dtype,
    ),
    Codec(
        "object_array",
        _is_object_array,
        lambda v: (v.shape, v.ravel().tolist()),
        _unpack_object_array,
    ),
    Codec("masked", of_types(np.ma.MaskedArray), _pack_masked, _unpack_masked),
    Codec("generator", _is_generator, _pack_generator, _unpack_generator),
    Codec(
        "random_state",
        of_types(np.random.RandomState),
        lambda v: v.get_state(legacy=False),
        _unpack_random_state,
    ),
    Codec("sparse", of_types(*_SPARSE.values()), _pack_sparse, _unpack_sparse),
)
