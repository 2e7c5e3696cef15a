"""Unprepared data: commands must not drop, misread or refuse anything without a reason."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")

QUICK = ("--folds", "3", "--repeats", "1", "--inner-folds", "2", "-k", "vertex")
CHAINS = [f"{'C' * n}{end}" for n in range(1, 11) for end in ("", "O", "N")]


@pytest.fixture
def run(run, tmp_path, monkeypatch):
    """Run a command in an empty folder; standard error is a list of lines."""
    monkeypatch.chdir(tmp_path)

    def runner(*arguments):
        code, out, err = run(*arguments)
        return code, out, [line for line in err.splitlines() if "compiling" not in line]

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
        """TU files number their classes; a second file contains the names."""
        from gramlet.files.dataset import Dataset
        from gramlet.graphs.conversion.convert import as_batch

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


def decimal(number: float) -> str:
    return f"{number:.2f}".replace(".", ",")


def numbers(smiles: str, i: int = 0) -> float:
    return 0.5 * smiles.count("C") - 1.25 * smiles.count("O") + 0.01 * i


GERMAN = "\r\n".join(
    [
        "Name;Drug;L\u00f6slichkeit",
        *(f"m{i};{s};{decimal(numbers(s, i))}" for i, s in enumerate(CHAINS)),
    ]
)


class TestTables:
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
    def test_semicolons_decimal_commas_windows_lines_and_byte_order_marks(
        self, run, tmp_path, encoding
    ):
        (tmp_path / "german.csv").write_bytes(GERMAN.encode(encoding))
        code, out, said = run("info", "german.csv")
        assert (code, said) == (0, [])
        values = [numbers(s, i) for i, s in enumerate(CHAINS)]
        assert f"target 'L\u00f6slichkeit': real numbers from {min(values):.4g} to" in out
        code, out, _ = run("evaluate", "german.csv", *QUICK)
        assert code == 0
        assert "R²" in out
        assert run("train", "german.csv", "-o", "m", "-k", "vertex", "--inner-folds", "2")[0] == 0
        code, _, said = run("predict", "m", "german.csv", "-o", "told.csv")
        assert code == 0
        assert said[0].startswith("R\u00b2: ")
        assert [row["id"] for row in written(tmp_path / "told.csv")] == [
            f"m{i}" for i in range(len(CHAINS))
        ]

    def test_another_encoding_is_one_line(self, run, tmp_path):
        (tmp_path / "german.csv").write_bytes(GERMAN.encode("latin-1"))
        code, out, said = run("info", "german.csv")
        assert (code, out, len(said)) == (1, "", 1)
        assert "german.csv, line 1: this is not text in UTF-8 (byte 0xf6" in said[0]
        (tmp_path / "wide.csv").write_bytes(GERMAN.encode("utf-16"))
        code, out, said = run("info", "wide.csv")
        assert (code, out, len(said)) == (1, "", 1)
        assert "wide.csv, line 1: this is not text in UTF-8 (byte 0xff); save the" in said[0]

    def test_commas_that_may_be_between_thousands_are_refused(self, run, tmp_path):
        rows = [f"{s};{1 + i},{100 + i}" for i, s in enumerate(CHAINS)]
        (tmp_path / "unclear.csv").write_text("\n".join(["smiles;mass", *rows]) + "\n")
        code, out, said = run("evaluate", "unclear.csv")
        assert (code, out, len(said)) == (1, "", 1)
        assert "unclear.csv, line 2: the target 'mass': '1,100' may have a decimal comma" in said[0]

    def test_a_tab_file_of_drugs_with_one_that_cannot_be_read(self, run, tmp_path):
        rows = [f"D{i}\t{s}\t{numbers(s, i):.2f}" for i, s in enumerate(CHAINS)]
        text = "\n".join(["Drug_ID\tDrug\tY", "D\tnonsense\t1.5", *rows]) + "\n"
        (tmp_path / "drugs.tab").write_text(text)
        code, out, said = run("info", "drugs.tab")
        assert (code, out, len(said)) == (1, "", 1)
        assert "drugs.tab, line 2: 'nonsense' is not a valid SMILES string" in said[0]
        code, out, said = run("info", "drugs.tab", "--on-error", "skip")
        assert code == 0
        assert f"{len(CHAINS)} graphs" in out
        assert "1 of 31 molecules were left out" in said[0]

    @pytest.fixture
    def several(self, tmp_path) -> Path:
        rows = [f"a{i},{s},{numbers(s, i):.2f},{'O' in s}" for i, s in enumerate(CHAINS)]
        path = tmp_path / "several.csv"
        path.write_text("\n".join(["id,smiles,logP,toxic", *rows]) + "\n")
        return path

    def test_columns_that_could_be_the_target_are_named(self, run, several):
        assert "classes: none (--target reads one of 'logP', 'toxic')" in run("info", several)[1]
        code, _, said = run("evaluate", several, *QUICK)
        assert code == 2
        assert "'logP', 'toxic'. Name one with --target." in said[-1]
        assert (
            "classes: 2 (False 20, True 10), in 'toxic'"
            in run("info", several, "--target", "toxic")[1]
        )

    def test_columns_that_convert_does_not_write_are_named(self, run, several, tmp_path):
        code, _, said = run("convert", several, "out.jsonl")
        assert code == 0
        assert "several.csv has columns or values that are not written: 'logP', 'toxic'." in said[0]
        code, _, said = run("convert", several, "logP.jsonl", "--target", "logP")
        assert code == 0
        assert "'toxic'" in said[0]
        assert "'logP'" not in said[0]

    def test_properties_of_molecules_that_are_not_read_are_named(self, run, tmp_path):
        from rdkit import Chem

        with Chem.SDWriter(str(tmp_path / "props.sdf")) as writer:
            for i, smiles in enumerate(CHAINS):
                molecule = Chem.MolFromSmiles(smiles)
                molecule.SetProp("_Name", f"mol{i}")
                molecule.SetProp("logS", f"{numbers(smiles, i):.2f}")
                molecule.SetProp("source", "here")
                writer.write(molecule)
        assert "one of 'logS', 'source')" in run("info", "props.sdf")[1]
        assert "target 'logS': real numbers" in run("info", "props.sdf", "--target", "logS")[1]


class TestTargetsThatAreNotNeeded:
    @pytest.fixture
    def gaps(self, tmp_path) -> Path:
        """A table in which only some molecules have a target; the others are to be predicted."""
        rows = [f"{s},{numbers(s, i) if i % 3 else ''}" for i, s in enumerate(CHAINS)]
        path = tmp_path / "gaps.csv"
        path.write_text("\n".join(["smiles,y", *rows]) + "\n")
        return path

    def test_what_learns_nothing_does_without(self, run, gaps, tmp_path):
        rows = [f"{s},{numbers(s, i)}" for i, s in enumerate(CHAINS)]
        (tmp_path / "whole.csv").write_text("\n".join(["smiles,y", *rows]) + "\n")
        assert run("train", "whole.csv", "-o", "m", "-k", "vertex", "--inner-folds", "2")[0] == 0
        for command in (
            ("info", gaps),
            ("predict", "m", gaps, "-o", "told.csv"),
            ("gram", gaps, "-o", "K.npy", "-k", "vertex"),
            ("embed", gaps, "-o", "E.npy", "-k", "vertex"),
            ("map", gaps, "-o", "map.png", "-k", "vertex"),
        ):
            code, _, said = run(*command)
            assert code == 0, command
            assert "gaps.csv, line 2: the target 'y' is missing. It is not needed" in said[0]
        assert len(written(tmp_path / "told.csv")) == len(CHAINS)

    def test_what_learns_or_was_told_its_name_or_writes_it_does_not(self, run, gaps, tmp_path):
        for command in (
            ("evaluate", gaps),
            ("train", gaps, "-o", "m"),
            ("gram", gaps, "-o", "K.npy", "-k", "vertex", "--target", "y"),
            ("convert", gaps, "out.jsonl"),
        ):
            code, out, said = run(*command)
            assert (code, out, len(said)) == (1, "", 1), command
            assert "gaps.csv, line 2: the target 'y' is missing. Correct it" in said[0]
        assert sorted(file.name for file in tmp_path.iterdir()) == ["gaps.csv"]

    def test_a_file_that_cannot_be_read_at_all_is_still_refused(self, run, tmp_path):
        (tmp_path / "bad.csv").write_text("smiles,y\nnonsense(,1\nC,\n")
        code, out, said = run("gram", "bad.csv", "-o", "K.npy")
        assert (code, out, len(said)) == (1, "", 1)
        assert "bad.csv, line 2" in said[0]
        assert not (tmp_path / "K.npy").exists()


class TestFolders:
    @pytest.fixture
    def coloured(self, tmp_path) -> Path:
        networkx = pytest.importorskip("networkx")
        folder = tmp_path / "coloured"
        folder.mkdir()
        rows = ["file;kind;weight"]
        for i in range(12):
            graph = networkx.gnp_random_graph(6, 0.5, seed=i, directed=i % 2 == 5)
            for node in graph:
                graph.nodes[node]["colour"] = "red" if (node + i) % 2 else "blue"
            networkx.write_graphml(graph, folder / f"g{i}.graphml")
            rows.append(f"g{i};{'ab'[i % 2]};{i},5")
        (folder / "table.csv").write_text("\n".join(rows) + "\n")
        return folder

    def test_data_of_nodes_under_another_name(self, run, coloured):
        code, out, said = run("info", coloured, "--target", "kind")
        assert code == 0
        assert "node labels: none" in out
        assert "nodes carry data under 'colour', which is not read." in said[0]
        assert "label=" in said[0]
        code, out, said = run("info", coloured, "--target", "kind", "--label", "colour")
        assert (code, said) == (0, [])
        assert "node labels: 2 (blue, red)" in out
        assert (
            "target 'weight': real numbers from 0.5 to 11.5"
            in run("info", coloured, "--target", "weight", "--label", "colour")[1]
        )

    def test_messages_about_directions_name_options(self, run, coloured, tmp_path):
        reading = ("--target", "kind", "--label", "colour")
        assert (
            run("train", coloured, "-o", "m", "-k", "vertex", "--inner-folds", "2", *reading)[0]
            == 0
        )
        code, _, said = run("predict", "m", coloured, "--directed", "--label", "colour")
        assert code == 2
        assert "Convert one of them: as_batch(x, directed=True)" in said[-1]


class TestNetworks:
    def test_values_of_graphs_that_are_not_read_are_named(self, run, tmp_path):
        nodes, edges = [{"id": 0}, {"id": 1}], [{"source": 0, "target": 1}]
        graphs = [
            {"graph": {"id": f"n{i}", "type": "ab"[i % 2]}, "nodes": nodes, "edges": edges}
            for i in range(6)
        ]
        (tmp_path / "nets.jsonl").write_text("\n".join(map(json.dumps, graphs)))
        code, out, _ = run("info", "nets.jsonl")
        assert code == 0
        assert "classes: none (--target reads one of 'type')" in out
        code, _, said = run("evaluate", "nets.jsonl")
        assert code == 2
        assert "'type'. Name one with --target" in said[-1]
        code, _, said = run("convert", "nets.jsonl", "nets.graphml")
        assert code == 0
        assert "values that are not written: 'type'" in said[0]
        code, _, said = run("convert", "nets.jsonl", "with.graphml", "--target", "type")
        assert (code, said) == (0, [])

    def test_a_table_of_edges_is_told_from_one_of_molecules(self, run, tmp_path):
        (tmp_path / "friends.csv").write_text("source,target,weight\nanna,bob,1\nbob,carl,2\n")
        code, _, said = run("info", "friends.csv")
        assert code == 2
        assert "Tables of edges are not read" in said[0]
