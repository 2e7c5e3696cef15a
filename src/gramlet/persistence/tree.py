"""A model as a tree of JSON values and a list of arrays.

None, booleans, text, integers and finite floats stand for themselves, lists for lists; everything
else is an object with one tag, such as ``{"tuple": [...]}`` or ``{"array": 3}``, or an instance:
``{"class": "gramlet.kernels…:WeisfeilerLehman", "state": {...}}``. Arrays and instances that occur
several times are stored once: ``{"ref": 4}`` is the fifth instance that was completed before.

`Encoder` and `Decoder` mirror each other. A tree may come from a file that is damaged or
malicious: `Decoder` raises an exception for anything unexpected, and calls nothing but the
constructors below and those of `classes.restored`.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Array
from gramlet.common.checks import is_integer
from gramlet.persistence import classes
from gramlet.persistence.container import is_plain

# Models are nested some dozen levels deep; the limit is below Python's recursion limit.
_DEEPEST = 80
# Values of parts that are referred to, counted at every reference: a small file must not describe
# a huge tree.
_MOST_REPEATED = 20_000_000
# Seeds have 128 bits.
_LONGEST_INTEGER = 4096
_COLLECTIONS = {kind.__name__: kind for kind in (tuple, set, frozenset)}
_FLOATS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_MATRICES = {kind.__name__: kind for kind in (sparse.csr_matrix, sparse.csr_array)}
_SCALAR = re.compile(r"[<>|][biufSU][0-9]{1,6}")


class _Size:
    """Counts values, those of shared instances at every reference."""

    def __init__(self) -> None:
        self.n_values = 0
        self.n_repeated = 0

    def repeat(self, n_values: int) -> None:
        self.n_values += n_values
        self.n_repeated += n_values
        if self.n_repeated > _MOST_REPEATED:
            raise ValueError("the model refers too often to parts of itself.")


class Encoder:
    """Encodes one model; ``arrays`` collects its arrays."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self._array_numbers: dict[int, int] = {}
        self._instances: dict[int, tuple[int, int] | None] = {}  # None while it is encoded
        self._alive: list[Any] = []  # an id is only valid while its object lives
        self._path: list[str] = []
        self._size = _Size()
        self._n_done = 0

    def encode(self, value: Any, step: str) -> Any:
        """The node of a value; ``step`` leads to it from the value that contains it."""
        kind = type(value)
        self._size.n_values += 1
        if value is None or kind is bool or kind is str:
            return value
        self._path.append(step)
        if len(self._path) > _DEEPEST:
            raise ValueError(
                f"gramlet.save: the model is nested more than {_DEEPEST} levels deep, at "
                f"{''.join(self._path[:6])}…"
            )
        node = self._tagged(value, kind)
        self._path.pop()
        return node

    def _tagged(self, value: Any, kind: type) -> Any:
        if kind is int:
            if value.bit_length() > _LONGEST_INTEGER:
                raise self._refused(f"an integer of more than {_LONGEST_INTEGER} bits")
            return value
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if kind is list:
            return self._items(value)
        if kind.__name__ in _COLLECTIONS and kind in _COLLECTIONS.values():
            return {kind.__name__: self._items(value)}
        if kind is dict:
            return {"dict": [self._pair(key, item) for key, item in value.items()]}
        if kind is bytes:
            return {"bytes": value.hex()}
        if isinstance(value, np.generic) and _SCALAR.fullmatch(value.dtype.str):
            return {"scalar": [value.dtype.str, self.encode(value.item(), "")]}
        if kind in (np.ndarray, np.memmap):
            return self._array(value)
        if kind in _MATRICES.values():
            parts = (value.data, value.indices, value.indptr)
            return {kind.__name__: [list(value.shape), *(self.encode(part, "") for part in parts)]}
        return self._instance(value)

    def _items(self, values: Any) -> list[Any]:
        return [self.encode(item, f"[{i}]") for i, item in enumerate(values)]

    def _pair(self, key: Any, item: Any) -> list[Any]:
        return [self.encode(key, ""), self.encode(item, f"[{key!r}]")]

    def _array(self, value: Array) -> dict[str, Any]:
        if value.dtype == object and value.ndim == 1:
            return {"objects": self._items(value.tolist())}
        if not is_plain(value.dtype):
            raise self._refused(f"an array of type {value.dtype}")
        number = self._array_numbers.setdefault(id(value), len(self.arrays))
        if number == len(self.arrays):
            self.arrays.append(np.asarray(value))
            self._alive.append(value)
        return {"array": number}

    def _instance(self, value: Any) -> dict[str, Any]:
        if id(value) in self._instances:
            known = self._instances[id(value)]
            if known is None:
                raise self._refused("a part that contains itself")
            self._size.repeat(known[1])
            return {"ref": known[0]}
        before = self._size.n_values
        self._instances[id(value)] = None
        try:
            name = classes.name_of(type(value))
            state = classes.state_of(value)
        except TypeError as error:
            raise self._refused(str(error)) from error
        self._alive += [value, state]
        node = {key: self.encode(item, f".{key}") for key, item in state.items()}
        try:
            classes.check(value, state)
        except Exception as error:
            raise TypeError(f"gramlet.save cannot save {''.join(self._path)}: {error}") from error
        self._instances[id(value)] = self._n_done, self._size.n_values - before + 1
        self._n_done += 1
        return {"class": name, "state": node}

    def _refused(self, what: str) -> TypeError:
        return TypeError(f"gramlet.save cannot save {''.join(self._path)}: it is {what}")


