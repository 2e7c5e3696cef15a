"""What is evaluated: a name, an estimator, a pipeline or a precomputed matrix, with options to try.

This module alone decides whether one Gram matrix is used for all folds or a kernel is fitted on
every training part. `trials` fits.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.evaluation.machines.baselines import baseline_named
from gramlet.evaluation.machines.blocks import SharedDistances
from gramlet.kernels import registry
from gramlet.kernels.contract.tags import GraphTags, graph_tags

__all__ = ["Kind", "Subject", "ready_subject", "subject_of"]

Kind = Literal["baseline", "ready", "sliced", "once", "refitted", "predictor"]
Options = Mapping[str, Any]


@dataclass(frozen=True)
class Subject:
    """Something to evaluate.

    Attributes
    ----------
    name : str
    kind : {"baseline", "ready", "sliced", "once", "refitted", "predictor"}
        "ready": a precomputed matrix. "sliced": k(G, G') depends on G and G' alone, so that one
        Gram matrix is used for all folds. "once": it does not, but is fitted on all graphs, without
        their classes. "refitted": fitted on each training part. "predictor": predicts itself,
        without a machine.
    estimator : estimator, matrix or None
    option_sets : list of dict
        In the order in which ties are decided.
    after_fit : tuple of str
        Parameters that may be set on a fitted estimator.
    """

    name: str
    kind: Kind
    estimator: Any
    option_sets: list[dict[str, Any]]
    after_fit: tuple[str, ...] = ()

    @property
    def is_random(self) -> bool:
        """Whether results depend on the seed."""
        return self.kind not in ("baseline", "ready") and bool(_seeds(self.estimator))

    def draw(self, number: int) -> Subject:
        """The subject with another seed; draw 0 is the subject itself."""
        if number == 0 or not self.is_random:
            return self
        changes = {
            key: int(np.random.SeedSequence((seed, number)).generate_state(1)[0])
            for key, seed in _seeds(self.estimator).items()
        }
        return replace(self, estimator=self.with_options(changes))

    def with_options(self, option_set: Mapping[str, Any]) -> Any:
        """A new estimator with these options."""
        from sklearn.base import clone

        return clone(self.estimator).set_params(**option_set)

    def tried_estimators(self) -> list[Any]:
        """The estimator with each set of options; none for baselines and matrices."""
        if self.kind in ("baseline", "ready"):
            return []
        return [self.with_options(option_set) for option_set in self.option_sets]

    def shares_distances(self, n_graphs: int) -> bool:
        """Whether Gram matrices of several sets of options come from the same distances."""
        varied = {key for option_set in self.option_sets for key in option_set}
        return (
            self.kind == "sliced"
            and len(self.option_sets) > 1
            and bool(varied & set(self.after_fit))
            and SharedDistances.can_share(self.with_options(self.option_sets[0]), n_graphs)
        )

    def groups(self) -> list[list[int]]:
        """Positions of the option sets, grouped by those that share one fit."""
        if self.kind not in ("refitted", "once"):
            return [[position] for position in range(len(self.option_sets))]
        found: dict[str, list[int]] = {}
        for position, option_set in enumerate(self.option_sets):
            # By repr: options may be lists or estimators, which cannot be keys.
            fitting = {k: v for k, v in option_set.items() if k not in self.after_fit}
            found.setdefault(repr(sorted(fitting.items())), []).append(position)
        return list(found.values())


def subject_of(
    kernel: Any,
    options: Options | None,
    normalize: bool | None,
    random_state: int,
    name: str | None = None,
    fit_once: bool = False,
    task: str = "classification",
) -> Subject:
    """The subject for the first argument of `evaluate`."""
    if isinstance(kernel, str):
        baseline = baseline_named(kernel, task)
        if baseline is not None:
            return Subject(name or kernel, "baseline", baseline, [{}])
        named = registry.get(kernel)
        estimator = named.make()
        options = named.tunable if options is None else options
        normalize = True if normalize is None else normalize
    else:
        estimator = kernel
        options = {} if options is None else options
    _check_estimator(estimator, task)
    shown = name or (kernel if isinstance(kernel, str) else _name_of(estimator))
    estimator = _settled(estimator, normalize, random_state)
    option_sets = _option_sets(estimator, options, shown)
    tags = _tags_of(estimator, option_sets)
    kind = _kind_of(estimator, tags)
    if fit_once:
        kind = _once(kind, tags, shown)
    return Subject(shown, kind, estimator, option_sets, tags.after_fit if tags else ())


def ready_subject(name: str, matrix: Any, n_graphs: int) -> Subject:
    """The subject for a precomputed Gram matrix."""
    values = np.asarray(matrix)
    place = f"The matrix {name!r}"
    if values.dtype.kind not in "biuf" or values.shape != (n_graphs, n_graphs):
        raise ValueError(
            f"{place} must be square, one row and column of numbers per value of y ({n_graphs}); "
            f"got shape {values.shape} of {values.dtype}."
        )
    gram: Floats = np.ascontiguousarray(values, dtype=np.float64)
    if not np.isfinite(gram).all():
        row, column = np.argwhere(~np.isfinite(gram))[0]
        raise ValueError(f"{place} is not finite at row {row}, column {column}.")
    gap = np.abs(gram - gram.T)
    if gap.max(initial=0.0) > 1e-8 * max(1.0, float(np.abs(gram).max(initial=0.0))):
        row, column = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ValueError(
            f"{place} must be symmetric; the entry at row {row}, column {column} and its "
            f"mirror differ by {gap.max():g}."
        )
    return Subject(name, "ready", gram, [{}])


def _seeds(estimator: Any) -> dict[str, int]:
    return {
        key: int(value)
        for key, value in estimator.get_params().items()
        if key.split("__")[-1] == "random_state" and isinstance(value, int | np.integer)
    }


def _tags_of(estimator: Any, option_sets: Sequence[Options]) -> GraphTags | None:
    """The tags of one of gramlet's estimators with each set of options.

    None for other estimators, also for subclasses defined elsewhere, since the tags may not hold
    for what they change.
    """
    from sklearn.base import clone

    cls = type(estimator)
    ours = cls.__module__.startswith("gramlet.") or "__graph_tags__" in vars(cls)
    if not ours or not hasattr(estimator, "__graph_tags__"):
        return None
    found = [graph_tags(clone(estimator).set_params(**options)) for options in option_sets]
    return replace(
        found[0],
        supervised=any(tags.supervised for tags in found),
        depends_on_fitted=any(tags.depends_on_fitted for tags in found),
        after_fit=tuple(
            key for key in found[0].after_fit if all(key in t.after_fit for t in found)
        ),
    )


def _check_estimator(estimator: Any, task: str) -> None:
    from sklearn.base import is_classifier, is_regressor

    if not hasattr(estimator, "get_params") or not hasattr(estimator, "fit"):
        raise TypeError(
            "evaluate takes a kernel's name, an estimator or a pipeline; got "
            f"{type(estimator).__name__}. `gramlet kernels` lists the names."
        )
    if is_classifier(estimator) or is_regressor(estimator):
        if is_classifier(estimator) != (task == "classification"):
            kind = "a classifier" if is_classifier(estimator) else "a regressor"
            raise ValueError(
                f"{type(estimator).__name__} is {kind}, but the target is for {task}. Use "
                "task='classification' or task='regression' if that is not intended."
            )
    elif not hasattr(estimator, "transform"):
        raise TypeError(
            f"evaluate needs a kernel, an embedding or a classifier; {type(estimator).__name__} "
            "has neither transform nor predict."
        )


def _kind_of(estimator: Any, tags: GraphTags | None) -> Kind:
    from sklearn.base import is_classifier, is_regressor

    if is_classifier(estimator) or is_regressor(estimator):
        return "predictor"
    # Nothing is known about other estimators: fitting on each training part is always right.
    refitted = tags is None or tags.depends_on_fitted or tags.supervised
    return "refitted" if refitted else "sliced"


def _once(kind: Kind, tags: GraphTags | None, name: str) -> Kind:
    """The kind of a subject that is fitted once."""
    if kind == "predictor" or tags is None or tags.supervised:
        raise ValueError(
            f"fit_once=True fits on all graphs, including those of the test parts, which is only "
            f"valid without classes; {name!r} may use them. Leave fit_once out."
        )
    return "once" if kind == "refitted" else kind


def _row_of(estimator: Any) -> registry.Entry | None:
    """The most specific row of the registry that this estimator is an instance of."""
    if not hasattr(estimator, "get_params"):
        return None
    params = estimator.get_params(deep=False)
    rows = [
        row
        for row in registry.entries()
        if row.class_name == type(estimator).__name__
        and row.cls() is type(estimator)
        and all(params.get(key) == value for key, value in row.params.items())
    ]
    return max(rows, key=lambda row: len(row.params), default=None)


def _name_of(estimator: Any) -> str:
    row = _row_of(estimator)
    if row is not None:
        return row.name
    steps = getattr(estimator, "steps", None)
    if steps:
        return " + ".join(_name_of(step) for _, step in steps)
    return type(estimator).__name__


def _settled(estimator: Any, normalize: bool | None, random_state: int) -> Any:
    """A clone with a fixed seed and, if requested, a normalised kernel."""
    from sklearn.base import clone

    estimator = clone(estimator)
    params = estimator.get_params()
    changes: dict[str, Any] = {
        key: random_state
        for key, value in params.items()
        if value is None and (key == "random_state" or key.endswith("__random_state"))
    }
    if normalize is not None and "normalize" in params:
        changes["normalize"] = normalize
    return estimator.set_params(**changes)


def _option_sets(estimator: Any, options: Options, name: str) -> list[dict[str, Any]]:
    if not isinstance(options, Mapping):
        raise TypeError(
            "options must be a mapping from a parameter's name to the values to try, e.g. "
            f"{{'n_iter': [1, 2, 3]}}; got {type(options).__name__}."
        )
    allowed = estimator.get_params()
    for key in options:
        if key not in allowed:
            raise ValueError(
                f"{name!r} ({type(estimator).__name__}) has no parameter {key!r} to choose. It "
                f"has: {', '.join(sorted(allowed))}."
            )
    values = [_listed(key, value) for key, value in options.items()]
    return [dict(zip(options, chosen, strict=True)) for chosen in itertools.product(*values)]


def _listed(key: str, value: Any) -> list[Any]:
    if isinstance(value, str | bytes) or not (
        isinstance(value, Sequence) or hasattr(value, "tolist")
    ):
        return [value]
    values = value.tolist() if hasattr(value, "tolist") else list(value)
    values = values if isinstance(values, list) else [values]
    if not values:
        raise ValueError(f"options[{key!r}] is empty; give at least one value to try.")
    return values
