"""Random walk kernels: all common walks of two graphs, the longer the less they count."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_DOWN, Context
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.common.parameters import Interval, StrOptions
from gramlet.engine.core.tiles import for_tiles, mirror
from gramlet.engine.walks.product_walks import KINDS, LabelledGraphs, sort_by_label, walk_rows
from gramlet.engine.walks.spectra import WalkSpectra, spectral_walk_rows, walk_spectra
from gramlet.engine.walks.spectral_radius import pair_radii, self_radii
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.columns import checked_weights
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.vocabulary import LabelVocabulary

__all__ = ["RandomWalk", "WalkProfile"]


# Which entries of a matrix the engine fills.
_ALL, _TRIANGLE, _DIAGONAL = 0, 1, 2
# decay · ρ must stay below 1 by at least this much.
_MARGIN = 1e-9


@dataclass
class WalkProfile:
    """What walks need to know of some graphs.

    Attributes
    ----------
    graphs : LabelledGraphs or WalkSpectra
        The latter where labels play no part.
    costs : array
        Nodes of each graph.
    radii : array
        Two of them multiply to ρ(A×) of a pair of graphs, or (with labels) to a bound on it that
        is exact for a graph with itself.
    signed : bool
        Whether some weight is negative.
    """

    graphs: LabelledGraphs | WalkSpectra
    costs: Floats
    radii: Floats
    signed: bool


class RandomWalk(GraphKernel):
    """Random walk kernel.

    A common walk of two graphs is a walk in their direct product graph, whose nodes are the pairs
    of nodes with equal labels, and whose edges are the pairs of edges. With its adjacency matrix
    A× (ones, or with ``weighted=True`` the products of the weights) and the decay λ,

    - "geometric": k = 1ᵀ(I − λA×)⁻¹1 = Σ_i λ^i 1ᵀA×^i 1, which needs λ ρ(A×) < 1;
    - "exponential": k = 1ᵀ exp(λA×) 1;
    - "steps": k = Σ_{i ≤ p} λ^i 1ᵀA×^i 1, the walks of at most p steps.

    Positive semi-definite. Cost, for a pair of graphs with n nodes and m edges: O(n m) an iteration
    and a few to some dozens of iterations; without labels O(n²), after one eigendecomposition of
    each graph. The product graph itself is never formed.

    Parameters
    ----------
    kind : {"geometric", "exponential", "steps"}, default "geometric"
        How the number of walks of i steps is weighed.
    decay : float, default 0.01
        λ ≥ 0. For "geometric" it must be small enough for all pairs of graphs; that is checked
        before anything is computed, and the error names the largest safe value.
    n_steps : int, default 3
        p, for "steps" alone.
    labels : bool, default True
        Whether nodes must have equal labels; graphs without labels have all nodes alike.
    weighted : bool, default False
        Weigh a walk by the product of its edges' weights in both graphs. Weights may be negative.
    normalize : bool, default False
        Divide by sqrt(k(G,G) k(G',G')); an entry whose norm is 0 becomes 0.
    n_jobs : int or None
        Threads; the result does not depend on it.
    verbose : bool or int
        Show a progress bar on a terminal.

    Notes
    -----
    Edge labels are ignored. ρ(A×) of two graphs is at most the geometric mean of what each has with
    itself, so a decay that is safe for all fitted graphs with themselves is safe for all pairs.

    References
    ----------
    Gärtner, Flach, Wrobel (2003), On graph kernels: hardness results and efficient alternatives.
    Vishwanathan, Schraudolph, Kondor, Borgwardt (2010), Graph kernels.

    Examples
    --------
    Two nodes with an edge, and three in a row; walks of no, one and two steps:

    >>> from gramlet import RandomWalk
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> RandomWalk("steps", decay=1.0, n_steps=2).fit_transform(graphs)
    array([[ 6., 13.],
           [13., 33.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kind": [StrOptions(set(KINDS))],
        "decay": [Interval(Real, 0, None, closed="left")],
        "n_steps": [Interval(Integral, 0, None, closed="left")],
        "labels": ["boolean"],
        "weighted": ["boolean"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        kind: str = "geometric",
        decay: float = 0.01,
        n_steps: int = 3,
        labels: bool = True,
        *,
        weighted: bool = False,
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.kind = kind
        self.decay = decay
        self.n_steps = n_steps
        self.labels = labels
        self.weighted = weighted
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, batch: GraphBatch, y: Any) -> WalkProfile:
        self.vocabulary_ = LabelVocabulary(None, "node labels")
        if self.labels:
            self.vocabulary_, _ = LabelVocabulary.fit(
                batch.node_labels, batch.n_nodes_total, "node labels"
            )
        profile = self._profile(batch)
        self._check_self(profile)
        return profile

    def _profile(self, batch: GraphBatch) -> WalkProfile:
        name = f"{type(self).__name__}(weighted=True)"
        weights = checked_weights(batch, name, positive=False) if self.weighted else None
        signed = weights is not None and bool((weights < 0).any())
        costs = batch.sizes.astype(np.float64)
        if not self.labels or self.vocabulary_.values is None:
            if self.labels:  # refuses labels where the fitted graphs had none
                self.vocabulary_.encode(batch.node_labels, batch.n_nodes_total)
            spectra, radii = walk_spectra(
                batch.node_offsets, batch.indptr, batch.indices, weights, self.n_jobs
            )
            return WalkProfile(spectra, costs, radii, signed)
        codes = self.vocabulary_.encode(batch.node_labels, batch.n_nodes_total)
        graphs = sort_by_label(batch.node_offsets, batch.indptr, batch.indices, codes, weights)
        if self.kind == "geometric" or signed:
            radii = self_radii(graphs, self.n_jobs)
        else:
            radii = np.zeros(len(batch))
        return WalkProfile(graphs, costs, radii, signed)

    def _gram(self, profile: WalkProfile) -> Floats:
        self._check_self(profile)
        return self._sums(profile, profile, _TRIANGLE)

    def _cross(self, profile: WalkProfile, fitted: WalkProfile) -> Floats:
        self._check_pairs(profile, fitted)
        return self._sums(profile, fitted, _ALL)

    def _self(self, profile: WalkProfile) -> Floats:
        self._check_self(profile)
        return self._sums(profile, profile, _DIAGONAL)[:, 0]

    def _sums(self, left: WalkProfile, right: WalkProfile, which: int) -> Floats:
        """The sums over common walks of all pairs, of the triangle, or of the diagonal."""
        n_rows, n_columns = len(left.costs), len(right.costs)
        out = np.zeros((n_rows, 1 if which == _DIAGONAL else n_columns))
        options = (KINDS[self.kind], float(self.decay), int(self.n_steps), which, out)

        def fill(begin: int, end: int) -> None:
            if isinstance(left.graphs, WalkSpectra):
                spectral_walk_rows(begin, end, left.graphs, right.graphs, *options)
            else:
                signed = left.signed or right.signed
                walk_rows(
                    begin, end, left.graphs, right.graphs, left.radii, right.radii, signed, *options
                )

        partners = {
            _ALL: right.costs.sum(),
            _TRIANGLE: np.cumsum(right.costs[::-1])[::-1],
            _DIAGONAL: right.costs,
        }
        for_tiles(fill, n_rows, costs=left.costs * partners[which] + 1.0, **self._tiling())
        if which == _TRIANGLE:
            mirror(out)
        self._check_finite(out, which)
        return out

    # What is too large

    def _check_self(self, profile: WalkProfile) -> None:
        """Refuse a decay too large for a graph with itself, and so for some pair of the graphs."""
        if self.kind != "geometric" or len(profile.radii) == 0:
            return
        worst = int(np.argmax(profile.radii))
        radius = float(profile.radii[worst] ** 2)
        if self.decay * radius >= 1.0 - _MARGIN:
            raise self._too_large(radius, f"graph {worst} with itself")

    def _check_pairs(self, profile: WalkProfile, fitted: WalkProfile) -> None:
        """Refuse a decay too large for some new graph with some fitted one."""
        if self.kind != "geometric":
            return
        reach = self.decay * np.outer(profile.radii, fitted.radii)
        rows, columns = np.nonzero(reach >= 1.0 - _MARGIN)
        if len(rows) == 0:
            return
        if isinstance(profile.graphs, LabelledGraphs) and isinstance(fitted.graphs, LabelledGraphs):
            radii = pair_radii(profile.graphs, fitted.graphs, rows, columns, self.n_jobs)
        else:
            radii = profile.radii[rows] * fitted.radii[columns]
        worst = int(np.argmax(radii))
        if self.decay * radii[worst] >= 1.0 - _MARGIN:
            who = f"graph {rows[worst]} with the fitted graph {columns[worst]}"
            raise self._too_large(float(radii[worst]), who)

    def _too_large(self, radius: float, who: str) -> ValueError:
        return ValueError(
            f"The 'decay' parameter of {type(self).__name__} is {self.decay}, too large for "
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
        if self.kind == "geometric":
            problem = "the iteration for the geometric series did not converge"
        else:
            problem = "the sum over walks is too large for a floating point number"
        raise ValueError(
            f"{type(self).__name__}(kind={self.kind!r}, decay={self.decay}): {problem}, for graph "
            f"{i} with {other}. Lower 'decay'."
        )


def _rounded_down(value: float) -> float:
    """Six digits of a number, never above it."""
    return float(Context(prec=6, rounding=ROUND_DOWN).create_decimal_from_float(value))
