"""How a matrix is split into tiles, and the computation of a tile from the profiles of graphs.

The same functions run in this process and on the workers of a cluster. Nothing here writes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.engine.core.tiles import QUIET, Tiling, one_blas_thread
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.normalisation import Normalization, normalize_in_place, unit
from gramlet.kernels.contract.profile import CountProfile, FeatureProfile, Profile
from gramlet.kernels.contract.tags import is_embedding

Tile = tuple[int, int]

_OWN_BLOCK = 64  # graphs whose self-similarities are computed from one small matrix


@dataclass(frozen=True)
class TileGrid:
    """The tiles of a matrix, which are the chunks of its array.

    Attributes
    ----------
    n_rows, n_columns : int
        Shape of the matrix.
    chunk : int
        Rows and columns per tile; the last ones of a matrix are smaller.
    symmetric : bool
        Whether only tiles on and above the diagonal are computed; the others are their mirrors.

    Examples
    --------
    >>> grid = TileGrid(5, 5, 2, symmetric=True)
    >>> grid.tiles()
    [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    >>> grid.named((0, 2))
    'rows 0:2, columns 4:5'
    """

    n_rows: int
    n_columns: int
    chunk: int
    symmetric: bool

    @property
    def tile_shape(self) -> tuple[int, int]:
        """Rows and columns of a chunk; chunks at the edges are filled up with NaN."""
        return max(1, min(self.chunk, self.n_rows)), max(1, min(self.chunk, self.n_columns))

    def tiles(self) -> list[Tile]:
        """The tiles to compute, row by row."""
        height, width = self.tile_shape
        down, across = -(-self.n_rows // height), -(-self.n_columns // width)
        return [(i, j) for i in range(down) for j in range(i if self.symmetric else 0, across)]

    def chunks_of(self, tile: Tile) -> set[Tile]:
        """The chunks that a tile fills: itself and, in a symmetric matrix, its mirror."""
        return {tile, tile[::-1]} if self.symmetric else {tile}

    def rows(self, i: int) -> slice:
        """The rows of the matrix in the i-th row of tiles."""
        height = self.tile_shape[0]
        return slice(i * height, min((i + 1) * height, self.n_rows))

    def columns(self, j: int) -> slice:
        """The columns of the matrix in the j-th column of tiles."""
        width = self.tile_shape[1]
        return slice(j * width, min((j + 1) * width, self.n_columns))

    def named(self, tile: Tile) -> str:
        """A tile by its rows and columns, for messages."""
        rows, columns = self.rows(tile[0]), self.columns(tile[1])
        return f"rows {rows.start}:{rows.stop}, columns {columns.start}:{columns.stop}"


@dataclass(frozen=True)
class SparseRows(Profile):
    """Sparse rows of real features, compared by dot product."""

    rows: sparse.csr_matrix

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def take(self, rows: Ints) -> SparseRows:
        return SparseRows(self.rows[rows])

    def compare(self, other: SparseRows, tiling: Tiling = QUIET) -> Floats:
        with one_blas_thread():
            return np.asarray((self.rows @ other.rows.T).toarray(), dtype=np.float64)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        product = self.compare(self, tiling)
        return (product + product.T) / 2

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        return np.asarray(self.rows.multiply(self.rows).sum(axis=1), dtype=np.float64).reshape(-1)


@dataclass(frozen=True)
class Block:
    """Some graphs of one side of the matrix: their profile and, to normalise, their norms."""

    profile: Any
    norms: Floats | None
    normalize: Normalization = False

    def __getitem__(self, rows: slice) -> Block:
        norms = None if self.norms is None else self.norms[rows]
        return Block(self.profile[rows], norms, self.normalize)


@dataclass(frozen=True)
class PairWork:
    """Both sides of the matrix; without ``columns`` it is symmetric."""

    rows: Block
    columns: Block | None

    def tile(self, grid: TileGrid, tile: Tile, tiling: Tiling = QUIET) -> Floats:
        """The values of a tile."""
        i, j = tile
        rows = self.rows[grid.rows(i)]
        if self.columns is not None:
            return _compared(rows, self.columns[grid.columns(j)], tiling)
        return _compared(rows, None if i == j else self.rows[grid.columns(j)], tiling)


def prepared(estimator: Any, X: GraphBatch, Y: GraphBatch | None, y: Any) -> PairWork:
    """Fit the estimator (on Y if given) and prepare the profiles to compare."""
    tiling = _tiling(estimator)
    fitted_on = X if Y is None else Y
    if is_embedding(estimator):
        features = _rows(estimator.fit_transform(fitted_on, y))
        if Y is None:
            return PairWork(Block(features, None), None)
        return PairWork(Block(_rows(estimator.transform(X)), None), Block(features, None))
    estimator.fit(fitted_on, y)
    fitted = estimator._current(estimator.profile_)
    if Y is None:
        own = _self_similarities(fitted, tiling) if estimator.normalize else None
        return PairWork(Block(fitted, own, estimator.normalize), None)
    rows = estimator.profile_of(X)
    how = estimator.normalize
    return PairWork(*(Block(p, p.norms(tiling) if how else None, how) for p in (rows, fitted)))


def _compared(rows: Block, columns: Block | None, tiling: Tiling) -> Floats:
    """The values of a tile; without ``columns`` a tile on the diagonal."""
    if columns is not None:
        values: Floats = rows.profile.compare(columns.profile, tiling)
        if rows.norms is not None and columns.norms is not None:
            normalize_in_place(values, rows.norms, columns.norms, rows.normalize)
        return values
    values = rows.profile.compare_self(tiling)
    if rows.norms is not None:
        normalize_in_place(values, rows.norms, rows.norms, rows.normalize)
        np.fill_diagonal(values, unit(rows.norms))
    return values


def _self_similarities(profile: Any, tiling: Tiling) -> Floats:
    """The diagonal of the Gram matrix, with the same bits as in the whole matrix."""
    if isinstance(profile, CountProfile):  # whole numbers, exact in any order
        return profile.norms(tiling)
    blocks = range(0, len(profile), _OWN_BLOCK)
    return np.concatenate(
        [np.diagonal(profile[b : b + _OWN_BLOCK].compare_self(tiling)) for b in blocks]
    )


def _rows(features: Any) -> Profile:
    if sparse.issparse(features):
        return SparseRows(sparse.csr_matrix(features))
    return FeatureProfile(np.asarray(features, dtype=np.float64))


def _tiling(estimator: Any) -> Tiling:
    own = estimator.get_params(deep=False)
    return Tiling(own.get("n_jobs"), False, type(estimator).__name__)