class Decoder:
    """Decodes one tree, with the arrays that belong to it."""

    def __init__(self, arrays: list[Array]) -> None:
        self.uses_sklearn = False
        self._arrays = arrays
        self._instances: list[tuple[Any, int]] = []
        self._depth = 0
        self._size = _Size()
        self._methods = {
            "float": lambda text: _FLOATS[text],
            "bytes": bytes.fromhex,
            "dict": self._dict,
            "scalar": self._scalar,
            "array": lambda number: _entry(self._arrays, number),
            "objects": self._objects,
            "ref": self._ref,
            **{tag: self._collection(kind) for tag, kind in _COLLECTIONS.items()},
            **{tag: self._matrix(kind) for tag, kind in _MATRICES.items()},
        }

    def decode(self, node: Any) -> Any:
        """The value of a node."""
        self._size.n_values += 1
        if node is None or type(node) in (bool, str, float):
            return node
        if type(node) is int:
            if node.bit_length() > _LONGEST_INTEGER:
                raise ValueError("an integer in it is too long.")
            return node
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError("it is nested too deeply.")
        value = self._items(node) if type(node) is list else self._tagged(node)
        self._depth -= 1
        return value

    def _tagged(self, node: dict[str, Any]) -> Any:
        if set(node) == {"class", "state"}:
            return self._instance(node["class"], node["state"])
        tag = next(iter(node), "")
        if len(node) != 1 or tag not in self._methods:
            raise ValueError(f"a node of the tree has the tags {sorted(node)}.")
        return self._methods[tag](node[tag])

    def _items(self, nodes: Any) -> list[Any]:
        if type(nodes) is not list:
            raise ValueError("a collection in it is not a list.")
        return [self.decode(node) for node in nodes]

    def _collection(self, kind: Any) -> Any:
        return lambda nodes: kind(self._items(nodes))

    def _dict(self, pairs: Any) -> dict[Any, Any]:
        values = {self.decode(key): self.decode(item) for key, item in pairs}
        if len(values) != len(pairs):
            raise ValueError("a dict in it has a key twice.")
        return values

    def _scalar(self, parts: Any) -> np.generic:
        name, node = parts
        if not _SCALAR.fullmatch(name):
            raise ValueError(f"{name!r} is not the name of a type of numbers.")
        value: np.generic = np.dtype(name).type(self.decode(node))
        return value

    def _objects(self, nodes: Any) -> Array:
        items = self._items(nodes)
        array = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):  # one by one: numpy would unpack tuples into rows
            array[i] = item
        return array

    def _matrix(self, kind: Any) -> Any:
        def build(parts: Any) -> Any:
            shape, data, indices, indptr = parts[0], *map(self.decode, parts[1:])
            _check_csr(shape, data, indices, indptr)
            return kind((data, indices, indptr), shape=tuple(shape))

        return build

    def _ref(self, number: Any) -> Any:
        # Only complete instances have a number, so that nothing can contain itself.
        value, n_values = _entry(self._instances, number)
        self._size.repeat(n_values)
        return value

    def _instance(self, name: Any, nodes: Any) -> Any:
        cls = classes.named(name)
        before = self._size.n_values
        self.uses_sklearn |= cls.__module__.startswith("sklearn.")
        state = {key: self.decode(node) for key, node in nodes.items()}
        value = classes.restored(cls, state)
        self._instances.append((value, self._size.n_values - before + 1))
        return value


def _entry(entries: list[Any], number: Any) -> Any:
    if type(number) is not int or not 0 <= number < len(entries):
        raise ValueError(f"it refers to a part {number!r} that is not defined before.")
    return entries[number]


def _check_csr(shape: Any, data: Any, indices: Any, indptr: Any) -> None:
    """The arrays of a sparse matrix; scipy's own check misses decreasing offsets."""
    n_rows, n_columns = shape
    for array in (indices, indptr):
        if array.dtype not in (np.int32, np.int64) or array.ndim != 1:
            raise ValueError("the indices of a sparse matrix are not a list of integers.")
    if data.dtype.kind not in "biuf" or data.shape != indices.shape:
        raise ValueError("the entries of a sparse matrix are not numbers, one per index.")
    if not (is_integer(n_columns) and n_columns >= 0 and len(indptr) == n_rows + 1):
        raise ValueError(f"a sparse matrix of shape {shape} does not fit its arrays.")
    if indptr[0] != 0 or (indptr[1:] < indptr[:-1]).any() or indptr[-1] != len(indices):
        raise ValueError("the offsets of a sparse matrix must increase from 0 to its entries.")
    if len(indices) and not (indices.min() >= 0 and indices.max() < n_columns):
        raise ValueError("the indices of a sparse matrix are out of range.")
