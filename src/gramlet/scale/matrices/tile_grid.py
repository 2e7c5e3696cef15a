"""How a matrix is split into tiles, and the position of each tile in the files of a store.

A tile is the unit of work. Several tiles share one file (a shard in Zarr), to limit the number of
files; each tile has a fixed position in it, so that tiles can be written in any order, by any
process, without reading or moving others. This module does not access the disk.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isqrt

import numpy as np

from gramlet.common.arrays import UInt64s

__all__ = ["Tile", "TileGrid"]

Tile = tuple[int, int]

_PAGE = 4096  # positions are multiples of it: no two writers share a page of the file system
_TILES_PER_SIDE = 8  # of a file, at most
# Of a file with more than one tile, at most: two processes cannot write to one file at once, and
# waiting for one's own tiles to reach the disk is waiting for all of the file.
_FILE_BYTES = 128 * 1024 * 1024
_STRIP_BYTES = 256 * 1024  # least number of bytes that reading one row takes from each tile


@dataclass(frozen=True)
class TileGrid:
    """The tiles of a matrix.

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
    >>> grid.rows(2)
    slice(4, 5, None)
    """

    n_rows: int
    n_columns: int
    chunk: int
    symmetric: bool

    @property
    def tile_shape(self) -> tuple[int, int]:
        """Rows and columns of a stored tile; tiles at the edges are padded with zeros."""
        return max(1, min(self.chunk, self.n_rows)), max(1, min(self.chunk, self.n_columns))

    @property
    def shape(self) -> tuple[int, int]:
        """Tiles per column and per row of the matrix."""
        height, width = self.tile_shape
        return -(-self.n_rows // height), -(-self.n_columns // width)

    def tiles(self) -> list[Tile]:
        """The tiles to compute, row by row."""
        down, across = self.shape
        return [(i, j) for i in range(down) for j in range(i if self.symmetric else 0, across)]

    def rows(self, i: int) -> slice:
        """The rows of the matrix in the i-th row of tiles."""
        height = self.tile_shape[0]
        return slice(i * height, min((i + 1) * height, self.n_rows))

    def columns(self, j: int) -> slice:
        """The columns of the matrix in the j-th column of tiles."""
        width = self.tile_shape[1]
        return slice(j * width, min((j + 1) * width, self.n_columns))

    def named(self, tile: Tile) -> str:
        """A tile counted from 1, for messages."""
        rows, columns = self.rows(tile[0]), self.columns(tile[1])
        return f"rows {rows.start}:{rows.stop}, columns {columns.start}:{columns.stop}"

    # Positions in files

    @property
    def tiles_per_file(self) -> tuple[int, int]:
        """Tiles per file, vertically and horizontally."""
        down, across = self.shape
        most = max(1, min(_TILES_PER_SIDE, isqrt(_FILE_BYTES // self.tile_bytes)))
        return max(1, min(most, down)), max(1, min(most, across))

    @property
    def file_shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix in one file."""
        (down, across), (height, width) = self.tiles_per_file, self.tile_shape
        return down * height, across * width

    @cached_property
    def strip(self) -> int:
        """Rows of a strip: the part of a tile that Zarr reads at once. A divisor of its rows.

        A tile in C order is its strips one after the other.
        """
        height, width = self.tile_shape
        divisors = [rows for rows in range(1, height + 1) if height % rows == 0]
        return next((rows for rows in divisors if 8 * rows * width >= _STRIP_BYTES), height)

    @property
    def tile_bytes(self) -> int:
        """Bytes of a stored tile."""
        return 8 * self.tile_shape[0] * self.tile_shape[1]

    @property
    def file_bytes(self) -> int:
        """Bytes of a file; parts that were not written take no space on most file systems."""
        down, across = self.tiles_per_file
        return self._index_bytes + down * across * self._span

    def files(self) -> list[Tile]:
        """All files, by their position in the grid of files."""
        (down, across), (per_column, per_row) = self.shape, self.tiles_per_file
        return [(a, b) for a in range(-(-down // per_column)) for b in range(-(-across // per_row))]

    def place(self, tile: Tile) -> tuple[Tile, int]:
        """The file of a tile and the byte at which the tile begins in it."""
        down, across = self.tiles_per_file
        (a, row), (b, column) = divmod(tile[0], down), divmod(tile[1], across)
        return (a, b), self._index_bytes + (row * across + column) * self._span

    def index(self) -> bytes:
        """The first bytes of every file: Zarr's index of the strips, as (offset, length)."""
        (down, across), (height, width) = self.tiles_per_file, self.tile_shape
        strips = height // self.strip
        length = 8 * self.strip * width
        places: UInt64s = np.empty((down * strips, across, 2), dtype="<u8")
        tile_row, within = np.divmod(np.arange(down * strips), strips)
        tiles = tile_row[:, None] * across + np.arange(across)
        places[:, :, 0] = self._index_bytes + tiles * self._span + within[:, None] * length
        places[:, :, 1] = length
        return places.tobytes()

    @property
    def _span(self) -> int:
        """Bytes from the start of a tile to the start of the next."""
        return _whole_pages(self.tile_bytes)

    @property
    def _index_bytes(self) -> int:
        (down, across), height = self.tiles_per_file, self.tile_shape[0]
        return _whole_pages(16 * down * (height // self.strip) * across)


def _whole_pages(n_bytes: int) -> int:
    return -(-n_bytes // _PAGE) * _PAGE
