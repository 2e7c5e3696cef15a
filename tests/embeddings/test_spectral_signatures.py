"""NetLSD, FGSD and the smallest eigenvalues against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import FGSD, GraphBatch, NetLSD, SpectralFeatures, as_batch
from reference import spectral_embeddings as reference
from reference.strategies import graph_batches

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")

batches = graph_batches(min_graphs=1, max_graphs=4, max_nodes=8)
EDGE, TRIANGLE = nx.complete_graph(2), nx.complete_graph(3)


@given(
    batches,
    st.sampled_from([None, [0.0, 0.5, 3.0, 40.0]]),
    st.sampled_from(["heat", "wave"]),
    st.sampled_from([None, "empty", "complete"]),
)
def test_netlsd(batch, times, kind, normalization):
    found = NetLSD(times, kind, normalization=normalization).fit_transform(batch)
    expected = reference.netlsd(batch, times, kind, normalization)
    # The wave signature of the complete graph has zeros, near which quotients are imprecise.
    scale = np.abs(expected).max(axis=1, keepdims=True, initial=1.0)
    assert (np.abs(found - expected) <= 1e-9 * scale).all()


def test_netlsd_of_known_graphs():
    found = NetLSD(times=[1.0]).fit_transform([EDGE, TRIANGLE])
    np.testing.assert_allclose(found[:, 0], [1 + np.exp(-2), 1 + 2 * np.exp(-1.5)])
    complete = NetLSD(normalization="complete").fit_transform([EDGE, TRIANGLE, nx.empty_graph(1)])
    np.testing.assert_allclose(complete, 1.0)
    assert NetLSD().fit_transform([EDGE]).shape == (1, 250)
    assert NetLSD().fit([EDGE]).times_[[0, -1]].tolist() == [0.01, 100.0]


def test_netlsd_is_zero_where_the_divisor_vanishes():
    """The wave signature of K2 is 1 + cos(2t), which is 0 at t = π/2."""
    found = NetLSD(times=[np.pi / 2], kind="wave", normalization="complete").fit_transform([EDGE])
    assert found[0, 0] == 0.0


@pytest.mark.parametrize("times", [[], [-1.0], [np.inf], [[1.0]], ["a"], "abc"])
def test_netlsd_refuses_times(times):
    with pytest.raises(ValueError, match="'times' parameter of NetLSD"):
        NetLSD(times=times).fit([EDGE])


@given(batches, st.sampled_from([1, 7, 200]), st.sampled_from([(0, 20), (0.5, 3.0), (-1.0, 1.0)]))
def test_fgsd(batch, n_bins, ends):
    found = FGSD(n_bins, ends).fit_transform(batch)
    assert np.array_equal(found, reference.fgsd(batch, n_bins, ends))


def test_fgsd_on_borders():
    """K2 has two distances 0 and two distances 1, which rounding must not move to another bin."""
    found = FGSD(n_bins=20, range=(0, 2)).fit_transform([EDGE])[0]
    assert found[0] == found[10] == 2
    assert found.sum() == 4
    at_the_end = FGSD(n_bins=10, range=(0, 1)).fit_transform([EDGE])[0]
    assert at_the_end[9] == 2
    outside = FGSD(n_bins=10, range=(2, 3)).fit_transform([EDGE])[0]
    assert outside.sum() == 0


@pytest.mark.parametrize("ends", [(1, 1), (2, 1), (0,), (0, np.inf), ("a", "b"), (False, 2), 3])
def test_fgsd_refuses_ranges(ends):
    with pytest.raises(ValueError, match="'range' parameter of FGSD"):
        FGSD(range=ends).fit([EDGE])


@given(batches, st.sampled_from([1, 5, 128]))
def test_smallest_eigenvalues(batch, n_components):
    found = SpectralFeatures(n_components).fit_transform(batch)
    expected = reference.spectral_features(batch, n_components)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert (found >= 0).all()


def test_isolated_nodes_have_the_eigenvalue_0():
    graph = nx.disjoint_union(EDGE, nx.empty_graph(2))
    found = SpectralFeatures(4).fit_transform([graph])
    np.testing.assert_allclose(found, [[0, 0, 0, 2]], atol=1e-15)


@pytest.mark.parametrize("embedding", [NetLSD(), FGSD(), SpectralFeatures()])
def test_labels_weights_and_numbering_do_not_matter(embedding):
    path = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]])
    other = GraphBatch.from_edges(
        [[(2, 0), (0, 3), (3, 1)]], edge_weights=[[5.0, 0.5, 2.0]], node_labels=[list("abcd")]
    )
    np.testing.assert_allclose(
        embedding.fit_transform(path), embedding.fit_transform(other), atol=1e-12
    )


@pytest.mark.parametrize("embedding", [NetLSD(), FGSD(), SpectralFeatures()])
def test_nothing_random_and_no_directed_graphs(embedding):
    assert not embedding.__graph_tags__().random
    assert "random_state" not in embedding.get_params()
    with pytest.raises(ValueError, match="to_undirected"):
        embedding.fit(GraphBatch.from_edges([[(0, 1)]], directed=True))


def test_parameters_set_after_the_fit_need_another_fit():
    embedding = FGSD(n_bins=5).fit([EDGE]).set_params(n_bins=7)
    assert embedding.transform([EDGE]).shape == (1, 5)
    assert len(embedding.get_feature_names_out()) == 5


def test_data_frames():
    frame = FGSD(n_bins=2, range=(0, 2)).set_output(transform="pandas").fit_transform([EDGE])
    assert list(frame.columns) == ["bin 0: [0, 1)", "bin 1: [1, 2)"]


def test_a_graph_too_large_for_the_memory_is_refused(monkeypatch):
    from gramlet.engine.core import memory

    graphs = as_batch([nx.path_graph(40)])
    monkeypatch.setattr(memory, "_SMALL", 0)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    for embedding in (NetLSD(), FGSD()):
        with pytest.raises(MemoryError, match=type(embedding).__name__) as refused:
            embedding.fit_transform(graphs)
        assert "graph 0, which has 40 nodes" in str(refused.value)
        assert "Leave out graphs of this size" in str(refused.value)  # nothing else can help
        assert "zarr" not in str(refused.value)
