"""Digests of labels, graphs, targets, kernels and parameters, the same in every process.

Stored work is found again by them; ``n_jobs`` and ``verbose`` are not included. Functions are known
by name and source; functions without a name and objects that are known by their address only are
refused, to avoid wrong matches. Labels that are equal in Python (1, 1.0, True) have the same bytes.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
import types
from collections.abc import Hashable, Mapping
from numbers import Complex, Integral, Number
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, UInt64s
from gramlet.common.checks import is_integer
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical

# The bytes for a missing column of labels; no label has these bytes.
_NO_LABEL = b"-"


def label_bytes(label: Any) -> bytes:
    """Bytes that are equal for two labels if and only if the labels are equal in Python.

    Labels are None, strings, bytes, numbers and tuples of these; a ValueError names other types.

    >>> label_bytes(1) == label_bytes(1.0) == label_bytes(True) != label_bytes("1")
    True
    """
    if label is None:
        return b"n"
    if isinstance(label, str):
        return _framed(b"s", str.encode(label, "utf-8", "surrogatepass"))
    if isinstance(label, bytes):
        return _framed(b"b", bytes(label))
    if isinstance(label, tuple):
        return _framed(b"t", b"".join(label_bytes(part) for part in label))
    found = _number_bytes(label)
    if found is None:
        kind = type(label)
        raise ValueError(
            f"Labels of type {kind.__module__}.{kind.__qualname__} have no content hash: {label!r}."
            " Labels must be None, strings, bytes, numbers or tuples of these; turn others into "
            "strings first."
        )
    return found


def _framed(kind: bytes, content: bytes) -> bytes:
    return kind + str(len(content)).encode() + b":" + content


def _number_bytes(label: Any) -> bytes | None:
    """The exact value of a number as a fraction; None if it is not a number."""
    if isinstance(label, np.bool_):
        label = bool(label)
    if not isinstance(label, Number) or isinstance(label, np.timedelta64):
        return None
    if isinstance(label, Integral):
        label = int(label)
    if isinstance(label, Complex) and not hasattr(label, "as_integer_ratio"):
        if label.imag == 0:
            return _number_bytes(label.real)
        parts = [_number_bytes(part) for part in (label.real, label.imag)]
        return None if None in parts else _framed(b"c", b"".join(part or b"" for part in parts))
    try:
        numerator, denominator = label.as_integer_ratio()
    except OverflowError:
        return b"i+" if label > 0 else b"i-"
    except (AttributeError, ValueError, TypeError):
        return None
    return _framed(b"r", f"{int(numerator):x}/{int(denominator):x}".encode())


def label_hash(label: Hashable) -> tuple[int, int]:
    """128 bits of a label's content, as two numbers below 2⁶⁴."""
    return _halves(label_bytes(label))


