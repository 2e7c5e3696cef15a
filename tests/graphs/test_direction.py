"""Directed batches: arcs as given, incoming arcs, removing directions, allowed comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch
from gramlet.graphs.columns import Categorical
from gramlet.graphs.direction import direction_of, require_same_direction, require_undirected
from reference.plain import plain_graphs, relabelled
from reference.strategies import graph_batches, permuted

ARCS = [[(0, 1), (1, 0), (2, 1)], [(1, 0)], []]


@pytest.fixture
def batch() -> GraphBatch:
    """Three directed graphs with every edge column; opposite arcs of graph 0 differ."""
    return GraphBatch.from_edges(
        ARCS,
        n_nodes=[3, 2, 1],
        edge_labels=[["a", "b", "c"], ["d"], []],
        edge_weights=[[1, 2, 3], [4], []],
        edge_attributes=[[[1, 0], [2, 0], [3, 0]], [[4, 0]], np.zeros((0, 2))],
        directed=True,
    )


class TestBuilding:
    def test_arcs_are_stored_once_in_their_direction(self, batch):
        assert batch.directed is True
        tails, heads = batch.arcs()
        assert list(zip(tails.tolist(), heads.tolist(), strict=True)) == [
            (0, 1),
            (1, 0),
            (2, 1),
            (4, 3),
        ]
        assert list(batch.edge_labels) == ["a", "b", "c", "d"]
        assert batch.edge_weights.tolist() == [1, 2, 3, 4]
        assert batch.edge_attributes.tolist() == [[1, 0], [2, 0], [3, 0], [4, 0]]
        assert batch.n_edges.tolist() == [3, 1, 0]
        assert batch.degrees.tolist() == [1, 1, 1, 0, 1, 0]
        assert batch.in_degrees.tolist() == [1, 2, 0, 1, 0, 0]
        assert batch.adjacency(0).tolist() == [[0, 1, 0], [1, 0, 0], [0, 1, 0]]
        assert batch.adjacency(0, weighted=True).tolist() == [[0, 1, 0], [2, 0, 0], [0, 3, 0]]

    def test_undirected_is_the_default(self):
        assert GraphBatch.from_edges(ARCS).directed is False
        assert GraphBatch.from_edges(ARCS) != GraphBatch.from_edges(ARCS, directed=True)

    @pytest.mark.parametrize("odd", [None, 1, "yes", 0.0])
    def test_directed_is_true_or_false(self, odd):
        with pytest.raises(TypeError, match="directed must be True or False; got"):
            GraphBatch.from_edges([[(0, 1)]], directed=odd)
        with pytest.raises(TypeError, match="directed must be True or False"):
            GraphBatch(np.array([0]), np.array([0]), np.zeros(0), directed=odd)

    @pytest.mark.parametrize("columns", [{}, {"edge_labels": [["a", "b", "a", "a"]]}])
    def test_repeated_arcs_are_merged(self, columns):
        batch = GraphBatch.from_edges([[(0, 1), (1, 0), (0, 1), (0, 1)]], directed=True, **columns)
        assert batch.indices.tolist() == [1, 0]
        assert columns == {} or list(batch.edge_labels) == ["a", "b"]

    @pytest.mark.parametrize(
        ("columns", "what"),
        [
            ({"edge_labels": [[], ["a", "a", "b"]]}, "labels"),
            ({"edge_weights": [[], [1.0, 1.0, 2.0]]}, "weights"),
            ({"edge_attributes": [None, [[1.0], [1.0], [2.0]]]}, "attributes"),
        ],
    )
    def test_repeated_arcs_that_disagree_are_refused(self, columns, what):
        arcs = [[], [(0, 1), (1, 0), (1, 0)]]
        with pytest.raises(
            ValueError, match=rf"Graph 1 lists the arc \(1, 0\) more than once, .*different {what}"
        ):
            GraphBatch.from_edges(arcs, directed=True, **columns)

    def test_self_loops_are_refused(self):
        with pytest.raises(ValueError, match="Graph 1 has a self-loop at node 2"):
            GraphBatch.from_edges([[], [(2, 2)]], directed=True)

    @given(graph_batches(edge_attributes=None, directed=None), st.randoms(use_true_random=False))
    def test_the_order_of_arcs_does_not_matter(self, batch, random):
        tails, heads = batch.arcs()
        order = np.arange(len(tails))
        random.shuffle(order)

        def moved(column):
            return None if column is None else column[order]

        again = GraphBatch.from_arcs(
            batch.node_offsets,
            tails[order],
            heads[order],
            node_labels=batch.node_labels,
            node_attributes=batch.node_attributes,
            edge_labels=moved(batch.edge_labels),
            edge_weights=moved(batch.edge_weights),
            edge_attributes=moved(batch.edge_attributes),
            directed=batch.directed,
        )
        assert again == batch

    @given(graph_batches(min_graphs=1, edge_labels=False, weights=False, directed=None))
    def test_graphs_without_edge_columns_take_the_same_shape_as_with(self, batch):
        tails, heads = batch.arcs()
        weighted = GraphBatch.from_arcs(
            batch.node_offsets,
            tails,
            heads,
            edge_weights=np.ones(len(tails)),
            directed=batch.directed,
        )
        assert np.array_equal(weighted.indptr, batch.indptr)
        assert np.array_equal(weighted.indices, batch.indices)


class TestReading:
    @given(graph_batches(min_graphs=1, edge_labels=True, weights=True, directed=None))
    def test_in_arcs_are_the_transpose_with_its_data(self, batch):
        tails, heads = batch.arcs()
        indptr, indices, arcs = batch.in_arcs
        assert sorted(arcs.tolist()) == list(range(len(heads)))
        ends = np.repeat(np.arange(batch.n_nodes_total), np.diff(indptr))
        data = {
            (int(t), int(h)): (label, weight)
            for t, h, label, weight in zip(
                tails, heads, batch.edge_labels, batch.edge_weights, strict=True
            )
        }
        found = [
            (int(t), int(h), batch.edge_labels[int(arc)], batch.edge_weights[arc])
            for t, h, arc in zip(indices, ends, arcs, strict=True)
        ]
        assert found == sorted(found, key=lambda row: (row[1], row[0]))
        assert {(t, h): (label, weight) for t, h, label, weight in found} == data
        assert batch.in_degrees.tolist() == np.diff(indptr).tolist()

    def test_in_arcs_are_kept_and_cannot_be_written(self, batch):
        assert batch.in_arcs is batch.in_arcs
        for array in (*batch.in_arcs, batch.in_degrees, batch.edge_attributes):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 7

    def test_repr_says_directed_and_counts_arcs(self, batch):
        assert repr(batch) == (
            "GraphBatch(3 graphs, 6 nodes, 4 arcs, directed, 4 edge labels, edge weights, "
            "2 edge attributes)"
        )

    def test_slices_stay_directed(self, batch):
        assert batch[1].directed
        assert batch[2].directed
        assert batch[[1, 0]].edge_weights.tolist() == [4, 1, 2, 3]

    @given(graph_batches(directed=True, edge_attributes=None), st.integers(0, 9))
    def test_renaming_nodes_keeps_the_arcs(self, batch, seed):
        """The two functions for renaming nodes that kernel tests use agree."""
        one = relabelled(batch, np.random.default_rng(seed))
        other = permuted(batch, np.random.default_rng(seed))
        for new in (one, other):
            assert new.directed
            assert new.n_edges.tolist() == batch.n_edges.tolist()
            for before, after in zip(plain_graphs(batch), plain_graphs(new), strict=True):
                degrees = [
                    sorted(zip(map(len, g.neighbours), map(len, g.predecessors), strict=True))
                    for g in (before, after)
                ]
                assert degrees[0] == degrees[1]


class TestToUndirected:
    def test_an_undirected_batch_is_returned_as_it_is(self):
        batch = GraphBatch.from_edges(ARCS)
        assert batch.to_undirected() is batch

    @given(graph_batches(directed=True, edge_labels=False, weights=False))
    def test_directions_are_forgotten(self, batch):
        undirected = batch.to_undirected()
        assert undirected.directed is False
        for i in range(len(batch)):
            both = batch.adjacency(i) + batch.adjacency(i).T
            assert np.array_equal(undirected.adjacency(i), (both > 0).astype(float))
        assert undirected.node_labels == batch.node_labels

    @given(graph_batches(edge_attributes=None))
    def test_two_arcs_per_edge_go_back_to_the_edges(self, batch):
        tails, heads = batch.arcs()
        columns = {
            name: getattr(batch, name)
            for name in (
                "node_labels",
                "node_attributes",
                "edge_labels",
                "edge_weights",
                "edge_attributes",
            )
        }
        twice = GraphBatch.from_arcs(batch.node_offsets, tails, heads, directed=True, **columns)
        assert twice.n_edges.tolist() == [2 * n for n in batch.n_edges]
        assert twice.to_undirected() == batch

    @pytest.mark.parametrize("name", ["edge_labels", "edge_weights", "edge_attributes"])
    def test_opposite_arcs_that_differ_are_refused_by_graph(self, batch, name):
        columns = dict.fromkeys(("edge_labels", "edge_weights", "edge_attributes"))
        other = batch.with_columns(**{**columns, name: getattr(batch, name)})
        what = name.removeprefix("edge_")
        with pytest.raises(ValueError, match=rf"Graph 1 lists the edge \(0, 1\).*different {what}"):
            other[[1, 0]].to_undirected()
        assert other[1:].to_undirected().n_edges.tolist() == [1, 0]


class TestComparing:
    def test_a_batch_without_edges_is_of_either_kind(self):
        one, other = (
            GraphBatch.from_edges([[], []], n_nodes=[2, 0], directed=d) for d in (False, True)
        )
        assert one == other
        assert hash(one) == hash(other)
        assert (one.directed, other.directed) == (False, True)
        assert direction_of(one) is direction_of(other) is None

    def test_joining_keeps_the_direction(self, batch):
        assert GraphBatch.concatenate([batch, batch[:1]])[3:] == batch[:1]
        assert GraphBatch.concatenate([batch, batch]).directed

    def test_directed_and_undirected_do_not_join(self):
        empty = GraphBatch.from_edges([[]], n_nodes=[2])
        directed = GraphBatch.from_edges([[], [(0, 1)]], n_nodes=[1, 2], directed=True)
        undirected = GraphBatch.from_edges([[(0, 1)]])
        for order, message in (
            ([empty, directed, undirected], "Graph 2 is directed and graph 3 is undirected"),
            ([undirected, empty, directed], "Graph 3 is directed and graph 0 is undirected"),
        ):
            with pytest.raises(ValueError, match=rf"{message}.*directed=True.*to_undirected\(\)"):
                GraphBatch.concatenate(order)
        assert GraphBatch.concatenate([empty, directed]).directed
        assert GraphBatch.concatenate([directed[:1], undirected]).directed is False

    def test_refusing_directed_graphs(self, batch):
        with pytest.raises(
            ValueError, match=r"PyramidMatch compares undirected.*graph 1 has.*to_undirected\(\)"
        ):
            require_undirected(batch[[2, 0]], "PyramidMatch")
        require_undirected(batch[2], "PyramidMatch")
        require_undirected(GraphBatch.from_edges(ARCS), "PyramidMatch")

    @pytest.mark.parametrize("fitted", [True, False, None])
    @pytest.mark.parametrize("new", [True, False, None])
    def test_fitted_and_new_graphs_are_of_one_kind(self, fitted, new):
        graphs = GraphBatch.from_edges([[]] if new is None else [[(0, 1)]], directed=bool(new))
        if None in (fitted, new) or fitted == new:
            require_same_direction(fitted, graphs, "RandomWalk")
            return
        found = "directed" if new else "undirected"
        with pytest.raises(
            ValueError,
            match=rf"RandomWalk was fitted on \w+ graphs; these are {found}.*"
            r"as_batch\(x, directed=True\).*to_undirected\(\)",
        ):
            require_same_direction(fitted, graphs, "RandomWalk")


class TestWithColumns:
    def test_columns_are_exchanged_and_the_rest_stays(self, batch):
        labels = Categorical.from_values("uvwxyz")
        named = batch.with_columns(node_labels=labels, edge_weights=None)
        assert list(named.node_labels) == list("uvwxyz")
        assert named.edge_weights is None
        assert named.directed
        assert named.with_columns(node_labels=None, edge_weights=batch.edge_weights) == batch

    def test_unknown_and_short_columns_are_refused(self, batch):
        with pytest.raises(TypeError, match="no column 'colour'; there are node_labels"):
            batch.with_columns(colour=None)
        with pytest.raises(ValueError, match="There are 6 nodes, but 1 node_labels"):
            batch.with_columns(node_labels=Categorical.from_values("a"))
