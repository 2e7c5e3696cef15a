"""The operators of kernels: ``k1 + k2``, ``k1 * k2`` and ``c * k`` are kernels again.

The classes are in `gramlet.kernels.composite`, which is imported when first used, because sums and
products are kernels themselves.
"""

from __future__ import annotations

from typing import Any, ClassVar


class Algebra:
    """Adds ``+`` and ``*`` to kernels.

    Examples
    --------
    >>> from gramlet import ShortestPath, WeisfeilerLehman
    >>> WeisfeilerLehman() + 0.5 * ShortestPath()
    KernelSum(kernels=[WeisfeilerLehman(), ShortestPath()], weights=[1.0, 0.5])
    >>> WeisfeilerLehman() * ShortestPath()
    KernelProduct(kernels=[WeisfeilerLehman(), ShortestPath()])
    """

    # So that numpy's numbers and arrays let the kernel compute ``c * k``.
    __array_ufunc__: ClassVar[None] = None

    def __add__(self, other: Any) -> Any:
        from gramlet.kernels.composite.sums import add

        return add(self, other)

    def __radd__(self, other: Any) -> Any:
        # sum() starts with 0.
        if isinstance(other, int) and not isinstance(other, bool) and other == 0:
            return self
        return self.__add__(other)

    def __mul__(self, other: Any) -> Any:
        from gramlet.kernels.composite.sums import multiply

        return multiply(self, other)

    def __rmul__(self, other: Any) -> Any:
        return self.__mul__(other)
