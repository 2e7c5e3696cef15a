"""Limits of shortest paths of large graphs: a warning of long work, and an error for memory."""

from __future__ import annotations

import numpy as np
from joblib import effective_n_jobs

from gramlet.common.arrays import Ints
from gramlet.common.notices import warn_caller

__all__ = ["tell_cost", "tell_seconds", "too_many_kinds"]

# Measured: seconds per visit of a node or arc, per pair of nodes counted at a level, and per kind
# of path.
_VISIT, _PAIR, _KIND = 4e-9, 1.5e-8, 2.5e-7
# From this number of seconds on, a warning is given.
_LONG = 600.0


def tell_cost(
    owner: str,
    node_offsets: Ints,
    n_visits: float,
    n_pairs: float,
    n_kinds: float,
    n_jobs: int | None,
) -> None:
    """Warn if the paths, by numbers of visits, pairs and kinds, will take over ten minutes."""
    seconds = _VISIT * n_visits + _PAIR * n_pairs + _KIND * n_kinds
    tell_seconds(owner, node_offsets, seconds, n_jobs)


def tell_seconds(owner: str, node_offsets: Ints, seconds: float, n_jobs: int | None) -> None:
    """Warn if the paths will take over ten minutes, and name the largest graph."""
    sizes = np.diff(node_offsets).astype(np.float64)
    threads = effective_n_jobs(n_jobs)
    if seconds / threads <= _LONG:
        return
    largest = int(np.argmax(sizes))
    base = "" if owner == "ShortestPath" else "base="
    warn_caller(
        f"{owner}: the shortest paths of {0.5 * (sizes * sizes).sum():.2g} pairs of nodes will "
        f"take about {seconds / threads / 60:,.0f} minutes on {threads} thread(s); graph {largest} "
        f"alone has {int(sizes[largest]):,} nodes. verbose=True shows progress, n_jobs=-1 uses all "
        f"cores, Ctrl-C stops. {base}ShortestPath(n_sources=100) estimates the counts from 100 "
        "sources per graph. Kernels whose cost grows with the edges: WeisfeilerLehman, "
        'Propagation, GraphletKernel(method="sample").'
    )


def too_many_kinds(
    owner: str, node_offsets: Ints, n_levels: int, expected: float, room: int | None
) -> MemoryError:
    """The error for paths of more kinds than fit into memory."""
    way = "a smaller n_iter" if n_levels > 1 else "fewer labels (use_labels=False)"
    sampled = "base=ShortestPath(n_sources=10)" if n_levels > 1 else "n_sources=100"
    return MemoryError(
        f"{owner}: the shortest paths of these {len(node_offsets) - 1:,} graphs (the largest has "
        f"{int(np.diff(node_offsets).max()):,} nodes) are of about {expected:.2g} kinds, more than "
        f"fit into the memory available ({(room or 0) / 1e9:,.1f} GB). A kind is two labels and a "
        f"length: use {way}, the paths from some nodes only ({sampled}), fewer graphs at a time, "
        'or a kernel whose features grow with the nodes, such as "wl".'
    )
