"""The function `evaluate`, which combines data, subject, folds and store.

`trials` fits, `selection` and `best_of_grid` choose options, `result` contains the outcome.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gramlet._version import __version__
from gramlet.common.arrays import Floats, Ints
from gramlet.common.checks import require_count
from gramlet.evaluation.machines.baselines import BASELINES
from gramlet.evaluation.machines.machines import CLASSIFIERS, Machine, machine_of
from gramlet.evaluation.protocols.groups import groups_of
from gramlet.evaluation.protocols.protocol import Protocol
from gramlet.evaluation.protocols.splits import Split, make_splits
from gramlet.evaluation.protocols.task import Target, target_of
from gramlet.evaluation.results import assembly, hints
from gramlet.evaluation.results.result import Result
from gramlet.evaluation.scores.scorers import Scorer, scorer_of
from gramlet.evaluation.scores.significance import overlap_of
from gramlet.evaluation.selection.best_of_grid import best_of_grid
from gramlet.evaluation.selection.choice import Choice, choose
from gramlet.evaluation.selection.selection import Race, nested, retrained
from gramlet.evaluation.selection.subjects import Subject, ready_subject, subject_of
from gramlet.evaluation.selection.trials import Data
from gramlet.evaluation.store import Store
from gramlet.files.dataset import Dataset
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.graphs.fingerprint import digest_of

__all__ = ["Choice", "choose", "evaluate"]


def evaluate(
    kernel: Any,
    graphs: Any,
    y: Any = None,
    protocol: Protocol | None = None,
    *,
    task: str = "auto",
    scoring: str | None = None,
    classifier: str | None = None,
    class_weight: Any = None,
    groups: Any = None,
    min_class_size: int | None = None,
    draws: int | None = None,
    store: str | os.PathLike[str] | Store | None = None,
    options: Mapping[str, Any] | None = None,
    normalize: bool | None = None,
    name: str | None = None,
    dataset: str = "",
    fit_once: bool = False,
    baselines: bool = True,
    n_jobs: int | None = None,
    verbose: int | bool = False,
) -> Any:
    """Estimate how well a kernel predicts the target of graphs it has not seen.

    A machine with the kernel is tested by repeated cross-validation, stratified for classes. C and
    the kernel's options are chosen by a second cross-validation inside each training part, without
    the test graphs. A kernel whose values depend on the two graphs alone is computed once per set
    of options and sliced; a kernel that learns from the graphs or the target it is fitted on is
    fitted on each training part.

    Cost: one Gram matrix per set of options, and (options × C × inner folds) small support vector
    machines per split; for ridge one tridiagonal reduction per training part, for all penalties
    together, or one decomposition of the features of an embedding that has few.

    Parameters
    ----------
    kernel : str, estimator, pipeline or dict of matrices
        A name of the registry (``gramlet kernels`` lists them); a baseline: "majority" (the most
        frequent class), "mean" (of a regression), "size" (numbers of nodes and edges); a kernel; an
        embedding or any other transformer, whose features are centred and divided by one number;
        a classifier or regressor, such as a pipeline that ends in one, which is fitted as it is
        and for which C is one of the ``options``. A dict ``{name: K}`` of precomputed Gram
        matrices, with None for the graphs, gives a dict of results.
    graphs : Dataset, or anything that `gramlet.as_batch` accepts
    y : array-like, optional
        One class or number per graph, matched by position; by default the Dataset's target.
    protocol : Protocol, optional
        By default 10 folds, 10 repeats, C from 1e-3 to 1e3.
    task : {"auto", "classification", "regression"}
        "auto": strings and booleans are classes; numbers are a regression target if one of them is
        not whole, or if there are at least 50 graphs and more than a fifth as many distinct values.
    scoring : str, optional
        scikit-learn's name of a scorer of predictions or decision values. By default "accuracy" or
        "r2". Options are chosen by the scorer that is reported.
    classifier : {"svc", "ridge", "svr"}, optional
        The machine: for classes "svc" (default) or "ridge" on one column per class, for a
        regression "ridge" (default) or "svr". The ridge penalty is chosen by leave-one-out inside
        the training part; with groups, by inner folds.
    class_weight : "balanced" or mapping, optional
        The factor of C of "svc" for each class.
    groups : array-like or "scaffold", optional
        Graphs of one group are never in a training part and its test part at once.
    min_class_size : int, optional
        Leave out classes with fewer graphs; these graphs get no prediction.
    draws : int, optional
        Number of seeds with which a kernel or embedding that draws random numbers is repeated; the
        result has the mean, `Result.std_draws` and `Result.by_draw`. Others are run once.
    store : path or Store, optional
        A folder in which finished work is kept: the same call continues from there, or returns the
        stored result. Damaged files are reported and computed again.
    options : mapping, optional
        Parameters to choose, each with the values to try, e.g. ``{"n_iter": [1, 2, 3]}``. By
        default those that the registry lists for a kernel given by name (``{}`` for none), and none
        for an estimator.
    normalize : bool, optional
        Whether the kernel is normalised to k(G, G) = 1. By default it is normalised if given by
        name, and an estimator is not changed. ``options={"normalize": [False, True]}`` chooses by
        cross-validation.
    name : str, optional
        The name of the result; by default the kernel's name.
    dataset : str
        The name of the data in tables.
    fit_once : bool
        Fit a kernel that learns from the graphs, but not from their target, once on all graphs
        instead of on each training part. This is many times faster and common in papers, but the
        kernel has then seen the test graphs, without their target.
    baselines : bool
        Whether the result also contains the scores of "majority" (or "mean") and "size", and hints
        (`Result.hints`).
    n_jobs : int or None
        Threads (-1: all cores). The result does not depend on it.
    verbose : bool
        Show a progress bar, if standard error is a terminal.

    Returns
    -------
    Result, or a dict of them

    Notes
    -----
    An estimator whose ``random_state`` is None gets the protocol's, so that the same call gives
    the same result. Options of "svc" are chosen with a compiled solver; the scores come from
    scikit-learn's ``SVC`` with the chosen options.

    Examples
    --------
    >>> from gramlet import Protocol, evaluate, load_dataset
    >>> mutag = load_dataset("MUTAG")
    >>> quick = Protocol(folds=5, repeats=1, inner_folds=3)
    >>> result = evaluate("vertex", mutag.graphs, mutag.target, quick)
    >>> result.scores.shape, result.predictions.shape
    ((1, 5), (1, 188))
    >>> baseline = evaluate("majority", mutag, protocol=quick)
    >>> round(baseline.mean, 2)
    0.67
    """
    protocol = Protocol() if protocol is None else protocol
    if not isinstance(protocol, Protocol):
        raise TypeError(f"protocol must be a gramlet.Protocol; got {type(protocol).__name__}.")
    if draws is not None:
        require_count("draws", draws, 1)
    if isinstance(graphs, Dataset):
        y = graphs.target if y is None else y
        dataset = dataset or graphs.name
    if y is None:
        raise ValueError("y is missing: give one class or number per graph.")
    ready = isinstance(kernel, Mapping)
    batch = None if ready else as_batch(graphs.graphs if isinstance(graphs, Dataset) else graphs)
    names = graphs.target_names if isinstance(graphs, Dataset) else None
    target = target_of(y, None if batch is None else len(batch), task, min_class_size, names)
    codes = groups_of(groups, protocol, graphs, len(target.plain))
    if groups is not None:
        protocol = replace(protocol, groups=groups)  # which the result contains
    case = _Case(
        batch,
        target,
        codes,
        protocol,
        scorer_of(scoring, target.task, target.n_classes),
        classifier,
        class_weight,
        draws or 1,
        _store_of(store),
        dataset,
        baselines,
        n_jobs,
        verbose,
    )
    if ready:
        return case.ready(kernel, graphs)
    subject = subject_of(
        kernel, options, normalize, protocol.random_state, name, fit_once, target.task
    )
    return case.run(subject)


def _store_of(given: str | os.PathLike[str] | Store | None) -> Store | None:
    return given if given is None or isinstance(given, Store) else Store(given)


@dataclass(frozen=True, eq=False)
class _Case:
    """Graphs, target and protocol, on which subjects are evaluated."""

    graphs: GraphBatch | None
    target: Target
    groups: Ints | None
    protocol: Protocol
    scorer: Scorer
    classifier: str | None
    class_weight: Any
    draws: int
    store: Store | None
    dataset: str
    baselines: bool
    n_jobs: int | None
    verbose: int | bool

    @cached_property
    def data(self) -> Data:
        kept = self.target.kept
        graphs = self.graphs
        if graphs is not None and len(kept) < len(self.target.plain):
            graphs = graphs[kept]
        return Data(graphs, self.target, None if self.groups is None else self.groups[kept])

    @cached_property
    def splits(self) -> list[Split]:
        by_folds = self.data.groups is not None and self._machine_name == "ridge"
        inner = not self.protocol.optimistic or by_folds
        values, classes = self.target.values, self.target.shown_classes
        return make_splits(self.protocol, values, classes, self.data.groups, inner)

    @property
    def _machine_name(self) -> str:
        return self.classifier or CLASSIFIERS[self.target.task][0]

    def ready(self, matrices: Mapping[str, Any], graphs: Any) -> dict[str, Result]:
        """Results of precomputed Gram matrices."""
        if graphs is not None:
            raise ValueError(
                "A dict of ready matrices is evaluated without graphs: give None for them."
            )
        if not matrices:
            raise ValueError("There is no matrix to evaluate: the dict is empty.")
        n, kept = len(self.target.plain), self.target.kept
        subjects = [ready_subject(str(name), matrix, n) for name, matrix in matrices.items()]
        if len(kept) < n:
            subjects = [
                replace(s, estimator=np.ascontiguousarray(s.estimator[np.ix_(kept, kept)]))
                for s in subjects
            ]
        return {subject.name: self.run(subject) for subject in subjects}

    def run(self, subject: Subject) -> Result:
        """The result of one subject, from the store if it exists there."""
        self._machine()  # a wrong one is refused before any work is done
        key = "" if self.store is None else self._key(subject)
        if self.store is not None:
            stored = self.store.read(key, key)
            if stored is not None:
                found = Result.from_dict(stored)
                facts = replace(found.data, name=self.dataset)
                return replace(found, name=subject.name, data=facts)
        result = self._computed(subject, self.splits, key)
        if self.store is not None:
            self.store.write(key, key, result.to_dict())
            self.store.remove(f"{key}.")
        return result

    def _computed(self, subject: Subject, splits: Sequence[Split], key: str) -> Result:
        n_draws = self.draws if subject.is_random else 1
        races = [self._race(subject.draw(d), key, d) for d in range(n_draws)]
        try:
            if self.protocol.optimistic:
                best_of_grid(races, self.verbose)
            else:
                for race in races:
                    nested(race, self.verbose)
                if subject.is_random and n_draws == 1:
                    for number in range(1, self.protocol.retrainings):
                        races.append(self._race(subject.draw(number), key, number))
                        retrained(races[-1], races[0])
        finally:
            for race in races:
                race.ledger.flush()
        races[0].warn_of_unfinished(self.protocol.max_iter)
        target = self.target
        left_out = len(target.plain) - len(target.kept)
        facts = assembly.facts_of(target.values, target.classes, left_out, splits, self.dataset)
        result = assembly.join_draws(
            [
                assembly.result_of(r, self.protocol, facts, self._machine_name, self.class_weight)
                for r in races
            ]
        )
        if not self.baselines or subject.kind == "baseline":
            return result
        overlap = overlap_of(self.protocol)
        return assembly.with_hints(result, self._baselines, self._hints(subject), overlap)

    def _race(self, subject: Subject, key: str = "", draw: int = 0) -> Race:
        ledger = self.store.ledger(key, draw) if self.store is not None and key else None
        return Race(
            subject,
            self.data,
            self._machine(),
            self.scorer,
            self.splits,
            self.n_jobs,
            ledger,
            None if self.store is None else self.store.outputs,
        )

    def _machine(self) -> Machine:
        grouped = self.groups is not None
        return machine_of(self.classifier, self.target, self.protocol, self.class_weight, grouped)

    @cached_property
    def _baselines(self) -> dict[str, Floats]:
        """Scores of the baselines without a kernel; without graphs, of those without sizes."""
        found = {}
        for name in BASELINES[self.target.task]:
            if name == "size" and self.graphs is None:
                continue
            race = self._race(subject_of(name, None, None, 0, task=self.target.task))
            nested(race, False)
            found[name] = assembly.scores_of(race)
        return found

    def _hints(self, subject: Subject) -> list[hints.Hint]:
        few = hints.group_hints(self.target, self.data.groups, self.protocol)
        if self.data.graphs is None:
            return few
        tried = subject.tried_estimators()
        columns = hints.column_hints(subject.name, tried, self.data.graphs)
        return [*columns, *self._duplicates, *few]

    @cached_property
    def _duplicates(self) -> list[hints.Hint]:
        graphs = self.data.batch()
        names = ("node_attributes", "edge_attributes", "edge_weights")
        unlike = [name.replace("_", " ") for name in names if getattr(graphs, name) is not None]
        numbers = hints.isomorphism_classes(graphs)
        return hints.duplicate_hints(numbers, self.target, self.splits, unlike)

    def _key(self, subject: Subject) -> str:
        estimator = subject.name if subject.kind == "baseline" else subject.estimator
        return digest_of(
            __version__,
            self._graphs_digest,
            self.target.plain,
            self.target.task,
            self.groups,
            subject.kind,
            estimator,
            subject.option_sets,
            self.protocol.to_dict(),
            self.scorer.name,
            self._machine_name,
            self.class_weight,
            self.target.kept,
            self.draws,
            self.baselines,
        )

    @cached_property
    def _graphs_digest(self) -> str:
        return digest_of(self.graphs)
