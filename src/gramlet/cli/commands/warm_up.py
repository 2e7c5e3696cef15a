"""``gramlet warm-up``: compile ahead of time, so that no later run has to.

A kernel is fitted on small graphs of every kind and applied to new ones, with the options that
evaluation tries; a few more calls compile the tools. Existing code is not compiled again.
"""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlet.cli.terminal import Failure, note

if TYPE_CHECKING:
    from gramlet.graphs.batch import GraphBatch

_FEW: dict[str, Any] = {"folds": 2, "repeats": 1, "inner_folds": 2, "C": (0.1, 1.0)}


def warm_up(
    kernel: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KERNEL]...", help="Kernels to compile; none: everything."),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option("--processes", metavar="N", help="Processes. [default: one per core]", min=1),
    ] = None,
) -> None:
    """Compile kernels ahead of time, for images and shared machines.

    Compiled code is kept in a folder, whose name is printed at the end; the environment variable
    GRAMLET_CACHE, or NUMBA_CACHE_DIR, chooses another one. Existing code is not compiled again.
    """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor, as_completed

    from gramlet.engine.core.compiled import HOW_TO_CHOOSE, code_folder, possible_folders

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = code_folder()
    if folder is None:
        places = " or ".join(repr(str(place)) for place in possible_folders())
        raise Failure(f"compiled code cannot be kept in {places}. {HOW_TO_CHOOSE}")
    names = names_of_work(kernel)
    n_jobs = min(processes or os.cpu_count() or 1, len(names))
    # Spawned, not forked: a fork would inherit threads and code that is already compiled.
    fresh = multiprocessing.get_context("spawn")
    n_functions, seconds = 0, 0.0
    with ProcessPoolExecutor(n_jobs, mp_context=fresh) as pool:
        try:
            running = {pool.submit(compiled_by, name): name for name in names}
            for done, future in enumerate(as_completed(running), start=1):
                n_compiled, took = future.result()
                n_functions, seconds = n_functions + n_compiled, seconds + took
                what = f"{n_compiled} functions" if n_compiled else "nothing to compile"
                note(f"{done}/{len(names)} {running[future]}: {what}, {took:.1f} s")
            if n_jobs > 1:  # what was lost because two processes wrote at the same time
                list(pool.map(compiled_by, names))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    print(
        f"{n_functions} functions compiled in {seconds:.1f} s of processor time; kept in {folder}"
    )


def names_of_work(names: list[str] | None = None) -> list[str]:
    """The kernels with these names, or all kernels and tools."""
    from gramlet.kernels import registry

    if names:
        return list(dict.fromkeys(registry.get(name).name for name in names))
    return [*(row.name for row in registry.entries()), *TOOLS]


def compiled_by(name: str) -> tuple[int, float]:
    """Use a kernel or a tool; how many functions were compiled for it, and seconds of CPU."""
    from gramlet.engine.core.compiling import n_compiled

    before, begin = n_compiled(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TOOLS[name]() if name in TOOLS else _use_kernel(name)
    return n_compiled() - before, time.process_time() - begin


def _use_kernel(name: str) -> None:
    from gramlet.kernels import registry

    row = registry.get(name)
    options: list[dict[str, Any]] = [{}, *({k: v} for k, vs in row.tunable.items() for v in vs)]
    if "normalize" in row.make().get_params():
        options.append({"normalize": True})
    whole, y = molecules()
    for batch, params in [*((b, {}) for b in batches()), *((whole, each) for each in options)]:
        with contextlib.suppress(ValueError, ImportError):  # graphs that it does not support
            estimator = row.make(**params)
            estimator.fit_transform(batch[:12], y[:12])
            estimator.transform(batch[12:])


def molecules() -> tuple[GraphBatch, Any]:
    """Eight graphs of each class of MUTAG, which is part of the package, and their classes."""
    import numpy as np

    from gramlet.files.datasets.datasets import load_dataset

    data = load_dataset("MUTAG")
    target = np.asarray(data.target)
    rows = np.sort(np.concatenate([np.flatnonzero(target == c)[:8] for c in np.unique(target)]))
    return data.graphs[rows], target[rows]


def batches() -> Iterator[GraphBatch]:
    """The same graphs with labels of nodes and edges, without, with attributes, weights, arcs."""
    import numpy as np

    from gramlet.graphs.batch import GraphBatch

    whole, _ = molecules()
    tails, heads = whole.arcs()
    edges = whole.node_offsets, tails[tails < heads], heads[tails < heads]
    rng = np.random.default_rng(0)
    labels: dict[str, Any] = {"node_labels": whole.node_labels}
    attributes = rng.normal(size=(whole.n_nodes_total, 2))
    yield whole
    yield GraphBatch.from_arcs(*edges)
    yield GraphBatch.from_arcs(*edges, **labels)
    yield GraphBatch.from_arcs(*edges, **labels, node_attributes=attributes)
    yield GraphBatch.from_arcs(*edges, **labels, edge_weights=rng.uniform(0.5, 1.5, len(edges[1])))
    yield GraphBatch.from_arcs(*edges, **labels, directed=True)


def _evaluate() -> None:
    from gramlet.evaluation import Protocol, evaluate

    graphs, y = molecules()
    for classifier in ("svc", "ridge"):
        for kernel in ("wl", "degree-profile"):
            evaluate(kernel, graphs, y, Protocol(**_FEW), classifier=classifier)
    sizes = graphs.sizes.astype(float)
    for classifier in ("svr", "ridge"):
        evaluate("wl", graphs, sizes, Protocol(**_FEW), classifier=classifier, task="regression")


def _search() -> None:
    from gramlet import GraphNeighbors, find_duplicates

    for batch in batches():
        find_duplicates(batch)
    graphs, _ = molecules()
    for kernel in ("wl", "wl-oa", "sp"):
        GraphNeighbors(kernel, n_neighbors=3).fit(graphs[:12]).kneighbors(graphs[12:])


def _vectors() -> None:
    import numpy as np

    from gramlet import paths

    X = np.random.default_rng(0).uniform(size=(6, 5))
    paths.all_subsets(X, X)
    paths.anova(X, X)
    paths.subsequence_gram(["graph", "path", "kernel"], n=2, decay=0.5)


# Work that does not belong to a kernel, by name.
TOOLS: dict[str, Callable[[], None]] = {
    "evaluation": _evaluate,
    "neighbours and duplicates": _search,
    "vectors and strings": _vectors,
}
