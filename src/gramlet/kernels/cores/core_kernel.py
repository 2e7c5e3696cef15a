"""The core kernel: another kernel on the nested cores of graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Ints
from gramlet.common.fields import Instance, Integer, fields
from gramlet.common.parameters import Interval
from gramlet.common.stored_state import require
from gramlet.engine.core.tiles import Tiling
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.build import EDGE_COLUMNS, NODE_COLUMNS, ranges
from gramlet.graphs.columns import pick
from gramlet.graphs.conversion.convert import as_batch
from gramlet.graphs.direction import require_same_direction
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.nested import (
    BASE_CONSTRAINT,
    as_fitted,
    base_profile,
    base_tags,
    fit_base,
    has_features,
    member_features,
    new_base,
)
from gramlet.kernels.contract.normalisation import Normalization, canonical
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.sum_profile import PartsProfile
from gramlet.kernels.contract.tags import GraphTags


@shared_texts
class CoreKernel(GraphKernel):
    """Another kernel on the nested cores of graphs.

    The i-core C_i of a graph is the subgraph that remains when nodes with fewer than i neighbours
    are removed until there are none; C_0 is the whole graph. k(G, G') = Σ_i base(C_i(G), C_i(G'))
    over all i from ``min_core`` on for which both graphs have an i-core. Similar dense parts
    increase the similarity of two graphs. Cost: finding the cores is linear in the edges; then the
    base on all cores. Positive semi-definite if the base is. Undirected graphs only.

    Parameters
    ----------
    base : str or kernel, default "sp"
        The kernel on cores, by name or as an estimator. It is fitted once, on all cores of all
        fitted graphs, and is normalised if its own ``normalize`` is True.
    min_core : int, default 0
        The first core that is used.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    base_ : kernel
        The fitted base.

    References
    ----------
    Nikolentzos, Meladianos, Limnios, Vazirgiannis (2018), A degeneracy framework for graph
    similarity.

    Examples
    --------
    >>> from gramlet import CoreKernel
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2), (0, 2)], ["C", "C", "C"])]
    >>> CoreKernel("vertex").fit_transform(graphs)
    array([[ 4.,  6.],
           [ 6., 27.]])
    """

    stored = fields(
        base_=Instance(GraphKernel),
        n_cores_=Integer(),
        profile_=Instance(PartsProfile, len="n_fitted_"),
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "base": BASE_CONSTRAINT,
        "min_core": [Interval(Integral, 0, None, closed="left")],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        base: Any = "sp",
        min_core: int = 0,
        *,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.base = base
        self.min_core = min_core
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, batch: GraphBatch) -> None:
        _checked_base(self.base)

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> PartsProfile:
        self.base_ = _checked_base(self.base)
        cores, offsets = cores_of(batch, int(self.min_core))
        whole = clone(self.base_)
        with _naming_graphs(lambda: whole.fit(batch)):
            fit_base(self.base_, cores if len(cores) else _one_empty(cores), None, tiling)
        parts = self.base_.profile_
        if len(cores) == 0:
            parts = parts.take(np.zeros(0, dtype=np.int64))
        self.n_cores_ = int(np.diff(offsets).max(initial=0))
        return PartsProfile(parts, offsets, canonical(self.base_.normalize), self.n_cores_)

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> PartsProfile:
        cores, offsets = cores_of(batch, int(self.min_core))
        with _naming_graphs(lambda: self.base_.profile_of(batch)):
            parts = base_profile(self.base_, cores, tiling)
        return PartsProfile(parts, offsets, canonical(self.base_.normalize), self.n_cores_)

    @available_if(has_features)
    def features(self, X: Any) -> Any:
        """Compute the explicit feature map: the features of the base, core by core.

        ``features(X) @ features(fitted).T`` is the un-normalised `transform(X)`. Available if the
        base has features.
        """
        check_is_fitted(self)
        batch = as_batch(X)
        require_same_direction(self.directed_, batch, type(self).__name__)
        cores, offsets = cores_of(batch, int(self.min_core))
        with _naming_graphs(lambda: self.base_.profile_of(batch)):
            rows = member_features(self.base_, cores)
        dense = not sparse.issparse(rows)
        rows = sparse.coo_array(rows)
        graph = np.repeat(np.arange(len(batch)), np.diff(offsets))
        depth = np.arange(len(cores)) - offsets[graph]
        width = rows.shape[1]
        kept = depth[rows.row] < self.n_cores_  # deeper cores match no fitted graph
        places = graph[rows.row][kept], (depth[rows.row] * width + rows.col)[kept]
        shape = (len(batch), self.n_cores_ * width)
        matrix = sparse.csr_matrix((rows.data[kept], places), shape=shape)
        return matrix.toarray() if dense else matrix

    @available_if(has_features)
    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A readable name for each column of `features`: the core, then the base's name."""
        check_is_fitted(self)
        base: Any = self.base_
        names = base.get_feature_names_out()
        cores = range(self.min_core, self.min_core + self.n_cores_)
        return np.array([f"core{i}:{name}" for i in cores for name in names], dtype=object)

    def _validate_fitted(self) -> None:
        require(type(self.base_) is type(_checked_base(self.base)), "base_ does not fit base")
        require(hasattr(self.base_, "profile_"), "base_ is not fitted")
        profile: Any = self.profile_
        if len(profile.parts):
            require(profile.parts is self.base_.profile_, "profile_ does not contain that of base_")
        require(type(profile.parts) is type(self.base_.profile_), "profile_ does not fit base_")
        same = profile.normalized == canonical(self.base_.normalize)
        require(same, "profile_ and base_ disagree")
        most = int(profile.counts.max(initial=0))
        require(self.n_cores_ == most == profile.n_known, "profile_ does not fit n_cores_")

    def __graph_tags__(self) -> GraphTags:
        tags = base_tags(self.base)
        if hasattr(self, "base_"):
            tags = as_fitted(tags, self.base_)
        return replace(tags, directed=False, depends_on_fitted=False, supervised=False)


