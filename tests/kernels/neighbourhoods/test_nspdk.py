"""Pairs of balls against their plain definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import NSPDK, GraphBatch, ShortestPath
from reference.examples import worked_molecules
from reference.kernels import nspdk
from reference.strategies import graph_batches

WORKED = worked_molecules()


@st.composite
def two_batches(draw):
    columns = {"labels": draw(st.booleans()), "edge_labels": draw(st.booleans())}
    return (
        draw(graph_batches(min_graphs=1, max_graphs=3, max_nodes=6, **columns)),
        draw(graph_batches(min_graphs=1, max_graphs=3, max_nodes=6, **columns)),
    )


@given(two_batches(), st.integers(0, 3), st.integers(0, 4), st.booleans())
def test_the_definition(batches, radius, distance, normalize_levels):
    batch, new = batches
    options = {"radius": radius, "distance": distance, "normalize_levels": normalize_levels}
    kernel = NSPDK(**options)
    np.testing.assert_allclose(
        kernel.fit_transform(batch), nspdk.nspdk(batch, **options), atol=1e-12
    )
    np.testing.assert_allclose(
        kernel.transform(new), nspdk.nspdk(new, batch, **options), atol=1e-12
    )
    edge_labels = kernel.counter_.edge_labels.used
    own = np.diagonal(nspdk.nspdk(new, use_edge_labels=edge_labels, **options))
    np.testing.assert_allclose(kernel.diagonal(new), own, atol=1e-12)


def test_worked_values():
    expected = [
        [4, 2.581139, 1.707107, 0.894427],
        [2.581139, 4, 2.064038, 0.707107],
        [1.707107, 2.064038, 4, 1.601534],
        [0.894427, 0.707107, 1.601534, 4],
    ]
    matrix = NSPDK(radius=1, distance=1).fit_transform(WORKED)
    np.testing.assert_allclose(matrix, expected, atol=5e-7)
    plain = NSPDK(radius=0, distance=1, normalize_levels=False).fit_transform(WORKED)
    assert plain.tolist() == [[9, 5, 7, 6], [5, 3, 4, 3], [7, 4, 7, 9], [6, 3, 9, 18]]


def test_without_distance_0_it_is_the_shortest_path_kernel(shared_data):
    from gramlet import read_tu

    graphs = read_tu(shared_data / "PTC_MR.zip").graphs[:60]
    far = int(graphs.sizes.max())
    pairs = NSPDK(radius=0, distance=far, normalize_levels=False).fit_transform(graphs)
    singles = NSPDK(radius=0, distance=0, normalize_levels=False).fit_transform(graphs)
    assert np.array_equal(pairs - singles, ShortestPath().fit_transform(graphs))


def test_balls_that_the_number_of_labels_does_not_tell_apart_stay_apart():
    # A hexagon and two triangles: equal degrees, different distances inside the balls.
    ring = [(i, (i + 1) % 6) for i in range(6)]
    triangles = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]
    matrix = NSPDK(radius=1, distance=0).fit_transform(GraphBatch.from_edges([ring, triangles]))
    assert matrix[0, 1] == 1.0  # radius 0 only
    assert np.diagonal(matrix).tolist() == [2.0, 2.0]


def test_edge_labels_can_be_left_out():
    graphs = GraphBatch.from_edges(
        [[(0, 1)], [(0, 1)]], node_labels=["CO", "CO"], edge_labels=[["single"], ["double"]]
    )
    assert NSPDK(radius=1, distance=0).fit_transform(graphs)[0, 1] == pytest.approx(1.0)
    plain = NSPDK(radius=1, distance=0, use_edge_labels=False)
    assert plain.fit_transform(graphs)[0, 1] == pytest.approx(2.0)


def test_features_are_divided_by_norms_that_count_unseen_patterns():
    fitted = GraphBatch.from_edges([[]], n_nodes=[1], node_labels=["C"])
    new = GraphBatch.from_edges([[]], n_nodes=[4], node_labels=["CXXX"])
    kernel = NSPDK(radius=0, distance=0).fit(fitted)
    np.testing.assert_allclose(kernel.features(new).toarray(), [[1 / np.sqrt(1 + 9)]])
    np.testing.assert_allclose(kernel.transform(new), [[1 / np.sqrt(10)]])
    np.testing.assert_allclose(kernel.diagonal(new), [1.0])


def test_names_are_readable_and_follow_the_columns():
    kernel = NSPDK(radius=1, distance=1, normalize_levels=False).fit(WORKED)
    names = kernel.get_feature_names_out().tolist()
    row = dict(zip(names, kernel.features(WORKED).toarray()[0].tolist(), strict=True))
    assert row["r0 d0: C"] == 2.0
    assert row["r0 d1: C - O"] == 2.0
    assert row["r1 d0: O(C,C)#1"] == 1.0


def test_limits_are_named():
    with pytest.raises(ValueError, match="radius is 101, but every radius"):
        NSPDK(radius=101).fit(WORKED)
    with pytest.raises(ValueError, match="'radius' parameter of NSPDK"):
        NSPDK(radius=-1).fit(WORKED)
    with pytest.raises(ValueError, match="to_undirected"):
        NSPDK().fit(GraphBatch.from_edges([[(0, 1)]], directed=True))
    # Distances larger than the graphs add nothing.
    assert np.array_equal(
        NSPDK(distance=10**9).fit_transform(WORKED), NSPDK(distance=2).fit_transform(WORKED)
    )
