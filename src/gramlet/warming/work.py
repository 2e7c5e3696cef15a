"""Calls that compile all code of a kernel or of a tool.

A kernel is fitted on graphs of every kind and applied to new ones, with the options that evaluation
tries. For graphs that a kernel does not support there is nothing to compile.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from itertools import zip_longest
from typing import Any

from gramlet.kernels import registry
from gramlet.warming.graphs import batches, molecules

__all__ = ["TOOLS", "compile_all_of", "names_of_work"]


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
        with contextlib.suppress(ValueError):  # graphs that the kernel does not support
            estimator = row.make()
            estimator.fit_transform(batch[:12], y[:12])
            estimator.transform(batch[12:])
    whole, y = molecules()
    for options in _options(row):
        with contextlib.suppress(ValueError):
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
    import numpy as np

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
    import numpy as np

    from gramlet import paths

    X = np.random.default_rng(0).uniform(size=(6, 5))
    paths.all_subsets(X, X)
    paths.anova(X, X)
    texts = ["graph", "path", "kernel"]
    paths.subsequence_gram(texts, n=2, decay=0.5)


def _large_graphs() -> None:
    """Rings of 200 nodes with pendant trees: large graphs have their own code for paths."""
    from gramlet.graphs.batch import GraphBatch
    from gramlet.kernels.paths.shortest_path import ShortestPath

    ring = [(i, (i + 1) % 200) for i in range(200)]
    trees = [(7 * i, 200 + i) for i in range(29)] + [(200, 229), (229, 230)]
    for directed in (False, True):
        graphs = GraphBatch.from_edges([ring + trees], n_nodes=[231], directed=directed)
        ShortestPath().fit(graphs)
        ShortestPath(n_sources=20, random_state=0).fit(graphs)


# Work that does not belong to a kernel, by name.
TOOLS: dict[str, Callable[[], None]] = {
    "evaluation": _evaluate,
    "neighbours and duplicates": _search,
    "vectors and strings": _vectors,
    "paths of large graphs": _large_graphs,
}
