"""Profiles for sums over common walks: graphs with labels, without labels, and directed graphs.

They also check whether a decay is small enough for the graphs; the error names the pair.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Context
from typing import Any, Self

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import ArrayOf, Choice, Instance, Integer, Number, fields
from gramlet.common.stored_state import require
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles, mirror
from gramlet.engine.walks.arc_radius import arc_pair_radii, arc_self_radii
from gramlet.engine.walks.arc_walks import LARGEST_SIGNED, arc_walk_rows
from gramlet.engine.walks.product_walks import (
    EXPONENTIAL,
    GEOMETRIC,
    KINDS,
    STEPS,
    LabelledGraphs,
    walk_rows,
)
from gramlet.engine.walks.sequence_sums import largest_degrees, sequence_norms, sequence_sums
from gramlet.engine.walks.spectra import WalkSpectra, spectral_walk_rows
from gramlet.engine.walks.spectral_radius import pair_radii, self_radii
from gramlet.engine.walks.walk_series import series_weights
from gramlet.kernels.contract.profile import Profile

__all__ = ["ArcWalks", "LabelledWalks", "SpectralWalks", "WalkProfile", "WalkSums"]

# Which entries of a matrix the engine computes.
_ALL, _TRIANGLE, _DIAGONAL = 0, 1, 2
# decay · ρ must be below 1 by at least this much.
_MARGIN = 1e-9
# The largest number of steps that a file may contain.
_MOST_STEPS = 100_000


@dataclass(frozen=True)
class WalkSums:
    """How walks are summed, and whether some weight is negative."""

    stored = fields(kind=Choice(*KINDS), decay=Number(0.0), n_steps=Integer(0, most=_MOST_STEPS))

    kind: str
    decay: float
    n_steps: int
    signed: bool


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

    stored = fields(
        graphs=Instance(WalkSpectra, LabelledGraphs, n_graphs="n"),
        costs=ArrayOf("float64", "n", least=0.0, most=2.0**53),
        radii=ArrayOf("float64", "n", least=0.0),
    )

    sums: WalkSums
    costs: Floats
    radii: Floats
    graphs: Any

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
    def _fill(self, begin: int, end: int, other: Self, options: tuple[Any, ...]) -> None:
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
            lambda begin, end: self._fill(begin, end, other, options),
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
        if out[i, j] == -np.inf:
            raise ValueError(
                f"RandomWalk(weighted=True): graph {i} with {other}: with negative weights the "
                "geometric series of directed graphs is solved as a dense matrix, and their "
                f"product graph has more than {LARGEST_SIGNED} nodes. Use "
                'kind="steps" or "exponential", or weights that are not negative.'
            )
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
        require(type(self.graphs) is kind, f"graphs must be {kind.__name__}")
        if self.sums.kind == "geometric" or self.sums.signed:
            radii = self._own_radii()
            require(np.allclose(radii, self.radii, 1e-6, 1e-12), "radii do not fit the graphs")
        self.check_self()


class LabelledWalks(WalkProfile):
    """Undirected graphs whose nodes are paired only with nodes of equal label."""

    graphs: LabelledGraphs

    def validate(self) -> None:
        super().validate()
        self.graphs.validate_undirected()

    def _own_radii(self) -> Floats:
        return self_radii(self.graphs, None)

    def _fill(self, begin: int, end: int, other: Self, options: tuple[Any, ...]) -> None:
        signed = self.sums.signed or other.sums.signed
        walk_rows(begin, end, self.graphs, other.graphs, self.radii, other.radii, signed, *options)

    def _filled(self, other: Self, which: int, tiling: Tiling) -> Floats:
        out = self._filled_by_sequences(other, which, tiling)
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
        if min(len(self), len(other)) == 0 or (signed and kind != STEPS):
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
        if which == _DIAGONAL:
            norms = sequence_norms(self.graphs, kind, weights, tiling)
            return None if norms is None else norms[:, None]
        right = None if which == _TRIANGLE else other.graphs
        return sequence_sums(self.graphs, right, kind, weights, tiling)

    def _pair_radii(self, other: Self, rows: Ints, columns: Ints, tiling: Tiling) -> Floats:
        return pair_radii(self.graphs, other.graphs, rows, columns, tiling.n_jobs)


class ArcWalks(WalkProfile):
    """Directed graphs, whose walks follow arcs; without labels all nodes have the same label."""

    graphs: LabelledGraphs

    def _own_radii(self) -> Floats:
        # Other kinds do not use them.
        geometric = self.sums.kind == "geometric"
        return arc_self_radii(self.graphs) if geometric else np.zeros(len(self))

    def _fill(self, begin: int, end: int, other: Self, options: tuple[Any, ...]) -> None:
        signed = self.sums.signed or other.sums.signed
        arc_walk_rows(begin, end, self.graphs, other.graphs, signed, *options)

    def _pair_radii(self, other: Self, rows: Ints, columns: Ints, tiling: Tiling) -> Floats:
        return arc_pair_radii(self.graphs, other.graphs, rows, columns)


class SpectralWalks(WalkProfile):
    """Undirected graphs without labels, by their spectra."""

    graphs: WalkSpectra

    def _own_radii(self) -> Floats:
        # Eigenvectors that contribute to no walk are left out, so the largest may be missing.
        padded = np.append(np.abs(self.graphs.values), 0.0)
        largest = np.maximum.reduceat(padded, self.graphs.offsets[:-1])
        return np.maximum(np.where(np.diff(self.graphs.offsets) > 0, largest, 0.0), self.radii)

    def _fill(self, begin: int, end: int, other: Self, options: tuple[Any, ...]) -> None:
        spectral_walk_rows(begin, end, self.graphs, other.graphs, *options)

    def _pair_radii(self, other: Self, rows: Ints, columns: Ints, tiling: Tiling) -> Floats:
        return self.radii[rows] * other.radii[columns]


def _rounded_down(value: float) -> float:
    """A number rounded down to six digits."""
    return float(Context(prec=6, rounding=ROUND_DOWN).create_decimal_from_float(value))
