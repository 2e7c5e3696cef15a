"""Wasserstein Weisfeiler-Lehman kernels: optimal transport between the colours of two graphs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import (
    ArrayOf,
    Counts,
    Flag,
    Instance,
    Integer,
    Number,
    Optional,
    Sometimes,
    fields,
)
from gramlet.common.parameters import Interval
from gramlet.common.stored_state import require, require_instance
from gramlet.engine.core.neighbour_means import neighbour_means
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.counts.comparison import compare
from gramlet.engine.counts.self_comparison import compare_self
from gramlet.engine.transport.earth_mover import mass_points
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import checked_weights, place_of, required_attributes
from gramlet.kernels.contract.decay_kernel import DecayKernel, DecayProfile
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.point_profile import PointProfile
from gramlet.kernels.contract.tags import GraphTags, used
from gramlet.kernels.weisfeiler_lehman.colour_counts import ColourCounter, Colouring
from gramlet.kernels.weisfeiler_lehman.subtree import (
    REFINEMENT_CONSTRAINTS,
    check_levels,
    refinement_uses,
)


def colour_masses(
    counts: sparse.csr_matrix, sizes: Ints, n_levels: int, n_fitted: int
) -> sparse.csr_matrix:
    """The share of each fitted colour in each graph, divided by the number of levels.

    The last column is a symbol that has the whole mass of a graph without nodes.
    """
    scale = 1.0 / (np.maximum(sizes, 1) * n_levels)
    shares = sparse.diags(scale).dot(counts[:, :n_fitted])
    nothing = sparse.csr_matrix((sizes == 0).astype(np.float64)[:, None])
    return sparse.hstack([shares, nothing], format="csr")


def attribute_points(batch: GraphBatch, attributes: Floats, n_iter: int, first: int) -> Floats:
    """Each node's attributes after ``first`` to ``n_iter`` rounds of averaging, side by side.

    A round replaces the attributes of a node by the mean of these and its neighbours' (weighted)
    mean.
    """
    weights = checked_weights(batch, "WassersteinWL", positive=False)
    if weights is not None:
        _refuse_weightless(batch, weights)
    levels = [attributes]
    for _ in range(n_iter):
        means = neighbour_means(batch.indptr, batch.indices, levels[-1], weights)
        levels.append(0.5 * (levels[-1] + means))
    return np.hstack(levels[first:])


def _refuse_weightless(batch: GraphBatch, weights: Floats) -> None:
    tails = batch.arcs()[0]
    totals = np.bincount(tails, weights, minlength=batch.n_nodes_total)
    bad = np.flatnonzero((totals <= 0) & (batch.degrees > 0))
    if len(bad):
        graph, node = place_of(batch, bad[0])
        raise ValueError(
            f"WassersteinWL(use_attributes=True): the weights of the edges at node {node} of graph "
            f"{graph} add up to {totals[bad[0]]}; their sum must be above 0 to average over them."
        )


@dataclass(frozen=True)
class MassProfile(DecayProfile):
    """Masses on colours; d = offset − Σ_σ min(m(G,σ), m(G',σ)) and k = exp(−γ d).

    Attributes
    ----------
    masses : csr_matrix, one row per graph
        Masses on the fitted colours, times their weights; the last column is a symbol for graphs
        without nodes.
    own : array
        The mass that a graph has in common with itself, including unseen colours.
    gamma, offset : float
    bounded : bool
        Whether d is clipped to [0, 1], so that rounding does not make the distance of equal graphs
        negative and k(G, G) is exactly 1.
    """

    masses: sparse.csr_matrix
    own: Floats
    gamma: float
    offset: float
    bounded: bool

    stored = fields(
        masses=Counts("n", None),
        own=ArrayOf("float64", "n", least=0.0),
        gamma=Number(0.0),
        offset=Number(),
        bounded=Flag(),
    )

    def __len__(self) -> int:
        return int(self.masses.shape[0])

    def take(self, rows: Ints) -> MassProfile:
        return replace(self, masses=self.masses[rows], own=self.own[rows])

    def distances(self, other: MassProfile | None, tiling: Tiling = QUIET) -> Floats:
        if other is None:
            common = compare_self(self.masses, "min", tiling=tiling)
            np.fill_diagonal(common, self.own)
        else:
            common = compare(self.masses, other.masses, "min", tiling=tiling)
        return self._distances(common)

    def own_distances(self) -> Floats:
        return self._distances(self.own.copy())

    def _distances(self, common: Floats) -> Floats:
        """Convert common masses to distances, in place because the matrix may be large."""
        np.subtract(self.offset, common, out=common)
        return np.clip(common, 0.0, 1.0, out=common) if self.bounded else common


@shared_texts
class WassersteinWL(DecayKernel):
    """Wasserstein Weisfeiler-Lehman kernel (WWL).

    k(G, G') = exp(−γ D), with D the cost of transporting the nodes of G (each of mass 1/n) to those
    of G', where the distance of two nodes is the share of levels at which their colours differ. For
    labelled graphs the optimum has a closed form, D = (1/levels) Σ_h (1 − Σ_σ min(c_h(G,σ)/n,
    c_h(G',σ)/n')), and no transport problem is solved. Cost: O(H m) for m edges, then one pass over
    common features per pair. Positive semi-definite.

    The distance of a graph without nodes is 1 to graphs with nodes and 0 to graphs without nodes.

    With ``use_attributes=True`` nodes are compared by their attributes: a round of refinement takes
    the mean of a node's attributes and its neighbours' (weighted) mean, the attributes of all
    rounds are the coordinates of a node, and D is the exact 1-Wasserstein distance between the
    uniform masses on the nodes, with Euclidean ground distance. **That Gram matrix is not
    guaranteed to be positive semi-definite.** One transport problem is solved per pair. A graph
    without nodes then has no distance to others (`distance` raises an error); its kernel is 0 with
    graphs that have nodes and 1 with graphs that have none.

    In directed graphs refinement distinguishes out-neighbours and in-neighbours, as in
    `WeisfeilerLehman`. Attributes are averaged over out-neighbours; a node without out-neighbours
    keeps its attributes.

    Parameters
    ----------
    n_iter : int, default 5
        Number of rounds of refinement (H).
    gamma : float, default 1.0
        Decay of the kernel with the distance (γ).
    %(include_initial)s
    use_edge_labels : bool or "auto", default "auto"
        Whether refinement distinguishes neighbours by edge labels; "auto": if the fitted graphs
        have edge labels. Has no meaning for attributes.
    use_attributes : bool, default False
        Compare node attributes instead of labels; see above.
    %(normalize_unit)s
    %(n_jobs)s
    %(verbose)s

    References
    ----------
    Togninalli, Ghisu, Llinares-López, Rieck, Borgwardt (2019), Wasserstein Weisfeiler-Lehman graph
    kernels. The closed form: Nguyen, Nguyen, Mamitsuka (2021), Learning subtree pattern importance
    for Weisfeiler-Lehman based graph kernels.

    Examples
    --------
    >>> from gramlet import WassersteinWL
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> WassersteinWL(n_iter=0).fit(graphs).distance(graphs).round(4)
    array([[0.    , 0.1667],
           [0.1667, 0.    ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **REFINEMENT_CONSTRAINTS,
        "gamma": [Interval(Real, 0, None, closed="neither")],
        "use_attributes": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    stored = fields(
        counter_=Sometimes(Instance(ColourCounter)), n_attributes_=Sometimes(Optional(Integer(0)))
    )

    def __init__(
        self,
        n_iter: int = 5,
        gamma: float = 1.0,
        *,
        include_initial: bool = True,
        use_edge_labels: bool | str = "auto",
        use_attributes: bool = False,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_iter = n_iter
        self.gamma = gamma
        self.include_initial = include_initial
        self.use_edge_labels = use_edge_labels
        self.use_attributes = use_attributes
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, batch: GraphBatch) -> None:
        check_levels(self)
        if self.use_attributes and self.use_edge_labels is True:
            raise ValueError(
                "WassersteinWL: use_edge_labels=True has no meaning with use_attributes=True, "
                "where nodes are compared only by their attributes."
            )

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> Any:
        if self.use_attributes:
            given = required_attributes(batch, "WassersteinWL")
            # If the fitted graphs have no nodes, any number of attributes is accepted later.
            self.n_attributes_ = given.shape[1] if batch.n_nodes_total else None
            return self._points(batch)
        self.counter_ = ColourCounter(
            Colouring(self.n_iter, self.include_initial, self.use_edge_labels)
        )
        return self._masses(self.counter_.fit(batch, tiling), batch)

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> Any:
        if self.use_attributes:
            return self._points(batch)
        return self._masses(self.counter_.count(batch, tiling), batch)

    def _points(self, batch: GraphBatch) -> PointProfile:
        given = required_attributes(batch, "WassersteinWL", self.n_attributes_)
        first = 0 if self.include_initial else 1
        points = attribute_points(batch, given, self.n_iter, first)
        alike = np.zeros(batch.n_nodes_total, dtype=np.int64)
        sets = mass_points(np.asarray(batch.node_offsets), points, alike, alike)
        return PointProfile(sets, float(self.gamma), 0.0)

    def _masses(self, counts: sparse.csr_matrix, batch: GraphBatch) -> MassProfile:
        known = self.counter_.colouring.n_colours
        masses = colour_masses(counts, batch.sizes, len(known), sum(known))
        return MassProfile(masses, np.ones(len(batch)), float(self.gamma), 1.0, bounded=True)

    def _validate_fitted(self) -> None:
        check_levels(self)
        profile: Any = self.profile_
        if not self.use_attributes:
            require_instance("profile_", profile, MassProfile)
            require(hasattr(self, "counter_"), "counter_ is missing")
            Counts(None, self.counter_.n_features + 1).check("masses", profile.masses, {})
            return
        require_instance("profile_", profile, PointProfile)
        require(hasattr(self, "n_attributes_"), "n_attributes_ is missing")
        if self.n_attributes_ is None:
            require(len(profile.sets.masses) == 0, "n_attributes_ is missing")
        else:
            n_levels = self.n_iter + 1 if self.include_initial else self.n_iter
            width = self.n_attributes_ * n_levels
            require(len(profile.sets.columns) == width, "n_attributes_ does not fit the points")

    def __graph_tags__(self) -> GraphTags:
        # Means of attributes are weighted.
        averaged = used(node_attributes=True, edge_weights=self.n_iter)
        return GraphTags(
            psd=not self.use_attributes,
            needs=("node_attributes",) if self.use_attributes else (),
            uses=averaged if self.use_attributes else refinement_uses(self),
            after_fit=("gamma", "normalize"),
            directed=True,
            refines=True,
            distances=True,
            unit=True,
        )
