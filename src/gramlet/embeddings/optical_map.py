"""Optical random features: intensities of light after a random medium, computed or measured."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Complexes, Floats, UInt8s
from gramlet.common.fields import ArrayOf, Integer, fields
from gramlet.common.parameters import HasMethods, Interval
from gramlet.common.stored_state import require
from gramlet.embeddings.feature_maps import (
    COMPONENTS,
    GraphletMap,
    SparseRows,
    input_atoms,
    pattern_inputs,
    summed_features,
)
from gramlet.embeddings.samplers import Drawn
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.graphlets.patterns import adjacency_matrices
from gramlet.engine.graphlets.sampling import add_weighted_rows, pair_moments

_FEATURES = 128
# Patterns sent to a device at a time, which bounds the memory of its results.
_SENT = 4096


class OpticalMap(GraphletMap):
    """Optical random features of the adjacency matrix.

    φ(F) = abs(W a + b)² / sqrt(m), with a the flattened adjacency matrix of the graphlet, W complex
    with independent N(0, scale²/2) real and imaginary parts, and b drawn in the same way. With
    x = (a, 1), or x = a without bias, the expected inner product is
    scale⁴ (‖x‖² ‖x'‖² + (xᵀx')²).

    The features are quadratic in a, so their mean over the subgraphs drawn from a graph depends
    only on how often each two pairs of nodes were both adjacent: the cost depends neither on the
    number of samples nor on that of distinct patterns.

    Parameters
    ----------
    n_components : int, default 5000
        Number of features (m).
    bias : bool, default True
        Whether b is drawn; otherwise it is 0.
    scale : float, default 1.0
    device : object with ``transform(X)``, optional
        Optical hardware: takes rows of k² zeros and ones and returns intensities abs(W a + b)², m
        per row; the map divides by sqrt(m) and averages. n_components, bias and scale are then
        those of the device. Every distinct pattern is sent once.
    random_state : int, RandomState or None
        Seed of W and b; None uses that of `GraphSampling`.

    Attributes
    ----------
    weights_ : complex array, shape (k², m)
        Wᵀ; with labels, rows for their one-hot blocks follow.
    offsets_ : complex array, shape (m,)
        b.

    References
    ----------
    Saade et al. (2016), Random projections through multiple optical scattering: approximating
    kernels at the speed of light.

    Examples
    --------
    >>> import numpy as np
    >>> from gramlet import OpticalMap
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> features = OpticalMap(20000, random_state=0).fit_transform([triangle])
    >>> bool(abs(features[0] @ features[0] / (2 * 7**2) - 1) < 0.1)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": COMPONENTS,
        "bias": ["boolean"],
        "scale": [Interval(Real, 0, None, closed="neither")],
        "device": [HasMethods("transform"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 5000,
        bias: bool = True,
        *,
        scale: float = 1.0,
        device: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.bias = bias
        self.scale = scale
        self.device = device
        self.random_state = random_state

    stored = fields(
        n_features_=Integer(1, size="n_components"),
        offsets_=ArrayOf("complex128", "n_components"),
        weights_=ArrayOf("complex128", None, "n_components"),
    )

    def validate(self) -> None:
        """Raise ValueError if parameters and random numbers do not fit together."""
        super().validate()
        require(self.device is None, "a device cannot be restored from a file")
        n_inputs = self.k_ * (self.k_ + self._n_label_inputs())
        require(len(self.weights_) == n_inputs, "weights_ must have one row per input")

    def __sklearn_clone__(self) -> OpticalMap:
        # A device is a piece of hardware, which copies of the map share.
        return type(self)(**self.get_params(deep=False))

    def _draw(self, rng: np.random.RandomState) -> None:
        self.n_features_ = self.n_components
        if self.device is not None:
            if self.n_labels_ is not None:
                raise ValueError(
                    "OpticalMap(device=...) takes patterns without labels; got use_labels=True."
                )
            nothing = np.zeros((1, self.k_ * self.k_), dtype=np.uint8)
            self.n_features_ = self._measured(nothing).shape[1]
            return
        shape = (self.k_ * (self.k_ + self._n_label_inputs()), self.n_components)
        spread = self.scale / np.sqrt(2.0)
        self.weights_ = spread * (rng.standard_normal(shape) + 1j * rng.standard_normal(shape))
        light = rng.standard_normal(shape[1:]) + 1j * rng.standard_normal(shape[1:])
        self.offsets_ = spread * light if self.bias else np.zeros_like(light)

    def _describe(self, matrices: Floats) -> Floats:
        rows = matrices.reshape(len(matrices), -1)
        if self.device is not None:
            intensities = self._measured(rows.astype(np.uint8))
        else:
            intensities = np.abs(rows @ self.weights_[: rows.shape[1]] + self.offsets_) ** 2
        return intensities / np.sqrt(self.n_features_)

    def sums(self, drawn: Drawn, tiling: Tiling = QUIET) -> Floats:
        """For every graph, the sum of the features of the subgraphs drawn from it."""
        if self.device is not None:
            total = self._sums_measured(drawn)
        elif self.n_labels_ is not None:
            total = self._sums_of_patterns(drawn, tiling=tiling)
        else:
            total = self._sums_of_moments(drawn, tiling=tiling)
        total /= np.sqrt(self.n_features_)
        return total

    def _sums_of_patterns(self, drawn: Drawn, tiling: Tiling = QUIET) -> Floats:
        counts = SparseRows(drawn.indptr, drawn.columns, drawn.counts)
        inputs = pattern_inputs(drawn, self._n_label_inputs())
        layers = [
            (input_atoms(part(self.weights_), drawn.k), part(self.offsets_))
            for part in (np.real, np.imag)
        ]
        return summed_features(counts, inputs, layers, _intensity, tiling=tiling)

    def _sums_of_moments(self, drawn: Drawn, tiling: Tiling = QUIET) -> Floats:
        """Sums of |Σ_p u_p x_p + b|², with x_p the bits of a pattern, from counts of pairs of bits.

        It equals |b|² + Σ_p x_p (|u_p|² + 2 Re ū_p b) + 2 Σ_{p<q} x_p x_q Re ū_p u_q.
        """
        moments = pair_moments(drawn.indptr, drawn.codes[drawn.columns], drawn.counts, drawn.k)
        rows, columns = np.nonzero(moments)
        indptr = np.searchsorted(rows, np.arange(len(moments) + 1)).astype(np.int64)
        values = moments[rows, columns]
        n_drawn = np.add.reduceat(np.append(drawn.counts, 0.0), drawn.indptr[:-1])
        atoms = input_atoms(self.weights_, drawn.k)
        result = np.empty((drawn.n_graphs, self.n_components))

        def fill(begin: int, end: int) -> None:
            for block in range(begin, end):
                features = slice(block * _FEATURES, (block + 1) * _FEATURES)
                light = self.offsets_[features]
                total = n_drawn[:, None] * np.abs(light) ** 2
                table = _products(atoms[:, features], light)
                add_weighted_rows(
                    *(indptr[:-1], indptr[1:], columns.astype(np.int64), values, table, 0, total)
                )
                result[:, features] = total

        n_blocks = -(-self.n_components // _FEATURES)
        for_tiles(fill, n_blocks, n_tiles=n_blocks, tiling=tiling)
        return result

    def _sums_measured(self, drawn: Drawn) -> Floats:
        shape = (drawn.n_graphs, len(drawn.codes))
        counts = sparse.csr_matrix((drawn.counts, drawn.columns, drawn.indptr), shape).tocsc()
        total = np.zeros((drawn.n_graphs, self.n_features_))
        for first in range(0, len(drawn.codes), _SENT):
            sent = slice(first, first + _SENT)
            rows = adjacency_matrices(drawn.codes[sent], drawn.k).reshape(-1, drawn.k**2)
            total += counts[:, sent] @ self._measured(rows.astype(np.uint8))
        return total

    def _measured(self, rows: UInt8s) -> Floats:
        seen = np.ascontiguousarray(self.device.transform(rows), dtype=np.float64)
        if seen.ndim != 2 or len(seen) != len(rows) or not seen.shape[1]:
            raise ValueError(
                f"OpticalMap sent {len(rows)} rows to its device, {type(self.device).__name__}, "
                f"and expects one row of intensities per row; got shape {seen.shape}."
            )
        if not np.isfinite(seen).all():
            raise ValueError(
                f"OpticalMap's device, {type(self.device).__name__}, gave values that are not "
                "finite."
            )
        return seen

    def names(self) -> list[str]:
        """A name per feature."""
        return [f"OpticalMap {j}" for j in range(self.n_features_)]


def _intensity(real: Floats, imaginary: Floats) -> Floats:
    return real * real + imaginary * imaginary


def _products(atoms: Complexes, light: Complexes) -> Floats:
    """The contribution of each two bits p ≤ q, in the order of `pair_moments`."""
    table = []
    for q in range(len(atoms)):
        mixed = 2.0 * (atoms[: q + 1].conj() * atoms[q]).real
        mixed[q] = np.abs(atoms[q]) ** 2 + 2.0 * (atoms[q].conj() * light).real
        table.append(mixed)
    return np.concatenate(table)
