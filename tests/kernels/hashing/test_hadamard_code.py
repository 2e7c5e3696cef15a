"""Sums over neighbours against their plain definition, in whole numbers of any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch, HadamardCode
from gramlet.engine.hashing.neighbour_codes import PRIMES
from reference.examples import worked_molecules
from reference.kernels import hashing
from reference.strategies import graph_batches

WORKED = worked_molecules()


@st.composite
def two_batches(draw):
    labels = draw(st.booleans())
    return (
        draw(graph_batches(min_graphs=1, max_graphs=4, labels=labels)),
        draw(graph_batches(min_graphs=1, max_graphs=4, labels=labels)),
    )


@given(two_batches(), st.integers(0, 5))
def test_the_definition(batches, n_iter):
    batch, new = batches
    kernel = HadamardCode(n_iter)
    assert np.array_equal(kernel.fit_transform(batch), hashing.hadamard_code(batch, n_iter=n_iter))
    assert np.array_equal(kernel.transform(new), hashing.hadamard_code(new, batch, n_iter=n_iter))
    own = np.diagonal(hashing.hadamard_code(new, n_iter=n_iter))
    assert np.array_equal(kernel.diagonal(new), own)


def test_worked_values():
    one = HadamardCode(n_iter=1).fit_transform(WORKED)
    assert one.tolist() == [[10, 7, 8, 6], [7, 6, 5, 3], [8, 5, 8, 6], [6, 3, 6, 18]]
    two = HadamardCode(n_iter=2).fit_transform(WORKED)
    assert two.tolist() == [[15, 7, 10, 6], [7, 10, 5, 3], [10, 5, 11, 6], [6, 3, 6, 27]]


def test_numbers_beyond_64_bits_stay_apart():
    """2^64 divides (I + A)^65 on K2: modulo 2^64 the graphs C-O and C-C would match there."""
    graphs = GraphBatch.from_edges([[(0, 1)], [(0, 1)]], node_labels=["CO", "CC"])
    for n_iter in (64, 65, 130):
        assert np.array_equal(
            HadamardCode(n_iter).fit_transform(graphs),
            hashing.hadamard_code(graphs, n_iter=n_iter),
        )


def test_each_unseen_label_has_a_column_of_its_own():
    kernel = HadamardCode(n_iter=1).fit(WORKED)
    strange = GraphBatch.from_edges([[(0, 1)]], node_labels=[["X", "Y"]])
    assert kernel.diagonal(strange).tolist() == [6.0]  # 1 + 1, then both nodes are equal: 4
    assert kernel.transform(strange).tolist() == [[0.0] * 4]


def test_names_are_the_vectors():
    kernel = HadamardCode(n_iter=2).fit(WORKED[:1])
    assert kernel.get_feature_names_out().tolist() == [
        "t0:(C:1)",
        "t0:(O:1)",
        "t1:(C:1,O:1)",
        "t1:(C:2,O:1)",
        "t2:(C:3,O:2)",
        "t2:(C:4,O:3)",
    ]
    long = HadamardCode(n_iter=3000).fit(WORKED[:1])
    names = long.get_feature_names_out()
    assert len(set(names)) == len(names) == long.features(WORKED[:1]).shape[1]


def test_the_moduli_are_primes_of_61_bits():
    for prime in PRIMES.tolist():
        assert 2**60 < prime < 2**61
        assert all(prime % small for small in range(2, 10_000))
        # Fermat's test with several bases.
        assert all(pow(base, prime - 1, prime) == 1 for base in (2, 3, 5, 7, 11, 13, 17))


def test_refuses():
    with pytest.raises(ValueError, match="at most 10000 rounds"):
        HadamardCode(n_iter=10_001).fit(WORKED)
    with pytest.raises(ValueError, match="'n_iter' parameter of HadamardCode"):
        HadamardCode(n_iter=-1).fit(WORKED)
    with pytest.raises(ValueError, match="to_undirected"):
        HadamardCode().fit(GraphBatch.from_edges([[(0, 1)]], directed=True))
