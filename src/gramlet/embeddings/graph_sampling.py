"""Graph sampling and averaging (GSA-φ): the mean of random features over random subgraphs.

Combines a sampler, a feature map and their random numbers; `samplers` draws the subgraphs
and the feature maps sum over them.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from sklearn.base import clone
from sklearn.utils import check_random_state

from gramlet.common.fields import Instance, Integer, Number, Optional, fields
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require
from gramlet.embeddings.base import EMBEDDING_CONSTRAINTS, GraphEmbedding
from gramlet.embeddings.feature_maps import EigenGaussianMap, GaussianMap, GraphletMap, MatchMap
from gramlet.embeddings.optical_map import OpticalMap
from gramlet.embeddings.samplers import (
    Drawn,
    LabelBlock,
    RandomWalkSampler,
    Sampler,
    UniformSampler,
    draw,
    stream_seed,
)
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.graphlets.patterns import MAX_NODES
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.labels import LABEL_CHOICE, NodeLabels
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags, used
from gramlet.theory import graphlet_samples

_SAMPLERS: dict[str, type[Sampler]] = {"uniform": UniformSampler, "walk": RandomWalkSampler}
_MAPS: dict[str, type[GraphletMap]] = {
    "optical": OpticalMap,
    "gaussian": GaussianMap,
    "eigen": EigenGaussianMap,
    "match": MatchMap,
}


# The largest number of samples that a file may contain.
_MOST_SAMPLES = 10**9


@shared_texts
class GraphSampling(GraphEmbedding):
    """Graph sampling and averaging (GSA-φ).

    The embedding of a graph is (1/s) Σ_j φ(F_j), the mean of a feature map φ over s subgraphs F_j
    induced by k randomly drawn nodes. Dot products of embeddings estimate the mean kernel
    E k(F, F'), their distances the maximum mean discrepancy (see `gramlet.mmd`).

    Each graph has its own random stream, seeded by ``random_state``, its size and its edges: its
    features depend neither on the batch, nor on its position there, nor on ``n_jobs``, and equal
    graphs get equal features. Equal patterns are evaluated once for the whole batch and weighted by
    their counts. Cost: O(s k²) per graph to draw, then, per feature, a sum over the distinct
    patterns drawn (over pairs of pairs of nodes for `OpticalMap`).

    Parameters
    ----------
    k : int, default 5
        Number of nodes of a subgraph, 2 to 8. Smaller graphs are padded with isolated nodes.
    n_samples : int or "auto", default 2000
        Number of subgraphs drawn per graph (s). "auto": ``theory.graphlet_samples(k, eps, delta)``.
    sampler : UniformSampler, RandomWalkSampler, "uniform" or "walk"
        How nodes are drawn; a name means the sampler with its defaults.
    feature_map : MatchMap, GaussianMap, EigenGaussianMap, OpticalMap or their names
        φ: "match", "gaussian", "eigen", "optical".
    use_labels : bool, default False
        Whether patterns include the labels of their nodes: as one-hot blocks after the flattened
        adjacency matrix (for `EigenGaussianMap`, as numbers of nodes per label; for `MatchMap`,
        isomorphisms preserve labels). Labels not seen in `fit` share one coordinate.
    eps, delta : float
        For ``n_samples="auto"``: with probability 1 − delta the estimated spectrum is within eps of
        the true one, in the L1 norm.
    random_state : int, RandomState or None
        Seed of the feature map and of the graphs' streams, used once, in `fit`.
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    feature_map_ : the fitted map
    n_samples_ : int
    seed_ : int
        The seed of the graphs' streams, together with the graphs.

    References
    ----------
    Ghanem, Keriven, Tremblay (2021), Fast graph kernel with optical random features.

    Examples
    --------
    >>> from gramlet import GraphBatch, GraphSampling, MatchMap, RandomWalkSampler
    >>> triangle = [(0, 1), (1, 2), (0, 2)]
    >>> graphs = GraphBatch.from_edges([triangle, [(0, 1), (1, 2)]])
    >>> GraphSampling(k=3, n_samples=10, feature_map=MatchMap()).fit_transform(graphs)
    array([[0., 0., 0., 1.],
           [0., 0., 1., 0.]])
    >>> sampling = GraphSampling(sampler=RandomWalkSampler(flyback=0.1), feature_map="gaussian")
    >>> sampling.set_params(feature_map__n_components=50).fit_transform(graphs).shape
    (2, 50)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [Interval(Integral, 2, MAX_NODES, closed="both")],
        "n_samples": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "sampler": [Sampler, StrOptions(set(_SAMPLERS))],
        "feature_map": [GraphletMap, StrOptions(set(_MAPS))],
        "use_labels": LABEL_CHOICE,
        "eps": [Interval(Real, 0, None, closed="neither")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        **EMBEDDING_CONSTRAINTS,
    }

    stored = fields(
        seed_=Integer(0, most=2**63 - 1),
        flyback_=Optional(Number(0.0, most=1.0)),
        n_samples_=Integer(1, most=_MOST_SAMPLES),
        labels_=Instance(NodeLabels),
        feature_map_=Instance(GraphletMap, k_="k"),
    )

    def __init__(
        self,
        k: int = 5,
        n_samples: int | str = 2000,
        *,
        sampler: Any = "uniform",
        feature_map: Any = "optical",
        random_state: Any = None,
        use_labels: bool | str = False,
        eps: float = 0.1,
        delta: float = 0.05,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.k = k
        self.n_samples = n_samples
        self.sampler = sampler
        self.feature_map = feature_map
        self.random_state = random_state
        self.use_labels = use_labels
        self.eps = eps
        self.delta = delta
        self.n_jobs = n_jobs
        self.verbose = verbose

    def set_params(self, **params: Any) -> Self:
        """Set parameters; the name of a sampler or map is replaced by an instance if needed.

        So ``feature_map__n_components`` also works with ``feature_map="optical"``.
        """
        whole = {name: value for name, value in params.items() if "__" not in name}
        super().set_params(**whole)
        parts = {name: value for name, value in params.items() if name not in whole}
        for part, known in (("sampler", _SAMPLERS), ("feature_map", _MAPS)):
            value = getattr(self, part)
            named = any(name.startswith(f"{part}__") for name in parts)
            if named and isinstance(value, str) and value in known:
                setattr(self, part, known[value]())
        super().set_params(**parts)
        return self

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> Drawn:
        rng = check_random_state(self.random_state)
        self.seed_ = stream_seed(rng)
        self.flyback_ = _instance(self.sampler, _SAMPLERS).engine_flyback()
        self.n_samples_ = (
            graphlet_samples(self.k, self.eps, self.delta)
            if self.n_samples == "auto"
            else int(self.n_samples)
        )
        self.labels_ = NodeLabels(self.use_labels)
        self.labels_.fit(batch)
        self.feature_map_ = _instance(self.feature_map, _MAPS)
        names = self.labels_.names() if self.labels_.used else None
        self.feature_map_.prepare(int(self.k), names, rng)
        drawn = self._profile(batch, tiling)
        self.feature_map_.learn(drawn)
        return drawn

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> Drawn:
        block = None
        if self.labels_.used:
            block = LabelBlock(self.labels_.encode(batch), len(self.labels_))
        return draw(
            batch,
            self.feature_map_.k_,
            self.n_samples_,
            self.seed_,
            self.flyback_,
            block,
            tiling,
        )

    def _features(self, profile: Drawn, tiling: Tiling) -> Any:
        features = self.feature_map_.sums(profile, tiling=tiling)
        features /= self.n_samples_
        return features

    def __graph_tags__(self) -> GraphTags:
        return replace(super().__graph_tags__(), uses=used(node_labels=self.use_labels))

    def validate(self) -> None:
        """Raise ValueError if the labels of the patterns are not those of the graphs."""
        require(self.flyback_ is None or self.flyback_ < 1.0, "flyback_ is too large")
        n_labels = len(self.labels_) if self.labels_.used else None
        require(self.feature_map_.n_labels_ == n_labels, "feature_map_ does not fit the labels")

    def _names(self) -> list[str]:
        return self.feature_map_.names()


def _instance(part: Any, known: dict[str, Any]) -> Any:
    """A new, unfitted estimator from a name or an instance."""
    return known[part]() if isinstance(part, str) else clone(part)
