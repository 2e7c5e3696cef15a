"""Pairs of balls as features, counted in blocks by radius and distance, and their names.

The engine finds balls and pairs; here they become columns, which later graphs are counted in.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Ints
from gramlet.common.stored_state import require, require_instance, require_integer
from gramlet.engine.core.signature_table import SignatureTable
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.neighbourhoods.ball_pairs import ball_identities, count_ball_pairs
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.labels import EdgeLabels, NodeLabels

__all__ = ["BallPairCounter"]

# The text of a ball is truncated to this length.
_LONGEST_TEXT = 120


class BallPairCounter:
    """Counts pairs of nodes by radius, distance and the identities of their balls."""

    def __init__(self, radius: int, distance: int, use_edge_labels: bool | str) -> None:
        self.radius = radius
        self.distance = distance
        self.use_edge_labels = use_edge_labels

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        """Learn the features of these graphs and count them, one row per graph."""
        self.labels, self.edge_labels = NodeLabels(), EdgeLabels(self.use_edge_labels)
        codes, edges = self.labels.fit(batch), self.edge_labels.fit(batch)
        self.balls: list[tuple[SignatureTable, SignatureTable]] = []
        identities = np.empty((self.radius + 1, batch.n_nodes_total), np.int64)
        for r in range(self.radius + 1):
            tables, identities[r] = ball_identities(batch, codes, edges, r, tiling=tiling)
            self.balls.append(tables)
        self.types, _, counts = count_ball_pairs(batch, identities, self.distance, tiling=tiling)
        return counts

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        """Count features of new graphs; columns after the fitted ones are unseen features."""
        return self.count_blocks(batch, tiling)[0]

    def count_blocks(self, batch: GraphBatch, tiling: Tiling) -> tuple[sparse.csr_matrix, Ints]:
        """Count features of new graphs; also returns the block of every column, seen or unseen."""
        codes, edges = self.labels.encode(batch), self.edge_labels.encode(batch)
        identities = np.empty((self.radius + 1, batch.n_nodes_total), np.int64)
        for r, tables in enumerate(self.balls):
            _, identities[r] = ball_identities(batch, codes, edges, r, tables, tiling=tiling)
        _, new, counts = count_ball_pairs(
            batch, identities, self.distance, self.types, tiling=tiling
        )
        return counts, np.concatenate([self.blocks(), self._blocks_of(new[1])])

    def blocks(self) -> Ints:
        """The block, a number made of radius and distance, of every fitted feature."""
        return self._blocks_of(self.types.data)

    @staticmethod
    def _blocks_of(signatures: Ints) -> Ints:
        rows = signatures.reshape(-1, 4)
        # Distances are below 2³²: they are less than the number of nodes.
        return (rows[:, 0] << 32) + rows[:, 1]

    def names(self) -> list[str]:
        """A readable name per fitted feature: ``r1 d2: C(O)#3 - O(C)#0``."""
        texts = [self._ball_texts(r) for r in range(self.radius + 1)]
        return [
            f"r{r} d{d}: {texts[r][a]}" + (f" - {texts[r][b]}" if d else "")
            for r, d, a, b in self.types.data.reshape(-1, 4).tolist()
        ]

    def _ball_texts(self, radius: int) -> list[str]:
        """A text per ball: the label of its root, the labels hop by hop, and its number."""
        labels = self.labels.names()
        names, balls = self.balls[radius]
        heads = names.data[np.add.outer(names.offsets[:-1], [0, 1])].tolist()
        if radius == 0:
            # The ball is only its root, which its label identifies.
            return [labels[heads[balls.signature(i)[1]][1]] for i in range(len(balls))]
        texts = []
        for ball in range(len(balls)):
            n_names, *entries = balls.signature(ball).tolist()
            shells = [Counter[str]() for _ in range(radius + 1)]
            for name, count in zip(entries[: 2 * n_names : 2], entries[1::2], strict=False):
                hops, label = heads[name]
                shells[hops][labels[label]] += count
            root, *around = (",".join(sorted(shell.elements())) for shell in shells if shell)
            text = f"{root}({';'.join(around)})"
            text = text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
            texts.append(f"{text}#{ball}")
        return texts

    def validate(self) -> None:
        """Raise ValueError if the fitted state does not fit together."""
        require_integer("radius", self.radius, 0)
        require_integer("distance", self.distance, 0)
        require_instance("labels", self.labels, NodeLabels)
        require_instance("edge_labels", self.edge_labels, EdgeLabels)
        require(len(self.balls) == self.radius + 1, "there must be two tables per radius")
        for pair in self.balls:
            require(isinstance(pair, tuple) and len(pair) == 2, "there must be two tables")
            for table in pair:
                require_instance("a table", table, SignatureTable)
        require_instance("types", self.types, SignatureTable)
        self.types.validate(width=4)

    @property
    def n_features(self) -> int:
        """The number of fitted features."""
        return len(self.types)
