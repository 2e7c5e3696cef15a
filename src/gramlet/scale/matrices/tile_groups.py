"""Which tiles a worker of a cluster is sent together.

A message costs processor time on both sides, so a group should take a worker long; workers should
also end at the same time, so the last groups are small. Nothing here computes or sends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from gramlet.scale.matrices.tile_grid import Tile

__all__ = ["Groups"]

_GROUP_SECONDS = 2.0  # of a worker per message: a hundred times what the message costs
_MOST_TILES = 64  # of a group
_GROUPS_TO_COME = 2  # per thread at least, so that all workers end at the same time


class Groups:
    """Tiles in groups: each takes a worker about two seconds, by what tiles took before.

    The last groups are smaller, so that no worker is left with many tiles when others have none;
    for the same reason tiles on the diagonal, which cost half as much as others, come last.

    Examples
    --------
    >>> groups = Groups([(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)], symmetric=True)
    >>> groups.next_tiles(n_threads=1)
    [(0, 1)]
    >>> groups.learn([(0, 1)], seconds=0.1)
    >>> groups.next_tiles(n_threads=1)
    [(0, 2), (1, 2)]
    """

    def __init__(self, tiles: Sequence[Tile], symmetric: bool) -> None:
        self.symmetric = symmetric
        self.tiles = sorted(tiles, key=lambda tile: self._cost([tile]) < 1.0)
        self.begin = 0
        self.remaining = self._cost(tiles)
        self.seconds = math.inf  # of a tile off the diagonal, as long as nothing is known

    def learn(self, tiles: Sequence[Tile], seconds: float) -> None:
        """Note what tiles took last."""
        self.seconds = seconds / self._cost(tiles)

    def next_tiles(self, n_threads: int) -> list[Tile]:
        """The next group, for a cluster with so many threads; none after the last one.

        As many tiles as come closest to the cost of a group, and at least one.
        """
        by_time = _GROUP_SECONDS / max(self.seconds, 1e-9)
        by_share = self.remaining / max(1, _GROUPS_TO_COME * n_threads)
        size, cost = 0, 0.0
        for tile in self.tiles[self.begin : self.begin + _MOST_TILES]:
            own = self._cost([tile])
            if size and cost + own / 2 > min(by_time, by_share):
                break
            size, cost = size + 1, cost + own
        self.begin, self.remaining = self.begin + size, self.remaining - cost
        return self.tiles[self.begin - size : self.begin]

    def _cost(self, tiles: Sequence[Tile]) -> float:
        """The work of tiles: 1 each, and half of it on the diagonal of a symmetric matrix."""
        if not self.symmetric:
            return float(len(tiles))
        return sum(0.5 if i == j else 1.0 for i, j in tiles)
