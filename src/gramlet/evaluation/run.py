"""The function `evaluate`: it checks all arguments, looks for finished work, and makes results.

`cross_validation` does the work; `result` contains what it found.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramlet._version import __version__
from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.checks import require_count
from gramlet.evaluation.baselines import BASELINES
from gramlet.evaluation.candidates import (
    Candidate,
    candidates_of,
    normalisation_of,
    ready_candidate,
    warn_of_descriptors,
)
from gramlet.evaluation.cross_validation import Outcome, cross_validate
from gramlet.evaluation.grid_search import Data
from gramlet.evaluation.hints import data_hints
from gramlet.evaluation.machines import CLASSIFIERS, machine_of
from gramlet.evaluation.protocol import Protocol
from gramlet.evaluation.result import DataFacts, Result
from gramlet.evaluation.scorers import Scorer, default_scoring, part_scores, scorer_of
from gramlet.evaluation.splits import Split, groups_of, make_splits
from gramlet.evaluation.store import Records, Store
from gramlet.evaluation.task import target_of
from gramlet.files.dataset import Dataset
from gramlet.graphs.conversion.convert import as_batch
from gramlet.graphs.fingerprint import digest_of
from gramlet.kernels.contract.normalisation import Normalization


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
    normalize: Normalization | None = None,
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
    kernel : str, estimator, pipeline, list of these, or dict of matrices
        A name of the registry (``gramlet kernels`` lists them); a baseline: "majority" (the most
        frequent class), "mean" (of a regression), "size" (numbers of nodes and edges); a kernel; an
        embedding or any other transformer, whose features are centred and divided by one number;
        a classifier or regressor, such as a pipeline that ends in one, which is fitted as it is
        and for which C is one of the ``options``. From a list one is chosen inside each training
        part. A dict ``{name: K}`` of precomputed Gram matrices, with None for the graphs, gives a
        dict of results.
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
        "r2", and "roc_auc" if the largest class has 80 % of the graphs or more. Options are chosen
        by the scorer that is reported.
    classifier : {"svc", "ridge", "svr", "gp"}, optional
        The machine: for classes "svc" (default) or "ridge" on one column per class, for a
        regression "ridge" (default), "svr" or "gp", a Gaussian process. The ridge penalty is chosen
        by leave-one-out inside the training part; with groups, by inner folds. Noise and options of
        "gp" are chosen by the marginal likelihood of the training part.
    class_weight : "balanced" or mapping, optional
        The factor of C of "svc" for each class.
    groups : array-like, "scaffold" or "cluster", optional
        One value per graph, or a rule as in `Protocol`. Graphs of one group are never in a training
        part and its test part at once.
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
    normalize : False, "cosine" (or True) or "tanimoto", optional
        How the kernel is normalised. By default kernels given by name are Tanimoto-normalised, and
        estimators are not changed. ``options={"normalize": ["tanimoto", "cosine", False]}`` chooses
        by cross-validation.
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

    # All arguments are checked here, before anything is computed.
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
    codes = groups_of(groups, protocol.groups, graphs, len(target.plain))
    if isinstance(groups, str):
        protocol = replace(protocol, groups=groups)  # which the result contains
    scorer = scorer_of(scoring or default_scoring(target), target.task, target.n_classes)
    machine_of(classifier, target, protocol, class_weight, codes is not None)
    name_of_machine = classifier or CLASSIFIERS[target.task][0]
    if scorer.needs == "deviations" and name_of_machine != "gp":
        raise ValueError(f"scoring: {scorer.name!r} needs classifier='gp'.")
    if ready:
        rows = _ready_candidates(kernel, graphs, len(target.plain), target.kept)
    else:
        seed = protocol.random_state
        candidates = candidates_of(
            kernel, options, normalize, seed, target.task, name, fit_once, batch
        )
        rows = [candidates]
    store = store if store is None or isinstance(store, Store) else Store(store)

    left_out = len(target.kept) < len(target.plain)
    used = batch[target.kept] if batch is not None and left_out else batch
    data = Data(used, target, None if codes is None else codes[target.kept])
    by_folds = data.groups is not None and name_of_machine == "ridge"
    by_likelihood = name_of_machine == "gp" and all(one.has_machine for row in rows for one in row)
    inner = by_folds or not (protocol.optimistic or by_likelihood)
    evaluation = _Evaluation(
        data,
        make_splits(protocol, target.values, target.shown_classes, data.groups, inner),
        protocol,
        scorer,
        name_of_machine,
        class_weight,
        draws or 1,
        store,
        "" if store is None else digest_of(batch),
        dataset,
        baselines,
        n_jobs,
        verbose,
    )
    results = {row[0].name: evaluation.result(row) for row in rows}
    return results if ready else next(iter(results.values()))


def _ready_candidates(
    matrices: Mapping[str, Any], graphs: Any, n: int, kept: Ints
) -> list[list[Candidate]]:
    """One candidate per precomputed Gram matrix, of the graphs that are used."""
    if graphs is not None:
        raise ValueError(
            "A dict of ready matrices is evaluated without graphs: give None for them."
        )
    if not matrices:
        raise ValueError("There is no matrix to evaluate: the dict is empty.")
    candidates = [ready_candidate(str(name), matrix, n) for name, matrix in matrices.items()]
    if len(kept) < n:
        candidates = [
            replace(one, estimator=np.ascontiguousarray(one.estimator[np.ix_(kept, kept)]))
            for one in candidates
        ]
    return [[candidate] for candidate in candidates]


@dataclass(frozen=True, eq=False)
class _Evaluation:
    """Data, folds and rules, by which rows of candidates are evaluated."""

    data: Data
    splits: list[Split]
    protocol: Protocol
    scorer: Scorer
    classifier: str
    class_weight: Any
    n_draws: int
    store: Store | None
    graphs_digest: str
    dataset: str
    baselines: bool
    n_jobs: int | None
    verbose: int | bool

    def result(self, candidates: Sequence[Candidate]) -> Result:
        """The result of one row, from the store if it exists there."""
        key = "" if self.store is None else self._key(candidates)
        stored = None if self.store is None else self.store.result(key)
        if stored is not None:
            result = Result.from_dict(stored)
            facts = replace(result.data, name=self.dataset)
            return replace(result, name=candidates[0].name, data=facts)
        warn_of_descriptors(candidates, self.data.graphs)
        outcomes = self._outcomes(candidates, self.verbose, key)
        result = _join_draws([self._result_of(candidates, outcome) for outcome in outcomes])
        if self.baselines and candidates[0].kind != "baseline":
            result = replace(
                result,
                baselines=self._baseline_scores(),
                data_hints=data_hints(candidates, self.data, self.splits, self.protocol),
            )
        if self.store is not None:
            self.store.write(key, result.to_dict())
        return result

    def _outcomes(
        self, candidates: Sequence[Candidate], verbose: int | bool = False, key: str = ""
    ) -> list[Outcome]:
        target, grouped = self.data.target, self.data.groups is not None

        def records_of(draw: int) -> Records:
            return self.store.records(key, draw) if self.store is not None and key else Records()

        return cross_validate(
            candidates,
            self.data,
            self.splits,
            machine_of(self.classifier, target, self.protocol, self.class_weight, grouped),
            self.scorer,
            self.protocol,
            n_draws=self.n_draws,
            records_of=records_of,
            n_jobs=self.n_jobs,
            verbose=verbose,
        )

    def _key(self, candidates: Sequence[Candidate]) -> str:
        """A digest of everything that a result depends on."""
        return digest_of(
            __version__,
            self.graphs_digest,
            self.data.target.plain,
            self.data.target.task,
            self.data.groups,
            [
                [one.kind, one.name if one.kind == "baseline" else one.estimator, one.chosen]
                for one in candidates
            ],
            self.protocol.to_dict(),
            self.scorer.name,
            self.classifier,
            self.class_weight,
            self.data.target.kept,
            self.n_draws,
            self.baselines,
        )

    def _baseline_scores(self) -> dict[str, Floats]:
        """Scores of the baselines without a kernel; without graphs, of those without sizes."""
        task = self.data.target.task
        rows = [candidates_of(name, None, None, 0, task) for name in BASELINES[task]]
        return {
            row[0].name: self._scores(_out_of_fold(self._outcomes(row)[0], self.splits, self.data))
            for row in rows
            if self.scorer.needs != "deviations"
            and (self.data.graphs is not None or not row[0].estimator.needs_graphs)
        }

    def _scores(self, found: _OutOfFold) -> Floats:
        """The score of each test part, shape (repeats, folds)."""
        rows = []
        for repeat, row in enumerate(found.folds):
            parts = [np.flatnonzero(row == fold) for fold in range(row.max() + 1)]
            values: dict[str, Any] = {
                name: None if v is None else v[repeat] for name, v in found.values().items()
            }
            rows.append(part_scores(self.scorer, self.data.target.values, parts, **values))
        return np.array(rows)

    def _result_of(self, candidates: Sequence[Candidate], outcome: Outcome) -> Result:
        """Everything that one draw found, in the order of all graphs."""
        target, per_repeat = self.data.target, self.protocol.folds_per_repeat
        found = _out_of_fold(outcome, self.splits, self.data)
        has_machine = any(candidate.has_machine for candidate in candidates)

        def spread(values: Array | None, missing: Any) -> Any:
            """Columns of the graphs that are used, within those of all graphs."""
            n = len(target.plain)
            if values is None or len(target.kept) == n:
                return values
            wide = np.full((values.shape[0], n, *values.shape[2:]), missing, dtype=values.dtype)
            wide[:, target.kept] = values
            return wide

        predictions = found.predictions
        if target.task == "classification":
            predictions = target.classes[predictions]
            if (found.folds < 0).any() or len(target.kept) < len(target.plain):
                predictions = predictions.astype(object)
                predictions[found.folds < 0] = None
        return Result(
            name=candidates[0].name,
            scores=self._scores(found),
            chosen=[
                outcome.chosen[k : k + per_repeat]
                for k in range(0, len(outcome.chosen), per_repeat)
            ],
            refitted=any(one.kind in ("refitted", "predictor") for one in candidates),
            kernel_seconds=outcome.timer.kernel,
            other_seconds=outcome.timer.other,
            protocol=self.protocol,
            data=_facts_of(self.data, self.splits, self.dataset),
            task=target.task,
            scoring=self.scorer.name,
            classifier=self.classifier if has_machine else "",
            class_weight=self.class_weight if has_machine else None,
            normalize=normalisation_of(candidates),
            classes=target.classes,
            target=target.plain,
            folds=spread(found.folds, -1),
            predictions=spread(predictions, np.nan if target.task == "regression" else None),
            decisions=spread(found.decisions, np.nan),
            deviations=spread(found.deviations, np.nan),
            tried=self._tried(candidates, has_machine),
        )

    def _tried(self, candidates: Sequence[Candidate], has_machine: bool) -> dict[str, list[Any]]:
        """The values of each option, in the order given, and of C."""
        tried: dict[str, list[Any]] = {}
        for candidate in candidates:
            for key, value in candidate.chosen.items():
                values = tried.setdefault(key, [])
                if not any(repr(value) == repr(other) for other in values):
                    values.append(value)
        by_cost = has_machine and self.classifier != "gp"
        return {**tried, "C": list(self.protocol.C)} if by_cost else tried


@dataclass(frozen=True, eq=False)
class _OutOfFold:
    """Predictions and test parts by repeat, of the graphs that are used."""

    folds: Ints
    predictions: Array
    decisions: Floats | None
    deviations: Floats | None

    def values(self) -> dict[str, Any]:
        """What scorers need."""
        return {
            "predictions": self.predictions,
            "decisions": self.decisions,
            "deviations": self.deviations,
        }


def _out_of_fold(outcome: Outcome, splits: Sequence[Split], data: Data) -> _OutOfFold:
    n, repeats = len(data), splits[-1].repeat + 1
    folds = np.full((repeats, n), -1, dtype=np.int64)
    for split in splits:
        folds[split.repeat, split.test] = split.fold

    def placed(name: str, missing: float) -> Any:
        parts = [getattr(prediction, name) for prediction in outcome.predictions]
        if any(part is None for part in parts):
            return None
        values = np.full((repeats, n, *parts[0].shape[2:]), missing, dtype=parts[0].dtype)
        for split, part in zip(splits, parts, strict=True):
            values[split.repeat, split.test] = part[0]
        return values

    missing = np.nan if data.target.task == "regression" else -1
    return _OutOfFold(
        folds, placed("values", missing), placed("decisions", np.nan), placed("deviations", np.nan)
    )


def _join_draws(results: Sequence[Result]) -> Result:
    """One result of several draws of random numbers: the mean, and each of them."""
    first = results[0]
    if len(results) == 1:
        return first
    return replace(
        first,
        scores=np.mean([result.scores for result in results], axis=0),
        kernel_seconds=sum(result.kernel_seconds for result in results),
        other_seconds=sum(result.other_seconds for result in results),
        by_draw=tuple(results),
    )


def _facts_of(data: Data, splits: Sequence[Split], name: str) -> DataFacts:
    """Facts about the data, with a digest of targets and splits."""
    target = data.target
    digest = hashlib.sha256(target.values.tobytes())
    for split in splits:
        digest.update(split.test.tobytes())
    members = target.members().tolist() if target.n_classes else []
    return DataFacts(
        name=name,
        n_graphs=len(data),
        classes={str(c.item()): n for c, n in zip(target.classes, members, strict=True)},
        splits=digest.hexdigest(),
        left_out=len(target.plain) - len(target.kept),
        n_groups=0 if data.groups is None else len(np.unique(data.groups)),
    )
