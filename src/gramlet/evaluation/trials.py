"""Options at work: counting right answers on parts of the data.

A trial is prepared once a set of options (or for several that one fit can serve) and then asked,
from several threads, about many pairs of a training part and a held part. It sees the held graphs
only to classify them. Which trial wins is decided in `run`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.engine.machines.support_vectors import correct_by_cost, take_block
from gramlet.evaluation.protocol import Protocol
from gramlet.evaluation.subjects import Subject
from gramlet.graphs.batch import GraphBatch

__all__ = ["Data", "Trial", "prepare"]


_PROBED = 24  # graphs that are looked at to see whether a kernel depends on what else was fitted


class Data:
    """Graphs with their classes, as codes and by their own names."""

    def __init__(self, graphs: GraphBatch, codes: Ints, classes: Array) -> None:
        self.graphs = graphs
        self.codes = codes
        self.classes = classes
        self.target = classes[codes]


class Trial(ABC):
    """Sets of options, ready to be tried.

    Attributes
    ----------
    grid : list of dict
        What there is to choose from: the sets of options one after the other, each with all C.
    unfinished : list of int
        Support vector machines that ran out of steps.
    refitted : bool
        Whether the kernel is fitted on each training part.
    """

    refitted = False

    def __init__(self, grid: list[dict[str, Any]]) -> None:
        self.grid = grid
        self.unfinished: list[int] = []
        # Lists, because threads may append to them at one time.
        self._seconds: list[float] = []
        self._kernel_seconds: list[float] = []

    @contextmanager
    def stopwatch(self) -> Iterator[None]:
        """Time what is done with this trial in any thread."""
        started = time.perf_counter()
        yield
        self._seconds.append(time.perf_counter() - started)

    def kernel_share(self) -> float:
        """Which part of the time under the stopwatch went into the kernel."""
        return sum(self._kernel_seconds) / sum(self._seconds) if self._seconds else 0.0

    @abstractmethod
    def counts(self, train: Ints, held: Ints) -> Ints:
        """How many held graphs are classified rightly, for each entry of the grid."""

    @abstractmethod
    def correct(self, train: Ints, held: Ints, position: int) -> int:
        """The same for one entry of the grid."""


class _Majority(Trial):
    """Always the most frequent class of the training part; the first of equals."""

    def __init__(self, data: Data) -> None:
        super().__init__([{}])
        self._codes = data.codes

    def counts(self, train: Ints, held: Ints) -> Ints:
        winner = np.bincount(self._codes[train]).argmax()
        return np.array([np.count_nonzero(self._codes[held] == winner)])

    def correct(self, train: Ints, held: Ints, position: int) -> int:
        return int(self.counts(train, held)[0])


class _Classifier(Trial):
    """An estimator that predicts by itself."""

    refitted = True

    def __init__(self, estimator: Any, options: dict[str, Any], data: Data) -> None:
        super().__init__([options])
        self._estimator = estimator
        self._data = data

    def counts(self, train: Ints, held: Ints) -> Ints:
        from sklearn.base import clone

        data = self._data
        fitted = clone(self._estimator).fit(data.graphs[train], data.target[train])
        predicted = np.asarray(fitted.predict(data.graphs[held]))
        return np.array([np.count_nonzero(predicted == data.target[held])])

    def correct(self, train: Ints, held: Ints, position: int) -> int:
        return int(self.counts(train, held)[0])


class _KernelMachine(Trial):
    """A support vector machine on blocks of a Gram matrix, wherever these come from."""

    def __init__(
        self, option_sets: Sequence[dict[str, Any]], data: Data, protocol: Protocol
    ) -> None:
        super().__init__([{**chosen, "C": cost} for chosen in option_sets for cost in protocol.C])
        self._option_sets = option_sets
        self._data = data
        self._protocol = protocol

    @abstractmethod
    def _blocks(
        self, train: Ints, held: Ints, option_sets: Sequence[dict[str, Any]]
    ) -> Iterator[tuple[Floats, Floats]]:
        """For each set of options the Gram matrix of the training part, and the held against it."""

    def counts(self, train: Ints, held: Ints) -> Ints:
        codes, rules = self._data.codes, self._protocol
        counts = []
        for gram, cross in self._blocks(train, held, self._option_sets):
            right, unfinished = correct_by_cost(
                gram, codes[train], cross, codes[held], np.array(rules.C), rules.tol, rules.max_iter
            )
            counts.append(right)
            self.unfinished.append(unfinished)
        return np.concatenate(counts)

    def correct(self, train: Ints, held: Ints, position: int) -> int:
        from sklearn.svm import SVC

        codes, rules = self._data.codes, self._protocol
        which, cost = divmod(position, len(rules.C))
        gram, cross = next(self._blocks(train, held, self._option_sets[which : which + 1]))
        machine = SVC(kernel="precomputed", C=rules.C[cost], tol=rules.tol, max_iter=rules.max_iter)
        predicted = machine.fit(gram, codes[train]).predict(cross)
        self.unfinished.append(int(machine.fit_status_ != 0))
        return int(np.count_nonzero(predicted == codes[held]))


class _Sliced(_KernelMachine):
    """Blocks cut from the Gram matrices of all graphs, one a set of options."""

    def __init__(
        self,
        grams: Sequence[Floats],
        option_sets: Sequence[dict[str, Any]],
        data: Data,
        protocol: Protocol,
    ) -> None:
        super().__init__(option_sets, data, protocol)
        self._grams = grams

    def _blocks(
        self, train: Ints, held: Ints, option_sets: Sequence[dict[str, Any]]
    ) -> Iterator[tuple[Floats, Floats]]:
        for option_set in option_sets:
            gram = self._grams[self._option_sets.index(option_set)]
            yield take_block(gram, train, train), take_block(gram, held, train)


class _Refitted(_KernelMachine):
    """Blocks of a kernel that is fitted on the training part, and on nothing else."""

    refitted = True

    def __init__(
        self,
        estimator: Any,
        option_sets: Sequence[dict[str, Any]],
        data: Data,
        protocol: Protocol,
    ) -> None:
        super().__init__(option_sets, data, protocol)
        self._estimator = estimator

    def _blocks(
        self, train: Ints, held: Ints, option_sets: Sequence[dict[str, Any]]
    ) -> Iterator[tuple[Floats, Floats]]:
        data = self._data
        started = time.perf_counter()
        for blocks in fitted_blocks(
            self._estimator, option_sets, data.graphs[train], data.target[train], data.graphs[held]
        ):
            self._kernel_seconds.append(time.perf_counter() - started)
            yield blocks
            started = time.perf_counter()


def prepare(
    subject: Subject,
    option_sets: Sequence[dict[str, Any]],
    data: Data,
    protocol: Protocol,
    n_jobs: int | None,
) -> Trial:
    """Make a trial of one of the subject's groups of options.

    A kernel that can be sliced, or is to be fitted once, is computed now.
    """
    if subject.kind == "majority":
        return _Majority(data)
    estimator = subject.with_options(option_sets[0])
    if subject.kind == "classifier":
        return _Classifier(estimator, option_sets[0], data)
    if subject.kind in ("sliced", "once"):
        grams = _whole_grams(estimator, option_sets, data, n_jobs)
        if subject.kind == "once" or not _depends_on_company(estimator, grams[0], data):
            return _Sliced(grams, option_sets, data, protocol)
    return _Refitted(estimator, option_sets, data, protocol)


def _whole_grams(
    estimator: Any, option_sets: Sequence[dict[str, Any]], data: Data, n_jobs: int | None
) -> list[Floats]:
    from sklearn.base import clone

    threaded = clone(estimator)
    if threaded.get_params().get("n_jobs", 1) is None:
        threaded.set_params(n_jobs=n_jobs)
    return [gram for gram, _ in _fitted_grams(threaded, option_sets, data.graphs, None)]


def _depends_on_company(estimator: Any, gram: Floats, data: Data) -> bool:
    """Whether fitting fewer graphs changes the kernel between them.

    The registry says so for a kernel as such; a parameter (a repair of the spectrum, say) can make
    it so for one instance. Asked of a few graphs, and answered by fitting half of them.
    """
    chosen = np.unique(np.linspace(0, len(data.graphs) - 1, _PROBED).astype(np.int64))
    train, held = chosen[::2], chosen[1::2]
    if not len(held):
        return False
    blocks = next(
        fitted_blocks(estimator, [{}], data.graphs[train], data.target[train], data.graphs[held])
    )
    scale = float(np.abs(gram[np.ix_(chosen, chosen)]).max(initial=0.0))
    expected = (gram[np.ix_(train, train)], gram[np.ix_(held, train)])
    return not all(
        np.allclose(found, wanted, rtol=1e-6, atol=1e-9 * scale)
        for found, wanted in zip(blocks, expected, strict=True)
    )


def fitted_blocks(
    estimator: Any,
    option_sets: Sequence[dict[str, Any]],
    train: GraphBatch,
    target: Array,
    held: GraphBatch,
) -> Iterator[tuple[Floats, Floats]]:
    """Fit a clone on the training graphs; their Gram matrix, and the held graphs against them.

    One pair of matrices for each set of options. These may differ only in parameters that can be
    set after the fit, of which there is one.
    """
    from sklearn.base import clone

    fitted = clone(estimator)
    # Both are lazy and go through the options together; the first Gram matrix fits.
    grams = _fitted_grams(fitted, option_sets, train, target)
    crosses = _outputs(fitted, option_sets, held)
    for (gram, features), cross in zip(grams, crosses, strict=True):
        matrix = cross if features is None else cross @ features.T
        yield gram, _checked(_dense(matrix), (len(held), len(train)), fitted)


def _fitted_grams(
    estimator: Any,
    option_sets: Sequence[dict[str, Any]],
    graphs: GraphBatch,
    target: Array | None,
) -> Iterator[tuple[Floats, Any]]:
    """Fit on the graphs; for each set of options their Gram matrix, and features if there are any.

    A support vector machine on dot products is a linear one on the features, which are taken as
    they are: neither centred nor scaled.
    """
    estimator.set_params(**option_sets[0])
    if len(option_sets) > 1 and hasattr(estimator, "from_distances"):
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
    """What a fitted estimator gives for the graphs with each set of options.

    Where outputs are functions of distances, these are computed once.
    """
    distances = None
    for option_set in option_sets:
        fitted.set_params(**option_set)
        if len(option_sets) > 1 and hasattr(fitted, "from_distances"):
            distances = fitted.distance(graphs) if distances is None else distances
            yield fitted.from_distances(distances)
        else:
            yield fitted.transform(graphs)


def _gram_of_output(estimator: Any, output: Any, graphs: GraphBatch) -> tuple[Floats, Any]:
    shape = (len(graphs), len(graphs))
    if hasattr(estimator, "diagonal"):
        return _checked(_dense(output), shape, estimator), None
    return _checked(_dense(output @ output.T), shape, estimator), output


def _dense(matrix: Any) -> Floats:
    plain = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    return np.ascontiguousarray(plain, dtype=np.float64)


def _checked(matrix: Floats, shape: tuple[int, int], estimator: Any) -> Floats:
    if matrix.shape != shape:
        raise ValueError(
            f"{type(estimator).__name__} gave a matrix of shape {matrix.shape} where {shape} was "
            "expected: one row a graph, one column a fitted graph."
        )
    if not np.isfinite(matrix).all():
        row = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
        raise ValueError(
            f"{type(estimator).__name__} gave a value that is not finite (row {row} of its matrix)."
        )
    return matrix
