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
    assert "holds another matrix: kernel is" in capsys.readouterr().err
    assert run(["gram", str(smiles), "-o", str(place), "-k", "wl", "--fresh"]) == 0


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["-o", "K.npy", "--chunk", "8"], "--chunk is for matrices on disk"),
        (["-o", "K.npy", "--verify"], "--verify is for matrices on disk"),
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
