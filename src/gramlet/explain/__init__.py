"""Explanations of models: which patterns, nodes and graphs decide."""

from gramlet.explain.models import ModelExplanation, Pattern, explain_model
from gramlet.explain.sums import Explanation, LinearExplanation, SumExplanation, explain_linear

__all__ = [
    "Explanation",
    "LinearExplanation",
    "ModelExplanation",
    "Pattern",
    "SumExplanation",
    "explain_linear",
    "explain_model",
]
