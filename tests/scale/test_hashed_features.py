"""Hashed features: rows that depend on the graph alone, and the Gram matrices of the kernels."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

import gramlet
from gramlet import GraphBatch, HashedFeatures, ShortestPath, WeisfeilerLehman
from reference.examples import labelled_graphs
from reference.strategies import permuted

KERNELS = {
    "wl": WeisfeilerLehman(n_iter=3),
    "wl-edge": WeisfeilerLehman(n_iter=3, base="edge"),
    "sp": ShortestPath(use_labels=True),
}
each_kind = pytest.mark.parametrize("kind", KERNELS)


def dot(matrix):
    return (matrix @ matrix.T).toarray()


@each_kind
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("use_edge_labels", ["auto", False])
def test_identities_give_the_gram_matrix_of_the_kernel(kind, seed, use_edge_labels):
    graphs = labelled_graphs(40, seed)
    kernel = clone(KERNELS[kind])
    if kind != "sp":
        kernel.set_params(use_edge_labels=use_edge_labels)
    hashed = HashedFeatures(kind, n_bits=None, use_edge_labels=use_edge_labels)
    matrix = hashed.transform(graphs)
    assert sparse.issparse(matrix)
    assert matrix.format == "csr"
    assert matrix.has_sorted_indices
    assert np.array_equal(dot(matrix), kernel.fit_transform(graphs))
    assert hashed.column_ids_.dtype == np.uint64
    assert len(hashed.column_ids_) == matrix.shape[1]
    assert (np.diff(hashed.column_ids_.astype(object)) > 0).all()
    assert matrix.getnnz(axis=0).all()


@each_kind
@pytest.mark.parametrize("column", ["node_labels", "edge_labels"])
def test_graphs_without_labels(kind, column):
    graphs = labelled_graphs(20).with_columns(**{column: None})
    matrix = HashedFeatures(kind, n_bits=None).transform(graphs)
    assert np.array_equal(dot(matrix), clone(KERNELS[kind]).fit_transform(graphs))


@each_kind
@pytest.mark.parametrize("n_bits", [6, 20])
def test_any_split_gives_the_same_rows(kind, n_bits):
    graphs = labelled_graphs(30)
    hashed = HashedFeatures(kind, n_bits=n_bits)
    whole = hashed.transform(graphs)
    assert whole.shape == (30, 2**n_bits)
    parts = sparse.vstack([hashed.transform(graphs[a:b]) for a, b in [(0, 1), (1, 17), (17, 30)]])
    assert (whole != parts).nnz == 0
    assert (hashed.transform(graphs[::-1])[::-1] != whole).nnz == 0


@each_kind
def test_identities_of_blocks_match_by_column_ids(kind):
    graphs = labelled_graphs(30)
    whole = HashedFeatures(kind, n_bits=None)
    expected = whole.transform(graphs).toarray()
    part = HashedFeatures(kind, n_bits=None)
    found = part.transform(graphs[10:20]).toarray()
    places = np.searchsorted(whole.column_ids_, part.column_ids_)
    assert np.array_equal(whole.column_ids_[places], part.column_ids_)
    assert np.array_equal(found, expected[10:20][:, places])
    assert np.delete(expected[10:20], places, axis=1).sum() == 0


@each_kind
def test_folding_identities_gives_the_hashed_columns(kind):
    graphs = labelled_graphs(30)
    exact = HashedFeatures(kind, n_bits=None)
    matrix = exact.transform(graphs).toarray()
    folded = np.zeros((30, 2**8))
    np.add.at(folded.T, (exact.column_ids_ >> np.uint64(56)).astype(int), matrix.T)
    assert np.array_equal(HashedFeatures(kind, n_bits=8).transform(graphs).toarray(), folded)


@each_kind
def test_numbering_of_nodes_does_not_matter(kind):
    graphs = labelled_graphs(20)
    hashed = HashedFeatures(kind, n_bits=20)
    renumbered = permuted(graphs, np.random.default_rng(3))
    assert (hashed.transform(graphs) != hashed.transform(renumbered)).nnz == 0


@pytest.mark.exhaustive
def test_the_same_in_every_process():
    script = (
        "from gramlet import HashedFeatures\n"
        "m = HashedFeatures(n_bits=20).transform([([(0, 1), (1, 2)], ['C', 'O', 1])])\n"
        "print(m.indices.tolist(), m.data.tolist())"
    )
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout
    m = HashedFeatures(n_bits=20).transform([([(0, 1), (1, 2)], ["C", "O", 1.0])])
    assert told.strip() == f"{m.indices.tolist()} {m.data.tolist()}"


def test_directed_arcs_count_by_their_direction():
    one = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[list("ABC")], directed=True)
    other = GraphBatch.from_edges([[(0, 1), (2, 1)]], node_labels=[list("ABC")], directed=True)
    for kind in KERNELS:
        hashed = HashedFeatures(kind, n_iter=1, n_bits=None)
        both = hashed.transform(GraphBatch.concatenate([one, other])).toarray()
        assert not np.array_equal(both[0], both[1])


@each_kind
def test_directed_graphs_give_the_gram_matrix_of_the_kernel(kind):
    rng = np.random.default_rng(0)
    sizes = [0, 1, *rng.integers(2, 7, 20).tolist()]
    edges = [
        [(i, j) for i in range(n) for j in range(n) if i != j and rng.random() < 0.3] for n in sizes
    ]
    graphs = GraphBatch.from_edges(
        edges,
        n_nodes=sizes,
        node_labels=[rng.choice(list("CNO"), n).tolist() for n in sizes],
        edge_labels=[[["-", 1][(i + j) % 2] for i, j in each] for each in edges],
        directed=True,
    )
    matrix = HashedFeatures(kind, n_bits=None).transform(graphs)
    assert np.array_equal(dot(matrix), clone(KERNELS[kind]).fit_transform(graphs))


def test_wrong_parameters_and_labels():
    graphs = labelled_graphs(5)
    for wrong in (
        {"kind": "other"},
        {"n_bits": 0},
        {"n_bits": 64},
        {"n_iter": -1},
        {"n_iter": 10_001},
    ):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            HashedFeatures(**wrong).transform(graphs)
    with pytest.raises(ValueError, match="frozenset"):
        HashedFeatures().transform([([(0, 1)], [frozenset("a"), frozenset("b")])])


def test_in_pipelines_and_for_gram():
    graphs = labelled_graphs(30)
    y = np.arange(30) % 2
    model = make_pipeline(HashedFeatures(n_bits=12), SGDClassifier(random_state=0)).fit(graphs, y)
    assert model.predict(graphs).shape == (30,)
    hashed = HashedFeatures(n_bits=12)
    assert (
        pickle.loads(pickle.dumps(hashed)).transform(graphs) != hashed.transform(graphs)
    ).nnz == 0
    expected = dot(HashedFeatures(n_bits=None).transform(graphs))
    found = gramlet.gram(graphs, HashedFeatures(n_bits=None))
    assert np.array_equal(
        np.asarray(found.todense() if sparse.issparse(found) else found), expected
    )
