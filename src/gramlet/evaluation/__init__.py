"""Protocols, machines, selection of options, significance, and results as data."""

from gramlet.evaluation.protocols.protocol import Protocol
from gramlet.evaluation.results.hints import Hint
from gramlet.evaluation.results.result import Result
from gramlet.evaluation.results.tables import table
from gramlet.evaluation.run import evaluate
from gramlet.evaluation.scores.ranking import Ranking, rank_scores
from gramlet.evaluation.scores.scorers import scorer_names
from gramlet.evaluation.scores.significance import Comparison, compare_results
from gramlet.evaluation.selection.choice import Choice, choose
from gramlet.files.target import infer_task

__all__ = [
    "Choice",
    "Comparison",
    "Hint",
    "Protocol",
    "Ranking",
    "Result",
    "choose",
    "compare_results",
    "evaluate",
    "infer_task",
    "rank_scores",
    "scorer_names",
    "table",
]
