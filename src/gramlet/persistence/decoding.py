"""The model of a tree that `encoding` made.

Every tag has one method here. Trees come from files that may be damaged or hostile: whatever does
not fit is an exception, which `files.load` turns into a `ModelFileError`. Nothing is called but the
methods of this module, the builders in `special`, and ``__setstate__`` of allowed classes.
"""

from __future__ import annotations

import copyreg
from typing import Any

from gramlet.common.arrays import Array
from gramlet.persistence.classes import find_class, find_function
from gramlet.persistence.encoding import DEEPEST, has_own_state
from gramlet.persistence.hooks import CODECS

__all__ = ["Decoder"]

_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


class Decoder:
    """Decodes one tree, with the arrays that belong to it."""

    def __init__(self, arrays: list[Array]) -> None:
        self.uses_sklearn = False
        self._arrays = arrays
        self._shared: dict[int, Any] = {}
        self._depth = 0
        self._methods = {
            "int": self._int,
            "float": self._float,
            "ref": self._ref,
            "list": self._list,
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
        if node is None or type(node) in (bool, str, int, float):
            return node
        if type(node) is not dict:
            raise ValueError(f"a node of the tree is a {type(node).__name__}.")
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError("it is nested too deeply.")
        value = self._tagged(node)
        if "id" in node:
            self._share(node, value)
        self._depth -= 1
        return value

    def _tagged(self, node: dict[str, Any]) -> Any:
        tags = [tag for tag in node if tag in self._methods or tag in CODECS]
        if len(tags) != 1:
            raise ValueError(f"a node of the tree has the tags {sorted(node)}.")
        tag = tags[0]
        if tag in self._methods:
            return self._methods[tag](node)
        self.uses_sklearn |= CODECS[tag].of_sklearn
        return CODECS[tag].unpack(self.decode(node[tag]))

    def _share(self, node: dict[str, Any], value: Any) -> None:
        if "id" in node:
            number = node["id"]
            if type(number) is not int or self._shared.get(number, value) is not value:
                raise ValueError(f"two parts of it have the number {number!r}.")
            self._shared[number] = value

    def _items(self, nodes: Any) -> list[Any]:
        if type(nodes) is not list:
            raise ValueError("a collection in it is not a list.")
        return [self.decode(node) for node in nodes]

    def _int(self, node: dict[str, Any]) -> int:
        return int(node["int"], 16)

    def _float(self, node: dict[str, Any]) -> float:
        return _FLOATS[node["float"]]

    def _ref(self, node: dict[str, Any]) -> Any:
        return self._shared[node["ref"]]

    def _list(self, node: dict[str, Any]) -> list[Any]:
        values: list[Any] = []
        self._share(node, values)
        values.extend(self._items(node["list"]))
        return values

    def _dict(self, node: dict[str, Any]) -> dict[Any, Any]:
        values: dict[Any, Any] = {}
        self._share(node, values)
        for key, item in node["dict"]:
            values[self.decode(key)] = self.decode(item)
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
            return tuple.__new__(cls, self._items(node["items"]))
        if any(has_own_state(cls, method) for method in ("__reduce__", "__reduce_ex__")):
            raise ValueError(f"the class {node['object']!r} is not told by its attributes.")
        value: Any = object.__new__(cls)
        self._share(node, value)
        if has_own_state(cls, "__setstate__"):
            # Not by attributes, even if the file says so: the class checks what it is given.
            value.__setstate__(self.decode(node["state"]))
        elif "state" in node:
            _set_attributes(value, self.decode(node["state"]))
        else:
            _set_attributes(
                value, {name: self.decode(item) for name, item in node["attributes"].items()}
            )
        return value


def _set_attributes(value: Any, attributes: dict[str, Any]) -> None:
    slots = set(copyreg._slotnames(type(value)))  # type: ignore[attr-defined]
    for name, item in attributes.items():
        if name in slots:
            object.__setattr__(value, name, item)
        else:
            # Past the class's own ``__setattr__``: what does not change is not sealed yet.
            value.__dict__[name] = item
