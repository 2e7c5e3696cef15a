"""Weisfeiler-Lehman and vertex histograms beside the C++ package graphkernels.

The package no longer installs; its sources still compile. Unpack the source archive of GKextCPy
0.4.1, name its folder in GRAPHKERNELS_SOURCE and the folder that holds ``eigen3/Eigen`` in
EIGEN_INCLUDE; a small shim then calls its C++ functions, so that its conversions from Python, which
cost it seconds, are not counted.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Case, register
from benchmarks.data import Source
from gramlet import GraphBatch, VertexHistogram, WeisfeilerLehman

_HERE = Path(__file__).parent
_POINTER = ctypes.c_void_p


def needs_sources() -> str | None:
    """Why the package cannot be built, if so."""
    if shutil.which("g++") is None:
        return "there is no g++"
    for name, file in (("GRAPHKERNELS_SOURCE", "GKextCPy.cpp"), ("EIGEN_INCLUDE", "eigen3/Eigen")):
        if not (Path(os.environ.get(name, "")) / file).exists() or name not in os.environ:
            return f"{name} does not name a folder with {file}"
    return None


@cache
def library() -> ctypes.CDLL:
    """The package's functions and the shim, compiled once."""
    built = _HERE / "results" / "graphkernels.so"
    if not built.exists():
        sources = os.environ["GRAPHKERNELS_SOURCE"]
        built.parent.mkdir(exist_ok=True)
        subprocess.run(
            ["g++", "-std=c++17", "-O3", "-fPIC", "-shared", "-w",
             f"-I{sources}", f"-I{os.environ['EIGEN_INCLUDE']}",
             str(_HERE / "graphkernels_shim.cpp"), f"{sources}/GKextCPy.cpp", "-o", str(built)],
            check=True,
        )  # fmt: skip
    loaded = ctypes.CDLL(str(built))
    loaded.graphs_new.restype = _POINTER
    loaded.graphs_new.argtypes = [ctypes.c_int, *[_POINTER] * 4]
    loaded.weisfeiler_lehman.argtypes = [_POINTER, ctypes.c_int, _POINTER]
    loaded.vertex_histogram.argtypes = [_POINTER, _POINTER]
    return loaded


class Both:
    """The same graphs for both sides; the package's live as long as the process."""

    def __init__(self, batch: GraphBatch) -> None:
        self.ours = batch
        tails, heads = batch.arcs()
        once = tails < heads
        first = np.repeat(batch.node_offsets[:-1], batch.n_edges)
        edges = np.column_stack([tails[once] - first, heads[once] - first]).astype(np.int64)
        edge_offsets = np.concatenate([[0], np.cumsum(batch.n_edges)]).astype(np.int64)
        labels = batch.node_labels.codes + 1
        self.peer = library().graphs_new(
            len(batch),
            *(
                np.ascontiguousarray(array).ctypes.data
                for array in (batch.node_offsets, labels, edge_offsets, edges)
            ),
        )


def both(source: Source, n_graphs: int | None = None) -> Both:
    """Graphs of NCI1 for both sides."""
    return Both(source.load("NCI1", n_graphs))


def gram(kernel: Any, data: Both) -> Any:
    """Our Gram matrix, from a fresh kernel."""
    return kernel().fit_transform(data.ours)


def cpp_wl(data: Both) -> Any:
    out = np.empty((len(data.ours), len(data.ours)))
    library().weisfeiler_lehman(data.peer, 5, out.ctypes.data)
    return out


def cpp_vertex(data: Both) -> Any:
    out = np.empty((len(data.ours), len(data.ours)))
    library().vertex_histogram(data.peer, out.ctypes.data)
    return out


register(
    Case(
        "wl-cpp",
        "Gram matrix of WeisfeilerLehman(n_iter=5), NCI1",
        both,
        partial(gram, partial(WeisfeilerLehman, n_iter=5)),
        cpp_wl,
        "graphkernels (C++)",
        needs=needs_sources,
        target_ratio=3.0,
    )
)
register(
    Case(
        "vertex-cpp",
        "Gram matrix of VertexHistogram, 1,000 graphs of NCI1",
        partial(both, n_graphs=1000),
        partial(gram, VertexHistogram),
        cpp_vertex,
        "graphkernels (C++)",
        needs=needs_sources,
    )
)
