"""The marginalised kernel by one dense system per pair of graphs, and its derivatives.

Derivatives are computed in two ways: by differentiating the system, M x' = b' − M'x, and by central
differences of the kernel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from reference.building import rows_and_columns
from reference.plain import PlainGraph

PARAMETERS = ("stop", "node_floor", "edge_floor", "node_scale", "edge_scale")


@dataclass(frozen=True)
class Options:
    """The parameters of MarginalizedKernel."""

    stop: float = 0.05
    node_kernel: str = "label"
    edge_kernel: str = "label"
    node_floor: float = 0.0
    edge_floor: float = 0.0
    node_scale: float = 1.0
    edge_scale: float = 1.0
    weighted: bool = False
    start: str = "uniform"


def part_kernel(kind, same: bool, difference, floor: float, scale: float) -> tuple:
    """κ of two nodes or two edges, and its derivatives with respect to floor and scale."""
    label, gaussian = 1.0, 1.0
    by_floor, by_scale = 0.0, 0.0
    if "label" in kind:
        label = floor + (1.0 - floor) * float(same)
        by_floor = 1.0 - float(same)
    if "gaussian" in kind:
        square = float(sum(x * x for x in difference))
        gaussian = math.exp(-square / (2.0 * scale**2))
        by_scale = gaussian * square / scale**3
    return label * gaussian, by_floor * gaussian, label * by_scale


def node_part(G: PlainGraph, H: PlainGraph, v: int, w: int, o: Options) -> tuple:
    difference = G.attributes[v] - H.attributes[w] if "gaussian" in o.node_kernel else ()
    same = bool(G.labels[v] == H.labels[w])
    return part_kernel(o.node_kernel, same, difference, o.node_floor, o.node_scale)


def edge_part(G: PlainGraph, H: PlainGraph, e: tuple, f: tuple, o: Options) -> tuple:
    gaussian = "gaussian" in o.edge_kernel
    difference = np.subtract(G.edge_attributes[e], H.edge_attributes[f]) if gaussian else ()
    same = bool(G.edge_labels[e] == H.edge_labels[f])
    return part_kernel(o.edge_kernel, same, difference, o.edge_floor, o.edge_scale)


def step_probability(graph: PlainGraph, v: int, u: int, weighted: bool) -> float:
    """w_vu / d_v."""
    if not weighted:
        return 1.0 / len(graph.neighbours[v])
    return graph.weights[v, u] / sum(graph.weights[v, other] for other in graph.neighbours[v])


def parts(G: PlainGraph, H: PlainGraph, o: Options):
    """Pairs of nodes, (κ_V, its derivatives) as vectors and (walk matrix, its derivatives)."""
    nodes = [(v, w) for v in range(G.n) for w in range(H.n)]
    place = {pair: i for i, pair in enumerate(nodes)}
    kappa = np.array([node_part(G, H, v, w, o) for v, w in nodes]).T
    walk = np.zeros((3, len(nodes), len(nodes)))
    for (v, w), i in place.items():
        for u in G.neighbours[v]:
            for t in H.neighbours[w]:
                chance = step_probability(G, v, u, o.weighted) * step_probability(
                    H, w, t, o.weighted
                )
                values = edge_part(G, H, (v, u), (w, t), o)
                walk[:, i, place[u, t]] += chance * np.array(values)
    return kappa, walk


def marginalized_pair(G: PlainGraph, H: PlainGraph, o: Options) -> tuple[float, dict[str, float]]:
    """k(G, H) and its derivatives with respect to all five parameters.

    x = κ ∘ (q² + (1−q)² W x), a dense system M x = q² κ with M = I − (1−q)² diag(κ) W.
    """
    if G.n == 0 or H.n == 0:
        return 0.0, dict.fromkeys(PARAMETERS, 0.0)
    (kappa, kappa_floor, kappa_scale), (W, W_floor, W_scale) = parts(G, H, o)
    q = o.stop
    M = np.eye(len(kappa)) - (1 - q) ** 2 * kappa[:, None] * W
    x = np.linalg.solve(M, q**2 * kappa)
    p = np.full(len(kappa), 1.0 if o.start == "ones" else 1.0 / (G.n * H.n))
    # The derivative of κ ∘ (q² + (1−q)² W x) with x held fixed, per parameter.
    inner = q**2 + (1 - q) ** 2 * (W @ x)
    changes = {
        "stop": kappa * (2 * q - 2 * (1 - q) * (W @ x)),
        "node_floor": kappa_floor * inner,
        "edge_floor": kappa * (1 - q) ** 2 * (W_floor @ x),
        "node_scale": kappa_scale * inner,
        "edge_scale": kappa * (1 - q) ** 2 * (W_scale @ x),
    }
    slopes = {name: float(p @ np.linalg.solve(M, change)) for name, change in changes.items()}
    return float(p @ x), slopes


def marginalized(graphs, other=None, normalize: bool = False, **params) -> np.ndarray:
    """The matrix of MarginalizedKernel: rows `graphs`, columns the fitted graphs `other`."""
    o = Options(**params)
    rows, columns = rows_and_columns(graphs, other)
    values = np.array([[marginalized_pair(x, y, o)[0] for y in columns] for x in rows])
    values = values.reshape(len(rows), len(columns))
    if normalize:
        own_x = [marginalized_pair(x, x, o)[0] for x in rows]
        own_y = [marginalized_pair(y, y, o)[0] for y in columns]
        for i, a in enumerate(own_x):
            for j, b in enumerate(own_y):
                values[i, j] = values[i, j] / math.sqrt(a * b) if a > 0 and b > 0 else 0.0
    return values


def parameters_in_use(o: Options) -> list[str]:
    """ "stop", a floor for each kernel "label", a scale for each kernel "gaussian"; in order."""
    used = {
        "stop": True,
        "node_floor": "label" in o.node_kernel,
        "edge_floor": "label" in o.edge_kernel,
        "node_scale": "gaussian" in o.node_kernel,
        "edge_scale": "gaussian" in o.edge_kernel,
    }
    return [name for name in PARAMETERS if used[name]]


def gram_with_gradient(
    graphs, normalize: bool = False, **params
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """K and ∂K/∂parameter for the parameters in use, by differentiating the system."""
    o = Options(**params)
    rows, _ = rows_and_columns(graphs)
    n = len(rows)
    names = parameters_in_use(o)
    K, slopes = np.zeros((n, n)), {name: np.zeros((n, n)) for name in names}
    for i, x in enumerate(rows):
        for j, y in enumerate(rows):
            K[i, j], of_pair = marginalized_pair(x, y, o)
            for name in names:
                slopes[name][i, j] = of_pair[name]
    if not normalize:
        return K, slopes
    own = np.diag(K)
    normal = np.zeros((n, n))
    normal_slopes = {name: np.zeros((n, n)) for name in names}
    for i in range(n):
        for j in range(n):
            if own[i] > 0 and own[j] > 0:
                root = math.sqrt(own[i] * own[j])
                normal[i, j] = K[i, j] / root
                for name in names:
                    S = slopes[name]
                    own_share = S[i, i] / (2 * own[i]) + S[j, j] / (2 * own[j])
                    normal_slopes[name][i, j] = S[i, j] / root - normal[i, j] * own_share
    return normal, normal_slopes


def gradient_by_differences(
    graphs, normalize: bool = False, step: float = 1e-5, **params
) -> dict[str, np.ndarray]:
    """∂K/∂parameter by central differences; the definition also holds outside the limits."""
    o = Options(**params)
    slopes = {}
    for name in parameters_in_use(o):
        value = getattr(o, name)
        up, down = replace(o, **{name: value + step}), replace(o, **{name: value - step})
        difference = marginalized(graphs, normalize=normalize, **vars(up)) - marginalized(
            graphs, normalize=normalize, **vars(down)
        )
        slopes[name] = difference / (2 * step)
    return slopes
