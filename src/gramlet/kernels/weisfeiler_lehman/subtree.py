"""Weisfeiler-Lehman kernels: counts of refined colours, or any other kernel on every level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Ints
from gramlet.common.fields import Instance, ListOf, fields
from gramlet.common.parameters import Interval
from gramlet.common.stored_state import require, require_instance
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.counts.comparison import Measure
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical
from gramlet.graphs.conversion.convert import as_batch
from gramlet.graphs.direction import require_same_direction
from gramlet.kernels.contract.count_kernel import Counter, CountKernel, ExplicitFeatures
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.labels import LABEL_CHOICE
from gramlet.kernels.contract.nested import (
    BASE_CONSTRAINT,
    as_fitted,
    base_profile,
    base_tags,
    fit_base,
    has_features,
    member_features,
    new_base,
    undirected_base,
)
from gramlet.kernels.contract.normalisation import Normalization, canonical
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.sum_profile import SumProfile
from gramlet.kernels.contract.tags import GraphTags, joined_uses, used
from gramlet.kernels.paths.shortest_path import ColourPathCounter
from gramlet.kernels.weisfeiler_lehman.colour_counts import (
    ColourCounter,
    ColourEdgeCounter,
    Colouring,
)

MOST_ROUNDS = 10_000  # of refinement

REFINEMENT_CONSTRAINTS: dict[str, list[Any]] = {
    "n_iter": [Interval(Integral, 0, MOST_ROUNDS, closed="both")],
    "include_initial": ["boolean"],
    "use_edge_labels": LABEL_CHOICE,
}

# Bases whose features are counted at all levels at once.
_COUNTED: dict[str, Callable[[Colouring], Any]] = {
    "vertex": ColourCounter,
    "edge": ColourEdgeCounter,
    "shortest-path": ColourPathCounter,
    "sp": ColourPathCounter,
}


def refinement_uses(kernel: Any) -> tuple[str, ...]:
    """The columns that a kernel's colour refinement depends on."""
    return used(node_labels=True, edge_labels=kernel.use_edge_labels and kernel.n_iter != 0)


