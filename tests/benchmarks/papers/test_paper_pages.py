"""Pages on papers: every number is that of a cell or a published one; missing cells are shown."""

from __future__ import annotations

from pathlib import Path

from benchmarks.papers.cells import Cell, CellFolder
from benchmarks.papers.tables import EXPERIMENTS, TABLES

from benchmarks.papers import pages

DOCS = Path(__file__).parents[3] / "docs"


def test_a_cell_is_shown_beside_the_published_number(tmp_path):
    folder = CellFolder(tmp_path)
    folder.write(Cell("mlg-1", "SP", "MUTAG", "nested", [[0.8], [0.9]], 12.0, "", 0.25))
    text = pages.accuracy_table(TABLES["mlg-1"], folder)
    (line,) = [line for line in text.splitlines() if line.startswith("| MUTAG | SP |")]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells == [
        "MUTAG",
        "SP",
        "85.5 ± 2.5",
        "85.0 ± 7.1",
        "6.1",
        "-0.5",
        "*not\N{NO-BREAK SPACE}computed*",
        "",
        "",
        "2",
        "12",
    ]
    assert "1 of 70 cells have been computed" in text
    assert "(optimistic)" in text


def test_cells_of_another_version_say_so(tmp_path):
    folder = CellFolder(tmp_path)
    old = Cell("mlg-1", "SP", "MUTAG", "nested", [[0.8]], 1.0, "", 0.25, version="0.0.1")
    folder.write(old)
    assert "| 80.0 (version 0.0.1) |" in pages.accuracy_table(TABLES["mlg-1"], folder)


def test_what_was_reached_is_counted(tmp_path):
    folder = CellFolder(tmp_path)
    for row, way, right in (
        ("SP", "nested", 0.85),
        ("SP", "best-of-grid", 0.87),
        ("WL", "nested", 0.7),
    ):
        scores = [[right - 0.01], [right + 0.01]]
        folder.write(Cell("mlg-1", row, "MUTAG", way, scores, 1.0, "", 0.25))
    text = pages.reached(TABLES["mlg-1"], folder)
    assert "Nested: 1 of 2 cells lie within two standard errors" in text
    assert "below: WL on MUTAG (-14.5)" in text
    assert "as a mean over the rows: MUTAG +2.0." in text
    assert pages.reached(TABLES["rge-1"], folder) == ""


def test_what_an_option_is_worth(tmp_path):
    table = TABLES["weighted-options"]
    first, second, third = (row.name for row in table.rows[:3])
    folder = CellFolder(tmp_path)
    for row, scores in ((first, [0.5, 0.6]), (second, [0.6, 0.71]), (third, [0.5, 0.61])):
        folder.write(Cell(table.name, row, "MUTAG", "nested", [scores], 1.0, "", 0.25))
    lines = pages.worth(table, folder).splitlines()
    # Differences of 10 and 11 points: a variance of 0.5, times 1/2 + 1/4.
    assert f"| {second} | {first} | +10.5 ± 0.6 | *not computed* |" in lines
    assert f"| {third} | {first} | +0.5 ± 0.6, within noise | *not computed* |" in lines
    assert "| MLG, published code | MLG | *not computed* |" in pages.worth(TABLES["mlg-1"], folder)
    assert pages.worth(TABLES["tudataset"], folder) == ""


def test_measurements_and_their_absence(tmp_path):
    folder = CellFolder(tmp_path)
    found = {"heading": ["", "seconds"], "rows": [["stochastic", 0.5]], "repeats": 1, "seconds": 2}
    folder.write_measurements("weighted-3", "MUTAG", found)
    text = pages.experiment_table(EXPERIMENTS["weighted-3"], folder)
    assert "| stochastic | 0.5 | 1' 32\" |" in text
    assert "*not computed* on NCI1" in text


def test_every_table_is_on_a_page_and_no_page_types_an_accuracy():
    texts = [page.read_text(encoding="utf-8") for page in (DOCS / "papers").glob("*.md")]
    for name in [*TABLES, *EXPERIMENTS]:
        assert sum(f"generated/papers/{name}.md" in text for text in texts) == 1, name
    assert not any("±" in text and "|" in text for text in texts)


def test_stored_cells_are_rows_of_tables_that_exist():
    folder = pages.CELLS
    for name, table in TABLES.items():
        for cell in folder.cells(name):
            assert cell.data in table.data
            assert cell.row in {row.name for row in table.rows}
            assert 0 < cell.mean <= 100
