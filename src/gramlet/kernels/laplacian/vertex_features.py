"""Features of nodes for the Laplacian kernels: labels, degrees, attributes, heat.

Labels are integer codes, which stand for one-hot columns; all other features are rows of numbers.
The fitted columns are stored and later graphs are checked against them; the kernels use the
features.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Choice, Instance, Integer, Optional, Text, fields
from gramlet.common.parameters import StrOptions
from gramlet.common.stored_state import require
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.laplacian.covariances import heat_diagonals
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import place_of, required_attributes
from gramlet.kernels.contract.labels import LabelVocabulary

FEATURES_CONSTRAINTS: dict[str, list[Any]] = {
    "vertex_features": [StrOptions({"labels", "degree", "attributes", "heat"}), callable],
    "heat_times": ["array-like"],
}


def columns_of(features: Any) -> tuple[str, ...] | None:
    """The columns that a Laplacian kernel on these features depends on; None for functions."""
    if not isinstance(features, str):
        return None
    column = {"labels": ("node_labels",), "attributes": ("node_attributes",)}.get(features, ())
    return (*column, "edge_weights")


class VertexFeatures:
    """Computes the features of nodes, in the columns of the fitted graphs.

    Parameters
    ----------
    features : {"labels", "degree", "attributes", "heat"} or callable
    heat_times : sequence of float
        For "heat".
    owner : str
        The kernel's name, for messages.

    Attributes
    ----------
    width : int or None
        The number of columns of the fitted graphs; None if they have no nodes (then any number is
        accepted).
    """

    stored = fields(
        features=Choice("labels", "degree", "attributes", "heat"),
        owner=Text(),
        times=ArrayOf("float64", None, least=0.0),
        width=Optional(Integer(0)),
        labels=Optional(Instance(LabelVocabulary)),
    )

    def __init__(
        self, features: str | Callable[[GraphBatch], Any], heat_times: Any, owner: str
    ) -> None:
        self.features = features
        self.owner = owner
        self.times = _checked_times(heat_times, owner)
        self.width: int | None = None
        self.labels: LabelVocabulary | None = None

    def fit(self, batch: GraphBatch, tiling: Tiling = QUIET) -> Ints | Floats:
        """Learn the columns from these graphs; return their features, as `read` does.

        ``tiling`` as for `for_tiles`; here and in `read`.
        """
        if self.features == "labels":
            n = batch.n_nodes_total
            self.labels, codes = LabelVocabulary.fit(batch.node_labels, n, "node labels")
            self.width = len(self.labels)
            return codes
        rows = self._rows(batch, tiling)
        self.width = rows.shape[1] if batch.n_nodes_total else None
        return rows

    def read(self, batch: GraphBatch, tiling: Tiling = QUIET) -> Ints | Floats:
        """The features of new graphs.

        Returns
        -------
        array of int64, shape (n nodes,), or array of float64, shape (n nodes, width)
            Codes of labels (from ``width`` on for unseen labels), or rows of numbers.
        """
        if self.labels is not None:
            return self.labels.encode(batch.node_labels, batch.n_nodes_total)
        return self._rows(batch, tiling)

    def validate(self) -> None:
        """Raise ValueError if the columns do not fit the kind of features."""
        require((self.labels is not None) == (self.features == "labels"), "labels do not fit")
        if self.labels is not None:
            require(self.width == len(self.labels), "width must be the number of labels")
        elif self.width is not None:
            width = {"degree": 1, "heat": len(self.times)}.get(str(self.features), self.width)
            require(self.width == width, "width does not fit the features")

    def _rows(self, batch: GraphBatch, tiling: Tiling) -> Floats:
        if self.features == "attributes":
            return np.array(required_attributes(batch, self.owner, self.width), order="C")
        if self.features == "degree":
            return batch.degrees.astype(np.float64)[:, None]
        if self.features == "heat":
            rows = heat_diagonals(batch, self.times, tiling=tiling)
        else:
            rows = self._called(batch)
        _refuse_not_finite(batch, rows, self.owner)
        return rows

    def _called(self, batch: GraphBatch) -> Floats:
        """The rows of the callable, graph by graph; it is not called on graphs without nodes."""
        width = self.width
        parts = []
        for i in np.flatnonzero(batch.sizes).tolist():
            rows = self._called_on(batch, i)
            if width is not None and rows.shape[1] != width:
                raise ValueError(
                    f"{self.owner}: vertex_features(graph) gave {rows.shape[1]} columns for graph "
                    f"{i}, but {width} for earlier graphs. It must give the same number for all."
                )
            width = rows.shape[1]
            parts.append(rows)
        return np.concatenate([np.zeros((0, width or 0)), *parts])

    def _called_on(self, batch: GraphBatch, i: int) -> Floats:
        assert callable(self.features)
        given = self.features(batch[i])
        try:
            rows = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"{self.owner}: vertex_features(graph) must give an array of numbers; for graph "
                f"{i} it gave a {type(given).__name__}."
            ) from None
        if rows.ndim != 2 or len(rows) != batch.sizes[i]:
            raise ValueError(
                f"{self.owner}: vertex_features(graph) must give an array with one row per node; "
                f"for graph {i}, with {batch.sizes[i]} nodes, it gave shape {rows.shape}."
            )
        return rows


def _checked_times(heat_times: Any, owner: str) -> Floats:
    try:
        times = np.atleast_1d(np.asarray(heat_times, dtype=np.float64))
    except (TypeError, ValueError):
        times = np.full(1, np.nan)
    if times.ndim != 1 or len(times) == 0 or not (np.isfinite(times) & (times >= 0)).all():
        raise ValueError(
            f"The 'heat_times' parameter of {owner} must be finite numbers of at least 0. "
            f"Got {heat_times!r} instead."
        )
    return times


def _refuse_not_finite(batch: GraphBatch, rows: Floats, owner: str) -> None:
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(bad):
        graph, node = place_of(batch, bad[0])
        raise ValueError(
            f"{owner}: the features of node {node} of graph {graph} are not finite: "
            f"{rows[bad[0]].tolist()}. Give features that are numbers, and weights of at least 0."
        )


def one_hot(codes: Ints, width: int) -> Floats:
    """Codes as rows with a single 1.

    >>> one_hot(np.array([1, 0]), 2).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    rows = np.zeros((len(codes), width))
    rows[np.arange(len(codes)), codes] = 1.0
    return rows
