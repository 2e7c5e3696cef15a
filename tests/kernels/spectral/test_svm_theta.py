"""The SVM-θ kernel against its closed form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch, SVMTheta
from gramlet.engine.spectral.theta_program import ThetaValues
from gramlet.kernels.spectral import svm_theta as module
from reference.kernels.svm_theta import svm_theta
from reference.strategies import graph_batches


@given(
    graph_batches(min_graphs=1, max_graphs=4),
    graph_batches(min_graphs=1, max_graphs=3),
    st.sampled_from([(2, 8), (1, 3), (4, 4), (1, 100)]),
    st.booleans(),
)
def test_definition(fitted, new, sizes, normalize):
    kernel = SVMTheta(sizes, normalize=normalize)
    options = {"sizes": sizes, "normalize": normalize}
    np.testing.assert_allclose(kernel.fit_transform(fitted), svm_theta(fitted, **options))
    expected = svm_theta(new, fitted, **options)
    np.testing.assert_allclose(kernel.transform(new), expected, rtol=1e-11)


def test_features():
    graphs = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2), (2, 3)], []], n_nodes=[2, 4, 1])
    kernel = SVMTheta(sizes=(2, 5)).fit(graphs)
    root = np.sqrt(5) / 4
    expected = [[1.0, 0, 0, 0], [2 * root, 3 * root, 4 * root, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(kernel.features(graphs), expected)
    assert kernel.get_feature_names_out().tolist() == ["size 2", "size 3", "size 4", "size 5"]
    product = kernel.features(graphs) @ kernel.features(graphs).T
    np.testing.assert_allclose(product, kernel.transform(graphs))


def test_weights_and_labels_are_ignored():
    plain = GraphBatch.from_edges([[(0, 1), (1, 2)]])
    decorated = GraphBatch.from_edges(
        [[(0, 1), (1, 2)]], edge_weights=[[3.0, 0.1]], node_labels=[["a", "b", "c"]]
    )
    assert np.array_equal(SVMTheta().fit_transform(plain), SVMTheta().fit_transform(decorated))


@pytest.mark.parametrize("sizes", [(0, 3), (3, 2), (2,), (1.5, 3), (True, 2), ("2", "3"), 5])
def test_wrong_sizes(sizes):
    with pytest.raises(ValueError, match="'sizes' parameter of SVMTheta"):
        SVMTheta(sizes).fit(GraphBatch.from_edges([[(0, 1)]]))


def test_a_value_that_is_not_exact_is_warned_of(monkeypatch):
    inexact = ThetaValues(np.array([1.0, 2.0]), np.array([0.0, 1e-3]))
    monkeypatch.setattr(module, "theta_values", lambda *args: inexact)
    with pytest.warns(UserWarning, match=r"graph 1 \(3 nodes\) is 2 and can be too small by up to"):
        SVMTheta().fit(GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]]))


def test_directed_graphs_are_refused():
    with pytest.raises(ValueError, match="to_undirected"):
        SVMTheta().fit(GraphBatch.from_edges([[(0, 1)]], directed=True))
