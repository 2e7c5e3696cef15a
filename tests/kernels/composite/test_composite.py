"""Sums and products of kernels: values, operators, parameters, features, tags, files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

import gramlet
from gramlet import (
    EdgeHistogram,
    EMDKernel,
    FeatureMap,
    GraphSampling,
    KernelProduct,
    KernelSum,
    OptimalAssignment,
    Propagation,
    ShortestPath,
    VertexHistogram,
    WeightedWassersteinWL,
    WeisfeilerLehman,
    WLOptimalAssignment,
)
from gramlet.common.fields import check
from reference import combine, plain
from reference.kernels import histograms, weisfeiler_lehman
from reference.strategies import graph_batches

GRAPHS = [
    ([(0, 1)], ["C", "O"]),
    ([(0, 1), (1, 2)], ["O", "C", "O"]),
    ([(0, 1), (1, 2), (0, 2)], ["C", "C", "N"]),
    ([], []),
]


def oracle(function, **options):
    def kernel(rows, columns):
        return plain.gram(function, rows, columns, **options)

    return kernel


def wl(normalize=False):
    return oracle(weisfeiler_lehman.weisfeiler_lehman, n_iter=2, normalize=normalize)


def vertex(normalize=False):
    def function(G, H):
        return histograms.dot(
            histograms.vertex_counts(G, G.labels), histograms.vertex_counts(H, H.labels)
        )

    return oracle(function, normalize=normalize)


def members(inner):
    return [
        WeisfeilerLehman(n_iter=2, use_edge_labels=False, normalize=inner[0]),
        VertexHistogram(normalize=inner[1]),
    ]


@given(
    graph_batches(min_graphs=1, labels=True, edge_labels=False),
    graph_batches(min_graphs=1, labels=True, edge_labels=False),
    st.tuples(st.booleans(), st.booleans()),
    st.booleans(),
    st.tuples(st.sampled_from([0.0, 0.5, 3.0]), st.sampled_from([1.0, 2.5])),
)
def test_sums_are_weighted_sums(train, test, inner, outer, weights):
    kernels = [wl(inner[0]), vertex(inner[1])]
    kernel = KernelSum(members(inner), weights, normalize=outer)
    gram = kernel.fit_transform(train)
    options = {"kernels": kernels, "weights": weights, "normalize": outer}
    np.testing.assert_allclose(gram, combine.kernel_sum(train, **options), rtol=1e-10, atol=1e-12)
    assert np.array_equal(gram, gram.T)
    rows = combine.kernel_sum(test, train, **options)
    np.testing.assert_allclose(kernel.transform(test), rows, rtol=1e-10, atol=1e-12)


@given(
    graph_batches(min_graphs=1, labels=True, edge_labels=False),
    graph_batches(min_graphs=1, labels=True, edge_labels=False),
    st.tuples(st.booleans(), st.booleans()),
    st.booleans(),
)
def test_products_are_products(train, test, inner, outer):
    kernels = [wl(inner[0]), vertex(inner[1])]
    kernel = KernelProduct(members(inner), normalize=outer)
    gram = kernel.fit_transform(train)
    expected = combine.kernel_product(train, kernels=kernels, normalize=outer)
    np.testing.assert_allclose(gram, expected, rtol=1e-10, atol=1e-12)
    rows = combine.kernel_product(test, train, kernels=kernels, normalize=outer)
    np.testing.assert_allclose(kernel.transform(test), rows, rtol=1e-10, atol=1e-12)
    own = np.diagonal(combine.kernel_product(test, kernels=kernels, normalize=outer))
    np.testing.assert_allclose(kernel.diagonal(test), own, rtol=1e-10, atol=1e-12)


def test_operators_make_flat_sums():
    a, b, c = WeisfeilerLehman(), ShortestPath(), VertexHistogram()
    assert (a + b).kernels == [a, b]
    assert (a + b).weights is None
    total = a + 2 * (b + 0.5 * c)
    assert total.kernels == [a, b, c]
    assert total.weights == [1.0, 2.0, 1.0]
    assert sum([a, b, c]).kernels == [a, b, c]
    assert (a * 3).weights == (3 * a).weights == (np.float64(3) * a).weights == [3.0]
    product = a * b * c
    assert isinstance(product, KernelProduct)
    assert product.kernels == [a, b, c]
    inner = KernelSum([a, b], normalize=True)
    assert (inner + c).kernels == [inner, c]
    assert (2 * inner).kernels == [inner]
    named = KernelSum([("first", a)]) + KernelSum([("second", b)])
    assert named.kernels == [("first", a), ("second", b)]
    assert (KernelSum([("same", a)]) + KernelSum([("same", b)])).kernels == [a, b]
    assert isinstance((a + b) * c, KernelProduct)


@pytest.mark.parametrize(
    "other", [GraphSampling(), "wl", None, [1.0], np.ones(2), True, 1j], ids=repr
)
def test_operators_refuse_what_is_no_kernel(other):
    kernel = WeisfeilerLehman()
    for operation in (
        lambda: kernel + other,
        lambda: other + kernel,
        lambda: kernel * other,
        lambda: other * kernel,
    ):
        with pytest.raises(TypeError):
            operation()


def test_numbers_are_factors_not_terms():
    with pytest.raises(TypeError, match="added to another kernel"):
        WeisfeilerLehman() + 1
    with pytest.raises(ValueError, match="at least 0; got -1"):
        -1 * WeisfeilerLehman()
    with pytest.raises(ValueError, match="at least 0"):
        WeisfeilerLehman() * float("nan")


@pytest.mark.parametrize(
    ("kernels", "weights", "error", "message"),
    [
        ([], None, ValueError, "at least one kernel"),
        ([WeisfeilerLehman()], [1, 2], ValueError, "one weight per kernel"),
        ([WeisfeilerLehman()], [-1], ValueError, "weight 0 is -1"),
        ([WeisfeilerLehman()], [float("inf")], ValueError, "finite"),
        ([WeisfeilerLehman()], ["x"], ValueError, "numbers"),
        ([WeisfeilerLehman(), GraphSampling()], None, TypeError, "entry 1 of kernels"),
        ([WeisfeilerLehman], None, TypeError, "entry 0"),
        ([("a", WeisfeilerLehman()), ("a", ShortestPath())], None, ValueError, "called 'a'"),
        ([("weights", WeisfeilerLehman())], None, ValueError, "cannot be called 'weights'"),
        ([("a__b", WeisfeilerLehman())], None, ValueError, "cannot be called"),
    ],
)
def test_bad_members(kernels, weights, error, message):
    with pytest.raises(error, match=message):
        KernelSum(kernels, weights).fit(GRAPHS)


def test_parameters_reach_members_as_in_a_pipeline():
    kernel = KernelSum([WeisfeilerLehman(), WeisfeilerLehman(n_iter=1), ShortestPath()])
    params = kernel.get_params()
    assert params["weisfeilerlehman-2__n_iter"] == 1
    assert params["shortestpath"] is kernel.kernels[2]
    kernel.set_params(**{"weisfeilerlehman-1__n_iter": 4, "shortestpath": VertexHistogram()})
    assert kernel.kernels[0][1].n_iter == 4
    assert isinstance(kernel.get_params()["shortestpath"], VertexHistogram)
    named = KernelSum([("deep", WeisfeilerLehman())])
    assert named.set_params(deep__n_iter=2).kernels[0][1].n_iter == 2
    with pytest.raises(ValueError, match="Invalid parameter"):
        named.set_params(shallow__n_iter=2)
    copy = clone(named)
    assert copy.kernels[0][1] is not named.kernels[0][1]
    assert copy.get_params()["deep__n_iter"] == 2


def test_fit_leaves_members_alone_and_keeps_clones():
    member = WeisfeilerLehman(n_iter=1)
    kernel = (member + ShortestPath()).fit(GRAPHS)
    assert not hasattr(member, "profile_")
    assert [type(k) for k in kernel.kernels_] == [WeisfeilerLehman, ShortestPath]
    assert kernel.kernels_[0].n_fitted_ == 4


def test_features_stand_side_by_side():
    kernel = KernelSum([WeisfeilerLehman(n_iter=1), EdgeHistogram()], [2.0, 0.25]).fit(GRAPHS)
    features = kernel.features(GRAPHS)
    np.testing.assert_allclose((features @ features.T).toarray(), kernel.transform(GRAPHS))
    names = kernel.get_feature_names_out()
    assert len(names) == features.shape[1]
    assert names[0] == "weisfeilerlehman__h0:C"
    assert names[-1].startswith("edgehistogram__")
    mapped = FeatureMap(clone(kernel)).fit_transform(GRAPHS)
    np.testing.assert_allclose(mapped.toarray(), features.toarray())
    assert not hasattr(KernelSum([WeisfeilerLehman(normalize=True)]), "features")
    assert not hasattr(KernelSum([WLOptimalAssignment()]), "features")
    assert not hasattr(KernelProduct([WeisfeilerLehman()]), "features")


def test_tags_come_from_members():
    tags = (WeisfeilerLehman() + ShortestPath()).__graph_tags__()
    assert tags.features
    assert tags.psd
    assert not tags.supervised
    assert tags.after_fit == ("weights", "normalize")
    mixed = (Propagation() * WeightedWassersteinWL()).__graph_tags__()
    assert mixed.random
    assert mixed.supervised
    assert mixed.depends_on_fitted
    assert not (EMDKernel() + VertexHistogram()).__graph_tags__().psd
    assert (EMDKernel(psd="clip") + VertexHistogram()).__graph_tags__().whole_matrix


def test_weights_can_be_set_after_fit():
    kernel = (WeisfeilerLehman() + ShortestPath()).fit(GRAPHS)
    kernel.set_params(weights=[0.0, 2.0])
    np.testing.assert_allclose(kernel.transform(GRAPHS), 2 * gramlet.gram(GRAPHS, "sp"))


@pytest.mark.parametrize("psd", ["clip", "flip", "shift"])
@pytest.mark.parametrize("combined", ["sum", "product"])
def test_members_defined_as_a_whole_are_taken_whole(psd, combined):
    emd, base = EMDKernel(psd=psd, normalize=True), VertexHistogram()
    kernel = emd + base if combined == "sum" else emd * base
    operation = np.add if combined == "sum" else np.multiply
    gram = kernel.fit_transform(GRAPHS)
    np.testing.assert_allclose(
        gram, operation(clone(emd).fit_transform(GRAPHS), clone(base).fit_transform(GRAPHS))
    )
    rows = operation(emd.fit(GRAPHS).transform(GRAPHS[:2]), base.fit(GRAPHS).transform(GRAPHS[:2]))
    np.testing.assert_allclose(kernel.transform(GRAPHS[:2]), rows)


def test_a_norm_of_zero_makes_a_product_zero():
    kernel = KernelProduct([EdgeHistogram(normalize=True), VertexHistogram()])
    graphs = [([], ["C"]), ([(0, 1)], ["C", "C"])]
    assert kernel.fit_transform(graphs).tolist() == [[0, 0], [0, 4]]
    assert kernel.diagonal(graphs).tolist() == [0, 4]


@pytest.mark.parametrize(
    "kernel",
    [
        WeisfeilerLehman(n_iter=1, normalize=True) + 0.5 * OptimalAssignment("edge"),
        KernelProduct([("a", WeisfeilerLehman()), ("b", ShortestPath() + VertexHistogram())]),
    ],
    ids=["sum", "product"],
)
def test_saved_and_loaded(kernel, tmp_path):
    expected = kernel.fit_transform(GRAPHS)
    check(kernel.profile_)
    gramlet.save(kernel, tmp_path / "k.gramlet")
    again = gramlet.load(tmp_path / "k.gramlet")
    np.testing.assert_array_equal(again.transform(GRAPHS), kernel.transform(GRAPHS))
    check(again)
    np.testing.assert_array_equal(clone(again).fit_transform(GRAPHS), expected)
    assert len(again.profile_[[0, 2]]) == 2


def test_a_forged_profile_is_refused():
    kernel = (WeisfeilerLehman() + ShortestPath()).fit(GRAPHS)
    other = (WeisfeilerLehman() * ShortestPath()).fit(GRAPHS)
    kernel.profile_ = other.profile_
    with pytest.raises(ValueError, match="a different operation"):
        check(kernel)


def test_grid_search_in_a_pipeline():
    mutag = gramlet.load_dataset("MUTAG")
    pipeline = Pipeline(
        [("kernel", WeisfeilerLehman() + VertexHistogram()), ("svm", SVC(kernel="precomputed"))]
    )
    search = GridSearchCV(
        pipeline,
        {"kernel__weisfeilerlehman__n_iter": [0, 3], "kernel__weights": [[1, 0], [1, 1]]},
        cv=2,
    ).fit(mutag.graphs[:60], mutag.target[:60])
    assert search.best_params_["kernel__weights"] in ([1, 0], [1, 1])
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()


def test_directed_graphs_are_compared_where_members_do():
    batch = gramlet.GraphBatch.from_edges(
        [[(0, 1), (1, 2)], [(0, 1), (2, 1)], [(0, 1), (1, 2), (2, 0)]], directed=True
    )
    kernel = WeisfeilerLehman(n_iter=2) * VertexHistogram() + ShortestPath()
    expected = gramlet.gram(batch, "wl", n_iter=2) * gramlet.gram(batch, "vertex")
    expected = expected + gramlet.gram(batch, "sp")
    np.testing.assert_allclose(kernel.fit_transform(batch), expected)
    assert gramlet.GraphNeighbors("wl", 1).fit(batch).kneighbors()[1].shape == (3, 1)
    assert gramlet.GraphNystroem("wl").fit_transform(batch).shape[0] == 3
    assert gramlet.similarity(batch[0], batch[1]) < 1
    with pytest.raises(ValueError, match="directed"):
        kernel.transform(batch.to_undirected())


def test_directed_graphs_are_refused_where_a_member_does():
    batch = gramlet.GraphBatch.from_edges([[(0, 1)]], directed=True)
    with pytest.raises(ValueError, match="to_undirected"):
        (EMDKernel() + VertexHistogram()).fit(batch)


@pytest.mark.parametrize(
    ("kernel", "named"),
    [
        (gramlet.VertexHistogram() + gramlet.NSPDK(), "NSPDK, part of KernelSum,"),
        (gramlet.WeisfeilerLehman(1, base="nspdk"), "NSPDK, the base of WeisfeilerLehman,"),
        (gramlet.DeepGraphKernel(gramlet.NSPDK()), "NSPDK, the base of DeepGraphKernel,"),
        (gramlet.CoreKernel("vertex"), "CoreKernel"),
    ],
    ids=["sum", "levels", "deep", "cores"],
)
def test_the_part_that_refuses_directed_graphs_is_named(kernel, named):
    graphs = gramlet.GraphBatch.from_edges([[(0, 1)]], directed=True)
    with pytest.raises(ValueError, match=f"^{named} compares undirected graphs only"):
        kernel.fit(graphs)
