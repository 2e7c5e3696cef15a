"""GraphHopper: shortest paths with equally many nodes, compared node by node."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, cast

import numpy as np
from scipy import sparse
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.fields import ArrayOf, Counts, Flag, Instance, Integer, Number, Text, fields
from gramlet.common.notices import warn_caller
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import LARGEST, LARGEST_COUNT, require
from gramlet.engine.core.signature_table import SignaturesOf, SignatureTable, pack_rows
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.paths.path_places import (
    ALL,
    DIAGONAL,
    TRIANGLE,
    PlaceTables,
    compare_places,
    place_and_length,
    place_tables,
)
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import (
    checked_weights,
    require_fitted_weights,
    required_attributes,
)
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.labels import LABEL_CHOICE, NodeLabels
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.profile import CountProfile, Profile
from gramlet.kernels.contract.slow_graphs import hops_across
from gramlet.kernels.contract.tags import GraphTags, used

_OWNER = "GraphHopper"
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
    places : PlaceTables
    bridge : bool
    scale : float
        μ of the Gaussian, or the width of the bridge.
    """

    places: PlaceTables
    bridge: bool
    scale: float

    stored = fields(places=Instance(PlaceTables), bridge=Flag(), scale=Number(0.0))

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


class PlaceReader:
    """Tables of places for groups of nodes that have equal labels and attributes.

    Parameters
    ----------
    use_labels : bool or "auto"
    weighted : bool
    use_attributes : bool
    """

    stored = fields(
        labels=Instance(NodeLabels),
        weighted=Flag(),
        use_attributes=Flag(),
        n_attributes=Integer(0),
    )

    def __init__(self, use_labels: bool | str, weighted: bool, use_attributes: bool) -> None:
        self.labels = NodeLabels(use_labels)
        self.weighted = weighted
        self.use_attributes = use_attributes

    def fit(self, batch: GraphBatch, tiling: Tiling) -> PlaceTables:
        """Learn the labels and the number of attributes; return the tables of these graphs."""
        self.n_attributes = 0
        self.labels.fit(batch)
        if self.use_attributes:
            self.n_attributes = int(required_attributes(batch, _OWNER).shape[1])
        return self.read(batch, tiling)

    def read(self, batch: GraphBatch, tiling: Tiling) -> PlaceTables:
        """The tables of new graphs."""
        attributes = np.zeros((batch.n_nodes_total, 0))
        if self.use_attributes:
            attributes = required_attributes(batch, _OWNER, self.n_attributes or None)
        if len(attributes) == 0:
            attributes = np.zeros((0, self.n_attributes))
        bits = np.ascontiguousarray(attributes).view(np.int64)
        # Groups of nodes of one graph with equal labels and attributes, in the graphs' order.
        rows = np.column_stack([batch.graph_of_node, self.labels.encode(batch), bits])
        table, group_of_node = SignatureTable.fit(*pack_rows(rows))
        groups = table.data.reshape(-1, rows.shape[1])
        tables = place_tables(
            batch.node_offsets,
            batch.indptr,
            batch.indices,
            checked_weights(batch, _OWNER, positive=True) if self.weighted else None,
            np.searchsorted(groups[:, 0], np.arange(len(batch) + 1)),
            group_of_node,
            np.ascontiguousarray(groups[:, 1]),
            np.ascontiguousarray(groups[:, 2:].T).view(np.float64),
            tiling,
        )
        _check_counts(tables)
        return tables


class PlaceCounter:
    """Features by label, place and length of path: counts or sums of attributes.

    A feature is a label, a line of the table of places, and an attribute (0 without attributes).
    """

    stored = fields(reader=Instance(PlaceReader), types=SignaturesOf(3))

    def __init__(self, reader: PlaceReader) -> None:
        self.reader = reader

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        """Learn the features of these graphs; one row per graph."""
        indptr, rows, values = self._entries(self.reader.fit(batch, tiling))
        self.types, codes = SignatureTable.fit(*pack_rows(rows))
        return _rows_matrix(indptr, codes, values, len(self.types))

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        """The features of new graphs; columns after the fitted ones are unseen features."""
        indptr, rows, values = self._entries(self.reader.read(batch, tiling))
        codes = self.types.lookup(*pack_rows(rows))
        n_columns = max(len(self.types), int(codes.max(initial=-1)) + 1)
        return _rows_matrix(indptr, codes, values, n_columns)

    def names(self) -> list[str]:
        """A name per feature: "C:2/3" is label C at the second place of paths of three nodes."""
        rows = self.types.data.reshape(-1, 3)
        labels = self.reader.labels.names()
        places, lengths = place_and_length(rows[:, 1])
        names = []
        for (label, _, column), place, length in zip(rows, places, lengths, strict=True):
            what = f"attribute {column}" if self.reader.use_attributes else labels[label]
            if self.reader.use_attributes and self.reader.labels.used:
                what = f"{labels[label]}:{what}"
            names.append(f"{what}:{place + 1}/{length}")
        return names

    def validate(self) -> None:
        """Raise ValueError if `fit` could not have produced these features."""
        most = (len(self.reader.labels), 1 << 50, max(1, self.reader.n_attributes))
        for part, limit in zip(self.types.data.reshape(-1, 3).T, most, strict=True):
            ArrayOf("int64", None, least=0, most=limit - 1).check("features", part, {})

    @property
    def n_features(self) -> int:
        """The number of fitted features."""
        return len(self.types)

    def _entries(self, tables: PlaceTables) -> tuple[Ints, Ints, Floats]:
        """The non-zero entries: offsets of the graphs; label, line and attribute; values."""
        where = np.flatnonzero(tables.counts)
        counts = tables.counts[where]
        graph = np.searchsorted(tables.offsets, where, side="right") - 1
        n_groups = np.diff(tables.group_offsets)[graph]
        line, group = np.divmod(where - tables.offsets[graph], n_groups)
        group += tables.group_offsets[graph]
        label = tables.labels[group]
        if not self.reader.use_attributes:
            rows = np.column_stack([label, line, np.zeros(len(line), dtype=np.int64)])
            return np.searchsorted(where, tables.offsets), rows, counts
        # Attributes of all groups with one label, weighted by counts and summed.
        table, ids = SignatureTable.fit(*pack_rows(np.column_stack([graph, label, line])))
        places = table.data.reshape(-1, 3)
        shape = (len(places), len(tables.labels))
        sums = sparse.csr_matrix((counts, (ids, group)), shape=shape) @ tables.columns.T
        place, column = np.nonzero(sums)
        indptr = np.searchsorted(places[place, 0], np.arange(len(tables) + 1))
        return indptr, np.column_stack([places[place, 1:], column]), sums[place, column]


