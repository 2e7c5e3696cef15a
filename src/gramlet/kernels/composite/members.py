"""The base class of sums and products of kernels: members, their names, profiles, fitting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Choice, Instance, ListOf, TupleOf, fields
from gramlet.common.stored_state import require
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.kernels import registry
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.normalisation import (
    KINDS,
    Kind,
    canonical,
    compared,
    compared_self,
    normalize_gram,
    normalize_in_place,
    self_similarities,
)
from gramlet.kernels.contract.profile import Profile
from gramlet.kernels.contract.tags import GraphTags, joined_uses

Operation = Literal["sum", "product"]


def combined(operation: Operation, weights: Floats, values: Iterator[Floats]) -> Floats:
    """Σ w_k V_k or Π V_k, entry by entry; only one V_k is in memory at a time.

    >>> combined("sum", np.array([2.0, 1.0]), iter([np.ones(2), np.full(2, 3.0)]))
    array([5., 5.])
    """
    total: Floats | None = None
    for k, (weight, part) in enumerate(zip(weights, values, strict=True)):
        with np.errstate(over="ignore", invalid="ignore"):
            if operation == "sum" and weight != 1.0:
                part *= weight
            if total is None:
                total = part
            elif operation == "sum":
                total += part
            else:
                total *= part
        _require_finite(total, operation, k, weight)
    if total is None:
        raise ValueError("There is nothing to combine.")
    return total


def _require_finite(total: Floats, operation: Operation, k: int, weight: float) -> None:
    """Raise a ValueError that names the member and the pair if a value has overflowed."""
    wrong = ~np.isfinite(total)
    if not wrong.any():
        return
    where = [int(at) for at in np.argwhere(wrong)[0]]
    shape = " × ".join(str(n) for n in total.shape)
    owner, factor = (
        ("KernelSum", f" with weight {weight:g}") if operation == "sum" else ("KernelProduct", "")
    )
    raise ValueError(
        f"{owner}: with member {k}{factor} the value of graphs {where[0]} and {where[-1]} (of "
        f"{shape} compared) is beyond the largest number. Use smaller weights, fewer factors, or "
        "members with normalize=True."
    )


def side_by_side(weights: Floats, features: list[Any]) -> Any:
    """√w_k Φ_k side by side; CSR if one of them is sparse."""
    scaled = [part * root for part, root in zip(features, np.sqrt(weights), strict=True)]
    if any(sparse.issparse(part) for part in scaled):
        return sparse.hstack(scaled, format="csr")
    return np.hstack(scaled)


@dataclass(frozen=True)
class CompositeProfile(Profile):
    """The profiles of some graphs by every member of a sum or product.

    Attributes
    ----------
    parts : tuple of Profile
        One per member.
    normalised : tuple of False, "cosine" or "tanimoto"
        How the members are normalised before they are combined.
    operation : {"sum", "product"}
    weights : array of float64
        The factors of a sum; ones for a product.
    """

    parts: tuple[Profile, ...]
    normalised: tuple[Kind, ...]
    operation: Operation
    weights: Floats

    stored = fields(
        parts=TupleOf(Instance(Profile, len="n"), "k", least=1),
        normalised=TupleOf(Choice(*KINDS), "k"),
        operation=Choice("sum", "product"),
        weights=ArrayOf("float64", "k", least=0.0),
    )

    def __len__(self) -> int:
        return len(self.parts[0])

    def take(self, rows: Ints) -> CompositeProfile:
        return replace(self, parts=tuple(part.take(rows) for part in self.parts))

    def compare(self, other: CompositeProfile, tiling: Tiling = QUIET) -> Floats:
        def values(k: int) -> Floats:
            return compared(self.parts[k], other.parts[k], self.normalised[k], tiling)

        return self._combined(values)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        def values(k: int) -> Floats:
            return compared_self(self.parts[k], self.normalised[k], tiling)

        return self._combined(values)

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        def values(k: int) -> Floats:
            return self_similarities(self.parts[k], self.normalised[k], tiling).astype(np.float64)

        return self._combined(values)

    def _combined(self, values: Callable[[int], Floats]) -> Floats:
        return combined(self.operation, self.weights, map(values, range(len(self.parts))))

    def features(self) -> Any:
        """√w_k times the members' features, side by side."""
        members: tuple[Any, ...] = self.parts
        return side_by_side(self.weights, [part.features() for part in members])


