"""Path kernels compared with plain code: whole matrices in numpy, dynamic programming in Python.

``python -m benchmarks.tasks.bench_paths`` measures both at full size. The peer of the string
kernel, which would take hours, is then timed on some pairs and extrapolated to all.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import Case, register
from benchmarks.data import Source
from benchmarks.measure import measure_case
from gramlet.paths import anova, subsequence_gram

Floats = NDArray[np.float64]
DEGREE = 4
STRINGS = {"n": 4, "decay": 0.5}


class Vectors(NamedTuple):
    """Two different sets, so that symmetry helps neither side."""

    X: Floats
    Y: Floats


def vectors(source: Source) -> Vectors:
    """2,000 and 2,000 vectors of 50 coordinates."""
    rng = np.random.default_rng(0)
    size = (50 if source.quick else 2000, 50)
    return Vectors(rng.normal(size=size), rng.normal(size=size))


def strings(n_strings: int) -> list[str]:
    """Strings of 200 letters, similar to proteins."""
    letters = np.random.default_rng(0).choice(list("ACDEFGHIKLMNPQRSTVWY"), size=(n_strings, 200))
    return ["".join(row) for row in letters]


def few_strings(source: Source) -> list[str]:
    """As many strings as pure Python can compare in half a minute."""
    return strings(16 if source.quick else 32)


def our_anova(data: Vectors) -> Floats:
    return anova(data.X, data.Y, degree=DEGREE)


def numpy_anova(data: Vectors) -> Floats:
    """The recursion on whole matrices, in place, with as few matrices as possible."""
    X, Y = data
    sums = [np.ones((len(X), len(Y)))]
    sums += [np.zeros((len(X), len(Y))) for _ in range(DEGREE)]
    products, step = np.empty_like(sums[0]), np.empty_like(sums[0])
    for r in range(X.shape[1]):
        np.multiply.outer(X[:, r], Y[:, r], out=products)
        for s in range(min(DEGREE, r + 1), 0, -1):
            np.multiply(products, sums[s - 1], out=step)
            sums[s] += step
    return sums[DEGREE]


def our_strings(data: Sequence[str]) -> Floats:
    return subsequence_gram(data, **STRINGS)


def python_strings(data: Sequence[str]) -> Floats:
    """All unordered pairs."""
    K = np.empty((len(data), len(data)))
    for i, s in enumerate(data):
        for j in range(i, len(data)):
            K[i, j] = K[j, i] = python_subsequence(s, data[j], **STRINGS)
    return K


def python_subsequence(s: str, t: str, n: int, decay: float) -> float:
    """The dynamic programme in O(n|s||t|) steps of plain Python."""
    square = decay * decay
    below = [[1.0] * len(t) for _ in s]
    total = 0.0
    for _ in range(n):
        total = 0.0
        previous = [0.0] * len(t)
        here = []
        for a, shorter in zip(s, below, strict=True):
            here.append(previous)
            ending = 0.0
            row = []
            for b, before, above in zip(t, shorter, previous, strict=True):
                ending *= decay
                if a == b:
                    matched = square * before
                    total += matched
                    ending += matched
                row.append(ending + decay * above)
            previous = row
        # A longer subsequence ends one position later in both strings.
        below = [[0.0, *row[:-1]] for row in here]
    return total


register(
    Case(
        name="anova",
        title="ANOVA kernel of degree 4, 2,000 by 2,000 vectors of 50 coordinates",
        data=vectors,
        ours=our_anova,
        peer=numpy_anova,
        peer_name="numpy, whole matrices",
        target_ratio=1.0,
        target_memory=0.2,
    )
)
register(
    Case(
        name="subsequence",
        title="subsequences of 4 tokens, all pairs of 32 strings of length 200",
        data=few_strings,
        ours=our_strings,
        peer=python_strings,
        peer_name="dynamic programme in pure Python",
        target_ratio=100.0,
    )
)


def anova_case() -> dict[str, Any]:
    """Seconds, agreement and peak memory, which includes the result on both sides."""
    data = vectors(Source())
    ours, theirs = our_anova(data), numpy_anova(data)
    measured = measure_case("anova", Source(), repeats=5, memory=True)
    seconds = statistics.median(measured["ours_seconds"])
    peer_seconds = statistics.median(measured["peer_seconds"])
    return {
        "peer": "numpy, whole matrices",
        "seconds": seconds,
        "peer_seconds": peer_seconds,
        "ratio": peer_seconds / seconds,
        "max_abs_difference": float(np.abs(ours - theirs).max()),
        "result_bytes": ours.nbytes,
        "peak_bytes_beyond_result": measured["ours_bytes"] - ours.nbytes,
        "peer_peak_bytes_beyond_result": measured["peer_bytes"] - ours.nbytes,
    }


def subsequence_case(n_strings: int = 500, n_timed: int = 60) -> dict[str, Any]:
    """Seconds for all pairs; the peer's are extrapolated from ``n_timed`` random pairs."""
    data = strings(n_strings)
    our_strings(data[:40])
    begin = time.perf_counter()
    ours = our_strings(data)
    seconds = time.perf_counter() - begin
    pairs = np.random.default_rng(1).integers(0, n_strings, size=(n_timed, 2)).tolist()
    begin = time.perf_counter()
    theirs = np.array([python_subsequence(data[i], data[j], **STRINGS) for i, j in pairs])
    peer_seconds = (time.perf_counter() - begin) / n_timed * n_strings * (n_strings + 1) / 2
    differences = np.abs(np.array([ours[i, j] for i, j in pairs]) - theirs)
    return {
        "peer": f"dynamic programme in pure Python, {n_timed} pairs scaled to all",
        "seconds": seconds,
        "peer_seconds": peer_seconds,
        "ratio": peer_seconds / seconds,
        "max_abs_difference": float(differences.max()),
        "max_relative_difference": float((differences / theirs).max()),
    }


if __name__ == "__main__":
    for case in (anova_case, subsequence_case):
        print(json.dumps({case.__name__: case()}, indent=2))
