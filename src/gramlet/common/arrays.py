"""Names of array types, for the whole library."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Array",
    "Bools",
    "Complexes",
    "Floats",
    "Int16s",
    "Int32s",
    "Ints",
    "Nodes",
    "UInt32s",
    "UInt64s",
    "UInt8s",
]

Array = NDArray[Any]
Bools = NDArray[np.bool_]
Complexes = NDArray[np.complex128]
Floats = NDArray[np.float64]
Int16s = NDArray[np.int16]
Int32s = NDArray[np.int32]
Ints = NDArray[np.int64]
# Numbers of nodes: 32 bits if all nodes of a batch fit, otherwise 64.
Nodes = NDArray[np.signedinteger[Any]]
UInt8s = NDArray[np.uint8]
UInt32s = NDArray[np.uint32]
UInt64s = NDArray[np.uint64]
