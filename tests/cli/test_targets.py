"""Targets of every kind on the command line: numbers, rare classes, scaffolds, invalid ones."""

from __future__ import annotations

import csv
import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest

import gramlet
from gramlet.cli import main
from gramlet.evaluation import Result

pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")

QUICK = ("--folds", "3", "--repeats", "1", "--inner-folds", "2", "-k", "vertex")
CHAINS = [f"{'C' * n}{end}" for n in range(1, 11) for end in ("", "O", "N")]


def numbers(smiles: str) -> float:
    """A number that depends on the counts of C, O and N, so that vertex histograms can learn it."""
    return 0.5 * smiles.count("C") - 1.25 * smiles.count("O") - 0.3 * smiles.count("N")


@pytest.fixture
def run(run, tmp_path, monkeypatch):
    """Run a command in an empty folder; standard error is a list of lines."""
    monkeypatch.chdir(tmp_path)

    def runner(*arguments):
        code, out, err = run(*arguments)
        return code, out, [line for line in err.splitlines() if "compiling" not in line]

    return runner


@pytest.fixture
def solubility(tmp_path) -> Path:
    """A table separated by semicolons, with names and a real target."""
    rows = [f"m{i};{smiles};{numbers(smiles):.3f}" for i, smiles in enumerate(CHAINS)]
    path = tmp_path / "solubility.csv"
    path.write_text("\n".join(["name;smiles;logS", *rows]) + "\n")
    return path


@pytest.fixture
def rare(tmp_path) -> Path:
    """A class of 3 %: 6 of 200 molecules, those with chlorine."""
    rows = [f"{'C' * (1 + i % 12)}{'Cl' if i < 6 else 'O'},{int(i < 6)}" for i in range(200)]
    path = tmp_path / "rare.csv"
    path.write_text("\n".join(["smiles,active", *rows]) + "\n")
    return path


def results(path: Path) -> dict[str, Result]:
    found = [Result.from_dict(fields) for fields in json.loads(path.read_text())["results"]]
    return {result.name: result for result in found}


