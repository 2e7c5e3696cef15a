"""Random graph embedding: features against a linear program, anchors against their distribution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch, RandomGraphEmbedding, as_batch, earth_movers_distance
from gramlet.engine.core.tiles import Tiling
from gramlet.kernels.spectral.earth_mover import NodeReader
from reference import rge
from reference.strategies import graph_batches, permuted

nx = pytest.importorskip("networkx", reason="needs networkx")

KINDS = ("uniform", "gaussian", "data")


def reference(embedding: RandomGraphEmbedding, graphs) -> np.ndarray:
    return rge.rge_features(
        as_batch(graphs),
        embedding.anchors_,
        embedding.n_dims,
        embedding.gamma,
        embedding.labels_,
        embedding.label_weight,
        embedding.masses,
    )


def random_graphs(n_graphs: int, seed: int = 0, labels: bool = True) -> GraphBatch:
    rng = np.random.default_rng(seed)
    graphs = [nx.gnp_random_graph(int(rng.integers(4, 12)), 0.4, seed=i) for i in range(n_graphs)]
    for graph in graphs:
        for node in graph if labels else ():
            graph.nodes[node]["label"] = rng.choice(list("CNO"), p=[0.6, 0.3, 0.1]).item()
    return as_batch(graphs)


# Features


@given(
    graph_batches(min_graphs=1, max_graphs=3),
    graph_batches(min_graphs=1, max_graphs=3, labels=True),
    st.integers(1, 7),
    st.sampled_from(KINDS),
    st.sampled_from(["auto", True, False]),
    st.sampled_from(["degree", "uniform"]),
    st.integers(0, 1000),
)
def test_features_given_the_anchors(batch, new, n_dims, anchors, use_labels, masses, seed):
    if batch.n_nodes_total == 0:
        anchors = "uniform"
    embedding = RandomGraphEmbedding(
        4,
        n_dims,
        max_nodes=6,
        gamma=0.8,
        anchors=anchors,
        use_labels=use_labels,
        label_weight=1.3,
        random_state=seed,
        masses=masses,
    )
    features = embedding.fit_transform(batch)
    assert features.shape == (len(batch), 4)
    np.testing.assert_allclose(features, reference(embedding, batch), atol=1e-9)
    np.testing.assert_allclose(embedding.transform(batch), features, rtol=1e-12)
    if batch.node_labels is not None:
        np.testing.assert_allclose(embedding.transform(new), reference(embedding, new), atol=1e-9)


def test_a_feature_is_the_distance_to_its_random_graph():
    """An anchor of one node needs no transport problem: the distance is a mean."""
    batch = random_graphs(5, labels=False)
    embedding = RandomGraphEmbedding(8, max_nodes=1, gamma=2.0, random_state=0)
    features = embedding.fit_transform(batch)
    for i, graph in enumerate(batch):
        points = rge.node_embedding(graph, 6)
        masses = rge.node_masses(graph)
        for j, (place, mass) in enumerate(embedding.anchors_):
            assert mass.tolist() == [1.0]
            mean = masses @ np.linalg.norm(points - place, axis=1)
            assert features[i, j] == pytest.approx(np.exp(-2.0 * mean) / np.sqrt(8), abs=1e-12)


def test_distances_serve_every_gamma():
    batch = random_graphs(4)
    embedding = RandomGraphEmbedding(10, random_state=0).fit(batch)
    for gamma in (0.1, 3.0):
        again = RandomGraphEmbedding(10, gamma=gamma, random_state=0).fit(batch)
        expected = np.exp(-gamma * embedding.distance(batch)) / np.sqrt(10)
        np.testing.assert_allclose(again.transform(batch), expected, rtol=1e-12)


def test_empty_graphs_get_the_zero_row_and_edgeless_ones_uniform_masses():
    batch = as_batch([nx.Graph(), nx.empty_graph(3), nx.path_graph(4)])
    embedding = RandomGraphEmbedding(6, n_dims=2, random_state=0)
    features = embedding.fit_transform(batch)
    assert np.array_equal(features[0], np.zeros(6))
    assert (features[1:] > 0).all()
    np.testing.assert_allclose(features, reference(embedding, batch), atol=1e-9)
    assert np.isinf(embedding.distance([nx.Graph()])).all()


def test_only_empty_graphs():
    embedding = RandomGraphEmbedding(3, n_dims=2, random_state=0)
    assert np.array_equal(embedding.fit_transform([nx.Graph()]), np.zeros((1, 3)))
    assert embedding.scale_ == 0.0
    assert np.isfinite(embedding.transform([nx.path_graph(3)])).all()
    with pytest.raises(ValueError, match="all 2 are empty"):
        RandomGraphEmbedding(anchors="data").fit([nx.Graph(), nx.Graph()])


def test_fewer_nodes_than_dimensions_are_zero_columns():
    embedding = RandomGraphEmbedding(5, n_dims=9, random_state=0).fit([nx.path_graph(3)])
    edge = as_batch([nx.path_graph(2)])
    assert not rge.node_embedding(edge[0], 9)[:, 2:].any()
    np.testing.assert_allclose(embedding.transform(edge), reference(embedding, edge), atol=1e-9)


def test_unseen_labels_share_one_coordinate():
    embedding = RandomGraphEmbedding(6, n_dims=2, random_state=0).fit([([(0, 1)], "CO")])
    one, two = [([(0, 1)], "XX")], [([(0, 1)], "XY")]
    assert np.array_equal(embedding.transform(one), embedding.transform(two))
    assert (embedding.transform(one) < embedding.transform([([(0, 1)], "CO")])).all()
    np.testing.assert_allclose(embedding.transform(two), reference(embedding, two), atol=1e-9)


@pytest.mark.parametrize("anchors", KINDS)
def test_symmetric_graphs_do_not_depend_on_the_order_of_nodes(anchors):
    batch = as_batch(
        [nx.cycle_graph(8), nx.star_graph(6), nx.complete_graph(7), nx.cubical_graph()]
    )
    embedding = RandomGraphEmbedding(20, n_dims=4, anchors=anchors, random_state=0).fit(batch)
    for seed in range(3):
        shuffled = permuted(batch, np.random.default_rng(seed))
        np.testing.assert_allclose(
            embedding.transform(shuffled), embedding.transform(batch), atol=1e-9
        )


# Random graphs


@pytest.mark.parametrize("anchors", KINDS)
def test_shapes_and_masses_of_anchors(anchors):
    embedding = RandomGraphEmbedding(200, n_dims=3, max_nodes=5, anchors=anchors, random_state=0)
    embedding.fit(random_graphs(10))
    sizes = [len(masses) for _, masses in embedding.anchors_]
    assert set(sizes) == {1, 2, 3, 4, 5}
    assert len(embedding.anchors_) == 200
    for coordinates, masses in embedding.anchors_:
        assert coordinates.shape == (len(masses), 3 + 3 + 1)
        np.testing.assert_allclose(masses, 1 / len(masses))
        assert (coordinates[:, :3] >= 0).all()
        assert np.array_equal(coordinates[:, 3:].sum(axis=1), np.ones(len(masses)))
        assert not coordinates[:, -1].any()
    # D_j is uniform: 40 of each expected, with a standard deviation of 5.7.
    assert (np.abs(np.bincount(sizes)[1:] - 40) < 25).all()


@pytest.mark.parametrize("anchors", ["uniform", "gaussian"])
def test_distribution_of_random_coordinates(anchors):
    batch = random_graphs(10)
    embedding = RandomGraphEmbedding(800, n_dims=3, anchors=anchors, random_state=0).fit(batch)
    scale = embedding.scale_
    assert scale == pytest.approx(rge.largest_coordinate(batch, 3), abs=1e-9)
    points = np.concatenate([c[:, :3] for c, _ in embedding.anchors_]).ravel() / scale
    mean, spread = {"uniform": (0.5, 12**-0.5), "gaussian": (np.sqrt(2 / np.pi), 1.0)}[anchors]
    assert points.mean() == pytest.approx(mean, abs=5 * spread / np.sqrt(len(points)))
    quarter = {"uniform": 0.25, "gaussian": 0.31863936}[anchors]
    assert np.mean(points < quarter) == pytest.approx(0.25, abs=0.02)
    assert (points.max() <= 1) == (anchors == "uniform")


@pytest.mark.parametrize("label_draw", ["frequency", "uniform"])
def test_random_labels_follow_their_probabilities(label_draw):
    batch = random_graphs(40)
    embedding = RandomGraphEmbedding(600, n_dims=2, random_state=0, label_draw=label_draw)
    drawn = np.concatenate([c[:, 2:] for c, _ in embedding.fit(batch).anchors_])
    probabilities = rge.label_probabilities(batch, label_draw)
    expected = [probabilities[label] for label in embedding.labels_]
    np.testing.assert_allclose(drawn[:, :-1].mean(axis=0), expected, atol=0.03)
    assert not drawn[:, -1].any()


def test_the_way_labels_are_drawn_does_not_matter_to_anchors_from_the_data():
    batch = random_graphs(6)
    by_frequency, alike = (
        RandomGraphEmbedding(20, anchors="data", random_state=0, label_draw=draw).fit(batch)
        for draw in ("frequency", "uniform")
    )
    for (a, _), (b, _) in zip(by_frequency.anchors_, alike.anchors_, strict=True):
        np.testing.assert_array_equal(a, b)


def test_labels_drawn_alike_without_labels():
    batch = random_graphs(4, labels=False)
    embedding = RandomGraphEmbedding(5, label_draw="uniform", random_state=0).fit(batch)
    np.testing.assert_allclose(embedding.transform(batch), reference(embedding, batch), atol=1e-9)


def test_uniform_masses_differ_from_degrees_only_where_degrees_do():
    star, ring = nx.star_graph(4), nx.cycle_graph(5)
    by_degree, alike = (
        RandomGraphEmbedding(6, random_state=0, masses=masses).fit_transform([star, ring])
        for masses in ("degree", "uniform")
    )
    assert np.abs(by_degree[0] - alike[0]).max() > 1e-3
    np.testing.assert_allclose(by_degree[1], alike[1], rtol=1e-12)


def test_data_anchors_are_nodes_of_one_fitted_graph():
    batch = random_graphs(6)
    embedding = RandomGraphEmbedding(60, n_dims=3, anchors="data", random_state=0).fit(batch)
    nodes = NodeReader(3, "auto").fit(batch, Tiling())
    block = np.eye(len(embedding.labels_) + 1)[nodes.labels]
    rows = np.hstack([nodes.points, block])
    for coordinates, masses in embedding.anchors_:
        owners = []
        for i in range(len(batch)):
            own = rows[nodes.offsets[i] : nodes.offsets[i + 1]]
            near = np.abs(coordinates[:, None] - own[None]).max(axis=2) < 1e-12
            if near.any(axis=1).all():
                # Without replacement if there are enough nodes: distinct rows for distinct nodes.
                distinct = {row.tobytes() for row in own}
                if len(masses) <= len(own) and len(distinct) == len(own):
                    assert len({row.tobytes() for row in coordinates}) == len(masses)
                owners.append(i)
        assert owners


def test_first_anchors_of_more_components_are_the_same():
    batch = random_graphs(5)
    few = RandomGraphEmbedding(5, random_state=3).fit(batch)
    many = RandomGraphEmbedding(9, random_state=3).fit(batch)
    for (a, _), (b, _) in zip(few.anchors_, many.anchors_[:5], strict=True):
        assert np.array_equal(a, b)
    other = RandomGraphEmbedding(5, random_state=4).fit(batch)
    assert not np.array_equal(few.transform(batch), other.transform(batch))


# The kernel that dot products estimate


def test_dot_products_converge_in_the_number_of_components():
    """Errors of independent estimates decrease as 1/√R; their mean agrees with a much larger R."""
    batch = random_graphs(6)
    limit = RandomGraphEmbedding(20_000, n_dims=3, max_nodes=4, random_state=99).fit(batch)
    # Scale and label frequencies are those of the batch, so the kernel is the same.
    F = limit.transform(batch)
    exact = F @ F.T
    errors = []
    for components in (25, 100, 400, 1600):
        mean_square = np.zeros_like(exact)
        for seed in range(10):
            embedding = RandomGraphEmbedding(components, 3, max_nodes=4, random_state=seed)
            F = embedding.fit_transform(batch)
            mean_square += (F @ F.T - exact) ** 2 / 10
        errors.append(np.sqrt(mean_square.mean()))
    slope = np.polyfit(np.log([25, 100, 400, 1600]), np.log(errors), 1)[0]
    assert -0.65 < slope < -0.35
    assert errors[-1] < 0.03 * exact.mean()


def test_near_graphs_have_near_features():
    """|φ(G) − φ(H)| ≤ γ EMD(G, H)/√R in every column, by the triangle inequality."""
    batch = random_graphs(8)
    embedding = RandomGraphEmbedding(50, gamma=2.0, random_state=0)
    features = embedding.fit_transform(batch)
    for i in range(8):
        for j in range(i):
            bound = 2.0 * earth_movers_distance(batch[i], batch[j]) / np.sqrt(50)
            assert np.abs(features[i] - features[j]).max() <= bound + 1e-12


# Bad input


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_components", 0),
        ("n_dims", 0),
        ("max_nodes", 0),
        ("gamma", 0),
        ("gamma", -2.0),
        ("anchors", "nodes"),
        ("use_labels", "no"),
        ("label_weight", -1),
        ("random_state", "seed"),
        ("masses", "weight"),
        ("label_draw", "often"),
    ],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of RandomGraphEmbedding"):
        RandomGraphEmbedding(**{name: value}).fit([nx.path_graph(3)])


def test_labels_at_fit_are_labels_for_good():
    embedding = RandomGraphEmbedding(3).fit([([(0, 1)], "CO")])
    with pytest.raises(ValueError, match="fitted on graphs with node labels"):
        embedding.transform([nx.path_graph(2)])
