"""Protocols, machines, selection of options, significance, and results as data."""

from gramlet.evaluation.hints import Hint
from gramlet.evaluation.protocol import Protocol
from gramlet.evaluation.ranking import Ranking, rank_scores
from gramlet.evaluation.result import Result
from gramlet.evaluation.result_table import table
from gramlet.evaluation.run import evaluate
from gramlet.evaluation.scorers import scorer_names
from gramlet.evaluation.significance import Comparison, compare_results
from gramlet.files.target import infer_task

__all__ = [
    "Comparison",
    "Hint",
    "Protocol",
    "Ranking",
    "Result",
    "compare_results",
    "evaluate",
    "infer_task",
    "rank_scores",
    "scorer_names",
    "table",
]
