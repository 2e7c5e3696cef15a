"""Expressions and GraKeL's names in every command that takes a kernel; errors give the position."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import gram, molecules
from gramlet.cli import main

SMILES = [
    "CCO",
    "CCN",
    "CCC",
    "CCCC",
    "CCCN",
    "CCCO",
    "c1ccccc1",
    "c1ccccc1C",
    "c1ccncc1",
    "c1ccccc1O",
    "C1CCCCC1",
    "c1ccccc1N",
]
CLASSES = ["chain"] * 6 + ["ring"] * 6
TEXTS = ["wl + sp", "core(wl)", "wl(n_iter=3) * sp", "WL", "WL(SP) + 0.5 * vertex_histogram"]
# The arguments of each command besides the data and the kernel.
COMMANDS = {
    "gram": ["-o", "K.npy"],
    "embed": ["-o", "E.npz"],
    "map": ["-o", "map.png"],
    "neighbors": ["-n", "2", "-o", "near.csv"],
    "train": ["--target", "kind", "--inner-folds", "3", "-o", "model.gramlet"],
    "evaluate": [
        "--target",
        "kind",
        "--folds",
        "3",
        "--inner-folds",
        "2",
        "--repeats",
        "1",
        "--json",
        "scores.json",
    ],
    "explain": ["--target", "kind", "-o", "explained"],
}
WITHOUT_FEATURES = "wl(n_iter=3) * sp"


@pytest.fixture
def data(tmp_path, monkeypatch):
    pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")
    rows = [f"{smiles},{kind}" for smiles, kind in zip(SMILES, CLASSES, strict=True)]
    (tmp_path / "data.csv").write_text("\n".join(["smiles,kind", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(command, kernel, capsys):
    code = main([command, "data.csv", "--kernel", kernel, *COMMANDS[command]])
    return code, capsys.readouterr().err


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_reads_expressions(command, text, data, capsys):
    code, err = run(command, text, capsys)
    output = data / COMMANDS[command][-1]
    refused = text == WITHOUT_FEATURES and command in ("embed", "explain")
    if refused or (command == "embed" and "+" in text):
        # Members of sums are Tanimoto-normalised, which has no explicit features.
        assert code != 0
        assert "explicit features" in err or "gives no values to patterns" in err
        assert not output.exists()
        return
    assert code == 0, err
    assert output.exists()
    if command == "gram":
        np.testing.assert_allclose(np.load(output), gram(molecules(SMILES), text), rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "place"),
    [("wl + spp", 5), ("core(wl", 4), ("wl(n_iterr=3) * sp", 3), ("wl(n_iter=3) * LOVT", 15)],
)
@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_shows_where_the_mistake_is(command, text, place, data, capsys):
    code, err = run(command, text, capsys)
    assert code == 2
    assert f"at position {place}" in err
    assert err.rstrip("\n").endswith(f"\n  {text}\n  {' ' * place}^")
    assert not (data / COMMANDS[command][-1]).exists()


def test_expressions_are_described(capsys):
    assert main(["kernels", "WL(SP)"]) == 0
    assert "WeisfeilerLehman" in capsys.readouterr().out
    assert main(["kernels", "shortest_path"]) == 0
    assert "ShortestPath" in capsys.readouterr().out
    assert main(["kernels", "LOVT"]) == 2
    assert "Coming from GraKeL" in " ".join(capsys.readouterr().err.split())
