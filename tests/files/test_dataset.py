"""The container of graphs, targets and further fields."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import gramlet
from gramlet import GraphBatch
from gramlet.files.dataset import Dataset


def test_a_dataset_unpacks_and_knows_its_task() -> None:
    graphs = GraphBatch.from_edges([[(0, 1)], []], n_nodes=[2, 1])
    X, y = Dataset(graphs, [0.5, 1])
    assert X is graphs
    assert y.tolist() == [0.5, 1]
    assert Dataset(graphs, [0.5, 1]).task == "regression"
    assert Dataset(graphs, ["a", "b"]).task == "classification"
    assert Dataset(graphs).task is None
    assert Dataset(graphs, [[1, 2], [3, 4]]).task is None
    with pytest.raises(AttributeError, match="derived from the target"):
        Dataset(graphs).task = "regression"
    with pytest.raises(ValueError, match="ids has 1 entries for 2 graphs"):
        Dataset(graphs, ids=["a"])


def test_dataset_fields_by_attribute_and_key() -> None:
    graphs = GraphBatch.from_edges([[(0, 1)]])
    data = Dataset(graphs, [1], name="X", group=np.array([4]))
    assert data.group is data["group"]
    assert data.target_names is None
    assert "group" in dir(data)
    data.note = "mine"
    assert data["note"] == "mine"
    with pytest.raises(AttributeError, match="no field 'colour'; it has graphs, target"):
        _ = data.colour
    with pytest.raises(ValueError, match=r"shape \(2,\) for 1 graphs"):
        Dataset(graphs, [1, 2])
    back = pickle.loads(pickle.dumps(data))
    assert isinstance(back, Dataset)
    assert back.graphs == graphs
    assert back.note == "mine"


def test_a_target_that_is_true_is_not_a_column(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("smiles,y\nCCO,1\n")
    with pytest.raises(TypeError, match="target must be the heading or the number of a column"):
        gramlet.read(path, target=True)