def named_members(kernels: Any) -> list[tuple[str, Any]]:
    """The members with their names; unnamed members are named as `make_pipeline` names its steps.

    Members may be given as text; then every call creates new estimators.

    >>> from gramlet import VertexHistogram
    >>> [name for name, _ in named_members([VertexHistogram(), "vertex"])]
    ['vertexhistogram-1', 'vertexhistogram-2']
    """
    if not isinstance(kernels, list | tuple):
        return []
    members = [_estimator(member) for member in kernels]
    plain = [type(member).__name__.lower() for member in members if not isinstance(member, tuple)]
    many, met = Counter(plain), Counter[str]()
    named = []
    for member in members:
        if isinstance(member, tuple):
            named.append((str(member[0]), member[1]) if len(member) == 2 else ("", member))
            continue
        name = type(member).__name__.lower()
        met[name] += 1
        named.append((f"{name}-{met[name]}" if many[name] > 1 else name, member))
    return named


def _estimator(member: Any) -> Any:
    """A member, or the kernel that it names; text that is no kernel's name is left as it is."""
    if isinstance(member, tuple) and len(member) == 2:
        return member[0], _estimator(member[1])
    if isinstance(member, str):
        try:
            return registry.make(member)
        except ValueError:
            return member
    return member


def checked_weights(weights: Any, n_members: int, owner: str) -> Floats:
    """Weights of a sum as an array; ones if None."""
    if weights is None:
        return np.ones(n_members)
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"The weights of {owner} must be numbers; got {weights!r}.") from None
    if values.shape != (n_members,):
        raise ValueError(
            f"{owner} has {n_members} kernels and weights of shape {values.shape}; give one weight "
            "per kernel."
        )
    wrong = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(wrong):
        raise ValueError(
            f"The weights of {owner} must be finite and at least 0; weight {wrong[0]} is "
            f"{values[wrong[0]]:g}."
        )
    return values.copy()


