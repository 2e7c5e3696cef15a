"""The ODD-STh kernel against its plain definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch, ODDSTh
from reference.examples import worked_molecules
from reference.kernels import odd_sth
from reference.strategies import graph_batches

WORKED = worked_molecules()


@st.composite
def two_batches(draw):
    columns = {"labels": draw(st.booleans()), "directed": draw(st.booleans())}
    return (
        draw(graph_batches(min_graphs=1, max_graphs=3, max_nodes=6, **columns)),
        draw(graph_batches(min_graphs=1, max_graphs=3, max_nodes=6, **columns)),
    )


@given(two_batches(), st.integers(0, 4), st.sampled_from([1.0, 0.5, 0.9]))
def test_the_definition(batches, height, decay):
    batch, new = batches
    options = {"height": height, "decay": decay}
    kernel = ODDSTh(**options)
    np.testing.assert_allclose(kernel.fit_transform(batch), odd_sth.odd_sth(batch, **options))
    np.testing.assert_allclose(kernel.transform(new), odd_sth.odd_sth(new, batch, **options))
    own = np.diagonal(odd_sth.odd_sth(new, **options))
    np.testing.assert_allclose(kernel.diagonal(new), own)


def test_worked_values():
    one = ODDSTh(height=1).fit_transform(WORKED)
    assert one.tolist() == [[13, 6, 8, 12], [6, 4, 5, 6], [8, 5, 13, 18], [12, 6, 18, 45]]
    two = ODDSTh(height=2).fit_transform(WORKED)
    assert two.tolist() == [[25, 6, 8, 24], [6, 4, 5, 6], [8, 5, 13, 12], [24, 6, 12, 45]]
    half = ODDSTh(height=1, decay=0.5).fit_transform(WORKED)
    np.testing.assert_allclose(half[[0, 0, 3], [0, 1, 3]], [5.125, 2.5, 19.125])


def test_directions_matter():
    arcs = GraphBatch.from_edges(
        [[(0, 1), (0, 2)], [(1, 0), (2, 0)]], node_labels=["OCC", "OCC"], directed=True
    )
    # Arcs out of the centre: one O(C,C), four C; arcs into it: two C(O), three O.
    assert ODDSTh(height=1).fit_transform(arcs).tolist() == [[17, 0], [0, 13]]


def layers(n_layers: int) -> GraphBatch:
    """A chain of complete bipartite graphs of 4 + 4 nodes: trees of 4^n_layers leaves."""
    edges = [
        (4 * i + a, 4 * (i + 1) + b) for i in range(n_layers) for a in range(4) for b in range(4)
    ]
    return GraphBatch.from_edges([edges], directed=True)


def test_trees_too_large_to_be_counted_are_not_unfolded():
    graphs = layers(60)  # the largest trees have about 4^60 nodes
    whole = ODDSTh(height=10_000).fit_transform(graphs)
    damped = ODDSTh(height=10_000, decay=0.5).fit_transform(graphs)
    assert np.isfinite(whole).all()
    # Only trees of few nodes contribute: larger ones have almost no weight.
    few = ODDSTh(height=10_000, decay=0.5).fit(graphs)
    kept = few.features(graphs).toarray()[0]
    names = few.get_feature_names_out()
    assert len(set(names)) == len(names)
    assert kept[0] == pytest.approx(np.sqrt(0.5) * 4 * 4 * 60 + np.sqrt(0.5) * 4)
    assert (kept[6:] == 0.0).all()
    assert damped[0, 0] == pytest.approx((kept**2).sum())


def test_names_follow_the_columns():
    kernel = ODDSTh(height=1).fit(WORKED)
    names = kernel.get_feature_names_out().tolist()
    row = dict(zip(names, kernel.features(WORKED).toarray()[0].tolist(), strict=True))
    assert row == {
        "O": 2,
        "C": 2,
        "C(O)": 2,
        "O(C,C)": 1,
        "O(C)": 0,
        "C(C)": 0,
        "C(C,O)": 0,
        "C(C,C)": 0,
    }


def test_new_graphs_may_have_higher_trees():
    kernel = ODDSTh(height=3).fit(GraphBatch.from_edges([[]], n_nodes=[1]))
    path = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]])
    assert kernel.transform(path)[0, 0] == odd_sth.odd_sth(
        path, GraphBatch.from_edges([[]], n_nodes=[1]), height=3
    )
    assert kernel.diagonal(path)[0] == odd_sth.odd_sth(path, height=3)


@pytest.mark.parametrize(("name", "value"), [("height", -1), ("decay", 0.0), ("decay", 1.1)])
def test_refuses(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of ODDSTh"):
        ODDSTh(**{name: value}).fit(WORKED)
