"""Random walk kernels of directed graphs: acyclic ones, near the largest decay, with signs."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramlet
from gramlet import GraphBatch, RandomWalk, as_batch
from gramlet.common.fields import check
from reference.kernels.paths_walks import largest_safe_decay, random_walk
from reference.plain import plain_graphs
from reference.strategies import graph_batches

KINDS = ("geometric", "exponential", "steps")


def plain_matrix(X, Y, use_labels=True, **params):
    params["labels"] = use_labels
    return np.array(
        [[random_walk(x, y, **params) for y in plain_graphs(Y)] for x in plain_graphs(X)]
    )


def random_digraphs(seed, n_graphs=6, n_nodes=14, degree=2.0, labels="ab"):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, n_nodes + 1, n_graphs)
    edges = [
        [(i, j) for i in range(n) for j in range(n) if i != j and rng.random() < degree / n]
        for n in sizes
    ]
    return GraphBatch.from_edges(
        edges,
        n_nodes=sizes,
        node_labels=[rng.choice(list(labels), n).tolist() for n in sizes],
        edge_weights=[rng.normal(size=len(e)) for e in edges],
        directed=True,
    )


def test_walks_follow_arcs():
    """A chain of three arcs and a reversed chain: common walks follow arcs."""
    chain = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=["abc"], directed=True)
    turned = GraphBatch.from_edges([[(2, 1), (1, 0)]], node_labels=["abc"], directed=True)
    kernel = RandomWalk("steps", decay=1.0, n_steps=3).fit(chain)
    assert kernel.transform(chain).tolist() == [[3 + 2 + 1]]
    assert kernel.transform(turned).tolist() == [[3]]


@given(st.data(), st.sampled_from(KINDS), st.booleans(), st.booleans(), st.floats(0.01, 0.9999))
def test_new_graphs_against_the_definition(data, kind, labels, weighted, share):
    columns = {"labels": True, "weights": weighted, "directed": True, "max_nodes": 6}
    fitted = data.draw(graph_batches(min_graphs=1, max_graphs=3, **columns))
    new = data.draw(graph_batches(min_graphs=1, max_graphs=3, **columns))
    options = {"labels": labels, "weighted": weighted}
    limit = min(
        largest_safe_decay(fitted, **options), largest_safe_decay(new, fitted, **options), 1.0
    )
    params = {"kind": kind, "decay": share * limit, "n_steps": 4}
    params |= {"use_labels": labels, "weighted": weighted}
    found = RandomWalk(**params).fit(fitted).transform(new)
    np.testing.assert_allclose(found, plain_matrix(new, fitted, **params), rtol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [True, False])
def test_larger_graphs(kind, labels):
    batch = random_digraphs(3)
    for share in (0.3, 0.99):
        decay = share * largest_safe_decay(batch, labels=labels)
        params = {"kind": kind, "decay": decay, "n_steps": 5, "use_labels": labels}
        np.testing.assert_allclose(
            RandomWalk(**params).fit_transform(batch),
            plain_matrix(batch, batch, **params),
            rtol=1e-10,
        )


@pytest.mark.parametrize("decay", [0.5, 1.2, 3.0, 1e3])
def test_acyclic_graphs_take_any_decay(decay):
    """A long chain with shortcuts: no walk is longer than the chain, so sums are finite."""
    edges = [(i, i + 1) for i in range(79)] + [(i, i + 3) for i in range(0, 70, 7)]
    batch = GraphBatch.from_edges([edges, [(0, 1)]], n_nodes=[80, 2], directed=True)
    matrix = RandomWalk(decay=decay).fit_transform(batch)
    steps = RandomWalk("steps", decay=decay, n_steps=200).fit_transform(batch)
    np.testing.assert_allclose(matrix, steps, rtol=1e-11)
    expected = [160 + decay * len(edges), 4 + decay]
    np.testing.assert_allclose(matrix[1], expected, rtol=1e-12)


def test_rings_of_any_length_have_spectral_radius_one():
    """Their products are rings again, so every decay below 1 is safe."""
    rings = [[(i, (i + 1) % n) for i in range(n)] for n in (3, 5, 64)]
    batch = GraphBatch.from_edges(rings, directed=True)
    matrix = RandomWalk(decay=0.999).fit_transform(batch)
    # One walk of every length starts at every pair of nodes.
    np.testing.assert_allclose(matrix, np.outer([3, 5, 64], [3, 5, 64]) / (1 - 0.999), rtol=1e-11)
    with pytest.raises(ValueError, match=re.escape("ρ = 1. The largest safe decay")):
        RandomWalk(decay=1.0).fit(batch)


def test_one_cycle_that_leads_to_another_close_to_the_largest_decay():
    """Entries of the solution differ by a factor of 1/(1 − λ)²; all must be accurate."""
    edges = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 2)]
    batch = GraphBatch.from_edges([edges], node_labels=["abcd"], directed=True)
    for gap in (1e-3, 1e-6, 1e-8):
        decay = 1.0 - gap
        # Walks in one cycle: 1/gap from each node; plus those from nodes 0 and 1 into the other.
        inside = 1.0 / gap
        x1 = (1 + decay + decay * inside) / (1 - decay**2)
        expected = 2 * inside + x1 + (1 + decay * x1)
        found = RandomWalk(decay=decay).fit_transform(batch)[0, 0]
        np.testing.assert_allclose(found, expected, rtol=1e-15 / gap)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [True, False])
def test_negative_weights(kind, labels):
    batch = random_digraphs(5, n_nodes=7)
    params = {"kind": kind, "use_labels": labels, "weighted": True, "n_steps": 5}
    params["decay"] = 0.9 * largest_safe_decay(batch, labels=labels, weighted=True)
    kernel = RandomWalk(**params)
    expected = plain_matrix(batch, batch, **params)
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(kernel.diagonal(batch), np.diagonal(expected), rtol=1e-9)
    if kind == "geometric":
        too_large = 1.01 * params["decay"] / 0.9
        with pytest.raises(ValueError, match="too large for graph"):
            RandomWalk(**{**params, "decay": too_large}).fit(batch)


def test_exponential_of_a_rotation_does_not_cancel():
    """For a two-cycle of weights 1 and −1, exp(tA) is a rotation by t."""
    turn = GraphBatch.from_edges(
        [[(0, 1), (1, 0)]], node_labels=["ab"], edge_weights=[[1.0, -1.0]], directed=True
    )
    unit = GraphBatch.from_edges(
        [[(0, 1), (1, 0)]], node_labels=["ab"], edge_weights=[[1.0, 1.0]], directed=True
    )
    for decay in (1.0, 40.0):
        kernel = RandomWalk("exponential", decay=decay, weighted=True).fit(unit)
        np.testing.assert_allclose(kernel.transform(turn)[0, 0], 2 * np.cos(decay), rtol=1e-11)


def test_signed_products_of_many_nodes():
    n = 50
    ring = [(i, (i + 1) % n) for i in range(n)]
    batch = GraphBatch.from_edges([ring], edge_weights=[[-0.5] * n], directed=True)
    found = RandomWalk(decay=0.5, weighted=True).fit_transform(batch)
    np.testing.assert_allclose(found[0, 0], n * n / (1 - 0.5 * 0.25), rtol=1e-12)
    found = RandomWalk("exponential", decay=0.5, weighted=True).fit_transform(batch)
    np.testing.assert_allclose(found[0, 0], n * n * np.exp(0.5 * 0.25), rtol=1e-12)


def test_sums_too_large_are_refused():
    batch = GraphBatch.from_edges([[(i, i + 1) for i in range(9)]], directed=True)
    with pytest.raises(ValueError, match=r"too large for a floating point number.*graph 0 with it"):
        RandomWalk(decay=1e60).fit_transform(batch)


@pytest.mark.parametrize("kind", KINDS)
def test_graphs_without_edges_go_with_either_kind(kind):
    bare = GraphBatch.from_edges([[], []], n_nodes=[3, 0])
    arcs = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 0)]], directed=True)
    edges = arcs.to_undirected()
    kernel = RandomWalk(kind, decay=0.2).fit(bare)
    for new in (arcs, edges, bare):
        assert kernel.transform(new)[0].tolist() == [9.0, 0.0]
        alone = RandomWalk(kind, decay=0.2).fit_transform(new)
        np.testing.assert_allclose(kernel.diagonal(new), np.diagonal(alone), rtol=1e-12)
        back = RandomWalk(kind, decay=0.2).fit(new).transform(bare)
        np.testing.assert_allclose(back[:, 0], [9.0, 0.0], rtol=1e-12)


def test_matrices_that_are_asymmetric_are_walked_along_their_arcs():
    matrix = np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    batch = as_batch([matrix])
    assert batch.directed
    assert RandomWalk(decay=1.0).fit_transform(batch).tolist() == [[9 + 9 + 1]]


@pytest.mark.parametrize("kind", KINDS)
def test_models_with_negative_weights_are_saved_and_checked(kind, tmp_path):
    batch = random_digraphs(7, n_nodes=6)
    kernel = RandomWalk(kind, decay=0.01, weighted=True).fit(batch)
    check(kernel.profile_)
    gramlet.save(kernel, tmp_path / "walks.gramlet")
    again = gramlet.load(tmp_path / "walks.gramlet")
    assert np.array_equal(again.transform(batch), kernel.transform(batch))
    if kind == "geometric":
        forged = replace(kernel.profile_, radii=0.5 * kernel.profile_.radii)
        with pytest.raises(ValueError, match="radii do not fit the graphs"):
            check(forged)
