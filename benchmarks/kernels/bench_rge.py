"""Earth mover's distances compared with loops over POT, pyramid match with GraKeL, and growth.

POT gets the same points and masses, computed in advance; its loop computes the costs with scipy, as
a user would.
"""

from __future__ import annotations

import importlib.util
from collections import Counter
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import Case, Growth, register, same_matrices
from benchmarks.data import Source, to_grakel
from gramlet import (
    EMDKernel,
    GraphBatch,
    PyramidMatch,
    RandomGraphEmbedding,
    random_labelled_graphs,
)
from gramlet.kernels.spectral.earth_mover import NodeReader

Floats = NDArray[np.float64]
EMBEDDING = {"n_components": 128, "n_dims": 6, "max_nodes": 15, "random_state": 0}


class Clouds(NamedTuple):
    """Graphs, and for the peer their nodes as points with masses, and the random graphs."""

    graphs: GraphBatch
    points: list[Floats]
    masses: list[Floats]
    anchors: list[tuple[Floats, Floats]]


def needs_pot() -> str | None:
    """Why the loop over POT cannot be run, if so."""
    return None if importlib.util.find_spec("ot") else "not installed: POT"


def clouds(source: Source, name: str, n_graphs: int | None = None) -> Clouds:
    """Graphs of a data set, and their nodes with coordinates and one-hot labels."""
    graphs = source.load(name, n_graphs)
    reader = NodeReader(EMBEDDING["n_dims"], "auto")
    nodes = reader.fit(graphs, 1)
    one_hot = np.eye(len(reader.labels) + 1)[nodes.labels]
    rows = np.hstack([nodes.points, one_hot])
    pieces = [
        np.arange(first, last)
        for first, last in zip(nodes.offsets[:-1], nodes.offsets[1:], strict=True)
    ]
    # In graphs with edges, isolated nodes have no mass; POT does not get them either.
    pieces = [p[nodes.degrees[p] > 0] if nodes.degrees[p].any() else p for p in pieces]
    degrees = [np.maximum(nodes.degrees[p], 1).astype(np.float64) for p in pieces]
    anchors = RandomGraphEmbedding(**EMBEDDING).fit(graphs).anchors_
    return Clouds(graphs, [rows[p] for p in pieces], [d / d.sum() for d in degrees], anchors)


def our_embedding(data: Clouds) -> Floats:
    return RandomGraphEmbedding(**EMBEDDING).fit_transform(data.graphs)


def pot_embedding(data: Clouds) -> Floats:
    import ot
    from scipy.spatial.distance import cdist

    features = np.zeros((len(data.points), len(data.anchors)))
    for i, (points, masses) in enumerate(zip(data.points, data.masses, strict=True)):
        for j, (places, weights) in enumerate(data.anchors):
            features[i, j] = np.exp(-ot.emd2(masses, weights, cdist(points, places)))
    return features / np.sqrt(len(data.anchors))


def our_kernel(data: Clouds) -> Floats:
    return EMDKernel().fit_transform(data.graphs)


def pot_kernel(data: Clouds) -> Floats:
    import ot
    from scipy.spatial.distance import cdist

    matrix = np.ones((len(data.points), len(data.points)))
    for i in range(len(matrix)):
        for j in range(i):
            costs = cdist(data.points[i], data.points[j])
            distance = ot.emd2(data.masses[i], data.masses[j], costs)
            matrix[i, j] = matrix[j, i] = np.exp(-distance)
    return matrix


def batch_only(source: Source, name: str) -> GraphBatch:
    return source.load(name)


def whole_embedding(graphs: GraphBatch) -> Floats:
    return RandomGraphEmbedding(**EMBEDDING).fit_transform(graphs)


# Pyramid match: GraKeL's L = 5 corresponds to our levels 0..4. Its values differ for two reasons:
# it sorts the six dimensions by eigenvalue instead of magnitude, and repeats the weighted sum at
# every level. The check computes both values from one plain definition.


class Both(NamedTuple):
    """The same graphs for both sides, and some whose eigenvectors are unique up to sign."""

    ours: GraphBatch
    peer: list[Any]
    definite: list[int]


def both(source: Source, name: str, n_graphs: int | None = None) -> Both:
    """Graphs for both sides."""
    graphs = source.load(name, n_graphs)
    definite = [i for i in range(min(len(graphs), 400)) if _is_definite(graphs[i])]
    return Both(graphs, to_grakel(graphs), definite[:12])


def _is_definite(graph: GraphBatch) -> bool:
    """Whether leading eigenvalues differ in magnitude and no coordinate is on a border."""
    if graph.n_nodes_total < 8:
        return False
    values, vectors = np.linalg.eigh(graph.adjacency(0))
    order = np.argsort(-np.abs(values))[:7]
    cells = np.abs(vectors[:, order[:6]]) * 16
    apart = (np.abs(values[order[:6]]) - np.abs(values[order[1:7]]) > 1e-6).all()
    return bool(apart and (np.abs(cells - np.round(cells)) > 1e-6).all())


