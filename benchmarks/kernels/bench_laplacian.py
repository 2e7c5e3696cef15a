"""Laplacian kernels compared with GraKeL's, and gramlet's times on whole data sets.

GraKeL omits the factor ½ in the mean of two inverse covariances: every value is 2^(−P/2) times the
kernel's, where P is the number of directions kept. Without levels this is a constant factor; with
levels it makes the base kernel of the next level smaller relative to γ. The cases insert the ½, so
that both sides compute the same.
"""

from __future__ import annotations

import importlib.util
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks.cases import Case, Growth, register
from benchmarks.data import Source, random_batch
from gramlet import FeatureLaplacian, GraphBatch, MultiscaleLaplacian

SETTINGS = {"n_levels": 2, "eta": 0.1, "gamma": 0.01, "rank": 10, "n_landmarks": 200}


class Both(NamedTuple):
    """The same graphs for both sides."""

    ours: GraphBatch
    peer: list[Any]


def needs_grakel() -> str | None:
    """Why GraKeL cannot be run, if so."""
    return None if importlib.util.find_spec("grakel") else "GraKeL is not installed"


def adjacencies(batch: GraphBatch) -> list[Any]:
    """Adjacency matrices with one-hot labels, as GraKeL's kernel takes them."""
    assert batch.node_labels is not None
    rows = np.eye(len(batch.node_labels.categories))[batch.node_labels.codes]
    graphs = []
    for i in range(len(batch)):
        first, last = batch.node_offsets[i], batch.node_offsets[i + 1]
        graphs.append([batch.adjacency(i), dict(enumerate(map(tuple, rows[first:last])))])
    return graphs


def both(source: Source, name: str = "MUTAG", n_graphs: int | None = None) -> Both:
    """Graphs of a data set for both sides."""
    batch = source.load(name, n_graphs)
    return Both(batch, adjacencies(batch))


def few(source: Source, n_graphs: int) -> Both:
    """So many graphs of MUTAG, also with --quick."""
    return both(Source(source.folder, quick=True, n_graphs=n_graphs))


def ours(data: Both) -> Any:
    return MultiscaleLaplacian(random_state=0, **SETTINGS).fit_transform(data.ours)


def grakel(data: Both, n_levels: int, rank: int, n_landmarks: int) -> Any:
    from grakel import MultiscaleLaplacian as GrakelMultiscale

    class WithHalf(GrakelMultiscale):
        def pairwise_operation(self, x: Any, y: Any) -> float:
            return 2.0 ** (len(x[0]) / 2) * super().pairwise_operation(x, y)

    kernel = WithHalf(
        random_state=0,
        L=n_levels,
        P=rank,
        gamma=SETTINGS["gamma"],
        heta=SETTINGS["eta"],
        n_samples=n_landmarks,
    )
    return kernel.fit_transform(data.peer)


def close(ours: Any, theirs: Any, atol: float) -> None:
    """Raise an AssertionError unless both are equal up to ``atol``."""
    worst = float(np.abs(np.asarray(ours) - np.asarray(theirs)).max())
    assert worst <= atol, f"values differ by up to {worst:.2g}"


def correlated(ours: Any, theirs: Any) -> None:
    """Raise an AssertionError unless values are correlated; landmarks are drawn differently."""
    pairs = np.triu_indices(len(ours), 1)
    found = float(np.corrcoef(np.asarray(ours)[pairs], np.asarray(theirs)[pairs])[0, 1])
    assert found > 0.9, f"correlation {found:.2f}"


def only_ours(source: Source, name: str) -> GraphBatch:
    return source.load(name)


def gram(batch: GraphBatch, kernel: type, n_jobs: int = 1, **options: Any) -> Any:
    return kernel(n_jobs=n_jobs, **options).fit_transform(batch)


register(
    Case(
        "flg",
        "Gram matrix of FeatureLaplacian, MUTAG",
        both,
        lambda data: FeatureLaplacian().fit_transform(data.ours),
        partial(grakel, n_levels=0, rank=7, n_landmarks=10**6),
        "GraKeL, no levels",
        check=partial(close, atol=1e-9),
        needs=needs_grakel,
        target_ratio=100.0,
    )
)
register(
    Case(
        "mlg",
        "Gram matrix of MultiscaleLaplacian (2 levels, rank 10, 200 landmarks), 30 of MUTAG",
        partial(few, n_graphs=30),
        ours,
        partial(grakel, n_levels=2, rank=10, n_landmarks=200),
        "GraKeL",
        check=correlated,
        needs=needs_grakel,
        target_ratio=100.0,
    )
)
register(
    Case(
        "mlg-all-landmarks",
        "the same on 10 of MUTAG, whose vertices are all landmarks on both sides",
        partial(few, n_graphs=10),
        ours,
        partial(grakel, n_levels=2, rank=10, n_landmarks=200),
        "GraKeL",
        check=partial(close, atol=1e-6),
        needs=needs_grakel,
    )
)
for dataset, seconds in (("ENZYMES", 30.0), ("PROTEINS", 30.0), ("NCI1", 90.0)):
    register(
        Case(
            f"mlg-{dataset.lower()}",
            f"Gram matrix of MultiscaleLaplacian (2 levels, rank 10, 200 landmarks), {dataset}",
            partial(only_ours, name=dataset),
            partial(gram, kernel=MultiscaleLaplacian, random_state=0, **SETTINGS),
            target_seconds=seconds,
        )
    )
register(
    Case(
        "flg-nci1",
        "Gram matrix of FeatureLaplacian, NCI1",
        partial(only_ours, name="NCI1"),
        partial(gram, kernel=FeatureLaplacian),
        target_seconds=60.0,
    )
)
register(
    Growth(
        "mlg-growth",
        "MultiscaleLaplacian (2 levels, rank 10, 200 landmarks), vertices of 500 random graphs",
        (10, 20, 40, 80, 160),
        lambda n: random_batch(500, n, n),
        partial(gram, kernel=MultiscaleLaplacian, random_state=0, **SETTINGS),
        lambda batch: batch.n_nodes_total,
        unit="vertices",
        target_exponent=1.2,
    )
)
register(
    Growth(
        "flg-growth",
        "FeatureLaplacian, random graphs of 20 vertices",
        (500, 1000, 2000, 4000),
        lambda n: random_batch(n, 20, 20),
        partial(gram, kernel=FeatureLaplacian),
        len,
        unit="graphs",
        target_exponent=2.1,
    )
)
