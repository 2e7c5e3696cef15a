"""The profile of a sum or product of kernels: its members' profiles, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Choice, Instance, TupleOf, fields
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.kernels.contract.normalisation import (
    KINDS,
    Kind,
    compared,
    compared_self,
    self_similarities,
)
from gramlet.kernels.contract.profile import Profile

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
