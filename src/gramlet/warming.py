"""Compiling ahead of time, for images and shared machines.

A kernel is fitted on small graphs of every kind and applied to new ones, with the options that
evaluation tries; a few more calls compile the tools. Existing code is not compiled again.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np

from gramlet.common.arrays import Array
from gramlet.engine.core.compiling import n_compiled
from gramlet.files.datasets.datasets import load_dataset
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels import registry


@dataclass(frozen=True)
class Done:
    """One finished piece of work: its name, the number of compiled functions, CPU seconds."""

    name: str
    n_compiled: int
    seconds: float


def warm_up(
    names: Sequence[str], n_jobs: int, tell: Callable[[Done], None] = lambda done: None
) -> list[Done]:
    """Compile everything that is not in the cache, in ``n_jobs`` processes.

    A second round compiles what was lost because two processes wrote at the same time.

    Parameters
    ----------
    names : sequence of str
        The result of `names_of_work`.
    n_jobs : int
        Number of processes.
    tell : callable
        Called with each finished piece of work of the first round.
    """
    found: list[Done] = []
    # Spawned, not forked: a fork would inherit threads and code that is already compiled.
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(n_jobs, len(names)), mp_context=fresh) as pool:
        try:
            for future in as_completed([pool.submit(_work, name) for name in names]):
                found.append(future.result())
                tell(found[-1])
            if n_jobs > 1:
                found += list(pool.map(_work, names))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


def _work(name: str) -> Done:
    before, begin = n_compiled(), time.process_time()
    compile_all_of(name)
    return Done(name, n_compiled() - before, time.process_time() - begin)


def names_of_work(names: list[str] | None = None) -> list[str]:
    """The kernels with these names, or all kernels and tools, in the order of work.

    Kernels of one family are far apart, because they share functions that two processes would
    otherwise compile at the same time.
    """
    if names:
        return list(dict.fromkeys(registry.get(name).name for name in names))
    rows = registry.entries()
    families = dict.fromkeys(row.family for row in rows)
    columns = [[row.name for row in rows if row.family == family] for family in families]
    mixed = [name for line in zip_longest(*columns) for name in line if name is not None]
    return [*mixed, *TOOLS]


def compile_all_of(name: str) -> None:
    """Compile the code of a kernel or a tool, or find it in the cache."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if name in TOOLS:
            TOOLS[name]()
        else:
            _use_kernel(registry.get(name))


def _use_kernel(row: registry.Entry) -> None:
    _, y = molecules()
    for batch in batches():
        with contextlib.suppress(ValueError, ImportError):  # graphs that it does not support
            estimator = row.make()
            estimator.fit_transform(batch[:12], y[:12])
            estimator.transform(batch[12:])
    whole, y = molecules()
    for options in _options(row):
        with contextlib.suppress(ValueError, ImportError):
            estimator = row.make(**options)
            estimator.fit_transform(whole[:12], y[:12])
            estimator.transform(whole[12:])


def _options(row: registry.Entry) -> Iterator[dict[str, Any]]:
    """The options that evaluation tries, one option at a time."""
    for name, values in row.tunable.items():
        for value in values:
            yield {name: value}
    if "normalize" in row.make().get_params():
        yield {"normalize": True}


def _evaluate() -> None:
    from gramlet.evaluation import Protocol
    from gramlet.evaluation.run import evaluate

    graphs, y = molecules()
    sizes = np.diff(graphs.node_offsets).astype(float)
    few: dict[str, Any] = {"folds": 2, "repeats": 1, "inner_folds": 2, "C": (0.1, 1.0)}
    for classifier in ("svc", "ridge"):
        for kernel in ("wl", "degree-profile"):
            evaluate(kernel, graphs, y, Protocol(**few), classifier=classifier)
    for classifier in ("svr", "ridge"):
        evaluate("wl", graphs, sizes, Protocol(**few), classifier=classifier, task="regression")


def _search() -> None:
    from gramlet.combine.duplicates import find_duplicates
    from gramlet.combine.neighbours import GraphNeighbors

    for batch in batches():
        find_duplicates(batch)
    graphs, _ = molecules()
    for kernel in ("wl", "wl-oa", "sp"):
        found = GraphNeighbors(registry.make(kernel), n_neighbors=3).fit(graphs[:12])
        found.kneighbors(graphs[12:])


def _vectors() -> None:
    from gramlet import paths

    X = np.random.default_rng(0).uniform(size=(6, 5))
    paths.all_subsets(X, X)
    paths.anova(X, X)
    texts = ["graph", "path", "kernel"]
    paths.subsequence_gram(texts, n=2, decay=0.5)


_N_GRAPHS = 16


def molecules() -> tuple[GraphBatch, Array]:
    """Some graphs of MUTAG, which is part of the package, and their classes."""
    data = load_dataset("MUTAG")
    target = np.asarray(data.target)
    chosen = np.sort(np.concatenate([np.flatnonzero(target == c)[:8] for c in np.unique(target)]))
    return data.graphs[chosen[:_N_GRAPHS]], target[chosen[:_N_GRAPHS]]


def batches() -> Iterator[GraphBatch]:
    """The same graphs with labels of nodes and edges, without, with attributes, weights, arcs."""
    whole, _ = molecules()
    tails, heads = whole.arcs()
    once = tails < heads
    source, target = tails[once], heads[once]
    rng = np.random.default_rng(0)
    labels = whole.node_labels
    attributes = rng.normal(size=(whole.n_nodes_total, 2))
    weights = rng.uniform(0.5, 1.5, size=len(source))
    yield whole
    yield GraphBatch.from_arcs(whole.node_offsets, source, target)
    yield GraphBatch.from_arcs(whole.node_offsets, source, target, node_labels=labels)
    yield GraphBatch.from_arcs(
        whole.node_offsets, source, target, node_labels=labels, node_attributes=attributes
    )
    yield GraphBatch.from_arcs(
        whole.node_offsets, source, target, node_labels=labels, edge_weights=weights
    )
    yield GraphBatch.from_arcs(
        whole.node_offsets, source, target, node_labels=labels, directed=True
    )


# Work that does not belong to a kernel, by name.
TOOLS: dict[str, Callable[[], None]] = {
    "evaluation": _evaluate,
    "neighbours and duplicates": _search,
    "vectors and strings": _vectors,
}
