"""GraphHopper: shortest paths with equally many nodes, compared node by node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, cast

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.fields import Counts, Flag, Instance, Number, Text, fields
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require, require_instance
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.paths.place_comparison import (
    ALL,
    DIAGONAL,
    TRIANGLE,
    AttributedPlaces,
    compare_places,
)
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import require_fitted_weights
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.labels import LABEL_CHOICE
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.profile import CountProfile, Profile
from gramlet.kernels.contract.slow_graphs import hops_across
from gramlet.kernels.contract.tags import GraphTags, used
from gramlet.kernels.paths.place_counting import PlaceCounter, PlaceReader

__all__ = ["AttributeSumProfile", "GraphHopper", "HopperProfile"]

_EXPLICIT = ("label", "linear")


@dataclass(frozen=True)
class AttributeSumProfile(CountProfile):
    """Sums of attributes: like counts, but possibly negative."""

    stored = fields(counts=Counts("n", "d", signed=True))

    def take(self, rows: Ints) -> AttributeSumProfile:
        return AttributeSumProfile(self.counts[rows], self.measure, self.n_known)

    def as_counts(self) -> CountProfile:
        """The same numbers as a `CountProfile`."""
        return CountProfile(self.counts, self.measure, self.n_known)


@dataclass(frozen=True)
class HopperProfile(Profile):
    """Tables of places on shortest paths, compared by a Gaussian or bridge kernel on attributes.

    Attributes
    ----------
    places : AttributedPlaces
    bridge : bool
    scale : float
        μ of the Gaussian, or the width of the bridge.
    """

    stored = fields(scale=Number(0.0))

    places: AttributedPlaces
    bridge: bool
    scale: float

    def __len__(self) -> int:
        return len(self.places)

    def take(self, rows: Ints) -> HopperProfile:
        return replace(self, places=self.places.take(rows))

    def compare(self, other: HopperProfile, tiling: Tiling = QUIET) -> Floats:
        return self._filled(other, ALL, tiling)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        return self._filled(self, TRIANGLE, tiling)

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        return self._filled(self, DIAGONAL, tiling)[:, 0]

    def _filled(self, other: HopperProfile, which: int, tiling: Tiling) -> Floats:
        return compare_places(self.places, other.places, self.bridge, self.scale, which, tiling)


def _has_features(kernel: GraphHopper) -> bool:
    if kernel.node_kernel == "auto":
        return getattr(kernel, "node_kernel_", None) == "label"
    return kernel.node_kernel in _EXPLICIT


@shared_texts
class GraphHopper(GraphKernel):
    """GraphHopper kernel.

    k sums, over all pairs of shortest paths of two graphs with equally many nodes, a node kernel κ
    of the nodes at the same places. All shortest paths are used, including ties and single nodes,
    in both directions (along arcs in directed graphs). With M_v[i, l] the number of shortest paths
    of l nodes with v at place i, k = Σ_{v,v'} ⟨M_v, M_v'⟩ κ(v, v'). Cost: O(n m δ) for a graph with
    n nodes, m edges and shortest paths of up to δ nodes; then, for "label" and "linear", a sparse
    product, otherwise O(n n' δ²) per pair.

    Parameters
    ----------
    node_kernel : {"auto", "label", "linear", "gaussian", "bridge"}
        κ: "label" is 1 for equal labels and 0 otherwise, "linear" ⟨a, a'⟩ of the attributes,
        "gaussian" exp(−μ‖a − a'‖²), "bridge" max(0, 1 − ‖a − a'‖/width), which is not positive
        semi-definite for two or more attributes. "auto": "gaussian" if the fitted graphs have node
        attributes, "label" otherwise.
    mu : float or None
        μ of "gaussian"; None: 1 / (number of attributes).
    width : float, default 4.0
        Distance at which "bridge" reaches 0.
    weighted : bool, default False
        Use the edge weights, which must be above 0, as lengths; paths whose lengths agree up to
        1e-9 (relative) are ties. Otherwise every edge has length 1.
    use_labels : bool or "auto", default False
        Multiply a kernel on attributes by "label". Has no effect for "label" itself.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    node_kernel_ : str
        The node kernel that is used.

    Notes
    -----
    "label" and "linear" have an explicit feature map, `features`. Counts are exact up to 2^53; for
    larger ones there is a warning.

    References
    ----------
    Feragen, Kasenburg, Petersen, de Bruijne, Borgwardt (2013), Scalable kernels for graphs with
    continuous attributes.

    Examples
    --------
    >>> from gramlet import GraphHopper
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["C", "O", "C"])]
    >>> kernel = GraphHopper(node_kernel="label")
    >>> kernel.fit_transform(graphs)
    array([[ 6., 11.],
           [11., 33.]])
    >>> kernel.get_feature_names_out()[:3].tolist()
    ['C:1/1', 'O:1/1', 'C:1/2']
    """

    stored = fields(
        node_kernel_=Text(), has_weights_=Flag(), counter_=Instance(PlaceCounter, PlaceReader)
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "node_kernel": [StrOptions({"auto", "label", "linear", "gaussian", "bridge"})],
        "mu": [Interval(Real, 0, None, closed="left"), None],
        "width": [Interval(Real, 0, None, closed="neither")],
        "weighted": ["boolean"],
        "use_labels": LABEL_CHOICE,
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        node_kernel: str = "auto",
        mu: float | None = None,
        width: float = 4.0,
        weighted: bool = False,
        use_labels: bool | str = False,
        *,
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.node_kernel = node_kernel
        self.mu = mu
        self.width = width
        self.weighted = weighted
        self.use_labels = use_labels
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    @available_if(_has_features)
    def features(self, X: Any) -> Any:
        """Compute the explicit feature map: one row per graph, one column per fitted feature.

        ``features(X) @ features(fitted).T`` is the un-normalised `transform(X)`. Available for the
        node kernels "label" and "linear".
        """
        return self.profile_of(X).features()

    @available_if(_has_features)
    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A name for each column of `features`: "C:2/3" is C at the second place of three."""
        check_is_fitted(self)
        return np.array(self.counter_.names(), dtype=object)

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> Profile:
        self.node_kernel_ = self.node_kernel
        if self.node_kernel == "auto":
            self.node_kernel_ = "label" if batch.node_attributes is None else "gaussian"
        linear = self.node_kernel_ == "linear"
        self.has_weights_ = bool(self.weighted) and batch.edge_weights is not None
        if self.node_kernel_ in _EXPLICIT:
            use_labels = self.use_labels if linear else True
            self.counter_: Any = PlaceCounter(use_labels, self.weighted, linear)
            counts = self.counter_.fit(batch, tiling)
            kind = AttributeSumProfile if linear else CountProfile
            return kind(counts, "dot", int(counts.shape[1]))
        self.counter_ = PlaceReader(self.use_labels, self.weighted)
        return self._with_scale(self.counter_.fit(batch, tiling))

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> Profile:
        if self.has_weights_:
            require_fitted_weights(batch, type(self).__name__)
        if self.node_kernel_ not in _EXPLICIT:
            return self._with_scale(self.counter_.read(batch, tiling))
        counts = self.counter_.count(batch, tiling)
        fitted: Any = self.profile_
        return type(fitted)(counts, "dot", fitted.n_known)

    def _current(self, profile: Any) -> Any:
        return self._with_scale(profile.places) if isinstance(profile, HopperProfile) else profile

    def _with_scale(self, places: AttributedPlaces) -> HopperProfile:
        bridge = self.node_kernel_ == "bridge"
        # The graphs' own number of attributes, as fitted graphs without nodes have none.
        mu = 1.0 / max(1, len(places.columns)) if self.mu is None else self.mu
        return HopperProfile(places, bridge, float(self.width if bridge else mu))

    def _validate_fitted(self) -> None:
        allowed = (self.node_kernel,) if self.node_kernel != "auto" else ("label", "gaussian")
        require(self.node_kernel_ in allowed, "node_kernel_ does not fit node_kernel")
        profile, counter = cast(Any, self.profile_), self.counter_
        explicit = self.node_kernel_ in _EXPLICIT
        require_instance("counter_", counter, PlaceCounter if explicit else PlaceReader)
        require(counter.weighted == self.weighted, "counter_ does not fit weighted")
        require(type(self.has_weights_) is bool, "has_weights_ must be True or False")
        if explicit:
            linear = self.node_kernel_ == "linear"
            require(linear == (counter.reader is not None), "counter_ does not fit node_kernel")
            kind = AttributeSumProfile if linear else CountProfile
            require(type(profile) is kind, f"profile_ must be a {kind.__name__}")
            known = (profile.n_known, profile.counts.shape[1])
            require(
                known == (counter.n_features,) * 2, "counter_ has a different number of features"
            )
        else:
            require_instance("profile_", profile, HopperProfile)
            width = len(profile.places.columns)
            require(width == counter.n_attributes, "profile_ has a different number of attributes")
            folded = counter.fold and not self.weighted and not self.directed_
            require(folded or not profile.places.folded, "profile_ does not fit the direction")

    def _expected_seconds(self, batch: GraphBatch, graph: int) -> float:
        # Counts of places on paths: per pair of nodes, one per hop.
        return 2e-9 * float(batch.sizes[graph]) ** 2 * hops_across(batch, graph)

    def __graph_tags__(self) -> GraphTags:
        needs = () if self.node_kernel in ("auto", "label") else ("node_attributes",)
        chosen = getattr(self, "node_kernel_", self.node_kernel)
        return GraphTags(
            features=_has_features(self),
            features_by_graphs=self.node_kernel == "auto" and not hasattr(self, "node_kernel_"),
            directed=True,
            psd=self.node_kernel != "bridge",
            needs=needs,
            uses=used(
                node_labels=chosen in ("auto", "label") or self.use_labels,
                node_attributes=chosen != "label",
                edge_weights=self.weighted,
            ),
            after_fit=("mu", "width"),
        )
