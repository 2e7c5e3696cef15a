"""The tables and figures of papers, recomputed and compared with the published numbers."""

from gramlet.reproduce.cells import Cell, CellFolder
from gramlet.reproduce.published import Published, published, source_of
from gramlet.reproduce.runner import run_experiment, run_table
from gramlet.reproduce.tables import EXPERIMENTS, TABLES, Row, Table

__all__ = [
    "EXPERIMENTS",
    "TABLES",
    "Cell",
    "CellFolder",
    "Published",
    "Row",
    "Table",
    "published",
    "run_experiment",
    "run_table",
    "source_of",
]
