"""``python -m benchmarks papers``: it lists tables, runs one, and reports errors."""

from __future__ import annotations

import pytest
from benchmarks.papers.cells import Cell, CellFolder
from benchmarks.papers.command import main
from benchmarks.papers.tables import EXPERIMENTS, TABLES


@pytest.fixture
def run(capsys):
    def runner(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:  # how argparse reports wrong use
            code = end.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return runner


def test_without_arguments_tables_are_listed(run):
    code, out, _ = run()
    assert code == 0
    for name in [*TABLES, *EXPERIMENTS]:
        assert any(line.split()[0] == name for line in out.splitlines() if line.split())


def test_a_row_beside_the_published_number(run, tmp_path):
    code, out, err = run(
        "mlg-1",
        "--data",
        "MUTAG",
        "--row",
        "SP",
        "--repeats",
        "2",
        "--store",
        tmp_path,
    )
    assert code == 0
    (line,) = [line for line in out.splitlines() if line.startswith("MUTAG")]
    cells = {cell.selection: cell for cell in CellFolder(tmp_path).cells("mlg-1")}
    assert set(cells) == {"nested", "best-of-grid"}
    assert "85.5 ± 2.5" in line
    assert f"{cells['nested'].mean:.2f} ± {cells['nested'].std:.2f}" in line
    assert f"{cells['nested'].mean - 85.5:+.2f}" in line
    assert "best of grid (optimistic)" in out
    assert " × 2, " in out
    assert "MUTAG, SP: done" in err


def test_rows_without_data_say_how_to_get_it(run, tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMLET_DATA", "")
    monkeypatch.setenv("GRAMLET_CACHE", str(tmp_path / "empty"))
    code, out, _ = run(
        "rge-1",
        "--data",
        "PTC_MR",
        "--row",
        "V-OA",
        "--protocol",
        "nested",
        "--store",
        tmp_path,
    )
    assert code == 0
    assert "PTC_MR is missing" in out
    assert "56.4 ± 1.8" in out


def test_an_experiment_beside_its_published_times(run, tmp_path):
    code, out, _ = run("weighted-3", "--data", "MUTAG", "--store", tmp_path)
    assert code == 0
    assert any("stochastic" in line and "1' 32\"" in line for line in out.splitlines())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "There is no table 'nothing'; the tables are rge-1"),
        (["mlg-1", "--data", "COLLAB"], "no data set 'COLLAB'"),
        (["mlg-1", "--row", "GIN"], "no row 'GIN'"),
        (["planted", "--row", "WWL"], "has no rows to choose"),
        (["mlg-1", "--repeats", "0"], "repeats"),
    ],
)
def test_wrong_use(run, tmp_path, arguments, message):
    code, _, err = run(*arguments, "--store", tmp_path)
    assert code == 2
    assert message in err


def test_cells_of_another_version_are_not_shown(run, tmp_path):
    old = Cell("mlg-1", "SP", "MUTAG", "nested", [[0.123]], 1.0, "", 0.25, version="0.0.1")
    CellFolder(tmp_path).write(old)
    options = ("--data", "MUTAG", "--row", "SP", "--repeats", "1", "--protocol", "nested")
    code, out, _ = run("mlg-1", *options, "--store", tmp_path)
    assert code == 0
    assert "12.30" not in out
