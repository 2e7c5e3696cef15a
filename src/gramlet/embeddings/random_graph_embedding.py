"""Random graph embedding: graphs described by their earth mover's distances to random graphs.

Draws the random graphs and converts distances to features; the coordinates of nodes are computed in
`kernels.spectral.earth_mover`, the distances in the engine.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import (
    ArrayOf,
    Instance,
    Labels,
    ListOf,
    Number,
    Optional,
    Tuple,
    fields,
)
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require
from gramlet.embeddings.base import EMBEDDING_CONSTRAINTS, GraphEmbedding
from gramlet.engine.core.ragged import offsets_of
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.transport.earth_mover import MassPoints, earth_mover_distances, mass_points
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags, used
from gramlet.kernels.spectral.earth_mover import (
    NODE_POINT_CONSTRAINTS,
    NodeReader,
    PlacedNodes,
    label_cost,
)

Anchor = tuple[Floats, Floats]


@shared_texts
class RandomGraphEmbedding(GraphEmbedding):
    """Random graph embedding (RGE).

    Feature j of a graph G is exp(−γ EMD(G, ω_j)) / √R, with the exact earth mover's distance to a
    random graph ω_j of D_j nodes, each of mass 1/D_j; D_j is uniform in 1..``max_nodes``. Nodes of
    G have the coordinates and masses of `earth_movers_distance`. Dot products of features estimate
    the kernel ∫ p(ω) exp(−γ EMD(G, ω)) exp(−γ EMD(G', ω)) dω, which is positive definite, with an
    error of order 1/√R. Cost: the eigenvectors of each graph, then R transport problems per graph,
    of n × D_j nodes each, close to linear in n.

    Parameters
    ----------
    n_components : int, default 128
        Number of random graphs (R), and of columns.
    n_dims : int, default 6
        Number of coordinates per node (d); graphs with fewer nodes have columns of zeros.
    max_nodes : int, default 15
        The largest number of nodes of a random graph (D_max).
    gamma : float, default 1.0
        Decay of a feature with the distance (γ).
    anchors : {"uniform", "gaussian", "data"}
        The coordinates of the nodes of random graphs. "uniform": U[0, 1], times the largest
        coordinate in the fitted graphs; "gaussian": absolute values of N(0, 1), with the same
        scale; "data": those of nodes of one random fitted graph, distinct ones if it has enough.
    use_labels : bool or "auto"
        Whether to use labels; "auto" uses them if the fitted graphs have labels.
    label_weight : float, default 1.0
        Length of the vectors that encode labels: different labels add 2·label_weight² to the
        squared distance of two nodes.
    random_state : int, RandomState or None
        Seed of the random graphs. With the same seed, the first graphs of a larger R are those of a
        smaller one.
    %(masses)s
        Nodes of random graphs always have masses 1/D_j.
    label_draw : {"frequency", "uniform"}, default "frequency"
        How labels of random nodes are drawn: by frequency among the fitted nodes, or uniformly from
        the fitted labels. The nodes of "data" anchors have their own labels.
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    anchors_ : list of (coordinates, masses)
        The random graphs, one row per node. With labels, the ``n_dims`` coordinates are followed by
        ``label_weight`` × one-hot(label): one column per label in ``labels_``, and a last one for
        all labels not seen in `fit`, which no random graph uses.
    labels_ : tuple or None
        The labels in the order of their columns; None if there are none, or if they are not used.
    scale_ : float
        The largest structural coordinate in the fitted graphs.

    Notes
    -----
    A graph without nodes gets the zero row. Edge weights are ignored.

    References
    ----------
    Wu, Yen, Xu, Zhao, Xia, Witbrock (2018), Scalable global graph kernel via random features: from
    node embedding to graph embedding.

    Examples
    --------
    >>> from gramlet import RandomGraphEmbedding
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> embedding = RandomGraphEmbedding(n_components=3, n_dims=2, random_state=0)
    >>> embedding.fit_transform(graphs).shape
    (2, 3)
    >>> embedding.labels_, [coordinates.shape[1] for coordinates, _ in embedding.anchors_]
    (('C', 'O'), [5, 5, 5])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "max_nodes": [Interval(Integral, 1, None, closed="left")],
        "anchors": [StrOptions({"uniform", "gaussian", "data"})],
        "label_draw": [StrOptions({"frequency", "uniform"})],
        **NODE_POINT_CONSTRAINTS,
        **EMBEDDING_CONSTRAINTS,
    }

    stored = fields(
        reader_=Instance(NodeReader, n_dims="n_dims"),
        scale_=Number(0.0),
        labels_=Optional(Labels()),
        anchors_=ListOf(
            Tuple(ArrayOf("float64", None, "width"), ArrayOf("float64", None, least=0.0)), least=1
        ),
    )

    def __init__(
        self,
        n_components: int = 128,
        n_dims: int = 6,
        *,
        max_nodes: int = 15,
        gamma: float = 1.0,
        anchors: str = "uniform",
        use_labels: bool | str = "auto",
        label_weight: float = 1.0,
        random_state: Any = None,
        masses: str = "degree",
        label_draw: str = "frequency",
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_dims = n_dims
        self.max_nodes = max_nodes
        self.gamma = gamma
        self.anchors = anchors
        self.use_labels = use_labels
        self.label_weight = label_weight
        self.random_state = random_state
        self.masses = masses
        self.label_draw = label_draw
        self.n_jobs = n_jobs
        self.verbose = verbose

    def distance(self, X: Any) -> Floats:
        """Earth mover's distances of X to the random graphs; infinite for a graph without nodes.

        From these, features for other values of gamma are cheap to compute: see `from_distances`.
        """
        check_is_fitted(self)
        tiling = self._tiling()
        return self._distances(self._profile(as_batch(X), tiling), tiling)

    def from_distances(self, distances: Floats) -> Floats:
        """Features from distances: ``from_distances(distance(X))`` equals ``transform(X)``.

        They are ``exp(-gamma * distances) / sqrt(n_components)``, with the current ``gamma``.
        """
        check_is_fitted(self)
        features = np.asarray(distances, dtype=np.float64) * -self.gamma
        np.exp(features, out=features)
        features /= np.sqrt(len(self.anchors_))
        return features

    def _check(self, batch: GraphBatch) -> None:
        if self.anchors == "data" and batch.n_nodes_total == 0:
            raise ValueError(
                'RandomGraphEmbedding(anchors="data") takes random graphs from the fitted ones, '
                f'but all {len(batch)} are empty. Fit a graph with nodes, or use anchors="uniform".'
            )

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> MassPoints:
        self.reader_ = NodeReader(self.n_dims, self.use_labels, self.masses)
        nodes = self.reader_.fit(batch, tiling)
        self.scale_ = float(nodes.points.max(initial=0.0))
        # Without fitted labels, there are no columns for labels.
        self.labels_ = self.reader_.labels.vocabulary.values or None
        draw = _AnchorDraw(self, nodes)
        self.anchors_: list[Anchor] = [draw() for _ in range(self.n_components)]
        return nodes.with_masses()

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> MassPoints:
        nodes = self.reader_.read(batch, tiling)
        if self.labels_ is None:
            nodes.labels = np.zeros_like(nodes.labels)
        return nodes.with_masses()

    def _features(self, profile: MassPoints, tiling: Tiling) -> Floats:
        return self.from_distances(self._distances(profile, tiling))

    def _distances(self, profile: MassPoints, tiling: Tiling) -> Floats:
        cost = label_cost(self.label_weight, "RandomGraphEmbedding")
        return earth_mover_distances(profile, self._anchor_points(), cost, tiling=tiling)

    def _anchor_points(self) -> MassPoints:
        sizes = [len(masses) for _, masses in self.anchors_]
        rows = np.concatenate([coordinates for coordinates, _ in self.anchors_])
        points, block = rows[:, : self.n_dims], rows[:, self.n_dims :]
        labels = block.argmax(axis=1) if block.shape[1] else np.zeros(len(rows), dtype=np.int64)
        offsets = offsets_of(np.array(sizes))
        return mass_points(offsets, points, labels, np.ones(len(rows), dtype=np.int64))

    def validate(self) -> None:
        """Raise ValueError if the random graphs do not fit the labels and the fitted nodes."""
        require(self.reader_.masses == self.masses, "masses are not those of reader_")
        values = self.reader_.labels.vocabulary.values or None
        require(self.labels_ == values, "labels_ are not those of reader_")
        width = self.n_dims + (0 if values is None else len(values) + 1)
        for points, masses in self.anchors_:
            require(points.shape == (len(masses), width), "a random graph has other columns")
            require(len(masses) > 0, "a random graph must have nodes")

    def _names(self) -> list[str]:
        return [f"random graph {j}" for j in range(len(self.anchors_))]

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(
            kind="embedding",
            random=True,
            depends_on_fitted=True,
            after_fit=("gamma",),
            uses=used(node_labels=self.use_labels),
            distances=True,
        )


class _AnchorDraw:
    """Draws one random graph per call."""

    def __init__(self, settings: RandomGraphEmbedding, nodes: PlacedNodes) -> None:
        self._settings = settings
        self._nodes = nodes
        self._rng = check_random_state(settings.random_state)
        self._with_nodes = np.flatnonzero(np.diff(nodes.offsets))
        self._n_columns = 0 if settings.labels_ is None else len(settings.labels_) + 1

    def __call__(self) -> Anchor:
        size = int(self._rng.randint(1, self._settings.max_nodes + 1))
        if self._settings.anchors == "data":
            chosen = self._fitted_nodes(size)
            points, labels = self._nodes.points[chosen], self._nodes.labels[chosen]
        else:
            points, labels = self._random_points(size), self._random_labels(size)
        block = np.zeros((size, self._n_columns))
        if self._n_columns:
            block[np.arange(size), labels] = self._settings.label_weight
        return np.hstack([points, block]), np.full(size, 1.0 / size)

    def _fitted_nodes(self, size: int) -> Ints:
        offsets = self._nodes.offsets
        graph = self._with_nodes[self._rng.randint(len(self._with_nodes))]
        first, available = offsets[graph], offsets[graph + 1] - offsets[graph]
        chosen: Ints = self._rng.choice(available, size, replace=available < size)
        return first + chosen

    def _random_points(self, size: int) -> Floats:
        shape = (size, self._settings.n_dims)
        if self._settings.anchors == "uniform":
            unit = self._rng.uniform(size=shape)
        else:
            unit = np.abs(self._rng.standard_normal(shape))
        return unit * self._settings.scale_

    def _random_labels(self, size: int) -> Ints:
        """Labels of uniformly drawn fitted nodes, that is by frequency, or uniform labels."""
        codes = self._nodes.labels
        if not self._n_columns:
            return codes[:0]
        if self._settings.label_draw == "uniform":  # the last column is for unseen labels
            return self._rng.randint(self._n_columns - 1, size=size)
        return codes[self._rng.randint(len(codes), size=size)]
