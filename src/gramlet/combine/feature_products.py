"""An embedding as a kernel: dot products of its features.

With it, the tools for kernels (distances, neighbours, landmarks) also work on embeddings.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from gramlet.common.arrays import Floats
from gramlet.common.fields import Instance, fields
from gramlet.common.parameters import HasMethods
from gramlet.engine.core.tiles import Tiling
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.profile import FeatureProfile
from gramlet.kernels.contract.tags import GraphTags, graph_tags, is_embedding
from gramlet.kernels.expression import estimator_of, with_tanimoto


def as_kernel(kernel: Any, **params: Any) -> Any:
    """An unfitted kernel from a name, an expression, a kernel or an embedding.

    >>> as_kernel("wl", n_iter=2)
    WeisfeilerLehman(n_iter=2)
    """
    estimator = estimator_of(kernel, **params)
    return FeatureProducts(estimator) if is_embedding(estimator) else estimator


def normalized_kernel(kernel: Any, **params: Any) -> Any:
    """An unfitted kernel that is normalised: Tanimoto unless it says cosine; cosines of embeddings.

    >>> normalized_kernel("wl")
    WeisfeilerLehman(normalize='tanimoto')
    """
    estimator = as_kernel(kernel, **params)
    if isinstance(estimator, FeatureProducts):
        return estimator.set_params(normalize="cosine")
    return with_tanimoto(estimator)


class FeatureProducts(GraphKernel):
    """Dot products of an embedding's features.

    Parameters
    ----------
    embedding : estimator
    normalize : bool, default False
        Cosines instead of dot products; 0 if a row of features is 0.
    n_jobs : int or None
    verbose : bool or int
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "embedding": [HasMethods(["fit", "transform"])],
        **COMMON_CONSTRAINTS,
    }

    stored = fields(
        embedding_=Instance(BaseEstimator), profile_=Instance(FeatureProfile, len="n_fitted_")
    )

    def __init__(
        self,
        embedding: Any,
        *,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.embedding = embedding
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> FeatureProfile:
        self.embedding_ = clone(self.embedding)
        return FeatureProfile(_dense(self.embedding_.fit_transform(batch, y)))

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> FeatureProfile:
        return FeatureProfile(_dense(self.embedding_.transform(batch)))

    def __graph_tags__(self) -> GraphTags:
        own = graph_tags(self.embedding)
        return GraphTags(
            supervised=own.supervised,
            random=own.random,
            depends_on_fitted=own.depends_on_fitted,
            directed=True,  # the embedding itself raises an error for directed graphs
            needs=own.needs,
            uses=own.uses,
        )


def _dense(features: Any) -> Floats:
    rows = features.toarray() if sparse.issparse(features) else features
    return np.ascontiguousarray(rows, dtype=np.float64)
