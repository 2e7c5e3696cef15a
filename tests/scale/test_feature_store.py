"""Feature stores: the same rows as in memory, continued, checked, and read part by part."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

import gramlet
from gramlet import Dataset, FeatureStore, HashedFeatures
from gramlet.scale import feature_store, store_folder
from reference.examples import labelled_graphs

HASHED = HashedFeatures(n_bits=10)


@pytest.fixture
def data():
    return Dataset(
        labelled_graphs(25), np.arange(25) % 2, ids=[f"g{i}" for i in range(25)], name="sample"
    )


@pytest.mark.parametrize("batch_size", [1, 7, 25, 100])
def test_the_same_rows_as_in_memory(batch_size, data, tmp_path):
    store = FeatureStore.write(tmp_path / "store", data, HASHED, batch_size)
    expected = HASHED.transform(data.graphs)
    assert store.shape == (25, 1024)
    assert (store.to_csr() != expected).nnz == 0
    assert store.ids.tolist() == data.ids
    assert np.array_equal(store.target, data.target)
    assert store.n_parts == -(-25 // batch_size)
    begin = 0
    for ids, X, y in store:
        assert (expected[begin : begin + X.shape[0]] != X).nnz == 0
        assert ids.tolist() == data.ids[begin : begin + X.shape[0]]
        assert np.array_equal(y, data.target[begin : begin + X.shape[0]])
        begin += X.shape[0]
    assert begin == len(store) == 25
    assert (store.features.transform(data.graphs) != expected).nnz == 0


def test_without_ids_and_targets(tmp_path):
    store = FeatureStore.write(tmp_path / "store", labelled_graphs(5), HASHED, 2)
    assert store.ids is None
    assert store.target is None
    assert all(ids is None and y is None for ids, _, y in store)


def test_learning_part_by_part(data, tmp_path):
    store = FeatureStore.write(tmp_path / "store", data, HASHED, 5)
    machine = SGDClassifier(random_state=0)
    for _, X, y in store:
        machine.partial_fit(X, y, classes=[0, 1])
    assert machine.predict(store.to_csr()).shape == (25,)


def test_finished_parts_are_not_computed_again(data, tmp_path, monkeypatch):
    place = tmp_path / "store"
    FeatureStore.write(place, data, HASHED, 5)
    manifest = place / "manifest.json"
    content = json.loads(manifest.read_text())
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    for number in (2, 4):
        (place / f"part-{number:06d}.npz").unlink()
    del content["parts"]  # as while it is written
    manifest.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="is not finished: it has 3 parts"):
        FeatureStore(place)
    described = []
    original = feature_store.write_part
    monkeypatch.setattr(
        feature_store, "write_part", lambda *a: described.append(a[1]) or original(*a)
    )
    FeatureStore.write(place, data, HASHED, 5)
    assert described == [2, 4]
    assert before == {path.name: path.read_bytes() for path in place.iterdir()}


def test_killed_in_the_middle(tmp_path):
    """A process is killed after its third part; then the store is completed."""
    pytest.importorskip("rdkit")
    table = tmp_path / "a.csv"
    rows = [f"{'C' * (1 + i % 9)}{'NO'[i % 2]},{i % 2}\n" for i in range(60)]
    table.write_text("smiles,y\n" + "".join(rows))
    script = (
        "import os, sys\n"
        "from gramlet import FeatureStore, HashedFeatures\n"
        "from gramlet.scale import feature_store\n"
        "original = feature_store.write_part\n"
        "def write(folder, number, *rest):\n"
        "    if number == 3: os.kill(os.getpid(), 9)\n"
        "    return original(folder, number, *rest)\n"
        "feature_store.write_part = write\n"
        "FeatureStore.write(sys.argv[2], sys.argv[1], HashedFeatures(n_bits=10), 10)\n"
    )
    place = tmp_path / "store"
    ended = subprocess.run([sys.executable, "-c", script, str(table), str(place)])
    assert ended.returncode == -9
    assert len(list(place.glob("part-*"))) == 3
    store = FeatureStore.write(place, table, HASHED, 10)
    data = gramlet.read(table)
    assert (store.to_csr() != HASHED.transform(data.graphs)).nnz == 0
    assert np.array_equal(store.target, data.target)
    assert sorted(os.listdir(place)) == [
        "manifest.json",
        *(f"part-{i:06d}.npz" for i in range(6)),
    ]


def test_other_features_in_the_same_place(data, tmp_path):
    place = tmp_path / "store"
    FeatureStore.write(place, data, HASHED, 5)
    with pytest.raises(ValueError, match=r"features\.params\.n_iter is 3 in the store and 2 now"):
        FeatureStore.write(place, data, HashedFeatures(n_iter=2, n_bits=10), 5)
    with pytest.raises(ValueError, match=r"source\.graphs is"):
        FeatureStore.write(place, Dataset(labelled_graphs(25, seed=3), data.target), HASHED, 5)
    with pytest.raises(ValueError, match="batch_size is 5 in the store and 6 now"):
        FeatureStore.write(place, data, HASHED, 6)
    store = FeatureStore.write(place, data, HASHED, 20, resume=False)
    assert len(list(place.glob("part-*"))) == store.n_parts == 2


def test_ids_tell_data_sets_apart(data, tmp_path):
    named = Dataset(data.graphs, data.target, ids=[f"a{i}" for i in range(25)])
    FeatureStore.write(tmp_path / "store", named, HASHED, 5)
    named.ids = [f"b{i}" for i in range(25)]
    with pytest.raises(ValueError, match=r"source\.ids is"):
        FeatureStore.write(tmp_path / "store", named, HASHED, 5)


def test_another_file_of_the_same_size(tmp_path):
    """A file that differs in one letter in the middle is another file."""
    pytest.importorskip("rdkit")
    table, place = tmp_path / "a.csv", tmp_path / "store"
    rows = "smiles,y\n" + "".join(f"{'C' * (1 + i % 9)}N,{i % 2}\n" for i in range(60))
    table.write_text(rows)
    FeatureStore.write(place, table, HASHED, 10)
    table.write_text(rows.replace("CCCCCN", "CCCCCO", 1))
    with pytest.raises(ValueError, match=r"source\.digest is"):
        FeatureStore.write(place, table, HASHED, 10)


def test_another_folder_of_the_same_name(tmp_path):
    place = tmp_path / "store"
    for parent, word in (("one", "a"), ("other", "b")):
        folder = tmp_path / parent / "data"
        folder.mkdir(parents=True)
        (folder / "table.csv").write_text(f"file,y\nfirst,{word}\nsecond,c\n")
        for name in ("first", "second"):
            (folder / f"{name}.g6").write_text("Bw\n")
    FeatureStore.write(place, tmp_path / "one" / "data", HASHED, 10)
    with pytest.raises(ValueError, match=r"source\.digest is"):
        FeatureStore.write(place, tmp_path / "other" / "data", HASHED, 10)


def test_stopped_by_a_row_and_continued_without_it(tmp_path):
    pytest.importorskip("rdkit")
    table, place = tmp_path / "a.csv", tmp_path / "store"
    rows = ["CC,0", "CO,1", "CN,0", "C(C,1", "CS,0"]
    table.write_text("smiles,y\n" + "\n".join(rows) + "\n")
    with pytest.raises(ValueError, match="line 5"):
        FeatureStore.write(place, table, HASHED, 2, n_jobs=1)
    kept = (place / "part-000000.npz").stat().st_mtime_ns
    with pytest.warns(UserWarning, match="1 of 5 rows were left out"):
        store = FeatureStore.write(place, table, HASHED, 2, n_jobs=2, on_error="skip")
    assert store.lines.tolist() == [2, 3, 4, 6]
    assert (place / "part-000000.npz").stat().st_mtime_ns == kept
    with pytest.raises(ValueError, match=r'options\.on_error is "skip" in the store'):
        FeatureStore.write(place, table, HASHED, 2)


def test_stopped_by_the_first_part_and_begun_anew_with_another_file(tmp_path):
    pytest.importorskip("rdkit")
    table, place = tmp_path / "a.csv", tmp_path / "store"
    table.write_text("smiles,y\nCC,0\nC(C,1\n")
    with pytest.raises(ValueError, match="line 3"):
        FeatureStore.write(place, table, HASHED, 2)
    table.write_text("smiles,y\nCC,0\nCCO,1\n")
    assert len(FeatureStore.write(place, table, HASHED, 2)) == 2
    table.write_text("smiles,y\nCC,0\nCCS,1\n")
    with pytest.raises(ValueError, match="contains other features"):
        FeatureStore.write(place, table, HASHED, 2)


def test_damage_is_named_and_mended(data, tmp_path):
    place = tmp_path / "store"
    store = FeatureStore.write(place, data, HASHED, 5)
    before = store.to_csr()
    part = place / "part-000002.npz"
    content = bytearray(part.read_bytes())
    content[content.index(b"indices.npy") + 200] ^= 255
    part.write_bytes(content)
    with pytest.raises(ValueError, match=r"part-000002\.npz' is missing or damaged"):
        store.to_csr()
    with pytest.warns(UserWarning, match=r"1 part is missing or damaged .* part-000002\.npz\."):
        mended = FeatureStore.write(place, data, HASHED, 5, verify=True)
    assert (mended.to_csr() != before).nnz == 0


@pytest.mark.parametrize("change", ["missing", "cut"])
def test_a_part_that_is_lost_is_written_again_without_verify(data, tmp_path, change):
    store = FeatureStore.write(tmp_path / "store", data, HASHED, 5)
    before, part = store.to_csr(), tmp_path / "store" / "part-000002.npz"
    if change == "missing":
        part.unlink()
    else:
        part.write_bytes(part.read_bytes()[:100])
    with pytest.warns(UserWarning, match=r"1 part is missing or damaged.*part-000002"):
        mended = FeatureStore.write(tmp_path / "store", data, HASHED, 5)
    assert (mended.to_csr() != before).nnz == 0


@pytest.mark.parametrize(
    "text", ["garbage", "[]", '{"format": 3}', "[" * 100_000], ids=["text", "list", "3", "deep"]
)
def test_a_damaged_manifest_is_named(text, data, tmp_path):
    place = tmp_path / "store"
    FeatureStore.write(place, data, HASHED, 5)
    (place / "manifest.json").write_text(text)
    for call in (FeatureStore, lambda p: FeatureStore.write(p, data, HASHED, 5, resume=False)):
        with pytest.raises(ValueError, match=r"damaged, or gramlet did not|format is 3, expected"):
            call(place)
    assert len(list(place.glob("part-*"))) == 5


@pytest.mark.parametrize("name", ["part-000002.npz", "manifest.json", "gramlet.lock"])
def test_links_are_refused(name, data, tmp_path):
    place, outside = tmp_path / "store", tmp_path / "outside"
    FeatureStore.write(place, data, HASHED, 5)
    if (place / name).exists():
        (place / name).rename(outside)
    else:
        outside.write_text("mine")
    before = outside.read_bytes()
    (place / name).symlink_to(outside)
    for resume in (True, False):
        with pytest.raises(ValueError, match=f"{name}' is a link"):
            FeatureStore.write(place, data, HASHED, 5, resume=resume)
    assert outside.read_bytes() == before


def test_an_older_format_is_named(data, tmp_path):
    (tmp_path / "gramlet.journal").write_text('{"format": "gramlet feature store, 1"}\n')
    for call in (FeatureStore, lambda p: FeatureStore.write(p, data, HASHED, 5)):
        with pytest.raises(ValueError, match=r"older format \('gramlet feature store, 1'\)"):
            call(tmp_path)


def test_the_current_folder_may_change(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    store = FeatureStore.write("store", data, HASHED, 5)
    before = store.to_csr()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir("other")
    assert (store.to_csr() != before).nnz == 0


def test_a_finished_store_that_cannot_be_written(data, tmp_path, monkeypatch):
    store = FeatureStore.write(tmp_path / "store", data, HASHED, 5)
    monkeypatch.setattr(store_folder, "_is_read_only", lambda folder: True)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()}
    for verify in (False, True):
        again = FeatureStore.write(tmp_path / "store", data, HASHED, 5, verify=verify)
        assert (again.to_csr() != store.to_csr()).nnz == 0
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "store").iterdir()}


@pytest.mark.parametrize(
    "changes",
    [
        {"indices": np.full(3, 10**9, dtype=np.int32)},
        {"indices": np.full(3, -1, dtype=np.int32)},
        {"indptr": np.array([0, 3, 1, 3, 3, 3], dtype=np.int32)},
        {"ids": np.array(["a"])},
        {"data": np.array(["a", "b", "c"])},
        {"data": None},
        {"data": np.array([1.0, np.nan, 1.0])},
        {"data": np.array([1.0, np.inf, 1.0])},
        {"number": np.int64(1)},
    ],
)
def test_parts_that_gramlet_did_not_write(changes, data, tmp_path):
    FeatureStore.write(tmp_path / "store", Dataset(data.graphs[:5]), HASHED, 5)
    part = tmp_path / "store/part-000000.npz"
    row = {"indptr": np.array([0, 3, 3, 3, 3, 3]), "indices": np.arange(3), "data": np.ones(3)}
    members = {"number": np.int64(0), **row, **changes}
    np.savez(part, **{name: values for name, values in members.items() if values is not None})
    with pytest.raises(ValueError, match=r"part-000000\.npz' is not a part of this feature store"):
        FeatureStore(tmp_path / "store").to_csr()


def test_refusals(data, tmp_path):
    with pytest.raises(ValueError, match="n_bits"):
        FeatureStore.write(tmp_path / "store", data, HashedFeatures(n_bits=None))
    with pytest.raises(ValueError, match="is not a feature store"):
        FeatureStore(tmp_path / "none")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="not empty"):
        FeatureStore.write(tmp_path / "full", data, HASHED)
    gramlet.gram(data.graphs, "wl", output=tmp_path / "K.zarr")
    with pytest.raises(ValueError, match=r"not empty .* is not a feature store"):
        FeatureStore.write(tmp_path / "K.zarr", data, HASHED)
    with pytest.raises(ValueError, match="names no folder"):
        FeatureStore.write("", data, HASHED)
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"link' is a link to '.*nowhere', which does not"):
        FeatureStore.write(tmp_path / "link", data, HASHED)
    with pytest.raises(TypeError, match=r"learns from a FeatureStore .* got Dataset"):
        gramlet.HashedLinearModel().fit(data)
    with pytest.raises(TypeError, match="target= is for files"):
        FeatureStore.write(tmp_path / "store", data, HASHED, target="y")


def test_a_store_of_another_version(data, tmp_path):
    place = tmp_path / "store"
    FeatureStore.write(place, data, HASHED, 5)
    manifest = place / "manifest.json"
    content = manifest.read_bytes()
    manifest.write_bytes(content.replace(b'"n_iter"', b'"rounds"'))
    with pytest.raises(ValueError, match=r"contains features that this version .* does not know"):
        FeatureStore(place)
    manifest.write_bytes(content.replace(b'"gramlet": "', b'"gramlet": "9.'))
    with pytest.raises(ValueError, match=r'gramlet is "9\..*" in the store and "'):
        FeatureStore.write(place, data, HASHED, 5)
    manifest.write_bytes(content.replace(b"store, 3", b"store, 4"))
    with pytest.raises(ValueError, match=r"format is 'gramlet feature store, 4', expected"):
        FeatureStore(place)


def test_two_processes_at_once(data, tmp_path):
    from gramlet.scale.store_folder import locked

    place = tmp_path / "store"
    place.mkdir()
    with locked(place), pytest.raises(RuntimeError, match=f"written by process {os.getpid()} on"):
        FeatureStore.write(place, data, HASHED, 5)
    assert FeatureStore.write(place, data, HASHED, 5).shape == (25, 1024)


def test_without_the_extra(data, tmp_path, monkeypatch):
    """A store needs neither zarr nor Dask; errors of functions that need them name the extra."""
    for name in ("zarr", "distributed", "dask"):
        monkeypatch.setitem(sys.modules, name, None)
    assert FeatureStore.write(tmp_path / "store", data, HASHED, 5).shape == (25, 1024)
    from gramlet.cli.program import run

    with pytest.raises(ImportError, match=r"gramlet\[scale\]"):
        gramlet.gram(data.graphs, "wl", output=tmp_path / "K.zarr")
    assert (
        run(["embed", "MUTAG", "--hashed", "8", "--workers", "2", "-o", str(tmp_path / "s")]) == 1
    )