def check_levels(estimator: Any) -> None:
    """Raise ValueError if the parameters leave no level of refinement."""
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

    In directed graphs the new colour of a node depends on its colour, the multiset of the colours
    of its out-neighbours and that of its in-neighbours. The names of features mark children as out
    (``>``) or in (``<``).

    Parameters
    ----------
    n_iter : int, default 5
        Number of rounds of refinement (H).
    base : {"vertex", "edge", "shortest-path"}, the name of a kernel, or a kernel
        The features of each level: nodes by colour; edges by the colours of their ends (and their
        edge label, if edges have labels); or shortest paths by the colours of their ends and their
        number of edges. In directed graphs the pair of ends is ordered, and paths follow arcs. Any
        other kernel that does not refine labels itself is fitted on the graphs with the colours of
        each level as node labels (and all other columns), and its values are summed; it is
        normalised at each level if its own ``normalize`` is True.
    %(include_initial)s
    use_edge_labels : bool or "auto", default "auto"
        Whether refinement distinguishes neighbours by edge labels; "auto": if the fitted graphs
        have edge labels. Whether the base uses edge labels is a parameter of the base.
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

    In a directed graph, the first and the last node of a path of three nodes differ:

    >>> import networkx as nx
    >>> chain = nx.DiGraph([(0, 1), (1, 2)])
    >>> WeisfeilerLehman(n_iter=1).fit([chain]).get_feature_names_out().tolist()
    ['h0:*', 'h1:*(>*)', 'h1:*(>*,<*)', 'h1:*(<*)']

    Common walks of at most three steps, at both levels:

    >>> WeisfeilerLehman(n_iter=1, base="rw-steps").fit_transform(graphs).round(2)
    array([[ 4.04,  5.04],
           [ 5.04, 10.16]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **REFINEMENT_CONSTRAINTS,
        "base": BASE_CONSTRAINT,
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        n_iter: int = 5,
        base: Any = "vertex",
        *,
        include_initial: bool = True,
        use_edge_labels: bool | str = "auto",
        normalize: Normalization = False,
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
        if not self._counts():
            checked_base(self.base)

    def _counts(self) -> bool:
        """Whether all levels are counted together; otherwise a kernel is fitted at each level."""
        return isinstance(self.base, str) and self.base in _COUNTED

    def _counter(self) -> Any:
        colouring = Colouring(self.n_iter, self.include_initial, self.use_edge_labels)
        return _COUNTED[self.base](colouring)

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> Any:
        if self._counts():
            return super()._fit(batch, y, tiling)
        colouring = Colouring(self.n_iter, self.include_initial, self.use_edge_labels)
        self.counter_: Any = LevelBases(colouring, self.base)
        return self.counter_.fit(batch, y, tiling)

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> Any:
        if isinstance(self.counter_, LevelBases):
            return self.counter_.profile(batch, tiling)
        return super()._profile(batch, tiling)

    @available_if(has_features)
    def features(self, X: Any) -> Any:
        """Compute the explicit feature map: one row per graph, one column per fitted feature.

        ``features(X) @ features(fitted).T`` is the un-normalised `transform(X)`. Available if the
        base has features.
        """
        if not isinstance(getattr(self, "counter_", None), LevelBases):
            return super().features(X)
        batch = as_batch(X)
        require_same_direction(self.directed_, batch, type(self).__name__)
        return self.counter_.features(batch)

    @available_if(has_features)
    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A readable name for each column of `features`."""
        return super().get_feature_names_out(input_features)

    def feature_levels(self) -> Ints:
        """The level of each column of `features`: 0 for the labels themselves."""
        check_is_fitted(self)
        counter = self.counter_
        numbers = np.array(counter.colouring.level_numbers)
        if isinstance(counter, ColourEdgeCounter | ColourPathCounter):
            return np.repeat(numbers, [len(table) for table in counter.types])
        widths = counter.widths if isinstance(counter, LevelBases) else counter.colouring.n_colours
        return np.repeat(numbers, widths)

    def _validate_fitted(self) -> None:
        if self._counts():
            super()._validate_fitted()
            return
        counter, profile = self.counter_, self.profile_
        require_instance("counter_", counter, LevelBases)
        require_instance("profile_", profile, SumProfile)
        require(
            type(counter.bases[0]) is type(checked_base(self.base)), "counter_ does not fit base"
        )
        profiles = [base.profile_ for base in counter.bases]
        require(len(profiles) == len(profile.members), "profile_ must have one member per level")
        same = all(a is b for a, b in zip(profile.members, profiles, strict=True))
        require(same, "profile_ must contain the profiles of the bases")
        same = profile.normalized == canonical(counter.bases[0].normalize)
        require(same, "profile_ and bases disagree")

    def _undirected_part(self) -> str:
        return undirected_base(self.base, type(self).__name__)

    def __graph_tags__(self) -> GraphTags:
        refined = refinement_uses(self)
        if self._counts():
            # Histograms of edges count their labels whether the refinement does or not.
            uses = used(node_labels=True, edge_labels=self.base == "edge" or len(refined) > 1)
            return GraphTags(features=True, directed=True, refines=True, uses=uses)
        tags = base_tags(self.base)
        tags = replace(tags, refines=True, uses=joined_uses(tags.uses, refined))
        if isinstance(getattr(self, "counter_", None), LevelBases):
            tags = as_fitted(tags, self.counter_.bases[0])
        return tags


@shared_texts
class WLOptimalAssignment(CountKernel):
    """Weisfeiler-Lehman optimal assignment kernel (WL-OA).

    k(G, G') = Σ_h Σ_σ min(c_h(G, σ), c_h(G', σ)): the value of the best one-to-one matching of the
    nodes, where the similarity of two nodes is the number of levels at which their colours agree.
    Cost: O(H m) for m edges, then one pass over common features per pair. Positive semi-definite.
    Directed graphs are refined as in `WeisfeilerLehman`.

    Parameters
    ----------
    n_iter : int, default 5
        Number of rounds of refinement (H).
    %(include_initial)s
    use_edge_labels : bool or "auto", default "auto"
        Whether refinement distinguishes neighbours by edge labels; "auto": if the fitted graphs
        have edge labels.
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
        normalize: Normalization = False,
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
        return GraphTags(directed=True, refines=True, uses=refinement_uses(self))


def checked_base(base: Any) -> GraphKernel:
    """A new base of WeisfeilerLehman; raises ValueError if the base refines labels itself."""
    kernel = new_base(base, "WeisfeilerLehman")
    if kernel.__graph_tags__().refines:
        raise ValueError(
            f"WeisfeilerLehman(base={kernel!r}): this base refines node labels itself. Give a "
            'base that uses labels unchanged, such as "sp", or use the base alone.'
        )
    return kernel


class LevelBases:
    """A base kernel on every level of a refinement.

    Parameters
    ----------
    colouring : Colouring
    base : str or kernel

    Attributes
    ----------
    bases : list of kernels
        One fitted base per level, with the colours of the level as node labels.
    """

    stored = fields(colouring=Instance(Colouring), bases=ListOf(Instance(GraphKernel), least=1))

    def __init__(self, colouring: Colouring, base: Any) -> None:
        self.colouring = colouring
        levels = colouring.level_numbers
        self.bases: list[Any] = [checked_base(base) for _ in levels]

    def fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> SumProfile:
        """Refine, and fit the base on every level."""
        levels = self._levels(batch, self.colouring.fit(batch))
        for kernel, level in zip(self.bases, levels, strict=True):
            fit_base(kernel, level, y, tiling)
        return SumProfile(tuple(b.profile_ for b in self.bases), canonical(self.bases[0].normalize))

    def profile(self, batch: GraphBatch, tiling: Tiling) -> SumProfile:
        """The profile of new graphs."""
        levels = self._levels(batch, self.colouring.apply(batch))
        members = tuple(
            base_profile(base, level, tiling)
            for base, level in zip(self.bases, levels, strict=True)
        )
        return SumProfile(members, canonical(self.bases[0].normalize))

    def features(self, batch: GraphBatch) -> Any:
        """The features of the bases side by side, level by level."""
        levels = self._levels(batch, self.colouring.apply(batch))
        blocks = [member_features(b, x) for b, x in zip(self.bases, levels, strict=True)]
        if all(sparse.issparse(block) for block in blocks):
            return sparse.csr_matrix(sparse.hstack(blocks, format="csr"))
        return np.hstack([b.toarray() if sparse.issparse(b) else b for b in blocks])

    def names(self) -> list[str]:
        """The level, then the base's name of the feature, with colours as names of nodes."""
        numbers = self.colouring.level_numbers
        return [
            f"h{level}:{name}"
            for level, base in zip(numbers, self.bases, strict=True)
            for name in base.get_feature_names_out()
        ]

    @property
    def widths(self) -> list[int]:
        """The number of features of each level."""
        return [_width(base) for base in self.bases]

    @property
    def n_features(self) -> int:
        return sum(self.widths)

    def validate(self) -> None:
        """Raise ValueError if colours and bases do not fit together."""
        n_levels = len(self.colouring.level_numbers)
        require(len(self.bases) == n_levels, "there must be one base per level")
        for base in self.bases:
            require(hasattr(base, "profile_"), "a base is not fitted")
            require(type(base) is type(self.bases[0]), "the bases are of different kinds")
            require(base.normalize == self.bases[0].normalize, "the bases do not agree")

    @staticmethod
    def _levels(batch: GraphBatch, levels: Ints) -> list[GraphBatch]:
        """The graphs with the colours of each level as node labels."""
        most = int(levels.max(initial=-1)) + 1
        numbers = tuple(range(most))
        return [
            batch.with_columns(
                node_labels=Categorical(colours, numbers[: int(colours.max(initial=-1)) + 1])
            )
            for colours in levels
        ]


def _width(base: Any) -> int:
    if not has_features(base):
        return 0
    if isinstance(base, CountKernel):
        return int(base.counter_.n_features)
    return len(base.get_feature_names_out())