class TestNumbers:
    def test_evaluate(self, run, solubility, tmp_path):
        line = ("evaluate", solubility, "--target", "logS", "--normalize", "none", *QUICK)
        code, out, said = run(*line, "--json", "r.json")
        assert code == 0, said
        assert "30 graphs" in out
        assert "logS from" in out
        rows = [line.split()[0] for line in out.split("───\n")[1].split("\n\n")[0].splitlines()]
        assert rows == ["mean", "size", "vertex", "edge"]
        found = results(tmp_path / "r.json")
        assert found["vertex"].scoring == "r2"
        assert found["vertex"].mean > 0.9 > found["mean"].mean

    @pytest.mark.parametrize("machine", ["gp", "ridge", "svr"])
    def test_train_and_predict(self, run, solubility, tmp_path, machine):
        line = ("train", solubility, "-k", "vertex", "--normalize", "none", "--inner-folds", "2")
        code, out, said = run(*line, "-o", "m.gramlet", "--classifier", machine)
        assert code == 0, said
        assert f"({machine}) " in out
        if machine != "gp":
            assert "in cross-validation, which also chose it" in out
            assert 0.8 < float(out.split("R² ")[1].split()[0]) <= 1
        code, out, said = run("predict", "m.gramlet", solubility, "-o", "p.csv")
        assert code == 0
        assert said[-1].startswith("R²: ")
        assert 0.9 < float(said[-1].split()[1].rstrip(",")) <= 1
        with (tmp_path / "p.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        std = ["standard deviation"] if machine == "gp" else []
        near = ["nearest", "similarity", "inside"]
        assert list(rows[0]) == ["graph", "id", "prediction", *std, *near]
        assert [row["nearest"] for row in rows] == [f"m{i}" for i in range(30)]
        assert [row["id"] for row in rows] == [f"m{i}" for i in range(30)]
        data = gramlet.read(solubility)
        model = gramlet.load(tmp_path / "m.gramlet")
        predicted = np.array([float(row["prediction"]) for row in rows])
        np.testing.assert_array_equal(predicted, model.predict(data.graphs))
        assert np.corrcoef(predicted, data.target)[0, 1] > 0.95
        if machine == "gp":
            table = run("predict", "m.gramlet", solubility)[1].splitlines()
            assert table[0].split("  ")[-1] == "inside"
            spread = model.predict(data.graphs, return_std=True)[1]
            assert table[1].split()[2] == f"{spread[0]:.4g}"

    def test_options_that_a_process_does_not_have(self, run, solubility, tmp_path):
        for option in (("--C", "1"), ("--scoring", "r2")):
            code, _, said = run("train", solubility, "-k", "vertex", *option, "-o", "m.gramlet")
            assert code == 2
            assert f"{option[0]} does not apply to a Gaussian process" in said[0]
        code, _, said = run("train", solubility, "--classifier", "svc", "-o", "m.gramlet")
        assert code == 2
        assert "--classifier must be one of gp, ridge, svr for regression" in said[0]

    def test_explain_fits_a_regression_of_its_own(self, run, solubility, tmp_path):
        code, out, said = run("explain", solubility, "-o", "why", "--inner-folds", "2")
        assert code == 0, said
        assert out.splitlines()[1].startswith(
            "wl n_iter=2 normalize=tanimoto, Gaussian process (gp) s="
        )
        assert sorted(os.listdir(tmp_path / "why")) == [
            "graphs.csv",
            "graphs.png",
            "patterns.csv",
            "patterns.png",
        ]
        head = (tmp_path / "why" / "graphs.csv").read_text().splitlines()[0]
        assert head == "graph,target,prediction,added most by"
        code, _, said = run("explain", solubility, "-k", "weighted-wwl", "-o", "again")
        assert code == 2
        assert "learns from classes" in said[0]
        assert not (tmp_path / "again").exists()

    def test_map(self, run, solubility, tmp_path):
        assert run("map", solubility, "-k", "vertex", "-o", "m.png")[0] == 0
        assert (tmp_path / "m.png").stat().st_size > 10_000

    def test_standard_deviations_of_a_gaussian_process(self, run, solubility, tmp_path):
        from sklearn.gaussian_process import GaussianProcessRegressor

        data = gramlet.read(solubility)
        kernel = gramlet.GraphKernelGP(gramlet.VertexHistogram())
        model = GaussianProcessRegressor(kernel, alpha=0.1).fit(data.graphs, data.target)
        gramlet.save(model, tmp_path / "gp.gramlet")
        code, _, said = run("predict", "gp.gramlet", solubility, "-o", "p.csv")
        assert code == 0, said
        with (tmp_path / "p.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        expected = model.predict(data.graphs, return_std=True)[1]
        found = [float(row["standard deviation"]) for row in rows]
        np.testing.assert_allclose(found, expected, rtol=1e-6)

    def test_info(self, run, solubility):
        _, out, _ = run("info", solubility)
        assert "target 'logS': real numbers from -0.75 to 5, median" in out
        _, out, _ = run("info", solubility, "--node-labels", "none")
        assert "node labels: none (all nodes get the same label" in out


class TestClasses:
    def test_a_rare_class(self, run, rare, tmp_path):
        weighted = ("--scoring", "roc_auc", "--class-weight", "balanced")
        code, out, said = run("evaluate", rare, *QUICK, *weighted, "--json", "r.json")
        assert code == 0, said
        assert "classes of 194 / 6" in out
        found = results(tmp_path / "r.json")
        assert found["vertex"].scoring == "roc_auc"
        assert found["vertex"].mean == 1.0
        assert found["majority"].mean == 0.5
        code, _, said = run(
            "evaluate", rare, *QUICK, "--class-weight", "1=30", "--class-weight", "0=1"
        )
        assert code == 0, said

    def test_decision_values_and_probabilities(self, run, rare, tmp_path):
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        line = ("train", rare, "-k", "vertex", "--C", "1", "--class-weight", "balanced")
        assert run(*line, "-o", "m.gramlet")[0] == 0
        data = gramlet.read(rare)
        model = gramlet.load(tmp_path / "m.gramlet")
        assert model.class_weight == "balanced"
        assert run("predict", "m.gramlet", rare, "-o", "p.csv")[0] == 0
        with (tmp_path / "p.csv").open(newline="") as file:
            shown = [float(row["decision for 1"]) for row in csv.DictReader(file)]
        np.testing.assert_array_equal(shown, model.decision_function(data.graphs))
        logistic = make_pipeline(
            gramlet.FeatureMap(gramlet.VertexHistogram()), LogisticRegression()
        )
        gramlet.save(logistic.fit(data.graphs, data.target), tmp_path / "l.gramlet")
        assert run("predict", "l.gramlet", rare, "-o", "p.csv")[0] == 0
        with (tmp_path / "p.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        shown = np.array([[float(r[f"probability of {c}"]) for c in "01"] for r in rows])
        np.testing.assert_allclose(shown, logistic.predict_proba(data.graphs))
        assert "decision for 1" in rows[0]

    def test_small_classes_are_left_out(self, run, rare):
        with rare.open("a") as file:
            file.write("CCF,2\nCF,2\n")
        code, out, said = run("evaluate", rare, *QUICK)
        assert code == 2
        assert out == ""
        assert "min_class_size=3" in said[0]
        code, out, said = run("evaluate", rare, *QUICK, "--min-class-size", "4")
        assert code == 0, said
        assert "2 graphs of smaller classes are left out" in out
        assert len(said) == 1
        assert said[0].startswith("gramlet: warning: min_class_size=4 leaves out 2 of 202 graphs")

    def test_scaffolds_stay_together(self, run, tmp_path):
        data = gramlet.load_dataset("B3DB")
        chosen = np.arange(0, len(data.graphs), 50)
        rows = [f"{data.molecules[i]},{data.target[i]}" for i in chosen]
        (tmp_path / "some.csv").write_text("\n".join(["smiles,crosses", *rows]) + "\n")
        line = ("evaluate", "some.csv", *QUICK, "--groups", "scaffold", "--json", "r.json")
        code, out, said = run(*line)
        assert code == 0, said
        assert "scaffolds kept whole" in out
        folds = results(tmp_path / "r.json")["vertex"].folds[0]
        found = gramlet.scaffolds([data.molecules[i] for i in chosen])
        parts: dict[str, set[int]] = {}
        for scaffold, fold in zip(found, folds, strict=True):
            parts.setdefault(scaffold, set()).add(int(fold))
        assert max(map(len, parts.values())) == 1
        assert len(parts) < len(chosen)
        code, _, said = run("evaluate", "MUTAG", *QUICK, "--groups", "scaffold")
        assert code == 2
        assert len(said) == 1
        assert said[0].startswith("gramlet: error: groups='scaffold' needs the molecules: ")

    def test_on_test_parts_and_with_draws(self, run, rare, tmp_path):
        line = ("evaluate", rare, *QUICK, "-k", "rge", "--draws", "2", "--json", "r.json")
        code, out, said = run(*line, "--selection", "best-of-grid", "-p", "n_components=4")
        assert code == 0, said
        assert "vertex (optimistic)" in out
        assert "chosen on the test parts" in out
        assert "(draws ±" in out

    def test_names_and_gzip(self, run, tmp_path):
        with gzip.open(tmp_path / "few.smi.gz", "wt") as file:
            file.write("CCO ethanol\nCC ethane\n")
        code, out, said = run("info", "few.smi.gz")
        assert code == 0, said
        assert "few: 2 graphs" in out
        assert "classes: none" in out
        assert gramlet.read(tmp_path / "few.smi.gz").ids == ["ethanol", "ethane"]


HEAD = "smiles,y\n"
WRONG = {
    "nan": (HEAD + "C,1.5\nCC,nan\nCCC,2.5\n", 1, "line 3"),
    "empty": (HEAD + "C,1.5\nCC,\nCCC,2.5\n", 1, "line 3"),
    "one class": (HEAD + "C,a\nCC,a\nCCC,a\n", 2, "'y' has 1 class ('a')"),
    "constant": (HEAD + "C,2.5\nCC,2.5\nCCC,2.5\n", 2, "'y' is 2.5 for all 3 graphs"),
    "unreadable": (HEAD + "X,1\nC(,2\n(C,1\n", 1, "line 2"),
    "no column": ("smiles,y,z\nC,1,1\nCC,2,2\n", 2, "target="),
    "separator": ("smiles|y\nC|1\nCC|2\n", 2, "wrong.csv"),
    "cut off": (HEAD + 'C,1\n"CC,2\n', 1, "wrong.csv"),
}


class TestWhatIsWrong:
    @pytest.mark.parametrize("command", ["evaluate", "train"])
    @pytest.mark.parametrize("kind", WRONG)
    def test_one_line_and_nothing_written(self, run, tmp_path, kept_work, kind, command):
        text, code, message = WRONG[kind]
        (tmp_path / "wrong.csv").write_text(text)
        target = ["--target", "nope"] if kind == "no column" else []
        output = ["--json", "r.json"] if command == "evaluate" else ["-o", "m.gramlet"]
        found, out, said = run(command, "wrong.csv", *target, *output)
        assert (found, out) == (code, "")
        assert len(said) == 1
        assert "wrong.csv" in said[0]
        assert message in said[0]
        assert os.listdir(tmp_path) == ["wrong.csv"]
        assert os.listdir(kept_work) == []

    def test_wrong_encoding_and_truncated_gzip(self, run, tmp_path):
        (tmp_path / "latin.csv").write_bytes("smiles,y\nC,Grün\nCC,Blau\n".encode("utf-16"))
        packed = gzip.compress((HEAD + "C,1\nCC,2\n" * 200).encode())
        (tmp_path / "half.csv.gz").write_bytes(packed[: len(packed) // 2])
        for name in ("latin.csv", "half.csv.gz"):
            code, out, said = run("evaluate", name)
            assert (code, out, len(said)) == (1, "", 1), said
            assert name in said[0]

    def test_all_left_out_is_an_error(self, run, tmp_path):
        (tmp_path / "wrong.csv").write_text(WRONG["unreadable"][0])
        code, _, said = run("evaluate", "wrong.csv", "--on-error", "skip")
        assert code == 1
        assert "none of 3" in said[-1]
        assert "wrong.csv" in said[-1]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ("--scoring nope", "Those that fit: "),
            ("--scoring r2", "is for regression"),
            ("--scoring neg_log_loss", "needs probabilities"),
            ("--classifier svr", "for classification; got 'svr'"),
            ("--classifier nope", "--classifier"),
            ("--class-weight 5=1", "there is no class '5'; the classes are -1, 1"),
            ("--class-weight 1=x", "write 'balanced', or a class and a number above 0"),
            ("--class-weight balanced --classifier ridge", "class_weight"),
            ("--task regression --min-class-size 3", "min_class_size"),
            ("--groups nope", "--groups"),
            ("--selection nope", "--selection"),
            ("--draws 0", "--draws"),
        ],
    )
    def test_wrong_options(self, run, tmp_path, options, message):
        code, out, said = run("evaluate", "MUTAG", *QUICK, *options.split())
        assert code in (1, 2)
        assert out == ""
        assert len(said) == 1
        assert message in said[0]

    def test_files_never_go_to_the_network(self, run, tmp_path, monkeypatch):
        """Not even for a file whose name is, or resembles, that of a data set."""
        monkeypatch.setenv("GRAMLET_URL", "http://127.0.0.1:9")
        (tmp_path / "NCI1").write_text("nothing that can be read")
        code, _, said = run("info", "NCI1")
        assert code == 1
        assert "no known kind" in said[0]
        (tmp_path / "NCI1.smi").write_text("CCO\n")
        code, out, _ = run("info", "NCI1.smi")
        assert code == 0
        assert out.startswith("NCI1: 1 graph\n")


@pytest.mark.parametrize(("scoring", "named"), [("f1", True), ("accuracy", False)])
def test_the_class_that_a_score_is_about_is_named(scoring, named, capsys):
    quick = ("--folds", "3", "--repeats", "1", "--inner-folds", "2")
    assert main(["evaluate", "MUTAG", "-k", "vertex", "--scoring", scoring, *quick]) == 0
    told = f"{scoring} is that of the class 'mutagenic'." in capsys.readouterr().out
    assert told == named
