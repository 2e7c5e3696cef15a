"""Graphs with planted substructures: classes that differ in one small pattern.

The pattern is a node labelled 0 with the neighbours 1, 2 and 0. Substructures for training and
for testing share little except the pattern, so that kernels which weigh all patterns equally are
misled and kernels that learn weights are not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Ints
from gramlet.common.checks import require_count
from gramlet.common.randomness import as_generator
from gramlet.files.dataset import Dataset
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical

__all__ = ["planted_subtrees"]

# Labels and parents of the eight trees. Nodes 0, 1, 2, 3 are the same in all except for two labels:
# a core labelled 0, its two leaves, and node 3, labelled 0, to which the rest is attached.
_SUBSTRUCTURES = (
    ((0, 1, 2, 0, 2, 0, 2, 0), (3, 3, 4, 4)),
    ((0, 1, 2, 0, 2, 0, 1, 2), (3, 3, 5, 4)),
    ((0, 1, 1, 0, 2, 0, 0, 0), (3, 4, 4, 5)),
    ((0, 2, 2, 0, 1, 0, 1, 0), (3, 3, 4, 4)),
    ((0, 1, 2, 0, 1, 0, 1, 1), (3, 4, 3, 4)),
    ((0, 1, 2, 0, 0, 1, 1, 0), (3, 4, 5, 4)),
    ((0, 1, 1, 0, 1, 2, 2, 0), (3, 4, 5, 6)),
    ((0, 1, 1, 0, 2, 2, 0, 2), (3, 3, 4, 3)),
)
_POSITIVE = (1, 2, 5, 6)
_TRAINING = (1, 2, 3, 4)
_FIRST_OPEN = 3  # no noise at the core and its two leaves
_N_LABELS = 3


def planted_subtrees(
    n_per_group: int = 20,
    n_noise_nodes: int = 3,
    n_noise_edges: int = 1,
    random_state: Any = None,
) -> Dataset:
    """Eight groups of noisy graphs, in two classes that differ in one subtree pattern.

    Every graph is one of eight trees of eight nodes with noise added. Trees 1, 2, 5 and 6 (class
    +1) contain the pattern 1-0(-2)-0, a node labelled 0 whose neighbours are labelled 1, 2 and 0;
    the others (class −1) do not. Groups 1 to 4 are for training, 5 to 8 for testing. Tree 5 is
    exactly as far from tree 2, of its own class, as from tree 4, of the other one, at every level
    of Weisfeiler-Lehman refinement up to 2. With the defaults, an SVM on the Wasserstein
    Weisfeiler-Lehman kernel with two rounds is right on about five test graphs in six, and on 19 of
    20 with learned weights of the patterns.

    Noise consists of nodes with a random label, added one after the other and each joined to a
    random node, and then of random edges between nodes that are not adjacent. No noise is added at
    the core of the pattern (the node in the middle and its two leaves), so that every graph of
    class +1 contains the pattern. More noise makes graphs of one group less similar.

    Parameters
    ----------
    n_per_group : int
    n_noise_nodes, n_noise_edges : int
        Added to each graph.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    Dataset
        ``graphs`` (node labels 0, 1, 2), ``target`` (+1 or −1), ``group`` (1 to 8), the masks
        ``train`` and ``test``, and ``substructures``, the eight trees without noise.

    References
    ----------
    The experiment is that of Nguyen, Nguyen, Mamitsuka (2021), Learning subtree pattern importance
    for Weisfeiler-Lehman based graph kernels, section 5.1; the trees are this library's own.

    Examples
    --------
    >>> from gramlet.files.datasets.synthetic import planted_subtrees
    >>> data = planted_subtrees(random_state=0)
    >>> data.graphs
    GraphBatch(160 graphs, 1760 nodes, 1760 edges, 3 node labels)
    >>> data.graphs[data.train], data.target[data.train].sum()
    (GraphBatch(80 graphs, 880 nodes, 880 edges, 3 node labels), np.int64(0))
    """
    rng = as_generator(random_state)
    n_per_group = require_count("n_per_group", n_per_group, 1)
    n_noise_nodes = require_count("n_noise_nodes", n_noise_nodes, 0)
    n_noise_edges = require_count("n_noise_edges", n_noise_edges, 0)
    labels, parents = _trees()
    group = np.repeat(np.arange(1, len(labels) + 1), n_per_group)
    graphs = _with_noise(rng, labels[group - 1], parents[group - 1], n_noise_nodes, n_noise_edges)
    train = np.isin(group, _TRAINING)
    return Dataset(
        graphs,
        np.where(np.isin(group, _POSITIVE), 1, -1),
        name="planted subtrees",
        description="Graphs with (+1) and without (-1) a node labelled 0 between 1, 2 and 0.",
        target_names={1: "with the pattern", -1: "without the pattern"},
        group=group,
        train=train,
        test=~train,
        substructures=_with_noise(rng, labels, parents, 0, 0),
    )


def _trees() -> tuple[Ints, Ints]:
    """Labels of the eight trees' nodes, and the parents of all nodes but the first."""
    labels = np.array([labels for labels, _ in _SUBSTRUCTURES], dtype=np.int64)
    parents = np.array([(0, 0, 0, *rest) for _, rest in _SUBSTRUCTURES], dtype=np.int64)
    return labels, parents


