"""Candidates: kernels with their options, made from names, estimators and ready matrices.

This module alone decides whether one Gram matrix serves all folds or a kernel is fitted on every
training part.
"""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.common.parameters import require_parameters
from gramlet.evaluation.baselines import BASELINE_NAMES, baseline_named
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels import registry
from gramlet.kernels.contract.normalisation import Normalization, canonical
from gramlet.kernels.contract.tags import GraphTags, graph_tags
from gramlet.kernels.expression import normalized_by_name

Kind = Literal["baseline", "ready", "sliced", "once", "refitted", "predictor"]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A kernel with one set of options.

    Attributes
    ----------
    name : str
        The kernel's name.
    kind : {"baseline", "ready", "sliced", "once", "refitted", "predictor"}
        "ready": a precomputed matrix. "sliced": k(G, G') depends on G and G' alone, so that one
        Gram matrix serves all folds. "once": it does not, but is fitted on all graphs, without
        their target. "refitted": fitted on each training part. "predictor": predicts itself,
        without a machine.
    estimator : estimator, matrix or Baseline
        Unfitted, with the options.
    options : dict
    fit : str
        Equal for candidates that differ only in parameters that can be set after the fit.
    chosen : dict
        What a result says if this candidate is chosen, apart from C.
    """

    name: str
    kind: Kind
    estimator: Any
    options: dict[str, Any] = field(default_factory=dict)
    fit: str = ""
    chosen: dict[str, Any] = field(default_factory=dict)

    @property
    def kernel(self) -> str:
        """The kernel, as it was given, among several."""
        return str(self.chosen.get("kernel", self.name))

    @property
    def has_machine(self) -> bool:
        """Whether a machine predicts from a kernel."""
        return self.kind not in ("baseline", "predictor")

    @property
    def is_random(self) -> bool:
        """Whether results depend on the seed."""
        return self.kind not in ("baseline", "ready") and bool(_seeds(self.estimator))

    def draw(self, number: int) -> Candidate:
        """The candidate with another seed; draw 0 is the candidate itself."""
        from sklearn.base import clone

        if number == 0 or not self.is_random:
            return self
        seeds = {
            key: int(np.random.SeedSequence((seed, number)).generate_state(1)[0])
            for key, seed in _seeds(self.estimator).items()
        }
        return replace(self, estimator=clone(self.estimator).set_params(**seeds))


def shared_fits(candidates: Sequence[Candidate]) -> list[list[int]]:
    """Positions of candidates, grouped by those that share one fit."""
    groups: dict[str, list[int]] = {}
    for position, candidate in enumerate(candidates):
        groups.setdefault(candidate.fit or str(position), []).append(position)
    return list(groups.values())


MANY_GRAPHS = 5000  # beyond which "auto" has two kernels, and a Gaussian process takes too long
DESCRIPTORS = "wl-oa + rbf(descriptors)"
_ITERATIONS = {"n_iter": (0, 1, 2, 3, 4, 5)}
# What "auto" tries where it is not what the registry lists.
_AUTOMATIC: dict[str, Mapping[str, Any]] = {
    "wl": _ITERATIONS,
    "wl-oa": _ITERATIONS,
    "nspdk": {"radius": (1, 2, 3), "distance": (4,)},
    DESCRIPTORS: {"wloptimalassignment__n_iter": (1, 2, 3)},
}


def automatic_kernels(graphs: GraphBatch) -> dict[str, Mapping[str, Any]]:
    """The kernels of "auto" by the columns that graphs have, with the options to try.

    >>> from gramlet import as_batch
    >>> list(automatic_kernels(as_batch([[(0, 1), (1, 2)]])))
    ['wl-oa', 'sp', 'graphlet', 'nspdk']
    """
    if len(graphs) > MANY_GRAPHS:
        names = ["wl-oa", "wl"]
    else:
        labelled = graphs.node_labels is not None or graphs.edge_labels is not None
        names = ["wl-oa", "wl", "sp", "nspdk"] if labelled else ["wl-oa", "sp", "graphlet", "nspdk"]
        if graphs.node_attributes is not None:
            names += ["graph-hopper", "wwl-attr"]
        if graphs.molecules is not None and importlib.util.find_spec("rdkit") is not None:
            names.append(DESCRIPTORS)
    if graphs.directed:
        names = [name for name in names if registry.get(name).tags.directed]
    return {name: _AUTOMATIC.get(name, registry.get(name).tunable) for name in names}


def candidates_of(
    kernel: Any,
    options: Mapping[str, Any] | None,
    normalize: Normalization | None,
    random_state: int,
    task: str,
    name: str | None = None,
    fit_once: bool = False,
    graphs: GraphBatch | None = None,
) -> list[Candidate]:
    """The candidates of a kernel, or of a list of kernels, in the order in which ties are decided.

    Parameters
    ----------
    kernel : str, estimator or list of these
        "auto" is the list of `automatic_kernels`. Options apply to those kernels of a list that
        have the parameter.
    options : mapping, optional
        Values to try by parameter; by default those of the registry for names, none for estimators.
    normalize : bool, str or None
        None: kernels given by name are Tanimoto-normalised, estimators stay as they are.
    random_state : int
        The seed of estimators that have none.
    task : str
    name : str, optional
        The name of the result.
    fit_once : bool
    graphs : GraphBatch, optional
        For "auto".

    Raises
    ------
    TypeError, ValueError
        For anything that cannot be evaluated, and for options with invalid values.
    """
    automatic: Mapping[str, Mapping[str, Any]] = {}
    if isinstance(kernel, str) and kernel == "auto" and graphs is not None:
        automatic = automatic_kernels(graphs)
        kernel = list(automatic)
    if not isinstance(kernel, list | tuple):
        return _candidates_of_one(kernel, options, normalize, random_state, task, name, fit_once)
    if not kernel:
        raise ValueError("There is no kernel to choose from: the list is empty.")
    candidates: list[Candidate] = []
    used: set[str] = set()
    if any(isinstance(one, str) and one == "auto" for one in kernel):
        raise ValueError(
            "'auto' is a list of kernels, which cannot be part of another. Give kernel='auto' "
            "alone, or name the kernels."
        )
    for number, one in enumerate(kernel):
        own = None if options is None else {k: v for k, v in options.items() if _has(one, k)}
        used |= set(own or {})
        if automatic:
            own = {**automatic[one], **(own or {})}
        given = one if isinstance(one, str) else repr(one)
        candidates += [
            replace(
                candidate,
                name=name or "auto",
                fit=candidate.fit and f"{number} {candidate.fit}",
                chosen={"kernel": given, **candidate.chosen},
            )
            for candidate in _candidates_of_one(
                one, own, normalize, random_state, task, None, fit_once
            )
        ]
    unused = sorted(set(options or {}) - used)
    if unused:
        raise ValueError(f"None of the kernels has a parameter {unused[0]!r} to choose.")
    return candidates


def _has(kernel: Any, parameter: str) -> bool:
    """Whether a kernel of a list has a parameter."""
    if isinstance(kernel, str):
        if kernel in BASELINE_NAMES:
            return False
        kernel = registry.get(kernel).make()
    return hasattr(kernel, "get_params") and parameter in kernel.get_params()


def _candidates_of_one(
    kernel: Any,
    options: Mapping[str, Any] | None,
    normalize: Normalization | None,
    random_state: int,
    task: str,
    name: str | None,
    fit_once: bool,
) -> list[Candidate]:
    if isinstance(kernel, str):
        baseline = baseline_named(kernel, task)
        if baseline is not None:
            return [Candidate(name or kernel, "baseline", baseline)]
        options = registry.get(kernel).tunable if options is None else options
        by_name = normalize is None and "normalize" not in options
        estimator = (normalized_by_name if by_name else registry.make)(kernel)
    else:
        estimator = kernel
        options = {} if options is None else options
    _check_estimator(estimator, task)
    shown = name or (kernel if isinstance(kernel, str) else _name_of(estimator))
    estimator = _seeded(estimator, normalize, random_state)
    option_sets = _option_sets(estimator, options, shown)
    return [_candidate(shown, estimator, chosen, fit_once) for chosen in option_sets]


def _candidate(name: str, estimator: Any, options: dict[str, Any], fit_once: bool) -> Candidate:
    from sklearn.base import clone, is_classifier, is_regressor

    estimator = clone(estimator).set_params(**options)
    tags = _tags_of(estimator)
    if tags is not None:
        require_parameters(estimator)
    kind: Kind = "sliced"
    if is_classifier(estimator) or is_regressor(estimator):
        kind = "predictor"
    elif tags is None or tags.depends_on_fitted or tags.supervised:
        # Nothing is known about other estimators: fitting on each training part is always right.
        kind = "refitted"
    if fit_once:
        if kind == "predictor" or tags is None or tags.supervised:
            raise ValueError(
                f"fit_once=True fits on all graphs, including those of the test parts, which is "
                f"only valid without classes; {name!r} may use them. Leave fit_once out."
            )
        kind = "once" if kind == "refitted" else kind
    after_fit = tags.after_fit if tags else ()
    # By repr: options may be lists or estimators, which cannot be keys.
    fit = repr((kind, sorted((k, repr(v)) for k, v in options.items() if k not in after_fit)))
    return Candidate(name, kind, estimator, options, fit, options)


def normalisation_of(candidates: Sequence[Candidate]) -> str:
    """How kernels are normalised: "tanimoto", "cosine", "none", "by itself"; "" without kernels."""
    names: dict[str, None] = {}
    for candidate in candidates:
        if candidate.kind in ("baseline", "ready"):
            continue
        params = candidate.estimator.get_params()
        values = [value for key, value in params.items() if key.split("__")[-1] == "normalize"]
        given = [canonical(value) for value in values]
        if given:
            tags = _tags_of(candidate.estimator)
            plain = "by itself" if tags is not None and tags.unit else "none"
            # An unnormalised sum is of normalised members.
            names[str(next((value for value in given if value), plain))] = None
    return " or ".join(names)


def warn_of_descriptors(candidates: Sequence[Candidate], graphs: GraphBatch | None) -> None:
    """Compute descriptors of molecules once, for one warning of all that are not finite.

    They are kept for the fits, whose own warnings are not shown.
    """
    from gramlet.embeddings.molecular_descriptors import MolecularDescriptors

    used = any(
        "MolecularDescriptors" in repr(candidate.estimator)
        for candidate in candidates
        if candidate.kind not in ("baseline", "ready")
    )
    if graphs is not None and used:
        with contextlib.suppress(ValueError, ImportError):  # which the candidates raise themselves
            MolecularDescriptors().fit(graphs).transform(graphs)


def ready_candidate(name: str, matrix: Any, n_graphs: int) -> Candidate:
    """The candidate of a precomputed Gram matrix, which is checked."""
    values = np.asarray(matrix)
    what = f"The matrix {name!r}"
    if values.dtype.kind not in "biuf" or values.shape != (n_graphs, n_graphs):
        raise ValueError(
            f"{what} must be square, one row and column of numbers per value of y ({n_graphs}); "
            f"got shape {values.shape} of {values.dtype}."
        )
    gram: Floats = np.ascontiguousarray(values, dtype=np.float64)
    if not np.isfinite(gram).all():
        row, column = np.argwhere(~np.isfinite(gram))[0]
        raise ValueError(f"{what} is not finite at row {row}, column {column}.")
    gap = np.abs(gram - gram.T)
    if gap.max(initial=0.0) > 1e-8 * max(1.0, float(np.abs(gram).max(initial=0.0))):
        row, column = np.unravel_index(int(gap.argmax()), gap.shape)
        raise ValueError(
            f"{what} must be symmetric; the entry at row {row}, column {column} and its "
            f"mirror differ by {gap.max():g}."
        )
    return Candidate(name, "ready", gram)


def _seeds(estimator: Any) -> dict[str, int]:
    return {
        key: int(value)
        for key, value in estimator.get_params().items()
        if key.split("__")[-1] == "random_state" and isinstance(value, int | np.integer)
    }


def _tags_of(estimator: Any) -> GraphTags | None:
    """The tags of one of gramlet's estimators.

    None for other estimators, also for subclasses defined elsewhere, since the tags may not hold
    for what they change.
    """
    cls = type(estimator)
    ours = cls.__module__.startswith("gramlet.") or "__graph_tags__" in vars(cls)
    return graph_tags(estimator) if ours and hasattr(estimator, "__graph_tags__") else None


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


def _name_of(estimator: Any) -> str:
    """The most specific name of the registry for an estimator, or its class."""
    if hasattr(estimator, "get_params"):
        params = estimator.get_params(deep=False)
        rows = [
            row
            for row in registry.entries()
            if row.class_name == type(estimator).__name__
            and row.cls() is type(estimator)
            and all(params.get(key) == value for key, value in row.params.items())
        ]
        if rows:
            return max(rows, key=lambda row: len(row.params)).name
    steps = getattr(estimator, "steps", None)
    if steps:
        return " + ".join(_name_of(step) for _, step in steps)
    return type(estimator).__name__


def _seeded(estimator: Any, normalize: Normalization | None, random_state: int) -> Any:
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


def _option_sets(estimator: Any, options: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
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
