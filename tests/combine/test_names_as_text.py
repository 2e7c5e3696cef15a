"""Wherever a kernel is taken, its name or an expression of names is taken too."""

from __future__ import annotations

import numpy as np
import pytest

import gramlet
from gramlet import (
    AlignedKernelSum,
    CoreKernel,
    DeepGraphKernel,
    EdgeHistogram,
    FeatureMap,
    GraphKernelGP,
    GraphNystroem,
    KernelDistance,
    KernelProduct,
    KernelSum,
    ShortestPath,
    WeisfeilerLehman,
)
from reference.examples import random_graphs

GRAPHS = random_graphs(0, n_graphs=8)
Y = np.arange(8) % 2


def fitted(make):
    return lambda kernel: make(kernel).fit(GRAPHS, Y).transform(GRAPHS)


# Each takes a kernel in some form and computes arrays with it, which must be those of the plain
# kernel.
TAKERS = {
    "gram": lambda kernel: gramlet.gram(GRAPHS, kernel),
    "mmd_test": lambda kernel: gramlet.mmd_test(
        GRAPHS[:4], GRAPHS[4:], kernel, n_permutations=5, random_state=0
    ),
    "FeatureMap": lambda kernel: fitted(FeatureMap)(kernel).toarray(),
    "KernelDistance": fitted(KernelDistance),
    "GraphNystroem": fitted(lambda kernel: GraphNystroem(kernel, 3, random_state=0)),
    "GraphKernelGP": lambda kernel: GraphKernelGP(kernel)(GRAPHS),
    "KernelSum": fitted(lambda kernel: KernelSum([kernel, "vertex"], [0.5, 2.0])),
    "named KernelSum": fitted(lambda kernel: KernelSum([("a", kernel), ("b", kernel)])),
    "KernelProduct": fitted(lambda kernel: KernelProduct([kernel, "edge"])),
    "AlignedKernelSum": fitted(lambda kernel: AlignedKernelSum([kernel, "edge"])),
    "DeepGraphKernel": fitted(DeepGraphKernel),
    "CoreKernel": fitted(CoreKernel),
    "WeisfeilerLehman": fitted(lambda kernel: WeisfeilerLehman(1, base=kernel)),
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("sp", ShortestPath()),
        ("edge(use_edge_labels=False)", EdgeHistogram(use_edge_labels=False)),
    ],
)
def test_a_name_alone_is_the_plain_kernel(taker, text, kernel):
    np.testing.assert_array_equal(TAKERS[taker](text), TAKERS[taker](kernel))


@pytest.mark.parametrize("taker", TAKERS)
def test_unknown_names_are_refused_with_similar_ones(taker):
    with pytest.raises(ValueError, match=r"'wl_ao'.*wl-oa"):
        TAKERS[taker]("wl_ao")


def test_members_given_as_text_have_parameters():
    kernel = KernelSum(["wl", "sp"])
    assert kernel.get_params()["weisfeilerlehman__n_iter"] == 5
    kernel.set_params(weisfeilerlehman__n_iter=1)
    expected = KernelSum([WeisfeilerLehman(n_iter=1), ShortestPath()])
    np.testing.assert_array_equal(kernel.fit_transform(GRAPHS), expected.fit_transform(GRAPHS))
    kernel.set_params(shortestpath="vertex")
    assert [name for name, _ in kernel.kernels] == ["weisfeilerlehman", "shortestpath"]
    assert repr(KernelSum(["nothing"])) == "KernelSum(kernels=['nothing'])"
