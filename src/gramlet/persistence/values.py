"""Plain values of Python, numpy and scipy that JSON does not support."""

from __future__ import annotations

import base64
import math
import re
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Array
from gramlet.common.checks import is_integer
from gramlet.common.stored_state import require_array, require_integer, require_real
from gramlet.persistence.codec import Codec, of_types
from gramlet.persistence.container import plain_dtype
from gramlet.persistence.limits import LARGEST_INTEGER, WIDEST_EMPTY

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
    # np.dtype maps abstract types (np.floating) to concrete ones; they are not encoded.
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
        raise ValueError(f"a number of type {name!r} does not have the right number of bytes.")
    scalar: np.generic = np.frombuffer(content, dtype)[0]
    return scalar


def _unpack_dtype(name: str) -> np.dtype[Any]:
    if not re.fullmatch(r"[<>=|][a-zA-Z][0-9]{0,4}(\[[0-9]{0,4}[a-zA-Z]+\])?", name):
        raise ValueError(f"{name!r} is not the name of a type of numbers.")
    return np.dtype(name)


def _is_object_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype == object


def _unpack_object_array(parts: tuple[tuple[int, ...], list[Any]]) -> Array:
    shape, items = parts
    if any(not is_integer(extent) or extent < 0 for extent in shape) or (
        math.prod(shape) != len(items) or math.prod(extent or 1 for extent in shape) > WIDEST_EMPTY
    ):
        raise ValueError(f"an array of shape {shape} does not have the right number of entries.")
    array = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):  # one by one: numpy would unpack tuples into rows
        array[i] = item
    return array.reshape(shape)


def _pack_masked(value: np.ma.MaskedArray[Any, Any]) -> tuple[Any, ...]:
    return np.asarray(value.data), np.ma.getmaskarray(value), np.asarray(value.fill_value)


def _unpack_masked(parts: tuple[Any, Any, Any]) -> np.ma.MaskedArray[Any, Any]:
    data, mask, fill_value = parts
    if mask.dtype != bool or mask.shape != data.shape or fill_value.ndim:
        raise ValueError("the mask of an array does not fit it.")
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


# Limit of the words of a seed, and of how often generators are spawned from each other.
_LONGEST_SEED = 64
_STATES = {
    "PCG64": (("state", "inc"), 128),
    "PCG64DXSM": (("state", "inc"), 128),
}
_WORDS = {"MT19937": ("key", "uint32", 624), "SFC64": ("state", "uint64", 4)}


def _check_state(state: dict[str, Any]) -> None:
    """The state of a generator, which its compiled code relies on."""
    name, inner = state["bit_generator"], state["state"]
    if name in _STATES:
        keys, bits = _STATES[name]
        for key in keys:
            require_integer(f"the {key} of a random generator", inner[key], 0, (1 << bits) - 1)
    elif name in _WORDS:
        key, dtype, length = _WORDS[name]
        require_array("the state of a random generator", inner[key], dtype, (length,))
    else:
        require_array("the counter of a random generator", inner["counter"], "uint64", (4,))
        require_array("the key of a random generator", inner["key"], "uint64", (2,))
        require_array("the buffer of a random generator", state["buffer"], "uint64", (4,))
        require_integer("the position of a random generator", state["buffer_pos"], 0, 4)
    if name == "MT19937":
        require_integer("the position of a random generator", inner["pos"], 0, 624)
    if "has_uint32" in state:
        require_integer("has_uint32", state["has_uint32"], 0, 1)
        require_integer("uinteger", state["uinteger"], 0, (1 << 32) - 1)
    if "has_gauss" in state:
        require_integer("has_gauss", state["has_gauss"], 0, 1)
        require_real("gauss", state["gauss"])


