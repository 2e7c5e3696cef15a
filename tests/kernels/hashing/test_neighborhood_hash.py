"""Neighbourhood hashes against their plain definition."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch, NeighborhoodHash
from reference.examples import worked_molecules
from reference.kernels import hashing
from reference.plain import SAME
from reference.strategies import NODE_ALPHABET, graph_batches

WORKED = worked_molecules()
SMALL = {"n_bits": 3, "codes": {"C": 1, "O": 2}}


@st.composite
def cases(draw):
    labels = draw(st.booleans())
    n_bits = draw(st.sampled_from([1, 2, 3, 8, 63, 64]))
    values = NODE_ALPHABET if labels else (None,)
    codes = {value: draw(st.integers(0, 2**n_bits - 1)) for value in values}
    batches = [draw(graph_batches(min_graphs=1, max_graphs=4, labels=labels)) for _ in range(2)]
    return (*batches, n_bits, codes)


@given(cases(), st.integers(1, 4), st.sampled_from(["simple", "count"]))
def test_the_definition(case, n_iter, kind):
    batch, new, n_bits, codes = case
    options = {"n_iter": n_iter, "kind": kind, "n_bits": n_bits}
    plain = {**codes, SAME: codes.get(None)}
    kernel = NeighborhoodHash(codes=codes, **options)
    np.testing.assert_allclose(
        kernel.fit_transform(batch), hashing.neighborhood_hash(batch, codes=plain, **options)
    )
    np.testing.assert_allclose(
        kernel.transform(new), hashing.neighborhood_hash(new, batch, codes=plain, **options)
    )
    assert kernel.diagonal(new).tolist() == (new.sizes > 0).astype(float).tolist()


def test_worked_values():
    one = NeighborhoodHash(n_iter=1, **SMALL).fit_transform(WORKED)
    expected = [[1, 0.25, 0, 0], [0.25, 1, 0.25, 0], [0, 0.25, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(one, expected)
    two = NeighborhoodHash(n_iter=2, **SMALL).fit_transform(WORKED)
    np.testing.assert_allclose(two[[0, 0, 0, 2], [1, 2, 3, 3]], [0.125, 0.1, 0.25, 0.1])
    count = NeighborhoodHash(n_iter=1, kind="count", **SMALL).fit_transform(WORKED)
    np.testing.assert_allclose(count[[0, 0, 1], [1, 2, 2]], [2 / 3, 0.5, 2 / 3])


@pytest.mark.exhaustive
def test_codes_of_labels_are_the_same_in_every_process():
    program = (
        "from gramlet import NeighborhoodHash\n"
        "graphs = [([], ['C', 1, (2, 'x'), None])]\n"
        "print(NeighborhoodHash().fit(graphs).rounds_.tables[0].data.tolist())"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={**_environment(), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    here = NeighborhoodHash().fit([([], ["C", True, (2.0, "x"), None])])
    assert str(here.rounds_.tables[0].data.tolist()) == runs[0].strip()


def _environment():
    import os

    return dict(os.environ)


def test_codes_depend_on_the_seed_and_fill_the_bits():
    def codes(**options):
        kernel = NeighborhoodHash(n_iter=1, **options).fit([([], list("abcdefghij"))])
        return set(kernel.rounds_.tables[0].data.view(np.uint64).tolist())

    assert codes() == codes(random_state=0)
    assert not codes() & codes(random_state=1)
    assert max(codes()) < 2**32
    assert max(codes(n_bits=64)) > 2**60
    assert codes(n_bits=1) <= {0, 1}


def test_unseen_labels_are_codes_like_any_other():
    kernel = NeighborhoodHash(n_iter=1).fit(WORKED)
    strange = GraphBatch.from_edges([[(0, 1)]], node_labels=[["X", "Y"]])
    assert kernel.transform(strange).tolist() == [[0.0] * 4]
    assert kernel.diagonal(strange).tolist() == [1.0]


def test_refuses():
    with pytest.raises(ValueError, match="no code for the label 'O' of graph 0"):
        NeighborhoodHash(codes={"C": 1}).fit(WORKED)
    kernel = NeighborhoodHash(codes={"C": 1, "O": 2}).fit(WORKED)
    with pytest.raises(ValueError, match="no code for the label 'X' of graph 1"):
        kernel.transform([([(0, 1)], ["C", "O"]), ([], ["X"])])
    with pytest.raises(ValueError, match="no code for nodes without a label"):
        NeighborhoodHash(codes={"C": 1}).fit(GraphBatch.from_edges([[(0, 1)]]))
    with pytest.raises(ValueError, match=r"code of label 'O' is 8; with n_bits=3 .* from 0 to 7"):
        NeighborhoodHash(n_bits=3, codes={"C": 1, "O": 8}).fit(WORKED)
    with pytest.raises(ValueError, match=r"code of label 'C' is 1\.5"):
        NeighborhoodHash(codes={"C": 1.5, "O": 2}).fit(WORKED)
    for name, value in (("n_iter", 0), ("n_bits", 65), ("n_bits", 0), ("kind", "both")):
        with pytest.raises(ValueError, match=f"'{name}' parameter of NeighborhoodHash"):
            NeighborhoodHash(**{name: value}).fit(WORKED)


def test_graphs_with_labels_and_without_do_not_mix():
    labelled = GraphBatch.from_edges([[(0, 1)]], node_labels=[["C", "O"]])
    plain = GraphBatch.from_edges([[(0, 1)]])
    empty = GraphBatch.from_edges([[]], n_nodes=[0])
    for fitted, new, words in (
        (labelled, plain, "with node labels, but is given graphs without"),
        (plain, labelled, "without node labels, but is given graphs with"),
    ):
        kernel = NeighborhoodHash().fit(fitted)
        with pytest.raises(ValueError, match=words):
            kernel.transform(new)
        with pytest.raises(ValueError, match=words):
            kernel.diagonal(new)
        assert kernel.transform(empty) == 0.0
        assert NeighborhoodHash().fit(empty).transform(new) == 0.0
