"""Subgraph matching, by types and by maps, compared with trying every bijection."""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramlet import GraphBatch, SubgraphMatching
from reference.examples import worked_molecules
from reference.kernels import subgraph_matching as plain
from reference.strategies import graph_batches

WORKED = worked_molecules()


def alike(a, b):
    """A symmetric function of two labels that is never 0 and distinguishes them."""
    return 1.0 if a == b else 0.25


@st.composite
def two_batches(draw, attributes=False):
    columns = {"labels": draw(st.booleans()), "edge_labels": draw(st.booleans())}
    options = {"min_graphs": 1, "max_graphs": 3, "max_nodes": 4, "attributes": attributes}
    return tuple(draw(graph_batches(**options, **columns)) for _ in range(2))


def agree(batch, new, **options):
    kernel = SubgraphMatching(**options)
    # The plain definition has no fitted graphs: edge labels count in both graphs or in none.
    if batch.edge_labels is None or not len(batch.indices):
        new = new if new.edge_labels is None else batch
    np.testing.assert_allclose(
        kernel.fit_transform(batch), plain.subgraph_matching(batch, **options), atol=1e-12
    )
    np.testing.assert_allclose(
        kernel.transform(new), plain.subgraph_matching(new, batch, **options), atol=1e-12
    )
    own = [plain.subgraph_matching(new[i], **options)[0, 0] for i in range(len(new))]
    np.testing.assert_allclose(kernel.diagonal(new), own, atol=1e-12)


sizes = st.integers(1, 4)
weights = st.sampled_from(["uniform", "increasing", "decreasing", "strong-decreasing"])


@given(two_batches(), sizes, weights, st.booleans(), st.sampled_from(["label", "one"]))
def test_types(batches, size, weights, connected, edge_kernel):
    agree(*batches, size=size, weights=weights, connected=connected, edge_kernel=edge_kernel)


@given(
    two_batches(),
    sizes,
    st.booleans(),
    st.sampled_from([("label", alike), (alike, "label"), (alike, "one"), (alike, alike)]),
)
def test_callables(batches, size, connected, kernels):
    node_kernel, edge_kernel = kernels
    agree(
        *batches, size=size, connected=connected, node_kernel=node_kernel, edge_kernel=edge_kernel
    )


@settings(max_examples=20)
@given(two_batches(attributes=True), st.integers(1, 3), st.sampled_from([None, 0.3]))
def test_gaussian(batches, size, mu):
    batch, new = batches
    if batch.n_nodes_total and new.n_nodes_total:
        width = min(batch.node_attributes.shape[1], new.node_attributes.shape[1])
        batch, new = (narrowed(graphs, width) for graphs in (batch, new))
    agree(batch, new, size=size, node_kernel="gaussian", mu=mu)


def test_attributes_come_after_a_fit_on_graphs_without_nodes():
    nothing = GraphBatch.from_edges([[]], n_nodes=[0])
    new = GraphBatch.from_edges([[(0, 1)]], node_attributes=[[[0.0], [1.0]]])
    agree(nothing, new, size=2, node_kernel="gaussian", mu=None)


def narrowed(batch: GraphBatch, width: int) -> GraphBatch:
    return GraphBatch(
        batch.node_offsets,
        batch.indptr,
        batch.indices,
        node_labels=batch.node_labels,
        edge_labels=batch.edge_labels,
        node_attributes=batch.node_attributes[:, :width],
    )


def test_worked_values():
    two = SubgraphMatching(size=2).fit_transform(WORKED)
    assert two.tolist() == [[9, 5, 7, 6], [5, 3, 4, 3], [7, 4, 8, 12], [6, 3, 12, 27]]
    three = SubgraphMatching(size=3).fit_transform(WORKED)
    assert three.tolist() == [[11, 5, 7, 6], [5, 3, 4, 3], [7, 4, 9, 12], [6, 3, 12, 33]]
    apart = SubgraphMatching(size=2, connected=False).fit_transform(WORKED)
    assert apart[0, 0] == 11
    assert apart[2, 2] == 9


@pytest.mark.parametrize("size", [5, 6])
def test_complete_and_cyclic_graphs_have_all_their_automorphisms(size):
    complete = GraphBatch.from_edges([list(combinations(range(size), 2))])
    only = [0.0] * (size - 1) + [1.0]
    full = SubgraphMatching(size=size, weights=only).fit_transform(complete)
    assert full[0, 0] == np.prod(np.arange(1, size + 1))
    ring = GraphBatch.from_edges([[(i, (i + 1) % size) for i in range(size)]])
    assert SubgraphMatching(size=size, weights=only).fit_transform(ring)[0, 0] == 2 * size


def test_maps_give_what_types_give(shared_data):
    from gramlet import read_tu

    graphs = read_tu(shared_data / "MUTAG.zip").graphs[:15]
    by_types = SubgraphMatching(size=4).fit_transform(graphs)
    by_maps = SubgraphMatching(size=4, node_kernel=lambda a, b: float(a == b))
    assert np.array_equal(by_maps.fit_transform(graphs), by_types)


def test_features_only_where_there_are_types():
    assert hasattr(SubgraphMatching(), "features")
    for options in ({"edge_kernel": "one"}, {"node_kernel": "gaussian"}, {"node_kernel": alike}):
        assert not hasattr(SubgraphMatching(**options), "features")
    kernel = SubgraphMatching(size=3, weights="increasing").fit(WORKED)
    names = kernel.get_feature_names_out().tolist()
    row = dict(zip(names, kernel.features(WORKED).toarray()[0].tolist(), strict=True))
    assert row["C"] == 2.0
    assert row["C,O[0-1]"] == pytest.approx(2 * np.sqrt(2))
    assert row["C,C,O[0-2,1-2]"] == pytest.approx(np.sqrt(3 * 2))


def test_large_values_are_announced():
    star = GraphBatch.from_edges([[(0, i) for i in range(1, 200)]])
    with pytest.warns(UserWarning, match=r"graph 0 is .* beyond 2\*\*53"):
        SubgraphMatching(weights=[1.0, 1.0, 1e9]).fit(star)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SubgraphMatching(size=3).fit(WORKED)


def test_refuses():
    with pytest.raises(ValueError, match="size is 7, but subgraphs are compared by all orders"):
        SubgraphMatching(size=7).fit(WORKED)
    with pytest.raises(ValueError, match="'size' parameter of SubgraphMatching"):
        SubgraphMatching(size=0).fit(WORKED)
    for wrong in ([1.0, 2.0], [1.0, -1.0, 1.0], [1.0, np.nan, 1.0]):
        with pytest.raises(ValueError, match="weights must be 3 finite numbers"):
            SubgraphMatching(weights=wrong).fit(WORKED)
    with pytest.raises(ValueError, match="needs node attributes"):
        SubgraphMatching(node_kernel="gaussian").fit(WORKED)
    with pytest.raises(ValueError, match="node_kernel must be symmetric"):
        SubgraphMatching(node_kernel=lambda a, b: float(a < b)).fit_transform(WORKED)
    with pytest.raises(ValueError, match="must be a finite number"):
        SubgraphMatching(node_kernel=lambda a, b: np.inf).fit_transform(WORKED)
    kernel = SubgraphMatching(node_kernel=alike).fit(WORKED)
    with pytest.raises(ValueError, match="fitted on graphs with node labels"):
        kernel.transform(GraphBatch.from_edges([[(0, 1)]]))
