"""Wasserstein Weisfeiler-Lehman kernels: optimal transport between the colours of two graphs."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from gramlet.engine.histograms import CountIndex, compare, compare_self
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.convert import as_batch
from gramlet.kernels.base import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.colours import ColourCounter, Colouring
from gramlet.kernels.weisfeiler_lehman import REFINEMENT_CONSTRAINTS, check_levels

__all__ = ["WassersteinWL", "colour_masses"]

Floats = NDArray[np.float64]


def colour_masses(
    counts: sparse.csr_matrix, sizes: NDArray[np.int64], n_levels: int, n_fitted: int
) -> sparse.csr_matrix:
    """The share of each fitted colour in each graph, over the number of levels.

    The last column is the symbol that a graph without nodes carries its whole mass on.
    """
    scale = 1.0 / (np.maximum(sizes, 1) * n_levels)
    shares = sparse.diags(scale).dot(counts[:, :n_fitted])
    nothing = sparse.csr_matrix((sizes == 0).astype(np.float64)[:, None])
    return sparse.hstack([shares, nothing], format="csr")


class WassersteinWL(GraphKernel):
    """Wasserstein Weisfeiler-Lehman kernel (WWL).

    k(G, G') = exp(−γ D), with D the cost of transporting the nodes of G (each of mass 1/n) to those
    of G', two nodes being as far as the share of levels at which their colours differ. For labelled
    graphs the optimum has a closed form, D = (1/|levels|) Σ_h (1 − Σ_σ min(c_h(G,σ)/n,
    c_h(G',σ)/n')), and no transport problem is solved. Cost: O(H m) for m edges, then one pass over
    common features a pair. Positive semi-definite.

    A graph without nodes is at distance 1 from any graph with nodes and 0 from another without.

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
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        n_iter: int = 5,
        gamma: float = 1.0,
        *,
        include_initial: bool = True,
        use_edge_labels: bool = False,
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_iter = n_iter
        self.gamma = gamma
        self.include_initial = include_initial
        self.use_edge_labels = use_edge_labels
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def distance(self, X: Any) -> Floats:
        """The distances D of X to the fitted graphs, shape (len(X), n fitted)."""
        check_is_fitted(self)
        return self._distances(self._profile(as_batch(X)), self.profile_)

    def _check(self, batch: GraphBatch) -> None:
        check_levels(self)

    def _fit(self, batch: GraphBatch, y: Any) -> sparse.csr_matrix:
        self.counter_ = ColourCounter(
            Colouring(self.n_iter, self.include_initial, self.use_edge_labels)
        )
        counts = self.counter_.fit(batch)
        return self._masses(counts, batch)

    def _profile(self, batch: GraphBatch) -> sparse.csr_matrix:
        return self._masses(self.counter_.count(batch), batch)

    def _masses(self, counts: sparse.csr_matrix, batch: GraphBatch) -> sparse.csr_matrix:
        known = self.counter_.colouring.n_colours
        return colour_masses(counts, batch.sizes, len(known), sum(known))

    def _distances(self, profile: sparse.csr_matrix, fitted: sparse.csr_matrix) -> Floats:
        common = compare(profile, CountIndex.build(fitted, "min"), "min", **self._tiling())
        return np.clip(1.0 - common, 0.0, 1.0)

    def _gram(self, profile: sparse.csr_matrix) -> Floats:
        common = compare_self(profile, "min", **self._tiling())
        np.fill_diagonal(common, 1.0)
        return np.exp(-self.gamma * np.clip(1.0 - common, 0.0, 1.0))

    def _cross(self, profile: sparse.csr_matrix, fitted: sparse.csr_matrix) -> Floats:
        return np.exp(-self.gamma * self._distances(profile, fitted))

    def _self(self, profile: sparse.csr_matrix) -> Floats:
        return np.ones(profile.shape[0])
