"""ω of the SVM-θ kernel, compared with trying every set of positive entries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from compiled_calls import from_python
from gramlet import GraphBatch, as_batch
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.spectral import theta_program
from gramlet.engine.spectral.theta_program import least_eigenvalues, theta_values
from reference.kernels.svm_theta import omega
from reference.plain import plain_graphs
from reference.strategies import graph_batches

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")


def solved(batch: GraphBatch):
    return theta_values(batch.node_offsets, batch.indptr, batch.indices, Tiling())


@given(graph_batches(max_graphs=4, max_nodes=8))
def test_every_set_of_positive_entries(batch):
    found = solved(batch)
    expected = [omega(graph) for graph in plain_graphs(batch)]
    np.testing.assert_allclose(found.values, expected, rtol=1e-12)
    assert (found.gaps <= 1e-12 * found.values).all()


@pytest.mark.parametrize(
    ("graph", "expected"),
    [
        (nx.path_graph(2), 1.0),
        (nx.path_graph(3), 2.0),
        (nx.complete_graph(3), 1.0),
        (nx.cycle_graph(4), 2.0),
        (nx.cycle_graph(5), np.sqrt(5)),
        (nx.path_graph(4), np.sqrt(5)),
        (nx.star_graph(3), 3.0),
        (nx.empty_graph(3), 3.0),
        (nx.petersen_graph(), 4.0),
        (nx.cycle_graph(1000), 500.0),
        (nx.star_graph(2000), 2000.0),
        (nx.disjoint_union(nx.star_graph(3), nx.empty_graph(2)), 5.0),
    ],
    ids=str,
)
def test_known_values(graph, expected):
    found = solved(as_batch([graph]))
    assert found.values[0] == pytest.approx(expected, rel=1e-12)


def test_the_bound_is_a_bound_where_the_work_is_cut_short(monkeypatch):
    """One sweep without an exact solution: the gap bounds the error."""
    graphs = as_batch([nx.path_graph(60)])
    exact = solved(graphs).values[0]
    scale = -1.0 / least_eigenvalues(graphs.node_offsets, graphs.indptr, graphs.indices, Tiling())
    alpha, image = np.ones(60), np.empty(60)
    arcs = (0, graphs.indptr, graphs.indices, float(scale[0]))
    gaps = []
    for _ in range(4):
        from_python(theta_program._ascend)(alpha, *arcs, 1)
        lower, upper = from_python(theta_program._bounds)(alpha, image, *arcs)
        assert lower <= exact * (1 + 1e-14) <= upper * (1 + 2e-14)
        gaps.append(upper - lower)
    assert gaps[0] > 1e-3
    assert gaps[-1] < gaps[0]


def test_large_graphs_take_the_iterative_eigenvalue(monkeypatch):
    graphs = as_batch([nx.random_regular_graph(3, 60, seed=1), nx.path_graph(50)])
    dense = solved(graphs).values
    monkeypatch.setattr(theta_program, "_DENSE", 10)
    np.testing.assert_allclose(solved(graphs).values, dense, rtol=1e-11)

    def fails(*args, **options):
        raise theta_program.ArpackError(-9)

    monkeypatch.setattr(theta_program, "eigsh", fails)
    np.testing.assert_allclose(solved(graphs).values, dense, rtol=1e-12)