def _check_seed(seed: dict[str, Any]) -> None:
    """The state of a `SeedSequence`; the cost of mixing depends on its numbers."""
    if set(seed) != {"entropy", "spawn_key", "pool_size", "n_children_spawned"}:
        raise ValueError(f"the seed of a random generator has the parts {sorted(map(str, seed))}.")
    entropy = seed["entropy"]
    numbers = entropy if isinstance(entropy, list | tuple) else [entropy]
    if isinstance(entropy, np.ndarray) and entropy.ndim == 1 and entropy.dtype.kind in "iu":
        numbers = entropy.tolist()
    key = seed["spawn_key"]
    if not isinstance(key, tuple) or max(len(numbers), len(key)) > _LONGEST_SEED:
        raise ValueError("the seed of a random generator is too long.")
    for number in (*(n for n in numbers if n is not None), *key):
        require_integer("the seed of a random generator", number, 0, LARGEST_INTEGER)
    require_integer("the pool of a random generator", seed["pool_size"], 4, _LONGEST_SEED)
    require_integer("n_children_spawned", seed["n_children_spawned"], 0, (1 << 32) - 1)


def _unpack_generator(parts: tuple[dict[str, Any], dict[str, Any]]) -> np.random.Generator:
    state, seed = parts
    kind = _BIT_GENERATORS[state["bit_generator"]]
    _check_state(state)
    _check_seed(seed)
    source = kind(np.random.SeedSequence(**seed))
    source.state = state  # type: ignore[assignment]
    return np.random.Generator(source)


def _unpack_random_state(state: dict[str, Any]) -> np.random.RandomState:
    if state["bit_generator"] != "MT19937":
        raise ValueError("a RandomState must be a Mersenne Twister.")
    _check_state(state)
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


def _unpack_sparse(packed: dict[str, Any]) -> Any:
    cls, shape, parts = _SPARSE[packed["class"]], packed["shape"], packed["parts"]
    if type(shape) is not tuple or len(shape) != 2:
        raise ValueError(f"a sparse matrix has the shape {shape!r}.")
    for extent in shape:
        require_integer("the extent of a sparse matrix", extent, 0)
    form = cls.__name__.partition("_")[0]
    if form == "dia":
        _check_diagonals(*parts)
    elif form != "coo":
        _check_compressed(form, shape, *parts)
    return cls(parts, shape=shape)


def _check_compressed(
    form: str, shape: tuple[int, int], data: Any, indices: Any, indptr: Any
) -> None:
    """The arrays of a compressed matrix; scipy's own check misses decreasing offsets."""
    for array in (indices, indptr):
        if array.dtype not in (np.int32, np.int64) or array.ndim != 1:
            raise ValueError("the indices of a sparse matrix are not a list of integers.")
    if data.dtype.kind not in "biufc" or data.ndim != (3 if form == "bsr" else 1):
        raise ValueError("the entries of a sparse matrix are not numbers.")
    major = shape[1] if form == "csc" else shape[0]
    blocks = data.shape[1] if form == "bsr" else 1
    if blocks < 1 or (len(indptr) - 1) * blocks != major or len(indices) != len(data):
        raise ValueError(f"a sparse matrix of shape {shape} does not fit its arrays.")
    minor = shape[0] if form == "csc" else shape[1]
    inner = minor // data.shape[2] if form == "bsr" and data.shape[2] else minor
    if indptr[0] != 0 or (np.diff(indptr) < 0).any() or indptr[-1] != len(indices):
        raise ValueError("the offsets of a sparse matrix must increase from 0 to its entries.")
    if len(indices) and not (indices.min() >= 0 and indices.max() < inner):
        raise ValueError("the indices of a sparse matrix are out of range.")


def _check_diagonals(data: Any, offsets: Any) -> None:
    if data.ndim != 2 or offsets.shape != data.shape[:1] or offsets.dtype.kind not in "iu":
        raise ValueError("the diagonals of a sparse matrix do not fit its offsets.")


VALUE_CODECS = (
    Codec("bytes", of_types(bytes), lambda v: base64.b64encode(v).decode("ascii"), _unpack_bytes),
    Codec("complex", of_types(complex), lambda v: (v.real, v.imag), lambda v: complex(*v)),
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