def _halves(content: bytes) -> tuple[int, int]:
    digest = hashlib.blake2b(content, digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def column_hashes(column: Categorical | None, count: int) -> UInt64s:
    """The content hashes of a column of labels, shape (count, 2).

    Without a column all entries get the value for "no label".

    >>> column = Categorical.from_values(["C", "O", "C"])
    >>> hashes = column_hashes(column, 3)
    >>> bool((hashes[0] == hashes[2]).all()), bool((hashes[0] == hashes[1]).any())
    (True, False)
    """
    if column is None:
        return np.tile(np.array(_halves(_NO_LABEL), dtype=np.uint64), (count, 1))
    table = np.zeros((len(column.categories), 2), dtype=np.uint64)
    for code in np.unique(column.codes).tolist():
        table[code] = label_hash(column.categories[code])
    hashes: UInt64s = table[column.codes]
    return hashes


# Parameters that do not change the result.
_NOT_STORED = ("n_jobs", "verbose")


def digest_of(*things: Any) -> str:
    """A SHA-256 digest of values, arrays, graphs and estimators, in hexadecimal.

    Raises
    ------
    TypeError
        If the content of something cannot be described.

    Examples
    --------
    >>> digest_of(1, "a") == digest_of(1, "a"), digest_of(1) == digest_of(1.0)
    (True, False)
    """
    state = hashlib.sha256()
    for thing in things:
        try:
            _feed(state, thing)
        except RecursionError:  # it refers to itself
            raise TypeError(_refusal(thing)) from None
    return state.hexdigest()


def _feed(state: Any, thing: Any) -> None:
    if thing is None or isinstance(thing, bool | int | float | complex | str | bytes):
        _text(state, f"{type(thing).__name__}:{thing!r}")
    elif isinstance(thing, np.generic):
        _feed(state, thing.item())
    elif isinstance(thing, np.ndarray):
        _array(state, thing)
    elif isinstance(thing, Mapping):
        _text(state, f"mapping:{len(thing)}")
        for key in sorted(thing, key=repr):
            _feed(state, key)
            _feed(state, thing[key])
    elif isinstance(thing, list | tuple):
        _text(state, f"sequence:{len(thing)}")
        for item in thing:
            _feed(state, item)
    elif isinstance(thing, Categorical):
        _array(state, thing.codes)
        _feed(state, list(thing.categories))
    elif isinstance(thing, GraphBatch):
        _text(state, f"GraphBatch:{graphs_digest(thing)}")
    elif is_function(thing):
        _feed(state, _function(thing))
    elif hasattr(thing, "get_params"):
        _feed(state, type(thing))
        _feed(
            state, {k: v for k, v in thing.get_params(deep=False).items() if k not in _NOT_STORED}
        )
    else:
        _written(state, thing)


def _written(state: Any, thing: Any) -> None:
    """Anything else by its repr, if that is more than its address in memory."""
    text = repr(thing)
    if f"0x{id(thing):x}" in text.lower() or " at 0x" in text:
        raise TypeError(_refusal(thing))
    _text(state, f"{type(thing).__module__}.{type(thing).__qualname__}:{text}")


def _refusal(thing: Any) -> str:
    return (
        f"{thing!r} cannot be written down, so stored work cannot be found again. Leave store= "
        "out, or use a function or an estimator instead."
    )


def _text(state: Any, text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    state.update(len(data).to_bytes(8, "little"))
    state.update(data)


def _array(state: Any, values: Any) -> None:
    _text(state, f"array:{values.dtype.str}:{values.shape}")
    if values.dtype == object:
        _feed(state, values.ravel().tolist())
    else:
        state.update(np.ascontiguousarray(values).tobytes())


def graphs_digest(batch: GraphBatch) -> str:
    """A digest of 32 hexadecimal digits of the arcs and all columns; depends on node numbers.

    >>> a = GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]])
    >>> b = GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "N"]])
    >>> graphs_digest(a) == graphs_digest(a[:]), graphs_digest(a) == graphs_digest(b)
    (True, False)
    """
    digest = hashlib.sha256()
    digest.update(b"directed" if batch.directed and len(batch.indices) else b"undirected")
    # Numbers of nodes count by value, whatever their width.
    for array in (batch.node_offsets, batch.indptr, batch.indices.astype(np.int64)):
        _add_array(digest, array)
    for column in (batch.node_labels, batch.edge_labels):
        _add_labels(digest, column)
    for values in (batch.edge_weights, batch.node_attributes, batch.edge_attributes):
        _add_array(digest, values)
    if batch.molecules is not None:  # descriptors and fingerprints depend on them
        digest.update(digest_of(batch.molecules).encode())
    return digest.hexdigest()[:32]


def values_digest(values: Any) -> str | None:
    """32 hexadecimal digits of an array of any kind; None for None."""
    return None if values is None else digest_of(np.asarray(values))[:32]


def _add_array(digest: Any, array: Array | None) -> None:
    if array is None or array.size == 0:
        digest.update(b"none")
        return
    digest.update(f"{array.dtype.str}{array.shape}".encode())
    digest.update(memoryview(np.ascontiguousarray(array)).cast("B"))


def _add_labels(digest: Any, column: Categorical | None) -> None:
    """Labels by value, in the order of their first appearance, and the codes in that order."""
    if column is None or len(column) == 0:
        digest.update(b"none")
        return
    first = np.full(len(column.categories), len(column))
    first[column.codes[::-1]] = np.arange(len(column))[::-1]  # the last assignment is kept
    by_appearance = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(column))]
    rank = np.zeros(len(column.categories), dtype=np.int64)
    rank[by_appearance] = np.arange(len(by_appearance))
    _add_array(digest, rank[column.codes])
    for code in by_appearance:
        digest.update(_of_label(column.categories[code]))


