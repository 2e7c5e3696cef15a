"""Numbers of nodes have 32 bits, or 64 where they do not fit; nothing else depends on that."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import gramlet
from gramlet import GraphBatch, as_batch
from gramlet.graphs import build
from gramlet.graphs.fingerprint import graphs_digest
from gramlet.kernels import registry

EDGES = [[(0, 1), (1, 2), (2, 0), (2, 3)], [], [(0, 3), (3, 1)], [(0, 1), (1, 2), (2, 3), (3, 4)]]
SIZES = [4, 2, 4, 5]


def some_graphs(directed: bool = False) -> GraphBatch:
    return GraphBatch.from_edges(
        EDGES,
        n_nodes=SIZES,
        node_labels=[["a" if v % 2 else "b" for v in range(n)] for n in SIZES],
        edge_labels=[[(u + v) % 2 for u, v in edges] for edges in EDGES],
        directed=directed,
    )


@pytest.fixture
def wide(monkeypatch: pytest.MonkeyPatch):
    """Makes batches as if their nodes did not fit into 32 bits."""

    def make(directed: bool = False, most: int = 0) -> GraphBatch:
        monkeypatch.setattr(build, "_MOST_NARROW", most)
        return some_graphs(directed)

    return make


@pytest.mark.parametrize("directed", [False, True])
def test_all_ways_to_a_batch_give_32_bits(directed, tmp_path):
    batch = some_graphs(directed)
    gramlet.save(batch, tmp_path / "graphs.gramlet")
    found = {
        "edges": batch,
        "wide arrays": GraphBatch(
            batch.node_offsets, batch.indptr, batch.indices.astype(np.int64), directed=directed
        ),
        "slice": batch[1:],
        "one": batch[2],
        "mask": batch[[True, False, True, False]],
        "joined": GraphBatch.concatenate([batch, batch[:2]]),
        "columns": batch.with_columns(node_labels=None),
        "undirected": batch.to_undirected(),
        "pickle": pickle.loads(pickle.dumps(batch)),
        "file": gramlet.load(tmp_path / "graphs.gramlet"),
        "matrices": as_batch([batch.adjacency(0), batch.adjacency(2)]),
        "nothing": batch[:0],
    }
    for way, made in found.items():
        assert made.indices.dtype == made.in_arcs.indices.dtype == np.int32, way
        assert not made.indices.flags.writeable, way
        assert made.indptr.dtype == made.node_offsets.dtype == np.int64, way
        assert all(ends.dtype == np.int64 for ends in made.arcs()), way


@pytest.mark.parametrize("directed", [False, True])
def test_networkx_graphs_give_32_bits(directed):
    pytest.importorskip("networkx")
    batch = as_batch(some_graphs(directed).to_networkx())
    assert batch.indices.dtype == np.int32


@pytest.mark.parametrize("directed", [False, True])
def test_wide_batches_are_the_same_graphs(directed, wide, tmp_path):
    narrow = some_graphs(directed)
    batch = wide(directed)
    assert batch.indices.dtype == batch.in_arcs.indices.dtype == np.int64
    assert batch == narrow
    assert hash(batch) == hash(narrow)
    assert graphs_digest(batch) == graphs_digest(narrow)
    for one, other in zip(batch.in_arcs, narrow.in_arcs, strict=True):
        assert np.array_equal(one, other)
    for again in (batch[:], batch.to_undirected(), pickle.loads(pickle.dumps(narrow))):
        assert again.indices.dtype == np.int64
    gramlet.save(batch, tmp_path / "graphs.gramlet")
    assert gramlet.load(tmp_path / "graphs.gramlet") == narrow


def test_the_width_follows_the_number_of_nodes(wide):
    batch = wide(most=sum(SIZES))
    assert batch.indices.dtype == np.int32
    twice = GraphBatch.concatenate([batch, batch])
    assert twice.indices.dtype == np.int64
    assert twice[: len(batch)].indices.dtype == np.int32
    repeated = batch[[0, 1, 2, 3, 0, 1, 2, 3]]
    assert repeated.indices.dtype == np.int64
    assert repeated == twice
    assert twice[len(batch) :] == batch


def test_a_file_with_numbers_of_another_width_has_the_usual_one(wide, tmp_path, monkeypatch):
    batch = wide()
    gramlet.save(batch, tmp_path / "graphs.gramlet")
    monkeypatch.undo()
    loaded = gramlet.load(tmp_path / "graphs.gramlet")
    assert loaded == batch
    assert loaded.indices.dtype == np.int32


@pytest.mark.parametrize("name", ["wl", "sp", "core", "hadamard", "subgraph-matching"])
def test_kernels_do_not_depend_on_the_width(name, wide):
    expected = registry.make(name).fit(some_graphs())
    matrix, new = expected.transform(some_graphs()), expected.transform(some_graphs()[1:3])
    kernel = registry.make(name).fit(wide())
    assert np.array_equal(kernel.transform(wide()), matrix)
    assert np.array_equal(kernel.transform(wide()[1:3]), new)
    assert np.array_equal(expected.transform(wide()), matrix)


def test_directed_refinement_does_not_depend_on_the_width(wide):
    expected = registry.make("wl").fit_transform(some_graphs(directed=True))
    assert np.array_equal(registry.make("wl").fit_transform(wide(directed=True)), expected)


def test_numbers_that_do_not_fit_are_refused_not_wrapped():
    with pytest.raises(ValueError, match="contains node 4294967297; there are 2 nodes"):
        GraphBatch(np.array([0, 2]), np.array([0, 1, 2]), np.array([2**32 + 1, 0]))
