"""Predictions of files block by block: the same as for the whole file, and rows never shift."""

from __future__ import annotations

import csv
import gc
import resource
import weakref

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import gramlet
from gramlet import FeatureStore, HashedFeatures, HashedLinearModel, predict_stream
from gramlet.files import stream as streams
from gramlet.scale.stream_prediction import PredictionWriter, answers_of

pytest.importorskip("rdkit")


def smiles(i: int) -> str:
    return "C" * (1 + i % 9) + ("N" if i % 3 else "O")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    file = tmp_path_factory.mktemp("table") / "a.csv"
    rows = [f"m{i},{smiles(i)},{'yes' if i % 3 else 'no'}\n" for i in range(90)]
    file.write_text("id,smiles,y\n" + "".join(rows))
    return file


@pytest.fixture(scope="module")
def model(table, tmp_path_factory):
    place = tmp_path_factory.mktemp("store") / "store"
    store = FeatureStore.write(place, table, HashedFeatures(n_iter=1, n_bits=8), 20)
    return HashedLinearModel(n_epochs=3).fit(store)


@pytest.mark.parametrize("batch_size", [1, 7, 90, 1000])
def test_blocks_give_what_the_whole_gives(batch_size, model, table):
    whole = gramlet.read(table)
    blocks = list(predict_stream(model, table, batch_size))
    ids = [id for block, _ in blocks for id in block.ids]
    assert ids == whole.ids
    predicted = np.concatenate([values for _, values in blocks])
    assert (predicted == model.predict(whole.graphs)).all()
    values = [model.decision_function(block.graphs) for block, _ in blocks]
    assert np.array_equal(np.concatenate(values), model.decision_function(whole.graphs))


def test_any_model(table):
    whole = gramlet.read(table)
    machine = make_pipeline(gramlet.WeisfeilerLehman(1), SVC(kernel="precomputed"))
    machine.fit(whole.graphs, whole.target)
    predicted = np.concatenate([values for _, values in predict_stream(machine, table, 16)])
    assert (predicted == machine.predict(whole.graphs)).all()


BAD = {
    3: "m3,C\xc4,yes",  # not UTF-8, see `damaged`
    8: "m8,C,yes,4,5",  # too many cells
    9: 'm9,"C"C,yes',  # broken quotes
    **{row: f"m{row},not-smiles,yes" for row in range(20, 30)},  # a separate block
    41: "m41,,yes",
}


@pytest.fixture
def damaged(table, tmp_path):
    lines = table.read_text().splitlines()
    for row, text in BAD.items():
        lines[row + 1] = text
    file = tmp_path / "damaged.csv"
    file.write_bytes("\n".join(lines).encode("latin-1") + b"\n")
    return file


@pytest.mark.parametrize("batch_size", [1, 10, 1000])
def test_unreadable_rows_shift_nothing(batch_size, model, table, damaged):
    whole = gramlet.read(table)
    expected = dict(zip(whole.ids, model.predict(whole.graphs), strict=True))
    found, lines, skipped = {}, [], []
    with pytest.warns(UserWarning, match=r"14 of 90 rows were left out, the first at .*line 5:"):
        blocks = list(predict_stream(model, damaged, batch_size, on_error="skip"))
    for block, predicted in blocks:
        found |= dict(zip(block.ids, predicted, strict=True))
        lines += block.lines
        skipped += block.skipped
    assert found == {id: value for id, value in expected.items() if int(id[1:]) not in BAD}
    assert lines == [row + 2 for row in range(90) if row not in BAD]
    # Blocks without readable rows have no predictions; their skipped rows are counted.
    if batch_size > 1:
        assert len(skipped) == (14 if batch_size == 1000 else 4)


def test_a_store_lists_what_was_left_out(damaged, tmp_path):
    features = HashedFeatures(n_iter=1, n_bits=8)
    given = {"batch_size": 10, "on_error": "skip"}
    with pytest.warns(UserWarning, match="14 of 90 rows were left out"):
        store = FeatureStore.write(tmp_path / "store", damaged, features, **given)
    assert store.shape == (76, 256)
    assert [int(each.place.rpartition(" ")[2]) - 2 for each in store.skipped] == sorted(BAD)
    kept = [row for row in range(90) if row not in BAD]
    assert store.ids.tolist() == [f"m{row}" for row in kept]
    assert store.lines.tolist() == [row + 2 for row in kept]
    assert store.target.tolist() == ["yes" if row % 3 else "no" for row in kept]
    rows = features.transform(gramlet.molecules([smiles(row) for row in kept]))
    assert (store.to_csr() != rows).nnz == 0
    assert "cells where the first has 3" in store.skipped[1].reason
    with pytest.raises(ValueError, match=r"line 5: this is not text in UTF-8.*on_error"):
        FeatureStore.write(tmp_path / "strict", damaged, features, 10)


