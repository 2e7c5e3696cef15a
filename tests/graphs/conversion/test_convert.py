"""as_batch and as_single: collections of graphs, mixed types, and errors that give the position."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from gramlet import GraphBatch, as_batch
from gramlet.graphs.conversion.convert import as_single
from gramlet.graphs.conversion.libraries import to_networkx
from reference.strategies import graph_batches

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")

PATH = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["C", "N", "O"]])


class TestCollections:
    def test_a_batch_is_returned_unchanged(self):
        assert as_batch(PATH) is PATH

    def test_a_list_of_batches_is_joined(self):
        both = GraphBatch.concatenate([PATH, PATH])
        assert as_batch([PATH, PATH]) == both
        assert as_batch((PATH, PATH)) == both
        assert as_batch(iter([PATH, PATH])) == both

    def test_an_empty_list_is_an_empty_batch(self):
        for nothing in ([], (), np.empty(0, dtype=object), iter(())):
            assert len(as_batch(nothing)) == 0

    def test_object_arrays_of_any_shape_are_ravelled(self):
        graphs = np.empty((2, 2), dtype=object)
        for i in range(4):
            graphs[np.unravel_index(i, (2, 2))] = nx.path_graph(i)
        assert as_batch(graphs).sizes.tolist() == [0, 1, 2, 3]
        batch = as_batch(graphs)
        assert as_batch(np.asarray(batch)) == batch
        assert as_batch(np.asarray(batch)[:, None]) == batch

    def test_a_stack_of_matrices_is_a_list_of_matrices(self):
        assert as_batch(np.stack([np.zeros((2, 2)), np.ones((2, 2)) - np.eye(2)])) == (
            GraphBatch.from_edges([[], [(0, 1)]], n_nodes=[2, 2])
        )

    def test_kinds_may_be_mixed(self):
        graph = nx.Graph([(0, 1)])
        mixed = [graph, GraphBatch.from_edges([[(0, 1)], [(0, 2)]]), ([(1, 0)], None), np.eye(0)]
        assert as_batch(mixed) == GraphBatch.from_edges(
            [[(0, 1)], [(0, 1)], [(0, 2)], [(0, 1)], []]
        )

    def test_mixed_kinds_must_agree_on_columns(self):
        with pytest.raises(ValueError, match="Graph 0 has node_labels and graph 1 has none"):
            as_batch([PATH, nx.path_graph(2)])
        assert len(as_batch([PATH, nx.empty_graph(0)])) == 2

    @pytest.mark.parametrize(
        ("single", "name"),
        [
            (nx.path_graph(3), "networkx Graph"),
            ("CCO", "the string 'CCO'"),
            (np.zeros((3, 3)), "numpy ndarray"),
            (sp.csr_matrix((3, 3)), "scipy csr_matrix"),
            (sp.coo_array((3, 3)), "scipy coo_array"),
        ],
    )
    def test_a_bare_graph_is_refused_with_the_way_out(self, single, name):
        with pytest.raises(TypeError, match=rf"{name}.*as_batch\(\[graph\]\)"):
            as_batch(single)

    @pytest.mark.parametrize(
        "pair",
        [
            ([(0, 1)], ["a", "b"]),
            ([(0, 1), (1, 2)], ["a", "b", "c"]),
            [(0, 1), (1, 2)],
        ],
    )
    def test_bare_edges_are_refused_with_the_way_out(self, pair):
        with pytest.raises(
            TypeError, match=r"Put a single graph into a list: as_batch\(\[graph\]\)"
        ):
            as_batch(pair)

    @pytest.mark.parametrize("thing", [5, None, {"a": 1}, {"CCO"}, b"CCO"])
    def test_what_is_no_list_is_refused(self, thing):
        with pytest.raises(TypeError, match=r"of type \w+. Accepted are lists of networkx graphs"):
            as_batch(thing)

    @pytest.mark.parametrize(
        ("thing", "name"), [(5, "int"), (None, "NoneType .RDKit gives None"), (b"C", "bytes")]
    )
    def test_unknown_items_are_refused_by_position(self, thing, name):
        with pytest.raises(TypeError, match=rf"Graph 2 is of type {name}.*Accepted are networkx"):
            as_batch([nx.path_graph(1), nx.path_graph(2), thing])

    def test_no_library_is_imported_for_plain_graphs(self):
        script = (
            "import sys, numpy as np; from gramlet import as_batch;"
            "as_batch([([(0, 1)], ['a', 'b'])]); as_batch([np.zeros((2, 2))]);"
            "foreign = {'networkx', 'igraph', 'torch', 'rdkit', 'grakel', 'scipy', 'sklearn'};"
            "assert not foreign & set(sys.modules), foreign & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", script], check=True)


class TestDirection:
    ARCS = GraphBatch.from_edges([[(0, 1), (1, 2)]], node_labels=[["C", "N", "O"]], directed=True)

    def test_batches_are_what_they_say(self):
        assert as_batch(self.ARCS) is self.ARCS
        assert as_batch([self.ARCS, self.ARCS]).directed
        with pytest.raises(ValueError, match=r"Graph 1 is directed and graph 0 is undirected"):
            as_batch([PATH, self.ARCS])

    def test_true_makes_two_arcs_of_every_edge(self):
        both = GraphBatch.from_edges(
            [[(0, 1), (1, 0), (1, 2), (2, 1)]], node_labels=["CNO"], directed=True
        )
        assert as_batch(PATH, directed=True) == both
        assert as_batch(self.ARCS, directed=True) is self.ARCS
        assert as_batch([PATH, self.ARCS], directed=True) == GraphBatch.concatenate(
            [both, self.ARCS]
        )
        assert as_batch(to_networkx(PATH), directed=True) == both
        assert as_batch([to_networkx(PATH)[0], self.ARCS], directed=True)[1] == self.ARCS

    def test_false_forgets_directions(self):
        assert as_batch(self.ARCS, directed=False) == PATH
        assert as_batch(PATH, directed=False) is PATH
        mixed = [self.ARCS, PATH, to_networkx(self.ARCS)[0], to_networkx(PATH)[0]]
        assert as_batch(mixed, directed=False) == GraphBatch.concatenate([PATH] * 4)
        assert as_batch(mixed[:2], directed=False) == GraphBatch.concatenate([PATH] * 2)

    def test_false_refuses_opposite_arcs_that_differ_by_position(self):
        weights = {"edge_weights": [[1, 2]]}
        twice = GraphBatch.from_edges([[(0, 1), (1, 0)]], directed=True, **weights)
        single = GraphBatch.from_edges([[(0, 1)]], edge_weights=[[1]])
        for graphs in ([single, twice], [single, *to_networkx(twice)]):
            with pytest.raises(ValueError, match=r"Graph 1 lists the edge .*different weights"):
                as_batch(graphs, directed=False)

    @pytest.mark.parametrize("names", [(1, 0), (0, 1)])
    def test_both_kinds_in_one_list_are_refused(self, names):
        kinds = [nx.Graph([(0, 1)]), nx.DiGraph([(0, 1)])]
        graphs = [nx.empty_graph(2, create_using=nx.DiGraph), *(kinds[i] for i in names)]
        directed, undirected = names.index(1) + 1, names.index(0) + 1
        with pytest.raises(
            ValueError,
            match=rf"Graph {directed} is directed and graph {undirected} is undirected.*"
            r"as_batch\(x, directed=True\).*to_undirected\(\)",
        ):
            as_batch(graphs)

    def test_graphs_without_edges_are_of_either_kind(self):
        empty = nx.empty_graph(2, create_using=nx.DiGraph)
        assert as_batch([empty]).directed
        assert not as_batch([empty, nx.path_graph(2)]).directed
        assert as_batch([nx.empty_graph(1), nx.DiGraph([(0, 1)])]).directed

    @pytest.mark.parametrize("odd", [1, "yes", 0])
    def test_directed_is_true_false_or_none(self, odd):
        for graphs in (PATH, [nx.path_graph(2)]):
            with pytest.raises(TypeError, match="directed must be True, False or None; got"):
                as_batch(graphs, directed=odd)


class TestAsSingle:
    @pytest.mark.parametrize(
        "one",
        [
            PATH,
            [PATH],
            ([(0, 1), (1, 2)], ["C", "N", "O"]),
            [{(0, 1), (1, 2)}, {0: "C", 1: "N", 2: "O"}],
            to_networkx(PATH)[0],
            to_networkx(PATH),
            np.asarray(PATH),
        ],
    )
    def test_one_graph_of_any_kind(self, one):
        assert as_single(one) == PATH

    def test_matrices_and_molecules(self):
        assert as_single(np.array([[0, 1], [1, 0]])) == GraphBatch.from_edges([[(0, 1)]])
        assert as_single(sp.csr_matrix((2, 2))) == GraphBatch.from_edges([[]], n_nodes=[2])
        pytest.importorskip("rdkit", reason="needs RDKit: pip install gramlet[chem]")
        assert as_single("CO").sizes.tolist() == as_single(["CO"]).sizes.tolist() == [2]

    def test_names_are_passed_on(self):
        graph = nx.Graph()
        graph.add_node(0, symbol="C")
        assert list(as_single(graph, label="symbol").node_labels) == ["C"]

    @pytest.mark.parametrize("several", [PATH[:0], PATH[[0, 0]], to_networkx(PATH[[0, 0]])])
    def test_none_or_several_are_refused(self, several):
        with pytest.raises(ValueError, match=r"Expected a single graph; got \d"):
            as_single(several)


@given(
    graph_batches(max_graphs=4, edge_attributes=None, directed=None),
    st.randoms(use_true_random=False),
)
def test_every_mixture_of_kinds_gives_the_same_batch(batch, random):
    """Each graph is converted from a random type; the result is the same batch."""

    def pair(i: int):
        graph = batch[i]
        tails, heads = graph.arcs()
        labels = None if graph.node_labels is None else list(graph.node_labels)
        edge_labels = None if graph.edge_labels is None else list(graph.edge_labels)
        return np.column_stack([tails, heads]), labels, edge_labels

    doors = [lambda i: batch[i], lambda i: batch[i].to_networkx()[0]]
    if all(
        column is None
        for column in (batch.node_attributes, batch.edge_weights, batch.edge_attributes)
    ) and not (batch.directed and len(batch.indices)):
        doors.append(lambda i: pair(i) if batch.node_labels is not None else batch[i])
    assert as_batch([random.choice(doors)(i) for i in range(len(batch))]) == batch
