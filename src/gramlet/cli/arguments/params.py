"""How ``--param key=value`` is read."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from gramlet.cli.errors import WrongUse

__all__ = ["parse_params"]

_WORDS = {"true": True, "false": False, "none": None}
_LONGEST = 10_000  # characters: literals are read by a recursive parser


def parse_params(given: Sequence[str] | None) -> dict[str, Any]:
    """``["n_iter=3", "base=edge"]`` as a dictionary; values are numbers, words, true or false.

    >>> parse_params(["n_iter=3", "gamma=1e-2", "base=edge", "normalize=true", "radius=0.5,1"])
    {'n_iter': 3, 'gamma': 0.01, 'base': 'edge', 'normalize': True, 'radius': [0.5, 1]}
    """
    params: dict[str, Any] = {}
    for text in given or ():
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not key or not value:
            raise WrongUse(
                f"--param {_shortened(text)}: write it as key=value, e.g. --param n_iter=3."
            )
        if len(value) > _LONGEST:
            raise WrongUse(
                f"--param {_shortened(text)}: the value has {len(value)} characters; at most "
                f"{_LONGEST} are read."
            )
        if key in params:
            raise WrongUse(f"--param {_shortened(key)} is given twice.")
        params[key] = _value(value)
    return params


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    value = _literal(text)
    if value is None:
        if "," in text and not text.startswith(("[", "(", "{")):
            return [_value(part.strip()) for part in text.split(",") if part.strip()]
        return text
    return list(value) if isinstance(value, tuple) else value


def _literal(text: str) -> Any:
    """The Python literal, if it is a number, a string or a list of these; else None."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in what may be a plain word
            return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
