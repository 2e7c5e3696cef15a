"""Weighted sums of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats
from gramlet.kernels.composite.members import CompositeKernel, checked_weights, named_members
from gramlet.kernels.composite.profile import CompositeProfile, Operation
from gramlet.kernels.contract.kernel import GraphKernel
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags


def _has_features(estimator: Any) -> bool:
    """Whether all members (if fitted, the fitted ones) have features and none is normalised."""
    return _side_by_side(estimator, by_graphs=False)


def _side_by_side(estimator: Any, by_graphs: bool) -> bool:
    """Whether features can be joined; with ``by_graphs``, also if that depends on fitted graphs."""
    members = [member for _, member in named_members(estimator.kernels)]
    members = getattr(estimator, "kernels_", members)
    if not members or not all(isinstance(member, GraphKernel) for member in members):
        return False
    tags = [member.__graph_tags__() for member in members]
    there = all(tag.features or (by_graphs and tag.features_by_graphs) for tag in tags)
    return there and not any(member.normalize for member in members)


class WeightedSum(CompositeKernel):
    """Base class of sums of kernels, whose weights are given or learned."""

    _operation: ClassVar[Operation] = "sum"

    @available_if(_has_features)
    def features(self, X: Any) -> Any:
        """Compute the explicit features: √w_k times those of the members, side by side.

        Available if all members have features and none is normalised.
        ``features(X) @ features(fitted).T`` is the un-normalised `transform(X)`.
        """
        return self.profile_of(X).features()

    @available_if(_has_features)
    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A readable name for each column of `features`: ``member__feature``."""
        check_is_fitted(self)
        pairs = zip(named_members(self.kernels), self.kernels_, strict=True)
        names = [
            f"{name}__{feature}"
            for (name, _), member in pairs
            for feature in member.get_feature_names_out()
        ]
        return np.array(names, dtype=object)

    def __graph_tags__(self) -> GraphTags:
        there = _has_features(self)
        possible = not there and _side_by_side(self, by_graphs=True)
        return replace(super().__graph_tags__(), features=there, features_by_graphs=possible)


@shared_texts
class KernelSum(WeightedSum):
    """Weighted sum of kernels.

    k(G, G') = Σ_k w_k k_k(G, G'). ``k1 + k2``, ``0.5 * k1`` and ``sum([k1, k2])`` create one. A
    member is normalised if its own ``normalize`` is True; ``normalize`` of the sum normalises the
    total. Positive semi-definite if all members are. Cost: that of the members.

    Parameters
    ----------
    kernels : list of kernels or of (name, kernel) pairs
        Unnamed kernels are named as `make_pipeline` names its steps, by class in lower case.
    weights : list of float, optional
        One number of at least 0 per kernel; all 1 if None.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    kernels_ : list of kernels
        The fitted members.

    Examples
    --------
    >>> from gramlet import KernelSum, VertexHistogram, WeisfeilerLehman
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> kernel = KernelSum([VertexHistogram(), WeisfeilerLehman(n_iter=1)], weights=[0.5, 2])
    >>> kernel.fit_transform(graphs)
    array([[ 9. , 11.5],
           [11.5, 22.5]])
    >>> kernel.set_params(weisfeilerlehman__n_iter=0).fit_transform(graphs)
    array([[ 5. ,  7.5],
           [ 7.5, 12.5]])
    """

    def __init__(
        self,
        kernels: Sequence[Any],
        weights: Sequence[float] | None = None,
        *,
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.kernels = kernels
        self.weights = weights
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CompositeKernel._parameter_constraints,
        "weights": ["array-like", None],
    }

    def _weights_of_parameters(self) -> Floats:
        return checked_weights(self.weights, len(self.kernels), type(self).__name__)

    def _current(self, profile: CompositeProfile) -> CompositeProfile:
        weights = checked_weights(self.weights, len(profile.parts), type(self).__name__)
        return replace(profile, weights=weights)

    def __graph_tags__(self) -> GraphTags:
        return replace(super().__graph_tags__(), after_fit=("weights", "normalize"))
