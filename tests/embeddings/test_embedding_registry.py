"""Tests that every embedding of the registry must pass."""

from __future__ import annotations

import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

import gramlet
from gramlet import GraphBatch
from gramlet.kernels import registry
from reference.examples import labelled_graphs
from reference.strategies import permuted, with_molecules

EMBEDDINGS = registry.entries("embedding")

# Parameters for embeddings whose defaults are too large for these small graphs.
SMALL: dict[str, dict[str, object]] = {"rge": {"n_components": 12}}
# Embeddings that sample from a graph as numbered: isomorphic graphs may get different rows.
ORDERED: set[str] = {"gsa-match", "gsa-gaussian", "gsa-eigen", "gsa-optical"}


def sample(seed: int = 0, n_graphs: int = 12, alphabet: str = "CNO") -> GraphBatch:
    """Random graphs with labels, among them an empty, an edgeless and a one-node graph."""
    graphs = labelled_graphs(n_graphs, seed, alphabet, edgeless=(0, 1, 3))
    return graphs.with_columns(edge_labels=None, node_attributes=None)


def make(entry: registry.Entry, **params: object):
    defaults = {"random_state": 0} if "random_state" in entry.make().get_params() else {}
    return entry.make(**{**defaults, **SMALL.get(entry.name, {}), **params})


def dense(features) -> np.ndarray:
    return features.toarray() if hasattr(features, "toarray") else np.asarray(features)


@pytest.fixture(scope="module")
def train() -> GraphBatch:
    return sample(0)


@pytest.fixture(scope="module")
def test() -> GraphBatch:
    return sample(1, n_graphs=8)


Y = np.array([0, 1] * 6)

each_embedding = pytest.mark.parametrize("entry", EMBEDDINGS, ids=lambda e: e.name)


def test_there_are_embeddings():
    assert "rge" in {entry.name for entry in EMBEDDINGS}


@each_embedding
def test_features_are_finite_one_row_a_graph_one_name_a_column(entry, train, test):
    embedding = make(entry)
    features = dense(embedding.fit_transform(train, Y))
    assert features.dtype == np.float64
    assert features.shape[0] == len(train)
    assert np.isfinite(features).all()
    assert dense(embedding.transform(test)).shape == (len(test), features.shape[1])
    names = embedding.get_feature_names_out()
    assert len(names) == len(set(names)) == features.shape[1]


@each_embedding
def test_transform_of_fitted_graphs_is_fit_transform(entry, train):
    embedding = make(entry)
    features = dense(embedding.fit_transform(train, Y))
    assert np.array_equal(dense(embedding.transform(train)), features)
    assert np.array_equal(dense(make(entry).fit(train).transform(train)), features)


@each_embedding
def test_same_bits_for_any_number_of_threads(entry, train, test):
    one, two = make(entry, n_jobs=1), make(entry, n_jobs=2)
    assert np.array_equal(dense(one.fit_transform(train)), dense(two.fit_transform(train)))
    assert np.array_equal(dense(one.transform(test)), dense(two.transform(test)))


@each_embedding
def test_rows_do_not_depend_on_the_rest_of_the_batch(entry, train, test):
    embedding = make(entry).fit(train)
    together = dense(embedding.transform(test))
    alone = np.vstack([dense(embedding.transform(test[i])) for i in range(len(test))])
    np.testing.assert_allclose(alone, together, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        dense(embedding.transform(test[::-1])), together[::-1], rtol=1e-12, atol=1e-14
    )


@each_embedding
def test_invariant_to_relabelling(entry, train, test):
    if entry.name in ORDERED:
        pytest.skip("its random stream comes from the graph as it is given")
    embedding = make(entry).fit(train)
    shuffled = permuted(test, np.random.default_rng(5))
    np.testing.assert_allclose(
        dense(embedding.transform(shuffled)), dense(embedding.transform(test)), atol=1e-8
    )


