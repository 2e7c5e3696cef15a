"""Kernels over a base kernel: how the base is created, checked, fitted and used.

The kernels that have a base apply it to levels of refinement or to cores.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from gramlet.common.arrays import Floats
from gramlet.common.parameters import HasMethods
from gramlet.engine.core.tiles import Tiling
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels import registry
from gramlet.kernels.contract.kernel import GraphKernel
from gramlet.kernels.contract.profile import Profile
from gramlet.kernels.contract.tags import GraphTags, graph_tags

BASE_CONSTRAINT: list[Any] = [str, HasMethods(["fit", "transform"])]


def new_base(base: Any, owner: str) -> GraphKernel:
    """A new, unfitted base: a clone of a kernel, or the kernel with a given name.

    >>> new_base("sp", "CoreKernel")
    ShortestPath()
    """
    kernel = registry.make(base) if isinstance(base, str) else base
    tags = graph_tags(kernel)
    if tags.kind != "kernel":
        raise ValueError(
            f"{owner}(base={base!r}): {type(kernel).__name__} is an embedding. Give a kernel, such "
            'as base="sp".'
        )
    if tags.whole_matrix:
        raise ValueError(
            f"{owner}(base={kernel!r}): its Gram matrix is repaired as a whole, so it cannot be "
            'part of a sum. Use psd="none" for the base.'
        )
    copied: GraphKernel = clone(kernel)
    return copied


def base_tags(base: Any) -> GraphTags:
    """The tags of a kernel over this base; the defaults for a base that is not valid."""
    try:
        tags = graph_tags(registry.make(base) if isinstance(base, str) else base)
    except (TypeError, ValueError):
        return GraphTags()
    return replace(
        tags, kind="kernel", after_fit=(), whole_matrix=False, distances=False, gradients=False
    )


def undirected_base(base: Any, owner: str) -> str:
    """The name of a kernel over a base, or of the base, which compares undirected graphs only.

    >>> undirected_base("nspdk", "WeisfeilerLehman")
    'NSPDK, the base of WeisfeilerLehman,'
    """
    kernel = new_base(base, owner)
    if kernel.__graph_tags__().directed:
        return owner
    return f"{kernel._undirected_part()}, the base of {owner},"


def has_features(kernel: Any) -> bool:
    """Whether a kernel has an explicit feature map with its current parameters."""
    return bool(kernel.__graph_tags__().features) and kernel.normalize != "tanimoto"


def as_fitted(tags: GraphTags, base: Any) -> GraphTags:
    """The tags of a kernel over a fitted base, for which it is known whether it has features."""
    return replace(tags, features=has_features(base), features_by_graphs=False)


def fit_base(kernel: GraphKernel, batch: GraphBatch, y: Any, tiling: Tiling) -> None:
    """Fit a base with the threads of the kernel it is part of, then restore its parameters."""
    own = kernel.n_jobs, kernel.verbose
    kernel.set_params(n_jobs=tiling.n_jobs, verbose=False)
    try:
        kernel.fit(batch, y)
    finally:
        kernel.set_params(n_jobs=own[0], verbose=own[1])


def base_profile(kernel: GraphKernel, batch: GraphBatch, tiling: Tiling) -> Profile:
    """The profile of graphs by a fitted base, with the threads of the kernel it is part of."""
    threaded = clone(kernel)
    vars(threaded).update(vars(kernel))
    threaded.n_jobs = tiling.n_jobs
    profile: Profile = threaded.profile_of(batch)
    return profile


def member_features(kernel: Any, batch: GraphBatch) -> Any:
    """The features of the base; of cosines, divided by the norm (with unseen patterns)."""
    rows = kernel.features(batch)
    if not kernel.normalize:
        return rows
    own: Floats = kernel.profile_of(batch).norms()
    scale = np.divide(1.0, np.sqrt(own), out=np.zeros(len(own)), where=own > 0)
    return sparse.diags_array(scale) @ rows if sparse.issparse(rows) else scale[:, None] * rows
