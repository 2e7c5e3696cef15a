"""gramlet: graph kernels and graph embeddings, exact and fast, at home in scikit-learn.

The public names are loaded when first used, so that ``import gramlet`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

from gramlet._version import __version__

# Public name -> the module it lives in.
_HOMES = {
    "GraphBatch": "gramlet.graphs.batch",
    "as_batch": "gramlet.graphs.convert",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'gramlet' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
