"""Cosine and Tanimoto normalisation wherever kernels are compared, and the rule for names."""

from __future__ import annotations

import numpy as np
import pytest

import gramlet
from gramlet import (
    FeatureMap,
    GraphKernelGP,
    GraphNeighbors,
    GraphNystroem,
    KernelDistance,
    KernelMap,
    KernelProduct,
    KernelSum,
    MarginalizedKernel,
    ShortestPath,
    VertexHistogram,
    WeightedWassersteinWL,
    WeisfeilerLehman,
    WLOptimalAssignment,
)
from gramlet.kernels.contract.normalisation import normalize_in_place
from gramlet.kernels.expression import normalized_by_name, parse_kernel

GRAPHS = gramlet.random_labelled_graphs(20, 8, 10, random_state=3)


def tanimoto(k: np.ndarray) -> np.ndarray:
    norms = np.diagonal(k)
    return k / (norms[:, None] + norms - k)


def test_minima_over_maxima():
    kernel = WLOptimalAssignment(n_iter=2, normalize="tanimoto")
    counts = WeisfeilerLehman(n_iter=2).fit(GRAPHS).features(GRAPHS).toarray()
    least = np.minimum(counts[:, None], counts[None]).sum(axis=2)
    most = np.maximum(counts[:, None], counts[None]).sum(axis=2)
    np.testing.assert_allclose(kernel.fit_transform(GRAPHS), least / most, rtol=1e-12)


def test_one_norm_of_zero_and_two():
    values, rows, columns = np.zeros((2, 2)), np.array([0.0, 4.0]), np.array([0.0, 2.0])
    normalize_in_place(values, rows, columns, "tanimoto")
    assert np.array_equal(values, np.zeros((2, 2)))


def test_an_indefinite_kernel_is_refused_with_the_pair():
    with pytest.raises(ValueError, match=r"graphs 1 \(row\) and 0 \(column\)"):
        normalize_in_place(np.array([[1.0], [5.0]]), np.ones(2), np.ones(1), "tanimoto")


@pytest.mark.parametrize("wrong", ["Tanimoto", "min-max", 2, None])
def test_unknown_kinds_are_refused(wrong):
    with pytest.raises(ValueError, match="'normalize' parameter"):
        WeisfeilerLehman(normalize=wrong).fit(GRAPHS)


@pytest.mark.parametrize("combine", [KernelSum, KernelProduct])
def test_members_and_the_whole(combine):
    members = [ShortestPath(normalize="tanimoto"), VertexHistogram()]
    first, second = (member.fit_transform(GRAPHS) for member in members)
    total = first + second if combine is KernelSum else first * second
    np.testing.assert_allclose(combine(members).fit_transform(GRAPHS), total, rtol=1e-12)
    whole = combine(members, normalize="tanimoto")
    np.testing.assert_allclose(whole.fit_transform(GRAPHS), tanimoto(total), rtol=1e-12)


@pytest.mark.parametrize("outer", ["wl", "core"])
def test_a_normalised_base(outer):
    base = VertexHistogram(normalize="tanimoto")
    kernel = gramlet.WeisfeilerLehman(n_iter=1, base=base)
    if outer == "core":
        kernel = gramlet.CoreKernel(base=base)
    matrix = kernel.fit_transform(GRAPHS)
    np.testing.assert_allclose(kernel.transform(GRAPHS), matrix, rtol=1e-12)
    if outer == "wl":
        levels = [WeisfeilerLehman(n_iter=h).fit_transform(GRAPHS) for h in (0, 1)]
        expected = tanimoto(levels[0]) + tanimoto(levels[1] - levels[0])
        np.testing.assert_allclose(matrix, expected, rtol=1e-12)
    assert not hasattr(kernel, "features")
    with pytest.raises(TypeError, match="no explicit feature map"):
        FeatureMap(kernel).fit(GRAPHS)


def test_several_gammas_of_learned_weights():
    y = np.arange(20) % 2
    kernel = WeightedWassersteinWL(n_iter=1, random_state=0, normalize="tanimoto").fit(GRAPHS, y)
    expected = tanimoto(WeightedWassersteinWL(n_iter=1, random_state=0).fit_transform(GRAPHS, y))
    np.fill_diagonal(expected, 1.0)
    np.testing.assert_allclose(kernel.decays().matrix(), expected, rtol=1e-9)
    np.testing.assert_allclose(kernel.decays(GRAPHS).matrix(), kernel.transform(GRAPHS), rtol=1e-9)


