"""Random walk kernels: all common walks of two graphs, with weights that decrease with length."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from gramlet.common.fields import Instance, fields
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require, require_instance
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.walks.arc_radius import arc_self_radii
from gramlet.engine.walks.product_walks import KINDS, sort_by_label
from gramlet.engine.walks.spectra import walk_spectra
from gramlet.engine.walks.spectral_radius import self_radii
from gramlet.engine.walks.walk_series import MOST_STEPS
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import checked_weights
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.labels import LABEL_CHOICE, NodeLabels
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.slow_graphs import hops_across
from gramlet.kernels.contract.tags import GraphTags, used
from gramlet.kernels.walks.walk_profile import (
    ArcWalks,
    LabelledWalks,
    SpectralWalks,
    WalkProfile,
    WalkSums,
)

__all__ = ["RandomWalk"]


@shared_texts
class RandomWalk(GraphKernel):
    """Random walk kernel.

    A common walk of two graphs is a walk in their direct product graph, whose nodes are the pairs
    of nodes with equal labels, and whose edges are the pairs of edges. With its adjacency matrix
    A× (ones, or with ``weighted=True`` the products of the weights) and the decay λ,

    - "geometric": k = 1ᵀ(I − λA×)⁻¹1 = Σ_i λ^i 1ᵀA×^i 1, which needs λ ρ(A×) < 1;
    - "exponential": k = 1ᵀ exp(λA×) 1;
    - "steps": k = Σ_{i ≤ p} λ^i 1ᵀA×^i 1, the walks of at most p steps.

    Positive semi-definite. Cost, for a pair of graphs with n nodes and m edges: O(n m) per
    iteration, for a few to several dozen iterations; without labels O(n²), after one
    eigendecomposition per graph. The product graph is never formed.

    In directed graphs walks follow arcs, and an arc of the product graph is a pair of arcs. A× is
    then not symmetric, and ρ is the largest modulus of an eigenvalue: 0 for acyclic graphs, for
    which any decay is allowed.

    Parameters
    ----------
    kind : {"geometric", "exponential", "steps"}, default "geometric"
        The weights of walks of i steps.
    decay : float, default 0.01
        λ ≥ 0. For "geometric" it must be small enough for all pairs of graphs; this is checked
        before anything is computed, and the error names the largest safe value.
    n_steps : int, default 3
        p, only for "steps".
    use_labels : bool or "auto", default True
        Whether nodes must have equal labels; without labels, all nodes are equal.
    weighted : bool, default False
        Weight a walk by the product of its edge weights in both graphs. Weights may be negative
        (for "geometric" on directed graphs, only if product graphs have at most 2000 nodes).
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    Notes
    -----
    Edge labels are ignored. ρ(A×) of two graphs is at most the geometric mean of the values of each
    graph with itself, so a decay that is safe for every graph with itself is safe for all pairs.

    References
    ----------
    Gärtner, Flach, Wrobel (2003), On graph kernels: hardness results and efficient alternatives.
    Vishwanathan, Schraudolph, Kondor, Borgwardt (2010), Graph kernels.

    Examples
    --------
    An edge and a path of three nodes; walks of zero, one and two steps:

    >>> from gramlet import RandomWalk
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> RandomWalk("steps", decay=1.0, n_steps=2).fit_transform(graphs)
    array([[ 6., 13.],
           [13., 33.]])
    """

    stored = fields(labels_=Instance(NodeLabels))

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kind": [StrOptions(set(KINDS))],
        "decay": [Interval(Real, 0, None, closed="left")],
        "n_steps": [Interval(Integral, 0, None, closed="left")],
        "use_labels": LABEL_CHOICE,
        "weighted": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        kind: str = "geometric",
        decay: float = 0.01,
        n_steps: int = 3,
        use_labels: bool | str = True,
        *,
        weighted: bool = False,
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.kind = kind
        self.decay = decay
        self.n_steps = n_steps
        self.use_labels = use_labels
        self.weighted = weighted
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> WalkProfile:
        self.labels_ = NodeLabels(self.use_labels)
        self.labels_.fit(batch)
        profile = self._profile(batch, tiling)
        profile.check_self()
        return profile

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> WalkProfile:
        name = f"{type(self).__name__}(weighted=True)"
        weights = checked_weights(batch, name, positive=False) if self.weighted else None
        sums = WalkSums(
            self.kind,
            float(self.decay),
            int(self.n_steps),
            weights is not None and bool((weights < 0).any()),
        )
        codes = self.labels_.encode(batch)
        # Graphs without edges are both directed and undirected.
        directed = batch.directed if self.directed_ is None else self.directed_
        if self._spectral():
            spectra, radii = walk_spectra(
                batch.node_offsets, batch.indptr, batch.indices, weights, tiling.n_jobs
            )
            return SpectralWalks(sums, batch.sizes.astype(np.float64), radii, spectra)
        graphs = sort_by_label(batch.node_offsets, batch.indptr, batch.indices, codes, weights)
        costs, radii = batch.sizes.astype(np.float64), np.zeros(len(batch))
        if directed:
            radii = arc_self_radii(graphs) if self.kind == "geometric" else radii
            return ArcWalks(sums, costs, radii, graphs)
        if self.kind == "geometric" or sums.signed:
            radii = self_radii(graphs, tiling.n_jobs)
        return LabelledWalks(sums, costs, radii, graphs)

    def _spectral(self) -> bool:
        """Whether graphs are decomposed; not for a few steps, whose walks are counted faster."""
        alike = self.labels_.vocabulary.values is None and self.directed_ is False
        return alike and not (self.kind == "steps" and self.n_steps <= MOST_STEPS)

    def _validate_fitted(self) -> None:
        require_instance("labels_", self.labels_, NodeLabels)
        profile: Any = self.profile_
        kinds: tuple[type[WalkProfile], ...] = (LabelledWalks, ArcWalks)
        if self.directed_ is not None:
            undirected = SpectralWalks if self._spectral() else LabelledWalks
            kinds = (ArcWalks,) if self.directed_ else (undirected,)
        require_instance("profile_", profile, *kinds)
        given = (self.kind, float(self.decay), int(self.n_steps))
        kept = (profile.sums.kind, profile.sums.decay, profile.sums.n_steps)
        require(given == kept, "parameters were changed after fit; fit the kernel again")

    def _expected_seconds(self, batch: GraphBatch, graph: int) -> float:
        # The spectral radius on pairs of nodes, with more steps the longer the graph is.
        return 1.4e-8 * float(batch.sizes[graph]) ** 2 * hops_across(batch, graph)

    def __graph_tags__(self) -> GraphTags:
        uses = used(node_labels=self.use_labels, edge_weights=self.weighted)
        return GraphTags(directed=True, uses=uses)
