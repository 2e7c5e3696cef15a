"""Gram matrices on disk: the same numbers as in memory, continued, checked and refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.svm import SVC

import gramlet
from gramlet.kernels import registry
from gramlet.scale import lock
from gramlet.scale.journal import Journal
from gramlet.scale.matrices import tile_writer
from gramlet.scale.matrices.tile_store import TileStore
from kernels.test_registry import MATRIX_PRODUCTS
from scale.conftest import array_bytes, labelled_graphs

Y = np.array([0, 1, 1] * 7 + [0, 1])


def assert_same(stored, expected, name):
    if name in MATRIX_PRODUCTS or registry.get(name).kind == "embedding":
        np.testing.assert_allclose(stored, expected, rtol=1e-12, atol=1e-15)
    else:
        assert np.array_equal(stored, expected)


@pytest.mark.parametrize("name", [entry.name for entry in registry.entries()])
@pytest.mark.parametrize("normalize", [False, True])
def test_the_same_numbers_as_in_memory(name, normalize, graphs, tmp_path):
    row = registry.get(name)
    if row.tags.supervised or (normalize and row.kind == "embedding"):
        pytest.skip("another test")
    params = {"normalize": True} if normalize else {}
    expected = gramlet.gram(graphs, name, **params)
    if hasattr(expected, "toarray"):
        expected = expected.toarray()
    stored = gramlet.gram(graphs, name, output=tmp_path / "K.zarr", chunk=7, **params)
    assert stored.dtype == np.float64
    assert_same(stored[:], expected, name)
    assert np.array_equal(stored[:], stored[:].T)


@pytest.mark.parametrize("chunk", [1, 3, 8, 23, 2048])
def test_any_chunk_gives_the_same_array(chunk, graphs, tmp_path):
    stored = gramlet.gram(graphs, "wl-oa", output=tmp_path / "K.zarr", chunk=chunk)
    expected = gramlet.gram(graphs, "wl-oa")
    assert np.array_equal(stored[:], expected)
    assert np.array_equal(stored[4], expected[4])
    assert np.array_equal(stored.oindex[[2, 20], :], expected[[2, 20]])
    with pytest.raises(Exception, match=r"read-only|read only"):
        stored[0] = 1.0


def test_many_tiles_are_few_files(tmp_path):
    graphs = labelled_graphs(64)
    gramlet.gram(graphs, "vertex", output=tmp_path / "K.zarr", chunk=2)
    assert len(Journal(tmp_path / "K.zarr").finished()) == 32 * 33 // 2
    assert len(array_bytes(tmp_path / "K.zarr")) == 16


@pytest.mark.parametrize("name", ["wl", "wwl", "sp", "emd", "gsa-match"])
@pytest.mark.parametrize("normalize", [False, True])
def test_against_other_graphs(name, normalize, graphs, tmp_path):
    if name not in {entry.name for entry in registry.entries()}:
        pytest.skip("not in the registry")
    if normalize and registry.get(name).kind == "embedding":
        pytest.skip("embeddings are not normalised")
    params = {"normalize": True} if normalize else {}
    others = labelled_graphs(10, seed=4, alphabet="CNX")
    stored = gramlet.gram(others, name, graphs, output=tmp_path / "K.zarr", chunk=4, **params)
    assert stored.shape == (10, 23)
    assert_same(stored[:], gramlet.gram(others, name, graphs, **params), name)


def test_supervised_kernels_take_the_target(graphs, tmp_path):
    from gramlet.scale.matrices.gram_store import write_gram

    kernel = gramlet.WeightedWassersteinWL(n_iter=1, random_state=0)
    stored = write_gram(kernel, graphs, tmp_path / "K.zarr", y=Y, chunk=10)
    np.testing.assert_allclose(stored[:], kernel.fit_transform(graphs, Y), rtol=1e-12)
    with pytest.raises(ValueError, match="target is"):
        write_gram(kernel, graphs, tmp_path / "K.zarr", y=Y[::-1].copy(), chunk=10)


def test_finished_stores_are_not_computed_again(graphs, tmp_path, monkeypatch):
    place = tmp_path / "K.zarr"
    gramlet.gram(graphs, "wl", output=place, chunk=5)
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}
    monkeypatch.setattr(tile_writer, "compute_tile", None)
    monkeypatch.setattr(gramlet.WeisfeilerLehman, "fit", None)
    stored = gramlet.gram(graphs, "wl", output=place, chunk=5, n_jobs=2, verbose=1)
    assert np.array_equal(stored[:], gramlet.WeisfeilerLehman().fit_transform(graphs))
    assert before == {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}


def test_only_what_is_missing_is_computed(graphs, tmp_path, monkeypatch):
    place = tmp_path / "K.zarr"
    expected = gramlet.gram(graphs, "wl", output=place, chunk=5)[:]
    journal = place / "gramlet.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    # A line nested too deeply for a reader of JSON, an incomplete one, and a missing one.
    journal.write_bytes(b"".join([*lines[:4], b"[" * 100_000, b"\n", lines[4][:-9]]))
    written = []
    original = TileStore.write_rows
    monkeypatch.setattr(
        TileStore, "write_rows", lambda self, *a: written.append(a[0]) or original(self, *a)
    )
    stored = gramlet.gram(graphs, "wl", output=place, chunk=5)
    kept = [tuple(json.loads(line)["tile"]) for line in lines[1:4]]
    assert len(written) == len(lines) - 1 - 3
    assert not set(written) & set(kept)
    assert np.array_equal(stored[:], expected)
    assert len(Journal(place).finished()) == len(lines) - 1
    assert all(json.loads(line) for line in journal.read_bytes().splitlines())


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"n_iter": 4}, r"params\.n_iter is 3 in the store and 4 now"),
        ({"normalize": True}, r"params\.normalize is false in the store and true now"),
        ({"kernel": "wl-oa"}, r"kernel is .*WeisfeilerLehman.* and .*WLOptimalAssignment.* now"),
        ({"chunk": 6}, "chunk is 5 in the store and 6 now"),
        ({"X": labelled_graphs(23, seed=9)}, "graphs is "),
        ({"X": labelled_graphs(9)}, r"shape is \[23, 23\] in the store and \[9, 9\] now"),
        ({"Y": labelled_graphs(23)}, "columns is null in the store"),
    ],
)
def test_another_matrix_in_the_same_place(change, named, graphs, tmp_path):
    given = {"X": graphs, "kernel": "wl", "n_iter": 3, "chunk": 5, "output": tmp_path / "K.zarr"}
    gramlet.gram(**given)
    before = array_bytes(tmp_path / "K.zarr")
    with pytest.raises(ValueError, match=named) as why:
        gramlet.gram(**{**given, **change})
    assert "kernel" not in change or "params" not in str(why.value)
    assert array_bytes(tmp_path / "K.zarr") == before
    stored = gramlet.gram(**{**given, **change}, resume=False)
    again = {key: value for key, value in {**given, **change}.items() if key != "output"}
    again.pop("chunk")
    assert np.array_equal(stored[:], gramlet.gram(**again))


def test_functions_count_by_what_they_compute(graphs, tmp_path):
    def stored(factor):
        kernel = gramlet.FeatureLaplacian(
            vertex_features="degree", base_kernel=lambda P, Q: factor * P @ Q.T
        )
        return gramlet.gram(graphs, kernel, output=tmp_path / "K.zarr", chunk=5)

    first = stored(1)[:]
    assert np.array_equal(stored(1)[:], first)
    with pytest.raises(ValueError, match=r"another matrix: .*base_kernel"):
        stored(2)


def test_a_parameter_that_refers_to_itself_is_named(graphs, tmp_path):
    class Endless:
        def __call__(self, P, Q):
            return P @ Q.T

    endless = Endless()
    endless.own = endless
    kernel = gramlet.FeatureLaplacian(vertex_features="degree", base_kernel=endless)
    with pytest.raises(ValueError, match="'base_kernel' parameter of FeatureLaplacian refers to"):
        gramlet.gram(graphs, kernel, output=tmp_path / "K.zarr")
    assert not (tmp_path / "K.zarr").exists()


@pytest.mark.parametrize(
    "kernel",
    [
        gramlet.GraphNystroem(gramlet.WeisfeilerLehman(), 5, random_state=0),
        gramlet.HashedFeatures(n_bits=8),
        "wl(n_iter=1) + sp",
    ],
    ids=["landmarks", "hashed", "expression"],
)
def test_whatever_is_compared_in_memory(kernel, graphs, tmp_path):
    stored = gramlet.gram(graphs, kernel, output=tmp_path / "K.zarr", chunk=5)
    np.testing.assert_allclose(stored[:], gramlet.gram(graphs, kernel), rtol=1e-12)


@pytest.mark.parametrize("kernel", [3, len])
def test_what_is_no_kernel_is_named(kernel, graphs, tmp_path):
    for output in (None, tmp_path / "K.zarr"):
        with pytest.raises(TypeError, match="neither a kernel nor an embedding"):
            gramlet.gram(graphs, kernel, output=output)


def test_another_version_is_named(graphs, tmp_path):
    place = tmp_path / "K.zarr"
    gramlet.gram(graphs, "wl", output=place)
    journal = place / "gramlet.journal"
    journal.write_text(journal.read_text().replace(gramlet.__version__, "0.0.1", 1))
    with pytest.raises(ValueError, match=r'gramlet is "0\.0\.1" in the store'):
        gramlet.gram(graphs, "wl", output=place)


def test_labels_that_differ_are_other_graphs(tmp_path):
    place = tmp_path / "K.zarr"
    gramlet.gram([([(0, 1)], ["C", "O"])], "vertex", output=place)
    gramlet.gram([([(0, 1)], ["C", "O"])], "vertex", output=place)
    for other in ([([(0, 1)], ["C", "N"])], [([(0, 1)], ["O", "C"])], [([(0, 1)], None)]):
        with pytest.raises(ValueError, match="graphs is"):
            gramlet.gram(other, "vertex", output=place)


def test_folders_that_gramlet_did_not_write(graphs, tmp_path):
    zarr = pytest.importorskip("zarr")
    foreign = tmp_path / "foreign.zarr"
    zarr.create_array(str(foreign), shape=(3, 3), dtype="float64")
    for resume in (True, False):
        with pytest.raises(ValueError, match="without a journal"):
            gramlet.gram(graphs, "wl", output=foreign, resume=resume)
    assert (foreign / "zarr.json").exists()
    full = tmp_path / "folder"
    full.mkdir()
    (full / "notes.txt").write_text("mine")
    for resume in (True, False):
        with pytest.raises(ValueError, match=r"not empty.*notes\.txt"):
            gramlet.gram(graphs, "wl", output=full, resume=resume)
    (full / "gramlet.journal").write_text('{"some": "thing"}\n')
    with pytest.raises(ValueError, match="does not begin with a line that gramlet wrote"):
        gramlet.gram(graphs, "wl", output=full, resume=False)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(ValueError, match="is a file"):
        gramlet.gram(graphs, "wl", output=file)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        gramlet.gram(graphs, "wl", output=tmp_path / "no" / "K.zarr")
    assert (full / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize("resume", [True, False])
def test_a_feature_store_is_no_matrix(resume, graphs, tmp_path):
    store = gramlet.FeatureStore.write(tmp_path / "store", graphs)
    with pytest.raises(ValueError, match=r"not written by gramlet\.gram: .*gramlet feature store"):
        gramlet.gram(graphs, "wl", output=tmp_path / "store", resume=resume)
    assert store.to_csr().shape[0] == len(graphs)


def test_starting_anew_leaves_files_of_others(graphs, tmp_path):
    place = tmp_path / "K.zarr"
    gramlet.gram(graphs, "wl", output=place)
    (place / "notes.txt").write_text("mine")
    stored = gramlet.gram(graphs, "wl", output=place, n_iter=1, resume=False)
    assert np.array_equal(stored[:], gramlet.gram(graphs, "wl", n_iter=1))
    assert (place / "notes.txt").read_text() == "mine"


def test_what_cannot_be_computed_leaves_nothing(graphs, tmp_path):
    bare = graphs.with_columns(node_attributes=None)
    with pytest.raises(ValueError, match="attributes"):
        gramlet.gram(bare, "wwl-attr", output=tmp_path / "K.zarr")
    with pytest.raises(ValueError, match="n_iter"):
        gramlet.gram(graphs, "wl", n_iter=-1, output=tmp_path / "K.zarr")
    assert os.listdir(tmp_path) == []


def test_refusals(graphs, tmp_path):
    place = tmp_path / "K.zarr"
    with pytest.raises(ValueError, match="as a whole"):
        gramlet.gram(graphs, gramlet.EMDKernel(psd="clip"), output=place)
    gramlet.gram(graphs, gramlet.EMDKernel(psd="none"), output=place)
    with pytest.raises(ValueError, match="chunk must be at least 1"):
        gramlet.gram(graphs, "wl", output=place, chunk=0)
    with pytest.raises(ValueError, match="client= is for matrices on disk"):
        gramlet.gram(graphs, "wl", client=object())
    with pytest.raises(TypeError, match=r"dask\.distributed\.Client"):
        gramlet.gram(graphs, "wl", client=object(), output=tmp_path / "L.zarr")


def test_seeds_are_drawn_once(graphs, tmp_path):
    place = tmp_path / "K.zarr"
    first = gramlet.gram(graphs, gramlet.Propagation(n_iter=2), output=place, chunk=5)[:]
    header = Journal(place).header()
    seed = header["drawn"]["random_state"]
    assert header["params"]["random_state"] == seed
    journal = place / "gramlet.journal"
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:3]))
    again = gramlet.gram(graphs, gramlet.Propagation(n_iter=2), output=place, chunk=5)[:]
    assert np.array_equal(first, again)
    same = gramlet.Propagation(n_iter=2, random_state=seed)
    assert np.array_equal(same.fit_transform(graphs), first)
    gramlet.gram(graphs, same, output=place, chunk=5)
    with pytest.raises(ValueError, match=r"params\.random_state"):
        gramlet.gram(graphs, same.set_params(random_state=seed + 1), output=place, chunk=5)


def test_parts_take_their_seed_from_the_whole(graphs, tmp_path):
    embedding = gramlet.GraphSampling(
        k=3, n_samples=20, feature_map=gramlet.GaussianMap(8), random_state=0
    )
    stored = gramlet.gram(graphs, embedding, output=tmp_path / "K.zarr", chunk=5)
    np.testing.assert_allclose(stored[:], gramlet.gram(graphs, embedding), rtol=1e-12, atol=1e-15)


def test_damage_is_found_named_and_mended(graphs, tmp_path):
    place = tmp_path / "K.zarr"
    gramlet.gram(graphs, "wl", output=place, chunk=5)
    before = array_bytes(place)
    grid = TileStoreOf(place, 23, 5).grid
    for tile in ((1, 3), (4, 2)):  # one tile, and the transposed part of another
        file, offset = grid.place(tile)
        with (place / "c" / str(file[0]) / str(file[1])).open("r+b") as stream:
            stream.seek(offset + 16)
            stream.write(b"\xff" * 8)
    gramlet.gram(graphs, "wl", output=place, chunk=5)
    assert array_bytes(place) != before
    with pytest.warns(UserWarning, match=r"2 tiles were damaged.*rows 5:10, columns 15:20"):
        gramlet.gram(graphs, "wl", output=place, chunk=5, verify=True)
    assert array_bytes(place) == before
    with (place / "c" / "0" / "0").open("r+b") as stream:
        stream.write(b"\xff" * 8)
    with pytest.warns(UserWarning, match="the index of 1 file was damaged and written again"):
        gramlet.gram(graphs, "wl", output=place, chunk=5, verify=True)
    assert array_bytes(place) == before


def TileStoreOf(place, n_graphs, chunk):
    from gramlet.scale.matrices.tile_grid import TileGrid

    return TileStore(place, TileGrid(n_graphs, n_graphs, chunk, symmetric=True))


def test_tiles_that_the_matrix_does_not_have_are_ignored(graphs, tmp_path, recwarn):
    place = tmp_path / "K.zarr"
    gramlet.gram(graphs, "wl", output=place, chunk=5)
    with (place / "gramlet.journal").open("a") as journal:
        for tile in ([99, 99], [-1, 0], [1, 0]):
            journal.write(json.dumps({"tile": tile, "checksum": "0"}) + "\n")
    stored = gramlet.gram(graphs, "wl", output=place, chunk=5, verify=True)
    assert np.array_equal(stored[:], gramlet.gram(graphs, "wl"))
    assert not recwarn.list


def test_the_current_folder_may_change(graphs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stored = gramlet.gram(graphs, "wl", output="K.zarr", chunk=5)
    (tmp_path / "other").mkdir()
    monkeypatch.chdir("other")
    assert np.array_equal(stored[:], gramlet.gram(graphs, "wl"))


def test_a_finished_matrix_that_cannot_be_written(graphs, tmp_path, monkeypatch):
    place = tmp_path / "K.zarr"
    gramlet.gram(graphs, "wl", output=place, chunk=5)
    monkeypatch.setattr(lock, "_is_read_only", lambda folder: True)
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    for verify in (False, True):
        stored = gramlet.gram(graphs, "wl", output=place, chunk=5, verify=verify)
        assert np.array_equal(stored[:], gramlet.gram(graphs, "wl"))
    assert before == {path: path.stat().st_mtime_ns for path in place.rglob("*")}


def test_a_lost_file_is_written_again(graphs, tmp_path):
    place = tmp_path / "K.zarr"
    gramlet.gram(graphs, "wl", output=place, chunk=2)
    before = array_bytes(place)
    (place / "c" / "0" / "1").unlink()
    with pytest.warns(UserWarning, match="tiles were damaged or missing"):
        gramlet.gram(graphs, "wl", output=place, chunk=2)
    assert array_bytes(place) == before


def test_a_second_process_is_refused(graphs, tmp_path):
    place = tmp_path / "K.zarr"
    place.mkdir()
    script = (
        "import sys; from pathlib import Path; from gramlet.scale.lock import locked\n"
        "with locked(Path(sys.argv[1])): print('locked', flush=True); sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", script, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert holder.stdout.readline() == b"locked\n"
        with pytest.raises(ValueError, match=f"is being written by process {holder.pid} on "):
            gramlet.gram(graphs, "wl", output=place)
    finally:
        holder.kill()
        holder.communicate()
    # The lock of a dead process is released.
    assert (place / "gramlet.lock").exists()
    stored = gramlet.gram(graphs, "wl", output=place)
    assert np.array_equal(stored[:], gramlet.gram(graphs, "wl"))
    assert not (place / "gramlet.lock").exists()


def test_an_svm_learns_from_the_disk(graphs, tmp_path):
    stored = gramlet.gram(graphs, "wl", output=tmp_path / "K.zarr", chunk=8)
    train, test = np.arange(0, 23, 2), np.arange(1, 23, 2)
    machine = SVC(kernel="precomputed").fit(stored.oindex[train, train], Y[train])
    expected = gramlet.gram(graphs, "wl")
    assert np.array_equal(
        machine.predict(stored.oindex[test, train]), machine.predict(expected[np.ix_(test, train)])
    )


@pytest.mark.parametrize("name", ["K.npy", "K.CSV"])
def test_the_name_of_a_file_is_refused(tmp_path, name):
    graphs = [([(0, 1)], "CO"), ([(0, 1), (1, 2)], "OCO")]
    with pytest.raises(ValueError, match=r"folder in Zarr format. Name it 'K.zarr'; for a file"):
        gramlet.gram(graphs, "wl", output=tmp_path / name)
    assert list(tmp_path.iterdir()) == []
