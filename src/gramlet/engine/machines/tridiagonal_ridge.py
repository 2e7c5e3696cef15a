"""Kernel ridge regression with a bias from a tridiagonal form: half the work of a spectrum.

A reflection maps the constant vector to the first axis, which is the bias and drops out; the rest
of the Gram matrix becomes V T Vᵀ with T tridiagonal. For every penalty λ, T + λ = L D Lᵀ takes
O(n), and the diagonal of the inverse, which exact leave-one-out residuals need, is a recurrence
along the columns of V, O(n²). No eigenvector is needed. The form is for matrices without negative
eigenvalues; `kernel_ridge` drops the directions of these, for which it needs the spectrum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.engine.core.compiled import njit
from gramlet.engine.machines.kernel_ridge import NEGATIVE, NOTHING

_FEWEST = 4  # the smallest number of graphs that can be reduced
_BLOCK = 64  # rows of V in one block of the recurrence: they fit into the first-level cache
_ROOM = 64  # columns of workspace per column, for LAPACK


@dataclass(frozen=True)
class TridiagonalRidge:
    """A Gram matrix without its constant direction, in tridiagonal form.

    Attributes
    ----------
    diagonal, beside : arrays, shape (n − 1,) and (n − 2,)
        The diagonal and the subdiagonal of T.
    reflectors, factors : arrays, shape (n − 2, n − 2) and (n − 2,)
        The orthogonal matrix that reduces to T, as LAPACK stores it.
    mean_self_similarity : float
        Trace of the centred matrix divided by n.
    """

    diagonal: Floats
    beside: Floats
    reflectors: Floats
    factors: Floats
    mean_self_similarity: float

    def penalties(self, costs: Floats) -> Floats:
        """λ for each C: the mean self-similarity divided by C."""
        return self.mean_self_similarity / costs

    def is_safe(self, penalties: Floats) -> bool:
        """Whether T + λ is positive definite in floating point for every penalty."""
        pivots = factorise(self.diagonal, self.beside, penalties)[0]
        return bool((pivots > 0).all())

    def coefficients(self, targets: Floats, penalties: Floats) -> Floats:
        """Dual coefficients on the training graphs, which sum to 0; (penalties, n, t)."""
        pivots, lower = factorise(self.diagonal, self.beside, penalties)
        solved = self._solved(pivots, lower, targets)
        return _by_penalty(self._apply("N", solved), targets.shape[1])

    def leave_one_out(self, targets: Floats, penalties: Floats) -> tuple[Floats, Floats]:
        """Exact leave-one-out residuals of each graph, and `coefficients`.

        Both have the shape (penalties, n, t). The residuals are the coefficients divided by the
        diagonal of the bordered inverse V (T + λ)⁻¹ Vᵀ.
        """
        from scipy.linalg.lapack import dorgqr

        pivots, lower = factorise(self.diagonal, self.beside, penalties)
        solved = self._solved(pivots, lower, targets)
        basis = dorgqr(self.reflectors, self.factors, lwork=_ROOM * len(self.factors))[0]
        duals = _by_penalty(np.vstack([solved[:1], basis @ solved[1:]]), targets.shape[1])
        return duals / inverse_diagonal(basis, pivots, lower)[:, :, None], duals

    def _solved(self, pivots: Floats, lower: Floats, targets: Floats) -> Floats:
        """(T + λ)⁻¹ Vᵀ applied to the targets; one column per penalty and target."""
        root = 1.0 / np.sqrt(len(targets))
        along = (root * targets.sum(axis=0) - targets[0]) * root / (1.0 - root)
        return solve_factorised(pivots, lower, self._apply("T", targets[1:] - along))

    def _apply(self, which: str, columns: Floats) -> Floats:
        """LAPACK's orthogonal matrix, or its transpose, times columns."""
        from scipy.linalg.lapack import dormqr

        work = max(1, _ROOM * columns.shape[1])
        rest: Array = dormqr("L", which, self.reflectors, self.factors, columns[1:], work)[0]
        return np.vstack([columns[:1], rest])


