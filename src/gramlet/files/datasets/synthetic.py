"""Random graphs, for experiments with a known answer and for timing.

Block models whose classes differ in structure but not in degree, uniform graphs of a given size,
and graphs with planted substructures: there the classes differ in one small pattern, a node
labelled 0 with the neighbours 1, 2 and 0. Substructures for training and for testing share little
except the pattern, so that kernels which weigh all patterns equally are misled and kernels that
learn weights are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gramlet.common.arrays import Floats, Ints
from gramlet.common.checks import require_count
from gramlet.common.randomness import as_generator
from gramlet.files.dataset import Dataset
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.build import ranges
from gramlet.graphs.columns import Categorical

# Random numbers drawn at once: limits the memory, does not change the result.
_CHUNK = 1 << 22


def stochastic_block_model_classes(
    n_graphs: int = 300,
    n_nodes: int = 60,
    n_communities: int = 6,
    expected_degree: float = 10.0,
    within_prob: float = 0.3,
    similarity: float = 1.2,
    random_state: Any = None,
) -> Dataset:
    """Two classes of community graphs with the same expected degree.

    Nodes belong to communities of equal size b. Two nodes are joined with probability p_in if they
    are in the same community and p_out if not. Class 0 has p_in = ``within_prob``, class 1 has r
    times that; with p_out = (d − (b − 1) p_in) / (n − b) the expected degree is d in both classes,
    so that degrees do not distinguish them. The closer r is to 1, the harder the problem. Cost:
    O(n²) per graph.

    Parameters
    ----------
    n_graphs : int
        In both classes together; classes alternate.
    n_nodes, n_communities : int
        Per graph; the second must divide the first.
    expected_degree : float
        d, the same in both classes.
    within_prob : float
        p_in of class 0.
    similarity : float
        r, the ratio of the two p_in.
    random_state : int, Generator, RandomState or None

    Returns
    -------
    Dataset
        ``graphs`` (without labels), ``target`` (0 or 1), and the two classes' ``within_prob`` and
        ``between_prob``.

    References
    ----------
    Ghanem, Keriven, Tremblay (2021), Fast graph kernel with optical random features: 300 graphs of
    60 nodes in 6 communities, p_in = 0.3, d = 10, and r from 1.2 up.

    Examples
    --------
    >>> from gramlet.files.datasets.synthetic import stochastic_block_model_classes
    >>> data = stochastic_block_model_classes(n_graphs=4, random_state=0)
    >>> data.target.tolist(), data.graphs.sizes.tolist()
    ([0, 1, 0, 1], [60, 60, 60, 60])
    >>> data.between_prob.round(4).tolist()
    [0.146, 0.1352]
    """
    rng = as_generator(random_state)
    n_graphs = require_count("n_graphs", n_graphs, 0)
    n_nodes = require_count("n_nodes", n_nodes, 2)
    n_communities = require_count("n_communities", n_communities, 2)
    if n_nodes % n_communities:
        raise ValueError(
            f"n_communities={n_communities} must divide n_nodes={n_nodes}: communities of unequal "
            "size would have unequal degrees."
        )
    within = np.array([within_prob, within_prob * similarity], dtype=np.float64)
    between = _between_prob(within, n_nodes, n_communities, expected_degree)
    high, low = np.tril_indices(n_nodes, -1)
    community = np.arange(n_nodes) // (n_nodes // n_communities)
    together = community[high] == community[low]
    probability = np.where(together, within[:, None], between[:, None])
    target = np.arange(n_graphs) % 2
    graph, pair = _bernoulli(rng, probability, target)
    offsets = np.arange(n_graphs + 1, dtype=np.int64) * n_nodes
    graphs = GraphBatch.from_arcs(offsets, high[pair] + offsets[graph], low[pair] + offsets[graph])
    return Dataset(
        graphs,
        target,
        name="stochastic block model",
        description=f"Two classes of {n_communities} communities that differ in p_in by a factor "
        f"of {similarity:g} at the expected degree {expected_degree:g}.",
        within_prob=within,
        between_prob=between,
    )


def _between_prob(within: Floats, n_nodes: int, n_communities: int, degree: float) -> Floats:
    size = n_nodes // n_communities
    between = (degree - (size - 1) * within) / (n_nodes - size)
    for name, values in (("within", within), ("between", between)):
        wrong = np.flatnonzero(~((values >= 0) & (values <= 1)))
        if len(wrong):
            k = int(wrong[0])
            raise ValueError(
                f"Class {k} would need p_{name} = {values[k]:.4g}, which is not a probability "
                f"(p_within = {within[k]:.4g} with communities of {size} nodes and an expected "
                f"degree of {degree:g}). Change within_prob, similarity or expected_degree."
            )
    return np.asarray(between)


def _bernoulli(rng: np.random.Generator, probability: Floats, kind: Ints) -> tuple[Ints, Ints]:
    """Rows and columns of the successes; row i is drawn with ``probability[kind[i]]``."""
    rows, columns = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    step = max(1, _CHUNK // probability.shape[1])
    for first in range(0, len(kind), step):
        chosen = kind[first : first + step]
        success = rng.random((len(chosen), probability.shape[1])) < probability[chosen]
        row, column = np.nonzero(success)
        rows.append(row + first)
        columns.append(column)
    return np.concatenate(rows), np.concatenate(columns)


def random_labelled_graphs(
    n_graphs: int,
    n_nodes: int | Sequence[int],
    n_edges: int | Sequence[int],
    n_labels: int = 0,
    random_state: Any = None,
) -> GraphBatch:
    """Graphs drawn uniformly among the simple graphs with given numbers of nodes and edges.

    Cost: O(nodes + edges), without a loop over graphs.

    Parameters
    ----------
    n_graphs : int
    n_nodes, n_edges : int, or one int per graph
    n_labels : int
        Node labels are uniform on 0, ..., n_labels − 1; 0 gives graphs without labels.
    random_state : int, Generator, RandomState or None

    Examples
    --------
    >>> from gramlet.files.datasets.synthetic import random_labelled_graphs
    >>> random_labelled_graphs(1000, n_nodes=100, n_edges=200, n_labels=5, random_state=0)
    GraphBatch(1000 graphs, 100000 nodes, 200000 edges, 5 node labels)
    """
    rng = as_generator(random_state)
    n_graphs = require_count("n_graphs", n_graphs, 0)
    n_labels = require_count("n_labels", n_labels, 0)
    sizes = _one_each("n_nodes", n_nodes, n_graphs)
    wanted = _one_each("n_edges", n_edges, n_graphs)
    pairs = sizes * (sizes - 1) // 2
    too_many = np.flatnonzero(wanted > pairs)
    if len(too_many):
        i = int(too_many[0])
        raise ValueError(
            f"Graph {i}: n_edges={wanted[i]} is more than the {pairs[i]} pairs of {sizes[i]} nodes."
        )
    graph, code = _distinct_codes(rng, pairs, wanted)
    high = (0.5 + np.sqrt(0.25 + 2.0 * code)).astype(np.int64)
    # The root is rounded: one step up or down corrects it.
    high -= high * (high - 1) // 2 > code
    high += high * (high + 1) // 2 <= code
    low = code - high * (high - 1) // 2
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    labels = None
    if n_labels:
        labels = Categorical(rng.integers(n_labels, size=int(offsets[-1])), range(n_labels))
    return GraphBatch.from_arcs(
        offsets, low + offsets[graph], high + offsets[graph], node_labels=labels
    )


def _one_each(name: str, value: ArrayLike, n_graphs: int) -> Ints:
    """One number per graph, from one for all or from one per graph."""
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise TypeError(f"{name} must be integers; got {value!r}.")
    if numbers.ndim > 1 or (numbers.ndim == 1 and len(numbers) != n_graphs):
        raise ValueError(
            f"{name} must be one integer or one for each of the {n_graphs} graphs; got shape "
            f"{numbers.shape}."
        )
    if numbers.size and numbers.min() < 0:
        raise ValueError(f"{name} must not be negative; got {numbers.min()}.")
    return np.broadcast_to(numbers, n_graphs).astype(np.int64)


def _distinct_codes(rng: np.random.Generator, population: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """For each graph, ``wanted`` distinct codes below ``population``, every set equally likely.

    If more than half are wanted, those to leave out are drawn instead, so that repeated draws stay
    rare.
    """
    dense = wanted > population // 2
    start = np.concatenate([[0], np.cumsum(population)])
    needed = np.where(dense, population - wanted, wanted)
    missing = needed
    drawn = np.zeros(0, dtype=np.int64)
    while missing.any():
        graph = np.repeat(np.arange(len(population)), missing)
        fresh = start[graph] + rng.integers(population[graph])
        drawn = np.union1d(drawn, fresh)
        found = np.bincount(np.searchsorted(start, drawn, side="right") - 1, minlength=len(start))
        missing = needed - found[: len(needed)]
    graph = np.searchsorted(start, drawn, side="right") - 1
    kept = drawn[~dense[graph]]
    if dense.any():
        every = ranges(start[:-1][dense], population[dense])
        kept = np.concatenate([kept, np.setdiff1d(every, drawn, assume_unique=True)])
    graph = np.searchsorted(start, kept, side="right") - 1
    return graph, kept - start[graph]


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
