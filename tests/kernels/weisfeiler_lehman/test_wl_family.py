"""Histograms and Weisfeiler-Lehman kernels against their plain definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramlet
from gramlet import GraphBatch
from reference.kernels import histograms, wasserstein, weisfeiler_lehman
from reference.plain import gram
from reference.strategies import graph_batches

refinements = st.fixed_dictionaries(
    {
        "n_iter": st.integers(1, 3),
        "include_initial": st.booleans(),
        "use_edge_labels": st.booleans(),
    }
)


def agree(kernel, definition, batch, new, **options):
    np.testing.assert_allclose(
        kernel.fit_transform(batch), gram(definition, batch, **options), atol=1e-12
    )
    np.testing.assert_allclose(
        kernel.transform(new), gram(definition, new, batch, **options), atol=1e-12
    )


@st.composite
def two_batches(draw):
    columns = {"labels": draw(st.booleans()), "edge_labels": draw(st.booleans())}
    columns["directed"] = draw(st.booleans())
    return (
        draw(graph_batches(min_graphs=1, max_graphs=4, **columns)),
        draw(graph_batches(max_graphs=3, **columns)),
    )


@given(two_batches())
def test_histograms(batches):
    agree(gramlet.VertexHistogram(), histograms.vertex_histogram, *batches)
    agree(gramlet.EdgeHistogram(), histograms.edge_histogram, *batches)


@given(two_batches(), st.sampled_from(["vertex", "edge"]))
def test_optimal_assignment(batches, base):
    definition = weisfeiler_lehman.optimal_assignment
    agree(gramlet.OptimalAssignment(base), definition, *batches, base=base)


@given(two_batches(), refinements, st.sampled_from(["vertex", "edge"]))
def test_weisfeiler_lehman(batches, options, base):
    kernel = gramlet.WeisfeilerLehman(base=base, **options)
    agree(kernel, weisfeiler_lehman.weisfeiler_lehman, *batches, base=base, **options)


@given(two_batches(), refinements)
def test_wl_optimal_assignment(batches, options):
    kernel = gramlet.WLOptimalAssignment(**options)
    agree(kernel, weisfeiler_lehman.wl_optimal_assignment, *batches, **options)


@given(two_batches(), refinements, st.sampled_from([0.1, 1.0, 7.0]))
def test_wasserstein_wl(batches, options, gamma):
    kernel = gramlet.WassersteinWL(gamma=gamma, **options)
    agree(kernel, wasserstein.wasserstein_wl, *batches, gamma=gamma, **options)
    np.testing.assert_allclose(
        kernel.distance(batches[1]),
        gram(wasserstein.wwl_distance, batches[1], batches[0], **options),
        atol=1e-12,
    )


@given(graph_batches(min_graphs=2, max_graphs=3, max_nodes=5, directed=None))
def test_wwl_is_a_transport_distance(batch):
    kernel = gramlet.WassersteinWL(n_iter=2, use_edge_labels=False).fit(batch)
    by_transport = gram(wasserstein.wwl_distance_by_transport, batch, n_iter=2)
    np.testing.assert_allclose(kernel.distance(batch), by_transport, atol=1e-8)


@pytest.mark.parametrize("name", ["wl", "wl-oa", "wwl", "wl-edge"])
def test_no_level_left(name):
    with pytest.raises(ValueError, match="leaves no level"):
        gramlet.gram([([(0, 1)], "ab")], name, n_iter=0, include_initial=False)


@pytest.mark.parametrize("n_iter", [-1, 1.5, "two"])
def test_bad_iterations(n_iter):
    with pytest.raises(ValueError, match="'n_iter' parameter of WeisfeilerLehman"):
        gramlet.WeisfeilerLehman(n_iter=n_iter).fit([([(0, 1)], "ab")])


def test_labelled_and_unlabelled_graphs_do_not_mix():
    labelled = GraphBatch.from_edges([[(0, 1)]], node_labels=[["a", "b"]])
    bare = GraphBatch.from_edges([[(0, 1)]])
    empty = GraphBatch.from_edges([[]])
    for fitted, new in ((labelled, bare), (bare, labelled)):
        kernel = gramlet.WeisfeilerLehman(n_iter=1).fit(fitted)
        with pytest.raises(ValueError, match="fitted on graphs"):
            kernel.transform(new)
        assert kernel.transform(empty).tolist() == [[0.0]]
    # No labels at fit: all later ones are unknown.
    kernel = gramlet.WeisfeilerLehman(n_iter=1).fit(empty)
    assert kernel.transform(labelled).tolist() == [[0.0]]
    assert kernel.diagonal(labelled).tolist() == [4.0]


def test_unseen_labels_are_told_apart_in_the_norm():
    kernel = gramlet.VertexHistogram().fit([([], ["a", "a"])])
    new = [([], ["x", "y", "y", "a"])]
    assert kernel.transform(new).tolist() == [[2.0]]
    assert kernel.diagonal(new).tolist() == [1.0 + 4.0 + 1.0]


def test_labels_python_tells_apart_stay_apart():
    graphs = [([], [1]), ([], ["1"]), ([], [(1,)])]
    assert np.array_equal(gramlet.VertexHistogram().fit_transform(graphs), np.eye(3))


def test_long_patterns_are_shortened_and_stay_distinct():
    star = [(0, i) for i in range(1, 40)]
    kernel = gramlet.WeisfeilerLehman(n_iter=4).fit([star_graph(star), star_graph(star[:-1])])
    names = kernel.get_feature_names_out()
    assert len(set(names)) == len(names)
    assert max(map(len, names)) < 1000


def star_graph(edges):
    return (edges, [f"label{i}" for i in range(len(edges) + 1)])


# Directed graphs


def test_the_two_neighbourhoods_are_told_apart():
    """Nodes with the same neighbours but different directions get different colours."""
    edges = [[(0, 1), (0, 2)], [(0, 1), (2, 0)], [(1, 0), (2, 0)], [(0, 2), (1, 0)]]
    labels = [["C", "N", "O"]] * 4
    batch = GraphBatch.from_edges(edges, node_labels=labels, directed=True)
    kernel = gramlet.WeisfeilerLehman(n_iter=1, include_initial=False)
    assert np.array_equal(
        kernel.fit_transform(batch),
        [[3, 1, 0, 1], [1, 3, 1, 0], [0, 1, 3, 1], [1, 0, 1, 3]],
    )
    assert kernel.get_feature_names_out().tolist()[0] == "h1:C(>N,>O)"
    assert {"h1:C(>N,<O)", "h1:C(<N,<O)", "h1:C(>O,<N)"} < set(kernel.get_feature_names_out())


def test_names_and_trees_show_directions_and_edge_labels():
    batch = GraphBatch.from_edges(
        [[(0, 1), (2, 0), (3, 0)]], node_labels=["COOO"], edge_labels=[[1, 2, 2]], directed=True
    )
    kernel = gramlet.WeisfeilerLehman(n_iter=1).fit(batch)
    assert kernel.get_feature_names_out()[2] == "h1:C(>1:O,<2:O,<2:O)"
    tree = kernel.counter_.colouring.tree(1, 0)
    assert [(edge, child.label, n) for edge, child, n in tree.children] == [
        (">1", "O", 1),
        ("<2", "O", 2),
    ]
    edges = gramlet.EdgeHistogram().fit(batch)
    assert edges.get_feature_names_out().tolist() == ["C-1->O", "O-2->C"]
    bare = gramlet.EdgeHistogram(use_edge_labels=False).fit(batch)
    assert bare.get_feature_names_out().tolist() == ["C->O", "O->C"]
    pairs = gramlet.WeisfeilerLehman(n_iter=0, base="edge", use_edge_labels=False).fit(batch)
    assert pairs.get_feature_names_out().tolist() == ["h0:C-1->O", "h0:O-2->C"]
    paths = gramlet.WeisfeilerLehman(n_iter=0, base="shortest-path").fit(batch)
    assert paths.get_feature_names_out().tolist() == ["h0:C->O:1", "h0:O->C:1", "h0:O->O:2"]


@pytest.mark.parametrize("name", ["wl", "wl-oa", "wwl", "wl-edge", "wl-sp"])
def test_nodes_without_arcs_look_alike_in_both_kinds_of_graph(name):
    """A kernel fitted without edges accepts both kinds, and isolated nodes are equal in both."""
    isolated = GraphBatch.from_edges([[]], node_labels=["CO"])
    kernel = gramlet.kernels.registry.get(name).make(n_iter=2).fit(isolated)
    found = [
        kernel.transform(GraphBatch.from_edges([[(0, 1)]], node_labels=["NNCO"], directed=directed))
        for directed in (False, True)
    ]
    assert np.array_equal(*found)
    if name in ("wl", "wl-oa"):
        assert found[0].tolist() == [[6.0]]
