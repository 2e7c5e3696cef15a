"""WeisfeilerLehman with a base kernel, against the sum of its definition over levels."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gramlet
from gramlet import (
    EMDKernel,
    GraphBatch,
    ShortestPath,
    VertexHistogram,
    WeisfeilerLehman,
)
from gramlet.graphs.columns import Categorical
from gramlet.kernels.weisfeiler_lehman.colour_counts import Colouring
from reference.kernels.histograms import edge_histogram, vertex_histogram
from reference.kernels.nested import as_matrix, wl_over_base
from reference.kernels.paths_walks import shortest_path
from reference.strategies import graph_batches

BASES = {
    "vertex": (VertexHistogram(), as_matrix(vertex_histogram)),
    "edge": (gramlet.EdgeHistogram(), as_matrix(edge_histogram)),
    "sp": (ShortestPath(), as_matrix(shortest_path)),
}

TWO = GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])


@st.composite
def two_batches(draw):
    columns = {"labels": draw(st.booleans()), "edge_labels": draw(st.booleans())}
    return (
        draw(graph_batches(min_graphs=1, max_graphs=4, **columns)),
        draw(graph_batches(max_graphs=3, **columns)),
    )


@given(
    two_batches(),
    st.sampled_from(sorted(BASES)),
    st.integers(1, 3),
    st.fixed_dictionaries(
        {key: st.booleans() for key in ("include_initial", "use_edge_labels", "normalize")}
    ),
)
def test_is_the_sum_over_levels(batches, name, n_iter, options):
    batch, new = batches
    kernel, base = BASES[name]
    options = {"n_iter": n_iter, **options}
    over = WeisfeilerLehman(base=kernel, **options)
    np.testing.assert_allclose(
        over.fit_transform(batch), wl_over_base(batch, base=base, **options), atol=1e-12
    )
    np.testing.assert_allclose(
        over.transform(new), wl_over_base(new, batch, base=base, **options), atol=1e-12
    )


@given(two_batches(), st.sampled_from(sorted(BASES)))
def test_a_base_counted_level_by_level_is_the_same_kernel(batches, name):
    batch, new = batches
    over = WeisfeilerLehman(2, base=BASES[name][0]).fit(batch)
    counted = WeisfeilerLehman(2, base=name).fit(batch)
    assert np.array_equal(over.transform(new), counted.transform(new))
    assert np.array_equal(over.diagonal(new), counted.diagonal(new))
    product = over.features(new) @ over.features(batch).T
    assert np.array_equal(product.toarray(), over.transform(new))
    assert np.array_equal(np.bincount(over.feature_levels()), np.bincount(counted.feature_levels()))
    names = over.get_feature_names_out()
    assert len(set(names)) == len(names) == over.features(batch).shape[1]


def test_a_base_that_normalises_does_so_at_each_level():
    batch = gramlet.load_dataset("MUTAG").graphs[:20]
    over = WeisfeilerLehman(2, base=ShortestPath(normalize=True))
    matrix = over.fit_transform(batch)
    np.testing.assert_allclose(np.diagonal(matrix), 3.0)
    expected = sum(ShortestPath(normalize=True).fit_transform(level) for level in levels(batch, 2))
    np.testing.assert_allclose(matrix, expected, rtol=1e-13)
    features = over.features(batch)
    np.testing.assert_allclose((features @ features.T).toarray(), matrix, atol=1e-12)


def levels(batch: GraphBatch, n_iter: int) -> list[GraphBatch]:
    colours = Colouring(n_iter, True, "auto").fit(batch)
    return [
        batch.with_columns(node_labels=Categorical(c, range(int(c.max()) + 1))) for c in colours
    ]


def test_bases_without_features_and_with_other_columns():
    rng = np.random.default_rng(0)
    batch = GraphBatch.from_edges(
        [[(0, 1), (1, 2)], [(0, 1)], [(0, 1), (1, 2), (0, 2)]],
        node_labels=[list("COC"), list("CO"), list("CCC")],
        node_attributes=[rng.normal(size=(n, 2)) for n in (3, 2, 3)],
        edge_weights=[[1.0, 2.0], [1.5], [1.0, 1.0, 3.0]],
    )
    for base in (EMDKernel(n_dims=2), gramlet.RandomWalk("exponential", weighted=True)):
        over = WeisfeilerLehman(1, base=base)
        expected = sum(gramlet.gram(level, base) for level in levels(batch, 1))
        np.testing.assert_allclose(over.fit_transform(batch), expected, rtol=1e-13)
        assert not hasattr(over, "features")
        assert not gramlet.kernels.contract.tags.graph_tags(over).features


@pytest.mark.parametrize("base", ["wl", "wl-oa", "wwl", WeisfeilerLehman(base="sp"), "wl-sp"])
def test_bases_that_refine_are_refused(base):
    with pytest.raises(ValueError, match="refines node labels itself"):
        WeisfeilerLehman(base=base).fit(TWO[:1])


def test_other_bases_that_cannot_serve():
    for base, message in (
        ("rge", "is an embedding"),
        (EMDKernel(psd="clip"), 'psd="none"'),
        ("short-path", "No kernel is called"),
    ):
        with pytest.raises(ValueError, match=message):
            WeisfeilerLehman(base=base).fit(TWO[:1])
    with pytest.raises(ValueError, match="'base' parameter"):
        WeisfeilerLehman(base=3).fit(TWO[:1])


def test_parameters_of_the_base_are_reachable():
    kernel = WeisfeilerLehman(base=ShortestPath()).set_params(base__normalize=True)
    assert kernel.base.normalize
    kernel.fit(TWO)
    assert kernel.set_params(base="vertex").fit(TWO[:1]).features(TWO[:1]).shape[1] == 6


def test_costs_little_more_than_its_levels_bases():
    batch = gramlet.load_dataset("MUTAG").graphs
    parts = levels(batch, 4)

    def alone():
        for level in parts:
            ShortestPath().fit_transform(level)

    over = WeisfeilerLehman(4, base=ShortestPath())
    shares = []
    for _ in range(7):
        times = []
        for work in (alone, lambda: over.fit_transform(batch)):
            begin = time.process_time()
            work()
            times.append(time.process_time() - begin)
        shares.append(times[1] / times[0])
    assert min(shares) < 1.2


def test_features_go_to_linear_models():
    graphs = gramlet.load_dataset("MUTAG").graphs[:10]
    for kernel in (WeisfeilerLehman(1, base=ShortestPath()), gramlet.CoreKernel("wl")):
        door = gramlet.FeatureMap(kernel)
        once = door.fit_transform(graphs)
        assert np.array_equal(once.toarray(), door.transform(graphs).toarray())
        assert once.shape[1] == len(door.get_feature_names_out())


def test_directed_graphs_where_the_base_takes_them():
    arcs = GraphBatch.from_edges([[(0, 1), (1, 2)], [(0, 1), (0, 2)]], directed=True)
    over = WeisfeilerLehman(2, base=ShortestPath()).fit_transform(arcs)
    assert np.array_equal(over, WeisfeilerLehman(2, base="sp").fit_transform(arcs))
    with pytest.raises(ValueError, match="to_undirected"):
        WeisfeilerLehman(base="core").fit(arcs)
