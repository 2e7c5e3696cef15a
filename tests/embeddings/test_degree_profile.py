"""The local degree profile against its definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch, LocalDegreeProfile
from reference.spectral_embeddings import local_degree_profile
from reference.strategies import graph_batches

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")

batches = graph_batches(min_graphs=1, max_graphs=4, max_nodes=8)


@given(batches, batches, st.sampled_from([1, 3, 32]))
def test_definition(fitted, new, n_bins):
    embedding = LocalDegreeProfile(n_bins)
    expected = local_degree_profile(fitted, n_bins=n_bins)
    np.testing.assert_allclose(embedding.fit_transform(fitted), expected, atol=1e-12)
    expected = local_degree_profile(new, fitted, n_bins)
    np.testing.assert_allclose(embedding.transform(new), expected, atol=1e-12)


def test_larger_values_than_fitted_lie_in_the_last_bin():
    embedding = LocalDegreeProfile(4).fit([nx.path_graph(3)])
    row = embedding.transform([nx.complete_graph(6)])[0].reshape(5, 4)
    assert row[:4, 3].tolist() == [1.0] * 4
    # All neighbours have the same degree: the deviation is 0, in the fitted graph and here.
    assert row[4].tolist() == [1.0, 0.0, 0.0, 0.0]
    star = embedding.transform([nx.lollipop_graph(3, 2)])[0].reshape(5, 4)
    assert star[4, 3] > 0


def test_fitted_without_edges():
    embedding = LocalDegreeProfile(3).fit(GraphBatch.from_edges([[]], n_nodes=[2]))
    assert embedding.largest_.tolist() == [0.0] * 5
    row = embedding.transform([nx.path_graph(2)])[0].reshape(5, 3)
    assert row[0].tolist() == [0.0, 0.0, 1.0]
    assert row[4].tolist() == [1.0, 0.0, 0.0]


def test_names_and_tags():
    embedding = LocalDegreeProfile(2).fit([nx.path_graph(3)])
    names = embedding.get_feature_names_out().tolist()
    assert names[:3] == ["degree 0", "degree 1", "minimum 0"]
    assert embedding.__graph_tags__().depends_on_fitted
    with pytest.raises(ValueError, match="'n_bins' parameter of LocalDegreeProfile"):
        LocalDegreeProfile(0).fit([nx.path_graph(3)])