def _with_noise(
    rng: np.random.Generator,
    labels: Ints,
    parents: Ints,
    n_nodes: int,
    n_edges: int,
) -> GraphBatch:
    """The trees, one per row, each with as many nodes and edges added at random."""
    n_graphs, size = labels.shape
    noise_labels = rng.integers(_N_LABELS, size=(n_graphs, n_nodes))
    # The k-th new node is joined to any node before it that noise may touch.
    noise_parents = rng.integers(_FIRST_OPEN, np.arange(size, size + n_nodes), (n_graphs, n_nodes))
    labels = np.concatenate([labels, noise_labels], axis=1)
    parents = np.concatenate([parents, noise_parents], axis=1)
    offsets = np.arange(n_graphs + 1) * labels.shape[1]
    children = np.broadcast_to(np.arange(1, labels.shape[1]), parents.shape)
    graph, low, high = _noise_edges(rng, parents, children, n_edges)
    start = offsets[:-1, None]
    return GraphBatch.from_arcs(
        offsets,
        np.concatenate([(parents + start).ravel(), low + offsets[graph]]),
        np.concatenate([(children + start).ravel(), high + offsets[graph]]),
        node_labels=Categorical(labels.ravel(), range(_N_LABELS)),
    )


def _noise_edges(
    rng: np.random.Generator, parents: Ints, children: Ints, n_edges: int
) -> tuple[Ints, Ints, Ints]:
    """Graph and ends of ``n_edges`` new edges per graph, any free pairs being equally likely."""
    n_graphs, n_nodes = len(parents), parents.shape[1] + 1
    joined = np.zeros((n_graphs, n_nodes, n_nodes), dtype=bool)
    joined[np.arange(n_graphs)[:, None], parents, children] = True
    low, high = np.triu_indices(n_nodes, 1)
    free = ~joined[:, low, high] & (low >= _FIRST_OPEN)
    room = int(free.sum(axis=1).min())
    if n_edges > room:
        raise ValueError(
            f"n_noise_edges={n_edges} is more than the {room} pairs of nodes that noise may join; "
            "lower it, or raise n_noise_nodes."
        )
    # Choosing the pairs with the smallest of independent random numbers is a uniform choice.
    order = np.argsort(np.where(free, rng.random(free.shape), np.inf), axis=1)[:, :n_edges]
    return np.repeat(np.arange(n_graphs), n_edges), low[order].ravel(), high[order].ravel()
