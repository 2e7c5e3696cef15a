"""Explanations of models: which patterns, nodes and graphs decide."""

from gramlet.explain.linear import LinearExplanation, explain_linear
from gramlet.explain.models import ModelExplanation, Pattern, explain_model

__all__ = [
    "LinearExplanation",
    "ModelExplanation",
    "Pattern",
    "explain_linear",
    "explain_model",
]
