"""stream: the same rows as read, in blocks, without loading the whole file."""

from __future__ import annotations

import gzip
import pickle
import tracemalloc
import warnings

import numpy as np
import pytest

import gramlet
from gramlet import GraphBatch
from gramlet.files.stream import slices_of

pytest.importorskip("rdkit")


def table(path, n_rows, bad=()):
    rows = [
        f"m{i};{'C' * (1 + i % 9)}{'NO'[i % 2]}{'(' if i in bad else ''};{i % 3}"
        for i in range(n_rows)
    ]
    path.write_text("\n".join(["name;smiles;y", *rows]) + "\n")
    return path


@pytest.mark.parametrize("batch_size", [1, 7, 25, 1000])
def test_blocks_are_the_rows_of_the_table(batch_size, tmp_path):
    path = table(tmp_path / "a.csv", 25)
    whole = gramlet.read(path)
    blocks = list(gramlet.stream(path, batch_size))
    assert [len(block.graphs) for block in blocks[:-1]] == [batch_size] * (len(blocks) - 1)
    assert GraphBatch.concatenate([block.graphs for block in blocks]) == whole.graphs
    assert [name for block in blocks for name in block.ids] == list(whole.ids)
    assert np.array_equal(np.concatenate([block.target for block in blocks]), whole.target)
    assert {block.target_name for block in blocks} == {"y"}


@pytest.mark.parametrize("text", ["C one\nCC two words\nCCC\nCCO four\n", "C\nCC\n# no\n\nCCO\n"])
def test_lines_of_smiles(text, tmp_path):
    path = tmp_path / "a.smi"
    path.write_text(text)
    whole, blocks = gramlet.read(path), list(gramlet.stream(path, 4))
    assert GraphBatch.concatenate([block.graphs for block in blocks]) == whole.graphs
    assert blocks[0].ids == whole.ids


def test_packed_and_other_kinds(tmp_path):
    path = table(tmp_path / "a.csv", 10)
    packed = tmp_path / "b.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert [len(block.graphs) for block in gramlet.stream(packed, 4)] == [4, 4, 2]
    graphs = tmp_path / "g.g6"
    graphs.write_text("A_\nBw\nCF\n")
    assert [len(block.graphs) for block in gramlet.stream(graphs, 2)] == [2, 1]


def test_bad_rows_are_listed_by_line_and_shift_nothing(tmp_path):
    path = table(tmp_path / "a.csv", 20, bad={3, 11})
    with pytest.raises(ValueError, match="line 5"):
        list(gramlet.stream(path, 5))
    with pytest.warns(UserWarning, match="2 of 20 rows were left out") as caught:
        blocks = list(gramlet.stream(path, 5, on_error="skip"))
    assert len(caught) == 1
    assert [len(block.graphs) for block in blocks] == [4, 5, 4, 5]
    names = [name for block in blocks for name in block.ids]
    assert names == [f"m{i}" for i in range(20) if i not in (3, 11)]
    assert [int(name[1:]) % 3 for name in names] == [v for b in blocks for v in b.target.tolist()]
    skipped = [each.place for block in blocks for each in block.skipped or ()]
    assert [place.rsplit(" ", 1)[1] for place in skipped] == ["5", "13"]


def test_a_target_that_begins_after_the_first_block_is_no_less_a_target(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("smiles,note\nC,\nCC,\nCCC,7\n")
    with pytest.raises(ValueError, match="line 2: the target 'note' is missing"):
        list(gramlet.stream(path, 2))
    with pytest.warns(UserWarning, match="2 of 3 rows were left out"):
        blocks = list(gramlet.stream(path, 2, on_error="skip"))
    assert [block.target.tolist() for block in blocks] == [[], [7]]
    path.write_text("smiles,note\nC,\nCC,NA\nCCC,\n")
    assert all(block.target is None for block in gramlet.stream(path, 2))


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1,5", "2,5", "1,234", "5,678"], "f"),
        (["0", "1", "a", "b"], "U"),
        (["1", "2", "3", "0.5"], "f"),
        (["1", "2", "3", "4"], "i"),
    ],
)
def test_all_blocks_have_targets_of_one_type_as_when_read_at_once(tmp_path, cells, kind):
    path = tmp_path / "a.csv"
    path.write_text("smiles;y\n" + "".join(f"CC;{cell}\n" for cell in cells))
    whole = gramlet.read(path).target
    blocks = [block.target for block in gramlet.stream(path, 2)]
    assert {block.dtype.kind for block in blocks} == {kind} == {whole.dtype.kind}
    assert np.concatenate(blocks).tolist() == whole.tolist()


def test_memory_does_not_grow_with_the_file(tmp_path):
    def peak(n_rows):
        path = table(tmp_path / f"{n_rows}.csv", n_rows)
        tracemalloc.start()
        for _ in gramlet.stream(path, 100):
            pass
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    list(gramlet.stream(table(tmp_path / "a.csv", 5)))
    assert peak(3000) < 1.5 * peak(300)


def test_labels_and_directions_as_asked_for(tmp_path):
    path = table(tmp_path / "a.csv", 6)
    whole = gramlet.read(path, node_labels="degree")
    blocks = list(gramlet.stream(path, 4, node_labels="degree"))
    assert GraphBatch.concatenate([block.graphs for block in blocks]) == whole.graphs
    assert next(gramlet.stream(path, directed=True)).graphs.directed


def test_wrong_use(tmp_path):
    path = table(tmp_path / "a.csv", 3)
    with pytest.raises(ValueError, match="edge_label= does not apply"):
        gramlet.stream(path, edge_label="x")
    with pytest.raises(ValueError, match="batch_size must be at least 1"):
        gramlet.stream(path, 0)
    with pytest.raises(TypeError, match="no option 'column'"):
        gramlet.stream(path, column=3)
    with pytest.raises(ValueError, match="There is no file"):
        list(gramlet.stream(tmp_path / "none.csv"))
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(ValueError, match="has no rows"):
        list(gramlet.stream(tmp_path / "empty.csv"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(gramlet.stream(path))) == 1


@pytest.mark.parametrize(
    ("cells", "task"),
    [
        (["0", "1"] * 200 + ["0.5", "1.5"] * 50, "regression"),
        ([str(i) for i in range(60)] * 5, "classification"),
        ([str(i) for i in range(100)] + ["1"] * 300, "regression"),
        (["1"] * 40, "classification"),
        (["1", "2"] * 60 + ["active"] * 60, "classification"),
        (["0"] * 100 + ["0,5", "1,25"] * 60, "regression"),
    ],
)
@pytest.mark.parametrize("read_first", [False, True])
def test_blocks_have_the_task_of_the_whole_file(cells, task, read_first, tmp_path):
    path = tmp_path / "sorted.csv"
    path.write_text("\n".join(["smiles;y", *(f"CC;{cell}" for cell in cells)]) + "\n")
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*while most others are whole numbers")
        whole = gramlet.read(path)
        if read_first:
            blocks = [block() for block in slices_of(whole, 100)]
        else:
            blocks = list(gramlet.stream(path, 100))
    assert whole.task == task
    assert {block.task for block in blocks} == {task}
    assert {pickle.loads(pickle.dumps(block)).task for block in blocks} == {task}
