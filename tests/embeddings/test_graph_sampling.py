"""GraphSampling: limits, labels, options and errors. Maps and samplers have separate tests."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

from gramlet import (
    EigenGaussianMap,
    GaussianMap,
    GraphBatch,
    GraphletKernel,
    GraphSampling,
    MatchMap,
    OpticalMap,
    RandomWalkSampler,
    UniformSampler,
    mmd,
    theory,
)
from gramlet.engine.graphlets.patterns import unpacked_labels
from gramlet.engine.graphlets.sampling import sample_counts
from reference.kernels import graphlets as reference

KITE = GraphBatch.from_edges([[(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (4, 5)]])
PIECES = GraphBatch.from_edges([[(0, 1), (2, 3), (3, 4)]], n_nodes=[6])
SMALL = GraphBatch.from_edges([[(0, 1)]], n_nodes=[2])
GRAPHS = GraphBatch.concatenate([KITE, PIECES, SMALL])


# Limits


@pytest.mark.parametrize("flyback", [None, 0.0, 0.4])
@pytest.mark.parametrize(
    "feature_map", [GaussianMap(20), EigenGaussianMap(20), OpticalMap(20), MatchMap()]
)
def test_many_samples_give_the_mean_over_the_law(flyback, feature_map):
    sampler = UniformSampler() if flyback is None else RandomWalkSampler(flyback)
    embedding = GraphSampling(
        4, 100_000, sampler=sampler, feature_map=feature_map, random_state=1
    ).fit(GRAPHS)
    found = embedding.transform(GRAPHS)
    for i, graph in enumerate(GRAPHS):
        law = (
            reference.uniform_law(graph, 4)
            if flyback is None
            else reference.walk_law(graph, 4, flyback)
        )
        expected = reference.expected_embedding(
            graph, 4, law, lambda matrix: embedding.feature_map_.transform(matrix[None])[0]
        )
        np.testing.assert_allclose(found[i], expected, atol=0.015 * np.abs(expected).max())


def test_the_match_map_estimates_the_graphlet_kernel():
    eps, delta = 0.05, 0.01
    embedding = GraphSampling(
        4, "auto", feature_map="match", random_state=0, eps=eps, delta=delta
    ).fit(GRAPHS)
    assert embedding.n_samples_ == theory.graphlet_samples(4, eps, delta)
    truth = GraphletKernel(4).fit(GRAPHS).features(GRAPHS).toarray()
    errors = np.abs(embedding.transform(GRAPHS) - truth).sum(axis=1)
    assert (errors < eps).all()


def test_distances_of_embeddings_keep_the_bound():
    m, s, delta = 400, 400, 0.1
    exact = mmd(KITE, PIECES, 4) ** 2
    bound = theory.mmd_bound(m, s, delta, feature_bound=np.sqrt(2))
    errors = []
    for seed in range(30):
        rows = GraphSampling(4, s, feature_map=GaussianMap(m), random_state=seed).fit_transform(
            GRAPHS[:2]
        )
        errors.append(abs(mmd(rows[0], rows[1]) ** 2 - exact))
    assert max(errors) < bound
    assert np.mean(errors) < 0.1  # and not only because the bound is loose


# Labels


def labelled(seed=0, alphabet="ab", sizes=(0, 2, 5, 8, 11)):
    rng = np.random.default_rng(seed)
    edges = [np.argwhere(np.triu(rng.random((n, n)) < 0.4, 1)) for n in sizes]
    labels = [rng.choice(list(alphabet), n).tolist() for n in sizes]
    return GraphBatch.from_edges(edges, n_nodes=list(sizes), node_labels=labels)


def drawn_nodes(graph, k, n_samples, seed):
    """(code, nodes, count) of all samples; padding nodes are numbered from n on."""
    n = int(graph.sizes[0])
    found = sample_counts(graph, k, n_samples, seed, labels=np.arange(n), n_labels=n)
    nodes = unpacked_labels(found.label_words, k, n + 1)
    return zip(found.codes.tolist(), nodes.tolist(), found.counts.tolist(), strict=True)


def input_vector(code, nodes, labels, alphabet, k):
    """The flattened matrix, then one-hot labels of the nodes; unknown ones have the last column."""
    blocks = np.zeros((k, len(alphabet) + 1))
    for place, node in enumerate(nodes):
        if node < len(labels):
            known = labels[node] in alphabet
            blocks[place, alphabet.index(labels[node]) if known else -1] = 1
    return np.concatenate([reference.adjacency_of(code, k).ravel(), blocks.ravel()]), blocks


@pytest.mark.parametrize("alphabet", ["ab", "bx"])
@pytest.mark.parametrize("k", [3, 4])
def test_labels_are_one_hot_blocks_behind_the_matrix(k, alphabet):
    train, test = labelled(0), labelled(1, alphabet)
    for feature_map in (GaussianMap(30), OpticalMap(140), EigenGaussianMap(30)):
        embedding = GraphSampling(k, 60, feature_map=feature_map, use_labels=True, random_state=0)
        found = embedding.fit(train).transform(test)
        fitted = embedding.feature_map_
        for i, graph in enumerate(test):
            labels = list(graph.node_labels)
            expected = np.zeros(found.shape[1])
            for code, nodes, count in drawn_nodes(graph, k, 60, embedding.seed_):
                vector, blocks = input_vector(code, nodes, labels, ["a", "b"], k)
                if isinstance(feature_map, EigenGaussianMap):
                    spectrum = np.linalg.eigvalsh(reference.adjacency_of(code, k))
                    vector = np.concatenate([spectrum, blocks.sum(axis=0)])
                value = vector @ fitted.weights_ + fitted.offsets_
                if isinstance(feature_map, OpticalMap):
                    expected += count * np.abs(value) ** 2 / np.sqrt(140)
                else:
                    expected += count * np.sqrt(2 / 30) * np.cos(value)
            np.testing.assert_allclose(found[i], expected / 60, rtol=1e-9, atol=1e-12)


def labelled_form(code, nodes, labels, k):
    """A labelled pattern in the smallest of all its orders, as a tuple."""
    names = [labels[node] if node < len(labels) else "" for node in nodes]
    return min(
        (tuple(names[i] for i in order), reference.renumbered(code, k, order))
        for order in itertools.permutations(range(k))
    )


def test_labelled_patterns_match_up_to_isomorphism():
    k, train = 4, labelled(0)
    embedding = GraphSampling(k, 80, feature_map=MatchMap(), use_labels=True, random_state=0)
    found = embedding.fit_transform(train)
    shares = []
    for graph in train:
        own = {}
        for code, nodes, count in drawn_nodes(graph, k, 80, embedding.seed_):
            form = labelled_form(code, nodes, list(graph.node_labels), k)
            own[form] = own.get(form, 0) + count / 80
        shares.append(own)
    forms = {form for own in shares for form in own}
    assert found.shape == (len(train), len(forms))
    assert len(set(embedding.get_feature_names_out())) == len(forms)
    expected = [
        [sum(a[f] * b.get(f, 0) for f in a) for b in shares] for a in shares
    ]  # columns may be in any order: compare dot products
    np.testing.assert_allclose(found @ found.T, expected, atol=1e-12)
    # Only what a graph with other labels has in common with the fitted ones counts.
    strange = embedding.transform(labelled(0, "xy"))
    with_nodes = labelled(0, "xy").sizes >= k
    assert not strange[with_nodes].any()


def test_labelled_patterns_with_repetition():
    embedding = GraphSampling(
        3, 50, feature_map=MatchMap(isomorphic=False), use_labels=True, random_state=0
    )
    found = embedding.fit_transform(labelled(0))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_array_equal(embedding.transform(labelled(0)), found)


def test_without_labels_they_do_not_count():
    plain = labelled(0)
    other = GraphBatch(plain.node_offsets, plain.indptr, plain.indices)
    one = GraphSampling(4, 50, random_state=0).fit(plain)
    np.testing.assert_array_equal(one.transform(plain), one.transform(other))


# Options


def test_names_of_samplers_and_maps():
    by_name = GraphSampling(
        4, 50, sampler="walk", feature_map="eigen", random_state=0
    ).fit_transform(GRAPHS)
    by_instance = GraphSampling(
        4, 50, sampler=RandomWalkSampler(), feature_map=EigenGaussianMap(), random_state=0
    )
    np.testing.assert_array_equal(by_name, by_instance.fit_transform(GRAPHS))


def test_parameters_of_parts_can_be_set_through_the_whole():
    named = GraphSampling().set_params(feature_map__n_components=7, sampler="walk")
    assert named.feature_map.n_components == 7
    named.set_params(sampler__flyback=0.5, feature_map__scale=2.0)
    assert named.sampler.flyback == 0.5
    assert named.feature_map.get_params()["scale"] == 2.0
    switched = GraphSampling().set_params(feature_map="gaussian", feature_map__sigma=3.0)
    assert isinstance(switched.feature_map, GaussianMap)
    with pytest.raises(ValueError, match="Invalid parameter 'no_such'"):
        GraphSampling().set_params(feature_map__no_such=1)
    assert GraphSampling().feature_map == "optical"


def test_grid_search_over_a_part():
    batch = GraphBatch.from_edges(
        [[(0, i) for i in range(1, 5 + n)] for n in range(6)]
        + [[(i, i + 1) for i in range(5 + n)] for n in range(6)]
    )
    pipeline = Pipeline([("gsa", GraphSampling(4, 50, random_state=0)), ("svc", LinearSVC())])
    search = GridSearchCV(
        pipeline, {"gsa__feature_map__n_components": [5, 50], "gsa__k": [3, 4]}, cv=3
    )
    search.fit(batch, [0] * 6 + [1] * 6)
    assert search.best_score_ == 1.0


def test_a_map_with_its_own_seed_keeps_it():
    maps = [
        GraphSampling(3, 10, feature_map=GaussianMap(5, random_state=9), random_state=seed)
        .fit(GRAPHS)
        .feature_map_.weights_
        for seed in (0, 1)
    ]
    np.testing.assert_array_equal(maps[0], maps[1])
    unfitted = GaussianMap(5)
    GraphSampling(3, 10, feature_map=unfitted, random_state=0).fit(GRAPHS)
    assert not hasattr(unfitted, "weights_")


def test_sampling_does_not_depend_on_the_map():
    a = GraphSampling(4, 50, feature_map="match", random_state=5).fit(GRAPHS)
    b = GraphSampling(4, 50, feature_map="gaussian", random_state=5).fit(GRAPHS)
    assert a.seed_ == b.seed_
    rng = np.random.RandomState(5)
    assert GraphSampling(4, 50, random_state=rng).fit(GRAPHS).seed_ == a.seed_


def test_samplers_draw_codes():
    codes = UniformSampler().sample(GRAPHS, 4, 30, random_state=0)
    assert codes.shape == (3, 30)
    np.testing.assert_array_equal(codes, UniformSampler().sample(GRAPHS, 4, 30, random_state=0))
    embedding = GraphSampling(4, 30, feature_map=MatchMap(False), random_state=0)
    shares = embedding.fit_transform(GRAPHS)
    for i in range(3):
        expected = np.bincount(codes[i], minlength=64) / 30
        np.testing.assert_allclose(shares[i], expected)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 1}, "'k' parameter of GraphSampling"),
        ({"k": 9}, "'k' parameter of GraphSampling"),
        ({"n_samples": 0}, "'n_samples' parameter of GraphSampling"),
        ({"n_samples": "many"}, "'n_samples' parameter of GraphSampling"),
        ({"sampler": "run"}, "'sampler' parameter of GraphSampling"),
        ({"feature_map": "no"}, "'feature_map' parameter of GraphSampling"),
        ({"sampler": RandomWalkSampler(1.0)}, "'flyback' parameter of RandomWalkSampler"),
        ({"sampler": RandomWalkSampler(-0.1)}, "'flyback' parameter of RandomWalkSampler"),
        ({"feature_map": GaussianMap(0)}, "'n_components' parameter of GaussianMap"),
        ({"feature_map": GaussianMap(5, 0.0)}, "'sigma' parameter of GaussianMap"),
        ({"feature_map": EigenGaussianMap(5, -1)}, "'sigma' parameter of EigenGaussianMap"),
        ({"feature_map": OpticalMap(0)}, "'n_components' parameter of OpticalMap"),
        ({"feature_map": OpticalMap(scale=0)}, "'scale' parameter of OpticalMap"),
        ({"feature_map": MatchMap("yes")}, "'isomorphic' parameter of MatchMap"),
        ({"n_samples": "auto", "eps": 0}, "'eps' parameter of GraphSampling"),
        ({"use_labels": "maybe"}, "'use_labels' parameter of GraphSampling"),
    ],
)
def test_wrong_parameters_are_named(params, message):
    with pytest.raises(ValueError, match=message):
        GraphSampling(**params).fit(GRAPHS)


def test_labelled_isomorphism_is_for_few_nodes():
    with pytest.raises(ValueError, match="up to 5 nodes; got k=6"):
        GraphSampling(6, feature_map="match", use_labels=True).fit(labelled())
    embedding = GraphSampling(4, 20, use_labels=True, random_state=0).fit(labelled())
    with pytest.raises(ValueError, match="with node labels, but is given graphs without"):
        embedding.transform(GRAPHS)


def test_clone_keeps_parts():
    embedding = GraphSampling(feature_map=GaussianMap(3), sampler=RandomWalkSampler(0.3))
    copied = clone(embedding)
    assert copied.feature_map is not embedding.feature_map
    assert repr(copied) == repr(embedding)


def test_too_many_columns_to_name():
    embedding = GraphSampling(8, 5, feature_map=MatchMap(False), random_state=0).fit(GRAPHS)
    assert embedding.transform(GRAPHS).shape == (3, 1 << 28)
    with pytest.raises(ValueError, match="too many to name"):
        embedding.get_feature_names_out()