def _rows_matrix(indptr: Ints, codes: Ints, values: Floats, n_columns: int) -> sparse.csr_matrix:
    matrix = sparse.csr_matrix((values, codes, indptr), shape=(len(indptr) - 1, n_columns))
    matrix.sort_indices()
    return matrix


def _check_counts(tables: PlaceTables) -> None:
    """Warn of rounded counts; raise an error if sums of squares of counts would overflow."""
    largest = tables.counts.max(initial=0.0)
    if largest <= LARGEST_COUNT:
        return
    worst = int(np.searchsorted(tables.offsets, np.argmax(tables.counts), side="right") - 1)
    if not largest <= LARGEST:
        raise ValueError(
            f"{_OWNER}: graph {worst} has more than {LARGEST:g} shortest paths through one place, "
            "too many for floating-point numbers. Leave it out."
        )
    warn_caller(
        f"{_OWNER}: graph {worst} has {largest:.3g} shortest paths through one place; counts "
        "beyond 2^53 are rounded.",
    )


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
        Bandwidth of "gaussian", as the factor μ of the squared distance: a larger value makes the
        kernel narrower. None: 1 / (number of attributes).
    width : float, default 4.0
        Bandwidth of "bridge", as the distance at which it reaches 0: a larger value makes the
        kernel wider.
    weighted : bool, default False
        Use the edge weights, which must be above 0, as lengths; paths whose lengths agree up to
        1e-9 (relative) are ties. Otherwise every edge has length 1.
    use_labels : bool or "auto", default "auto"
        Multiply a kernel on attributes by "label"; "auto": if the fitted graphs have labels. Has no
        effect for "label" itself.
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
        counter_=Instance(PlaceCounter, PlaceReader),
        node_kernel_=Text(),
        has_weights_=Flag(),
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
        *,
        width: float = 4.0,
        weighted: bool = False,
        use_labels: bool | str = "auto",
        normalize: Normalization = False,
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
            self.counter_: Any = PlaceCounter(PlaceReader(use_labels, self.weighted, linear))
            counts = self.counter_.fit(batch, tiling)
            kind = AttributeSumProfile if linear else CountProfile
            return kind(counts, "dot", int(counts.shape[1]))
        self.counter_ = PlaceReader(self.use_labels, self.weighted, True)
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

    def _with_scale(self, places: PlaceTables) -> HopperProfile:
        bridge = self.node_kernel_ == "bridge"
        # The graphs' own number of attributes, as fitted graphs without nodes have none.
        mu = 1.0 / max(1, len(places.columns)) if self.mu is None else self.mu
        return HopperProfile(places, bridge, float(self.width if bridge else mu))

    def _validate_fitted(self) -> None:
        allowed = (self.node_kernel,) if self.node_kernel != "auto" else ("label", "gaussian")
        require(self.node_kernel_ in allowed, "node_kernel_ does not fit node_kernel")
        profile, counter = cast(Any, self.profile_), self.counter_
        explicit, linear = self.node_kernel_ in _EXPLICIT, self.node_kernel_ == "linear"
        require(
            type(counter) is (PlaceCounter if explicit else PlaceReader),
            "counter_ does not fit node_kernel",
        )
        reader = counter.reader if explicit else counter
        require(reader.weighted == self.weighted, "counter_ does not fit weighted")
        with_attributes = self.node_kernel_ != "label"
        require(reader.use_attributes == with_attributes, "counter_ does not fit node_kernel")
        kind: type[Profile] = HopperProfile
        if explicit:
            kind = AttributeSumProfile if linear else CountProfile
        require(type(profile) is kind, f"profile_ must be a {kind.__name__}")
        if explicit:
            known = (profile.n_known, profile.counts.shape[1])
            fits = known == (counter.n_features,) * 2
            require(fits, "counter_ has a different number of features")
        else:
            width = len(profile.places.columns)
            require(width == reader.n_attributes, "profile_ has a different number of attributes")

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
