"""Protocols, nested selection of options, significance, and results as data."""

from gramlet.evaluation.protocol import Protocol
from gramlet.evaluation.result import Result
from gramlet.evaluation.run import choose, evaluate
from gramlet.evaluation.significance import Comparison, compare_results
from gramlet.evaluation.tables import table

__all__ = [
    "Comparison",
    "Protocol",
    "Result",
    "choose",
    "compare_results",
    "evaluate",
    "table",
]
