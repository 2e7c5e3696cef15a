"""How much a model file may hold: far beyond what models need, far below what harms a machine."""

from __future__ import annotations

__all__ = [
    "DEEPEST_JSON",
    "LARGEST_INTEGER",
    "MOST_VALUES",
    "TIGHTEST",
    "TIGHTEST_MANIFEST",
    "WIDEST_EMPTY",
]

# Single values of the tree, what is shared counted wherever it stands: some 500 MB in Python.
MOST_VALUES = 5_000_000
# Seeds have 128 bits; longer integers cost more than linear time in places.
LARGEST_INTEGER = 1 << 4096
# A level of the model takes up to four levels of JSON.
DEEPEST_JSON = 400
# No member is packed tighter than this, so that a file which claims to be is a trap.
TIGHTEST = 100
TIGHTEST_MANIFEST = 30
# Arrays without entries take no bytes, whatever their extents say.
WIDEST_EMPTY = 1 << 24
