"""gramlet gram to a folder: continued, checked, on workers, and refused in one line."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet.cli.program import run

pytest.importorskip("zarr")


@pytest.fixture
def smiles(tmp_path):
    pytest.importorskip("rdkit")
    file = tmp_path / "molecules.smi"
    file.write_text("".join(f"{'C' * (1 + i % 7)}{'NO'[i % 2]} m{i}\n" for i in range(30)))
    return file


def test_a_matrix_in_a_folder(smiles, tmp_path, capsys):
    import zarr

    place = tmp_path / "K.zarr"
    assert run(["gram", str(smiles), "-o", str(place), "--chunk", "8", "-k", "wl-oa"]) == 0
    assert "30 × 30 matrix" in capsys.readouterr().out
    assert run(["gram", str(smiles), "-o", str(tmp_path / "K.npy"), "-k", "wl-oa"]) == 0
    assert np.array_equal(zarr.open_array(place, mode="r")[:], np.load(tmp_path / "K.npy"))
    with (place / "c" / "0" / "0").open("r+b") as stream:
        stream.seek(4096)
        stream.write(b"\xff" * 8)
    arguments = ["gram", str(smiles), "-o", str(place), "--chunk", "8", "-k", "wl-oa"]
    assert run([*arguments, "--verify"]) == 0
    assert "1 tile was damaged" in capsys.readouterr().err
    assert np.array_equal(zarr.open_array(place, mode="r")[:], np.load(tmp_path / "K.npy"))
    assert run(["gram", str(smiles), "-o", str(place), "--chunk", "8", "-k", "wl"]) == 2
    assert "contains another matrix: kernel is" in capsys.readouterr().err
    assert run(["gram", str(smiles), "-o", str(place), "-k", "wl", "--fresh"]) == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["-o", "K.npy", "--chunk", "8"], "--chunk is for .zarr folders"),
        (["-o", "K.npy", "--verify"], "--verify is for results in folders"),
        (["-o", "K.txt"], ".zarr"),
        (["-o", "no/K.zarr"], "there is no folder"),
        (["-o", "K.zarr", "--workers", "2", "--scheduler", "x"], "exclude each other"),
    ],
)
def test_wrong_use(options, told, smiles, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["gram", str(smiles), *options]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_hashed_features_in_a_folder(smiles, tmp_path, capsys):
    from gramlet import FeatureStore, HashedFeatures, read

    place = tmp_path / "store"
    command = ["embed", str(smiles), "-k", "wl", "--hashed", "12", "-o", str(place)]
    assert run([*command, "--batch-size", "8", "-p", "n_iter=2"]) == 0
    assert "30 × 4096 features" in capsys.readouterr().out
    store = FeatureStore(place)
    expected = HashedFeatures(n_iter=2, n_bits=12).transform(read(smiles).graphs)
    assert (store.to_csr() != expected).nnz == 0
    assert store.ids.tolist() == [f"m{i}" for i in range(30)]
    assert run([*command, "--batch-size", "9", "-p", "n_iter=2"]) == 2
    assert "batch_size is 8 in the store and 9 now" in capsys.readouterr().err
    assert run([*command, "--batch-size", "9", "--fresh"]) == 0


def test_hashed_features_of_a_named_data_set(tmp_path):
    from gramlet import FeatureStore, load_dataset

    assert run(["embed", "MUTAG", "--hashed", "10", "-o", str(tmp_path / "store")]) == 0
    store = FeatureStore(tmp_path / "store")
    assert np.array_equal(store.target, load_dataset("MUTAG").target)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--hashed", "10", "-k", "rw"], "--hashed is for the kernels wl, wl-edge, sp"),
        (["--hashed", "10", "-p", "base=edge"], "have no parameter 'base'"),
        (["--hashed", "40"], "--hashed"),
    ],
)
def test_wrong_use_of_stores(options, told, smiles, tmp_path, capsys):
    assert run(["embed", str(smiles), "-o", str(tmp_path / "store"), *options]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "store").exists()
