"""The class of codecs, which describe values of some types by simpler values.

The codecs themselves are in `values` (Python, numpy, scipy) and `parts` (gramlet, scikit-learn).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Codec", "named", "of_types"]


@dataclass(frozen=True)
class Codec:
    """How values of some types are encoded.

    Attributes
    ----------
    tag : str
        Their tag in the tree.
    matches : callable
        Whether a value is one of them.
    pack : callable
        Converts a value into values that can be encoded.
    unpack : callable
        Rebuilds the value and checks everything that compiled code relies on: indices in range,
        lengths that agree.
    of_sklearn : bool
        Whether they are scikit-learn's, so that its version matters.
    """

    tag: str
    matches: Callable[[Any], bool]
    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]
    of_sklearn: bool = False


def of_types(*types: type) -> Callable[[Any], bool]:
    """Matches instances of exactly these types."""
    return lambda value: type(value) in types


def named(*names: str) -> Callable[[Any], bool]:
    """As `of_types`, for types given as ``module:name``, which need not be imported."""
    return lambda value: f"{type(value).__module__}:{type(value).__name__}" in names
