"""Data as people have them: what a command must not drop, mistake or refuse without a reason."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from gramlet.cli import main

pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")

QUICK = ("--folds", "3", "--repeats", "1", "--inner-folds", "2", "-k", "vertex")
CHAINS = [f"{'C' * n}{end}" for n in range(1, 11) for end in ("", "O", "N")]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def runner(*arguments):
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        said = [line for line in err.splitlines() if "compiling" not in line]
        return code, out, said

    return runner


def written(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class TestClasses:
    @pytest.mark.parametrize("ends", [("O", "N"), ("", "O", "N")])
    def test_ridge_of_classes_is_trained_predicts_and_is_explained(self, run, tmp_path, ends):
        names = {"": "none", "O": "oxygen", "N": "nitrogen"}
        rows = [f"{'C' * n}{end},{names[end]}" for n in range(1, 9) for end in ends]
        (tmp_path / "ends.csv").write_text("\n".join(["smiles,end", *rows]) + "\n")
        how = ("-k", "vertex", "--classifier", "ridge", "--inner-folds", "2")
        assert run("train", "ends.csv", "-o", "m.gramlet", *how)[0] == 0
        assert run("predict", "m.gramlet", "ends.csv", "-o", "told.csv")[0] == 0
        told = [row["prediction"] for row in written(tmp_path / "told.csv")]
        right = sum(t == row.split(",")[1] for t, row in zip(told, rows, strict=True))
        assert right >= 0.9 * len(rows)
        code, out, _ = run("explain", "m.gramlet", "ends.csv", "-o", "why")
        assert code == 0
        assert "O" in out

    @pytest.mark.parametrize("command", ["evaluate", "train"])
    def test_a_class_that_is_too_small_has_the_name_that_info_shows(self, run, tmp_path, command):
        """TU files number their classes, and a table beside them gives the names."""
        from gramlet.files.dataset import Dataset
        from gramlet.graphs.convert import as_batch

        graphs = as_batch([([(0, 1)], "CO")] * 21)
        data = Dataset(graphs, [0] * 20 + [1], name="rare", target_names={0: "calm", 1: "toxic"})
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gramlet.cli.inputs._read", lambda text, reading: data)
            assert "toxic 1" in run("info", "rare.zip")[1]
            code, _, said = run(command, "rare.zip", *(["-o", "m"] if command == "train" else []))
        assert code == 2
        assert "Class 'toxic' has 1 graph" in said[-1]
        assert not (tmp_path / "m").exists()

    def test_class_weights_go_by_name_too(self, run):
        code, _, said = run("evaluate", "B3DB", *QUICK, "--class-weight", "nope=2")
        assert code == 2
        assert "there is no class 'nope'" in said[-1]
        assert "BBB+" in said[-1]
