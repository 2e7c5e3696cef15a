"""Random walk kernels against the plain definition on the product graph, and their limits."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch, RandomWalk, as_batch
from reference.examples import random_graphs
from reference.kernels.paths_walks import largest_safe_decay, random_walk
from reference.plain import plain_graphs
from reference.strategies import graph_batches

KINDS = ("geometric", "exponential", "steps")

TRIANGLE = [(0, 1), (1, 2), (2, 0)]


def plain_matrix(X, Y, use_labels=True, **params):
    params["labels"] = use_labels
    return np.array(
        [[random_walk(x, y, **params) for y in plain_graphs(Y)] for x in plain_graphs(X)]
    )


def named_decay(error: pytest.ExceptionInfo) -> float:
    """The largest safe decay given in a message."""
    found = re.search(r"largest safe decay for these graphs is ([0-9.e-]+)\. ", str(error.value))
    assert found, str(error.value)
    return float(found.group(1))


@given(
    graph_batches(min_graphs=1, max_graphs=4, max_nodes=6, directed=None),
    st.sampled_from(KINDS),
    st.booleans(),
    st.booleans(),
    st.floats(0.01, 0.999),
    st.integers(0, 6),
)
def test_all_kinds_against_the_definition(batch, kind, labels, weighted, share, n_steps):
    limit = largest_safe_decay(batch, labels=labels, weighted=weighted)
    decay = share * min(limit, 1.0)
    params = {"kind": kind, "decay": decay, "n_steps": n_steps}
    params |= {"use_labels": labels, "weighted": weighted}
    kernel = RandomWalk(**params)
    expected = plain_matrix(batch, batch, **params)
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, rtol=1e-9)
    np.testing.assert_allclose(kernel.transform(batch), expected, rtol=1e-9)
    np.testing.assert_allclose(kernel.diagonal(batch), np.diagonal(expected), rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_molecules_against_the_definition(kind):
    from gramlet import load_dataset

    batch = load_dataset("MUTAG").graphs[1:4]
    params = {"kind": kind, "decay": 0.1, "n_steps": 4}
    expected = plain_matrix(batch, batch, **params)
    np.testing.assert_allclose(RandomWalk(**params).fit_transform(batch), expected, rtol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", [True, False])
def test_negative_weights(kind, labels):
    rng = np.random.default_rng(4)
    batch = random_graphs(4, n_graphs=6)
    tails, heads = batch.arcs()
    once = np.flatnonzero(tails < heads)
    signed = GraphBatch.from_arcs(
        batch.node_offsets,
        tails[once],
        heads[once],
        node_labels=batch.node_labels,
        edge_weights=rng.normal(size=len(once)),
    )
    params = {"kind": kind, "use_labels": labels, "weighted": True, "n_steps": 5}
    params["decay"] = 0.9 * largest_safe_decay(signed, labels=labels, weighted=True)
    np.testing.assert_allclose(
        RandomWalk(**params).fit_transform(signed),
        plain_matrix(signed, signed, **params),
        rtol=1e-9,
        atol=1e-9,
    )


@pytest.mark.parametrize("labels", [True, False])
def test_exponential_of_large_negative_eigenvalues_does_not_cancel(labels):
    batch = GraphBatch.from_edges(
        [TRIANGLE, TRIANGLE], node_labels=["CCC", "CCC"], edge_weights=[[1.0] * 3, [-1.0] * 3]
    )
    kernel = RandomWalk("exponential", decay=8.0, use_labels=labels, weighted=True)
    matrix = kernel.fit_transform(batch)
    np.testing.assert_allclose(matrix[0, 1], 9 * np.exp(-32.0), rtol=1e-9)
    np.testing.assert_allclose(matrix[1, 1], 9 * np.exp(32.0), rtol=1e-9)


def test_unseen_labels_meet_only_each_other():
    fitted = [(TRIANGLE, ["C", "C", "N"])]
    new = [([(0, 1), (1, 2)], ["C", "X", "Y"]), ([(0, 1)], ["X", "X"])]
    kernel = RandomWalk("steps", decay=0.5, n_steps=3).fit(fitted)
    assert np.array_equal(kernel.transform(new), [[2.0], [0.0]])
    expected = [random_walk(g, g, "steps", 0.5, 3) for g in plain_graphs(as_batch(new))]
    np.testing.assert_allclose(kernel.diagonal(new), expected)


def test_labels_only_count_where_there_are_some_and_they_are_asked_for():
    batch = random_graphs(0, n_graphs=5)
    bare = GraphBatch(batch.node_offsets, batch.indptr, batch.indices)
    without = RandomWalk(use_labels=False).fit_transform(batch)
    assert np.array_equal(without, RandomWalk().fit_transform(bare))
    assert (without > RandomWalk().fit_transform(batch)).any()
    again = RandomWalk(use_labels=False).fit(bare).transform(batch)
    np.testing.assert_allclose(again, without, rtol=1e-12)
    with pytest.raises(ValueError, match="fitted on graphs without node labels"):
        RandomWalk(use_labels=True).fit(bare).transform(batch)


def test_no_nodes_and_no_edges():
    graphs = GraphBatch.from_edges([[], [], []], n_nodes=[0, 3, 2], node_labels=["", "CCO", "CN"])
    for kind in KINDS:
        kernel = RandomWalk(kind, decay=1e6)
        assert np.array_equal(kernel.fit_transform(graphs), [[0, 0, 0], [0, 5, 2], [0, 2, 2]])
        assert np.array_equal(
            RandomWalk(kind, decay=1e6, use_labels=False).fit_transform(graphs),
            [[0, 0, 0], [0, 9, 6], [0, 6, 4]],
        )
        assert kernel.transform(graphs[:0]).shape == (0, 3)
        assert np.array_equal(RandomWalk(kind).fit(graphs[:1]).diagonal(graphs[1:]), [5, 2])


def test_no_decay_counts_pairs_of_nodes():
    batch = random_graphs(1, n_graphs=5)
    sizes = batch.sizes.astype(float)
    for kind in KINDS:
        matrix = RandomWalk(kind, decay=0.0, use_labels=False).fit_transform(batch)
        np.testing.assert_allclose(matrix, np.outer(sizes, sizes), rtol=1e-12)


# The largest decay


@given(
    graph_batches(min_graphs=1, max_graphs=4, max_nodes=6, directed=None),
    st.booleans(),
    st.booleans(),
)
def test_largest_safe_decay_at_fit(batch, labels, weighted):
    limit = largest_safe_decay(batch, labels=labels, weighted=weighted)
    if not np.isfinite(limit):
        RandomWalk(decay=1e9, use_labels=labels, weighted=weighted).fit(batch)
        return
    options = {"use_labels": labels, "weighted": weighted}
    just = {"kind": "geometric", "decay": 0.999 * limit, **options}
    np.testing.assert_allclose(
        RandomWalk(**just).fit_transform(batch), plain_matrix(batch, batch, **just), rtol=1e-9
    )
    with pytest.raises(ValueError, match="'decay' parameter of RandomWalk") as error:
        RandomWalk(decay=1.001 * limit, **options).fit(batch)
    named = named_decay(error)
    assert named < limit
    assert named == pytest.approx(limit, rel=1.1e-5)
    assert np.isfinite(RandomWalk(decay=named, **options).fit_transform(batch)).all()


@pytest.mark.parametrize("labels", [True, False])
def test_transform_refuses_new_graphs_by_their_pairs_with_the_fitted_ones(labels):
    fitted = random_graphs(2, n_graphs=6)
    clique = [(i, j) for i in range(9) for j in range(i)]
    new = GraphBatch.from_edges([TRIANGLE, clique], node_labels=[["a"] * 3, ["a", "b", "c"] * 3])
    limit = largest_safe_decay(new, fitted, labels=labels)
    assert limit < largest_safe_decay(fitted, labels=labels)
    safe = RandomWalk(decay=0.999 * limit, use_labels=labels).fit(fitted)
    expected = plain_matrix(new, fitted, kind="geometric", decay=0.999 * limit, use_labels=labels)
    np.testing.assert_allclose(safe.transform(new), expected, rtol=1e-9)
    with pytest.raises(ValueError, match="graph 1 with the fitted graph") as error:
        RandomWalk(decay=1.001 * limit, use_labels=labels).fit(fitted).transform(new)
    assert named_decay(error) == pytest.approx(limit, rel=1.1e-5)
    with pytest.raises(ValueError, match="graph 1 with itself") as error:
        safe.diagonal(new)
    assert named_decay(error) == pytest.approx(largest_safe_decay(new, labels=labels), rel=1.1e-5)
    with pytest.raises(ValueError, match="graph 1 with itself"):
        safe.set_params(normalize=True).transform(new)


def test_a_new_graph_too_large_for_itself_may_be_compared_with_fitted_ones():
    fitted = [([(0, 1)], ["C", "N"])]
    clique = [([(i, j) for i in range(8) for j in range(i)], ["N"] * 8)]
    kernel = RandomWalk(decay=0.5).fit(fitted)
    assert np.array_equal(kernel.transform(clique), [[8.0]])


def test_long_chains_whose_eigenvalues_crowd():
    chain = GraphBatch.from_edges([[(i, i + 1) for i in range(59)]], node_labels=[["C"] * 60])
    limit = 1 / (2 * np.cos(np.pi / 61)) ** 2
    with pytest.raises(ValueError, match="largest safe") as error:
        RandomWalk(decay=limit * (1 + 1e-7)).fit(chain)
    assert named_decay(error) == pytest.approx(limit, rel=1.1e-5)
    decay = limit * (1 - 1e-7)
    close = RandomWalk(decay=decay).fit_transform(chain)
    np.testing.assert_allclose(
        close, RandomWalk(decay=decay, use_labels=False).fit_transform(chain), rtol=1e-6
    )


@pytest.mark.parametrize("labels", [True, False])
def test_sums_too_large_are_refused(labels):
    batch = GraphBatch.from_edges(
        [[], TRIANGLE], node_labels=["C", "CCC"], edge_weights=[[], [1.0, 1.0, -2.0]]
    )
    for weighted in (False, True):
        options = {"use_labels": labels, "weighted": weighted}
        with pytest.raises(
            ValueError, match=r"too large for a floating point number.*Lower 'decay'"
        ):
            RandomWalk("exponential", decay=1e3, **options).fit_transform(batch)
        with pytest.raises(ValueError, match="for graph 1 with itself"):
            RandomWalk("exponential", decay=1e3, **options).fit(batch).diagonal(batch)
        with pytest.raises(ValueError, match="too large for a floating point number"):
            RandomWalk("steps", decay=1e200, n_steps=4, **options).fit_transform(batch)


def test_exponential_up_to_the_largest_number():
    batch = GraphBatch.from_edges([TRIANGLE], node_labels=["CCC"])
    matrix = RandomWalk("exponential", decay=175.0).fit_transform(batch)
    np.testing.assert_allclose(np.log(matrix[0, 0]), np.log(9) + 700, rtol=1e-12)


def test_wrong_parameters_and_weights():
    batch = random_graphs(0, n_graphs=3)
    for name, value in (("kind", "geo"), ("decay", -0.1), ("decay", np.nan), ("n_steps", -1)):
        with pytest.raises(ValueError, match=f"'{name}' parameter of RandomWalk"):
            RandomWalk(**{name: value}).fit(batch)
    broken = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], edge_weights=[[1.0], [np.inf]])
    RandomWalk().fit(broken)
    with pytest.raises(
        ValueError, match=r"RandomWalk\(weighted=True\): the edge \(0, 1\) of graph 1"
    ):
        RandomWalk(weighted=True).fit(broken)