def _by_penalty(columns: Floats, n_targets: int) -> Floats:
    """Undo the reflection of the constant vector; shape (penalties, n, t)."""
    n = len(columns) + 1
    root = 1.0 / np.sqrt(n)
    total = columns.sum(axis=0)
    duals = np.vstack([root * total, columns - total / (n * (1.0 - root))])
    return duals.reshape(n, -1, n_targets).transpose(1, 0, 2)


def reduce(gram: Floats) -> TridiagonalRidge | None:
    """The tridiagonal form of a Gram matrix, or None if it has none.

    This is the case for matrices with negative eigenvalues that are not rounding errors, matrices
    that do not distinguish any graphs, and matrices of fewer than four graphs.

    Examples
    --------
    >>> points = np.arange(5.0)[:, None]
    >>> form = reduce(points @ points.T)
    >>> form.leave_one_out(2.0 * points, np.array([1e-6]))[0].round(3).ravel() + 0.0
    array([0., 0., 0., 0., 0.])
    """
    from scipy.linalg import eigvalsh_tridiagonal
    from scipy.linalg.lapack import dsytrd

    n = len(gram)
    if n < _FEWEST:
        return None
    reflected = without_constant(gram)
    mean = float(np.trace(reflected)) / n
    if mean <= NOTHING * float(np.abs(np.diagonal(gram)).max()):
        return None
    # The upper triangle in C order is, for LAPACK, the lower triangle of the transpose.
    form, diagonal, beside, factors, _ = dsytrd(
        reflected.T, lower=1, lwork=_ROOM * n, overwrite_a=True
    )
    ends = [
        float(eigvalsh_tridiagonal(diagonal, beside, select="i", select_range=(at, at))[0])
        for at in (0, n - 2)
    ]
    if ends[0] < -NEGATIVE * max(map(abs, ends)):
        return None
    reflectors = np.asfortranarray(form[1:, :-1])
    return TridiagonalRidge(diagonal, beside, reflectors, factors, mean)


@njit(nogil=True, cache=True)
def without_constant(gram: Floats) -> Floats:
    """H K H without its first row and column, H the reflection of 1/√n onto the first axis."""
    n = len(gram)
    root = 1.0 / np.sqrt(n)
    scale = 1.0 / (1.0 - root)  # 2 / |v|² for v = 1/√n − e₀
    image = np.empty(n)  # scale × K v
    along = 0.0  # v · image
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += gram[i, j]
        image[i] = scale * (root * total - gram[i, 0])
        along += root * image[i]
    along -= image[0]
    for i in range(n):
        image[i] = root * (image[i] - 0.5 * scale * along * root)
    reflected = np.empty((n - 1, n - 1))
    for i in range(1, n):
        for j in range(1, n):
            reflected[i - 1, j - 1] = gram[i, j] - (image[i] + image[j])
    return reflected


@njit(nogil=True, cache=True)
def factorise(diagonal: Floats, beside: Floats, penalties: Floats) -> tuple[Floats, Floats]:
    """D and the subdiagonal of L in T + λ = L D Lᵀ, one row per penalty."""
    m = len(diagonal)
    pivots, lower = np.empty((len(penalties), m)), np.zeros((len(penalties), m))
    for p in range(len(penalties)):
        pivots[p, 0] = diagonal[0] + penalties[p]
        for j in range(1, m):
            lower[p, j] = beside[j - 1] / pivots[p, j - 1]
            pivots[p, j] = diagonal[j] + penalties[p] - lower[p, j] * beside[j - 1]
    return pivots, lower


