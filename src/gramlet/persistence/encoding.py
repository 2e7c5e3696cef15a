"""A model as a tree of JSON values and a list of arrays.

None, booleans, text and ordinary numbers stand for themselves; everything else is an object with
one tag: ``{"tuple": [...]}``, ``{"array": 3}``, ``{"object": "gramlet…:WeisfeilerLehman", …}``.
Shared parts are stored once: the first place gets an ``id``, the others refer to it. `decoding`
rebuilds the model from the same tags. Objects are checked in the same way as when loaded.
"""

from __future__ import annotations

import copyreg
import inspect
import math
import types
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from gramlet.common.arrays import Array
from gramlet.persistence.classes import qualified_name, refusal, refusal_of_function
from gramlet.persistence.codec import Codec
from gramlet.persistence.codec_table import codec_for
from gramlet.persistence.container import plain_dtype
from gramlet.persistence.limits import LARGEST_INTEGER, MOST_VALUES
from gramlet.persistence.sklearn_models import SCHEMAS
from gramlet.persistence.validation import check_names, validate_object

__all__ = ["DEEPEST", "Encoder", "has_own_state"]

# Models are nested some dozen levels deep; the limit is below Python's recursion limit.
DEEPEST = 80
# JSON readers agree on integers up to here.
_PLAIN_INTEGERS = 1 << 53
_COLLECTIONS = (list, tuple, set, frozenset, dict)
_WAY_OUT = (
    "A model can be saved if it consists of estimators of gramlet and scikit-learn, numbers, text, "
    "arrays and collections of these. Leave the part out (for instance save the kernel, or "
    "search.best_estimator_, alone) and set it again after loading."
)


class Encoder:
    """Encodes one model; ``arrays`` collects its arrays."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self._nodes: dict[int, dict[str, Any]] = {}
        self._alive: list[Any] = []  # an id is only valid while its object lives
        self._open: set[int] = set()
        self._n_shared = 0
        self._n_values = 0
        self._path: list[str] = []

    def encode_model(self, model: Any) -> Any:
        """The tree of a model; TypeError if something in it cannot be saved."""
        return self._at(type(model).__name__, model)

    def _at(self, step: str, value: Any) -> Any:
        self._path.append(step)
        if len(self._path) > DEEPEST:
            raise ValueError(
                f"gramlet.save: the model is nested more than {DEEPEST} levels deep, at "
                f"{''.join(self._path[:6])}…"
            )
        self._n_values += 1
        if self._n_values > MOST_VALUES:
            raise ValueError(f"gramlet.save: the model has more than {MOST_VALUES} values.")
        node = self._encode(value)
        self._path.pop()
        return node

    def _encode(self, value: Any) -> Any:
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind is int:
            if abs(value) > LARGEST_INTEGER:
                raise self._refuse(value, "it is an integer of more than 4096 bits")
            return value if abs(value) < _PLAIN_INTEGERS else {"int": hex(value)}
        if kind is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        return self._encode_once(value)

    def _encode_once(self, value: Any) -> dict[str, Any]:
        key = id(value)
        known = self._nodes.get(key)
        if known is not None:
            if key in self._open:
                raise self._refuse(value, "it contains itself")
            if "id" not in known:
                known["id"] = self._n_shared
                self._n_shared += 1
            return {"ref": known["id"]}
        node: dict[str, Any] = {}
        self._nodes[key] = node
        self._alive.append(value)
        codec = None if type(value) in _COLLECTIONS else codec_for(value)
        self._open.add(key)
        node.update(self._body(value, codec))
        self._open.discard(key)
        return node

    def _body(self, value: Any, codec: Codec | None) -> dict[str, Any]:
        kind = type(value)
        if codec is not None:
            return {codec.tag: self._at("", codec.pack(value))}
        if kind is dict:
            return {"dict": [self._pair(key, item) for key, item in value.items()]}
        if kind in _COLLECTIONS:
            return {kind.__name__: self._items(value)}
        if kind in (np.ndarray, np.memmap) and plain_dtype(value.dtype):
            self.arrays.append(np.asarray(value))
            return {"array": len(self.arrays) - 1}
        if isinstance(value, types.FunctionType):
            return {"function": self._allowed(value, refusal_of_function(value), value)}
        return self._object(value)

    def _items(self, values: Iterable[Any]) -> list[Any]:
        return [self._at(f"[{i}]", item) for i, item in enumerate(values)]

    def _pair(self, key: Any, item: Any) -> list[Any]:
        return [self._at("", key), self._at(f"[{key!r}]", item)]

    def _object(self, value: Any) -> dict[str, Any]:
        cls = type(value)
        name = self._allowed(value, refusal(cls), cls)
        if isinstance(value, tuple):
            node: dict[str, Any] = {"object": name, "items": self._items(value)}
        elif has_own_state(cls, "__setstate__"):
            node = {"object": name, "state": self._at("", value.__getstate__())}
        else:
            attributes = _attributes(value)
            check_names(cls, attributes)
            packed = {key: self._at(f".{key}", item) for key, item in attributes.items()}
            node = {"object": name, "attributes": packed}
        try:
            validate_object(value)
        except Exception as error:
            raise TypeError(
                f"gramlet.save cannot save {''.join(self._path)}: {error} {_WAY_OUT}"
            ) from error
        return node

    def _allowed(self, value: Any, reason: str | None, named: Any) -> str:
        if reason is not None:
            raise self._refuse(value, reason)
        return qualified_name(named)

    def _refuse(self, value: Any, reason: str) -> TypeError:
        thing = value if hasattr(value, "__qualname__") else type(value)
        what = f"{getattr(thing, '__module__', '')}.{getattr(thing, '__qualname__', thing)}"
        of = "" if thing is value else "an instance of "
        return TypeError(
            f"gramlet.save cannot save {''.join(self._path)}, {of}{what}: {reason}. {_WAY_OUT}"
        )


def has_own_state(cls: type, method: str) -> bool:
    """Whether a class of gramlet defines itself what is stored."""
    home = next((base for base in cls.__mro__ if method in vars(base)), object)
    return home.__module__.startswith("gramlet.")


def _attributes(value: Any) -> dict[str, Any]:
    """The state of an instance, without cached properties."""
    cls = type(value)
    held = dict(getattr(value, "__dict__", {}))
    for name in copyreg._slotnames(cls):  # type: ignore[attr-defined]
        if hasattr(value, name):
            held[name] = getattr(value, name)
    schema = SCHEMAS.get(qualified_name(cls))
    left_out = schema.left_out if schema is not None else frozenset()
    return {
        name: item
        for name, item in held.items()
        if name not in left_out
        and not isinstance(inspect.getattr_static(cls, name, None), cached_property)
    }
