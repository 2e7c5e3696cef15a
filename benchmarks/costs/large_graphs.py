"""``python -m benchmarks large-graphs``: the cost of kernels on large graphs.

The graphs are unlabelled random trees with preferential attachment, similar to discussions, and the
discussions of REDDIT-BINARY if the folder of data sets contains them. Each kernel is fitted to one
set of graphs, on one thread, with a limit of seconds that is checked in advance: a kernel is run on
all graphs only if its time on a random tenth of them allows it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.data import default_folder
from gramlet import GraphBatch, load_dataset
from gramlet.kernels import registry

KERNELS = ("graphlet", "sp", "wl", "propagation", "rw-steps", "mlg", "rge", "wl-sp")


def attached_tree(n: int, rng: np.random.Generator) -> Any:
    """A random tree of n nodes with preferential attachment."""
    ends = np.zeros(2 * n, dtype=np.int64)
    edges = np.empty((n - 1, 2), dtype=np.int64)
    for new in range(1, n):
        old = ends[rng.integers(2 * new - 1)]
        edges[new - 1] = old, new
        ends[2 * new - 1], ends[2 * new] = old, new
    return edges


def measured(kernel: str, graphs: GraphBatch) -> float | str:
    """Processor seconds of fitting a kernel and comparing the graphs, or why it was not run."""
    begin = time.process_time()
    try:
        registry.make(kernel).fit_transform(graphs)
    except MemoryError as error:
        return f"MemoryError after {time.process_time() - begin:.1f} s: {error}"
    return time.process_time() - begin


def _row(kernel: str, graphs: GraphBatch, most: float) -> str:
    rng = np.random.default_rng(0)
    few = np.sort(rng.choice(len(graphs), max(1, len(graphs) // 10), replace=False))
    some = measured(kernel, graphs[few])
    if isinstance(some, str):
        return some
    if some * len(graphs) / len(few) > most:
        return f"{some:9.3f} s for {len(few)} graphs; all of them not tried"
    whole = measured(kernel, graphs)
    if isinstance(whole, str):
        return whole
    return f"{whole:9.3f} s, {whole / len(graphs) * 1e3:9.3f} ms per graph"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print seconds per kernel and set of graphs."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks large-graphs")
    parser.add_argument("kernels", nargs="*", default=KERNELS)
    parser.add_argument("--nodes", type=int, default=3000, help="nodes of a tree")
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--data-dir", default=default_folder())
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for a kernel")
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(0)
    trees = [attached_tree(options.nodes, rng) for _ in range(options.trees)]
    sets = {
        f"{options.trees} trees of {options.nodes} nodes": GraphBatch.from_edges(
            trees, n_nodes=[options.nodes] * options.trees
        )
    }
    if options.data_dir is not None:
        data = load_dataset("REDDIT-BINARY", options.data_dir)
        sets[f"REDDIT-BINARY, {len(data.graphs)} graphs"] = data.graphs
    for title, graphs in sets.items():
        print(title)
        for kernel in options.kernels:
            measured(kernel, graphs[:2])  # compiled before it is timed
            print(f"  {kernel:<12} {_row(kernel, graphs, options.limit)}", flush=True)
    return 0
