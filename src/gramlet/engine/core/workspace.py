"""Arrays that are used again, by name: the first access to fresh memory takes as long as the work.

numpy allocates large pages where the system offers them; compiled code gets small ones. Large
workspace is therefore allocated here, once, and handed to compiled functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gramlet.common.arrays import Array


class Workspace:
    """Uninitialised arrays that stay allocated until the workspace is dropped.

    >>> workspace = Workspace()
    >>> codes = workspace.array("codes", 3, np.int32)
    >>> np.shares_memory(codes, workspace.array("codes", 2, np.int32))
    True
    """

    def __init__(self) -> None:
        self._arrays: dict[str, Array] = {}

    def array(self, name: str, n: int, dtype: Any) -> Array:
        """An array of ``n`` entries; the next call with this name gives the same memory."""
        held = self._arrays.get(name)
        if held is None or len(held) < n or held.dtype != dtype:
            held = self._arrays[name] = np.empty(n, dtype=dtype)
        return held[:n]


class Workspaces:
    """Workspaces for threads, each of which borrows one that is free.

    >>> spaces = Workspaces()
    >>> with spaces.borrowed() as first:
    ...     pass
    >>> with spaces.borrowed() as second:
    ...     second is first
    True
    """

    def __init__(self) -> None:
        self._free: list[Workspace] = []

    @contextmanager
    def borrowed(self) -> Iterator[Workspace]:
        """A workspace that nobody else has until the end of the context."""
        try:
            space = self._free.pop()
        except IndexError:
            space = Workspace()
        try:
            yield space
        finally:
            self._free.append(space)
