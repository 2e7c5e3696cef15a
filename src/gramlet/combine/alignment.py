"""Sums of kernels whose weights are learned from a target, by centred alignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import nnls

from gramlet.common.arrays import Floats
from gramlet.common.fields import ArrayOf, fields
from gramlet.common.notices import warn_caller
from gramlet.common.parameters import StrOptions
from gramlet.common.stored_state import require
from gramlet.engine.core.tiles import Tiling
from gramlet.files.target import check_target, infer_task
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.composite.members import CompositeKernel
from gramlet.kernels.composite.sums import WeightedSum
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags

# A centred matrix this small compared with the matrix itself is a rounding error.
_ZERO = 1e-12
# If the scaled system has relative eigenvalues below this, its minimiser is not unique.
_SINGULAR = 1e-10


@shared_texts
class AlignedKernelSum(WeightedSum):
    """Sum of kernels with weights learned by centred alignment.

    The weights μ = v/Σv minimise vᵀMv − 2vᵀa over v ≥ 0, with M_kl = ⟨K_k^c, K_l^c⟩ and
    a_k = ⟨K_k^c, YYᵀ⟩, where K_k^c are the centred Gram matrices of the members and Y the one-hot
    classes or the centred real target. The sum is then as close to YYᵀ as possible with weights
    ≥ 0. A member whose centred matrix is 0 gets weight 0; of several minimisers the shortest is
    used; if v is 0, the weights are equal, with a warning. Cost: the Gram matrices of all p members
    in memory together, and O(p² n²).

    Parameters
    ----------
    kernels : list of kernels, of their names, or of (name, kernel) pairs
        Unnamed kernels are named as `make_pipeline` names its steps. Normalising the members makes
        their weights comparable.
    task : {"auto", "classification", "regression"}
        The kind of target. "auto": strings and booleans are classes; numbers are a regression
        target if one of them is not whole, or if there are at least 50 graphs and more than a fifth
        as many distinct values as graphs; otherwise they are classes.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    weights_ : array
        The learned weights, one per kernel; they sum to 1.
    kernels_ : list of kernels
        The fitted members.

    References
    ----------
    Cortes, Mohri, Rostamizadeh (2012), Algorithms for learning kernels based on centered alignment.

    Examples
    --------
    >>> from gramlet import AlignedKernelSum, EdgeHistogram, VertexHistogram
    >>> graphs = [([(0, 1)], "CC"), ([(0, 1)], "CO"), ([(0, 1)], "OO"), ([], "CC")]
    >>> kernel = AlignedKernelSum([VertexHistogram(), EdgeHistogram()])
    >>> kernel.fit(graphs, [1, 0, 0, 1]).weights_.round(3)
    array([0.667, 0.333])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CompositeKernel._parameter_constraints,
        "task": [StrOptions({"auto", "classification", "regression"})],
    }

    def __init__(
        self,
        kernels: Sequence[Any],
        task: str = "auto",
        *,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.kernels = kernels
        self.task = task
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> Any:
        # The target is checked before any kernel is computed.
        _target(y, len(batch), self.task, warn=True)
        return super()._fit(batch, y, tiling)

    def _learn(self, batch: GraphBatch, y: Any, tiling: Tiling) -> None:
        grams = [self._gram_of(member, batch, y) for member in self.kernels_]
        v = _alignment(grams, _target(y, len(batch), self.task))
        if v.sum() > 0:
            self.weights_: Floats = v / v.sum()
            return
        warn_caller(
            "AlignedKernelSum: no kernel is aligned with the target, so all weights are equal. "
            "Try other kernels or parameters.",
        )
        self.weights_ = np.full(len(v), 1.0 / len(v))

    stored = fields(weights_=ArrayOf("float64", "k", least=0.0, most=1.0))

    def _weights(self) -> Floats:
        return self.weights_

    def validate(self) -> None:
        """Raise ValueError if parameters and fitted state do not fit together."""
        super().validate()
        require(abs(self.weights_.sum() - 1) < 1e-9, "weights_ must sum to 1")

    def __graph_tags__(self) -> GraphTags:
        tags = super().__graph_tags__()
        return replace(tags, supervised=True, depends_on_fitted=True, after_fit=("normalize",))


def _target(y: Any, n_graphs: int, task: str, warn: bool = False) -> Floats:
    """Y of the alignment, centred: one column per class, or the real target."""
    if y is None:
        raise ValueError("AlignedKernelSum learns its weights from a target: give y to fit.")
    values = check_target(y)
    if len(values) != n_graphs:
        raise ValueError(f"y has {len(values)} values for {n_graphs} graphs; give one per graph.")
    numbers = values.astype(np.float64) if values.dtype.kind in "iuf" else None
    if task == "auto":
        task = infer_task(values, warn=warn)
    if task == "regression":
        if numbers is None:
            raise ValueError('y must contain numbers for task="regression"; it contains classes.')
        target = numbers[:, None]
    else:
        if numbers is not None and (numbers != np.floor(numbers)).any():
            raise ValueError('y contains numbers that are not whole; use task="regression".')
        classes = {value: k for k, value in enumerate(dict.fromkeys(values.tolist()))}
        target = np.zeros((n_graphs, len(classes)))
        target[np.arange(n_graphs), [classes[value] for value in values.tolist()]] = 1.0
    centred: Floats = target - target.mean(axis=0)
    return centred


def _alignment(grams: list[Floats], target: Floats) -> Floats:
    """The shortest v ≥ 0 that minimises vᵀMv − 2vᵀa; the matrices are centred in place."""
    sizes = [float(np.linalg.norm(gram)) for gram in grams]
    for gram in grams:
        rows = gram.mean(axis=1)
        gram -= rows[:, None]
        gram -= rows[None, :] - rows.mean()
    scale = np.array([float(np.linalg.norm(gram)) for gram in grams])
    live = np.flatnonzero(scale > _ZERO * np.array(sizes))
    v = np.zeros(len(grams))
    if len(live) == 0:
        return v
    scale = scale[live]
    system = np.array([[np.vdot(grams[k], grams[j]) for j in live] for k in live])
    system /= np.outer(scale, scale)
    goal = np.array([np.vdot(grams[k] @ target, target) for k in live]) / scale
    # If an alignment is 0, its rounding error must not determine the weights.
    noise = _ZERO * np.array(sizes)[live] / scale * float(np.linalg.norm(target)) ** 2
    goal[np.abs(goal) <= noise] = 0.0
    v[live] = _shortest_minimiser((system + system.T) / 2, goal, scale)
    return v


def _shortest_minimiser(system: Floats, goal: Floats, scale: Floats) -> Floats:
    """Of all u ≥ 0 that minimise uᵀRu − 2uᵀb, the shortest v = u/scale."""
    values, vectors = np.linalg.eigh(system)
    kept = values > _SINGULAR * values[-1]
    roots = np.sqrt(values[kept])
    factor = (vectors[:, kept] * roots).T  # R = factorᵀ factor
    u = nnls(factor, (vectors[:, kept].T @ goal) / roots)[0]
    v: Floats = u / scale
    if kept.all() or not v.any():
        return v
    # All minimisers have the same factor · u. The shortest one is found by a penalised problem, and
    # then solved for exactly on its positive entries.
    columns, fixed = factor * scale, factor @ u
    strength = 1e6 / np.linalg.norm(columns, ord=2)
    stacked = np.vstack([strength * columns, np.eye(len(v))])
    near = nnls(stacked, np.concatenate([strength * fixed, np.zeros(len(v))]))[0]
    chosen = np.flatnonzero(near > 1e-7 * near.max())
    shortest = np.zeros(len(v))
    shortest[chosen] = np.linalg.lstsq(columns[:, chosen], fixed, rcond=1e-9)[0]
    solves = np.abs(columns @ shortest - fixed).max() <= 1e-8 * np.abs(fixed).max()
    better = np.linalg.norm(shortest) <= np.linalg.norm(v)
    return shortest if solves and better and shortest.min() >= 0 else v
