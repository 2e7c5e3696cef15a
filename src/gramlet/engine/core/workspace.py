"""Arrays that are used again, by name: the first access to fresh memory takes as long as the work.

numpy allocates large pages where the system offers them; compiled code gets small ones. Large
workspace is therefore allocated here, once, and handed to compiled functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Array

__all__ = ["Workspace"]


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
