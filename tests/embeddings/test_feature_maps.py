"""Feature maps of graphlets against their formulas, alone and averaged over samples."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from gramlet import (
    EigenGaussianMap,
    GaussianMap,
    GraphBatch,
    GraphSampling,
    MatchMap,
    OpticalMap,
    RandomWalkSampler,
    UniformSampler,
)
from gramlet.engine.graphlets.patterns import adjacency_matrices, patterns
from gramlet.engine.graphlets.sampling import sample_codes
from reference.kernels import graphlets as reference

MAPS = {
    "gaussian": GaussianMap(37, sigma=1.3),
    "eigen": EigenGaussianMap(40, sigma=0.7),
    "optical": OpticalMap(150, scale=0.8),
    "dark": OpticalMap(33, bias=False),
    "match": MatchMap(),
    "repeated": MatchMap(isomorphic=False),
}
each_map = pytest.mark.parametrize("feature_map", MAPS.values(), ids=MAPS.keys())


def random_batch(seed=0, sizes=(0, 1, 3, 6, 9, 12, 20), density=0.35):
    rng = np.random.default_rng(seed)
    edges = [np.argwhere(np.triu(rng.random((n, n)) < density, 1)) for n in sizes]
    labels = [rng.choice(["a", "b", "c"], n).tolist() for n in sizes]
    return GraphBatch.from_edges(edges, n_nodes=list(sizes), node_labels=labels)


def dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


# Single graphlets


@pytest.mark.parametrize("k", [2, 4])
def test_features_are_those_of_the_formulas(k):
    matrices = adjacency_matrices(np.arange(1 << (k * (k - 1) // 2)), k)
    gaussian = GaussianMap(9, sigma=0.5, random_state=1).fit(matrices)
    eigen = EigenGaussianMap(9, sigma=0.5, random_state=1).fit(matrices)
    optical = OpticalMap(9, scale=2.0, random_state=1).fit(matrices)
    for i, matrix in enumerate(matrices):
        np.testing.assert_allclose(
            gaussian.transform(matrices)[i],
            reference.gaussian_map(matrix, gaussian.weights_, gaussian.offsets_),
        )
        np.testing.assert_allclose(
            eigen.transform(matrices)[i],
            reference.eigen_gaussian_map(matrix, eigen.weights_, eigen.offsets_),
        )
        np.testing.assert_allclose(
            optical.transform(matrices)[i],
            reference.optical_map(matrix, optical.weights_.T, optical.offsets_),
        )
    flat = matrices.reshape(len(matrices), -1)
    np.testing.assert_array_equal(gaussian.transform(flat), gaussian.transform(matrices))


def test_random_numbers_have_their_laws():
    k, m = 4, 20_000
    one = np.zeros((1, k, k))
    gaussian = GaussianMap(m, sigma=0.5, random_state=0).fit(one)
    assert gaussian.weights_.shape == (16, m)
    np.testing.assert_allclose(gaussian.weights_.std(), 2.0, rtol=0.01)
    np.testing.assert_allclose(gaussian.offsets_.mean(), np.pi, rtol=0.02)
    assert 0 <= gaussian.offsets_.min() < 0.01
    assert 6.27 < gaussian.offsets_.max() < 2 * np.pi
    optical = OpticalMap(m, scale=3.0, random_state=0).fit(one)
    for part in (optical.weights_.real, optical.weights_.imag):
        np.testing.assert_allclose(part.var(), 4.5, rtol=0.02)
    for part in (optical.offsets_.real, optical.offsets_.imag):
        np.testing.assert_allclose(part.var(), 4.5, rtol=0.05)
    correlation = np.corrcoef(optical.weights_.real.ravel(), optical.weights_.imag.ravel())[0, 1]
    assert abs(correlation) < 0.01
    assert not OpticalMap(5, bias=False, random_state=0).fit(one).offsets_.any()


@pytest.mark.parametrize(
    ("feature_map", "kernel"),
    [
        (GaussianMap(60_000, sigma=1.5), lambda A, B: reference.gaussian_kernel(A, B, 1.5)),
        (EigenGaussianMap(60_000, 1.5), lambda A, B: reference.eigen_gaussian_kernel(A, B, 1.5)),
        (OpticalMap(60_000), reference.optical_kernel),
        (
            OpticalMap(60_000, bias=False, scale=0.7),
            lambda A, B: reference.optical_kernel(A, B, False, 0.7),
        ),
        (MatchMap(), reference.match_kernel),
    ],
)
def test_inner_products_tend_to_the_kernels(feature_map, kernel):
    matrices = adjacency_matrices(np.array([0, 1, 13, 63, 30, 50]), 4)
    features = clone(feature_map)
    if hasattr(features, "n_components"):
        features.set_params(random_state=0)
    features = features.fit_transform(matrices)
    expected = np.array([[kernel(A, B) for B in matrices] for A in matrices])
    np.testing.assert_allclose(features @ features.T, expected, atol=0.03 * max(1, expected.max()))


def test_match_maps():
    matrices = adjacency_matrices(np.arange(64), 4)
    repeated = MatchMap(isomorphic=False).fit_transform(matrices)
    np.testing.assert_array_equal(repeated, np.eye(64))
    up_to_order = MatchMap().fit_transform(matrices)
    assert up_to_order.shape == (64, 11)
    np.testing.assert_array_equal(up_to_order.sum(axis=0), patterns(4).orbit_sizes)
    large = MatchMap(isomorphic=False).fit_transform(adjacency_matrices(np.array([5, 7]), 6))
    assert large.shape == (2, 1 << 15)
    assert large.indices.tolist() == [5, 7]


@each_map
def test_wrong_arrays_are_refused(feature_map):
    fitted = clone(feature_map).fit(np.zeros((1, 3, 3)))
    for wrong in (np.zeros((2, 3, 4)), np.zeros((2, 5)), np.zeros(4), np.zeros((2, 0))):
        with pytest.raises(ValueError, match="takes adjacency matrices"):
            fitted.transform(wrong)
    with pytest.raises(ValueError, match="fitted to graphlets of 3 nodes; got 4"):
        fitted.transform(np.zeros((2, 4, 4)))


# Averages over samples


@each_map
@pytest.mark.parametrize("k", [2, 5, 6])
@pytest.mark.parametrize("sampler", [UniformSampler(), RandomWalkSampler(0.2)])
def test_embeddings_are_means_over_all_that_was_drawn(feature_map, k, sampler):
    batch = random_batch()
    embedding = GraphSampling(k, 90, sampler=sampler, feature_map=feature_map, random_state=3)
    found = dense(embedding.fit_transform(batch))
    flyback = getattr(sampler, "flyback", None)
    codes = sample_codes(batch, k, 90, embedding.seed_, flyback=flyback)
    for i in range(len(batch)):
        each = dense(embedding.feature_map_.transform(adjacency_matrices(codes[i], k)))
        np.testing.assert_allclose(found[i], each.mean(axis=0), rtol=1e-9, atol=1e-12)


@each_map
def test_rows_have_the_same_bits_in_any_batch(feature_map):
    batch = random_batch(1, sizes=tuple(range(30)))
    embedding = GraphSampling(5, 300, sampler="walk", feature_map=feature_map, random_state=0).fit(
        batch[:3]
    )
    together = dense(embedding.transform(batch))
    order = np.random.default_rng(0).permutation(30)
    np.testing.assert_array_equal(dense(embedding.transform(batch[order])), together[order])
    for i in (0, 7, 29):
        np.testing.assert_array_equal(dense(embedding.transform(batch[i]))[0], together[i])


@pytest.mark.parametrize("width", [1, 127, 128, 129, 300])
def test_blocks_of_features_fit_together(width):
    batch = random_batch(2)
    for kind in (GaussianMap, OpticalMap):
        embedding = GraphSampling(4, 50, feature_map=kind(width), random_state=0)
        found = embedding.fit_transform(batch)
        codes = sample_codes(batch, 4, 50, embedding.seed_)
        each = embedding.feature_map_.transform(adjacency_matrices(codes[5], 4))
        np.testing.assert_allclose(found[5], each.mean(axis=0), rtol=1e-9)


def test_many_distinct_patterns_are_described_in_turns():
    batch = random_batch(3, sizes=(60, 61, 62), density=0.5)
    embedding = GraphSampling(7, 3000, feature_map=GaussianMap(5), random_state=0)
    found = embedding.fit_transform(batch)
    codes = sample_codes(batch, 7, 3000, embedding.seed_)
    assert len(np.unique(codes)) > 4096
    for i in range(3):
        each = embedding.feature_map_.transform(adjacency_matrices(codes[i], 7))
        np.testing.assert_allclose(found[i], each.mean(axis=0), rtol=1e-9, atol=1e-12)


# Devices


class Recorder:
    """A device that stores its input."""

    def __init__(self, n_inputs, m):
        rng = np.random.default_rng(0)
        self.matrix = rng.normal(size=(n_inputs, m)) + 1j * rng.normal(size=(n_inputs, m))
        self.sent = []

    def transform(self, X):
        self.sent.append(np.array(X))
        return np.abs(X @ self.matrix) ** 2


def test_a_device_sees_every_distinct_pattern_once(monkeypatch):
    monkeypatch.setattr("gramlet.embeddings.optical_map._SENT", 16)
    batch = random_batch(4)
    device = Recorder(25, 12)
    embedding = GraphSampling(5, 200, feature_map=OpticalMap(12, device=device), random_state=0)
    found = embedding.fit_transform(batch)
    assert found.shape == (len(batch), 12)
    assert embedding.feature_map_.device is device
    rows = np.concatenate(device.sent[1:])  # the first call finds the number of features
    assert rows.dtype == np.uint8
    assert len(np.unique(rows, axis=0)) == len(rows)
    codes = sample_codes(batch, 5, 200, embedding.seed_)
    assert len(rows) == len(np.unique(codes))
    for i in range(len(batch)):
        vectors = adjacency_matrices(codes[i], 5).reshape(200, 25)
        expected = (np.abs(vectors @ device.matrix) ** 2).mean(axis=0) / np.sqrt(12)
        np.testing.assert_allclose(found[i], expected, rtol=1e-12)


def test_copies_of_a_map_share_the_device():
    device = Recorder(9, 4)
    assert clone(OpticalMap(4, device=device)).device is device
    assert clone(GraphSampling(feature_map=OpticalMap(device=device))).feature_map.device is device


def test_devices_that_fail_are_named():
    class Broken:
        def __init__(self, answer):
            self.answer = answer

        def transform(self, X):
            return self.answer(X)

    for answer, message in (
        (lambda X: np.ones(len(X)), "one row of intensities per row; got shape"),
        (lambda X: np.full((len(X), 3), np.nan), "not finite"),
    ):
        with pytest.raises(ValueError, match=message):
            GraphSampling(3, feature_map=OpticalMap(device=Broken(answer))).fit(random_batch())
    blind = GraphSampling(3, feature_map=OpticalMap(device=Recorder(9, 4)), use_labels=True)
    with pytest.raises(ValueError, match="without labels"):
        blind.fit(random_batch())
    with pytest.raises(ValueError, match="'device' parameter of OpticalMap"):
        OpticalMap(device=object()).fit(np.zeros((1, 3, 3)))