class CompositeKernel(GraphKernel, auto_wrap_output_keys=None):
    """Base class of kernels made of kernels.

    A subclass defines ``_operation`` and `_weights`. ``kernels`` are parameters like the steps of a
    Pipeline: ``set_params(weisfeilerlehman__n_iter=3)`` reaches into a member, and
    ``set_params(weisfeilerlehman=ShortestPath())`` replaces one.
    """

    _operation: ClassVar[Operation]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernels": [list, tuple],
        **COMMON_CONSTRAINTS,
    }

    kernels: Sequence[Any]
    kernels_: list[Any]

    stored = fields(
        profile_=Instance(CompositeProfile, len="n_fitted_"),
        kernels_=ListOf(Instance(GraphKernel, n_fitted_="n_fitted_"), "k"),
    )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, and with ``deep`` the members by name and their own parameters."""
        params: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for name, member in named_members(self.kernels):
                params[name] = member
                if hasattr(member, "get_params"):
                    inner = member.get_params(deep=True).items()
                    params.update((f"{name}__{key}", value) for key, value in inner)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, members by name, or members' parameters (``name__parameter``)."""
        if "kernels" in params:
            self.kernels = params.pop("kernels")
        members = named_members(self.kernels)
        replaced = {name: params.pop(name) for name, _ in members if name in params}
        if replaced:
            # Stored as pairs, so that names do not change when a member is replaced.
            self.kernels = [(name, replaced.get(name, member)) for name, member in members]
        elif any("__" in name for name in params):
            # Members given as text become estimators, which keep their parameters.
            self.kernels = [_estimator(member) for member in self.kernels]
        super().set_params(**params)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit, and compute the exactly symmetric Gram matrix of X."""
        if not self.__graph_tags__().whole_matrix:
            return super().fit_transform(X, y)
        batch = as_batch(X)
        self._remember(batch, y)
        grams = (self._gram_of(member, batch, y) for member in self.kernels_)
        matrix = combined(self._operation, self._weights(), grams)
        normalize_gram(matrix, self.normalize)
        return matrix

    def _gram_of(self, member: Any, batch: GraphBatch, y: Any) -> Floats:
        """The Gram matrix of a fitted member, if that of some member is defined as a whole."""
        if member.__graph_tags__().whole_matrix:
            return np.array(clone(member).fit_transform(batch, y))
        profile = member._current(member.profile_)
        return compared_self(profile, member.normalize, self._tiling())

    def transform(self, X: Any) -> Floats:
        """Compute the kernel matrix of X against the fitted graphs, shape (len(X), n fitted)."""
        if not self.__graph_tags__().whole_matrix:
            return super().transform(X)
        profile, fitted = self._profiles(X)
        batch = as_batch(X)
        rows = (np.array(member.transform(batch)) for member in self.kernels_)
        matrix = combined(self._operation, self._weights(), rows)
        if self.normalize:
            normalize_in_place(matrix, profile.norms(), fitted.norms(), self.normalize)
        return matrix

    def _check(self, batch: GraphBatch) -> None:
        check_members(self)
        self._weights_of_parameters()

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> CompositeProfile:
        members = [clone(member) for _, member in named_members(self.kernels)]
        self.kernels_ = [member.fit(batch, y) for member in members]
        self._learn(batch, y, tiling)
        return self._composed([member._current(member.profile_) for member in self.kernels_])

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> CompositeProfile:
        return self._composed([member.profile_of(batch) for member in self.kernels_])

    def _undirected_part(self) -> str:
        for _, member in named_members(self.kernels):
            if isinstance(member, GraphKernel) and not member.__graph_tags__().directed:
                return f"{member._undirected_part()}, part of {type(self).__name__},"
        return super()._undirected_part()

    def _composed(self, parts: list[Any]) -> CompositeProfile:
        normalised = tuple(canonical(member.normalize) for member in self.kernels_)
        return CompositeProfile(tuple(parts), normalised, self._operation, self._weights())

    def _learn(self, batch: GraphBatch, y: Any, tiling: Tiling) -> None:
        """Learn from the fitted members what the composition needs; by default nothing."""

    def _weights_of_parameters(self) -> Floats:
        """The weights given by the parameters, checked."""
        return np.ones(len(self.kernels))

    def _weights(self) -> Floats:
        """The weights of the fitted members."""
        return self._weights_of_parameters()

    def validate(self) -> None:
        """Raise ValueError if parameters and fitted state do not fit together."""
        check_members(self)
        self._weights_of_parameters()
        profile: Any = self.profile_
        require(profile.operation == self._operation, "profile_ has a different operation")
        n_members = {len(profile.parts), len(self.kernels_), len(self.kernels)}
        require(len(n_members) == 1, "profile_ must have one part per kernel")

    def __graph_tags__(self) -> GraphTags:
        tags = [
            member.__graph_tags__()
            for _, member in named_members(self.kernels)
            if isinstance(member, GraphKernel)
        ]
        return GraphTags(
            supervised=any(tag.supervised for tag in tags),
            random=any(tag.random for tag in tags),
            depends_on_fitted=any(tag.depends_on_fitted for tag in tags),
            directed=all(tag.directed for tag in tags),
            psd=all(tag.psd for tag in tags),
            needs=tuple(sorted({column for tag in tags for column in tag.needs})),
            uses=joined_uses(*(tag.uses for tag in tags)),
            whole_matrix=any(tag.whole_matrix for tag in tags),
            refines=any(tag.refines for tag in tags),
        )


def check_members(composite: CompositeKernel) -> None:
    """Raise an error for an empty list, for members that are not kernels and for invalid names."""
    owner = type(composite).__name__
    members = named_members(composite.kernels)
    if not members:
        raise ValueError(f"{owner} needs at least one kernel; kernels is empty.")
    for position, (_, member) in enumerate(members):
        if isinstance(member, str):
            registry.make(member)  # raises an error that names similar kernels
        if not isinstance(member, GraphKernel):
            found = repr(member) if isinstance(member, type | tuple) else type(member).__name__
            raise TypeError(
                f"{owner} combines kernels or (name, kernel) pairs; entry {position} of kernels is "
                f"{found}. Give estimators such as WeisfeilerLehman(); embeddings are joined by "
                "sklearn.pipeline.FeatureUnion."
            )
    names = [name for name, _ in members]
    own = set(composite.get_params(deep=False))
    for name, times in Counter(names).items():
        if times > 1:
            raise ValueError(f"Two kernels of {owner} are called {name!r}; names must differ.")
        if name in own or "__" in name or not name:
            raise ValueError(
                f"A kernel of {owner} cannot be called {name!r}: names must not be empty, contain "
                "'__' or be a parameter's name."
            )
