"""Parameters and graphs at the limits of floating point: correct values or a clear error."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import (
    EMDKernel,
    GraphBatch,
    RandomGraphEmbedding,
    ShortestPath,
    WassersteinWL,
    WeightedWassersteinWL,
    earth_movers_distance,
)
from reference.examples import molecules, random_graphs


def test_bins_beyond_the_largest_integer_stay_apart():
    lengths = [[1e19], [2e19], [1e19]]
    graphs = GraphBatch.from_edges(
        [[(0, 1)]] * 3, node_labels=[["C", "C"]] * 3, edge_weights=lengths
    )
    matrix = ShortestPath(weighted=True, bin_width=1.0).fit_transform(graphs)
    assert matrix.tolist() == [[1, 0, 1], [0, 1, 0], [1, 0, 1]]
    with pytest.raises(ValueError, match="larger bin_width"):
        ShortestPath(weighted=True, bin_width=1e-300).fit(graphs)


@pytest.mark.parametrize("solver", ["stochastic", "batch", "accelerated"])
@pytest.mark.parametrize("learning_rate", [1e30, 1e200, 1.7e308])
def test_absurd_learning_rates_end_on_the_border_of_the_constraint(solver, learning_rate):
    graphs = random_graphs(0, n_graphs=9)
    kernel = WeightedWassersteinWL(
        n_iter=1, solver=solver, learning_rate=learning_rate, max_iter=5, random_state=0
    ).fit(graphs, np.arange(9) % 3)
    assert np.isfinite(kernel.loss_history_).all()
    for weights in kernel.weights_:
        assert np.isfinite(weights).all()
        assert np.linalg.norm(weights - 1) <= 0.5 * (1 + 1e-9)


def test_attributes_come_after_a_fit_on_empty_graphs():
    empty = GraphBatch.from_edges([[], []], n_nodes=[0, 0])
    graphs = random_graphs(0, n_graphs=5)
    matrix = WassersteinWL(use_attributes=True).fit(empty).transform(graphs)
    expected = np.repeat(np.where(graphs.sizes == 0, 1.0, 0.0)[:, None], 2, axis=1)
    assert np.array_equal(matrix, expected)


@pytest.mark.parametrize("weight", [1e160, 1e308])
def test_label_weights_whose_squares_overflow_are_refused(weight):
    graphs = molecules()
    for model in (EMDKernel(label_weight=weight), RandomGraphEmbedding(5, label_weight=weight)):
        with pytest.raises(ValueError, match="'label_weight' parameter of"):
            model.fit_transform(graphs)
    with pytest.raises(ValueError, match="label_weight"):
        earth_movers_distance(graphs[0], graphs[1], label_weight=weight)
