"""GraphBatch: building, slicing, joining, comparing; every error names the graph."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold, train_test_split
from sklearn.utils import resample
from sklearn.utils._indexing import _safe_indexing

from gramlet import GraphBatch
from gramlet.graphs.columns import Categorical
from reference.strategies import graph_batches, permuted


@pytest.fixture
def batch() -> GraphBatch:
    """Four graphs with every column: a path, an empty one, an edgeless one, a triangle."""
    return GraphBatch.from_edges(
        [[(0, 1), (1, 2)], [], [], [(2, 0), (0, 1), (1, 2)]],
        node_labels=[["C", 1, "1"], [], ["C", (1,)], [1, 1, "C"]],
        edge_labels=[["s", "d"], [], [], ["s", "s", "d"]],
        edge_weights=[[0.5, 1.5], [], [], [1, 2, 3]],
        node_attributes=[np.eye(3), np.zeros((0, 3)), np.ones((2, 3)), -np.eye(3)],
    )


def by_hand(batch: GraphBatch, i: int) -> tuple:
    """Graph i, read entry by entry from the columns."""
    first, last = int(batch.node_offsets[i]), int(batch.node_offsets[i + 1])
    arcs = [(v - first, k) for v in range(first, last) for k in _entries(batch, v)]
    return (
        last - first,
        [(v, int(batch.indices[k]) - first) for v, k in arcs],
        None if batch.node_labels is None else [batch.node_labels[v] for v in range(first, last)],
        None if batch.edge_labels is None else [batch.edge_labels[k] for _, k in arcs],
        None if batch.edge_weights is None else [batch.edge_weights[k] for _, k in arcs],
        None if batch.node_attributes is None else batch.node_attributes[first:last].tolist(),
        None
        if batch.edge_attributes is None
        else [batch.edge_attributes[k].tolist() for _, k in arcs],
        batch.directed,
    )


EVERY_KIND = {"edge_attributes": None, "directed": None}


def _entries(batch: GraphBatch, node: int) -> range:
    return range(batch.indptr[node], batch.indptr[node + 1])


class TestBuilding:
    def test_edges_become_one_sorted_csr(self):
        batch = GraphBatch.from_edges([[(2, 0), (0, 1)], [(1, 0)]])
        assert batch.node_offsets.tolist() == [0, 3, 5]
        assert batch.indptr.tolist() == [0, 2, 3, 4, 5, 6]
        assert batch.indices.tolist() == [1, 2, 0, 0, 4, 3]
        assert batch.node_offsets.dtype == batch.indptr.dtype == np.int64
        assert batch.indices.dtype == np.int32

    def test_repeated_edges_are_merged_in_either_direction(self):
        once = GraphBatch.from_edges([[(0, 1), (1, 2)]], edge_labels=["ab"], edge_weights=[[1, 2]])
        thrice = GraphBatch.from_edges(
            [[(1, 0), (1, 2), (0, 1), (2, 1), (0, 1)]],
            edge_labels=["ababa"],
            edge_weights=[[1, 2, 1, 2, 1]],
        )
        assert thrice == once
        assert thrice.n_edges.tolist() == [2]

    def test_each_edge_keeps_its_columns(self):
        batch = GraphBatch.from_edges(
            [[(3, 1), (0, 3)]], edge_labels=[["a", "b"]], edge_weights=[[0.25, 4]]
        )
        tails, heads = batch.arcs()
        found = {
            (t, h): (label, weight)
            for t, h, label, weight in zip(
                tails.tolist(), heads.tolist(), batch.edge_labels, batch.edge_weights, strict=True
            )
        }
        assert found == {
            (3, 1): ("a", 0.25),
            (1, 3): ("a", 0.25),
            (0, 3): ("b", 4.0),
            (3, 0): ("b", 4.0),
        }

    @pytest.mark.parametrize(
        ("columns", "what"),
        [
            ({"edge_labels": [["a"], ["a", "b"]]}, "labels"),
            ({"edge_weights": [[1.0], [1.0, 2.0]]}, "weights"),
            ({"edge_attributes": [[[1.0, 0.0]], [[1.0, 0.0], [1.0, 2.0]]]}, "attributes"),
        ],
    )
    def test_repeats_that_disagree_are_refused(self, columns, what):
        with pytest.raises(ValueError, match=rf"Graph 1 lists the edge \(0, 1\).*different {what}"):
            GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 0)]], **columns)

    def test_self_loops_are_refused(self):
        with pytest.raises(ValueError, match=r"Graph 2 has a self-loop at node 1 \(2 self-loops"):
            GraphBatch.from_edges([[(0, 1)], [], [(0, 1), (1, 1), (0, 0)]])

    @pytest.mark.parametrize(
        ("src", "dst", "columns", "message"),
        [
            ([0], [4], {}, "arc from node 0 to node 4, but all graphs together have 4"),
            ([0], [2], {}, "from node 0 of graph 0 to node 0 of graph 1"),
            ([0, 1], [1], {}, "equal length; got 2 and 1"),
            ([0], [1], {"edge_weights": np.ones(2)}, "1 arcs, but 2 edge_weights"),
            ([0], [1], {"node_attributes": np.ones(4)}, r"one row per node.*\(4,\)"),
            ([0], [1], {"node_labels": Categorical.from_values("ab")}, "4 nodes, but 2 node_la"),
        ],
    )
    def test_arcs_that_make_no_graph_are_refused(self, src, dst, columns, message):
        with pytest.raises(ValueError, match=message):
            GraphBatch.from_arcs(np.array([0, 2, 4]), np.array(src), np.array(dst), **columns)

    def test_offsets_must_rise_from_zero(self):
        none = np.zeros(0, np.int64)
        for offsets in ([], [1, 2], [0, 2, 1]):
            with pytest.raises(ValueError, match="node_offsets"):
                GraphBatch.from_arcs(np.array(offsets, np.int64), none, none)


class TestSlicing:
    @given(graph_batches(min_graphs=1, **EVERY_KIND), st.data())
    def test_index_arrays_pick_graphs_with_all_their_columns(self, batch, data):
        picks = data.draw(st.lists(st.integers(-len(batch), len(batch) - 1)))
        part = batch[np.array(picks, dtype=np.int64)]
        assert len(part) == len(picks)
        for place, pick in enumerate(picks):
            assert by_hand(part, place) == by_hand(batch, pick % len(batch))

    @given(graph_batches(), st.slices(6))
    def test_slices_agree_with_index_arrays(self, batch, window):
        assert batch[window] == batch[np.arange(len(batch))[window]]

    @given(graph_batches(), st.data())
    def test_masks_agree_with_index_arrays(self, batch, data):
        mask = np.array(
            data.draw(st.lists(st.booleans(), min_size=len(batch), max_size=len(batch)))
        )
        assert batch[mask.astype(bool)] == batch[np.flatnonzero(mask)]

    @pytest.mark.parametrize(
        ("key", "wanted"),
        [
            (1, [1]),
            (-1, [3]),
            (np.int32(2), [2]),
            (np.array(2), [2]),
            (slice(1, 3), [1, 2]),
            (slice(None, None, -1), [3, 2, 1, 0]),
            ([3, 0, 3], [3, 0, 3]),
            (range(2), [0, 1]),
            (np.array([], dtype=int), []),
            ([], []),
            ([True, False, False, True], [0, 3]),
            ((1, ...), [1]),
            ((slice(2), ...), [0, 1]),
            ((np.array([2, 1]), ...), [2, 1]),
            ((np.array([False, True, True, False]), ...), [1, 2]),
        ],
    )
    def test_every_form_of_key_gives_a_batch(self, batch, key, wanted):
        part = batch[key]
        assert isinstance(part, GraphBatch)
        assert [by_hand(part, i) for i in range(len(part))] == [by_hand(batch, i) for i in wanted]

    @pytest.mark.parametrize(
        ("key", "message"),
        [
            (4, "Graph 4 is out of range: the batch has 4 graphs"),
            (-5, "Graph -5 is out of range"),
            ([0, 9], "Graph 9 is out of range"),
            ([True, False], r"boolean mask over 4 graphs.*\(2,\)"),
            (True, "boolean mask"),
            (1.0, "integer, a slice"),
            ("a", "integer, a slice"),
            (None, "integer, a slice"),
            (np.zeros((2, 2), int), "1-d integer array"),
            ((0, 1), "one axis"),
            ((..., 0), "one axis"),
        ],
    )
    def test_bad_keys_are_index_errors(self, batch, key, message):
        with pytest.raises(IndexError, match=message):
            batch[key]

    def test_it_is_a_sequence(self, batch):
        assert len(batch) == 4
        assert batch.shape == (4,)
        assert [len(g) for g in batch] == [1, 1, 1, 1]
        assert next(reversed(batch)) == batch[3]
        assert batch[2] in batch
        assert batch.index(batch[3]) == 3

    def test_scikit_learn_splits_it(self, batch):
        y = np.arange(4)
        train, test, y_train, y_test = train_test_split(batch, y, random_state=0)
        assert train == batch[y_train]
        assert test == batch[y_test]
        for fold_train, fold_test in KFold(2).split(batch):
            assert len(batch[fold_train]) + len(batch[fold_test]) == 4
        assert _safe_indexing(batch, np.array([3, 1])) == batch[[3, 1]]
        assert _safe_indexing(batch, [3, 1]) == batch[[3, 1]]
        assert _safe_indexing(batch, np.array([True, False, True, False])) == batch[[0, 2]]
        assert _safe_indexing(batch, slice(1, 3)) == batch[1:3]
        graphs, numbers = resample(batch, y, random_state=1)
        assert graphs == batch[numbers]

    def test_as_an_object_array_it_holds_one_graph_batches(self, batch):
        objects = np.asarray(batch)
        assert objects.shape == (4,)
        assert all(objects[i] == batch[i] for i in range(4))
        with pytest.raises(TypeError, match="not a numeric array"):
            np.asarray(batch, dtype=float)


class TestReading:
    @given(graph_batches(min_graphs=1))
    def test_sizes_degrees_and_adjacency_agree(self, batch):
        for i in range(len(batch)):
            dense = batch.adjacency(i)
            first, last = batch.node_offsets[i], batch.node_offsets[i + 1]
            assert dense.shape == (batch.sizes[i], batch.sizes[i])
            assert np.array_equal(dense, dense.T)
            assert not dense.diagonal().any()
            assert dense.sum() == 2 * batch.n_edges[i]
            assert dense.sum(axis=1).tolist() == batch.degrees[first:last].tolist()
            assert (batch.graph_of_node[first:last] == i).all()
            assert np.array_equal(batch.adjacency(i - len(batch)), dense)

    def test_weighted_adjacency(self, batch):
        assert batch.adjacency(0, weighted=True).tolist() == [
            [0, 0.5, 0],
            [0.5, 0, 1.5],
            [0, 1.5, 0],
        ]
        unweighted = GraphBatch.from_edges([[(0, 1)]])
        assert unweighted.adjacency(0, weighted=True).tolist() == [[0, 1], [1, 0]]

    @pytest.mark.parametrize("i", [4, -5])
    def test_adjacency_of_a_graph_that_is_not_there(self, batch, i):
        with pytest.raises(IndexError, match=f"Graph {i} is out of range"):
            batch.adjacency(i)

    def test_repr_tells_sizes_and_columns(self, batch):
        assert repr(batch) == (
            "GraphBatch(4 graphs, 8 nodes, 5 edges, 4 node labels, 2 edge labels, edge weights, "
            "3 node attributes)"
        )
        assert repr(GraphBatch.from_edges([[(0, 1)]])) == "GraphBatch(1 graph, 2 nodes, 1 edge)"
        assert repr(GraphBatch.from_edges([])) == "GraphBatch(0 graphs, 0 nodes, 0 edges)"
        assert "0 node labels" in repr(batch[:0])
        assert "1 node label," in repr(
            GraphBatch.from_edges([[(0, 1)]], node_labels=["CC"], edge_labels=["s"])
        )


class TestComparing:
    @given(graph_batches(**EVERY_KIND))
    def test_pickle_and_copies_are_equal(self, batch):
        for twin in (pickle.loads(pickle.dumps(batch)), copy.copy(batch), copy.deepcopy(batch)):
            assert twin == batch
            assert hash(twin) == hash(batch)
            assert repr(twin) == repr(batch)
            with pytest.raises(ValueError, match="read-only"):
                twin.node_offsets[0] = 1

    @pytest.mark.parametrize(
        "change",
        [
            {"edges_per_graph": [[(0, 2), (1, 2)]]},
            {"node_labels": [["a", "b", "c"]]},
            {"node_labels": None},
            {"edge_labels": [["x", "x"]]},
            {"edge_labels": None},
            {"edge_weights": [[1.0, 2.5]]},
            {"edge_weights": None},
            {"node_attributes": [np.ones((3, 2))]},
            {"node_attributes": None},
            {"edge_attributes": [np.ones((2, 1))]},
            {"edge_attributes": None},
            {"directed": True},
        ],
    )
    def test_a_batch_that_differs_in_one_thing_is_not_equal(self, change):
        parts = {
            "edges_per_graph": [[(0, 1), (1, 2)]],
            "n_nodes": [3],
            "node_labels": [["a", "b", "b"]],
            "edge_labels": [["x", "y"]],
            "edge_weights": [[1.0, 2.0]],
            "node_attributes": [np.zeros((3, 2))],
            "edge_attributes": [np.zeros((2, 1))],
        }
        assert GraphBatch.from_edges(**parts) == GraphBatch.from_edges(**parts)
        assert GraphBatch.from_edges(**parts) != GraphBatch.from_edges(**{**parts, **change})

    def test_the_order_of_categories_does_not_matter(self):
        ab = GraphBatch.from_edges([[], []], node_labels=["a", "b"])
        ba = GraphBatch.from_edges([[], []], node_labels=["b", "a"])
        assert ab[[1, 0]] == ba
        assert hash(ab[[1, 0]]) == hash(ba)
        assert ab != ba

    def test_other_things_are_not_equal(self, batch):
        assert batch != [batch[i] for i in range(4)]
        assert batch != 4

    def test_node_order_matters(self):
        path = GraphBatch.from_edges([[(0, 1), (1, 2)]])
        star = GraphBatch.from_edges([[(0, 1), (0, 2)]])
        assert path != star
        others = {permuted(path, np.random.default_rng(seed)) for seed in range(20)}
        assert star in others


class TestImmutability:
    @pytest.mark.parametrize(
        "name", ["node_offsets", "indptr", "indices", "edge_weights", "node_attributes"]
    )
    def test_arrays_cannot_be_written(self, batch, name):
        with pytest.raises(ValueError, match="read-only"):
            getattr(batch, name)[0] = 7

    @pytest.mark.parametrize("name", ["sizes", "n_edges", "degrees", "graph_of_node"])
    def test_derived_arrays_cannot_be_written(self, batch, name):
        with pytest.raises(ValueError, match="read-only"):
            getattr(batch, name)[0] = 7
        assert getattr(batch, name) is getattr(batch, name)

    def test_attributes_cannot_be_set_or_deleted(self, batch):
        with pytest.raises(AttributeError, match="'indices' cannot be set"):
            batch.indices = np.zeros(1)
        with pytest.raises(AttributeError, match="'colour' cannot be set"):
            batch.colour = "red"
        with pytest.raises(AttributeError, match="'indices' cannot be deleted"):
            del batch.indices

    def test_the_callers_arrays_stay_the_callers(self):
        offsets, ends = np.array([0, 2]), np.array([[0], [1]])
        weights, rows = np.array([2.0]), np.zeros((2, 1))
        batch = GraphBatch.from_arcs(offsets, *ends, edge_weights=weights, node_attributes=rows)
        before = pickle.loads(pickle.dumps(batch))
        offsets[1], ends[0], weights[0], rows[0] = 9, 1, 9, 9
        assert batch == before


class TestConcatenate:
    @given(graph_batches(**EVERY_KIND), st.data())
    def test_joining_the_pieces_gives_the_whole(self, batch, data):
        cut = data.draw(st.integers(0, len(batch)))
        assert GraphBatch.concatenate([batch[:cut], batch[cut:]]) == batch
        assert GraphBatch.concatenate(list(batch)) == batch

    def test_vocabularies_are_merged(self):
        first = GraphBatch.from_edges([[]], node_labels=[["a", 1]])
        second = GraphBatch.from_edges([[]], node_labels=[["1", "a"]])
        joined = GraphBatch.concatenate([first, second])
        assert list(joined.node_labels) == ["a", 1, "1", "a"]
        assert joined.node_labels.categories == ("a", 1, "1")

    def test_nothing_joins_to_an_empty_batch(self):
        nothing = GraphBatch.concatenate([])
        assert len(nothing) == 0
        assert nothing == GraphBatch.from_edges([])
        assert nothing.shape == (0,)

    @pytest.mark.parametrize(
        ("name", "entries"),
        [
            ("node_labels", ["ab"]),
            ("edge_labels", [["x"]]),
            ("edge_weights", [[1.0]]),
            ("node_attributes", [np.zeros((2, 2))]),
            ("edge_attributes", [np.zeros((1, 2))]),
        ],
    )
    def test_a_column_in_some_batches_only_is_refused(self, name, entries):
        plain = GraphBatch.from_edges([[], [(0, 1)]])
        full = GraphBatch.from_edges([[(0, 1)]], **{name: entries})
        with pytest.raises(ValueError, match=f"Graph 2 has {name} and graph 1 has none"):
            GraphBatch.concatenate([plain, full])

    def test_empty_graphs_join_either_way(self, batch):
        empty = GraphBatch.from_edges([[], []])
        joined = GraphBatch.concatenate([empty, batch, empty])
        assert len(joined) == 8
        assert joined[2:6] == batch

    def test_attributes_of_different_width_are_refused(self):
        parts = [
            GraphBatch.from_edges([[]], node_attributes=[np.zeros((1, width))]) for width in (1, 2)
        ]
        with pytest.raises(ValueError, match=r"Graph 1 has 2 node_attributes and graph 0 has 1"):
            GraphBatch.concatenate(parts)

    def test_only_batches_are_joined(self, batch):
        with pytest.raises(TypeError, match=r"item 1 is a list. Use gramlet.as_batch"):
            GraphBatch.concatenate([batch, [(0, 1)]])
