"""Shortest-path kernels against their plain definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramlet
from gramlet import GraphBatch, ShortestPath, WeisfeilerLehman
from reference.examples import random_graphs
from reference.kernels import paths_walks, weisfeiler_lehman
from reference.plain import gram
from reference.strategies import graph_batches


@st.composite
def two_batches(draw, weights=None):
    columns = {"labels": draw(st.booleans()), "weights": weights}
    columns["directed"] = draw(st.booleans())
    return (
        draw(graph_batches(min_graphs=1, max_graphs=4, **columns)),
        draw(graph_batches(min_graphs=1, max_graphs=3, **columns)),
    )


def agree(kernel, definition, batch, new, **options):
    np.testing.assert_allclose(kernel.fit_transform(batch), gram(definition, batch, **options))
    np.testing.assert_allclose(kernel.transform(new), gram(definition, new, batch, **options))
    own = [gram(definition, new[i], **options)[0, 0] for i in range(len(new))]
    np.testing.assert_allclose(kernel.diagonal(new), own)


@given(two_batches(), st.booleans(), st.sampled_from(["unordered", "ordered"]))
def test_unweighted(batches, labels, pairs):
    kernel = ShortestPath(use_labels=labels, pairs=pairs)
    agree(kernel, paths_walks.shortest_path, *batches, labels=labels, pairs=pairs)


@given(
    two_batches(weights=True),
    st.booleans(),
    st.sampled_from([None, 0.7, 2.0]),
    st.sampled_from(["unordered", "ordered"]),
)
def test_weighted(batches, labels, bin_width, pairs):
    options = {"weighted": True, "bin_width": bin_width, "pairs": pairs}
    kernel = ShortestPath(use_labels=labels, **options)
    agree(kernel, paths_walks.shortest_path, *batches, labels=labels, **options)


@given(two_batches(), st.integers(0, 2), st.booleans(), st.booleans())
def test_weisfeiler_lehman_over_paths(batches, n_iter, include_initial, use_edge_labels):
    batch, new = batches
    if (batch.edge_labels is None) != (new.edge_labels is None):
        use_edge_labels = False
    options = {
        "n_iter": n_iter,
        "base": "shortest-path",
        "include_initial": include_initial or n_iter == 0,
        "use_edge_labels": use_edge_labels,
    }
    agree(WeisfeilerLehman(**options), weisfeiler_lehman.weisfeiler_lehman, batch, new, **options)


def test_lengths_that_differ_by_rounding_are_one():
    tenth = [(0, 1), (1, 2), (2, 3)]
    graphs = GraphBatch.from_edges(
        [tenth, [(0, 1)]], n_nodes=[4, 2], edge_weights=[[0.1, 0.1, 0.1], [0.3]]
    )
    assert 0.1 + 0.1 + 0.1 != 0.3
    kernel = ShortestPath(weighted=True)
    assert kernel.fit_transform(graphs)[0, 1] == 1.0
    assert kernel.fit(graphs[1]).transform(graphs[0])[0, 0] == 1.0
    assert kernel.fit(graphs[0]).transform(graphs[1])[0, 0] == 1.0
    new = GraphBatch.from_edges([[(0, 1)]], edge_weights=[[0.3 + 1e-6]])
    assert kernel.transform(new)[0, 0] == 0.0
    assert kernel.diagonal(new)[0] == 1.0


@pytest.mark.parametrize("n_iter", [None, 2])
def test_sources_of_one_graph_shared_out_among_tiles(n_iter, monkeypatch):
    from gramlet.engine.paths import shortest_paths

    batch = random_graphs(2, n_graphs=9)
    kernel = (
        ShortestPath(n_jobs=2)
        if n_iter is None
        else WeisfeilerLehman(n_iter=n_iter, base="shortest-path", n_jobs=2)
    )
    expected = kernel.fit_transform(batch)
    names = kernel.get_feature_names_out().tolist()
    monkeypatch.setattr(shortest_paths, "_UNCUT", 5.0)
    assert np.array_equal(kernel.fit_transform(batch), expected)
    assert kernel.get_feature_names_out().tolist() == names
    assert np.array_equal(kernel.transform(batch), expected)


def test_kinds_that_do_not_fit_into_memory_are_refused(monkeypatch):
    from gramlet.engine.paths import shortest_paths

    batch = random_graphs(2, n_graphs=9)
    monkeypatch.setattr(shortest_paths, "_MANY", 0.0)
    # Before they are counted, and (more than the sample can tell) while they are.
    for room in (100, 4000):
        monkeypatch.setattr(shortest_paths, "available_bytes", lambda room=room: room)
        with pytest.raises(MemoryError, match=r"about .* kinds, more than fit .*use_labels=False"):
            ShortestPath().fit(batch)
        with pytest.raises(MemoryError, match="a smaller n_iter"):
            WeisfeilerLehman(n_iter=2, base="shortest-path").fit(batch)


def test_long_work_is_announced(monkeypatch):
    from gramlet.engine.paths import shortest_paths

    batch = random_graphs(2, n_graphs=9)
    monkeypatch.setattr(shortest_paths, "_LONG", 0.0)
    monkeypatch.setattr(shortest_paths, "_MANY", 0.0)
    with pytest.warns(UserWarning, match=r"ShortestPath: .* minutes on 1 thread.*alone has"):
        ShortestPath().fit(batch)


def with_options(**options):
    """Kernels with these options: unweighted, weighted, ordered and unlabelled."""
    for own in ({}, {"weighted": True}, {"pairs": "ordered"}, {"use_labels": False}):
        yield ShortestPath(**own, **options)


@pytest.mark.parametrize("directed", [False, True])
def test_as_many_sources_as_nodes_are_all_paths(directed):
    batch = random_graphs(4, n_graphs=9, directed=directed)
    most = int(np.diff(batch.node_offsets).max())
    for sampled, exact in zip(with_options(n_sources=most), with_options(), strict=True):
        assert np.array_equal(sampled.fit_transform(batch), exact.fit_transform(batch))
        assert (sampled.features(batch) != exact.features(batch)).nnz == 0


@pytest.mark.parametrize("directed", [False, True])
def test_counts_from_some_sources_are_right_on_average(directed):
    """Within five standard errors of the mean of 400 draws."""
    batch = random_graphs(5, n_graphs=4, directed=directed)
    for exact in with_options():
        expected = exact.fit(batch).features(batch).toarray()
        names = exact.get_feature_names_out().tolist()
        draws = np.zeros((400, *expected.shape))
        for seed in range(400):
            kernel = ShortestPath(**exact.get_params()).set_params(n_sources=3, random_state=seed)
            found = kernel.fit(batch).features(batch).toarray()
            columns = [names.index(name) for name in kernel.get_feature_names_out()]
            draws[seed][:, columns] = found
        error = np.abs(draws.mean(axis=0) - expected)
        assert (error <= 5 * draws.std(axis=0) / 20 + 1e-9).all()
        assert draws.std(axis=0).max() > 0


def test_sources_depend_on_the_graph_and_the_seed_alone():
    batch = random_graphs(6, n_graphs=12)
    kernel = ShortestPath(n_sources=4, random_state=1).fit(batch)
    whole = kernel.features(batch).toarray()
    assert np.array_equal(
        ShortestPath(n_sources=4, random_state=1, n_jobs=2).fit(batch).features(batch).toarray(),
        whole,
    )
    backwards = np.arange(12)[::-1]
    assert np.array_equal(kernel.features(batch[backwards]).toarray(), whole[backwards])
    for i in range(12):
        assert np.array_equal(kernel.features(batch[i]).toarray()[0], whole[i])
    other = ShortestPath(n_sources=4, random_state=2).fit(batch)
    assert other.transform(batch).tolist() != kernel.transform(batch).tolist()
    assert kernel.__graph_tags__().random
    assert not ShortestPath().__graph_tags__().random


def test_levels_over_sampled_paths():
    batch = random_graphs(6, n_graphs=6)
    levels = [
        WeisfeilerLehman(n_iter=2, base=ShortestPath(n_sources=n, random_state=0))
        for n in (3, 1000)
    ]
    few, all_of_them = (kernel.fit_transform(batch) for kernel in levels)
    assert np.array_equal(all_of_them, WeisfeilerLehman(2, base="sp").fit_transform(batch))
    assert not np.array_equal(few, all_of_them)


@pytest.mark.parametrize("n_sources", [0, -1, 2.5, "all"])
def test_bad_number_of_sources(n_sources):
    with pytest.raises(ValueError, match="'n_sources' parameter of ShortestPath"):
        ShortestPath(n_sources=n_sources).fit([([(0, 1)], "ab")])


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf])
def test_bad_weights(weight):
    batch = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]], edge_weights=[[1.0], [1.0, weight]])
    with pytest.raises(ValueError, match=r"edge \(1, 2\) of graph 1 has weight"):
        ShortestPath(weighted=True).fit(batch)
    assert ShortestPath().fit_transform(batch).tolist() == [[1.0, 2.0], [2.0, 5.0]]


def test_ordered_pairs_count_equal_labels_four_times_and_others_twice():
    graphs = [([(0, 1)], "CC"), ([(0, 1)], "CO")]
    assert ShortestPath().fit_transform(graphs).tolist() == [[1, 0], [0, 1]]
    ordered = ShortestPath(pairs="ordered")
    assert ordered.fit_transform(graphs).tolist() == [[4, 0], [0, 2]]
    assert ordered.get_feature_names_out().tolist() == ["C->C:1", "C->O:1", "O->C:1"]
    with pytest.raises(ValueError, match="'pairs' parameter of ShortestPath"):
        ShortestPath(pairs="both").fit(graphs)


def test_paths_of_directed_graphs_follow_arcs():
    """In a chain there is no path back; in a ring it is longer."""
    chain, ring = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
    batch = GraphBatch.from_edges([chain, ring], node_labels=["CNO", "CNO"], directed=True)
    for pairs in ("unordered", "ordered"):
        kernel = ShortestPath(pairs=pairs)
        assert kernel.fit_transform(batch).tolist() == [[3, 3], [3, 6]]
        names = ["C->N:1", "C->O:2", "N->O:1", "N->C:2", "O->C:1", "O->N:2"]
        assert sorted(kernel.get_feature_names_out()) == sorted(names)


def test_bad_bin_width():
    with pytest.raises(ValueError, match="'bin_width' parameter"):
        ShortestPath(bin_width=0).fit([([(0, 1)], "ab")])


def test_names_of_bins():
    batch = GraphBatch.from_edges([[(0, 1)]], node_labels=["ab"], edge_weights=[[2.6]])
    kernel = ShortestPath(weighted=True, bin_width=0.5).fit(batch)
    assert kernel.get_feature_names_out().tolist() == ["a-b:[2.5, 3)"]


@pytest.mark.parametrize(
    "kernel",
    [gramlet.ShortestPath(weighted=True), gramlet.GraphHopper("label", weighted=True)],
    ids=lambda kernel: type(kernel).__name__,
)
def test_paths_of_infinite_length_are_refused(kernel):
    fine, huge = (
        gramlet.GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]], edge_weights=[[1.0], [w, w]])
        for w in (1e300, 1e308)
    )
    kernel.fit(fine)
    with pytest.raises(ValueError, match=r"the weights of graph 1 are up to 1e\+308"):
        kernel.fit(huge)
