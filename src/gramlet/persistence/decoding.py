"""Rebuilds a model from the tree that `encoding` wrote.

Every tag has one method here. Trees come from files that may be damaged or malicious: anything
unexpected raises an exception, which `files.load` turns into a `ModelFileError`. Only the methods
of this module, the builders of the codecs, ``__setstate__`` of gramlet's own classes, and the
checks of `validation` are called.
"""

from __future__ import annotations

import copyreg
from typing import Any

from gramlet.common.arrays import Array
from gramlet.persistence.classes import find_class, find_function
from gramlet.persistence.codec_table import CODECS
from gramlet.persistence.encoding import DEEPEST, has_own_state
from gramlet.persistence.limits import LARGEST_INTEGER, MOST_VALUES
from gramlet.persistence.validation import check_names, validate_object

__all__ = ["Decoder"]

_LONGEST_HEX = len(hex(-LARGEST_INTEGER))
_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class Decoder:
    """Decodes one tree, with the arrays that belong to it."""

    def __init__(self, arrays: list[Array]) -> None:
        self.uses_sklearn = False
        self._arrays = arrays
        self._shared: dict[int, tuple[Any, int]] = {}
        self._depth = 0
        self._n_values = 0
        self._methods = {
            "int": self._int,
            "float": self._float,
            "ref": self._ref,
            "list": lambda node: self._items(node["list"]),
            "tuple": lambda node: tuple(self._items(node["tuple"])),
            "set": lambda node: set(self._items(node["set"])),
            "frozenset": lambda node: frozenset(self._items(node["frozenset"])),
            "dict": self._dict,
            "array": self._array,
            "function": lambda node: find_function(node["function"]),
            "object": self._object,
        }

    def decode(self, node: Any) -> Any:
        """The value of a node."""
        self._count(1)
        if type(node) is int and abs(node) > LARGEST_INTEGER:
            raise ValueError("an integer in it is too long.")
        if node is None or type(node) in (bool, str, int, float):
            return node
        if type(node) is not dict:
            raise ValueError(f"a node of the tree is a {type(node).__name__}.")
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError("it is nested too deeply.")
        before = self._n_values
        value = self._tagged(node)
        if "id" in node:
            self._share(node["id"], value, self._n_values - before + 1)
        self._depth -= 1
        return value

    def _count(self, n_values: int) -> None:
        # Shared parts count at every reference, so that small files cannot describe huge trees.
        self._n_values += n_values
        if self._n_values > MOST_VALUES:
            raise ValueError(f"it has more than {MOST_VALUES} values.")

    def _tagged(self, node: dict[str, Any]) -> Any:
        tags = [tag for tag in node if tag in self._methods or tag in CODECS]
        if len(tags) != 1:
            raise ValueError(f"a node of the tree has the tags {sorted(node)}.")
        tag = tags[0]
        if tag in self._methods:
            return self._methods[tag](node)
        self.uses_sklearn |= CODECS[tag].of_sklearn
        return CODECS[tag].unpack(self.decode(node[tag]))

    def _share(self, number: Any, value: Any, weight: int) -> None:
        if type(number) is not int or number in self._shared:
            raise ValueError(f"two parts of it have the number {number!r}.")
        self._shared[number] = value, weight

    def _items(self, nodes: Any) -> list[Any]:
        if type(nodes) is not list:
            raise ValueError("a collection in it is not a list.")
        return [self.decode(node) for node in nodes]

    def _int(self, node: dict[str, Any]) -> int:
        text = node["int"]
        if type(text) is not str or len(text) > _LONGEST_HEX:
            raise ValueError("an integer in it is too long.")
        return int(text, 16)

    def _float(self, node: dict[str, Any]) -> float:
        return _FLOATS[node["float"]]

    def _ref(self, node: dict[str, Any]) -> Any:
        # Only complete parts have a number, so that nothing can contain itself.
        if node["ref"] not in self._shared:
            raise ValueError(f"it refers to a part {node['ref']!r} that is not defined before.")
        value, weight = self._shared[node["ref"]]
        self._count(weight)
        return value

    def _dict(self, node: dict[str, Any]) -> dict[Any, Any]:
        if type(node["dict"]) is not list:
            raise ValueError("a collection in it is not a list.")
        values: dict[Any, Any] = {}
        for key, item in node["dict"]:
            values[self.decode(key)] = self.decode(item)
        if len(values) != len(node["dict"]):
            raise ValueError("a dict in it has a key twice.")
        return values

    def _array(self, node: dict[str, Any]) -> Array:
        number = node["array"]
        if type(number) is not int or not 0 <= number < len(self._arrays):
            raise ValueError(f"it has no array number {number!r}.")
        return self._arrays[number]

    def _object(self, node: dict[str, Any]) -> Any:
        cls = find_class(node["object"])
        self.uses_sklearn |= cls.__module__.startswith("sklearn.")
        if issubclass(cls, tuple):
            items = self._items(node["items"])
            if len(items) != len(cls._fields):  # type: ignore[attr-defined]
                raise ValueError(f"a {cls.__name__} in it has {len(items)} parts.")
            value: Any = tuple.__new__(cls, items)
        else:
            value = object.__new__(cls)
            self._fill(value, node)
        validate_object(value)
        return value

    def _fill(self, value: Any, node: dict[str, Any]) -> None:
        """Restore the state of an instance."""
        cls = type(value)
        if has_own_state(cls, "__setstate__"):
            # Never by attributes, even if the file requests it: the class checks its state itself.
            value.__setstate__(self.decode(node["state"]))
            return
        if type(node["attributes"]) is not dict:
            raise ValueError(f"the attributes of a {cls.__name__} in it are not a dict.")
        check_names(cls, node["attributes"])
        slots = set(copyreg._slotnames(cls))  # type: ignore[attr-defined]
        for name, item in node["attributes"].items():
            decoded = self.decode(item)
            if name in slots:
                object.__setattr__(value, name, decoded)
            else:
                # Bypasses the class's ``__setattr__``, which refuses changes to immutable objects.
                value.__dict__[name] = decoded
