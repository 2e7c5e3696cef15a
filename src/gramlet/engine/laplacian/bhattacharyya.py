"""The Bhattacharyya kernel of covariance matrices: ln k = ¼(ln|S₁| + ln|S₂|) − ½ ln|(S₁ + S₂)/2|.

Matrices of one order are kept as packed lower triangles. Each pair takes one factorisation; many
columns are factored side by side in vector registers. The matrices are computed in `covariances`;
matrices on coordinates of their own are in `supports`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Integer, fields
from gramlet.common.stored_state import require
from gramlet.engine.core.compiled import njit
from gramlet.engine.core.ragged import copy_into
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror, one_blas_thread

# Number of matrices factored side by side; at order 10 they fill half of a first-level cache.
LANES = 32
# Beyond this order the lanes of a block do not fit into the cache, and LAPACK is faster.
_LARGEST_IN_LANES = 256

_LN2 = 0.6931471805599453
_MANTISSA = (1 << 52) - 1
_ONE = 1023 << 52


@dataclass(frozen=True)
class Covariances:
    """Positive definite matrices of one order, with a quarter of their log-determinants.

    Attributes
    ----------
    order : int
        Rows of each matrix; with 0 every kernel value is 1.
    packed : array, shape (n, order (order + 1) / 2)
        Lower triangles, row by row.
    quarter_logs : array, shape (n,)
        ¼ ln|S|.
    """

    order: int
    packed: Floats
    quarter_logs: Floats

    stored = fields(
        order=Integer(0, most=1 << 20),
        packed=ArrayOf("float64", "n", None),
        quarter_logs=ArrayOf("float64", "n"),
    )

    @classmethod
    def build(cls, packed: Floats, order: int) -> Covariances:
        """From packed matrices, which must be positive definite (see `smallest_pivots`).

        >>> Covariances.build(np.array([[4.0, 0.0, 1.0]]), 2).quarter_logs.round(4).tolist()
        [0.3466]
        """
        packed = np.ascontiguousarray(packed, dtype=np.float64)
        if order > _LARGEST_IN_LANES:
            with one_blas_thread():
                logs = np.array([_log_of_large(row, order) for row in packed])
        else:
            logs = own_logs(_lanes(packed), len(packed), order)
        return cls(order, packed, 0.25 * logs)

    def __len__(self) -> int:
        return len(self.packed)

    def take(self, positions: Ints) -> Covariances:
        """The matrices at these positions."""
        return Covariances(self.order, self.packed[positions], self.quarter_logs[positions])

    def validate(self) -> None:
        """Raise ValueError if a matrix is singular, or its log-determinant another one."""
        whole = self.packed.shape[1] == self.order * (self.order + 1) // 2
        require(whole, "packed must have one column per entry of a triangle")
        packed = np.ascontiguousarray(self.packed)
        regular = self.order == 0 or (smallest_pivots(packed, self.order) > 0).all()
        require(regular, "a matrix is singular")
        logs = Covariances.build(packed, self.order).quarter_logs
        fitting = np.allclose(logs, self.quarter_logs, 1e-6, 1e-6)
        require(fitting, "quarter_logs do not fit the matrices")


def compare(rows: Covariances, columns: Covariances, tiling: Tiling = QUIET) -> Floats:
    """The matrix of k between two sets of covariances; ``tiling`` as for `for_tiles`."""
    out = np.empty((len(rows), len(columns)))
    lanes = _lanes(columns.packed)

    def work(begin: int, end: int) -> None:
        _fill(rows, columns, lanes, begin, end, False, out)

    for_tiles(work, len(rows), tiling=tiling)
    return out


def compare_self(covariances: Covariances, tiling: Tiling = QUIET) -> Floats:
    """The symmetric matrix of k between covariances; its diagonal is 1."""
    n = len(covariances)
    out = np.empty((n, n))
    lanes = _lanes(covariances.packed)

    def work(begin: int, end: int) -> None:
        _fill(covariances, covariances, lanes, begin, end, True, out)

    for_tiles(work, n, costs=np.arange(n, 0, -1, dtype=np.float64), tiling=tiling)
    mirror(out)
    np.fill_diagonal(out, 1.0)
    return out


def project(
    rows: Covariances, landmarks: Covariances, weights: Floats, tiling: Tiling = QUIET
) -> Floats:
    """``compare(rows, landmarks) @ weights`` without storing the intermediate matrix.

    Every row is summed in the same order, whichever other rows are given.
    """
    out = np.empty((len(rows), weights.shape[1]))
    lanes = _lanes(landmarks.packed)
    weights = np.ascontiguousarray(weights)

    def work(begin: int, end: int) -> None:
        block = np.empty((end - begin, len(landmarks)))
        _fill(rows.take(np.arange(begin, end)), landmarks, lanes, 0, end - begin, False, block)
        out[begin:end] = multiply(block, weights)

    for_tiles(work, len(rows), tiling=tiling)
    return out


def _lanes(packed: Floats) -> Floats:
    """The matrices in blocks of lanes, (blocks, entries, lanes); copies of the first one pad it."""
    n, entries = packed.shape
    n_blocks = -(-n // LANES)
    places = np.arange(n_blocks * LANES)
    padded = packed[np.where(places < n, places, 0)]
    return np.ascontiguousarray(padded.reshape(n_blocks, LANES, entries).transpose(0, 2, 1))


def _fill(
    rows: Covariances,
    columns: Covariances,
    lanes: Floats,
    begin: int,
    end: int,
    triangle: bool,
    out: Floats,
) -> None:
    """Rows ``begin:end`` of k; with ``triangle`` those from the diagonal on, or a little before."""
    if rows.order > _LARGEST_IN_LANES:
        _fill_large(rows, columns, begin, end, triangle, out)
        return
    own, other = rows.quarter_logs, columns.quarter_logs
    fill_lanes(rows.packed, own, lanes, other, rows.order, begin, end, triangle, out)


@njit(nogil=True, cache=True)
def own_logs(lanes: Floats, n: int, order: int) -> Floats:
    """ln|S| of the first ``n`` matrices in blocks of lanes."""
    logs = np.empty(n)
    values = np.empty((order * (order + 1) // 2, LANES))
    found = np.empty(LANES)
    for block in range(lanes.shape[0]):
        for k in range(len(values)):
            copy_into(lanes[block, k], values[k])
        _log_determinants(values, order, found)
        for lane in range(min(LANES, n - block * LANES)):
            logs[block * LANES + lane] = found[lane]
    return logs


@njit(nogil=True, cache=True)
def fill_lanes(
    packed: Floats,
    quarter_rows: Floats,
    lanes: Floats,
    quarter_columns: Floats,
    order: int,
    begin: int,
    end: int,
    triangle: bool,
    out: Floats,
) -> None:
    """Rows ``begin:end`` of k; with ``triangle`` only the blocks from the diagonal on."""
    n_columns = len(quarter_columns)
    entries = order * (order + 1) // 2
    values = np.empty((entries, LANES))
    found = np.empty(LANES)
    for i in range(begin, end):
        first = i // LANES if triangle else 0
        for block in range(first, lanes.shape[0]):
            # The means of matrix i and those of the block, then their log-determinants.
            for e in range(entries):
                mine = packed[i, e]
                for lane in range(LANES):
                    values[e, lane] = 0.5 * (mine + lanes[block, e, lane])
            _log_determinants(values, order, found)
            # k, which rounding must not lift above 1.
            for lane in range(min(LANES, n_columns - block * LANES)):
                j = block * LANES + lane
                log_k = quarter_rows[i] + quarter_columns[j] - 0.5 * found[lane]
                out[i, j] = np.exp(min(log_k, 0.0))


@njit(nogil=True, cache=True)
def _log_determinants(values: Floats, order: int, logs: Floats) -> None:
    """ln|S| of the matrix in each lane by LDLᵀ, two pivots at a time; overwrites the matrices.

    The product of the pivots is kept as a mantissa and an exponent, so that nothing overflows and
    one logarithm per matrix suffices.
    """
    product = np.ones(LANES)
    bits = product.view(np.int64)
    exponents = np.zeros(LANES, dtype=np.int64)
    inverse = np.empty((2, LANES))
    factor = np.empty((2, LANES))
    k = 0
    while k < order:
        # The first pivot, which is the last one if the order is odd.
        row = k * (k + 1) // 2
        for lane in range(LANES):
            pivot = values[row + k, lane]
            inverse[0, lane] = 1.0 / pivot
            product[lane] *= pivot
        _take_exponents(bits, exponents)
        if k + 1 == order:
            break
        # The second pivot: its row minus a multiple of the first one.
        row += k + 1
        for lane in range(LANES):
            factor[0, lane] = values[row + k, lane] * inverse[0, lane]
            pivot = values[row + k + 1, lane] - factor[0, lane] * values[row + k, lane]
            inverse[1, lane] = 1.0 / pivot
            product[lane] *= pivot
        _take_exponents(bits, exponents)
        # Eliminate both columns from the rows below.
        for i in range(k + 2, order):
            row = i * (i + 1) // 2
            for lane in range(LANES):
                values[row + k + 1, lane] -= values[row + k, lane] * factor[0, lane]
        _eliminate_two(values, order, k, inverse, factor)
        k += 2
    for lane in range(LANES):
        logs[lane] = exponents[lane] * _LN2 + np.log(product[lane])


@njit(nogil=True, cache=True)
def _take_exponents(bits: Ints, exponents: Ints) -> None:
    """Move the exponents of the floats behind ``bits`` to ``exponents``."""
    for lane in range(LANES):
        exponents[lane] += (bits[lane] >> 52) - 1023
        bits[lane] = (bits[lane] & _MANTISSA) | _ONE


@njit(nogil=True, cache=True)
def _eliminate_two(values: Floats, order: int, k: int, inverse: Floats, factor: Floats) -> None:
    """Subtract the multiples of columns k and k + 1 from all entries below and right of them."""
    for i in range(k + 2, order):
        row = i * (i + 1) // 2
        for lane in range(LANES):
            factor[0, lane] = values[row + k, lane] * inverse[0, lane]
            factor[1, lane] = values[row + k + 1, lane] * inverse[1, lane]
        for j in range(k + 2, i + 1):
            other = j * (j + 1) // 2 + k
            for lane in range(LANES):
                values[row + j, lane] -= (
                    factor[0, lane] * values[other, lane]
                    + factor[1, lane] * values[other + 1, lane]
                )


# Large orders, with one call of LAPACK per matrix


def _log_of_large(packed: Floats, order: int) -> float:
    square = np.zeros((order, order))
    square[np.tril_indices(order)] = packed  # LAPACK reads the lower triangle only
    return 2.0 * float(np.log(np.diagonal(np.linalg.cholesky(square))).sum())


def _fill_large(
    rows: Covariances, columns: Covariances, begin: int, end: int, triangle: bool, out: Floats
) -> None:
    for i in range(begin, end):
        for j in range(i if triangle else 0, len(columns)):
            log = _log_of_large(0.5 * (rows.packed[i] + columns.packed[j]), rows.order)
            log_k = rows.quarter_logs[i] + columns.quarter_logs[j] - 0.5 * log
            out[i, j] = np.exp(min(log_k, 0.0))


# Products and pivots


@njit(nogil=True, cache=True)
def multiply(matrix: Floats, weights: Floats) -> Floats:
    """The matrix product, with rows independent of each other: sums of BLAS depend on all rows."""
    n, inner = matrix.shape
    out = np.zeros((n, weights.shape[1]))
    for i in range(n):
        for k in range(inner):
            value = matrix[i, k]
            if value != 0.0:
                for j in range(weights.shape[1]):
                    out[i, j] += value * weights[k, j]
    return out


@njit(nogil=True, cache=True)
def smallest_pivots(packed: Floats, order: int) -> Floats:
    """The smallest pivot of each matrix, relative to its largest diagonal entry.

    If it is not above a few times ``order`` rounding errors, the matrix is numerically singular. It
    is 0 for a matrix of zeros and for a matrix with a pivot that is not positive.
    """
    smallest = np.ones(len(packed))
    values = np.empty(order * (order + 1) // 2)
    for n in range(len(packed)):
        copy_into(packed[n], values)
        # The largest diagonal entry.
        largest = 0.0
        for k in range(order):
            largest = max(largest, values[k * (k + 1) // 2 + k])
        # LDLᵀ, until a pivot is not positive.
        for k in range(order):
            pivot = values[k * (k + 1) // 2 + k]
            if not pivot > 0.0:
                smallest[n] = 0.0
                break
            smallest[n] = min(smallest[n], pivot / largest)
            for i in range(k + 1, order):
                row = i * (i + 1) // 2
                factor = values[row + k] / pivot
                for j in range(k + 1, i + 1):
                    values[row + j] -= factor * values[j * (j + 1) // 2 + k]
    return smallest
