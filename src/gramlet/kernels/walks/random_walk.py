"""Random walk kernels: all common walks of two graphs, with weights that decrease with length."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Context
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Choice, Flag, Instance, Integer, Number, fields
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require, require_instance
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror
from gramlet.engine.walks.label_sequences import (
    MOST_STEPS,
    largest_degrees,
    sequence_sums,
    series_weights,
)
from gramlet.engine.walks.product_walks import (
    EXPONENTIAL,
    GEOMETRIC,
    KINDS,
    STEPS,
    LabelledGraphs,
    linear_sum,
    sort_by_label,
    walk_rows,
)
from gramlet.engine.walks.spectra import WalkSpectra, spectral_walk_rows, walk_spectra
from gramlet.engine.walks.spectral_radius import (
    arc_pair_radii,
    arc_self_radii,
    pair_radii,
    self_radii,
)
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import checked_weights
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.labels import LABEL_CHOICE, NodeLabels
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.profile import Profile
from gramlet.kernels.contract.slow_graphs import hops_across
from gramlet.kernels.contract.tags import GraphTags, used

# Which entries of a matrix the engine computes.
_ALL, _TRIANGLE, _DIAGONAL = 0, 1, 2
# decay · ρ must be below 1 by at least this much.
_MARGIN = 1e-9


@dataclass(frozen=True)
class WalkSums:
    """How walks are summed, and whether some weight is negative."""

    kind: str
    decay: float
    n_steps: int
    signed: bool

    stored = fields(
        kind=Choice(*KINDS), decay=Number(0.0), n_steps=Integer(0, 100_000), signed=Flag()
    )


@dataclass(frozen=True)
class WalkProfile(Profile):
    """Graphs prepared for sums over common walks.

    Attributes
    ----------
    sums : WalkSums
    costs : array
        The number of nodes of each graph.
    radii : array
        The product of two of them is ρ(A×) of a pair of graphs or (with labels) a bound on it that
        is exact for a graph with itself.
    graphs : LabelledGraphs or WalkSpectra
        The latter for undirected graphs without labels.
    """

    sums: WalkSums
    costs: Floats
    radii: Floats
    graphs: Any

    stored = fields(
        sums=Instance(WalkSums),
        costs=ArrayOf("float64", "n", least=0.0, most=2.0**53),
        radii=ArrayOf("float64", "n", least=0.0),
        graphs=Instance(object),
    )

    def __len__(self) -> int:
        return len(self.costs)

    def take(self, rows: Ints) -> Self:
        return replace(
            self, costs=self.costs[rows], radii=self.radii[rows], graphs=self.graphs.take(rows)
        )

    def compare(self, other: Self, tiling: Tiling = QUIET) -> Floats:
        self.check_pairs(other, tiling)
        return self._filled(other, _ALL, tiling)

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        self.check_self()
        return self._filled(self, _TRIANGLE, tiling)

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        self.check_self()
        return self._filled(self, _DIAGONAL, tiling)[:, 0]

    @abstractmethod
    def _fill(self, begin: int, end: int, other: Self, *options: Any) -> None:
        """Fill rows ``begin:end``."""

    @abstractmethod
    def _own_radii(self) -> Floats:
        """The radii computed from the graphs."""

    @abstractmethod
    def _pair_radii(self, other: Self, rows: Ints, columns: Ints, tiling: Tiling) -> Floats:
        """ρ(A×) of some pairs."""

    def _filled(self, other: Self, which: int, tiling: Tiling) -> Floats:
        """The sums over common walks of all pairs, of the triangle, or of the diagonal."""
        out = np.zeros((len(self), 1 if which == _DIAGONAL else len(other)))
        sums = self.sums
        options = (KINDS[sums.kind], sums.decay, sums.n_steps, which, out)
        partners = {
            _ALL: other.costs.sum(),
            _TRIANGLE: np.cumsum(other.costs[::-1])[::-1],
            _DIAGONAL: other.costs,
        }
        for_tiles(
            lambda begin, end: self._fill(begin, end, other, *options),
            len(self),
            costs=self.costs * partners[which] + 1.0,
            tiling=tiling,
        )
        if which == _TRIANGLE:
            mirror(out)
        self._check_finite(out, which)
        return out

    # Checks for values that are too large

    def check_self(self) -> None:
        """Raise ValueError if the decay is too large for a graph with itself."""
        if self.sums.kind != "geometric" or len(self.radii) == 0:
            return
        worst = int(np.argmax(self.radii))
        radius = float(self.radii[worst] ** 2)
        if self.sums.decay * radius >= 1.0 - _MARGIN:
            raise self._too_large(radius, f"graph {worst} with itself")

    def check_pairs(self, other: Self, tiling: Tiling) -> None:
        """Raise ValueError if the decay is too large for a pair of these and the other graphs."""
        if self.sums.kind != "geometric":
            return
        reach = self.sums.decay * np.outer(self.radii, other.radii)
        rows, columns = np.nonzero(reach >= 1.0 - _MARGIN)
        if len(rows) == 0:
            return
        radii = self._pair_radii(other, rows, columns, tiling)
        worst = int(np.argmax(radii))
        if self.sums.decay * radii[worst] >= 1.0 - _MARGIN:
            who = f"graph {rows[worst]} with the fitted graph {columns[worst]}"
            raise self._too_large(float(radii[worst]), who)

    def _too_large(self, radius: float, who: str) -> ValueError:
        return ValueError(
            f"The 'decay' parameter of RandomWalk is {self.sums.decay}, too large for "
            f"{who}: the geometric series needs decay · ρ < 1, and the product graph has "
            f"ρ = {radius:.9g}. The largest safe decay for these graphs is "
            f"{_rounded_down((1.0 - 2 * _MARGIN) / radius)}. Lower it, or use "
            'kind="exponential" or "steps".'
        )

    def _check_finite(self, out: Floats, which: int) -> None:
        bad = np.argwhere(~np.isfinite(out))
        if len(bad) == 0:
            return
        i, j = (int(at) for at in bad[0])
        other = f"the fitted graph {j}" if which == _ALL else f"graph {j}"
        if which == _DIAGONAL or (which == _TRIANGLE and i == j):
            other = "itself"
        if self.sums.kind == "geometric" and np.isnan(out[i, j]):
            problem = "the iteration for the geometric series did not converge"
        else:
            problem = "the sum over walks is too large for a floating point number"
        raise ValueError(
            f"RandomWalk(kind={self.sums.kind!r}, decay={self.sums.decay}): {problem}, for graph "
            f"{i} with {other}. Lower 'decay'."
        )

    def validate(self) -> None:
        kind = WalkSpectra if isinstance(self, SpectralWalks) else LabelledGraphs
        require_instance("graphs", self.graphs, kind)
        require(self.graphs.n_graphs == len(self), "graphs must be as many as costs")
        if self.sums.kind == "geometric" or self.sums.signed:
            radii = self._own_radii()
            require(np.allclose(radii, self.radii, 1e-6, 1e-12), "radii do not fit the graphs")
        self.check_self()


@dataclass(frozen=True)
class LabelledWalks(WalkProfile):
    """Graphs whose nodes are paired only with nodes of equal label; walks follow arcs.

    Attributes
    ----------
    directed : bool
        Whether some arcs have no opposite.
    """

    graphs: LabelledGraphs
    directed: bool

    stored = fields(directed=Flag())

    def validate(self) -> None:
        super().validate()
        if not self.directed:
            self.graphs.validate_undirected()

    def _own_radii(self) -> Floats:
        if not self.directed:
            return self_radii(self.graphs)
        # Other kinds do not use them.
        geometric = self.sums.kind == "geometric"
        return arc_self_radii(self.graphs) if geometric else np.zeros(len(self))

    def _pair_radii(self, other: Self, rows: Ints, columns: Ints, tiling: Tiling) -> Floats:
        if self.directed:
            return arc_pair_radii(self.graphs, other.graphs, rows, columns)
        return pair_radii(self.graphs, other.graphs, rows, columns, tiling)

    def _fill(
        self,
        begin: int,
        end: int,
        other: Self,
        kind: int,
        decay: float,
        n_steps: int,
        which: int,
        out: Floats,
    ) -> None:
        radii, signed = (self.radii, other.radii), self.sums.signed or other.sums.signed
        walk_rows(
            *(begin, end, self.graphs, other.graphs, *radii, signed, self.directed),
            *(kind, decay, n_steps, which, out),
        )
        if self.directed and kind == GEOMETRIC:
            # Sums of a long series, or with negative weights, are left over.
            for row, column in np.argwhere(np.isnan(out[begin:end])).tolist():
                i = begin + row
                j = i if which == _DIAGONAL else column
                out[i, column] = linear_sum(self.graphs, i, other.graphs, j, decay)

    def _filled(self, other: Self, which: int, tiling: Tiling) -> Floats:
        out = None if self.directed else self._filled_by_sequences(other, which, tiling)
        if out is None:
            return super()._filled(other, which, tiling)
        self._check_finite(out, which)
        return out

    def _filled_by_sequences(self, other: Self, which: int, tiling: Tiling) -> Floats | None:
        """The same by counts of label sequences; None if that takes longer or loses digits.

        With negative weights the terms of a series cancel, except for kind="steps".
        """
        sums, kind = self.sums, KINDS[self.sums.kind]
        signed = sums.signed or other.sums.signed
        if which == _DIAGONAL or min(len(self), len(other)) == 0 or (signed and kind != STEPS):
            return None
        reach = 0.0
        if kind == GEOMETRIC:
            reach = sums.decay * float(self.radii.max() * other.radii.max())
        elif kind == EXPONENTIAL:
            bounds = (largest_degrees(profile.graphs).max() for profile in (self, other))
            reach = sums.decay * float(np.prod(list(bounds)))
        weights = series_weights(kind, sums.decay, reach, sums.n_steps)
        if weights is None:
            return None
        right = None if which == _TRIANGLE else other.graphs
        return sequence_sums(self.graphs, right, kind, weights, tiling)


class SpectralWalks(WalkProfile):
    """Undirected graphs without labels, by their spectra."""

    graphs: WalkSpectra

    def _own_radii(self) -> Floats:
        # Eigenvectors that contribute to no walk are left out, so the largest may be missing.
        padded = np.append(np.abs(self.graphs.values), 0.0)
        largest = np.maximum.reduceat(padded, self.graphs.offsets[:-1])
        return np.maximum(np.where(np.diff(self.graphs.offsets) > 0, largest, 0.0), self.radii)

    def _fill(self, begin: int, end: int, other: Self, *options: Any) -> None:
        spectral_walk_rows(begin, end, self.graphs, other.graphs, *options)

    def _pair_radii(self, other: Self, rows: Ints, columns: Ints, tiling: Tiling) -> Floats:
        return self.radii[rows] * other.radii[columns]


def _rounded_down(value: float) -> float:
    """A number rounded down to six digits."""
    return float(Context(prec=6, rounding=ROUND_DOWN).create_decimal_from_float(value))


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
        The factor λ ≥ 0 per step: a smaller value gives long walks a lower weight. For
        "geometric" it must be small enough for all pairs of graphs; this is checked
        before anything is computed, and the error names the largest safe value.
    n_steps : int, default 3
        p, only for "steps".
    use_labels : bool or "auto", default "auto"
        Whether nodes must have equal labels; without labels, all nodes are equal. "auto": if the
        fitted graphs have labels.
    weighted : bool, default False
        Weight a walk by the product of its edge weights in both graphs. Weights may be negative
        (for "geometric" on directed graphs, only if the cycles of product graphs connect at most
        2000 nodes).
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
        *,
        n_steps: int = 3,
        use_labels: bool | str = "auto",
        weighted: bool = False,
        normalize: Normalization = False,
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
                batch.node_offsets, batch.indptr, batch.indices, weights, tiling
            )
            return SpectralWalks(sums, batch.sizes.astype(np.float64), radii, spectra)
        graphs = sort_by_label(batch.node_offsets, batch.indptr, batch.indices, codes, weights)
        radii = np.zeros(len(batch))
        if directed and self.kind == "geometric":
            radii = arc_self_radii(graphs)
        elif not directed and (self.kind == "geometric" or sums.signed):
            radii = self_radii(graphs, tiling)
        return LabelledWalks(sums, batch.sizes.astype(np.float64), radii, graphs, bool(directed))

    def _spectral(self) -> bool:
        """Whether graphs are decomposed; not for a few steps, whose walks are counted faster."""
        alike = self.labels_.vocabulary.values is None and self.directed_ is False
        return alike and not (self.kind == "steps" and self.n_steps <= MOST_STEPS)

    def _validate_fitted(self) -> None:
        profile: Any = self.profile_
        spectral = self.directed_ is not None and self._spectral()
        require_instance("profile_", profile, SpectralWalks if spectral else LabelledWalks)
        if self.directed_ is not None and not spectral:
            require(profile.directed == self.directed_, "profile_ does not fit the direction")
        given = (self.kind, float(self.decay), int(self.n_steps))
        kept = (profile.sums.kind, profile.sums.decay, profile.sums.n_steps)
        require(given == kept, "parameters were changed after fit; fit the kernel again")

    def _expected_seconds(self, batch: GraphBatch, graph: int) -> float:
        # The spectral radius on pairs of nodes, with more steps the longer the graph is.
        return 1.4e-8 * float(batch.sizes[graph]) ** 2 * hops_across(batch, graph)

    def __graph_tags__(self) -> GraphTags:
        uses = used(node_labels=self.use_labels, edge_weights=self.weighted)
        return GraphTags(directed=True, uses=uses)
