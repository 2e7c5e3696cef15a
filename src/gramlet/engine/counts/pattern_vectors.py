"""Vectors of patterns, similar for patterns that occur in the same graphs.

They come from a decomposition of the positive pointwise mutual information (PPMI) of patterns.
Patterns of one level that occur in exactly the same graphs have equal rows, so each class of them
is one row of a smaller matrix, and the eigenvectors within a class are known in closed form. The
smaller matrix is decomposed component by component.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.signature_table import SignatureTable

# Components up to this size are decomposed densely.
_DENSE = 1500
# Relative limits: of a gap between singular values, of a zero value, of a zero row.
_GAP, _NOTHING, _SHORT = 1e-6, 1e-10, 1e-7


class _Classes(NamedTuple):
    """Classes of patterns of one level that occur in the same graphs.

    The class of each pattern, the size of each class, and the PPMI between classes.
    """

    of_pattern: Ints
    sizes: Ints
    information: sparse.csr_array


def pattern_vectors(
    counts: sparse.csr_matrix, levels: Ints, n_components: int, rng: np.random.RandomState
) -> Floats:
    """A row of length 1 per pattern, or a row of zeros if nothing is known about it.

    Parameters
    ----------
    counts : csr_matrix, shape (graphs, patterns)
    levels : array of int64
        Only patterns of the same level are compared.
    n_components : int
        Of this many largest singular values, those that are clearly above the next are kept.
    rng : RandomState
        Gives the start of the solver for large matrices.

    Examples
    --------
    The first two patterns occur in the same graphs, the last two in the others:

    >>> counts = sparse.csr_matrix([[1.0, 2, 0, 0], [3, 1, 0, 0], [0, 0, 1, 1]])
    >>> rows = pattern_vectors(counts, np.zeros(4, int), 4, np.random.RandomState(0))
    >>> np.abs(rows @ rows.T).round(6)
    array([[1., 0., 0., 0.],
           [0., 1., 0., 0.],
           [0., 0., 1., 0.],
           [0., 0., 0., 1.]])
    """
    classes = _classes(counts, levels)
    values, vectors = _decomposed(classes, n_components + 1, rng)
    # Within a class of s patterns, its PPMI is a singular value of multiplicity s − 1.
    within = classes.information.diagonal()
    repeats = np.where(within > 0, classes.sizes - 1, 0)
    all_values = np.concatenate([values, np.repeat(within, np.minimum(repeats, n_components + 1))])
    ordered = np.sort(all_values)[::-1]
    largest = float(ordered[0]) if len(ordered) else 0.0
    next_one = float(ordered[n_components]) if n_components < len(ordered) else 0.0
    least = max((1 + _GAP) * next_one, _NOTHING * largest)
    kept = values > least
    roots = np.sqrt(classes.sizes)
    shared = (vectors[:, kept] * np.sqrt(values[kept]) / roots[:, None])[classes.of_pattern]
    own = _within_classes(classes, np.flatnonzero((within > least) & (classes.sizes > 1)))
    rows = np.hstack([shared, own])
    lengths = np.sqrt((rows**2).sum(axis=1))
    there = (lengths >= _SHORT * np.sqrt(largest)) & (lengths > 0)
    return np.where(there[:, None], rows / np.where(there, lengths, 1.0)[:, None], 0.0)


def _classes(counts: sparse.csr_matrix, levels: Ints) -> _Classes:
    """Classes of patterns, and their PPMI."""
    columns = sparse.csc_matrix(counts != 0)
    columns.sort_indices()
    # The signature of a pattern: its level, then the graphs it occurs in.
    offsets = columns.indptr.astype(np.int64) + np.arange(columns.shape[1] + 1)
    data = np.insert(columns.indices.astype(np.int64), columns.indptr[:-1], levels)
    table, of_pattern = SignatureTable.fit(offsets, data)
    sizes = np.bincount(of_pattern, minlength=len(table)).astype(np.int64)
    first = np.full(len(table), columns.shape[1])
    np.minimum.at(first, of_pattern, np.arange(columns.shape[1]))
    there = sparse.csr_array(columns[:, first].astype(np.float64))
    common = sparse.coo_array(there.T @ there)
    same_level = levels[first][common.row] == levels[first][common.col]
    row, col, both = common.row[same_level], common.col[same_level], common.data[same_level]
    # Only pairs of different patterns are counted.
    others = sizes[col] - (row == col)
    sums = np.bincount(row, both * others, len(table))
    total = float(sums @ sizes)
    meets = others > 0
    row, col, both = row[meets], col[meets], both[meets]
    information = np.log(both * total / (sums[row] * sums[col]))
    positive = information > 0
    shape = (len(table), len(table))
    kept = (information[positive], (row[positive], col[positive]))
    return _Classes(of_pattern, sizes, sparse.csr_array(kept, shape=shape))


def _decomposed(
    classes: _Classes, n_values: int, rng: np.random.RandomState
) -> tuple[Floats, Floats]:
    """The largest singular values of the matrix between classes, and their vectors."""
    information = sparse.coo_array(classes.information)
    row, col, sizes = information.row, information.col, classes.sizes
    weights = np.where(row == col, sizes[row] - 1.0, np.sqrt(sizes[row] * sizes[col]))
    matrix = sparse.csr_array((information.data * weights, (row, col)), shape=information.shape)
    n_parts, part_of = connected_components(matrix, directed=False)
    order = np.argsort(part_of, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(part_of, minlength=n_parts))[:-1])
    values: list[Floats] = [np.zeros(0)]
    places: list[Ints] = []
    columns: list[Floats] = []
    for part in parts:
        block = matrix[part][:, part]
        if block.nnz == 0:
            continue
        found, vectors = _largest(block, n_values, rng)
        values.append(found)
        places.extend([part] * len(found))
        columns.extend(vectors.T)
    magnitudes = np.concatenate(values)
    best = np.argsort(-magnitudes, kind="stable")[:n_values]
    dense = np.zeros((len(sizes), len(best)))
    for k, which in enumerate(best):
        dense[places[which], k] = columns[which]
    return magnitudes[best], dense


def _largest(
    block: sparse.csr_array, n_values: int, rng: np.random.RandomState
) -> tuple[Floats, Floats]:
    """The eigenvalues of largest magnitude of a symmetric matrix: its singular values."""
    n = block.shape[0]
    if n <= max(_DENSE, 4 * n_values):
        values, vectors = np.linalg.eigh(block.toarray())
    else:
        start = rng.uniform(-1.0, 1.0, n)
        values, vectors = eigsh(block, k=n_values, which="LM", v0=start, ncv=3 * n_values + 20)
    best = np.argsort(-np.abs(values), kind="stable")[:n_values]
    return np.abs(values[best]), vectors[:, best]


def _within_classes(classes: _Classes, kept: Ints) -> Floats:
    """Rows from the vectors within classes: orthonormal, each sums to 0 over its class."""
    n_columns = int((classes.sizes[kept] - 1).sum())
    rows = np.zeros((len(classes.of_pattern), n_columns))
    within = classes.information.diagonal()
    column = 0
    for which in kept:
        members = np.flatnonzero(classes.of_pattern == which)
        for k in range(1, len(members)):
            scale = np.sqrt(within[which] / (k * (k + 1)))
            rows[members[:k], column] = scale
            rows[members[k], column] = -k * scale
            column += 1
    return rows
