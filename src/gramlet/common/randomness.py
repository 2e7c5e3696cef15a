"""Random generators for graphs, from every form of ``random_state``."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.checks import is_integer

__all__ = ["as_generator"]


def as_generator(random_state: Any) -> np.random.Generator:
    """A numpy Generator from an int, a Generator, a RandomState or None (not reproducible).

    >>> bool(as_generator(3).integers(10) == as_generator(3).integers(10))
    True
    """
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    if is_integer(random_state):
        if random_state < 0:
            raise ValueError(f"random_state must not be negative; got {random_state}.")
        return np.random.default_rng(int(random_state))
    raise TypeError(
        "random_state must be an int, a numpy Generator or RandomState, or None; got "
        f"{type(random_state).__name__}."
    )
