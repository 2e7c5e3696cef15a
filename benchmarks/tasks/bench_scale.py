"""Matrices and features on disk compared with memory, and two processes compared with one."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import Case, Growth, register
from benchmarks.data import Source

N_BITS, N_ITER, PART = 20, 3, 10_000


def _graphs(source: Source, n_graphs: int) -> Any:
    from gramlet import random_labelled_graphs

    n_graphs = min(n_graphs, 2_000) if source.quick else n_graphs
    return random_labelled_graphs(n_graphs, 22, 24, 8, random_state=0)


def _in_folder(compute: Any) -> Any:
    folder = Path(tempfile.mkdtemp(prefix="gramlet-bench-"))
    try:
        return compute(folder)
    finally:
        shutil.rmtree(folder)


def store_features(graphs: Any) -> float:
    from gramlet import FeatureStore, HashedFeatures

    features = HashedFeatures(n_iter=N_ITER, n_bits=N_BITS)
    return _in_folder(lambda f: float(len(FeatureStore.write(f / "store", graphs, features, PART))))


def compute_features(graphs: Any) -> float:
    from gramlet import HashedFeatures

    features = HashedFeatures(n_iter=N_ITER, n_bits=N_BITS)
    parts = range(0, len(graphs), PART)
    return float(sum(features.transform(graphs[b : b + PART]).shape[0] for b in parts))


def gram_on_disk(graphs: Any) -> Any:
    from gramlet import gram

    return _in_folder(
        lambda f: np.asarray(gram(graphs, "wl", n_iter=N_ITER, output=f / "K.zarr")[:200])
    )


def gram_in_memory(graphs: Any) -> Any:
    from gramlet import gram

    return gram(graphs, "wl", n_iter=N_ITER)[:200].copy()


register(
    Case(
        name="store-features",
        title="hashed features of 100,000 graphs written to a store, beside computing them",
        data=lambda source: _graphs(source, 100_000),
        ours=store_features,
        peer=compute_features,
        peer_name="in memory",
        target_ratio=0.7,
    )
)
register(
    Case(
        name="gram-on-disk",
        title="Gram matrix of 10,000 graphs to Zarr, beside the same in memory",
        data=lambda source: _graphs(source, 10_000),
        ours=gram_on_disk,
        peer=gram_in_memory,
        peer_name="in memory",
        target_ratio=0.5,
    )
)
register(
    Growth(
        name="store-features-growth",
        title="hashed features to a store: growth with the number of graphs",
        sizes=(50_000, 200_000, 800_000),
        data=lambda n_graphs: _graphs(Source(), n_graphs),
        ours=store_features,
        size_of=lambda graphs: int(graphs.n_edges.sum()),
        target_exponent=1.1,
    )
)
