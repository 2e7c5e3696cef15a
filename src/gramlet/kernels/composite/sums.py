"""Weighted sums and products of kernels, and the operators that create them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats
from gramlet.kernels.composite.members import (
    CompositeKernel,
    CompositeProfile,
    Operation,
    checked_weights,
    named_members,
)
from gramlet.kernels.contract.kernel import GraphKernel
from gramlet.kernels.contract.normalisation import Normalization
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
    kernels : list of kernels, of their names, or of (name, kernel) pairs
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
        normalize: Normalization = False,
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


@shared_texts
class KernelProduct(CompositeKernel):
    """Product of kernels.

    k(G, G') = Π_k k_k(G, G'). ``k1 * k2`` creates one. A member is normalised if its own
    ``normalize`` is True; if the norm of a normalised member is 0, the product is 0. Positive
    semi-definite if all members are (Schur). Cost: that of the members.

    Parameters
    ----------
    kernels : list of kernels, of their names, or of (name, kernel) pairs
        Unnamed kernels are named as `make_pipeline` names its steps, by class in lower case.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    kernels_ : list of kernels
        The fitted members.

    Examples
    --------
    >>> from gramlet import EdgeHistogram, KernelProduct, VertexHistogram
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> KernelProduct([VertexHistogram(), EdgeHistogram()]).fit_transform(graphs)
    array([[ 2.,  6.],
           [ 6., 20.]])
    """

    _operation: ClassVar[Operation] = "product"

    def __init__(
        self,
        kernels: Sequence[Any],
        *,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.kernels = kernels
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __graph_tags__(self) -> GraphTags:
        return replace(super().__graph_tags__(), after_fit=("normalize",))


# The operators


def add(left: Any, right: Any) -> KernelSum:
    """The sum of two kernels; a sum that is not normalised is replaced by its members."""
    if not isinstance(right, GraphKernel):
        raise TypeError(_wrong("added to", left, right))
    (kernels, weights), (more, others) = _terms(left), _terms(right)
    plain = weights is None and others is None
    total = None if plain else [*(weights or [1.0] * len(kernels)), *(others or [1.0] * len(more))]
    return KernelSum(_joined(kernels, more), total)


def multiply(left: Any, right: Any) -> GraphKernel:
    """The product of two kernels, or of a kernel and a number of at least 0."""
    if isinstance(right, GraphKernel):
        return KernelProduct(_joined(_factors(left), _factors(right)))
    if not isinstance(right, Real) or isinstance(right, bool):
        raise TypeError(_wrong("multiplied by", left, right))
    factor = float(right)
    if not 0 <= factor < math.inf:
        raise ValueError(
            f"A kernel can be multiplied by a finite number of at least 0; got {right!r}. With a "
            "negative factor it would not be positive semi-definite."
        )
    kernels, weights = _terms(left)
    return KernelSum(kernels, [factor * weight for weight in weights or [1.0] * len(kernels)])


def _terms(kernel: Any) -> tuple[list[Any], list[float] | None]:
    """The members of a sum and their weights; any other kernel is a single member."""
    if type(kernel) is not KernelSum or kernel.normalize:
        return [kernel], None
    weights = kernel.weights
    return list(kernel.kernels), None if weights is None else [float(w) for w in weights]


def _factors(kernel: Any) -> list[Any]:
    if type(kernel) is not KernelProduct or kernel.normalize:
        return [kernel]
    return list(kernel.kernels)


def _joined(first: list[Any], second: list[Any]) -> list[Any]:
    """The members of both; names are dropped if a name occurs twice."""
    members = [*first, *second]
    names = [member[0] for member in members if isinstance(member, tuple)]
    if names and len({name for name, _ in named_members(members)}) < len(members):
        return [member[1] if isinstance(member, tuple) else member for member in members]
    return members


def _wrong(what: str, kernel: Any, other: Any) -> str:
    return (
        f"{type(kernel).__name__} can be {what} another kernel"
        f"{' or a number' if what.startswith('m') else ''}; got {type(other).__name__}. To combine "
        "kernels with embeddings, join their features with sklearn.pipeline.FeatureUnion."
    )
