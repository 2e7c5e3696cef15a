"""No command writes to what it reads: refused before any work is done, exit code 2."""

from __future__ import annotations

import zipfile

import pytest

from gramlet.cli import main
from reference.tu_files import put

pytest.importorskip("rdkit", reason="SMILES strings are read by RDKit")

TABLE = "graph,smiles,y\n" + "".join(
    f"m{i},{'C' * (1 + i % 5)}{'NO'[i % 2]},{'ab'[i % 2]}\n" for i in range(12)
)
GRAPH = '{"nodes": [{"id": 0}, {"id": 1}], "edges": [{"source": 0, "target": 1}]}'


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """Run a command that must be refused and must not change the file."""
    monkeypatch.chdir(tmp_path)

    def run(place: str, what: str, *arguments: str) -> None:
        before = (tmp_path / place).read_bytes()
        capsys.readouterr()
        assert main(list(arguments)) == 2, arguments
        err = capsys.readouterr().err
        assert f"{place.rpartition('/')[2]}' is {what}; name another place for the output." in err
        assert len(err.splitlines()) == 1
        assert (tmp_path / place).read_bytes() == before

    return run


@pytest.mark.parametrize(
    "command",
    [
        "gram {} -o {}",
        "embed {} -o {}",
        "embed {} --hashed 8 -o {}",
        "train {} -o {}",
        "neighbors {} -o {}",
        "duplicates {} -o {}",
        "map {} -o {}",
        "report {} -o {}",
        "evaluate {} --json {}",
        "predict none.gramlet {} -o {}",
    ],
)
def test_input(refused, tmp_path, command):
    (tmp_path / "a.csv").write_text(TABLE)
    (tmp_path / "link.csv").symlink_to("a.csv")
    refused("a.csv", "INPUT itself", *command.format("a.csv", "a.csv").split())
    refused("a.csv", "INPUT itself", *command.format("link.csv", "./a.csv").split())


def test_a_table_that_explain_would_replace(refused, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "graphs.csv").write_text(TABLE)
    refused("out/graphs.csv", "INPUT itself", "explain", "out/graphs.csv", "-o", "out")


def test_a_model_and_the_list_of_skipped_rows(refused, tmp_path):
    for name in ("a.csv", "z.skipped.csv"):
        (tmp_path / name).write_text(TABLE)
    (tmp_path / "m.csv").write_text("a model")
    refused("m.csv", "MODEL itself", "predict", "m.csv", "a.csv", "-o", "m.csv")
    line = ["predict", "m.csv", "z.skipped.csv", "--on-error", "skip", "-o", "z.csv"]
    refused("z.skipped.csv", "INPUT itself", *line)


def test_a_query(refused, tmp_path):
    for name in ("a.csv", "q.csv"):
        (tmp_path / name).write_text(TABLE)
    line = ["neighbors", "a.csv", "--query", "q.csv", "-o", "q.csv"]
    refused("q.csv", "the input of --query itself", *line)


def test_files_of_a_folder_or_archive(refused, tmp_path):
    folder = tmp_path / "nets"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.json").write_text(GRAPH)
    (folder / "targets.csv").write_text("file,y\na,1\nb,2\n")
    refused("nets/targets.csv", "a file of INPUT", "gram", "nets", "-o", "nets/targets.csv")
    refused("nets/a.json", "a file of INPUT", "evaluate", "nets", "--json", "nets/a.json")
    put(tmp_path)
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        for file in (tmp_path / "SET").iterdir():
            archive.write(file, f"SET/{file.name}")
    refused("two.zip", "INPUT itself", "train", "two.zip/SET", "-o", "two.zip")
    refused("SET/SET_A.txt", "a file of INPUT", "train", "SET", "-o", "SET/SET_A.txt")


def test_names_that_lead_nowhere(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "K.npy").write_text("from an earlier run")
    for name in ("loop", "a\0b", "~nobody-of-this-name/a.csv", "x" * 300):
        assert main(["gram", name, "-o", "K.npy"]) in (1, 2)
        assert "itself" not in capsys.readouterr().err


def test_other_files_beside_the_input_are_written_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(tmp_path)
    for _ in range(2):
        assert main(["gram", "SET", "-k", "vertex", "-o", "SET/K.csv"]) == 0
