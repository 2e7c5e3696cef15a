"""The contract of all kernels: base classes, profiles and tags.

Names are imported when they are first used, because listing kernels needs none of them.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "CountKernel": "count_kernel",
    "ExplicitFeatures": "count_kernel",
    "COMMON_CONSTRAINTS": "kernel",
    "GraphKernel": "kernel",
    "shared_texts": "parameter_texts",
    "CountProfile": "profile",
    "FeatureProfile": "profile",
    "Profile": "profile",
    "GraphTags": "tags",
    "graph_tags": "tags",
    "is_embedding": "tags",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
