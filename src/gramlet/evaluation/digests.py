"""A digest of graphs, targets, kernels and their parameters, which identifies an evaluation.

Equal calls give equal digests in every process; they are used to find stored work. Functions are
described by their code. Objects without a description of their content (known by their address
only) are refused, to avoid wrong matches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from gramlet.common.function_content import function_content, is_function
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical

__all__ = ["digest_of"]

# Parameters that do not change the result.
_WAYS = ("n_jobs", "verbose")


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
        _text(state, "GraphBatch")
        _feed(state, thing.__reduce__()[1])
    elif is_function(thing):
        _feed(state, function_content(thing))
    elif hasattr(thing, "get_params"):
        _feed(state, type(thing))
        _feed(state, {k: v for k, v in thing.get_params(deep=False).items() if k not in _WAYS})
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
