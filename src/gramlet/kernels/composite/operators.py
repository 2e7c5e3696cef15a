"""The results of ``+`` and ``*`` between kernels: flat sums and products."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

from gramlet.kernels.composite.members import named_members
from gramlet.kernels.composite.products import KernelProduct
from gramlet.kernels.composite.sums import KernelSum
from gramlet.kernels.contract.kernel import GraphKernel


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
