"""SVM-θ compared with GraKeL, times only: GraKeL's samples of subsets give 0 on most of MUTAG."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import Case, register
from benchmarks.data import Source, to_grakel
from benchmarks.kernels.bench_wl import needs_grakel
from gramlet import SVMTheta


def data(source: Source) -> tuple[Any, Any]:
    batch = source.load("MUTAG")
    return batch, to_grakel(batch)


def ours(data: tuple[Any, Any]) -> NDArray[np.float64]:
    return SVMTheta().fit_transform(data[0])


def grakel(data: tuple[Any, Any]) -> NDArray[np.float64]:
    from grakel import SvmTheta

    return np.asarray(SvmTheta(random_state=0).fit_transform(data[1]))


register(
    Case(
        "svm-theta",
        "Gram matrix of SVMTheta, MUTAG, times alone",
        data,
        ours,
        grakel,
        "GraKeL, 50 samples",
        check=None,
        needs=needs_grakel,
    )
)
