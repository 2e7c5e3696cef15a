"""HashedLinearModel: a linear classifier or regression that learns from a feature store.

The penalty is chosen on held-out graphs and tested on others; then the model is trained on all.
`linear_training` summarises the store and trains part by part.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats
from gramlet.common.fields import (
    ArrayOf,
    Choice,
    Classes,
    Flag,
    Instance,
    Integer,
    Number,
    Optional,
    Sometimes,
    Text,
    fields,
)
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require
from gramlet.evaluation.scorers import Scorer, scorer_of
from gramlet.evaluation.task import Target
from gramlet.graphs.conversion.convert import as_batch
from gramlet.scale.feature_store import FeatureStore
from gramlet.scale.hashed_features import GraphKind, HashedFeatures
from gramlet.scale.linear_training import (
    CHOICE,
    LEARN,
    TEST,
    Course,
    Scaling,
    Setting,
    StoreSummary,
    decisions_of,
    summarize,
)
from gramlet.scale.store_folder import part_progress

_ALPHAS = (1e-5, 1e-6, 1e-4)  # the first is used if there are no graphs to choose by
_UPDATES = 200_000  # least number of steps of a machine, within these numbers of epochs
_EPOCHS = (5, 50)


def _has_classes(model: HashedLinearModel) -> bool:
    return getattr(model, "task_", None) == "classification"


class HashedLinearModel(BaseEstimator):
    """Logistic or linear regression on hashed features, learned from a `FeatureStore`.

    Averaged stochastic gradient descent (scikit-learn's `SGDClassifier`, `SGDRegressor`) over the
    parts of the store, several at a time and in a new order each epoch: only a few parts and the
    coefficients are in memory, whatever the size of the store. A tenth of the graphs is used to
    choose among penalties and scalings of rows, another tenth to test the choice; the chosen
    machine is then trained on all graphs. The features are part of the model, so that it predicts
    from graphs.

    Parameters
    ----------
    task : {"auto", "classification", "regression"}
        Whether the target has classes or numbers; "auto" as in `gramlet.evaluate`.
    alpha : float or sequence of float
        Penalties to choose from.
    normalize : bool or "auto", default "auto"
        Whether each row is scaled to length 1, or all rows by one number; "auto" chooses.
    n_epochs : int or "auto", default "auto"
        Number of passes over all parts; "auto": 5, and up to 50 for small stores.
    held_out : float, default 0.1
        The share of graphs to choose by, and as many to test; at most 20,000 graphs each.
    class_weight : dict, "balanced" or None
        Weights of classes.
    scoring : str, optional
        The score to choose by and to report, as in `gramlet.evaluate`: "accuracy" or "r2".
    random_state : int, default 0

    Attributes
    ----------
    features_ : HashedFeatures
    task_, scoring_ : str
    classes_ : array
        For classification only.
    coef_ : array, shape (1 or number of classes, 2^n_bits)
    intercept_ : array
    alpha_, normalize_ : float, bool
        The chosen values.
    score_ : float or None
        On the graphs held out for the test, before the model was trained on them.
    baseline_ : float or None
        The score of the most frequent class, or of the mean, on the same graphs.
    n_graphs_, n_tested_, n_epochs_ : int
    node_labels_, edge_labels_, directed_ : bool or None
        Whether the graphs of the store have labels and are directed; None if it does not say.
        Graphs of another kind are not predicted.

    Examples
    --------
    >>> import tempfile
    >>> from gramlet import FeatureStore, HashedFeatures, HashedLinearModel, load_dataset
    >>> mutag = load_dataset("MUTAG")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = FeatureStore.write(f"{folder}/store", mutag, HashedFeatures(n_bits=12), 50)
    ...     model = HashedLinearModel(n_epochs=5).fit(store)
    >>> model.predict(mutag.graphs[:3]).tolist(), model.n_graphs_
    ([1, -1, -1], 188)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "task": [StrOptions({"auto", "classification", "regression"})],
        "alpha": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "normalize": ["boolean", StrOptions({"auto"})],
        "n_epochs": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "held_out": [Interval(Real, 0, 0.4, closed="both")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "scoring": [str, None],
        "random_state": [Interval(Integral, 0, 2**32 - 1, closed="both")],
    }

    stored = fields(
        features_=Instance(HashedFeatures),
        task_=Choice("classification", "regression"),
        scoring_=Text(),
        classes_=Sometimes(Classes()),
        coef_=ArrayOf("float64", "k", "d"),
        intercept_=ArrayOf("float64", "k"),
        alpha_=Number(0.0),
        normalize_=Flag(),
        factor_=Number(0.0),
        score_=Optional(Number()),
        baseline_=Optional(Number()),
        n_graphs_=Integer(),
        n_tested_=Integer(),
        n_epochs_=Integer(),
        node_labels_=Optional(Flag()),
        edge_labels_=Optional(Flag()),
        directed_=Optional(Flag()),
    )

    def __init__(
        self,
        task: str = "auto",
        alpha: float | Sequence[float] = _ALPHAS,
        *,
        normalize: bool | str = "auto",
        n_epochs: int | str = "auto",
        held_out: float = 0.1,
        class_weight: Mapping[Any, float] | str | None = None,
        scoring: str | None = None,
        random_state: int = 0,
    ) -> None:
        self.task = task
        self.alpha = alpha
        self.normalize = normalize
        self.n_epochs = n_epochs
        self.held_out = held_out
        self.class_weight = class_weight
        self.scoring = scoring
        self.random_state = random_state

    def fit(self, store: FeatureStore | str | os.PathLike[str], y: Any = None) -> Self:
        """Learn from a store, or from its path. The targets are those of the store."""
        self._validate_params()
        settings = self._settings()
        if y is not None:
            raise TypeError("The store has targets of its own; leave out y.")
        if isinstance(store, str | os.PathLike):
            store = FeatureStore(store)
        if not isinstance(store, FeatureStore):
            raise TypeError(
                f"HashedLinearModel learns from a FeatureStore or its path; got "
                f"{type(store).__name__}. FeatureStore.write(folder, graphs) makes one."
            )
        summary = summarize(store, self.task)
        scorer = scorer_of(self.scoring, summary.target.task, summary.target.n_classes)
        epochs = self._epochs(summary.n_graphs)
        # The total number of passes: training twice, choosing and testing.
        passes = 2 * epochs + 2 if self.held_out else epochs
        with part_progress(passes * store.n_parts, 0, "learning", "parts") as advance:
            weights = self._weights(summary)
            course = Course(
                store,
                summary,
                epochs,
                float(self.held_out),
                weights,
                int(self.random_state),
                advance,
            )
            chosen = self._choose(course, settings, scorer)
            (machine,) = course.train([chosen], (LEARN, CHOICE, TEST))
        if machine is None:
            raise ValueError(
                "The steps of the descent diverged: some rows are far longer than others. Use "
                "normalize=True."
            )
        self._keep(machine, chosen, course)
        self.scoring_, self.features_, self.n_epochs_ = scorer.name, store.features, epochs
        self.node_labels_, self.edge_labels_, self.directed_ = store.graph_kind
        return self

    def _settings(self) -> list[Setting]:
        given: Any = self.alpha
        alphas = [given] if isinstance(given, Real) else list(given)
        if not alphas or not all(isinstance(a, Real) and 0 < float(a) < np.inf for a in alphas):
            raise ValueError(f"alpha must be a number above 0, or several; got {self.alpha!r}.")
        kinds = (True, False) if self.normalize == "auto" else (bool(self.normalize),)
        return [Setting(float(alpha), kind) for kind in kinds for alpha in alphas]

    def _epochs(self, n_graphs: int) -> int:
        if self.n_epochs != "auto":
            return int(self.n_epochs)
        least, most = _EPOCHS
        return min(most, max(least, -(-_UPDATES // n_graphs)))

    def _weights(self, summary: StoreSummary) -> dict[int, float] | None:
        """Weights by code of the class."""
        target = summary.target
        if self.class_weight is None:
            return None
        if target.task == "regression":
            raise ValueError("class_weight is for classes; this is a regression. Leave it out.")
        if self.class_weight == "balanced":
            weights = summary.n_graphs / (target.n_classes * target.members())
            return dict(enumerate(weights.tolist()))
        assert isinstance(self.class_weight, Mapping)
        known = {name: code for code, name in enumerate(target.classes.tolist())}
        unknown = [name for name in self.class_weight if name not in known]
        if unknown:
            raise ValueError(
                f"class_weight names {unknown[0]!r}; the classes are {list(known)[:20]}."
            )
        return {known[name]: float(weight) for name, weight in self.class_weight.items()}

    def _choose(self, course: Course, settings: list[Setting], scorer: Scorer) -> Setting:
        """The setting with the best score on the graphs for the choice; sets the test score."""
        self.score_ = self.baseline_ = None
        self.n_tested_ = 0
        if not course.held_out:
            return settings[0]
        machines = course.train(settings, (LEARN,))
        truth, candidates = course.examine(machines, settings, CHOICE)
        best = next((i for i, machine in enumerate(machines) if machine is not None), 0)
        if scorer.can_score(truth) and len(settings) > 1:
            scores = [_score(scorer, truth, decisions) for decisions in candidates]
            best = int(np.argmax(scores))  # ties to the first
        truth, (decisions,) = course.examine([machines[best]], [settings[best]], TEST)
        if scorer.can_score(truth) and decisions is not None and np.isfinite(decisions).all():
            self.n_tested_ = len(truth)
            self.score_ = _score(scorer, truth, decisions)
            self.baseline_ = _baseline(scorer, truth, course.summary.target)
        return settings[best]

    def _keep(self, machine: Any, chosen: Setting, course: Course) -> None:
        """Keep what predictions need, without the state of the descent."""
        summary = course.summary
        self.task_, self.n_graphs_ = summary.target.task, summary.n_graphs
        self.alpha_, self.normalize_ = chosen.alpha, chosen.normalize
        self.factor_ = course.scaling(chosen.normalize).factor
        self.coef_: Floats = np.array(np.atleast_2d(machine.coef_), dtype=np.float64)
        self.intercept_: Floats = np.array(machine.intercept_, dtype=np.float64).reshape(-1)
        if self.task_ == "classification":
            self.classes_ = summary.target.classes
            return
        self.__dict__.pop("classes_", None)
        self.coef_ *= summary.deviation
        self.intercept_ = self.intercept_ * summary.deviation + summary.mean

    def _values(self, X: Any) -> Floats:
        check_is_fitted(self, "coef_")
        features = self.features_
        kind = GraphKind(self.node_labels_, self.edge_labels_, self.directed_)
        batch = kind.fitting(as_batch(X), type(self).__name__, features.reads_edge_labels)
        rows = Scaling(self.normalize_, self.factor_)(features.transform(batch))
        return decisions_of(rows, self.coef_, self.intercept_)

    def predict(self, X: Any) -> Array:
        """The class or number of each graph."""
        values = self._values(X)
        if not _has_classes(self):
            return values
        return np.asarray(self.classes_[_codes(values)])

    @available_if(_has_classes)
    def decision_function(self, X: Any) -> Floats:
        """One value per graph, above 0 for the second class; with more classes one per class."""
        return self._values(X)

    @available_if(_has_classes)
    def predict_proba(self, X: Any) -> Floats:
        """Probabilities, one column per class; for more than two classes, one against the rest."""
        shares = expit(self._values(X))
        if shares.ndim == 1:
            return np.column_stack([1.0 - shares, shares])
        total = shares.sum(axis=1, keepdims=True)
        total[total == 0] = 1.0
        return np.asarray(shares / total)

    def validate(self) -> None:
        """Check what fields cannot express of a model, which may come from a file."""
        self._settings()
        if "coef_" not in vars(self):
            return
        require(self.features_.n_bits is not None, "features_ must have a number of bits")
        n_rows = 1
        if self.task_ == "classification":
            require("classes_" in vars(self), "classes_ is missing")
            n_rows = 1 if len(self.classes_) == 2 else len(self.classes_)
            in_order = (self.classes_[1:] > self.classes_[:-1]).all()
            require(len(self.classes_) > 1 and in_order, "classes_ must be two or more, in order")
        shape = n_rows, 2 ** int(self.features_.n_bits or 0)
        require(self.coef_.shape == shape, f"coef_ must have the shape {shape}")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags


def _codes(values: Floats) -> Any:
    return (values > 0).astype(np.int64) if values.ndim == 1 else np.argmax(values, axis=1)


def _score(scorer: Scorer, truth: Array, decisions: Floats | None) -> float:
    """The score of decision values; a machine that diverged counts as the worst."""
    if decisions is None or not np.isfinite(decisions).all():
        return -np.inf
    predictions = decisions if scorer.task == "regression" else _codes(decisions)
    return scorer(truth, predictions, decisions)


def _baseline(scorer: Scorer, truth: Array, target: Target) -> float | None:
    """The score of a constant prediction, if the scorer uses predictions."""
    if scorer.needs == "decisions":
        return None
    frequent = int(np.argmax(target.members())) if target.n_classes else 0.0
    return scorer(truth, np.full(len(truth), frequent), None)
