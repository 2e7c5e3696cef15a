"""Gram matrices and features: of all graphs, or of a training part with held-out graphs.

Fits estimators, checks their output (kernel values or features), and centres and scales dot
products of features. Candidates that share one fit are fitted once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.engine.machines.kernel_ridge import centre
from gramlet.evaluation.candidates import Candidate
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.tags import graph_tags, is_embedding

_FEW = 4  # times as many graphs as features: from there on machines on features are faster


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
        output = _checked_rows(np.asarray(output, dtype=np.float64), n_graphs, name)
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

    def diagonal(self) -> Floats:
        """Dot products of all rows with themselves."""
        squares = self.rows.multiply(self.rows) if self.sparse else self.rows**2
        return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


class SharedFit:
    """Outputs for all graphs of candidates that share one fit.

    The fit, and the distances that several candidates share, are computed when they are first
    needed, and released after the last candidate.

    Parameters
    ----------
    candidates : sequence of Candidate
        They differ only in parameters that can be set after the fit.
    graphs : GraphBatch
    n_jobs : int or None
    """

    def __init__(
        self, candidates: Sequence[Candidate], graphs: GraphBatch, n_jobs: int | None
    ) -> None:
        self._candidates = candidates
        self._graphs = graphs
        self._n_jobs = n_jobs
        self._fitted: Any = None
        self._output: Callable[[], Any] | None = None

    def output(self, candidate: Candidate) -> Floats | Features:
        """The Gram matrix or the features of all graphs."""
        first, last = self._candidates[0], self._candidates[-1]
        if first is last or not (first.kind == "once" or _by_distances(first.estimator)):
            return fit_output(candidate.estimator, self._graphs, self._n_jobs)
        if self._output is None:
            self._fitted = _threaded(first.estimator, self._n_jobs).fit(self._graphs)
            self._output = _varied(self._fitted, self._graphs, of_fitted=True)
        fitted = self._fitted.set_params(**candidate.options)
        output = _checked_output(self._output(), len(self._graphs), fitted)
        if candidate is last:
            self._fitted = self._output = None
        return output


def fit_output(
    estimator: Any, graphs: GraphBatch, n_jobs: int | None, target: Array | None = None
) -> Floats | Features:
    """Fit a clone on all graphs; their Gram matrix or their features."""
    fitted = _threaded(estimator, n_jobs)
    return _checked_output(_fit_transform(fitted, graphs, target), len(graphs), fitted)


def _threaded(estimator: Any, n_jobs: int | None) -> Any:
    """A clone that uses these threads, unless it has a number of its own."""
    from sklearn.base import clone

    threaded = clone(estimator)
    if threaded.get_params().get("n_jobs", 1) is None:
        threaded.set_params(n_jobs=n_jobs)
    return threaded


def fitted_blocks(
    candidates: Sequence[Candidate],
    train: GraphBatch,
    target: Array,
    held: GraphBatch,
    diagonal: bool = False,
) -> Iterator[tuple[Floats | Features, Any, Floats | None]]:
    """Fit on the training graphs; their output, and that of held-out graphs, per candidate.

    These are Gram matrix and kernel values, or two sets of features.

    Parameters
    ----------
    candidates : sequence of Candidate
        They differ only in parameters that can be set after the fit.
    train, held : GraphBatch
    target : array
        Of the training graphs.
    diagonal : bool
        Whether self-similarities of the held-out graphs are computed as well.
    """
    from sklearn.base import clone

    fitted = clone(candidates[0].estimator)
    of_train: Callable[[], Any] | None = None
    if len(candidates) > 1 and _by_distances(fitted):
        fitted.fit(train, target)
        of_train = _varied(fitted, train, of_fitted=True)
        first = of_train()
    else:
        first = _fit_transform(fitted, train, target)
    of_held = _varied(fitted, held) if of_train else lambda: fitted.transform(held)
    for number, candidate in enumerate(candidates):
        if number:
            fitted.set_params(**candidate.options)
            first = of_train() if of_train else fitted.transform(train)
        part = _checked_output(first, len(train), fitted)
        if isinstance(part, Features):
            rows = part.like(of_held(), len(held))
            yield part, rows, rows.diagonal() if diagonal else None
        else:
            values = _checked(_dense(of_held()), (len(held), len(train)), fitted)
            yield part, values, np.asarray(fitted.diagonal(held)) if diagonal else None


def _fit_transform(estimator: Any, graphs: GraphBatch, target: Array | None) -> Any:
    if hasattr(estimator, "fit_transform"):
        return estimator.fit_transform(graphs, target)
    return estimator.fit(graphs, target).transform(graphs)


def _varied(fitted: Any, graphs: GraphBatch, of_fitted: bool = False) -> Callable[[], Any]:
    """A function that gives the output for graphs with the current parameters.

    If the output is a function of distances, these are computed once. ``of_fitted``: the graphs are
    those of the fit.
    """
    if not _by_distances(fitted):
        return lambda: fitted.transform(graphs)
    if gives_features(fitted):
        distances = fitted.distance(graphs)
        return lambda: fitted.from_distances(distances)
    decays: Callable[[], Any] = fitted.decays(None if of_fitted else graphs).matrix
    return decays


def _by_distances(estimator: Any) -> bool:
    return hasattr(estimator, "__graph_tags__") and graph_tags(estimator).distances


def gives_features(estimator: Any) -> bool:
    """Whether an estimator's output is features, not kernel values.

    gramlet's estimators have a tag for this; other estimators with self-similarities are treated as
    kernels.
    """
    if hasattr(estimator, "__graph_tags__"):
        return is_embedding(estimator)
    return not hasattr(estimator, "diagonal")


def centred_and_scaled(
    gram: Floats, cross: Floats, diagonal: Floats | None = None
) -> tuple[Floats, Floats, Floats | None]:
    """Centre dot products of features and divide them by one number.

    The number is the root mean square length of the centred training rows; 1 if that is 0.
    """
    size = float(np.abs(gram).max(initial=0.0))
    centred, rows = centre(gram, cross)
    mean_square = float(np.trace(centred)) / len(centred)
    if mean_square <= 1e-14 * size:
        mean_square = 1.0
    if diagonal is not None:
        diagonal = (diagonal - 2.0 * cross.mean(axis=1) + gram.mean()) / mean_square
    return centred / mean_square, np.ascontiguousarray(rows / mean_square), diagonal


def _checked_output(output: Any, n_graphs: int, estimator: Any) -> Floats | Features:
    """The output for fitted graphs, as features or as a Gram matrix."""
    if gives_features(estimator):
        return Features.of(estimator, output, n_graphs)
    matrix: Floats = _checked(_dense(output), (n_graphs, n_graphs), estimator)
    return matrix


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
