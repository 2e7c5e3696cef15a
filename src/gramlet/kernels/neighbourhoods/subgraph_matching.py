"""Subgraph matching kernel: bijections between small subgraphs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require, require_instance
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.neighbourhoods.small_subgraphs import MAX_NODES
from gramlet.engine.neighbourhoods.subgraph_maps import MappedGraphs
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import LARGEST, required_attributes
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.labels import EdgeLabels, NodeLabels
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags, used
from gramlet.kernels.neighbourhoods.matching_profiles import MappingProfile, WeightedCountProfile
from gramlet.kernels.neighbourhoods.type_counter import TypeCounter

__all__ = ["SubgraphMatching"]

_SIZE_WEIGHTS = {
    "uniform": lambda s: 1.0,
    "increasing": float,
    "decreasing": lambda s: 1.0 / s,
    "strong-decreasing": lambda s: 1.0 / s**2,
}


def _has_features(kernel: SubgraphMatching) -> bool:
    return kernel.node_kernel == "label" and kernel.edge_kernel == "label"


@shared_texts
class SubgraphMatching(GraphKernel):
    """Subgraph matching kernel.

    k = Σ_{s=1..size} λ_s Σ over bijections φ between s-node subsets of G and of G' of
    Π_v κ_V(v, φ(v)) Π_{pairs} κ_E(pair, φ(pair)). κ_E is the edge kernel if both pairs are edges, 1
    if neither is, and 0 otherwise, so that subsets match as induced subgraphs.

    On labels the kernel is Σ_P λ_s a_P #P(G) #P(G') over labelled isomorphism types P with s nodes
    and a_P automorphisms: subsets are visited once per graph, and the kernel has `features`. With
    other kernels of nodes or edges the maps of each pair of graphs are enumerated, which is far
    slower.

    Parameters
    ----------
    size : int, default 3
        The largest number of nodes of a subset, up to 6, as types are found by trying all orders of
        their nodes.
    weights : {"uniform", "increasing", "decreasing", "strong-decreasing"} or sequence
        λ_s: 1, s, 1/s, 1/s², or ``size`` non-negative numbers.
    connected : bool, default True
        Use only subsets whose induced subgraph is connected.
    node_kernel : {"label", "gaussian"} or callable
        "label": 1 for equal labels, otherwise 0. "gaussian": exp(−mu ‖a − a'‖²) of node
        attributes; labels are ignored. A callable of two labels (None if there are none) must be
        symmetric.
    edge_kernel : {"label", "one"} or callable
        "label": 1 for equal edge labels, or if there are none. A callable as above.
    mu : float or None
        Rate of the Gaussian; None: 1/(number of attribute columns).
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    Notes
    -----
    Positive semi-definite if the kernels of nodes and edges are.

    References
    ----------
    Kriege, Mutzel (2012), Subgraph matching kernels for attributed graphs.

    Examples
    --------
    >>> from gramlet import SubgraphMatching
    >>> graphs = [([(0, 1), (1, 2)], ["C", "O", "C"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = SubgraphMatching()
    >>> kernel.fit_transform(graphs)
    array([[11.,  5.],
           [ 5.,  3.]])
    >>> kernel.get_feature_names_out().tolist()
    ['C', 'C,O[0-1]', 'C,C,O[0-2,1-2]', 'O']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "size": [Interval(Integral, 1, None, closed="left")],
        "weights": [StrOptions(set(_SIZE_WEIGHTS)), "array-like"],
        "connected": ["boolean"],
        "node_kernel": [StrOptions({"label", "gaussian"}), callable],
        "edge_kernel": [StrOptions({"label", "one"}), callable],
        "mu": [Interval(Real, 0, None, closed="left"), None],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        size: int = 3,
        weights: str | Sequence[float] = "uniform",
        connected: bool = True,
        node_kernel: str | Callable[[Any, Any], float] = "label",
        edge_kernel: str | Callable[[Any, Any], float] = "label",
        mu: float | None = None,
        *,
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.size = size
        self.weights = weights
        self.connected = connected
        self.node_kernel = node_kernel
        self.edge_kernel = edge_kernel
        self.mu = mu
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, batch: GraphBatch) -> None:
        if self.size > MAX_NODES:
            raise ValueError(
                f"SubgraphMatching: size is {self.size}, but subgraphs are compared by all orders "
                f"of their nodes, which takes too long for more than {MAX_NODES}. Use a size up to "
                f"{MAX_NODES}."
            )

    def _size_weights(self) -> Floats:
        size = int(self.size)
        if isinstance(self.weights, str):
            rule = _SIZE_WEIGHTS[self.weights]
            return np.array([rule(s) for s in range(1, size + 1)])
        given = np.asarray(self.weights, dtype=np.float64)
        if given.shape != (size,) or not ((given >= 0) & (given <= LARGEST)).all():
            raise ValueError(
                f"SubgraphMatching: weights must be {size} finite numbers, one per size, none "
                f"below 0 or above {LARGEST:g}; got {self.weights!r}."
            )
        return given

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> Any:
        weights = self._size_weights()
        with_edge_labels = self.edge_kernel != "one"
        self.counter_: TypeCounter | None = None
        self.labels_: Any = None
        self.edge_labels_: Any = None
        if self.node_kernel == "label" and self.edge_kernel in ("label", "one"):
            self.counter_ = TypeCounter(weights, bool(self.connected), with_edge_labels)
            return self.counter_.fit(batch, tiling)
        self.labels_ = NodeLabels(self.node_kernel != "gaussian")
        self.edge_labels_ = EdgeLabels(with_edge_labels)
        self.labels_.fit(batch)
        self.edge_labels_.fit(batch)
        return self._mapped(batch, weights)

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> Any:
        if self.counter_ is not None:
            return self.counter_.count(batch, tiling)
        fitted: Any = self.profile_
        # This raises an error for graphs without a column that is used.
        self.labels_.encode(batch)
        self.edge_labels_.encode(batch)
        # Without fitted columns (no fitted graph has nodes) any number of attributes is accepted.
        width = fitted.graphs.attributes.shape[1] or None
        return self._mapped(batch, fitted.size_weights, width)

    def _mapped(
        self, batch: GraphBatch, weights: Floats, width: int | None = None
    ) -> MappingProfile:
        """Graphs with the columns that are used; ``width`` is the fitted number of attributes."""
        n_nodes, n_arcs = batch.n_nodes_total, len(batch.indices)
        attributes, mu = np.zeros((n_nodes, 0)), 0.0
        if self.node_kernel == "gaussian":
            attributes = required_attributes(batch, "SubgraphMatching", width)
            columns = max(1, attributes.shape[1])
            mu = 1.0 / columns if self.mu is None else float(self.mu)
        labels: tuple[Hashable, ...] = (None,)
        edges: tuple[Hashable, ...] = (None,)
        codes, edge_codes = np.zeros(n_nodes, np.int64), np.zeros(n_arcs, np.int64)
        if self.labels_.used and batch.node_labels is not None:
            labels, codes = batch.node_labels.categories, batch.node_labels.codes
        if self.edge_labels_.used and batch.edge_labels is not None:
            edges, edge_codes = batch.edge_labels.categories, batch.edge_labels.codes
        graphs = MappedGraphs(
            batch.node_offsets, batch.indptr, batch.indices, codes, edge_codes, attributes
        )
        return MappingProfile(
            graphs,
            labels,
            edges,
            self.node_kernel if callable(self.node_kernel) else None,
            self.edge_kernel if callable(self.edge_kernel) else None,
            mu,
            weights,
            bool(self.connected),
        )

    @available_if(_has_features)
    def features(self, X: Any) -> Any:
        """Compute the number of subgraphs of each fitted type, times a factor.

        The factor is the square root of λ times the number of automorphisms of the type.
        ``features(X) @ features(fitted).T`` is the un-normalised `transform(X)`.
        """
        return self.profile_of(X).features()

    @available_if(_has_features)
    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A readable name for each column of `features`."""
        check_is_fitted(self)
        counter: Any = self.counter_
        return np.array(counter.names(), dtype=object)

    def _validate_fitted(self) -> None:
        profile: Any = self.profile_
        if self.counter_ is None:
            require_instance("profile_", profile, MappingProfile)
            require_instance("labels_", self.labels_, NodeLabels)
            require_instance("edge_labels_", self.edge_labels_, EdgeLabels)
            return
        require_instance("counter_", self.counter_, TypeCounter)
        require_instance("profile_", profile, WeightedCountProfile)
        known = (profile.n_known, profile.counts.shape[1])
        n_features = self.counter_.n_features
        require(known == (n_features, n_features), "counter_ has a different number of types")

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(
            features=_has_features(self),
            psd=not (callable(self.node_kernel) or callable(self.edge_kernel)),
            needs=("node_attributes",) if self.node_kernel == "gaussian" else (),
            # Functions get labels.
            uses=used(
                node_labels=self.node_kernel != "gaussian",
                node_attributes=self.node_kernel == "gaussian",
                edge_labels=self.edge_kernel != "one",
            ),
        )
