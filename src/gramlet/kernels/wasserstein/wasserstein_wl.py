"""Wasserstein Weisfeiler-Lehman kernels: optimal transport between the colours of two graphs."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Floats, Ints
from gramlet.common.parameters import Interval
from gramlet.engine.core.neighbour_means import neighbour_means
from gramlet.engine.counts.comparison import CountIndex, compare, compare_self
from gramlet.engine.transport.earth_mover import MassPoints, earth_mover_distances, mass_points
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.convert import as_batch
from gramlet.kernels.contract.columns import checked_weights, place_of, required_attributes
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.weisfeiler_lehman.colour_counts import ColourCounter, Colouring
from gramlet.kernels.weisfeiler_lehman.weisfeiler_lehman import REFINEMENT_CONSTRAINTS, check_levels

__all__ = ["WassersteinWL", "attribute_points", "colour_masses"]


def colour_masses(
    counts: sparse.csr_matrix, sizes: Ints, n_levels: int, n_fitted: int
) -> sparse.csr_matrix:
    """The share of each fitted colour in each graph, over the number of levels.

    The last column is the symbol that a graph without nodes carries its whole mass on.
    """
    scale = 1.0 / (np.maximum(sizes, 1) * n_levels)
    shares = sparse.diags(scale).dot(counts[:, :n_fitted])
    nothing = sparse.csr_matrix((sizes == 0).astype(np.float64)[:, None])
    return sparse.hstack([shares, nothing], format="csr")


def attribute_points(batch: GraphBatch, attributes: Floats, n_iter: int, first: int) -> Floats:
    """Each node's attributes after ``first`` to ``n_iter`` rounds of averaging, side by side.

    A round gives a node the mean of its own attributes and its neighbours' (weighted) mean.
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
            f"WassersteinWL(attributes=True): the weights of the edges at node {node} of graph "
            f"{graph} add up to {totals[bad[0]]}; their sum must be above 0 to average over them."
        )


class WassersteinWL(GraphKernel):
    """Wasserstein Weisfeiler-Lehman kernel (WWL).

    k(G, G') = exp(−γ D), with D the cost of transporting the nodes of G (each of mass 1/n) to those
    of G', two nodes being as far as the share of levels at which their colours differ. For labelled
    graphs the optimum has a closed form, D = (1/levels) Σ_h (1 − Σ_σ min(c_h(G,σ)/n,
    c_h(G',σ)/n')), and no transport problem is solved. Cost: O(H m) for m edges, then one pass over
    common features a pair. Positive semi-definite.

    A graph without nodes is at distance 1 from any graph with nodes and 0 from another without.

    With ``attributes=True`` the nodes move with their attributes instead: a round of refinement
    takes the mean of a node's attributes and its neighbours' (weighted) mean, the attributes of all
    rounds are a node's coordinates, and D is the exact 1-Wasserstein distance between the uniform
    masses on the nodes, with Euclidean ground distance. **That Gram matrix is not guaranteed to be
    positive semi-definite.** One transport problem is solved a pair. There, a graph without nodes
    has no distance to others (`distance` refuses it); its kernel is 0 to graphs with nodes and 1 to
    others without.

    Parameters
    ----------
    n_iter : int, default 5
        Rounds of refinement (H).
    gamma : float, default 1.0
        Decay of the kernel with the distance (γ).
    include_initial : bool, default True
        Whether level 0, the labels themselves, counts.
    use_edge_labels : bool, default False
        Whether refinement tells neighbours apart by the label of the edge to them.
    attributes : bool, default False
        Compare node attributes instead of labels; see above.
    normalize : bool, default False
        Of no effect here: k(G, G) is 1.
    n_jobs : int or None
        Threads for the Gram matrix; the result does not depend on it.
    verbose : bool or int
        Show a progress bar on a terminal.

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
        "attributes": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        n_iter: int = 5,
        gamma: float = 1.0,
        *,
        include_initial: bool = True,
        use_edge_labels: bool = False,
        attributes: bool = False,
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_iter = n_iter
        self.gamma = gamma
        self.include_initial = include_initial
        self.use_edge_labels = use_edge_labels
        self.attributes = attributes
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def distance(self, X: Any) -> Floats:
        """The distances D of X to the fitted graphs, shape (len(X), n fitted)."""
        check_is_fitted(self)
        profile = self._profile(as_batch(X))
        if self.attributes:
            self._refuse_empty(profile, "given")
            self._refuse_empty(self.profile_, "fitted")
        return self._distances(profile, self.profile_)

    def _refuse_empty(self, profile: MassPoints, which: str) -> None:
        empty = np.flatnonzero(np.diff(profile.offsets) == 0)
        if len(empty):
            raise ValueError(
                f"Graph {int(empty[0])} of the {which} graphs has no nodes, so it has no distance "
                "to others by attributes. Leave it out, or use the kernel, which is 0 there."
            )

    def _check(self, batch: GraphBatch) -> None:
        check_levels(self)
        if self.attributes and self.use_edge_labels:
            raise ValueError(
                "WassersteinWL: use_edge_labels=True has no meaning with attributes=True, where "
                "nodes are compared by their attributes alone."
            )

    def _fit(self, batch: GraphBatch, y: Any) -> Any:
        if self.attributes:
            given = required_attributes(batch, "WassersteinWL")
            # Without a node at fit any number of attributes may come later.
            self.n_attributes_ = given.shape[1] if batch.n_nodes_total else None
            return self._points(batch)
        self.counter_ = ColourCounter(
            Colouring(self.n_iter, self.include_initial, self.use_edge_labels)
        )
        return self._masses(self.counter_.fit(batch), batch)

    def _profile(self, batch: GraphBatch) -> Any:
        return (
            self._points(batch)
            if self.attributes
            else self._masses(self.counter_.count(batch), batch)
        )

    def _points(self, batch: GraphBatch) -> MassPoints:
        given = required_attributes(batch, "WassersteinWL", self.n_attributes_)
        first = 0 if self.include_initial else 1
        points = attribute_points(batch, given, self.n_iter, first)
        alike = np.zeros(batch.n_nodes_total, dtype=np.int64)
        return mass_points(np.asarray(batch.node_offsets), points, alike, alike)

    def _masses(self, counts: sparse.csr_matrix, batch: GraphBatch) -> sparse.csr_matrix:
        known = self.counter_.colouring.n_colours
        return colour_masses(counts, batch.sizes, len(known), sum(known))

    def _distances(self, profile: Any, fitted: Any) -> Floats:
        if self.attributes:
            return earth_mover_distances(profile, fitted, 0.0, **self._tiling())
        common = compare(profile, CountIndex.build(fitted, "min"), "min", **self._tiling())
        return np.clip(1.0 - common, 0.0, 1.0)

    def _gram(self, profile: Any) -> Floats:
        if self.attributes:
            return np.exp(-self.gamma * earth_mover_distances(profile, None, 0.0, **self._tiling()))
        common = compare_self(profile, "min", **self._tiling())
        np.fill_diagonal(common, 1.0)
        return np.exp(-self.gamma * np.clip(1.0 - common, 0.0, 1.0))

    def _cross(self, profile: Any, fitted: Any) -> Floats:
        return np.exp(-self.gamma * self._distances(profile, fitted))

    def _self(self, profile: Any) -> Floats:
        return np.ones(len(profile) if self.attributes else profile.shape[0])
