"""Blocks of Gram matrices: a training part against itself, and held-out graphs against it.

Fits an estimator, computes matrices from its output (kernel values or dot products of features),
checks them, and centres and scales those of features. A machine that works on features gets those
of embeddings that have few of them. Machines and selection are elsewhere.
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

__all__ = [
    "Features",
    "SharedDistances",
    "centred_and_scaled",
    "fitted_blocks",
    "gives_features",
    "whole_grams",
    "whole_outputs",
]

_SHARED_BYTES = 1 << 29  # of distances that are kept for the next options
_FEW = 4  # times as many graphs as features: from there on machines on features are faster


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
    found = whole_outputs(estimator, option_sets, graphs, n_jobs, target)
    first = found[0] if isinstance(found[0], Features) else None
    return [one.gram() if isinstance(one, Features) else one for one in found], first


def whole_outputs(
    estimator: Any,
    option_sets: Sequence[dict[str, Any]],
    graphs: GraphBatch,
    n_jobs: int | None,
    target: Array | None = None,
) -> list[Floats | Features]:
    """The Gram matrix of all graphs, or their features, for each set of options."""
    return list(_fitted_outputs(_threaded(estimator, n_jobs), option_sets, graphs, target))


def _threaded(estimator: Any, n_jobs: int | None) -> Any:
    """A clone that uses these threads, unless it has a number of its own."""
    from sklearn.base import clone

    threaded = clone(estimator)
    if threaded.get_params().get("n_jobs", 1) is None:
        threaded.set_params(n_jobs=n_jobs)
    return threaded


class SharedDistances:
    """Gram matrices of all graphs for one set of options after another.

    The distances of the last kernel are kept, for options that change only parameters which its fit
    does not use, unless they take too much memory.
    """

    def __init__(self) -> None:
        self._fit = ""
        self._last: tuple[Any, Any] | None = None

    def gram(
        self, estimator: Any, option_set: dict[str, Any], graphs: GraphBatch, n_jobs: int | None
    ) -> Floats:
        """The Gram matrix with one set of options."""
        tags = graph_tags(estimator)
        params = estimator.get_params() | option_set
        fit = repr(sorted((k, v) for k, v in params.items() if k not in tags.after_fit))
        if self._last is None or fit != self._fit:
            self._last = None  # frees its memory before the next distances are computed
            kernel = _threaded(estimator, n_jobs).set_params(**option_set).fit(graphs)
            self._last, self._fit = (kernel, kernel.decays()), fit
        kernel, decays = self._last
        kernel.set_params(**option_set)
        return _checked(decays.matrix(), (len(graphs), len(graphs)), kernel)

    @staticmethod
    def can_share(estimator: Any, n_graphs: int) -> bool:
        """Whether an estimator has distances to share, and few enough of them."""
        return (
            _by_distances(estimator)
            and not gives_features(estimator)
            and 8 * n_graphs**2 <= _SHARED_BYTES
        )


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
) -> Iterator[tuple[Any, Any]]:
    """Fit a clone on the training graphs; their output, and that of held-out graphs.

    One pair per set of options: Gram matrix and kernel values, or two sets of features. The sets
    may differ only in parameters that can be set after the fit. The next step of the iterator may
    overwrite a pair.
    """
    from sklearn.base import clone

    fitted = clone(estimator)
    # Both are lazy and iterate over the options together; the first output fits.
    owns = _fitted_outputs(fitted, option_sets, train, target, reuse=True)
    crosses = _outputs(fitted, option_sets, held, reuse=True)
    for own, cross in zip(owns, crosses, strict=True):
        if isinstance(own, Features):
            yield own, own.like(cross, len(held))
        else:
            yield own, _checked(_dense(cross), (len(held), len(train)), fitted)


def _fitted_outputs(
    estimator: Any,
    option_sets: Sequence[dict[str, Any]],
    graphs: GraphBatch,
    target: Array | None,
    reuse: bool = False,
) -> Iterator[Floats | Features]:
    """Fit on the graphs; per set of options their Gram matrix, or their features.

    A machine on dot products of features is a linear machine on the features.
    """
    estimator.set_params(**option_sets[0])
    if len(option_sets) > 1 and _by_distances(estimator):
        estimator.fit(graphs, target)
        given = graphs if gives_features(estimator) else None
        outputs = _outputs(estimator, option_sets, given, reuse)
    else:
        if hasattr(estimator, "fit_transform"):
            first = estimator.fit_transform(graphs, target)
        else:
            first = estimator.fit(graphs, target).transform(graphs)
        outputs = chain([first], _outputs(estimator, option_sets[1:], graphs))
    for output in outputs:
        if gives_features(estimator):
            yield Features.of(estimator, output, len(graphs))
        else:
            yield _checked(_dense(output), (len(graphs), len(graphs)), estimator)


def _outputs(
    fitted: Any,
    option_sets: Sequence[dict[str, Any]],
    graphs: GraphBatch | None,
    reuse: bool = False,
) -> Iterator[Any]:
    """The output of a fitted estimator for the graphs with each set of options.

    If outputs are functions of distances, these are computed once; kernels then also give the Gram
    matrix of the fitted graphs, for None. ``reuse``: a matrix may overwrite the one before it.
    """
    distances = memory = None
    for option_set in option_sets:
        fitted.set_params(**option_set)
        if len(option_sets) == 1 or not _by_distances(fitted):
            yield fitted.transform(graphs)
        elif gives_features(fitted):
            distances = fitted.distance(graphs) if distances is None else distances
            yield fitted.from_distances(distances)
        else:
            distances = fitted.decays(graphs) if distances is None else distances
            memory = distances.matrix(memory if reuse else None)
            yield memory


def _by_distances(estimator: Any) -> bool:
    return hasattr(estimator, "__graph_tags__") and graph_tags(estimator).distances


class Features:
    """Features of graphs; the mean of dense ones is removed to keep precision.

    All products are centred on a training part later.

    Attributes
    ----------
    rows : array or sparse matrix, shape (n, p)
    sparse : bool
    """

    def __init__(self, rows: Any, mean: Any, name: str) -> None:
        self.sparse = hasattr(rows, "toarray")
        self.rows = rows
        self._mean = mean
        self._name = name

    @classmethod
    def of(cls, estimator: Any, output: Any, n_graphs: int) -> Features:
        """The output of an estimator for the graphs it was fitted on."""
        name = type(estimator).__name__
        if hasattr(output, "toarray"):
            return cls(_checked_rows(output, n_graphs, name), 0.0, name)
        output = np.asarray(output, dtype=np.float64)
        _checked_rows(output, n_graphs, name)
        mean = output.mean(axis=0)
        return cls(output - mean, mean, name)

    def like(self, output: Any, n_graphs: int) -> Features:
        """The output of the same estimator for other graphs, with the same mean removed."""
        rows = output if self.sparse else np.asarray(output, dtype=np.float64) - self._mean
        return Features(_checked_rows(rows, n_graphs, self._name), self._mean, self._name)

    @property
    def are_few(self) -> bool:
        """Whether a machine on features is faster than one on their Gram matrix."""
        return not self.sparse and _FEW * self.rows.shape[1] <= self.rows.shape[0]

    def gram(self) -> Floats:
        """Dot products of all rows."""
        return self.against(self)

    def against(self, others: Features) -> Floats:
        """Dot products of all rows with those of others."""
        return _dense(self.rows @ others.rows.T)


def _checked_rows(rows: Any, n_graphs: int, name: str) -> Any:
    if rows.ndim != 2 or rows.shape[0] != n_graphs:
        raise ValueError(
            f"{name} gave an array of shape {rows.shape} for {n_graphs} graphs; one row of "
            "features per graph was expected."
        )
    values = rows.data if hasattr(rows, "toarray") else rows
    if not np.isfinite(values).all():
        wrong = ~np.isfinite(rows.toarray() if hasattr(rows, "toarray") else rows)
        row = int(np.flatnonzero(wrong.any(axis=1))[0])
        raise ValueError(f"{name} gave a value that is not finite (row {row} of its features).")
    return rows


def _dense(matrix: Any) -> Floats:
    plain = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    return np.ascontiguousarray(plain, dtype=np.float64)


def _checked(matrix: Array, shape: tuple[int, int], estimator: Any) -> Array:
    if matrix.shape != shape:
        raise ValueError(
            f"{type(estimator).__name__} gave a matrix of shape {matrix.shape} where {shape} was "
            "expected: one row per graph, one column per fitted graph."
        )
    # Sums of numbers that are not finite are not finite either, and are faster than a test of each.
    with np.errstate(over="ignore", invalid="ignore"):
        doubtful = np.flatnonzero(~np.isfinite(matrix.sum(axis=1)))
    for row in doubtful:
        if not np.isfinite(matrix[row]).all():
            raise ValueError(
                f"{type(estimator).__name__} gave a value that is not finite (row {row} of its "
                "matrix)."
            )
    return matrix
