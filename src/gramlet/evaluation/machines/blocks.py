"""Blocks of Gram matrices: a training part against itself, and held-out graphs against it.

Fits an estimator, computes matrices from its output (kernel values or dot products of features),
checks them, and centres and scales those of features. Machines and selection are elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.engine.machines.kernel_ridge import centre
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.tags import graph_tags, is_embedding

__all__ = ["Features", "centred_and_scaled", "fitted_blocks", "gives_features", "whole_grams"]


def centred_and_scaled(gram: Floats, cross: Floats) -> tuple[Floats, Floats]:
    """Centres dot products of features and divides them by one number.

    The number is the root mean square length of the centred training rows; 1 if that is 0.
    """
    size = float(np.abs(gram).max(initial=0.0))
    centred, rows = centre(gram, cross)
    mean_square = float(np.trace(centred)) / len(centred)
    if mean_square <= 1e-14 * size:
        mean_square = 1.0
    return centred / mean_square, np.ascontiguousarray(rows / mean_square)


def whole_grams(
    estimator: Any,
    option_sets: Sequence[dict[str, Any]],
    graphs: GraphBatch,
    n_jobs: int | None,
    target: Array | None = None,
) -> tuple[list[Floats], Features | None]:
    """The Gram matrix of all graphs for each set of options, and the features, if any."""
    from sklearn.base import clone

    threaded = clone(estimator)
    if threaded.get_params().get("n_jobs", 1) is None:
        threaded.set_params(n_jobs=n_jobs)
    found = list(_fitted_grams(threaded, option_sets, graphs, target))
    return [gram for gram, _ in found], found[0][1]


def gives_features(estimator: Any) -> bool:
    """Whether an estimator's output is features, not kernel values.

    gramlet's estimators have a tag for this; other estimators with self-similarities are treated as
    kernels.
    """
    if hasattr(estimator, "__graph_tags__"):
        return is_embedding(estimator)
    return not hasattr(estimator, "diagonal")


def fitted_blocks(
    estimator: Any,
    option_sets: Sequence[dict[str, Any]],
    train: GraphBatch,
    target: Array,
    held: GraphBatch,
) -> Iterator[tuple[Floats, Floats, bool]]:
    """Fit a clone on the training graphs; their Gram matrix, and held-out graphs against them.

    One pair of matrices per set of options, and whether they are products of features. The
    sets may differ only in parameters that can be set after the fit, of which there is one.
    """
    from sklearn.base import clone

    fitted = clone(estimator)
    # Both are lazy and iterate over the options together; the first Gram matrix fits.
    grams = _fitted_grams(fitted, option_sets, train, target)
    crosses = _outputs(fitted, option_sets, held)
    for (gram, features), cross in zip(grams, crosses, strict=True):
        matrix = cross if features is None else features.against(cross)
        block = _checked(_dense(matrix), (len(held), len(train)), fitted)
        yield gram, block, features is not None


def _fitted_grams(
    estimator: Any,
    option_sets: Sequence[dict[str, Any]],
    graphs: GraphBatch,
    target: Array | None,
) -> Iterator[tuple[Floats, Features | None]]:
    """Fit on the graphs; per set of options their Gram matrix, and features if there are any.

    A machine on dot products is a linear machine on the features.
    """
    estimator.set_params(**option_sets[0])
    if len(option_sets) > 1 and _by_distances(estimator):
        outputs = _outputs(estimator.fit(graphs, target), option_sets, graphs)
    else:
        if hasattr(estimator, "fit_transform"):
            first = estimator.fit_transform(graphs, target)
        else:
            first = estimator.fit(graphs, target).transform(graphs)
        outputs = chain([first], _outputs(estimator, option_sets[1:], graphs))
    for output in outputs:
        yield _gram_of_output(estimator, output, graphs)


def _outputs(
    fitted: Any, option_sets: Sequence[dict[str, Any]], graphs: GraphBatch
) -> Iterator[Any]:
    """The output of a fitted estimator for the graphs with each set of options.

    If outputs are functions of distances, these are computed once.
    """
    distances = None
    for option_set in option_sets:
        fitted.set_params(**option_set)
        if len(option_sets) > 1 and _by_distances(fitted):
            distances = fitted.distance(graphs) if distances is None else distances
            yield fitted.from_distances(distances)
        else:
            yield fitted.transform(graphs)


def _by_distances(estimator: Any) -> bool:
    return hasattr(estimator, "__graph_tags__") and graph_tags(estimator).distances


def _gram_of_output(
    estimator: Any, output: Any, graphs: GraphBatch
) -> tuple[Floats, Features | None]:
    shape = (len(graphs), len(graphs))
    if not gives_features(estimator):
        return _checked(_dense(output), shape, estimator), None
    features = Features(output)
    return _checked(_dense(features.gram()), shape, estimator), features


class Features:
    """Features of the fitted graphs; the mean of dense ones is removed to keep precision.

    All products are centred on a training part later.
    """

    def __init__(self, output: Any) -> None:
        self.sparse = hasattr(output, "toarray")
        self._mean = 0.0 if self.sparse else np.asarray(output).mean(axis=0)
        self._rows = output if self.sparse else np.asarray(output) - self._mean

    def gram(self) -> Any:
        return self._rows @ self._rows.T

    def against(self, others: Any) -> Any:
        rows = others if self.sparse else np.asarray(others) - self._mean
        return rows @ self._rows.T


def _dense(matrix: Any) -> Floats:
    plain = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    return np.ascontiguousarray(plain, dtype=np.float64)


def _checked(matrix: Floats, shape: tuple[int, int], estimator: Any) -> Floats:
    if matrix.shape != shape:
        raise ValueError(
            f"{type(estimator).__name__} gave a matrix of shape {matrix.shape} where {shape} was "
            "expected: one row per graph, one column per fitted graph."
        )
    if not np.isfinite(matrix).all():
        row = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
        raise ValueError(
            f"{type(estimator).__name__} gave a value that is not finite (row {row} of its matrix)."
        )
    return matrix
