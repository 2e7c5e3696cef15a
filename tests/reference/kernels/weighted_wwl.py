"""The weighted Wasserstein-WL distance, its loss over ordered pairs, gradients and projections.

A pattern is (level, colour); weights are a dictionary of patterns, 1 for those not in it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from reference.kernels.weisfeiler_lehman import level_counts
from reference.plain import one_graph, plain_graphs

Pattern = tuple[int, Hashable]


@dataclass(frozen=True)
class Settings:
    """The constants of the distance and of its loss; `levels` go to the colour refinement."""

    n_iter: int = 2
    include_initial: bool = True
    use_edge_labels: bool = False
    alpha_diff: float = 1.0
    alpha_same: float = 0.5
    sigma: float = 0.1
    offset: float = 1.0

    def counts(self, graph) -> list:
        return level_counts(
            graph,
            self.n_iter,
            include_initial=self.include_initial,
            use_edge_labels=self.use_edge_labels,
        )


# Distance


def pair_vector(G, H, settings: Settings) -> dict[Pattern, float]:
    """Z: for each shared pattern, min(c_h(G,σ)/n, c_h(H,σ)/n') / |levels|."""
    G, H = one_graph(G), one_graph(H)
    counts_g, counts_h = settings.counts(G), settings.counts(H)
    vector = {}
    for level, (a, b) in enumerate(zip(counts_g, counts_h, strict=True)):
        for colour in a:
            if colour in b:
                shared = min(a[colour] / G.n, b[colour] / H.n)
                vector[level, colour] = shared / len(counts_g)
    return vector


def weighted_distance(G, H, weights: dict[Pattern, float], settings: Settings) -> float:
    """offset − (1/|levels|) Σ_h Σ_σ w_σ min(c_h(G,σ)/n, c_h(H,σ)/n').

    Empty graphs have their mass on a separate symbol, whose weight is 1 and not learned.
    """
    if one_graph(G).n == 0 and one_graph(H).n == 0:
        return settings.offset - 1.0
    vector = pair_vector(G, H, settings)
    return settings.offset - sum(weights.get(p, 1.0) * z for p, z in vector.items())


# Loss


def loss_different(d: float, settings: Settings) -> float:
    """V₁, for two graphs of different classes: they should be at least α_diff apart."""
    alpha, sigma = settings.alpha_diff, settings.sigma
    if d >= alpha:
        return 0.0
    if d <= alpha - sigma:
        return alpha - sigma / 2 - d
    return (d - alpha) ** 2 / (2 * sigma)


def loss_same(d: float, settings: Settings) -> float:
    """V₂, for two graphs of one class: they should be at most α_same apart."""
    alpha, sigma = settings.alpha_same, settings.sigma
    if d <= alpha:
        return 0.0
    if d >= alpha + sigma:
        return d - alpha - sigma / 2
    return (d - alpha) ** 2 / (2 * sigma)


def loss(X, y: Sequence, weights: dict[Pattern, float], settings: Settings) -> float:
    """The mean of V₁ or V₂ over all n² ordered pairs, including a graph with itself."""
    graphs = plain_graphs(X)
    total = 0.0
    for i, G in enumerate(graphs):
        for j, H in enumerate(graphs):
            d = weighted_distance(G, H, weights, settings)
            total += loss_same(d, settings) if y[i] == y[j] else loss_different(d, settings)
    return total / len(graphs) ** 2


def slope(d: float, same: bool, settings: Settings) -> float:
    """The factor s in ∇V = s Z: up to 1 for different classes, down to −1 for one class."""
    sigma = settings.sigma
    if same:
        return -min(1.0, max(0.0, (d - settings.alpha_same) / sigma))
    return min(1.0, max(0.0, (settings.alpha_diff - d) / sigma))


def pair_gradient(G, H, same: bool, weights, settings: Settings) -> dict[Pattern, float]:
    """∇V₁ or ∇V₂ of one pair with respect to the weights."""
    factor = slope(weighted_distance(G, H, weights, settings), same, settings)
    return {p: factor * z for p, z in pair_vector(G, H, settings).items()}


def gradient(X, y: Sequence, weights, settings: Settings) -> dict[Pattern, float]:
    """The gradient of the mean loss: one entry for each pattern of the graphs."""
    graphs = plain_graphs(X)
    total = dict.fromkeys(patterns(graphs, settings), 0.0)
    for i, G in enumerate(graphs):
        for j, H in enumerate(graphs):
            for p, value in pair_gradient(G, H, bool(y[i] == y[j]), weights, settings).items():
                total[p] += value / len(graphs) ** 2
    return total


def patterns(X, settings: Settings) -> list[Pattern]:
    """Every pattern that occurs, once."""
    found: dict[Pattern, None] = {}
    for graph in plain_graphs(X):
        for level, counts in enumerate(settings.counts(graph)):
            found.update(dict.fromkeys((level, colour) for colour in counts))
    return list(found)


# Constraint


def project_level(w, radius: float) -> np.ndarray:
    """The point nearest to w with ‖w − 1‖₂ ≤ radius and w ≥ 0.

    It has the form max(0, (w + λ)/(1 + λ)); the multiplier λ ≥ 0 is found by bisection.
    """
    w = np.asarray(w, dtype=float)
    if radius == 0:
        return np.ones_like(w)

    def point(multiplier: float) -> np.ndarray:
        return np.maximum(0.0, (w + multiplier) / (1.0 + multiplier))

    def outside(multiplier: float) -> bool:
        return float(np.linalg.norm(point(multiplier) - 1.0)) > radius

    if not outside(0.0):
        return point(0.0)
    low, high = 0.0, 1.0
    while outside(high):
        high *= 2.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if outside(middle) else (low, middle)
    return point(high)


def project_box(w, radius: float) -> np.ndarray:
    """Each weight separately, clipped to [max(0, 1 − radius), 1 + radius]."""
    return np.array([min(max(value, max(0.0, 1.0 - radius)), 1.0 + radius) for value in w])


def project(
    weights: dict[Pattern, float],
    radius,
    constraint: str = "ball",
    fixed: Sequence[int] = (),
) -> dict[Pattern, float]:
    """Each level separately; `radius` is a number or one number per level.

    The weights of the levels in `fixed` (positions among the levels present) are 1.
    """
    projected = dict(weights)
    onto = {"ball": project_level, "box": project_box}[constraint]
    for level in {level for level, _ in weights}:
        own = [p for p in weights if p[0] == level]
        own_radius = radius if np.isscalar(radius) else radius[level]
        values = onto([weights[p] for p in own], float(own_radius))
        if level in fixed:
            values = np.ones(len(own))
        projected.update(zip(own, values.tolist(), strict=True))
    return projected


def fixed_places(fixed_levels: Sequence[int], settings: Settings) -> list[int]:
    """The positions of the levels h among those present: h, or h − 1 without level 0."""
    first = 0 if settings.include_initial else 1
    for h in fixed_levels:
        if not first <= h <= settings.n_iter:
            raise ValueError(f"There is no level {h}.")
    return [h - first for h in fixed_levels]


# Descent


def projected_gradient(
    X,
    y,
    radius,
    learning_rate: float,
    n_passes: int,
    settings: Settings,
    constraint: str = "ball",
    fixed_levels: Sequence[int] = (),
):
    """Steps on the full loss from w = 1; returns the weights and the losses of all steps."""
    graphs, fixed = plain_graphs(X), fixed_places(fixed_levels, settings)
    weights = dict.fromkeys(patterns(graphs, settings), 1.0)
    history = [loss(graphs, y, weights, settings)]
    for _ in range(n_passes):
        slopes = gradient(graphs, y, weights, settings)
        moved = {p: w - learning_rate * slopes[p] for p, w in weights.items()}
        weights = project(moved, radius, constraint, fixed)
        history.append(loss(graphs, y, weights, settings))
    return weights, history


def stochastic_descent(
    X,
    y,
    pairs,
    radius,
    learning_rate: float,
    settings: Settings,
    constraint: str = "ball",
    fixed_levels: Sequence[int] = (),
):
    """One step per given ordered pair (i, j), from w = 1; returns the weights."""
    graphs, fixed = plain_graphs(X), fixed_places(fixed_levels, settings)
    weights = dict.fromkeys(patterns(graphs, settings), 1.0)
    for i, j in pairs:
        slopes = pair_gradient(graphs[i], graphs[j], bool(y[i] == y[j]), weights, settings)
        moved = {p: w - learning_rate * slopes.get(p, 0.0) for p, w in weights.items()}
        weights = project(moved, radius, constraint, fixed)
    return weights


# Bound


def largest_vector(X, settings: Settings, fixed_levels: Sequence[int] = ()) -> float:
    """β = max ‖Z‖₂ over all ordered pairs, including a graph with itself; free levels only."""
    graphs, fixed = plain_graphs(X), fixed_places(fixed_levels, settings)
    return max(
        math.sqrt(sum(z * z for p, z in pair_vector(G, H, settings).items() if p[0] not in fixed))
        for G in graphs
        for H in graphs
    )


def generalization_bound(
    X,
    radius,
    learning_rate: float,
    n_steps: int,
    delta: float,
    settings: Settings,
    fixed_levels: Sequence[int] = (),
) -> float:
    """2k_n + (n k_n + M) sqrt((2/n) ln(2/δ)), k_n = (4/n) μ T L² with L = β."""
    n = len(X)
    lipschitz = largest_vector(X, settings, fixed_levels)
    stability = 4.0 / n * learning_rate * n_steps * lipschitz**2
    widest = float(np.max(radius))
    largest_loss = max(
        settings.offset - settings.sigma / 2 - settings.alpha_same,
        settings.alpha_diff - settings.sigma / 2 + max(0.0, 1.0 + widest - settings.offset),
    )
    return 2 * stability + (n * stability + largest_loss) * math.sqrt(
        2.0 / n * math.log(2.0 / delta)
    )
