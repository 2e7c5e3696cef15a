"""Weighted Wasserstein Weisfeiler-Lehman: a learned weight per subtree pattern."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.checks import is_integer
from gramlet.common.fields import (
    ArrayOf,
    Classes,
    Counts,
    Instance,
    Integer,
    ListOf,
    Number,
    Optional,
    fields,
)
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require, require_instance
from gramlet.engine.core.tiles import Tiling, one_blas_thread
from gramlet.engine.wasserstein import pattern_weights
from gramlet.engine.wasserstein.pair_loss import Hinge, PairProblem
from gramlet.engine.wasserstein.weight_constraint import CONSTRAINTS, WeightConstraint
from gramlet.files.target import check_target
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.decay_kernel import DecayKernel
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags
from gramlet.kernels.wasserstein.wasserstein_wl import MassProfile
from gramlet.kernels.weisfeiler_lehman.colour_counts import ColourCounter, Colouring
from gramlet.kernels.weisfeiler_lehman.subtree import (
    REFINEMENT_CONSTRAINTS,
    check_levels,
    refinement_uses,
)


@dataclass(frozen=True)
class Pattern:
    """One subtree pattern and its learned weight.

    Attributes
    ----------
    level : int
    text : str
        The pattern as a rooted tree, ``C(C,N)``, or ``C(>C,<N)`` for directed graphs.
    weight : float
    column : int
        Its column among all patterns.
    n_graphs : int
        The number of fitted graphs that have it.
    """

    level: int
    text: str
    weight: float
    column: int
    n_graphs: int


@dataclass
class Masses:
    """Shares of the fitted patterns (divided by the number of levels), and other masses."""

    shares: sparse.csr_matrix
    empty: Floats
    unseen: Floats


@shared_texts
class WeightedWassersteinWL(DecayKernel):
    """Wasserstein Weisfeiler-Lehman kernel with learned pattern weights.

    k = exp(−γ d), d(G, G') = offset − (1/levels) Σ_h Σ_σ w_σ min(c_h(G,σ)/n, c_h(G',σ)/n'). The
    weights are learned from the classes: a smoothed hinge loss over all ordered pairs penalises
    pairs of different classes at distances below ``alpha_diff`` and pairs of one class at distances
    above ``alpha_same``, under the constraints w ≥ 0 and w near 1 (see ``constraint``). The problem
    is convex. With w = 1 and offset 1 the kernel is `WassersteinWL`, also on directed graphs. Cost:
    O(H m) for the patterns, then two walks over the common patterns of all pairs per pass (one at
    the start and one at the end for "stochastic"). Positive semi-definite.

    Parameters
    ----------
    n_iter : int, default 2
        Number of rounds of refinement (H).
    gamma : float, default 1.0
        Decay of the kernel with the distance (γ).
    radius : float or sequence of float, default 0.5
        The largest distance of the weights of a level from 1 (ε); one number, or one per level.
    alpha_diff, alpha_same : float, default 1.0, 0.5
        Target distances: at least α₁ for different classes, at most α₂ for one class.
    sigma : float, default 0.1
        Width of the smooth part of the hinge.
    offset : float, default 1.0
        The distance of graphs without common patterns (b).
    solver : {"stochastic", "batch", "accelerated"}
        "stochastic": one random pair per step, ``max_iter`` steps. "batch": projected gradient
        descent on all pairs. "accelerated": the same with momentum and adaptive steps; it stops
        when the loss is known to be within ``tol`` (relative) of the optimum, or after ``max_iter``
        passes.
    learning_rate : float or None
        The step size (μ). None: 1e-4 for "stochastic", and 1/L for "batch", with L the Lipschitz
        constant of the gradient; "accelerated" then begins with a step to the boundary of the
        balls (1/L for boxes) and adapts the following ones.
    max_iter : int, default 500
        Number of steps of "stochastic", or of passes over all pairs (T).
    tol : float, default 1e-6
        See "accelerated".
    balanced : bool, default False
        Give pairs of one class and pairs of different classes a total weight of one half each.
        Otherwise all ordered pairs have the same weight.
    constraint : {"ball", "box"}, default "ball"
        "ball": ‖w_h − 1‖₂ ≤ radius at each level h. "box": ``|w_σ − 1|`` ≤ radius for each
        pattern, as in the authors' published code (with radius 1).
    fixed_levels : sequence of int, default ()
        Levels whose weights remain 1; the published code fixes level 0.
    include_initial, use_edge_labels
        As for `WeisfeilerLehman`.
    random_state : int, RandomState or None
        Seed of the pairs drawn by "stochastic".
    %(normalize)s
    %(n_jobs)s
    verbose : bool or int
        Print the loss of every pass on standard error.

    Attributes
    ----------
    weights_ : list of arrays
        The learned weights, level by level.
    patterns_ : list of lists of str
        The patterns they belong to, as rooted trees.
    loss_history_ : array
        The loss at w = 1, then after every pass (only at the end for "stochastic").
    n_passes_ : int
        Number of steps or passes.
    gap_ : float or None
        A bound on the difference of the final loss and the optimum; only for "accelerated".
    classes_ : array

    References
    ----------
    Nguyen, Nguyen, Mamitsuka (2021), Learning subtree pattern importance for Weisfeiler-Lehman
    based graph kernels.

    Examples
    --------
    >>> from gramlet import WeightedWassersteinWL
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1)], ["C", "N"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = WeightedWassersteinWL(n_iter=1, solver="accelerated").fit(graphs, [0, 1, 0])
    >>> bool(kernel.loss_history_[-1] < kernel.loss_history_[0])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **REFINEMENT_CONSTRAINTS,
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "radius": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "alpha_diff": [Interval(Real, None, None, closed="neither")],
        "alpha_same": [Interval(Real, None, None, closed="neither")],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "offset": [Interval(Real, None, None, closed="neither")],
        "solver": [StrOptions({"stochastic", "batch", "accelerated"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), None],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "balanced": ["boolean"],
        "constraint": [StrOptions(set(CONSTRAINTS))],
        "fixed_levels": ["array-like"],
        "random_state": ["random_state"],
        **COMMON_CONSTRAINTS,
    }

    stored = fields(
        counter_=Instance(ColourCounter),
        weights_=ListOf(ArrayOf("float64", None, least=0.0), least=1),
        loss_history_=ArrayOf("float64", None),
        n_passes_=Integer(0),
        gap_=Optional(Number(0.0)),
        learning_rate_=Number(0.0),
        largest_gradient_=Number(0.0),
        classes_=Classes(),
    )

    def __init__(
        self,
        n_iter: int = 2,
        gamma: float = 1.0,
        *,
        radius: float | Any = 0.5,
        alpha_diff: float = 1.0,
        alpha_same: float = 0.5,
        sigma: float = 0.1,
        offset: float = 1.0,
        solver: str = "stochastic",
        learning_rate: float | None = None,
        max_iter: int = 500,
        random_state: Any = None,
        tol: float = 1e-6,
        balanced: bool = False,
        constraint: str = "ball",
        fixed_levels: Sequence[int] = (),
        include_initial: bool = True,
        use_edge_labels: bool | str = "auto",
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_iter = n_iter
        self.gamma = gamma
        self.radius = radius
        self.alpha_diff = alpha_diff
        self.alpha_same = alpha_same
        self.sigma = sigma
        self.offset = offset
        self.solver = solver
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.random_state = random_state
        self.tol = tol
        self.balanced = balanced
        self.constraint = constraint
        self.fixed_levels = fixed_levels
        self.include_initial = include_initial
        self.use_edge_labels = use_edge_labels
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def patterns_(self) -> list[list[str]]:
        """The patterns that the weights belong to, as rooted trees, level by level."""
        check_is_fitted(self)
        return self.counter_.colouring.patterns()

    def top_patterns(self, n: int = 10, level: int | None = None) -> list[Pattern]:
        """The ``n`` patterns of highest weight, of one level or of all."""
        check_is_fitted(self)
        numbers = list(self.counter_.colouring.level_numbers)
        if level is not None and level not in numbers:
            raise ValueError(f"level must be one of {numbers}; got {level!r}.")
        weights = np.concatenate(self.weights_)
        starts = self._level_starts()
        levels = np.repeat(numbers, np.diff(starts))
        texts = [text for texts in self.patterns_ for text in texts]
        eligible = np.flatnonzero((levels == level) | (level is None))
        profile: Any = self.profile_
        frequency = np.bincount(profile.masses.indices, minlength=len(weights))
        order = eligible[np.lexsort((eligible, -frequency[eligible], -weights[eligible]))]
        return [
            Pattern(int(levels[c]), texts[c], float(weights[c]), int(c), int(frequency[c]))
            for c in order[:n]
        ]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A readable name per pattern, in the order of the concatenated ``weights_``."""
        check_is_fitted(self)
        return np.array(self.counter_.names(), dtype=object)

    def generalization_bound(self, delta: float) -> float:
        """A bound on the expected loss minus the fitted loss, which holds with probability 1 − δ.

        2 k_n + (n k_n + M) sqrt((2/n) log(2/δ)), with k_n = (4/n) μ T β², β the largest gradient
        of a pair, and M the largest loss of a pair. It is proved for "stochastic" with μ ≤ 2σ/β²;
        otherwise there is a warning.
        """
        check_is_fitted(self)
        if not 0 < delta < 1:
            raise ValueError(f"delta must be in (0, 1); got {delta!r}.")
        n = self.n_fitted_
        beta = self.largest_gradient_
        if self.solver != "stochastic":
            warnings.warn(
                f'The bound is proved for solver="stochastic"; the weights were learned with '
                f"{self.solver!r}.",
                stacklevel=2,
            )
        elif self.learning_rate_ * beta**2 > 2 * self.sigma:
            warnings.warn(
                f"The bound holds for learning_rate up to {2 * self.sigma / beta**2:.3g}; "
                f"it is {self.learning_rate_:.3g}.",
                stacklevel=2,
            )
        stability = 4.0 / n * self.learning_rate_ * self.n_passes_ * beta**2
        excess = max(0.0, 1.0 + float(np.max(self._radii())) - self.offset)
        largest = max(
            self.offset - self.sigma / 2 - self.alpha_same,
            self.alpha_diff - self.sigma / 2 + excess,
        )
        spread = np.sqrt(2.0 / n * np.log(2.0 / delta))
        return float(2 * stability + (n * stability + largest) * spread)

    # Fitting

    def _check(self, batch: GraphBatch) -> None:
        check_levels(self)
        self._radii()
        self._fixed()

    def _radii(self) -> Floats:
        return _level_radii(self.radius, self.n_iter, self.include_initial)

    def _fixed(self) -> tuple[int, ...]:
        return _fixed_places(self.fixed_levels, self.n_iter, self.include_initial)

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> MassProfile:
        classes = self._check_classes(y, len(batch))
        self.counter_ = ColourCounter(
            Colouring(self.n_iter, self.include_initial, self.use_edge_labels)
        )
        masses = self._masses(self.counter_.fit(batch, tiling), batch)
        problem = self._problem(masses, classes)
        with one_blas_thread():  # vectors are too short for more, and threads that wait use a core
            weights = self._solve(problem)
        starts = self._level_starts()
        self.weights_ = [weights[a:b] for a, b in pairwise(starts)]
        # Minima are at most the masses of either graph: the largest ‖Z‖ is that of a pair (i, i).
        squares = masses.shares.multiply(masses.shares) @ problem.constraint.free
        self.largest_gradient_ = float(np.sqrt(squares.max()))
        return self._weighted(masses)

    def _check_classes(self, y: Any, n: int) -> Ints:
        if y is None:
            raise ValueError(
                "WeightedWassersteinWL requires y to be passed, but the target y is None; "
                "it learns from classes: give one per graph."
            )
        shape = np.shape(y)
        if shape != (n,):
            raise ValueError(f"y must have one class per graph, {n} of them; got shape {shape}.")
        labels = check_target(y)
        self.classes_, classes = np.unique(labels, return_inverse=True)
        if n < 2 or len(self.classes_) < 2:
            raise ValueError(
                "WeightedWassersteinWL needs at least two graphs of two classes to learn from; got "
                f"{n} of {len(self.classes_)}."
            )
        return classes.astype(np.int64)

    def _problem(self, masses: Masses, classes: Ints) -> PairProblem:
        n = len(classes)
        same = float((np.bincount(classes).astype(float) ** 2).sum())
        if self.balanced:
            weight_same, weight_diff = 0.5 / same, 0.5 / (n * n - same)
        else:
            weight_same = weight_diff = 1.0 / (n * n)
        constraint = WeightConstraint(
            self._level_starts(), self._radii(), self.constraint, self._fixed()
        )
        hinge = Hinge(
            weight_same,
            weight_diff,
            float(self.offset),
            float(self.alpha_diff),
            float(self.alpha_same),
            float(self.sigma),
        )
        return PairProblem(masses.shares, masses.empty, classes, constraint, hinge, self.n_jobs)

    def _solve(self, problem: PairProblem) -> Floats:
        self.gap_: float | None = None
        if self.solver == "stochastic":
            self.learning_rate_ = 1e-4 if self.learning_rate is None else float(self.learning_rate)
            rng = check_random_state(self.random_state)
            weights, history = pattern_weights.stochastic(
                problem, self.learning_rate_, self.max_iter, rng
            )
            self.n_passes_ = int(self.max_iter)
        else:
            given = None if self.learning_rate is None else float(self.learning_rate)
            plain = self.solver == "batch"
            if given is None:
                curvature = problem.lipschitz() if plain else problem.curvature_bound()
                self.learning_rate_ = 1.0 / curvature if curvature > 0 else 1.0
            else:
                self.learning_rate_ = given
            if plain:
                weights, history = pattern_weights.batch(
                    problem, self.learning_rate_, self.max_iter, self._report
                )
            else:
                weights, history, self.gap_ = pattern_weights.accelerated(
                    problem, self.max_iter, self.tol, given, self._report
                )
            self.n_passes_ = len(history) - 1
        self.loss_history_ = np.array(history)
        return weights

    def _report(self, done: int, loss: float) -> None:
        if self.verbose:
            print(f"[WeightedWassersteinWL] pass {done}: loss {loss:.8g}", file=sys.stderr)

    # Comparing

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> MassProfile:
        return self._weighted(self._masses(self.counter_.count(batch, tiling), batch))

    def _masses(self, counts: sparse.csr_matrix, batch: GraphBatch) -> Masses:
        known = self.counter_.colouring.n_colours
        scale = 1.0 / (np.maximum(batch.sizes, 1) * len(known))
        data = counts.data * np.repeat(scale, np.diff(counts.indptr))
        shares = sparse.csr_matrix((data, counts.indices, counts.indptr), shape=counts.shape)
        unseen = np.zeros(len(batch))
        if counts.shape[1] > sum(known):
            unseen = np.asarray((shares[:, sum(known) :]).sum(axis=1)).reshape(-1)
            shares = shares[:, : sum(known)]
        shares.sum_duplicates()  # also sorts; the stochastic solver walks two rows together
        return Masses(shares, (batch.sizes == 0).astype(np.float64), unseen)

    def _level_starts(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.counter_.colouring.n_colours)]).astype(np.int64)

    def _weighted(self, masses: Masses) -> MassProfile:
        """Shares times weights, and the symbol of empty graphs; minima of these sum to S."""
        shares, weights = masses.shares, np.concatenate(self.weights_)
        n_graphs, n_colours = shares.shape
        # An empty graph has no other entry, so its symbol is inserted where its row begins.
        empty = np.flatnonzero(masses.empty)
        whole = sparse.csr_matrix(
            (
                np.insert(shares.data * weights[shares.indices], shares.indptr[empty], 1.0),
                np.insert(shares.indices, shares.indptr[empty], n_colours),
                shares.indptr + np.searchsorted(empty, np.arange(n_graphs + 1)),
            ),
            shape=(n_graphs, n_colours + 1),
        )
        own = np.asarray(whole.sum(axis=1)).reshape(-1) + masses.unseen
        return MassProfile(whole, own, float(self.gamma), float(self.offset), bounded=False)

    def _validate_fitted(self) -> None:
        check_levels(self)
        profile: Any = self.profile_
        require_instance("profile_", profile, MassProfile)
        known = self.counter_.colouring.n_colours
        n_weights = [len(weights) for weights in self.weights_]
        require(n_weights == list(known), "weights_ must have one weight per pattern")
        Counts(None, sum(known) + 1).check("masses", profile.masses, {})

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(
            supervised=True,
            uses=refinement_uses(self),
            random=self.solver == "stochastic",
            depends_on_fitted=True,
            after_fit=("gamma", "normalize"),
            directed=True,
            refines=True,
            distances=True,
        )


def _level_radii(radius: Any, n_iter: int, include_initial: bool) -> Floats:
    """One radius per level, from one number or one per level.

    >>> _level_radii(0.5, 1, True)
    array([0.5, 0.5])
    """
    n_levels = n_iter + (1 if include_initial else 0)
    radii = np.asarray(radius, dtype=np.float64)
    if radii.ndim == 0:
        return np.full(n_levels, float(radii))
    if radii.shape != (n_levels,):
        raise ValueError(
            f"radius must be one number or one per level ({n_levels} levels here); got "
            f"{radii.size} numbers."
        )
    if not (np.isfinite(radii).all() and (radii > 0).all()):
        raise ValueError(f"Every radius must be a number above 0; got {radii.tolist()}.")
    return radii


def _fixed_places(fixed_levels: Any, n_iter: int, include_initial: bool) -> tuple[int, ...]:
    """The positions of the fixed levels among all levels, ascending and without duplicates.

    >>> _fixed_places((0, 2), 2, True), _fixed_places([2], 2, False)
    ((0, 2), (1,))
    """
    first = 0 if include_initial else 1
    for level in fixed_levels:
        if not (is_integer(level) and first <= level <= n_iter):
            raise ValueError(
                "fixed_levels must contain existing levels, "
                f"{list(range(first, n_iter + 1))} here; got {level!r}."
            )
    return tuple(sorted({int(level) - first for level in fixed_levels}))
