"""`GraphClassifier` and `GraphRegressor`: a kernel, options and C chosen by cross-validation.

`gramlet.evaluation.grid_search` chooses, `machines` fits, `probabilities` calibrates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Bools, Floats, Ints
from gramlet.common.fields import (
    ArrayOf,
    Classes,
    Instance,
    ListOf,
    Number,
    Optional,
    Plain,
    Text,
    fields,
)
from gramlet.common.notices import warn_caller
from gramlet.common.parameters import HasMethods, Interval, StrOptions
from gramlet.common.stored_state import require
from gramlet.engine.core.memory import require_bytes
from gramlet.engine.core.tiles import Tiling, progress
from gramlet.engine.machines.gaussian_regression import GaussianRegression
from gramlet.evaluation.candidates import MANY_GRAPHS, Candidate, candidates_of
from gramlet.evaluation.grid_search import (
    Data,
    Selection,
    machine_warnings_off,
    select,
    warn_of_unfinished,
)
from gramlet.evaluation.machines import Block, Machine, machine_of, weights_of
from gramlet.evaluation.matrices import gives_features
from gramlet.evaluation.protocol import DEFAULT_C, Protocol
from gramlet.evaluation.scorers import default_scoring, scorer_of
from gramlet.evaluation.splits import Split, groups_of
from gramlet.evaluation.task import Target, target_of
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.kernels.contract.kernel import GraphKernel
from gramlet.kernels.contract.normalisation import canonical, normalize_in_place
from gramlet.kernels.contract.tags import graph_tags
from gramlet.models.machines import CentredProducts, FittedMachine, decisions_of, fit_machine
from gramlet.models.probabilities import fit_sigmoids, probabilities

# Rows that are compared with the fitted graphs at once, in bytes.
_BLOCK = 1 << 26


class Applicability(NamedTuple):
    """How far new graphs are from the fitted ones, as `applicability` of the estimators gives it.

    Attributes
    ----------
    nearest : array of int64
        The position of the most similar fitted graph.
    similarity : array
        The Tanimoto similarity to it.
    inside : array of bool
        Whether that is at least the 5 % quantile of the fitted graphs' similarities to their own
        nearest others.
    """

    nearest: Ints
    similarity: Floats
    inside: Bools


class _GraphModel(BaseEstimator):
    """What classifier and regressor share: the choice, the fit, and kernel values of new graphs."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str, list, tuple, HasMethods(["fit", "transform"])],
        "options": [Mapping, StrOptions({"auto"}), None],
        "C": [Interval(Real, 0, None, closed="neither"), "array-like", None],
        "cv": [Interval(Integral, 2, None, closed="left")],
        "scoring": [str, None],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    kernel: Any
    options: Mapping[str, Any] | str | None
    C: float | Sequence[float] | None
    cv: int
    scoring: str | None
    random_state: Any
    n_jobs: int | None
    verbose: int | bool

    machine_: FittedMachine
    kernel_: GraphKernel
    best_params_: dict[str, Any]
    best_score_: float
    cv_results_: dict[str, Any]
    ids_: list[str] | None

    stored = fields(
        machine_=Instance(FittedMachine, len="n_fitted"),
        kernel_=Instance(GraphKernel, n_fitted_="n_fitted"),
        best_params_=Plain(BaseEstimator),
        best_score_=Number(),
        cv_results_=Plain(BaseEstimator),
        threshold_=Number(),
        ids_=Optional(ListOf(Text(), "n_fitted")),
    )

    _doc_link_module = "gramlet"
    _doc_link_template = "https://gramlet.readthedocs.io/en/latest/reference/{estimator_name}.html"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"estimator_name": f"gramlet.{type(self).__name__}"}

    # Fitting

    def _choose_and_fit(
        self, X: Any, target: Target, machine_name: str, groups: Any, sample_weight: Any
    ) -> tuple[Selection, Split]:
        """Choose among the candidates, then fit the best on all graphs."""
        batch = as_batch(X)
        name = type(self).__name__
        require_bytes(
            16 * len(batch) ** 2,
            f"{name}: kernel values of {len(batch):,} graphs",
            "Use GraphNystroem with a linear model, or gramlet train --linear, which need no "
            "matrix of pairs.",
        )
        codes = groups_of(groups, None, X, len(batch))
        weights = self._checked_sample_weight(sample_weight, machine_name, target)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if isinstance(self.random_state, Integral):
            seed = int(self.random_state)
        by_likelihood = machine_name == "gp"
        protocol = Protocol(
            inner_folds=2 if by_likelihood else self._folds(target, codes),
            C=self._costs(),
            random_state=seed,
        )
        class_weight = getattr(self, "class_weight", None)
        machine = machine_of(machine_name, target, protocol, class_weight, codes is not None)
        scoring = self.scoring or default_scoring(target)
        scorer = scorer_of(scoring, target.task, target.n_classes)
        options = None if isinstance(self.options, str) else self.options
        candidates = candidates_of(self.kernel, options, None, seed, target.task, graphs=batch)
        for candidate in candidates:
            _require_kernel(candidate, name)
        data = Data(batch, target, codes)
        if by_likelihood:
            everything = np.arange(len(batch), dtype=np.int64)
            split = Split(0, 0, everything, everything[:0], ())
        else:
            split = protocol.whole(target.values, target.shown_classes, codes)
        steps = len(candidates) * max(1, len(split.inner))
        with machine_warnings_off(), progress(steps, name, self.verbose) as advance:
            selection = select(
                candidates,
                data,
                [split],
                machine,
                scorer,
                n_jobs=self.n_jobs,
                advance=advance,
                always_score=not by_likelihood,
                keep_predictions=True,
            )
        warn_of_unfinished(machine, name, protocol.max_iter)
        self._fit_chosen(selection, data, machine, machine_name, protocol, weights)
        return selection, split

    def _fit_chosen(
        self,
        selection: Selection,
        data: Data,
        machine: Machine,
        machine_name: str,
        protocol: Protocol,
        sample_weight: Floats | None,
    ) -> None:
        entry = int(selection.chosen[0])
        chosen = dict(selection.grid[entry])
        candidate = selection.candidate_of(entry)
        target, batch = data.target, data.batch()
        kernel = _as_kernel(candidate.estimator, self.n_jobs)
        gram = kernel.fit_transform(batch, target.named)
        if "C" not in chosen and machine_name != "gp":
            values = machine.predict_grid(Block(gram, gram[:1]), target.values)
            assert values.chosen is not None, "this machine chooses its penalty itself"
            chosen["C"] = values.chosen[0]
        class_weights = None
        if machine_name == "svc" and getattr(self, "class_weight", None) is not None:
            weights = getattr(machine, "class_weight", None)
            class_weights = weights_of(weights, target.values, target.n_classes)
        if machine_name == "gp":
            process = GaussianRegression.fit(gram, target.values)
            self.machine_ = FittedMachine.of_process(process)
            chosen["s"] = process.noise
            if len(selection.grid) == 1:  # it was not scored: one decomposition is enough
                selection.means[:], selection.stds[:] = round(process.log_likelihood, 12), 0.0
        else:
            self.machine_ = fit_machine(
                machine_name,
                gram,
                target.values,
                chosen["C"],
                target.n_classes,
                class_weights,
                sample_weight,
                protocol.tol,
            )
        given = self.kernel if isinstance(self.kernel, str) else repr(self.kernel)
        self.kernel_ = kernel
        self.best_params_ = {"kernel": given, **chosen}
        self.best_score_ = float(selection.best[0])
        self.cv_results_ = _results(selection, given)
        self.threshold_ = self._leave_one_out_quantile(gram)
        self.ids_ = None  # names of the fitted graphs, which `gramlet train` sets
        self.__dict__.pop("_process", None)

    def _folds(self, target: Target, groups: Ints | None) -> int:
        """The number of folds, reduced where there are fewer graphs, with a warning."""
        if groups is not None:
            most, what = len(np.unique(groups)), "groups"
        elif target.n_classes:
            smallest = int(target.members().argmin())
            most = int(target.members()[smallest])
            what = f"graphs of class {target.shown_classes[smallest].item()!r}"
        else:
            most, what = len(target.values), "graphs"
        if most < 2:
            raise ValueError(
                f"{type(self).__name__} chooses kernel and options by cross-validation, which "
                f"needs at least 2 {what}; got {most}. Give more, or leave that class out."
            )
        if most < self.cv:
            warn_caller(f"cv={self.cv}, but there are {most} {what}: cv={most} is used instead.")
        return min(int(self.cv), most)

    def _costs(self) -> tuple[float, ...]:
        if self.C is None:
            return DEFAULT_C
        costs = np.atleast_1d(np.asarray(self.C))
        positive = costs.ndim == 1 and len(costs) > 0 and costs.dtype.kind in "iuf"
        if not positive or not ((costs > 0) & (costs < np.inf)).all():
            raise ValueError(
                f"The 'C' parameter of {type(self).__name__} must be a positive number or a list "
                f"of positive numbers. Got {self.C!r} instead."
            )
        return tuple(costs.astype(float).tolist())

    def _checked_sample_weight(self, weights: Any, machine: str, target: Target) -> Floats | None:
        if weights is None:
            return None
        if machine not in ("svc", "svr"):
            raise ValueError(
                f"sample_weight is for 'svc' and 'svr'; {machine!r} has no weights. Leave it out."
            )
        n = len(target.values)
        given = np.asarray(weights)
        values = given.astype(np.float64) if given.dtype.kind in "biuf" else np.array(np.nan)
        if values.shape != (n,) or not np.isfinite(values).all() or (values < 0).any():
            raise ValueError(
                f"sample_weight must have one finite number of at least 0 per graph ({n}); got "
                f"shape {given.shape} of {given.dtype}."
            )
        if target.n_classes:
            totals = np.bincount(target.values, values, target.n_classes)
            if totals.min() == 0:
                unweighted = target.shown_classes[totals.argmin()].item()
                raise ValueError(
                    f"sample_weight is 0 for all graphs of class {unweighted!r}. Leave that class "
                    "out, or give it weight."
                )
        elif values.max() == 0:
            raise ValueError("sample_weight is 0 for all graphs; at least one needs weight.")
        return values

    # New graphs

    def _rows(self, X: Any) -> tuple[GraphBatch, Floats]:
        check_is_fitted(self)
        batch = as_batch(X)
        return batch, self.kernel_.transform(batch)

    def applicability(self, X: Any) -> Applicability:
        """How similar graphs are to those the model was fitted on.

        Parameters
        ----------
        X : graphs, as `gramlet.as_batch` accepts them

        Returns
        -------
        Applicability
            A tuple with ``nearest`` (position of the most similar fitted graph, the first if tied),
            ``similarity`` (Tanimoto, of the chosen kernel) and ``inside``: whether that is at least
            the 5 % quantile of the fitted graphs' similarities to their nearest other.
        """
        check_is_fitted(self)
        profile = self.kernel_.profile_of(as_batch(X))
        nearest, similarity = self._nearest(profile, alone=False)
        inside = similarity >= self.threshold_
        if len(self.machine_) == 1:
            inside[:] = True
        return Applicability(nearest, similarity, inside)

    def _nearest_answers(self, batch: GraphBatch) -> dict[str, Array]:
        """`applicability` by heading, with the ids of the nearest graphs where they are known."""
        found = self.applicability(batch)
        nearest: Array = found.nearest
        if self.ids_ is not None:
            nearest = np.array(self.ids_, dtype=object)[nearest]
        return {"nearest": nearest, "similarity": found.similarity, "inside": found.inside}

    def _leave_one_out_quantile(self, gram: Floats) -> float:
        """The 5 % quantile of the fitted graphs' similarities to their nearest other."""
        if len(gram) == 1:
            return 0.0
        kernel = self.kernel_
        compared = False if kernel.__graph_tags__().unit else "tanimoto"
        if canonical(kernel.normalize) == compared:
            similarities = gram.copy()
            blank = np.diagonal(gram) == 0
            similarities[np.ix_(blank, blank)] = 1.0
            np.fill_diagonal(similarities, -np.inf)
            best = similarities.max(axis=1)
        else:
            best = self._nearest(kernel._current(kernel.profile_), alone=True)[1]
        return float(np.quantile(best, 0.05))

    def _nearest(self, profile: Any, alone: bool) -> tuple[Ints, Floats]:
        """The most similar fitted graph of each graph; ``alone``: of the fitted graphs, another."""
        kernel, tiling = self.kernel_, Tiling(self.n_jobs)
        fitted = kernel._current(kernel.profile_)
        unit = kernel.__graph_tags__().unit
        norms, others = profile.norms(tiling), fitted.norms(tiling)
        nearest, best = np.empty(len(profile), dtype=np.int64), np.empty(len(profile))
        step = max(1, _BLOCK // (8 * len(fitted)))
        for begin in range(0, len(profile), step):
            rows = np.arange(begin, min(begin + step, len(profile)))
            values = profile[rows].compare(fitted, tiling)
            if not unit:
                normalize_in_place(values, norms[rows], others, "tanimoto")
                values[np.ix_(norms[rows] <= 0, others <= 0)] = 1.0
            if alone:
                values[np.arange(len(rows)), rows] = -np.inf
            nearest[rows] = values.argmax(axis=1)
            best[rows] = values.max(axis=1)
        return nearest, best

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags


def _as_kernel(estimator: Any, n_jobs: int | None) -> GraphKernel:
    """A new kernel; features of an embedding become their centred dot products."""
    from sklearn.base import clone

    kernel = clone(estimator)
    if "n_jobs" in kernel.get_params() and kernel.n_jobs is None:
        kernel.set_params(n_jobs=n_jobs)
    return CentredProducts(kernel) if gives_features(kernel) else kernel


def _require_kernel(candidate: Candidate, name: str) -> None:
    """Refuse what predicts by itself, and kernels that new graphs cannot be compared with."""
    if not candidate.has_machine:
        raise ValueError(
            f"{name} needs a kernel or an embedding; {candidate.kernel!r} predicts by itself. "
            "Use evaluate to measure it."
        )
    if not gives_features(candidate.estimator):
        graph_tags(candidate.estimator)  # a TypeError for kernels that are not of gramlet


def _results(selection: Selection, given: str) -> dict[str, Any]:
    """Scores of all entries, as `GridSearchCV` has them, and the kernels that were left out."""
    from scipy.stats import rankdata

    means, stds = selection.means[0], selection.stds[0]
    scored = np.flatnonzero(means > -np.inf)
    return {
        "params": [{"kernel": given, **selection.grid[entry]} for entry in scored],
        "mean_test_score": means[scored],
        "std_test_score": stds[scored],
        "rank_test_score": rankdata(-means[scored], method="min").astype(np.int32),
        "refused": dict(selection.refusals),
    }


class GraphClassifier(ClassifierMixin, _GraphModel):
    """Classification of graphs: kernel, options and C are chosen by cross-validation.

    Parameters
    ----------
    kernel : str, estimator or list of these, default "auto"
        "auto" chooses among the kernels that suit the columns of the graphs: with labels wl-oa, wl,
        sp and nspdk; without wl-oa, sp, graphlet and nspdk; with node attributes also graph-hopper
        and wwl-attr; of molecules also wl-oa plus RDKit's descriptors. A name, an expression such
        as ``"wl-oa + sp"``, an estimator, or a list of these to choose from. Kernels given by name
        are Tanimoto-normalised; estimators are taken as they are. Of embeddings and other
        transformers of graphs, the centred dot products of the features are used.
    classifier : {"svc", "ridge"}, default "svc"
        Support vectors, or ridge regression on one column per class.
    options : mapping or "auto", optional
        Parameters of the kernel to choose, with the values to try, e.g. ``{"n_iter": [1, 2, 3]}``.
        By default those of the registry for a kernel given by name, and none for an estimator.
        Of several kernels, each gets the options that it has.
    C : float or list of float, optional
        Values to try; by default 1e-3, 1e-2, ..., 1e3.
    cv : int, default 5
        Folds of the cross-validation that chooses.
    scoring : str, optional
        By which score is chosen: by default accuracy, or ROC AUC if the largest class has 80 % of
        the graphs or more.
    class_weight : "balanced" or mapping, optional
        The factor of C for each class; for "svc".
    random_state : int, RandomState or None, default 0
        Seed of the folds and of kernels that draw random numbers.
    n_jobs : int or None
        Number of threads; the result does not depend on it.
    verbose : bool or int
        Show a progress bar on a terminal.

    Attributes
    ----------
    classes_ : array
    kernel_ : estimator
        The chosen kernel, fitted on all graphs.
    best_params_ : dict
        The chosen "kernel", its options and "C".
    best_score_ : float
        The score of the choice in the cross-validation: somewhat too good, as the best of many.
    cv_results_ : dict
        Scores of everything that was tried, as in `GridSearchCV`; ``cv_results_["refused"]`` names
        kernels that could not compare these graphs, with the reason.

    Notes
    -----
    Probabilities are sigmoids of decision values (Platt 1999), fitted to those of the held-out
    parts of the cross-validation. `predict` follows the decision values; with more than two classes
    the largest probability may be that of another class. Sample weights apply to the final fit.

    Examples
    --------
    >>> from gramlet import GraphClassifier, load_dataset
    >>> mutag = load_dataset("MUTAG")
    >>> model = GraphClassifier("wl-oa", options={"n_iter": [1, 2]}, C=[1, 10], cv=3)
    >>> model.fit(mutag.graphs[:150], mutag.target[:150]).best_params_["kernel"]
    'wl-oa'
    >>> model.predict_proba(mutag.graphs[150:153]).shape
    (3, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_GraphModel._parameter_constraints,
        "classifier": [StrOptions({"svc", "ridge"})],
        "class_weight": [Mapping, StrOptions({"balanced"}), None],
    }

    stored = fields(classes_=Classes("c"), sigmoids_=ArrayOf("float64", None, 2))

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        classifier: str = "svc",
        options: Mapping[str, Any] | str | None = None,
        C: float | Sequence[float] | None = None,
        cv: int = 5,
        scoring: str | None = None,
        class_weight: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.kernel = kernel
        self.classifier = classifier
        self.options = options
        self.C = C
        self.cv = cv
        self.scoring = scoring
        self.class_weight = class_weight
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Choose kernel, options and C, and fit them on all graphs.

        Parameters
        ----------
        X : graphs, as `gramlet.as_batch` accepts them
        y : array-like
            One class per graph.
        groups : array-like, optional
            Graphs of one group stay together in the folds.
        sample_weight : array-like, optional
            One number of at least 0 per graph; for ``classifier="svc"``.
        """
        self._validate_params()
        batch = as_batch(X)
        target = target_of(y, len(batch), "classification")
        selection, split = self._choose_and_fit(
            batch, target, self.classifier, groups, sample_weight
        )
        self.classes_ = target.classes
        kept = selection.out_of_fold[0]
        assert kept is not None, "the chosen candidate was scored"
        assert kept.decisions is not None, "classifiers give decision values"
        held = np.concatenate([part for _, part in split.inner])
        self.sigmoids_ = fit_sigmoids(kept.decisions[0], target.values[held], target.n_classes)
        return self

    def validate(self) -> None:
        """Raise ValueError if the machine does not fit the classes."""
        kind, n = self.machine_.kind, len(self.classes_)
        outputs = {"svc": n * (n - 1) // 2, "ridge": n}
        require(n > 1 and kind in outputs, f"machine_ is not for {n} classes")
        require(len(self.machine_.coefficients) == outputs[kind], "machine_ does not fit classes_")
        require(len(self.sigmoids_) == (1 if n == 2 else n), "sigmoids_ do not fit classes_")
        require(bool((self.sigmoids_[:, 0] <= 0).all()), "sigmoids_ do not rise")

    def decision_function(self, X: Any) -> Floats:
        """Decision values: of the last of two classes, or one per class."""
        _, rows = self._rows(X)
        return decisions_of(self.machine_, self.machine_.outputs(rows), len(self.classes_))

    def predict(self, X: Any) -> Array:
        """The class of each graph."""
        return self._named(self.decision_function(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of graphs whose class is predicted."""
        return float(super().score(X, y, sample_weight))

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, in the order of ``classes_``."""
        return probabilities(self.decision_function(X), self.sigmoids_)

    def _answers(self, X: Any) -> dict[str, Array]:
        """Everything about new graphs by heading, from one computation of kernel values."""
        batch, rows = self._rows(X)
        n_classes, shown = len(self.classes_), [str(name) for name in self.classes_]
        decisions = decisions_of(self.machine_, self.machine_.outputs(rows), n_classes)
        chances = probabilities(decisions, self.sigmoids_)
        codes = self._codes(decisions)
        columns = decisions[:, None] if decisions.ndim == 1 else decisions
        headed = shown[1:] if decisions.ndim == 1 else shown
        return {
            "prediction": self.classes_[codes],
            "probability": chances[np.arange(len(codes)), codes],
            **{f"decision for {name}": columns[:, i] for i, name in enumerate(headed)},
            **{f"probability of {name}": chances[:, i] for i, name in enumerate(shown)},
            **self._nearest_answers(batch),
        }

    def _named(self, decisions: Floats) -> Array:
        named: Array = self.classes_[self._codes(decisions)]
        return named

    def _codes(self, decisions: Floats) -> Ints:
        if decisions.ndim == 2:
            return decisions.argmax(axis=1)
        # Of a tie, libsvm takes the last class, ridge the first.
        last = decisions >= 0 if self.machine_.kind == "svc" else decisions > 0
        return last.astype(int)


class GraphRegressor(RegressorMixin, _GraphModel):
    """Regression on graphs with error bars: kernel, options and noise are chosen from the data.

    Parameters
    ----------
    kernel : str, estimator or list of these, default "auto"
        As for `GraphClassifier`.
    regressor : {"gp", "ridge", "svr"}, optional
        A Gaussian process (default up to 5,000 graphs), ridge regression (default above), or
        support vectors. The process has the covariance a² (K + s I); kernel, options and s maximise
        the marginal likelihood, so that C, cv, scoring and groups are not used.
    options : mapping or "auto", optional
        Parameters of the kernel to choose, with the values to try.
    C : float or list of float, optional
        Values to try, for "ridge" and "svr"; by default 1e-3, 1e-2, ..., 1e3.
    cv : int, default 5
        Folds of the cross-validation that chooses.
    scoring : str, optional
        By which score is chosen; by default R².
    random_state : int, RandomState or None, default 0
        Seed of the folds and of kernels that draw random numbers.
    n_jobs : int or None
        Number of threads; the result does not depend on it.
    verbose : bool or int
        Show a progress bar on a terminal.

    Attributes
    ----------
    kernel_ : estimator
        The chosen kernel, fitted on all graphs.
    best_params_ : dict
        The chosen "kernel" and its options, with "C", or with the noise "s" of a process.
    best_score_ : float
        The score of the choice; of a process, its logarithmic marginal likelihood.
    cv_results_ : dict
        Scores of everything that was tried, as in `GridSearchCV`.

    Examples
    --------
    >>> from gramlet import GraphRegressor, load_dataset
    >>> graphs = load_dataset("MUTAG").graphs[:60]
    >>> sizes = [float(n) for n in graphs.sizes]
    >>> model = GraphRegressor("vertex").fit(graphs[:50], sizes[:50])
    >>> mean, std = model.predict(graphs[50:], return_std=True)
    >>> mean.shape, std.shape
    ((10,), (10,))
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_GraphModel._parameter_constraints,
        "regressor": [StrOptions({"gp", "ridge", "svr"}), None],
    }

    def __init__(
        self,
        kernel: Any = "auto",
        *,
        regressor: str | None = None,
        options: Mapping[str, Any] | str | None = None,
        C: float | Sequence[float] | None = None,
        cv: int = 5,
        scoring: str | None = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.kernel = kernel
        self.regressor = regressor
        self.options = options
        self.C = C
        self.cv = cv
        self.scoring = scoring
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Choose kernel, options and noise or C, and fit them on all graphs.

        Parameters
        ----------
        X : graphs, as `gramlet.as_batch` accepts them
        y : array-like
            One number per graph.
        groups : array-like, optional
            Graphs of one group stay together in the folds.
        sample_weight : array-like, optional
            One number of at least 0 per graph; for ``regressor="svr"``.
        """
        self._validate_params()
        batch = as_batch(X)
        name = self.regressor
        if name is None:
            name = "gp" if len(batch) <= MANY_GRAPHS else "ridge"
            if name == "ridge":
                warn_caller(
                    f"{len(batch):,} graphs: ridge regression is used, as a Gaussian process is "
                    f"the default up to {MANY_GRAPHS:,}. regressor='ridge' says so without a "
                    "warning."
                )
        target = target_of(y, len(batch), "regression", constant=name == "gp")
        self._choose_and_fit(batch, target, name, groups, sample_weight)
        return self

    def validate(self) -> None:
        """Raise ValueError if the machine does not predict one number."""
        machine = self.machine_
        require(machine.kind != "svc" and len(machine.coefficients) == 1, "machine_ has classes")
        if machine.kind == "gp":
            require(machine.scale is not None, "machine_ has no scale")
            require(bool(machine.noise), "machine_ needs a noise above 0")

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The predicted number of each graph.

        Parameters
        ----------
        X : graphs, as `gramlet.as_batch` accepts them
        return_std : bool, default False
            Also return the standard deviation of a new target, its noise included (only for "gp").
        """
        check_is_fitted(self)
        if return_std and self.machine_.kind != "gp":
            raise ValueError(
                f"return_std needs regressor='gp'; this model has {self.machine_.kind!r}."
            )
        batch, rows = self._rows(X)
        values: Floats = self.machine_.outputs(rows)[:, 0]
        if not return_std:
            return values
        return values, self._process.predict(rows, self.kernel_.diagonal(batch))[1]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions."""
        return float(super().score(X, y, sample_weight))

    def _answers(self, X: Any) -> dict[str, Array]:
        """Everything about new graphs by heading."""
        columns: dict[str, Array] = {}
        batch = as_batch(X)
        if self.machine_.kind == "gp":
            columns["prediction"], columns["standard deviation"] = self.predict(batch, True)
        else:
            columns["prediction"] = self.predict(batch)
        return columns | self._nearest_answers(batch)

    @cached_property
    def _process(self) -> GaussianRegression:
        """The process with its covariance, which is computed again for a model from a file."""
        kernel, machine = self.kernel_, self.machine_
        profile = kernel._current(kernel.profile_)
        gram = kernel._finished_gram(profile.compare_self(Tiling(self.n_jobs)))
        assert machine.noise is not None, "a process has a noise"
        assert machine.scale is not None, "a process has a scale"
        return GaussianRegression.restored(
            gram,
            float(machine.intercepts[0]),
            machine.scale,
            machine.noise,
            machine.coefficients[0],
        )

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        state.pop("_process", None)
        return state