@njit(nogil=True, cache=True)
def solve_factorised(pivots: Floats, lower: Floats, columns: Floats) -> Floats:
    """(L D Lᵀ)⁻¹ applied to columns of shape (m, t); shape (m, penalties × t)."""
    n_penalties, m = pivots.shape
    n_targets = columns.shape[1]
    solved = np.empty((m, n_penalties * n_targets))
    for p in range(n_penalties):
        for t in range(n_targets):
            at = p * n_targets + t
            solved[0, at] = columns[0, t]
            for j in range(1, m):
                solved[j, at] = columns[j, t] - lower[p, j] * solved[j - 1, at]
            solved[m - 1, at] /= pivots[p, m - 1]
            for j in range(m - 2, -1, -1):
                known = lower[p, j + 1] * solved[j + 1, at]
                solved[j, at] = solved[j, at] / pivots[p, j] - known
    return solved


@njit(nogil=True, cache=True)
def inverse_diagonal(basis: Floats, pivots: Floats, lower: Floats) -> Floats:
    """The diagonal of V (L D Lᵀ)⁻¹ Vᵀ, one row per penalty.

    With X = V L⁻ᵀ it is Σ_j x_ij² / d_j, and x_j = v_j − l_j x_{j−1} is a recurrence along the
    columns, here four at a time.

    Parameters
    ----------
    basis : array, shape (n − 2, n − 2), Fortran order
        LAPACK's orthogonal matrix. V is the reflection applied to it, with a leading 1 on its
        diagonal and a row of zeros above.
    pivots, lower : arrays, shape (penalties, n − 1)
    """
    n_penalties, m = pivots.shape
    n = m + 1
    steps = (m + 3) // 4 * 4  # columns of zeros at the end change nothing
    totals = np.zeros(steps)  # column sums of the basis with its leading 1
    totals[0] = 1.0
    factors, weights = np.zeros((n_penalties, steps)), np.zeros((n_penalties, steps))
    for j in range(m):
        if j > 0:
            totals[j] = basis[:, j - 1].sum()
        for p in range(n_penalties):
            factors[p, j], weights[p, j] = lower[p, j], 1.0 / pivots[p, j]
    diagonal = np.empty((n_penalties, n))
    turned, summed = np.empty((n_penalties, _BLOCK)), np.empty((n_penalties, _BLOCK))
    columns = np.empty((4, _BLOCK))
    for begin in range(0, n, _BLOCK):
        turned[:] = 0.0
        summed[:] = 0.0
        for j in range(0, steps, 4):
            # The rows of this block in four columns of V, then four steps for every penalty.
            for k in range(4):
                _fill_column(basis, totals[j + k], begin, j + k, n, columns[k])
            for p in range(n_penalties):
                f0, f1, f2, f3 = _four(factors[p], j)
                w0, w1, w2, w3 = _four(weights[p], j)
                for i in range(_BLOCK):
                    x0 = columns[0, i] - f0 * turned[p, i]
                    x1 = columns[1, i] - f1 * x0
                    x2 = columns[2, i] - f2 * x1
                    x3 = columns[3, i] - f3 * x2
                    turned[p, i] = x3
                    summed[p, i] += x0 * x0 * w0 + x1 * x1 * w1 + x2 * x2 * w2 + x3 * x3 * w3
        width = min(_BLOCK, n - begin)
        diagonal[:, begin : begin + width] = summed[:, :width]
    return diagonal


@njit(nogil=True, cache=True)
def _four(row: Floats, j: int) -> tuple[float, float, float, float]:
    return row[j], row[j + 1], row[j + 2], row[j + 3]


@njit(nogil=True, cache=True)
def _fill_column(basis: Floats, total: float, begin: int, j: int, n: int, column: Floats) -> None:
    """Some rows of column j of V; rows 0 and 1 of V are not in the basis."""
    root = 1.0 / np.sqrt(n)
    shift = total / (n * (1.0 - root))
    known = 0 < j < n - 1
    for i in range(min(_BLOCK, n - begin)):
        column[i] = (basis[begin + i - 2, j - 1] if known and begin + i > 1 else 0.0) - shift
    if begin == 0:
        column[0] = root * total
        column[1] = (1.0 if j == 0 else 0.0) - shift