def plain_matches(graph: GraphBatch, other: GraphBatch, algebraic: bool) -> list[float]:
    """I_0..I_4 by counting, with dimensions by decreasing magnitude or by decreasing eigenvalue."""
    counts: list[list[Counter[Any]]] = []
    for one in (graph, other):
        values, vectors = np.linalg.eigh(one.adjacency(0))
        order = np.argsort(-np.abs(values))[:6]
        order = order[np.argsort(-values[order])] if algebraic else order
        points = np.abs(vectors[:, order])
        labels = list(one.node_labels or [0] * len(points))
        counts.append(
            [
                Counter(
                    (label, d, min(int(u * 2**level), 2**level - 1))
                    for label, row in zip(labels, points, strict=True)
                    for d, u in enumerate(row)
                )
                for level in range(5)
            ]
        )
    return [float((a & b).total()) for a, b in zip(*counts, strict=True)]


def weighted_sum(matches: list[float]) -> float:
    """I_L + Σ_{l<L} (I_l − I_{l+1}) / 2^{L−l}."""
    last = len(matches) - 1
    new = sum((matches[p] - matches[p + 1]) / 2 ** (last - p) for p in range(last))
    return matches[last] + new


def our_pyramid(data: Both) -> tuple[Floats, Both]:
    return PyramidMatch(n_dims=6, n_levels=4).fit_transform(data.ours), data


def grakel_pyramid(data: Both) -> Floats:
    from grakel import PyramidMatch as Peer

    return np.asarray(Peer(L=5, d=6, with_labels=True).fit_transform(data.peer))


def both_as_defined(ours: tuple[Floats, Both], theirs: Floats) -> None:
    """The values of each side on some graphs, computed with its own order and sum."""
    matrix, data = ours
    assert data.definite, "no graph whose eigenvectors have one meaning"
    for i in data.definite:
        for j in data.definite:
            pair = (data.ours[i], data.ours[j])
            same_matrices([weighted_sum(plain_matches(*pair, algebraic=False))], [matrix[i, j]])
            matches = plain_matches(*pair, algebraic=True)
            known = [[*matches[: p + 1], *[0.0] * (4 - p)] for p in range(5)]
            same_matrices([sum(weighted_sum(part) for part in known)], [theirs[i, j]])


register(
    Case(
        name="rge",
        title="RandomGraphEmbedding(128, max_nodes=15, n_dims=6), 200 graphs of NCI1",
        data=partial(clouds, name="NCI1", n_graphs=200),
        ours=our_embedding,
        peer=pot_embedding,
        peer_name="loop over POT's emd2 (coordinates given)",
        needs=needs_pot,
        target_ratio=20.0,
    )
)
register(
    Case(
        name="rge-mutag",
        title="RandomGraphEmbedding(128, max_nodes=15, n_dims=6), MUTAG",
        data=partial(batch_only, name="MUTAG"),
        ours=whole_embedding,
        target_seconds=1.0,
    )
)
register(
    Case(
        name="rge-nci1",
        title="RandomGraphEmbedding(128, max_nodes=15, n_dims=6), all of NCI1",
        data=partial(batch_only, name="NCI1"),
        ours=whole_embedding,
        target_seconds=379.0,
    )
)
register(
    Case(
        name="emd",
        title="Gram matrix of EMDKernel(n_dims=6), MUTAG",
        data=partial(clouds, name="MUTAG"),
        ours=our_kernel,
        peer=pot_kernel,
        peer_name="loop over POT's emd2 (coordinates given)",
        needs=needs_pot,
        target_ratio=10.0,
    )
)
register(
    Case(
        name="pyramid-match",
        title="Gram matrix of PyramidMatch(n_dims=6, n_levels=4), 500 graphs of NCI1",
        data=partial(both, name="NCI1", n_graphs=500),
        ours=our_pyramid,
        peer=grakel_pyramid,
        peer_name="GraKeL, L=5 (other order of dimensions, other sum)",
        check=both_as_defined,
        target_ratio=20.0,
    )
)
register(
    Growth(
        name="rge-graphs",
        title="RandomGraphEmbedding of N graphs with 100 nodes and 200 edges",
        sizes=(125, 250, 500, 1000, 2000),
        data=lambda size: random_labelled_graphs(size, 100, 200, n_labels=0, random_state=0),
        ours=whole_embedding,
        size_of=len,
        unit="graphs",
        target_exponent=1.1,
    )
)
register(
    Growth(
        name="rge-nodes",
        title="RandomGraphEmbedding of 40 graphs with n nodes and 2 n edges",
        sizes=(50, 100, 200, 500, 1000),
        data=lambda size: random_labelled_graphs(40, size, 2 * size, n_labels=0, random_state=0),
        ours=whole_embedding,
        size_of=lambda batch: int(batch.sizes[0]),
        unit="nodes",
        target_exponent=1.3,
    )
)