def test_nothing_can_be_read(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("id,smiles\n" + "a,?\n" * 5)
    with pytest.raises(ValueError, match="none of 5 rows can be read"):
        list(gramlet.stream(file, 2, molecules="smiles", on_error="skip"))
    with pytest.raises(ValueError, match="none of 5 rows can be read"):
        FeatureStore.write(
            tmp_path / "s", file, HashedFeatures(n_bits=8), 2, molecules="smiles", on_error="skip"
        )
    with pytest.raises(ValueError, match="not finished"):
        FeatureStore(tmp_path / "s")


def test_blocks_without_ids_keep_the_column(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("id,smiles\n" + "a,C\n" * 2 + ",CC\n" * 2)
    assert [block.ids for block in gramlet.stream(file, 2)] == [["a", "a"], ["", ""]]


def test_one_block_is_in_memory(model, table, monkeypatch):
    alive = most = 0
    original = streams.dataset_of_table

    def ended():
        nonlocal alive
        alive -= 1

    def counted(*args):
        nonlocal alive, most
        found = original(*args)
        alive += 1
        weakref.finalize(found.graphs, ended)
        most = max(most, alive)
        return found

    gc.collect()
    monkeypatch.setattr(streams, "dataset_of_table", counted)
    with PredictionWriter(table.parent / "p.csv") as writer:
        for block, predicted in predict_stream(model, table, 3):
            writer.add(block, {"prediction": predicted})
    assert writer.n_written == 90
    assert most <= 3


def test_a_file_of_predictions(model, damaged, tmp_path):
    place = tmp_path / "p.csv"
    with pytest.warns(UserWarning, match="left out"):
        blocks = list(gramlet.stream(damaged, 10, on_error="skip"))
    with PredictionWriter(place, with_lines=True) as writer:
        for block in blocks:
            writer.add(block, answers_of(model, block.graphs) if len(block.graphs) else {})
            assert not place.exists()
    rows = list(csv.DictReader(place.open()))
    assert list(rows[0]) == [
        "graph",
        "line",
        "id",
        "prediction",
        "decision for yes",
        "probability of no",
        "probability of yes",
    ]
    assert [int(row["graph"]) for row in rows] == list(range(76))
    assert all(int(row["line"]) == int(row["id"][1:]) + 2 for row in rows)
    skipped = list(csv.DictReader((tmp_path / "p.skipped.csv").open()))
    assert len(skipped) == writer.n_skipped == 14
    assert skipped[0]["place"] == f"{damaged}, line 5"


def test_an_error_in_the_middle_leaves_the_old_file(model, table, tmp_path):
    place = tmp_path / "p.csv"
    place.write_text("mine")

    def write():
        with PredictionWriter(place) as writer:
            for block, predicted in predict_stream(model, table, 10):
                writer.add(block, {"prediction": predicted})
                if writer.n_written == 30:
                    raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert place.read_text() == "mine"
    assert [file.name for file in tmp_path.iterdir()] == ["p.csv"]


def write_all(model, table, place):
    with PredictionWriter(place) as writer:
        for block, predicted in predict_stream(model, table, 10):
            writer.add(block, {"prediction": predicted})


def test_a_full_disk(model, table, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, hard))
    try:
        with pytest.raises(OSError, match=r"part-000000\.npz' cannot be written: File too large"):
            FeatureStore.write(tmp_path / "store", table, HashedFeatures(n_bits=8), 30)
        with pytest.raises(OSError, match="File too large"):
            write_all(model, table, tmp_path / "p.csv")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not (tmp_path / "p.csv").exists()
    store = FeatureStore.write(tmp_path / "store", table, HashedFeatures(n_bits=8), 30)
    assert store.shape == (90, 256)
