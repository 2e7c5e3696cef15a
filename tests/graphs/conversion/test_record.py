"""Names of networkx and igraph columns: typos and unused data are reported."""

from __future__ import annotations

import warnings

import pytest

from gramlet import GraphBatch, as_batch

nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")


def molecule(**edge):
    graph = nx.Graph()
    graph.add_node(0, symbol="C", charge=0)
    graph.add_node(1, symbol="O", charge=-1)
    graph.add_edge(0, 1, **edge)
    return graph


@pytest.fixture(autouse=True)
def unexpected_warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


class TestGivenNames:
    @pytest.mark.parametrize("parameter", ["label", "attr"])
    def test_a_name_that_no_node_has_is_refused(self, parameter):
        with pytest.raises(
            ValueError,
            match=rf"{parameter}='symbl': no node of graphs 1 to 2 has an attribute 'symbl'; "
            "the nodes of graph 1 have 'charge', 'symbol'",
        ):
            as_batch([nx.Graph(), molecule(), molecule()], **{parameter: "symbl"})

    @pytest.mark.parametrize("parameter", ["edge_label", "weight", "edge_attr"])
    def test_a_name_that_no_edge_has_is_refused(self, parameter):
        with pytest.raises(
            ValueError, match=rf"{parameter}='bnd': no edge of graph 0 has .* graph 0 have 'bond'"
        ):
            as_batch([molecule(bond=2)], label="symbol", **{parameter: "bnd"})

    def test_the_usual_name_counts_as_given_when_it_is_given(self):
        with pytest.raises(ValueError, match="label='label': no node of graph 0 has"):
            as_batch([molecule()], label="label")
        with pytest.raises(ValueError, match="the nodes have no data"):
            as_batch([nx.path_graph(2)], label="label")

    def test_a_name_that_some_graphs_have_names_both(self):
        with pytest.raises(ValueError, match="Graph 1 has node_labels and graph 0 has none"):
            as_batch([nx.path_graph(2), molecule()], label="symbol")

    def test_graphs_with_nothing_to_describe_need_no_name(self):
        assert len(as_batch([nx.Graph()], label="symbol", edge_label="bond")) == 1
        assert as_batch([nx.empty_graph(2)], weight="bond").sizes.tolist() == [2]

    def test_names_are_for_graphs_that_have_names(self):
        plain = GraphBatch.from_edges([[(0, 1)]])
        assert as_batch([([(0, 1)], None), plain], label="symbol") == GraphBatch.concatenate(
            [plain, plain]
        )

    @pytest.mark.parametrize("parameter", ["label", "edge_label"])
    def test_a_name_is_hashable(self, parameter):
        with pytest.raises(TypeError, match=rf"{parameter} must be the name of an attribute"):
            as_batch([nx.path_graph(2)], **{parameter: ["symbol"]})


class TestOtherNames:
    def test_one_warning_lists_the_names(self):
        with pytest.warns(UserWarning, match="nodes have 'charge', 'symbol'") as caught:
            batch = as_batch([molecule(), molecule()])
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert batch.node_labels is None

    def test_names_of_edges_are_in_the_same_warning(self):
        with pytest.warns(UserWarning, match="nodes have .*; edges have 'bond'") as caught:
            as_batch([molecule(bond=2)])
        assert len(caught) == 1

    def test_many_names_are_cut_short(self):
        graph = nx.Graph()
        graph.add_node(0, **{f"column_{i:02}": i for i in range(30)})
        with pytest.warns(UserWarning, match="'column_09' and 20 more"):
            as_batch([graph])

    @pytest.mark.parametrize(
        "chosen",
        [{"label": "symbol"}, {"attr": "charge"}, {"label": None}, {"attr": None}],
    )
    def test_whoever_chose_is_not_warned(self, chosen):
        as_batch([molecule()], **chosen)

    def test_known_names_beside_others_do_not_warn(self):
        graph = molecule(weight=1.0, bond=2)
        nx.set_node_attributes(graph, "C", "label")
        batch = as_batch([graph])
        assert list(batch.node_labels) == ["C", "C"]

    def test_bare_graphs_do_not_warn(self):
        as_batch([nx.path_graph(3), nx.Graph()])


class TestIgraph:
    @pytest.fixture(autouse=True)
    def library(self):
        reason = "needs igraph: pip install gramlet[graphs]"
        self.igraph = pytest.importorskip("igraph", reason=reason)

    def test_names_are_checked_as_for_networkx(self):
        graph = self.igraph.Graph(n=2, edges=[(0, 1)])
        graph.vs["symbol"] = ["C", "O"]
        with pytest.raises(ValueError, match=r"label='symbl': no node .* have 'symbol'"):
            as_batch([graph], label="symbl")
        with pytest.warns(UserWarning, match="nodes have 'symbol'"):
            as_batch([graph])
        assert list(as_batch([graph], label="symbol").node_labels) == ["C", "O"]

    def test_what_igraph_keeps_of_networkx_is_no_data(self):
        as_batch([self.igraph.Graph.from_networkx(nx.path_graph(3))])
