"""The command line: what it prints, what it writes, how it fails."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import gramlet
from gramlet.cli.options import Comparing, parse_params
from gramlet.cli.program import app
from gramlet.common.safe_writing import writing
from gramlet.evaluation import Result
from gramlet.kernels import registry

QUICK = ["--folds", "3", "--repeats", "1", "--inner-folds", "2"]

SMILES = "smiles,label\n" + "".join(
    f"{'C' * n}{end},{label}\n" for n in range(1, 9) for end, label in (("O", "yes"), ("", "no"))
)


@pytest.fixture
def molecules(tmp_path):
    pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")
    path = tmp_path / "molecules.csv"
    path.write_text(SMILES)
    return path


def command(*arguments: str, **more):
    """Run a command in a separate process."""
    line = [sys.executable, "-c", "import sys; from gramlet.cli import main; sys.exit(main())"]
    return subprocess.Popen(
        [*line, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
    )


def one_line_error(err: str) -> str:
    lines = err.splitlines()
    assert len(lines) == 1, err
    assert lines[0].startswith("gramlet: error: "), err
    return lines[0]


class TestStart:
    def test_help_lists_the_commands(self, run):
        code, out, err = run("--help")
        assert code == 0
        assert not err
        commands = [line.split()[0] for line in out.split("Commands:")[1].splitlines() if line]
        assert commands[0] == "evaluate"
        assert {"gram", "train", "predict", "kernels", "datasets", "info"} < set(commands)
        assert run()[:2] == (0, out)

    def test_each_command_has_help(self):
        names = [
            registered.name or registered.callback.__name__
            for registered in app.registered_commands
        ]
        for name in names:
            shown = CliRunner().invoke(app, [name, "--help"])
            assert shown.exit_code == 0
            assert "Usage: " in shown.output

    def test_version(self, run):
        assert run("--version")[:2] == (0, f"gramlet {gramlet.__version__}\n")

    def test_the_package_runs_as_a_module(self):
        command = [sys.executable, "-m", "gramlet"]
        found = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert found.stdout == f"gramlet {gramlet.__version__}\n"
        assert subprocess.run([*command, "nonsense"], capture_output=True).returncode == 2

    @pytest.mark.parametrize("argument", ["--help", "--version", "evaluate --help"])
    def test_help_imports_nothing_heavy(self, argument):
        script = (
            "import sys\nfrom gramlet.cli import main\n"
            f"assert main({argument.split()!r}) == 0\n"
            "heavy = {'numpy', 'scipy', 'numba', 'sklearn', 'joblib', 'rich'} & set(sys.modules)\n"
            "assert not heavy, heavy"
        )
        subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)

    def test_lists_import_no_compiler(self):
        script = (
            "import sys\nfrom gramlet.cli import main\n"
            "assert main(['kernels']) == 0\nassert main(['datasets']) == 0\n"
            "assert not {'numba', 'sklearn'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


class TestEvaluate:
    def test_the_table_has_the_baselines_beside_what_was_asked_for(self, run):
        code, out, err = run("evaluate", "-k", "wl-oa", "-p", "n_iter=1,2", *QUICK)
        assert code == 0
        assert "\x1b" not in out
        rows = [line.split()[0] for line in out.split("───\n")[1].split("\n\n")[0].splitlines()]
        assert rows == ["majority", "size", "vertex", "edge", "wl-oa"]
        assert out.startswith("MUTAG: 188 graphs")
        assert "Best: " in out
        assert all(line.startswith("gramlet: compiling") for line in err.splitlines())

    def test_rows_by_default_suit_the_columns(self, run, molecules):
        quick = (*QUICK, "--C", "1", "-p", "n_iter=1", "-p", "radius=1", "-p", "distance=4")
        code, out, err = run("evaluate", molecules, *quick)
        assert code == 0, err
        lines = out.split("───\n")[1].split("\n\n")[0].splitlines()
        kernels = ["morgan", "wl-oa", "wl", "sp", "nspdk", "wl-oa + rbf(descriptors)", "auto"]
        rows = [line.split("  ")[0] for line in lines]
        assert rows == ["majority", "size", "vertex", "edge", *kernels]
        assert "kernel " in lines[-1]
        assert "Normalisation: tanimoto (vertex, edge, morgan, wl-oa" in out
        code, out, _ = run("evaluate", molecules, "-k", "wl", "--normalize", "none", *quick[:-6])
        assert "Normalisation: none (vertex, edge, wl)." in out

    def test_json_holds_the_results(self, run, tmp_path):
        path = tmp_path / "results.json"
        code, _, _ = run("evaluate", "-k", "wl", "-p", "n_iter=2", "--json", path, *QUICK)
        assert code == 0
        document = json.loads(path.read_text())
        results = [Result.from_dict(fields) for fields in document["results"]]
        assert document["dataset"] == "MUTAG"
        names = ["majority", "size", "vertex", "edge", "wl"]
        assert [result.name for result in results] == names
        assert results[4].most_chosen()["n_iter"] == (2, 1.0)
        assert results[4].accuracies.shape == (1, 3)
        assert os.listdir(tmp_path) == ["results.json"]

    def test_the_seed_and_the_threads(self, run, tmp_path):
        def accuracies(*more):
            path = tmp_path / "x.json"
            assert run("evaluate", "-k", "vertex", "--json", path, *QUICK, *more)[0] == 0
            return [fields["accuracies"] for fields in json.loads(path.read_text())["results"]]

        first = accuracies("--seed", "1", "--jobs", "1")
        assert accuracies("--seed", "1", "--jobs", "2") == first
        assert accuracies("--seed", "2") != first

    def test_a_share_held_out(self, run):
        code, out, _ = run("evaluate", "-k", "vertex", *QUICK, "--holdout", "0.25")
        assert code == 0
        assert "75/25 split × 1" in out
        assert "one test part: no test of significance" in out

    def test_molecules(self, run, molecules):
        code, out, _ = run("evaluate", molecules, "-k", "vertex", *QUICK)
        assert code == 0
        assert "molecules: 16 graphs" in out

    def test_a_kernel_that_fails_leaves_the_others_their_table(self, run, monkeypatch):
        def refuse(self, batch, y, tiling):
            raise ValueError("not these graphs")

        monkeypatch.setattr(gramlet.WassersteinWL, "_fit", refuse)
        code, out, err = run("evaluate", "-k", "wwl", *QUICK)
        assert code == 1
        assert "edge" in out
        assert "no result for 'wwl': not these graphs" in err.splitlines()[-1]

    def test_fit_once_spares_only_kernels_without_classes(self, run, tmp_path):
        path = tmp_path / "results.json"
        names = ("-k", "propagation", "-k", "weighted-wwl")
        options = ("-p", "n_iter=1", "-p", "gamma=1", "-p", "radius=0.5")
        code, _, _ = run("evaluate", *names, *options, "--fit-once", "--json", path, *QUICK)
        assert code == 0
        found = {r["name"]: r["refitted"] for r in json.loads(path.read_text())["results"]}
        assert not found["propagation"]
        assert found["weighted-wwl"]

    def test_values_of_c_and_a_word_when_they_are_too_small(self, run):
        costs = ("--C", "1e-3", "--C", "0.1", "--C", "10")
        code, out, _ = run("evaluate", "-k", "vertex", *QUICK, *costs)
        assert code == 0
        assert "C 10 (" in out
        assert "C: the largest value tried, 10, was chosen in" in out
        code, _, err = run("evaluate", "-k", "vertex", *QUICK, "--C", "-1")
        assert code == 2
        assert "C" in one_line_error(err)


class TestGram:
    @pytest.mark.parametrize("ending", ["npy", "npz", "csv"])
    def test_it_writes_what_gram_gives(self, run, tmp_path, ending):
        path = tmp_path / f"K.{ending}"
        how = ("-k", "wl", "-p", "n_iter=2", "--normalize", "cosine")
        code, out, _ = run("gram", "MUTAG", *how, "-o", path)
        assert code == 0
        made = "WeisfeilerLehman(n_iter=2, normalize='cosine')"
        assert out.startswith(f"188 × 188 matrix of {made} in")
        mutag = gramlet.load_dataset("MUTAG")
        expected = gramlet.gram(mutag.graphs, "wl", n_iter=2, normalize="cosine")
        if ending == "npy":
            found = np.load(path)
        elif ending == "npz":
            with np.load(path, allow_pickle=False) as members:
                found = members["gram"]
                np.testing.assert_array_equal(members["target"], mutag.target)
        else:
            found = np.loadtxt(path, delimiter=",")
        np.testing.assert_array_equal(found, expected)
        assert os.listdir(tmp_path) == [path.name]

    def test_a_supervised_kernel_gets_the_classes(self, run, tmp_path):
        names = [row.name for row in registry.entries("kernel") if row.tags.supervised]
        for name in names:
            assert run("gram", "MUTAG", "-k", name, "-o", tmp_path / "K.npy")[0] == 0
            assert np.load(tmp_path / "K.npy").shape == (188, 188)


class TestModels:
    def test_train_and_predict(self, run, tmp_path):
        model, out_file = tmp_path / "m.gramlet", tmp_path / "p.csv"
        code, out, _ = run("train", "MUTAG", "-k", "wl", "-p", "n_iter=2", "-o", model)
        assert code == 0
        assert out.startswith("wl n_iter=2 normalize=tanimoto, support vectors (svc) C=")
        assert "% in cross-validation, which also chose it" in out
        code, out, err = run("predict", model, "MUTAG")
        assert code == 0
        mutag = gramlet.load_dataset("MUTAG")
        fitted = gramlet.load(model)
        assert isinstance(fitted, gramlet.GraphClassifier)
        expected = fitted.predict(mutag.graphs)
        head, *lines = [line.split() for line in out.splitlines()]
        assert head == ["id", "prediction", "probability", "nearest", "similarity", "inside"]
        assert [int(line[1]) for line in lines] == expected.tolist()
        chances = fitted.predict_proba(mutag.graphs)
        chances = chances[np.arange(188), np.searchsorted(fitted.classes_, expected)]
        np.testing.assert_allclose([float(line[2]) for line in lines], chances, rtol=1e-3)
        assert {line[5] for line in lines} == {"yes"}
        printed = run("predict", model, "MUTAG", "--csv")[1]
        rows = list(csv.DictReader(printed.splitlines()))
        assert list(rows[0]) == head
        assert [float(row["probability"]) for row in rows] == chances.tolist()
        right = np.count_nonzero(expected == mutag.target)
        assert err.splitlines()[-1] == f"accuracy: {100 * right / 188:.1f} % ({right} of 188)"
        assert run("predict", model, "MUTAG", "-o", out_file)[0] == 0
        with out_file.open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert [int(row["prediction"]) for row in rows] == expected.tolist()
        assert [int(row["graph"]) for row in rows] == list(range(188))

    def test_a_given_c_is_kept(self, run, tmp_path):
        model = tmp_path / "m.gramlet"
        code, out, _ = run("train", "MUTAG", "-k", "vertex", "--C", "7", "-o", model)
        assert code == 0
        assert "C=7" in out
        assert "also chose it" not in out
        assert gramlet.load(model).best_params_["C"] == 7.0

    def test_auto_is_the_default(self, run, molecules, tmp_path):
        model = tmp_path / "m.gramlet"
        code, out, _ = run("train", molecules, "--inner-folds", "2", "-o", model)
        assert code == 0
        fitted = gramlet.load(model)
        assert fitted.kernel == "auto"
        assert out.startswith(f"{fitted.best_params_['kernel']} ")
        assert fitted.n_jobs is None
        assert fitted.kernel_.n_jobs is None

    def test_graphs_are_named_by_their_ids(self, run, molecules, tmp_path):
        model, new = tmp_path / "m.gramlet", tmp_path / "new.csv"
        rows = [f"m{i},{row}" for i, row in enumerate(SMILES.split()[1:])]
        molecules.write_text("\n".join(["id,smiles,label", *rows]) + "\n")
        assert run("train", molecules, "-k", "vertex", "--C", "1", "-o", model)[0] == 0
        new.write_text('smiles,name\nCCCCO,a\nCCCC,"b,2"\n')
        code, out, _ = run("predict", model, new, "--id", "name", "--csv")
        assert code == 0
        rows = list(csv.DictReader(out.splitlines()))
        assert [row["id"] for row in rows] == ["a", "b,2"]
        assert [row["nearest"] for row in rows] == ["m6", "m7"]
        assert [row["similarity"] for row in rows] == ["1.0", "1.0"]
        new.write_text("smiles\nCCCCO\nCCCC\n")
        again = run("predict", model, new, "--csv")[1]
        assert [row["id"] for row in csv.DictReader(again.splitlines())] == ["0", "1"]

    def test_words_as_classes(self, run, molecules, tmp_path):
        model = tmp_path / "m.gramlet"
        code, _, _ = run("train", molecules, "-k", "vertex", "--inner-folds", "2", "-o", model)
        assert code == 0
        new = tmp_path / "new.smi"
        new.write_text("CCCCCCO first\nCCCCCC second\n")
        code, out, err = run("predict", model, new)
        assert code == 0
        assert [line.split()[:2] for line in out.splitlines()[1:]] == [
            ["first", "yes"],
            ["second", "no"],
        ]
        assert "accuracy" not in err  # names of molecules are not classes

    def test_a_kernel_is_no_model_to_predict_with(self, run, tmp_path):
        path = tmp_path / "kernel.gramlet"
        gramlet.save(gramlet.VertexHistogram().fit([([(0, 1)], ["C", "O"])]), path)
        code, _, err = run("predict", path, "MUTAG")
        assert code == 2
        assert "which does not predict" in one_line_error(err)


class TestLists:
    def test_kernels_are_those_of_the_registry(self, run):
        _, out, _ = run("kernels")
        for row in registry.entries():
            assert any(line.split()[:1] == [row.name] for line in out.splitlines())
            assert row.summary in out

    def test_each_kernel_is_told_of(self, run):
        for row in registry.entries():
            code, out, _ = run("kernels", row.name)
            assert code == 0
            assert row.class_name in out
            for name in row.make().get_params(deep=False):
                assert any(line.split()[:1] == [name] for line in out.splitlines())

    def test_datasets(self, run, tmp_path, monkeypatch):
        monkeypatch.delenv("GRAMLET_DATA", raising=False)
        (tmp_path / "NCI1.zip").touch()
        _, out, _ = run("datasets", "--data-dir", tmp_path)
        rows = {line.split()[0]: line.split() for line in out.splitlines() if line.strip()}
        assert rows["MUTAG"][-1] == "embedded"
        assert rows["NCI1"][-1] == str(tmp_path)
        assert {facts.name for facts in gramlet.list_datasets()} <= set(rows)

    def test_info(self, run, tmp_path):
        _, out, _ = run("info", "MUTAG")
        assert "188 graphs" in out
        assert "classes: 2 (not mutagenic 63, mutagenic 125)" in out
        assert "node labels: 7 (C, N, O, F, I, Cl, Br)" in out
        graphs = gramlet.GraphBatch.from_edges(
            [[(0, 1)], [], []], n_nodes=[2, 1, 0], node_attributes=[[[0.5], [1]], [[2]], []]
        )
        gramlet.write_tu(graphs, tmp_path / "ODD")
        code, out, _ = run("info", tmp_path / "ODD")
        assert code == 0
        assert "classes: none" in out
        assert "node attributes: 1" in out
        assert "graphs without edges: 2, of them 1 without nodes" in out


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ("evaluat", "No such command 'evaluat'"),
            ("evaluate --folds x", "--folds"),
            ("evaluate --folds 1", "--folds"),
            ("evaluate --nope", "--nope"),
            ("evaluate --kernel wll", "Did you mean 'wl'?"),
            ("evaluate --folds 100", "Class 'not mutagenic' has 63 graphs, fewer than the 100"),
            ("evaluate --param depth=1", "none of the kernels has a parameter 'depth'"),
            ("evaluate --param n_iter=-1", "'n_iter' parameter of WLOptimalAssignment"),
            ("evaluate --holdout 2", "'--holdout':"),
            ("evaluate --json no/such/x.json", "there is no folder 'no/such'"),
            ("evaluate no/such.zip", "there is no file or folder 'no/such.zip'"),
            ("evaluate no.csv", "there is no file or folder 'no.csv'"),
            ("evaluate MUTAG --data-dir no/such", "'no/such' is not a folder"),
            ("info MUTAG --target x", "--target names a column of a file"),
            ("gram MUTAG", "Missing option"),
            ("gram MUTAG -o K.txt", "must end in .npy or .npz or .csv"),
            ("gram MUTAG -o no/such/K.npy", "there is no folder 'no/such'"),
            ("gram MUTAG -o K.npy -k nope", "No kernel is called 'nope'"),
            ("gram MUTAG -o K.npy -p depth=1", "has no parameter 'depth'. It has: base,"),
            ("gram MUTAG -o K.npy -p n_iter", "write it as key=value"),
            ("gram MUTAG -o K.npy -p n_iter=1 -p n_iter=2", "--param 'n_iter' is given twice"),
            ("gram MUTAG -o K.npy -p n_iter=-1", "'n_iter' parameter of WeisfeilerLehman"),
            ("train MUTAG -o .", "is a folder; name a file"),
            ("train MUTAG -o m.gramlet --C -1", "must be positive"),
            ("train MUTAG -o m.gramlet -p n_iter=-1 -k wl", "'n_iter' parameter of"),
            ("train MUTAG -o m.gramlet -p depth=1", "None of the kernels has a parameter 'depth'"),
            ("train MUTAG -o m.gramlet --classifier gp", "one of svc, ridge for classification"),
            ("train MUTAG -o m.gramlet --normalize both", "--normalize"),
            ("gram MUTAG -o K.npy -k netlsd --normalize cosine", "has no parameter normalize"),
            ("predict no.gramlet MUTAG", "there is no file 'no.gramlet'"),
            ("kernels nope", "No kernel is called 'nope'"),
        ],
    )
    def test_wrong_use_is_told_in_one_line(self, run, tmp_path, monkeypatch, arguments, message):
        monkeypatch.chdir(tmp_path)
        code, out, err = run(*arguments.split())
        assert code == 2
        assert not out
        assert message in one_line_error(err)
        assert os.listdir(tmp_path) == []

    def test_unknown_and_unreachable_data_sets(self, run, monkeypatch, tmp_path):
        monkeypatch.setenv("GRAMLET_URL", "http://127.0.0.1:9")
        monkeypatch.setenv("GRAMLET_CACHE", str(tmp_path))
        monkeypatch.delenv("GRAMLET_DATA", raising=False)
        code, _, err = run("info", "MUTAGG")
        assert code == 2
        assert "Did you mean MUTAG?" in one_line_error(err)
        assert "--data-dir" in err
        code, _, err = run("info", "NCI1")  # the name is right, the network failed
        assert code == 1
        one_line_error(err)

    def test_damaged_data_is_a_failure(self, run, tmp_path):
        (tmp_path / "bad.zip").write_bytes(b"no archive")
        code, _, err = run("info", tmp_path / "bad.zip")
        assert code == 1
        one_line_error(err)
        (tmp_path / "m.gramlet").write_bytes(b"no model")
        code, _, err = run("predict", tmp_path / "m.gramlet", "MUTAG")
        assert code == 1
        one_line_error(err)

    def test_data_without_classes(self, run, tmp_path):
        graphs = gramlet.GraphBatch.from_edges([[(0, 1)], [(0, 1), (1, 2)]])
        gramlet.write_tu(graphs, tmp_path / "BARE")
        code, _, err = run("evaluate", tmp_path / "BARE")
        assert code == 2
        assert "has no classes or numbers to learn" in one_line_error(err)

    def test_a_molecule_that_is_none(self, run, molecules):
        molecules.write_text(SMILES + "C(C,yes\n")
        code, _, err = run("info", molecules)
        assert code == 1
        assert "molecules.csv, line 18: 'C(C' is not a valid SMILES string" in one_line_error(err)
        code, _, err = run("info", molecules, "--target", "nope")
        assert code == 2

    def test_debug_shows_the_traceback(self, run):
        code, _, err = run("kernels", "nope", "--debug")
        assert code == 2
        assert "Traceback" in err
        assert err.splitlines()[-1].startswith("gramlet: error: ")

    def test_a_mistake_of_ours_is_told_as_such(self, run, monkeypatch):
        def broken(name):
            raise AttributeError("oops")

        monkeypatch.setattr(registry, "get", broken)
        code, _, err = run("kernels", "wl")
        assert code == 1
        assert "AttributeError: oops. This should not happen" in one_line_error(err)

    def test_warnings_take_a_line_each(self, run, tmp_path):
        folder = tmp_path / "LOOPS"
        folder.mkdir()
        (folder / "LOOPS_A.txt").write_text("1, 1\n1, 2\n2, 1\n")
        (folder / "LOOPS_graph_indicator.txt").write_text("1\n1\n")
        code, _, err = run("info", folder)
        assert code == 0
        assert len(err.splitlines()) == 1
        assert err.startswith("gramlet: warning: ")
        assert "self-loop" in err


class TestFiles:
    def test_a_file_that_fails_half_way_is_not_left(self, tmp_path):
        path = tmp_path / "K.npy"
        path.write_text("before")

        def fail():
            with writing(path) as place:
                place.write_text("half")
                raise RuntimeError("full")

        with pytest.raises(RuntimeError):
            fail()
        assert path.read_text() == "before"
        assert os.listdir(tmp_path) == ["K.npy"]

    def test_values_of_parameters(self):
        given = ["a=1", "b=-1e-3", "c=true", "d=None", "e=edge", "f=1,2.5", "g=[1, 'x']", "h=a,b"]
        assert parse_params(given) == {
            "a": 1,
            "b": -1e-3,
            "c": True,
            "d": None,
            "e": "edge",
            "f": [1, 2.5],
            "g": [1, "x"],
            "h": ["a", "b"],
        }
        assert parse_params(["x=__import__('os')"]) == {"x": "__import__('os')"}


@pytest.mark.exhaustive
class TestProcesses:
    def test_exit_codes_reach_the_shell(self):
        assert command("kernels").wait(60) == 0
        process = command("evaluate", "no/such")
        _, err = process.communicate(timeout=60)
        assert process.returncode == 2
        one_line_error(err)

    def test_a_pipe_that_nobody_reads_is_no_error(self):
        process = command("datasets")
        process.stdout.close()
        err = process.stderr.read()
        assert process.wait(60) != 0
        assert err == ""


@pytest.mark.parametrize(
    ("asked", "n_graphs", "expected"), [(None, 1999, 3), (None, 2000, 1), (5, 2000, 5), (1, 10, 1)]
)
def test_many_graphs_are_divided_once_unless_more_is_asked_for(asked, n_graphs, expected):
    assert Comparing(repeats=asked).protocol(n_graphs).repeats == expected