@each_embedding
def test_unseen_labels_and_no_graphs_at_all(entry, train):
    embedding = make(entry).fit(train)
    assert np.isfinite(dense(embedding.transform(sample(3, 6, alphabet="XYZ")))).all()
    assert dense(embedding.transform(train[:0])).shape == (
        0,
        len(embedding.get_feature_names_out()),
    )


@each_embedding
def test_refit_is_a_fresh_fit(entry, train, test):
    embedding = make(entry).fit(test)
    embedding.fit(train)
    fresh = make(entry).fit(train)
    assert np.array_equal(dense(embedding.transform(test)), dense(fresh.transform(test)))
    assert set(vars(embedding)) == set(vars(fresh))


@each_embedding
def test_transform_changes_neither_embedding_nor_input(entry, train, test):
    embedding = make(entry).fit(train)
    before, graphs = joblib.hash(embedding), copy.deepcopy(test)
    first = dense(embedding.transform(test))
    assert joblib.hash(embedding) == before
    assert test == graphs
    assert np.array_equal(dense(embedding.transform(test)), first)


@each_embedding
def test_clone_and_pickle(entry, train, test):
    embedding = make(entry).fit(train)
    copied = clone(embedding)
    with pytest.raises(NotFittedError):
        copied.transform(test)
    assert repr(copied.get_params(deep=False)) == repr(embedding.get_params(deep=False))
    again = pickle.loads(pickle.dumps(embedding))
    assert np.array_equal(dense(again.transform(test)), dense(embedding.transform(test)))


@each_embedding
def test_save_and_load(entry, train, test, tmp_path):
    embedding = make(entry).fit(train)
    gramlet.save(embedding, tmp_path / "embedding.gramlet")
    again = gramlet.load(tmp_path / "embedding.gramlet")
    assert np.array_equal(dense(again.transform(test)), dense(embedding.transform(test)))


@each_embedding
def test_grid_search_in_a_pipeline(entry, train):
    name, values = next(iter(entry.tunable.items()), ("n_jobs", (None, 1)))
    pipeline = Pipeline([("graphs", make(entry)), ("svc", LinearSVC())])
    search = GridSearchCV(
        pipeline,
        {f"graphs__{name}": list(values[:2]), "svc__C": [0.1, 1.0]},
        cv=StratifiedKFold(2),
        error_score="raise",
    )
    search.fit(train, Y)
    assert search.predict(train).shape == (12,)


@each_embedding
def test_parameters_the_fit_does_not_use(entry, train, test):
    for name in entry.tags.after_fit:
        for value in entry.tunable.get(name, ())[:2]:
            changed = make(entry).fit(train).set_params(**{name: value})
            fitted = make(entry, **{name: value}).fit(train)
            assert np.array_equal(dense(changed.transform(test)), dense(fitted.transform(test)))


@each_embedding
def test_gram_function(entry, train):
    params = SMALL.get(entry.name, {})
    features = dense(entry.make(**params).fit_transform(train))
    np.testing.assert_allclose(
        gramlet.gram(train, entry.name, **params), features @ features.T, rtol=1e-12, atol=1e-14
    )


@each_embedding
def test_only_empty_and_edgeless_graphs(entry):
    graphs = GraphBatch.from_edges(
        [[], [], []], n_nodes=[0, 2, 1], node_labels=[[], ["a", "b"], ["a"]]
    )
    graphs = with_molecules(graphs)
    embedding = make(entry)
    assert np.isfinite(dense(embedding.fit_transform(graphs))).all()
    assert np.isfinite(dense(embedding.transform(graphs[:1]))).all()


@each_embedding
def test_refuses_nothing_to_fit_and_wrong_parameters(entry, train):
    with pytest.raises(ValueError, match="at least one graph"):
        make(entry).fit(train[:0])
    with pytest.raises(ValueError, match="'n_jobs' parameter of"):
        make(entry, n_jobs="all").fit(train)
    with pytest.raises(ValueError, match="has no parameter 'no_such'"):
        entry.make(no_such=1)