def cores_of(batch: GraphBatch, min_core: int = 0) -> tuple[GraphBatch, Ints]:
    """The cores C_i, i ≥ ``min_core``, of all graphs, and the offsets of each graph's cores.

    Examples
    --------
    A triangle with an additional node is its own 0-core and 1-core; the triangle is its 2-core:

    >>> batch = GraphBatch.from_edges([[(0, 1), (1, 2), (0, 2), (2, 3)]])
    >>> cores, offsets = cores_of(batch)
    >>> cores.sizes.tolist(), offsets.tolist()
    ([4, 4, 3], [0, 3])
    """
    numbers = core_numbers(batch)
    deepest = np.full(len(batch), -1, dtype=np.int64)
    np.maximum.at(deepest, batch.graph_of_node, numbers)
    n_cores = np.maximum(deepest - min_core + 1, 0)
    offsets = np.concatenate([[0], np.cumsum(n_cores)]).astype(np.int64)
    # One copy of a node per core that contains it; copies are sorted by core, then node.
    copies = np.maximum(numbers - min_core + 1, 0)
    first_copy = np.cumsum(copies) - copies
    nodes = np.repeat(np.arange(len(numbers)), copies)
    depth = np.arange(len(nodes)) - first_copy[nodes]
    owner = offsets[batch.graph_of_node[nodes]] + depth
    order = np.argsort(owner, kind="stable")
    new_number = np.empty(len(nodes), dtype=np.int64)
    new_number[order] = np.arange(len(nodes))
    # An arc is in the cores that contain both of its ends.
    tails, heads = batch.arcs()
    shared = np.minimum(copies[tails], copies[heads])
    arcs = np.repeat(np.arange(len(tails)), shared)
    depth = np.arange(len(arcs)) - (np.cumsum(shared) - shared)[arcs]
    new_tails = new_number[first_copy[tails[arcs]] + depth]
    by_tail = np.argsort(new_tails, kind="stable")
    arcs, depth = arcs[by_tail], depth[by_tail]
    sizes = np.bincount(owner, minlength=int(offsets[-1]))
    degrees = np.bincount(new_tails, minlength=len(nodes))
    cores = GraphBatch(
        np.concatenate([[0], np.cumsum(sizes)]),
        np.concatenate([[0], np.cumsum(degrees)]),
        new_number[first_copy[heads[arcs]] + depth],
        **{name: pick(getattr(batch, name), nodes[order]) for name in NODE_COLUMNS},
        **{name: pick(getattr(batch, name), arcs) for name in EDGE_COLUMNS},
    )
    return cores, offsets


def core_numbers(batch: GraphBatch) -> Ints:
    """Per node, the largest i such that the node is in a subgraph whose degrees are all at least i.

    Nodes that have at most i edges left are removed, of all graphs at once and until there are
    none, for i = 0, 1, ...
    """
    numbers, left = np.zeros(batch.n_nodes_total, dtype=np.int64), np.diff(batch.indptr)
    remaining = np.arange(len(left))
    i = 0
    while len(remaining):
        leaving = remaining[left[remaining] <= i]
        while len(leaving):
            numbers[leaving], left[leaving] = i, -1
            begins, ends = batch.indptr[leaving], batch.indptr[leaving + 1]
            neighbours = batch.indices[ranges(begins, ends - begins)]
            neighbours = neighbours[left[neighbours] >= 0]
            np.subtract.at(left, neighbours, 1)
            leaving = np.unique(neighbours[left[neighbours] <= i])
        remaining = remaining[left[remaining] >= 0]
        i += 1
    return numbers


def _one_empty(none: GraphBatch) -> GraphBatch:
    """One graph without nodes, with the columns of a batch without graphs.

    A base is fitted on it if no graph has a core: it then knows which labels and attributes the
    graphs have.
    """
    return GraphBatch(
        np.zeros(2, dtype=np.int64),
        none.indptr,
        none.indices,
        **{name: getattr(none, name) for name in (*NODE_COLUMNS, *EDGE_COLUMNS)},
    )


@contextmanager
def _naming_graphs(on_whole_graphs: Callable[[], Any]) -> Iterator[None]:
    """Let an error of the base name one of the graphs, not one of all their cores.

    What is wrong with a core is usually wrong with its graph, too.
    """
    try:
        yield
    except ValueError as error:
        on_whole_graphs()
        raise ValueError(f"{error} (Here graphs are the cores of all graphs.)") from None


def _checked_base(base: Any) -> GraphKernel:
    kernel = new_base(base, "CoreKernel")
    tags = kernel.__graph_tags__()
    if tags.depends_on_fitted or tags.supervised:
        why = "uses classes" if tags.supervised else "depends on which graphs are fitted"
        raise ValueError(
            f"CoreKernel(base={kernel!r}): this base {why}, and the fitted graphs here are cores. "
            'Give a base whose values depend only on two graphs, such as "sp" or "wl".'
        )
    return kernel
