"""Options chosen on all graphs, for a final model, and the machine that uses the kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramlet.engine.core.tiles import progress
from gramlet.evaluation.candidates import candidates_of
from gramlet.evaluation.grid_search import Data, machine_warnings_off, select, warn_of_unfinished
from gramlet.evaluation.machines import CLASSIFIERS, machine_of
from gramlet.evaluation.matrices import Features, fit_output, gives_features
from gramlet.evaluation.protocol import Protocol
from gramlet.evaluation.scorers import scorer_of
from gramlet.evaluation.splits import groups_of
from gramlet.evaluation.task import Target, target_of
from gramlet.files.dataset import Dataset
from gramlet.graphs.conversion.convert import as_batch


@dataclass(frozen=True)
class Choice:
    """The options that cross-validation prefers.

    Attributes
    ----------
    options : dict
    C : float or None
        None if there is no C to choose (the estimator predicts itself).
    score : float
        The score in the cross-validation that chose them; too optimistic as an estimate.
    estimator : estimator
        Unfitted, with these options.
    machine : estimator or None
        Unfitted, from scikit-learn: predicts from the estimator's output as in `evaluate`, with
        the C or penalty for all graphs. None for an estimator that predicts itself.
    task, scoring : str
    """

    options: dict[str, Any]
    C: float | None
    score: float
    estimator: Any
    machine: Any = None
    task: str = "classification"
    scoring: str = "accuracy"

    @property
    def accuracy(self) -> float:
        """The score, under its name for classification."""
        return self.score


def choose(
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
    options: Mapping[str, Any] | None = None,
    normalize: bool | str | None = None,
    n_jobs: int | None = None,
    verbose: int | bool = False,
) -> Choice:
    """Choose C and a kernel's options by cross-validation over all the graphs.

    For a final model, after `evaluate` has estimated its quality. The arguments are those of
    `evaluate`; of the protocol only ``inner_folds``, ``C``, ``scale_C``, ``groups`` and
    ``random_state`` are used.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from gramlet import Protocol, load_dataset
    >>> from gramlet.evaluation import choose
    >>> mutag = load_dataset("MUTAG")
    >>> choice = choose("wl", mutag, protocol=Protocol(inner_folds=3), options={"n_iter": [1, 2]})
    >>> model = make_pipeline(choice.estimator, choice.machine).fit(mutag.graphs, mutag.target)
    >>> model.predict(mutag.graphs[:3]).shape
    (3,)
    """
    protocol = Protocol() if protocol is None else protocol
    if isinstance(graphs, Dataset):
        y = graphs.target if y is None else y
    batch = as_batch(graphs.graphs if isinstance(graphs, Dataset) else graphs)
    names = graphs.target_names if isinstance(graphs, Dataset) else None
    target = target_of(y, len(batch), task, min_class_size, names)
    codes = groups_of(groups, protocol.groups, graphs, len(batch))
    used = batch if len(target.kept) == len(batch) else batch[target.kept]
    data = Data(used, target, None if codes is None else codes[target.kept])
    candidates = candidates_of(
        kernel, options, normalize, protocol.random_state, target.task, graphs=used
    )
    machine = machine_of(classifier, target, protocol, class_weight, data.groups is not None)
    scorer = scorer_of(scoring, target.task, target.n_classes)
    split = protocol.whole(target.values, target.shown_classes, data.groups)
    total, name = len(candidates) * len(split.inner), candidates[0].name
    with machine_warnings_off(), progress(total, name, verbose) as advance:
        selection = select(
            candidates,
            data,
            [split],
            machine,
            scorer,
            n_jobs=n_jobs,
            advance=advance,
            always_score=True,
        )
    warn_of_unfinished(machine, name, protocol.max_iter)
    entry, score = int(selection.chosen[0]), float(selection.best[0])
    predictor, row = selection.predictor_of(entry)
    candidate = predictor.candidates[row // predictor.per_candidate]
    chosen = dict(selection.grid[entry])
    if not candidate.has_machine:
        estimator = None if candidate.kind == "baseline" else candidate.estimator
        return Choice(chosen, None, score, estimator, None, target.task, scorer.name)
    if not machine.costs:  # the machine chooses its penalty itself
        prediction = predictor.predict(split.train, split.train[:1], row)
        chosen["C"] = (prediction.chosen or (None,))[0]
    cost = chosen.pop("C")
    name = classifier or CLASSIFIERS[target.task][0]
    built = _machine(name, cost, candidate.estimator, data, protocol, class_weight, n_jobs)
    return Choice(chosen, cost, score, candidate.estimator, built, target.task, scorer.name)


def _machine(
    name: str,
    cost: float,
    estimator: Any,
    data: Data,
    protocol: Protocol,
    class_weight: Any,
    n_jobs: int | None,
) -> Any:
    """scikit-learn's machine for these graphs, on the estimator's own output.

    Evaluation divides features by one number. Here they are unscaled, and the C of a linear machine
    is divided by the square of that number, which is equivalent.
    """
    if name == "gp":
        raise ValueError(
            "choose does not build a Gaussian process; use GraphKernelGP, or classifier='ridge'."
        )
    target = data.target
    features, spread = None, 0.0
    if protocol.scale_C or name == "ridge" or gives_features(estimator):
        output = fit_output(estimator, data.batch(), n_jobs, target.named)
        features = output if isinstance(output, Features) else None
        gram = output.gram() if isinstance(output, Features) else output
        spread = float(np.trace(gram)) / len(gram) - float(gram.mean())
    if name == "ridge":
        return _ridge(spread / cost if spread > 0 else 1.0, features is not None, target)
    if spread > 0:
        cost = cost / spread  # scaled features have a spread of 1, so both rules agree
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, SVR

    kernel = "precomputed" if features is None else "linear"
    machine = SVR(kernel=kernel, C=cost, tol=protocol.tol)
    if name == "svc":
        machine = SVC(kernel=kernel, C=cost, tol=protocol.tol, class_weight=class_weight)
    if features is None or features.sparse:
        return machine
    # Centring only changes rounding: scikit-learn's machines compute in single precision.
    return make_pipeline(StandardScaler(with_std=False), machine)


def _ridge(penalty: float, of_features: bool, target: Target) -> Any:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import Ridge, RidgeClassifier
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KernelCenterer, StandardScaler

    if of_features:
        kind = RidgeClassifier if target.task == "classification" else Ridge
        return kind(alpha=penalty)
    ridge = make_pipeline(
        KernelCenterer(),
        TransformedTargetRegressor(
            KernelRidge(alpha=penalty, kernel="precomputed"),
            transformer=StandardScaler(with_std=False),
        ),
    )
    # One regression per class on its column of 0 and 1; the largest value decides.
    return OneVsRestClassifier(ridge) if target.task == "classification" else ridge