def _of_label(label: Any) -> bytes:
    try:
        return label_bytes(label)
    except ValueError:
        return repr(label).encode("utf-8", "surrogatepass")


def is_function(thing: Any) -> bool:
    """Whether a value is a function, a method, a partial call or a class."""
    return callable(thing) and (
        hasattr(thing, "__qualname__") or isinstance(thing, functools.partial)
    )


def _function(function: Any) -> list[Any]:
    """The name and the source of a function, as plain values.

    Raises
    ------
    TypeError
        For a function without a name: another one cannot be told apart from it later.
    """
    if isinstance(function, functools.partial):
        return ["partial", _function(function.func), list(function.args), dict(function.keywords)]
    if isinstance(function, types.MethodType):
        return ["method", _function(function.__func__), function.__self__]
    name = f"{function.__module__}.{function.__qualname__}"
    if isinstance(function, type):
        return ["name", name]
    if "<" in name:
        raise TypeError(
            f"{name!r} is a function without a name of its own (a lambda, or defined inside "
            "another function), so stored work cannot be found again. Define it with def at the "
            "top of a module, or leave store= or output= out."
        )
    plain = getattr(function, "py_func", function)  # a function that numba compiled
    if not isinstance(plain, types.FunctionType):
        return ["name", name]
    try:
        return ["function", name, inspect.getsource(plain)]
    except OSError:  # typed into an interpreter
        return ["function", name, plain.__code__.co_code, repr(plain.__code__.co_names)]


def class_name(estimator: Any) -> str:
    """The module and the name of the class of an estimator."""
    cls = type(estimator)
    return f"{cls.__module__}.{cls.__qualname__}"


def described(value: Any) -> Any:
    """A parameter as JSON: numbers and words as they are, arrays by digest, functions by name,
    estimators by class.

    >>> described({"n_iter": np.int64(3), "weights": np.ones(2)})["n_iter"]
    3
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, bytes | complex):
        return repr(value)
    if isinstance(value, float):
        return value if np.isfinite(value) else repr(value)
    if isinstance(value, dict):
        return {str(key): described(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [described(item) for item in value]
    if isinstance(value, np.ndarray):
        return {"array": values_digest(value), "shape": list(value.shape)}
    if isinstance(value, GraphBatch):
        return {"graphs": graphs_digest(value)}
    if hasattr(value, "get_params") and not isinstance(value, type):
        return {"class": class_name(value), "params": _params(value)}
    if is_function(value):
        return described(_function(value))
    if callable(value) and hasattr(value, "__dict__"):
        return {"class": class_name(value), "content": described(vars(value))}
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _params(estimator: Any) -> dict[str, Any]:
    own = estimator.get_params(deep=False)
    found = {}
    for name in sorted(own.keys() - set(_NOT_STORED)):
        try:
            found[name] = described(own[name])
        except RecursionError:
            raise ValueError(
                f"The {name!r} parameter of {type(estimator).__name__} refers to itself, so it "
                "cannot be described in a store. Compute the matrix in memory, without output=."
            ) from None
    return found


def with_drawn_seeds(
    estimator: Any, drawn: dict[str, int] | None = None
) -> tuple[Any, dict[str, int]]:
    """The estimator with a number in place of every ``random_state`` that is not a number.

    Parameters
    ----------
    estimator : estimator
        A clone of the user's estimator; it is changed.
    drawn : dict, optional
        Numbers that were drawn before, by name of the parameter. Others are drawn now.

    Returns
    -------
    estimator, drawn
    """
    drawn = drawn or {}
    params = estimator.get_params(deep=True)
    seeds: dict[str, int] = {}
    for name in sorted(params, key=lambda name: name.count("__")):
        *owners, last = name.split("__")
        if last != "random_state" or is_integer(params[name]):
            continue
        # A part without a seed gets one from its owner, so that it does not need one.
        above = ("__".join([*owners[:depth], "random_state"]) for depth in range(len(owners)))
        if owners and params[name] is None and any(owner in params for owner in above):
            continue
        seeds[name] = drawn.get(name, _draw(params[name]))
    return (estimator.set_params(**seeds) if seeds else estimator), seeds


def _draw(random_state: Any) -> int:
    from sklearn.utils import check_random_state

    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    rng = np.random.RandomState() if random_state is None else check_random_state(random_state)
    return int(rng.randint(2**31 - 1))