def test_gradients_are_those_of_finite_differences():
    kernel = MarginalizedKernel(stop=0.3, node_floor=0.2, edge_floor=0.2, normalize="tanimoto")
    matrix, gradients = kernel.gram_with_gradient(GRAPHS)
    np.testing.assert_allclose(matrix, kernel.fit_transform(GRAPHS), atol=1e-12)
    for name, slopes in gradients.items():
        value, step = getattr(kernel, name), 1e-5
        moved = [
            MarginalizedKernel(**{**kernel.get_params(), name: value + side * step})
            for side in (1, -1)
        ]
        above, below = (one.fit_transform(GRAPHS) for one in moved)
        np.testing.assert_allclose(slopes, (above - below) / (2 * step), atol=1e-7)
    gp = GraphKernelGP(kernel, tune={"stop": (0.1, 0.5)})
    assert gp(GRAPHS, eval_gradient=True)[1].shape == (20, 20, 1)


def test_wherever_kernels_are_used(tmp_path):
    kernel = WeisfeilerLehman(n_iter=2, normalize="tanimoto")
    matrix = kernel.fit_transform(GRAPHS)
    features = GraphNystroem(kernel, n_components=20).fit_transform(GRAPHS)
    np.testing.assert_allclose(features @ features.T, matrix, atol=1e-8)
    squares = KernelDistance(kernel).fit_transform(GRAPHS) ** 2
    np.testing.assert_allclose(squares, 2 - 2 * matrix, atol=1e-9)
    gp = GraphKernelGP(kernel)
    gp(GRAPHS)
    np.testing.assert_allclose(gp(GRAPHS[3:9], GRAPHS[9:]), matrix[3:9, 9:], rtol=1e-12)
    pytest.importorskip("zarr")
    stored = gramlet.gram(GRAPHS, kernel, output=tmp_path / "K.zarr", chunk=8)
    assert np.array_equal(stored[:], matrix)


@pytest.mark.parametrize("kernel", ["wl-oa", "wl(n_iter=2)", "wl(normalize='cosine')", "wl + sp"])
def test_neighbours_are_those_of_the_whole_matrix(kernel):
    index = GraphNeighbors(kernel, n_neighbors=4).fit(GRAPHS)
    squares = 2 - 2 * index.kernel_.transform(GRAPHS)
    np.fill_diagonal(squares, np.inf)
    expected = np.argsort(np.rint(squares * 1e12), axis=1, kind="stable")[:, :4]
    distances, positions = index.kneighbors()
    assert np.array_equal(positions, expected)
    nearest = np.take_along_axis(squares, expected, axis=1)
    np.testing.assert_allclose(distances, np.sqrt(np.maximum(nearest, 0)), atol=1e-6)


def test_a_single_name_is_normalised_unless_it_says_otherwise():
    assert normalized_by_name("wl").normalize == "tanimoto"
    assert normalized_by_name("wl(n_iter=2)").normalize == "tanimoto"
    assert normalized_by_name("wl(normalize=False)").normalize is False
    assert normalized_by_name("wl", normalize="cosine").normalize == "cosine"
    assert normalized_by_name(WeisfeilerLehman()).normalize is False
    for name in ("wwl", "wwl-attr", "emd", "flg", "mlg", "rbf(netlsd)"):
        assert normalized_by_name(name).normalize is False
    assert KernelMap("sp").fit(GRAPHS).kernel_.normalize == "tanimoto"


def test_members_of_expressions_are_normalised():
    total = parse_kernel("wl(n_iter=1) + 2 * sp(normalize=False) + wwl")
    kinds = [member.normalize for member in total.kernels]
    assert kinds == ["tanimoto", False, False]
    assert total.normalize is False
    assert normalized_by_name("wl + sp").normalize is False
    assert parse_kernel("2 * wl").kernels[0].normalize == "tanimoto"
    assert parse_kernel("core(wl)").base.normalize is False
    nested = parse_kernel("(vertex + sp) * wl")
    assert [member.normalize for member in nested.kernels] == [False, "tanimoto"]


def test_similarity_is_tanimoto():
    g, h = ([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])
    both = WeisfeilerLehman(n_iter=1).fit_transform([g, h])
    value = gramlet.similarity(g, h, n_iter=1)
    assert value == pytest.approx(both[0, 1] / (both[0, 0] + both[1, 1] - both[0, 1]))
    assert gramlet.similarity(g, h, WeisfeilerLehman(n_iter=1)) == value
    cosine = both[0, 1] / np.sqrt(both[0, 0] * both[1, 1])
    assert gramlet.similarity(g, h, n_iter=1, normalize="cosine") == pytest.approx(cosine)
    assert gramlet.similarity(g, h, n_iter=1, normalize=False) == both[0, 1]
    assert 0 < gramlet.similarity(g, h, "netlsd") <= 1
