"""Weisfeiler-Lehman kernels: counts of refined colours, by dot product or optimal assignment."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

from gramlet.common.parameters import Interval, StrOptions
from gramlet.engine.counts.comparison import Measure
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.count_kernel import Counter, CountKernel, ExplicitFeatures
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS
from gramlet.kernels.contract.labels import LABEL_CHOICE
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags
from gramlet.kernels.paths.shortest_path import ColourPathCounter
from gramlet.kernels.weisfeiler_lehman.colour_counts import (
    ColourCounter,
    ColourEdgeCounter,
    Colouring,
)

__all__ = ["REFINEMENT_CONSTRAINTS", "WLOptimalAssignment", "WeisfeilerLehman", "check_levels"]

REFINEMENT_CONSTRAINTS: dict[str, list[Any]] = {
    "n_iter": [Interval(Integral, 0, None, closed="left")],
    "include_initial": ["boolean"],
    "use_edge_labels": LABEL_CHOICE,
}


def check_levels(estimator: Any) -> None:
    """Refuse parameters that leave no level of refinement to count."""
    if estimator.n_iter == 0 and not estimator.include_initial:
        raise ValueError(
            f"{type(estimator).__name__}(n_iter=0, include_initial=False) leaves no level to "
            "compare. Set n_iter to 1 or more, or include_initial=True."
        )


@shared_texts
class WeisfeilerLehman(ExplicitFeatures, CountKernel):
    """Weisfeiler-Lehman kernel: common subtree patterns.

    k(G, G') = Σ_h Σ_σ c_h(G, σ) c_h(G', σ), over the levels h = 0..``n_iter``, with c_h(G, σ) the
    number of nodes of G that have colour σ after h rounds of refinement. Cost: O(H m) for m edges
    of all graphs together, then one sparse product. Positive semi-definite.

    In directed graphs a node's new colour is made of its colour, the multiset of the colours that
    its arcs lead to and the multiset of those that arcs come from. The names of features mark
    children as out (``>``) or in (``<``).

    Parameters
    ----------
    n_iter : int, default 5
        Rounds of refinement (H).
    base : {"vertex", "edge", "shortest-path"}
        What is counted at each level: nodes by colour; edges by the colours of their ends (and
        their edge label, if edges have labels); or shortest paths by the colours of their ends and
        their number of edges. In directed graphs the pair of ends is ordered, and paths follow
        arcs.
    %(include_initial)s
    use_edge_labels : bool or "auto", default "auto"
        Whether refinement tells neighbours apart by the label of the edge to them; "auto": if the
        fitted graphs have edge labels.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    References
    ----------
    Shervashidze, Schweitzer, van Leeuwen, Mehlhorn, Borgwardt (2011), Weisfeiler-Lehman graph
    kernels.

    Examples
    --------
    >>> from gramlet import WeisfeilerLehman
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> kernel = WeisfeilerLehman(n_iter=1)
    >>> kernel.fit_transform(graphs)
    array([[ 4.,  5.],
           [ 5., 10.]])
    >>> kernel.get_feature_names_out().tolist()
    ['h0:C', 'h0:O', 'h1:C(O)', 'h1:O(C)', 'h1:C(O,O)']

    With directions, the first and the last node of a chain of three differ:

    >>> import networkx as nx
    >>> chain = nx.DiGraph([(0, 1), (1, 2)])
    >>> WeisfeilerLehman(n_iter=1).fit([chain]).get_feature_names_out().tolist()
    ['h0:*', 'h1:*(>*)', 'h1:*(>*,<*)', 'h1:*(<*)']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **REFINEMENT_CONSTRAINTS,
        "base": [StrOptions({"vertex", "edge", "shortest-path"})],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        n_iter: int = 5,
        base: str = "vertex",
        *,
        include_initial: bool = True,
        use_edge_labels: bool | str = "auto",
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_iter = n_iter
        self.base = base
        self.include_initial = include_initial
        self.use_edge_labels = use_edge_labels
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, batch: GraphBatch) -> None:
        check_levels(self)

    def _counter(self) -> Counter:
        colouring = Colouring(self.n_iter, self.include_initial, self.use_edge_labels)
        if self.base == "shortest-path":
            return ColourPathCounter(colouring)
        return ColourCounter(colouring) if self.base == "vertex" else ColourEdgeCounter(colouring)

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(features=True, directed=True, refines=True)


@shared_texts
class WLOptimalAssignment(CountKernel):
    """Weisfeiler-Lehman optimal assignment kernel (WL-OA).

    k(G, G') = Σ_h Σ_σ min(c_h(G, σ), c_h(G', σ)): the value of the best one-to-one matching of the
    nodes, two nodes being as similar as the number of levels at which their colours agree. Cost:
    O(H m) for m edges, then one pass over common features a pair. Positive semi-definite. Directed
    graphs are refined as in `WeisfeilerLehman`.

    Parameters
    ----------
    n_iter : int, default 5
        Rounds of refinement (H).
    %(include_initial)s
    use_edge_labels : bool or "auto", default "auto"
        Whether refinement tells neighbours apart by the label of the edge to them; "auto": if the
        fitted graphs have edge labels.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    References
    ----------
    Kriege, Giscard, Wilson (2016), On valid optimal assignment kernels and applications to graph
    classification.

    Examples
    --------
    >>> from gramlet import WLOptimalAssignment
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> WLOptimalAssignment(n_iter=1).fit_transform(graphs)
    array([[4., 3.],
           [3., 6.]])
    """

    _measure: ClassVar[Measure] = "min"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **REFINEMENT_CONSTRAINTS,
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        n_iter: int = 5,
        *,
        include_initial: bool = True,
        use_edge_labels: bool | str = "auto",
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_iter = n_iter
        self.include_initial = include_initial
        self.use_edge_labels = use_edge_labels
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, batch: GraphBatch) -> None:
        check_levels(self)

    def _counter(self) -> Counter:
        return ColourCounter(Colouring(self.n_iter, self.include_initial, self.use_edge_labels))

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(directed=True, refines=True)
