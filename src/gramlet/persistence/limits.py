"""Limits of the size of model files: far above what models need, far below what is harmful."""

from __future__ import annotations

__all__ = [
    "DEEPEST_JSON",
    "LARGEST_INTEGER",
    "MOST_VALUES",
    "TIGHTEST",
    "TIGHTEST_MANIFEST",
    "WIDEST_EMPTY",
]

# Values of the tree, with shared parts counted at every reference: some 500 MB in Python.
MOST_VALUES = 5_000_000
# Seeds have 128 bits; longer integers cost more than linear time in places.
LARGEST_INTEGER = 1 << 4096
# A level of the model takes up to four levels of JSON.
DEEPEST_JSON = 400
# No member is compressed more than this; a file that declares more is malicious.
TIGHTEST = 100
TIGHTEST_MANIFEST = 30
# Arrays without entries take no bytes, whatever their shape.
WIDEST_EMPTY = 1 << 24
