"""Products of kernels, each on its own columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats
from gramlet.paths.inputs import check_finite

Kernel = Callable[[Any, Any], Any]


def product_kernel(kernels: Sequence[Kernel], blocks: Sequence[Any] | None = None) -> ProductKernel:
    r"""Product of kernels on blocks of columns, as a kernel.

    .. math:: k(x, y) = \prod_j k_j(x_{B_j}, y_{B_j})

    Cost: that of the kernels; besides the result, one matrix is in memory at a time. The
    all-subsets kernel is the product of 1 + x_j y_j over single columns.

    Parameters
    ----------
    kernels : sequence of callables
        Each takes two matrices (rows are examples) and returns the matrix of kernel values.
    blocks : sequence, optional
        One per kernel: a column, a list of columns, a slice or a mask of columns. By default kernel
        j gets only column j, and there must be as many kernels as columns. Blocks may overlap, and
        need not cover all columns.

    Returns
    -------
    ProductKernel
        A callable (X, Y=None) that can be pickled if its kernels can.

    Examples
    --------
    >>> from gramlet.paths import linear, polynomial, product_kernel
    >>> kernel = product_kernel([linear, polynomial], blocks=[[0, 1], 2])
    >>> kernel([[1, 1, 0], [1, 0, 1]])
    array([[2., 1.],
           [1., 4.]])
    >>> kernel([1, 1, 0], [1, 0, 1])
    1.0
    """
    return ProductKernel(kernels, blocks)


class ProductKernel:
    """The kernel that `product_kernel` returns: call it with X and Y.

    Parameters
    ----------
    kernels : sequence of callables
    blocks : sequence, optional
        As for `product_kernel`.

    Examples
    --------
    >>> from gramlet.paths import linear, ProductKernel
    >>> ProductKernel([linear, linear])([[1, 2]], [[3, 4], [5, 6]])
    array([[24., 60.]])
    """

    def __init__(self, kernels: Sequence[Kernel], blocks: Sequence[Any] | None = None) -> None:
        self.kernels = tuple(kernels)
        self.blocks = None if blocks is None else tuple(blocks)
        if not self.kernels:
            raise ValueError("product_kernel needs at least one kernel; got none.")
        for j, kernel in enumerate(self.kernels):
            if not callable(kernel):
                raise TypeError(
                    f"kernels[{j}] of product_kernel must be a callable of two matrices; got "
                    f"{kernel!r}."
                )
        if self.blocks is not None and len(self.blocks) != len(self.kernels):
            raise ValueError(
                f"product_kernel needs one block per kernel; got {len(self.blocks)} "
                f"blocks and {len(self.kernels)} kernels."
            )

    def __call__(self, X: Any, Y: Any | None = None) -> Any:
        rows = _matrix(X, "X")
        others = rows if Y is None or Y is X else _matrix(Y, "Y")
        if rows.ndim != others.ndim or rows.shape[-1] != others.shape[-1]:
            raise ValueError(
                "product_kernel takes two matrices of equally many columns, or two vectors of one "
                f"length; X has shape {rows.shape} and Y has shape {others.shape}."
            )
        if rows.ndim == 2:
            return self._multiply(rows, others)
        first = rows.reshape(1, -1)
        second = first if others is rows else others.reshape(1, -1)
        return float(self._multiply(first, second)[0, 0])

    def __repr__(self) -> str:
        names = ", ".join(getattr(kernel, "__name__", repr(kernel)) for kernel in self.kernels)
        return f"product_kernel([{names}], blocks={self.blocks})"

    def _multiply(self, X: Any, Y: Any) -> Floats:
        blocks = self._blocks_for(X.shape[1])
        values = np.ones((X.shape[0], Y.shape[0]))
        with np.errstate(over="ignore", invalid="ignore"):
            for j, block in enumerate(blocks):
                values *= self._factor(j, block, X, Y)
        return check_finite(values, "product_kernel", "scale the values of its kernels down")

    def _blocks_for(self, n_columns: int) -> Sequence[Any]:
        if self.blocks is not None:
            return self.blocks
        if n_columns != len(self.kernels):
            raise ValueError(
                f"product_kernel has {len(self.kernels)} kernels, one per column, and X has "
                f"{n_columns} columns; give the columns of each kernel with blocks=."
            )
        return range(n_columns)

    def _factor(self, j: int, block: Any, X: Any, Y: Any) -> Floats:
        # The same object twice if X is Y, so that kernels can make the matrix symmetric.
        left = _columns(X, block, j)
        right = left if Y is X else _columns(Y, block, j)
        factor = np.asarray(self.kernels[j](left, right), dtype=np.float64)
        if factor.shape != (X.shape[0], Y.shape[0]):
            raise ValueError(
                f"kernels[{j}] of product_kernel must give a matrix of shape "
                f"{(X.shape[0], Y.shape[0])}; got shape {factor.shape}."
            )
        if not (np.isfinite(factor.min(initial=0.0)) and np.isfinite(factor.max(initial=0.0))):
            raise ValueError(f"kernels[{j}] of product_kernel gave NaN or infinity.")
        return factor


def _matrix(values: Any, name: str) -> Any:
    """Values as an array of any type (a kernel may take strings) or a CSR matrix."""
    matrix = sparse.csr_array(values) if sparse.issparse(values) else np.asarray(values)
    if matrix.ndim not in (1, 2):
        raise ValueError(
            f"{name} of product_kernel must be a matrix (or a vector); got shape {matrix.shape}."
        )
    return matrix


def _columns(matrix: Any, block: Any, j: int) -> Any:
    key = [block] if isinstance(block, int | np.integer) else block
    if not isinstance(key, slice):
        key = np.asarray(key)
    try:
        return matrix[:, key]
    except IndexError:
        raise ValueError(
            f"blocks[{j}] of product_kernel is {block!r}, which does not select columns of a "
            f"matrix with {matrix.shape[1]} columns."
        ) from None
