"""The classes of scikit-learn that a model may contain, each with the description of its state.

Classes that are not in `SCHEMAS` cannot be saved or loaded. To add a class: describe what its
`fit` sets in the module of its kind, and add a model with it to the mutation test.
"""

from __future__ import annotations

from gramlet.persistence.schema import Schema
from gramlet.persistence.sklearn_models.composites import COMPOSITES
from gramlet.persistence.sklearn_models.gaussian_processes import GAUSSIAN_PROCESSES
from gramlet.persistence.sklearn_models.histogram_boosting import HISTOGRAM_BOOSTING
from gramlet.persistence.sklearn_models.linear import LINEAR_MODELS
from gramlet.persistence.sklearn_models.neighbours import NEIGHBOURS
from gramlet.persistence.sklearn_models.networks import NETWORKS
from gramlet.persistence.sklearn_models.support_vectors import SUPPORT_VECTOR_MACHINES
from gramlet.persistence.sklearn_models.transformers import TRANSFORMERS
from gramlet.persistence.sklearn_models.trees import TREES

__all__ = ["SCHEMAS"]

SCHEMAS: dict[str, Schema] = {
    **COMPOSITES,
    **GAUSSIAN_PROCESSES,
    **HISTOGRAM_BOOSTING,
    **LINEAR_MODELS,
    **NEIGHBOURS,
    **NETWORKS,
    **SUPPORT_VECTOR_MACHINES,
    **TRANSFORMERS,
    **TREES,
}
