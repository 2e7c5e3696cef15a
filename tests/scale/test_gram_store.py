"""Gram matrices on disk: the same numbers as in memory, continued, checked and refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from sklearn.svm import SVC

import gramlet
from gramlet.kernels import registry
from gramlet.scale import store_folder
from gramlet.scale.gram_store import PairWork, _Store, write_gram
from kernels.test_registry import MATRIX_PRODUCTS
from reference.examples import labelled_graphs
from scale.conftest import array_bytes, finished_tiles

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


def test_a_plain_array_with_a_file_per_tile(graphs, tmp_path):
    """Checksums, NaN where nothing is written, and attributes that describe the matrix."""
    place = tmp_path / "K.zarr"
    stored = gramlet.gram(graphs, "wl", output=place, chunk=10, n_iter=2)
    metadata = json.loads((place / "zarr.json").read_bytes())
    assert [codec["name"] for codec in metadata["codecs"]] == ["bytes", "crc32c"]
    assert metadata["fill_value"] == "NaN"
    assert {name: len(data) for name, data in array_bytes(place).items()} == {
        f"c/{i}/{j}": 8 * 10 * 10 + 4 for i in range(3) for j in range(3)
    }
    attributes = stored.attrs.asdict()
    assert attributes["kernel"].endswith(".WeisfeilerLehman")
    assert attributes["params"]["n_iter"] == 2
    assert not {"n_jobs", "verbose"} & attributes["params"].keys()
    assert (attributes["gramlet"], attributes["shape"]) == (gramlet.__version__, [23, 23])
    small = gramlet.gram(graphs[:3], "wl", output=tmp_path / "S.zarr")
    assert small.chunks == (3, 3)


def test_tiles_of_zeros_have_files(tmp_path):
    graphs = [([(0, 1)], ["C", "C"]), ([(0, 1)], ["N", "N"]), ([], [])]
    stored = gramlet.gram(graphs, "vertex", output=tmp_path / "K.zarr", chunk=1)
    assert len(array_bytes(tmp_path / "K.zarr")) == 9
    assert np.array_equal(stored[:], gramlet.gram(graphs, "vertex"))
    (tmp_path / "K.zarr" / "c" / "0" / "1").unlink()
    assert np.isnan(stored[0, 1])  # a lost one does not read as zeros


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
    kernel = gramlet.WeightedWassersteinWL(n_iter=1, random_state=0)
    stored = write_gram(kernel, graphs, tmp_path / "K.zarr", y=Y, chunk=10)
    np.testing.assert_allclose(stored[:], kernel.fit_transform(graphs, Y), rtol=1e-12)
    with pytest.raises(ValueError, match="target is"):
        write_gram(kernel, graphs, tmp_path / "K.zarr", y=Y[::-1].copy(), chunk=10)


def test_finished_stores_are_not_computed_again(graphs, tmp_path, monkeypatch):
    place = tmp_path / "K.zarr"
    gramlet.gram(graphs, "wl", output=place, chunk=5)
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}
    monkeypatch.setattr(PairWork, "tile", None)
    monkeypatch.setattr(gramlet.WeisfeilerLehman, "fit", None)
    stored = gramlet.gram(graphs, "wl", output=place, chunk=5, n_jobs=2, verbose=1)
    assert np.array_equal(stored[:], gramlet.WeisfeilerLehman().fit_transform(graphs))
    assert before == {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}


def test_only_what_is_missing_is_computed(graphs, tmp_path, monkeypatch):
    place = tmp_path / "K.zarr"
    expected = gramlet.gram(graphs, "wl", output=place, chunk=5)[:]
    before = array_bytes(place)
    # One tile, the mirror of another, and what an interrupted write leaves.
    (place / "c" / "1" / "2").unlink()
    (place / "c" / "4" / "0").unlink()
    leftovers = [
        place / "c" / "1" / f"2.{'0' * 32}.partial",
        place / f"zarr.{'a' * 32}.partial",
    ]
    for leftover in leftovers:
        leftover.write_bytes(b"half of a tile")
    written = []
    original = _Store.write
    monkeypatch.setattr(_Store, "write", lambda s, *a: written.append(a[1]) or original(s, *a))
    stored = gramlet.gram(graphs, "wl", output=place, chunk=5)
    assert sorted(written) == [(0, 4), (1, 2)]
    assert np.array_equal(stored[:], expected)
    assert array_bytes(place) == before
    assert not any(leftover.exists() for leftover in leftovers)


@pytest.mark.parametrize("name", ["c", "c/1", "c/1/2", "zarr.json", "gramlet.lock"])
@pytest.mark.parametrize("resume", [True, False])
def test_links_are_refused(name, resume, graphs, tmp_path):
    place, outside = tmp_path / "K.zarr", tmp_path / "outside"
    gramlet.gram(graphs, "wl", output=place, chunk=5)
    if (place / name).exists():
        (place / name).rename(outside)
    else:
        outside.write_text("mine")
    before = outside.read_bytes() if outside.is_file() else array_bytes(tmp_path)
    (place / name).symlink_to(outside)
    with pytest.raises(ValueError, match=f"{name}' is a link"):
        gramlet.gram(graphs, "wl", output=place, chunk=5, resume=resume)
    assert before == (outside.read_bytes() if outside.is_file() else array_bytes(tmp_path))
    assert outside.exists()


def test_an_older_format_is_named(graphs, tmp_path):
    place = tmp_path / "K.zarr"
    gramlet.gram(graphs, "wl", output=place)
    (place / "gramlet.journal").write_text('{"format": "gramlet Gram matrix, 2"}\n')
    before = array_bytes(place)
    for resume in (True, False):
        with pytest.raises(ValueError, match=r"older format \('gramlet Gram matrix, 2'\).*again"):
            gramlet.gram(graphs, "wl", output=place, resume=resume)
    assert array_bytes(place) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [('"NaN"', "0.0"), ('"crc32c"', '"zstd"'), ("float64", "float32"), ('"little"', '"big"')],
)
def test_metadata_that_was_changed(old, new, graphs, tmp_path):
    place = tmp_path / "K.zarr"
    gramlet.gram(graphs, "wl", output=place, chunk=5)
    metadata = place / "zarr.json"
    metadata.write_text(metadata.read_text().replace(old, new, 1))
    with pytest.raises(ValueError, match=r"zarr\.json' was changed"):
        gramlet.gram(graphs, "wl", output=place, chunk=5)
    stored = gramlet.gram(graphs, "wl", output=place, chunk=5, resume=False)
    assert np.array_equal(stored[:], gramlet.gram(graphs, "wl"))


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


def scaled_products(P, Q, factor):
    return factor * P @ Q.T


def test_functions_are_known_by_name_and_arguments(graphs, tmp_path):
    def stored(base_kernel):
        kernel = gramlet.FeatureLaplacian(vertex_features="degree", base_kernel=base_kernel)
        return gramlet.gram(graphs, kernel, output=tmp_path / "K.zarr", chunk=5)

    first = stored(partial(scaled_products, factor=1))[:]
    assert np.array_equal(stored(partial(scaled_products, factor=1))[:], first)
    with pytest.raises(ValueError, match=r"another matrix: .*base_kernel"):
        stored(partial(scaled_products, factor=2))
    with pytest.raises(TypeError, match="function without a name"):
        stored(lambda P, Q: P @ Q.T)


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
    metadata = place / "zarr.json"
    metadata.write_text(metadata.read_text().replace(f'"{gramlet.__version__}"', '"0.0.1"', 1))
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
        with pytest.raises(ValueError, match="without the attributes that gramlet writes"):
            gramlet.gram(graphs, "wl", output=foreign, resume=resume)
    assert (foreign / "zarr.json").exists()
    full = tmp_path / "folder"
    full.mkdir()
    (full / "notes.txt").write_text("mine")
    for resume in (True, False):
        with pytest.raises(ValueError, match=r"not empty.*notes\.txt"):
            gramlet.gram(graphs, "wl", output=full, resume=resume)
    (full / "zarr.json").write_text('{"some": "thing"}\n')
    with pytest.raises(ValueError, match="without the attributes that gramlet writes"):
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
    with pytest.raises(ValueError, match=r"not empty .*manifest\.json.*no matrix"):
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
    header = json.loads((place / "zarr.json").read_bytes())["attributes"]
    seed = header["drawn"]["random_state"]
    assert header["params"]["random_state"] == seed
    (place / "c" / "1" / "1").unlink()
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


def test_damage_is_found_named_and_mended(graphs, tmp_path, recwarn):
    place = tmp_path / "K.zarr"
    gramlet.gram(graphs, "wl", output=place, chunk=5)
    before = array_bytes(place)
    for name in ("1/3", "4/2"):  # one tile, and the mirror of another, at the edge
        with (place / "c" / name).open("r+b") as stream:
            stream.seek(16)
            stream.write(b"\xff" * 8)
    gramlet.gram(graphs, "wl", output=place, chunk=5)
    assert array_bytes(place) != before
    assert not recwarn.list
    with pytest.warns(UserWarning, match=r"2 tiles were damaged.*rows 5:10, columns 15:20") as said:
        gramlet.gram(graphs, "wl", output=place, chunk=5, verify=True)
    assert len(said) == 1
    assert array_bytes(place) == before
    (place / "c" / "0" / "0").write_bytes(b"short")  # found without verify
    with pytest.warns(UserWarning, match="1 tile was damaged"):
        gramlet.gram(graphs, "wl", output=place, chunk=5)
    assert array_bytes(place) == before


def test_files_that_the_matrix_does_not_have_are_ignored(graphs, tmp_path, recwarn):
    place = tmp_path / "K.zarr"
    gramlet.gram(graphs, "wl", output=place, chunk=5)
    for name in ("0/99", "0/notes", "notes"):
        (place / "c" / name).write_text("mine")
    stored = gramlet.gram(graphs, "wl", output=place, chunk=5, verify=True)
    assert np.array_equal(stored[:], gramlet.gram(graphs, "wl"))
    assert len(finished_tiles(place)) == 15
    assert (place / "c" / "0" / "99").read_text() == "mine"
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
    monkeypatch.setattr(store_folder, "_is_read_only", lambda folder: True)
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    for verify in (False, True):
        stored = gramlet.gram(graphs, "wl", output=place, chunk=5, verify=verify)
        assert np.array_equal(stored[:], gramlet.gram(graphs, "wl"))
    assert before == {path: path.stat().st_mtime_ns for path in place.rglob("*")}


def test_a_second_process_is_refused(graphs, tmp_path):
    place = tmp_path / "K.zarr"
    place.mkdir()
    script = (
        "import sys; from pathlib import Path; from gramlet.scale.store_folder import locked\n"
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
