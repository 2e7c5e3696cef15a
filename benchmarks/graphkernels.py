"""The C++ package graphkernels, compiled from its sources, and graphs in its formats.

The package can no longer be installed, but its sources still compile. Unpack the source archive of
GKextCPy 0.4.1, set GRAPHKERNELS_SOURCE to its folder and EIGEN_INCLUDE to the folder that contains
``eigen3/Eigen``. A small shim calls the C++ functions directly, so that the package's conversions
from Python, which take seconds, are not measured.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from gramlet import GraphBatch

PEER = "graphkernels (C++)"
_HERE = Path(__file__).parent
_SHIM = _HERE / "graphkernels_shim.cpp"
_POINTER = ctypes.c_void_p

# Writes beyond the end of a vector if the first of two nodes has more neighbours. This is always
# repaired: a benchmark must not depend on the memory there.
_SAFE = {"inter_(min(": "inter_(max("}
# The count of all graphlets of four nodes needs a loop over the neighbours of one end of an edge
# that are not neighbours of the other, except for the other end itself. Instead of this one node
# the package removes all neighbours, or all nodes, so that the loop is empty. It also uses the
# number of nodes and one degree in place of two degrees.
_RIGHT = {
    "al[i].begin(), al[i].end(), v.begin()": "&j, &j + 1, v.begin()",
    "v1.begin(), v1.end(), v.begin()": "&i, &i + 1, v.begin()",
    "(double)v1.size() - (double)al[i].size()": "(double)al[i].size() - (double)al[j].size()",
}


def needs_sources() -> str | None:
    """Why the package cannot be built, if so."""
    if shutil.which("g++") is None:
        return "there is no g++"
    for name, file in (("GRAPHKERNELS_SOURCE", "GKextCPy.cpp"), ("EIGEN_INCLUDE", "eigen3/Eigen")):
        if not (Path(os.environ.get(name, "")) / file).exists() or name not in os.environ:
            return f"{name} does not name a folder with {file}"
    return None


def _source(repaired: bool) -> str:
    """The package's source, repaired."""
    text = (Path(os.environ["GRAPHKERNELS_SOURCE"]) / "GKextCPy.cpp").read_text()
    for wrong, right in {**_SAFE, **(_RIGHT if repaired else {})}.items():
        if wrong not in text:
            raise ValueError(f"GKextCPy.cpp holds no {wrong!r}: is it that of version 0.4.1?")
        text = text.replace(wrong, right)
    return text


@cache
def library(repaired: bool = False) -> ctypes.CDLL:
    """The package's functions and the shim, compiled once; graphlets unchanged or repaired."""
    text = _source(repaired)
    version = hashlib.sha256((text + _SHIM.read_text()).encode()).hexdigest()[:12]
    built = _HERE / "results" / f"graphkernels-{version}.so"
    if not built.exists():
        built.parent.mkdir(exist_ok=True)
        mended = built.with_suffix(".cpp")
        mended.write_text(text)
        subprocess.run(
            [
                "g++",
                "-std=c++17",
                "-O3",
                "-fPIC",
                "-shared",
                "-w",
                f"-I{os.environ['GRAPHKERNELS_SOURCE']}",
                f"-I{os.environ['EIGEN_INCLUDE']}",
                str(_SHIM),
                str(mended),
                "-o",
                str(built),
            ],
            check=True,
        )
    loaded = ctypes.CDLL(str(built))
    loaded.graphs_new.restype = _POINTER
    loaded.graphs_new.argtypes = [ctypes.c_int, *[_POINTER] * 4]
    loaded.weisfeiler_lehman.argtypes = [_POINTER, ctypes.c_int, _POINTER]
    for function in (
        loaded.vertex_histogram,
        loaded.four_node_graphlets,
        loaded.connected_four_node_graphlets,
    ):
        function.argtypes = [_POINTER, _POINTER]
    return loaded


class Both:
    """The same graphs for both sides; those of the package are never freed."""

    def __init__(self, batch: GraphBatch, repaired: bool = False) -> None:
        self.ours = batch
        self._library = library(repaired)
        tails, heads = batch.arcs()
        once = tails < heads
        first = np.repeat(batch.node_offsets[:-1], batch.n_edges)
        edges = np.column_stack([tails[once] - first, heads[once] - first]).astype(np.int64)
        edge_offsets = np.concatenate([[0], np.cumsum(batch.n_edges)]).astype(np.int64)
        labels = batch.node_labels.codes + 1
        self._graphs = self._library.graphs_new(
            len(batch),
            *(
                np.ascontiguousarray(array).ctypes.data
                for array in (batch.node_offsets, labels, edge_offsets, edges)
            ),
        )

    def peer(self, function: str, *parameters: Any) -> Any:
        """The Gram matrix that a function of the shim computes."""
        out = np.empty((len(self.ours), len(self.ours)))
        getattr(self._library, function)(self._graphs, *parameters, out.ctypes.data)
        return out
