"""``python -m benchmarks limits``: times of Gram matrices compared with the limits of the machine.

The speed of the machine is measured first, on one thread: bytes per second written to newly
allocated memory (as for a result), and floating point operations per second of BLAS. A matrix of
n × n numbers takes 8 n² bytes. Dot products of counts and sums of minima take two operations per
feature that two graphs share; transport problems take the operations of their distances. The larger
of the two times is the limit: no program that writes the matrix and does these operations is
faster. Work that does not compare pairs (refinement, paths, coordinates) is timed separately and is
not part of the limit.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

# The target: WL's Gram matrix takes at most this many times the limit.
TARGET = {"wl": 3.0}
_MEGABYTES = 128
_SIDE = 1024


class Limit(NamedTuple):
    """The least that a kernel must write and compute, and the time it takes.

    Attributes
    ----------
    prepared, seconds : float
        Processor seconds of the work that does not compare pairs, and of the rest.
    n_bytes, n_operations : float
    """

    prepared: float
    seconds: float
    n_bytes: float
    n_operations: float

    def at_best(self, bandwidth: float, peak: float) -> float:
        """The limit in seconds.

        >>> Limit(0.0, 1.0, 8e6, 2e6).at_best(1e9, 1e9)
        0.008
        """
        return max(self.n_bytes / bandwidth, self.n_operations / peak)


def least_seconds(run: Callable[[], Any], repeats: int) -> float:
    """The least processor seconds of several runs."""
    found = []
    for _ in range(repeats):
        begin = time.process_time()
        result = run()
        found.append(time.process_time() - begin)
        del result
    return max(min(found), 1e-9)


def measured_bandwidth(repeats: int) -> float:
    """Bytes per second that one thread writes to newly allocated memory."""
    import numpy as np

    n = _MEGABYTES * 2**17
    return 8.0 * n / least_seconds(lambda: np.full(n, 1.0), repeats)


def measured_peak(repeats: int) -> float:
    """Floating point operations per second of one thread in a product of matrices."""
    import numpy as np

    rng = np.random.default_rng(0)
    a, b = rng.random((_SIDE, _SIDE)), rng.random((_SIDE, _SIDE))
    a @ b
    return 2.0 * _SIDE**3 / least_seconds(lambda: a @ b, repeats)


def shared_entries(counts: Any) -> float:
    """The number of features that two rows share, summed over all unordered pairs (i ≤ j).

    >>> from scipy import sparse
    >>> shared_entries(sparse.csr_matrix([[1.0, 2.0], [0.0, 3.0]]))
    4.0
    """
    import numpy as np

    frequency = np.bincount(counts.indices).astype(np.float64)
    return float((frequency * (frequency + 1.0) / 2.0).sum())


def _of_counts(kernel: Any, graphs: Any, repeats: int) -> Limit:
    """The limit of a kernel that compares counts or masses: the matrix of its profile."""
    prepared = least_seconds(lambda: kernel.fit(graphs), repeats)
    profile = kernel.profile_
    rows = profile.masses if hasattr(profile, "masses") else profile.counts
    seconds = least_seconds(profile.compare_self, repeats)
    return Limit(prepared, seconds, 8.0 * len(graphs) ** 2, 2.0 * shared_entries(rows))


def _of_transport(embedding: Any, graphs: Any, repeats: int) -> Limit:
    """The limit of the random graph embedding: distances between all nodes and all random nodes."""
    prepared = least_seconds(lambda: embedding.fit(graphs), repeats)
    seconds = least_seconds(lambda: embedding.transform(graphs), max(1, repeats // 2))
    random_nodes = sum(len(coordinates) for coordinates, _ in embedding.anchors_)
    # A difference, its square and a sum per dimension; labels take at most one comparison.
    operations = 3.0 * embedding.n_dims * graphs.n_nodes_total * random_nodes
    return Limit(prepared, seconds, 8.0 * len(graphs) * len(embedding.anchors_), operations)


def _kernels() -> dict[str, tuple[Any, Callable[[Any, Any, int], Limit]]]:
    from gramlet import RandomGraphEmbedding
    from gramlet.kernels import registry

    counted = {name: (registry.make(name), _of_counts) for name in ("wl", "wl-oa", "wwl", "sp")}
    return {**counted, "rge": (RandomGraphEmbedding(random_state=0), _of_transport)}


def _line(name: str, limit: Limit, bandwidth: float, peak: float) -> str:
    best = limit.at_best(bandwidth, peak)
    ratio = limit.seconds / best
    verdict = "  MISSED" if ratio > TARGET.get(name, float("inf")) else ""
    return (
        f"{name:<8}{limit.prepared:>10.3f}{limit.seconds:>10.3f}{limit.n_bytes / 1e6:>9.0f}"
        f"{limit.n_bytes / bandwidth:>9.4f}{limit.n_operations / 1e6:>11.0f}"
        f"{limit.n_operations / peak:>9.4f}{best:>9.4f}{ratio:>8.1f}{verdict}"
    )


def _arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks limits", description=__doc__)
    parser.add_argument("names", nargs="*", help="wl, wl-oa, wwl, sp, rge; none: all")
    parser.add_argument("--repeats", type=int, default=5, help="of which the least counts")
    parser.add_argument("--quick", action="store_true", help="on MUTAG, in seconds")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str]) -> int:
    """Print a table and save it; returns 1 if a kernel misses its target, 2 for an unknown name."""
    parsed = _arguments(arguments)
    from benchmarks.data import Source, default_folder
    from benchmarks.report import save_result
    from gramlet.engine.core.tiles import one_blas_thread

    known = _kernels()
    unknown = [name for name in parsed.names if name not in known]
    if unknown:
        print(f"No kernel with a limit is called {unknown[0]!r}; there are {', '.join(known)}.")
        return 2
    source = Source(default_folder(), quick=parsed.quick)
    graphs = source.load("NCI1")
    few = Source(source.folder, quick=True).load("MUTAG")[:20]
    found: dict[str, Limit] = {}
    with one_blas_thread():
        bandwidth, peak = measured_bandwidth(parsed.repeats), measured_peak(parsed.repeats)
        print(
            f"{bandwidth / 1e9:.2f} GB/s written to new memory, {peak / 1e9:.1f} GFlop/s, "
            f"one thread; {len(graphs):,} graphs\n"
        )
        print(
            f"{'kernel':<8}{'before s':>10}{'pairs s':>10}{'MB':>9}{'s':>9}{'MFlop':>11}"
            f"{'s':>9}{'limit s':>9}{'ratio':>8}"
        )
        for name in parsed.names or known:
            kernel, measure = known[name]
            measure(kernel, few, 1)  # compiles
            found[name] = measure(kernel, graphs, parsed.repeats)
            print(_line(name, found[name], bandwidth, peak), flush=True)
    result = {"bandwidth": bandwidth, "peak": peak}
    rows = {name: limit._asdict() for name, limit in found.items()}
    print(f"\nsaved in {save_result('limits', {**result, 'kernels': rows}, vars(parsed))}")
    missed = (
        found[name].seconds / found[name].at_best(bandwidth, peak) > target
        for name, target in TARGET.items()
        if name in found and not parsed.quick
    )
    return int(any(missed))
