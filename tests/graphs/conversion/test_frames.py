"""Series and one-column frames of graphs."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import GraphBatch, as_batch
from gramlet.graphs.conversion.convert import as_single

pd = pytest.importorskip("pandas", reason="needs pandas")
nx = pytest.importorskip("networkx", reason="needs networkx: pip install gramlet[graphs]")

INDEX = ["x", "y", "z"]


def graphs():
    return [nx.path_graph(1), nx.path_graph(2), nx.path_graph(3)]


@pytest.mark.parametrize("form", [pd.Series, lambda g, index: pd.DataFrame({"graph": g}, index)])
class TestGraphs:
    def test_graphs_are_read_in_order(self, form):
        assert as_batch(form(graphs(), index=[2, 0, 1])) == as_batch(graphs())
        batch = as_batch(form([as_batch([g]) for g in graphs()], index=INDEX))
        assert batch == as_batch(graphs())
        assert as_batch(form(graphs(), index=INDEX), directed=True).directed
        assert len(as_batch(form([], index=[]))) == 0

    def test_pairs_and_matrices(self, form):
        items = [([(0, 1)], ["a", "b"]), (np.array([[0.0, 1], [1, 0]]), ["a", "b"])]
        wanted = GraphBatch.from_edges([[(0, 1)]] * 2, node_labels=["ab", "ab"])
        assert as_batch(form(items, index=[0, 1])) == wanted

    def test_smiles(self, form):
        pytest.importorskip("rdkit", reason="needs RDKit: pip install gramlet[chem]")
        assert as_batch(form(["CCO", "C"], index=["a", "b"])) == as_batch(["CCO", "C"])

    @pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
    def test_a_missing_value_is_refused_by_its_index(self, form, missing):
        series = form([*graphs()[:2], missing], index=INDEX)
        with pytest.raises(ValueError, match=r"Graph 2 is missing: the value at index 'z' is"):
            as_batch(series)

    def test_a_missing_string_is_refused_by_its_index(self, form):
        with pytest.raises(ValueError, match=r"Graph 1 is missing: .* index 'y' .*1 missing in"):
            as_batch(form(["C", None, "CC"], index=INDEX))

    def test_a_single_graph(self, form):
        assert as_single(form(graphs()[2:], index=["z"])) == as_batch([nx.path_graph(3)])
        with pytest.raises(ValueError, match="Expected a single graph; got 3"):
            as_single(form(graphs(), index=INDEX))


def test_several_columns_are_refused_by_name():
    frame = pd.DataFrame({"graph": graphs(), "y": [0, 1, 0]})
    with pytest.raises(ValueError, match=r"this one has 2: 'graph', 'y'.*as_batch\(frame\[name\]"):
        as_batch(frame)
    with pytest.raises(ValueError, match="this one has 0: none"):
        as_batch(frame[[]])
