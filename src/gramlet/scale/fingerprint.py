"""Fingerprints of graphs, target and parameters, for the first line of a journal.

Equal input gives equal fingerprints in every process. ``n_jobs`` and ``verbose`` are not included.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import numpy as np

from gramlet.common.arrays import Array
from gramlet.common.checks import is_integer
from gramlet.common.function_content import function_content, is_function
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical
from gramlet.graphs.label_content import label_bytes

__all__ = ["class_name", "described", "graphs_digest", "values_digest", "with_drawn_seeds"]

_NOT_STORED = ("n_jobs", "verbose")


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
    return digest.hexdigest()[:32]


def values_digest(values: Any) -> str | None:
    """32 hexadecimal digits of an array of any kind; None for None."""
    if values is None:
        return None
    array = np.asarray(values)
    digest = hashlib.sha256()
    if array.dtype.kind in "OUS":
        digest.update(repr(array.tolist()).encode("utf-8", "surrogatepass"))
    else:
        _add_array(digest, array)
    return digest.hexdigest()[:32]


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


def class_name(estimator: Any) -> str:
    """The module and the name of the class of an estimator."""
    cls = type(estimator)
    return f"{cls.__module__}.{cls.__qualname__}"


def described(value: Any) -> Any:
    """A parameter as JSON: numbers and words as they are, arrays and functions by digest,
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
        return _described_function(value)
    if callable(value) and hasattr(value, "__dict__"):
        return {"class": class_name(value), "content": described(vars(value))}
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value))


def _described_function(function: Any) -> str:
    """A function by its name and a digest of what it computes."""
    name = getattr(function, "__qualname__", "partial")
    if isinstance(function, type):
        return f"{function.__module__}.{name}"
    content = json.dumps(described(function_content(function)), sort_keys=True)
    code = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{function.__module__}.{name}, code {code}"


def _params(estimator: Any) -> dict[str, Any]:
    own = estimator.get_params(deep=False)
    found = {}
    for name in sorted(own.keys() - set(_NOT_STORED)):
        try:
            found[name] = described(own[name])
        except RecursionError:
            raise ValueError(
                f"The {name!r} parameter of {type(estimator).__name__} refers to itself, so it "
                "cannot be described in a journal. Compute the matrix in memory, without output=."
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
