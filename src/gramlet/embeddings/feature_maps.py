"""Features of graphlets: the base class of feature maps, Gaussian maps, the indicator of a pattern.

A map computes features of the adjacency matrix of a drawn subgraph. For the sum over all subgraphs
drawn from a graph, every distinct pattern is evaluated once. The optical map has its own file.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.fields import ArrayOf, Integer, ListOf, Optional, Sometimes, Text, fields
from gramlet.common.parameters import Interval
from gramlet.common.stored_state import require
from gramlet.embeddings.samplers import Drawn
from gramlet.engine.core.tiles import QUIET, Tiling, for_tiles
from gramlet.engine.graphlets.patterns import (
    MAX_LABELLED_NODES,
    MAX_NODES,
    adjacency_matrices,
    canonical_labelled,
    classes_of_codes,
    n_pairs,
    pattern_names,
    patterns,
    unpacked_labels,
)
from gramlet.engine.graphlets.sampling import add_weighted_rows

# With more columns than this, the matrix is sparse.
_MOST_DENSE_COLUMNS = 4096
# Patterns and features evaluated at a time: one block of features fits into the processor's cache.
_PATTERNS = 1024
_FEATURES = 128

COMPONENTS: list[Any] = [Interval(Integral, 1, None, closed="left")]
SIGMA: list[Any] = [Interval(Real, 0, None, closed="neither")]


class SparseRows(NamedTuple):
    """Sparse rows of numbers; duplicate entries are added."""

    indptr: Ints
    columns: Ints
    values: Floats


def graphlet_matrices(X: Any) -> Floats:
    """Adjacency matrices (n, k, k), from matrices or from their flattened rows (n, k²)."""
    array = np.asarray(X, dtype=np.float64)
    if array.ndim == 2:
        side = round(np.sqrt(array.shape[1]))
        square = side * side == array.shape[1]
    else:
        side = array.shape[-1] if array.ndim else 0
        square = array.ndim == 3 and array.shape[1] == side
    if not square or side < 1:
        raise ValueError(
            "A map of graphlets takes adjacency matrices, shape (n, k, k), or their rows, "
            f"shape (n, k²); got shape {array.shape}."
        )
    return array.reshape(len(array), side, side)


class GraphletMap(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Base class of feature maps: a transformer of adjacency matrices of graphlets.

    `GraphSampling` prepares a map for its k and sums over the drawn subgraphs. A map can also be
    used alone, on arrays of shape (n, k, k) or (n, k²).
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    random_state: Any = None

    stored = fields(
        k_=Integer(1, most=MAX_NODES),
        n_labels_=Optional(Integer()),
        label_names_=Optional(ListOf(Text(), "n_labels_")),
    )

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the random numbers for graphlets of the size of those in X."""
        self.prepare(graphlet_matrices(X).shape[1], None, self.random_state)
        return self

    def transform(self, X: Any) -> Any:
        """Compute the features of graphlets, one row per graphlet."""
        check_is_fitted(self)
        matrices = graphlet_matrices(X)
        if matrices.shape[1] != self.k_:
            raise ValueError(
                f"{type(self).__name__} was fitted to graphlets of {self.k_} nodes; got "
                f"{matrices.shape[1]}."
            )
        return self._describe(matrices)

    def prepare(self, k: int, label_names: list[str] | None, random_state: Any) -> None:
        """Fit for patterns on k nodes; ``label_names`` are the fitted labels, if they are used."""
        self._validate_params()
        most = self._most_labelled_nodes()
        if label_names is not None and k > most:
            raise ValueError(
                f"{type(self).__name__} takes labelled patterns of up to {most} nodes; got k={k}. "
                "Use a smaller k, or use_labels=False."
            )
        self.k_ = k
        self.label_names_ = label_names
        self.n_labels_ = None if label_names is None else len(label_names)
        own = self.random_state
        self._draw(check_random_state(random_state if own is None else own))

    def learn(self, drawn: Drawn) -> None:
        """Learn from the subgraphs drawn from the fitted graphs; by default nothing."""

    def validate(self) -> None:
        """Raise ValueError if the labels do not fit each other or the patterns."""
        labelled = self.label_names_ is not None
        require(labelled == (self.n_labels_ is not None), "n_labels_ must be the number of names")
        require(not labelled or self.k_ <= self._most_labelled_nodes(), "k_ is too large")

    @abstractmethod
    def sums(self, drawn: Drawn, tiling: Tiling = QUIET) -> Any:
        """For every graph, the sum of the features of the subgraphs drawn from it."""

    @abstractmethod
    def names(self) -> list[str]:
        """A readable name per feature."""

    def _most_labelled_nodes(self) -> int:
        return MAX_NODES

    def _draw(self, rng: np.random.RandomState) -> None:
        """Draw the random numbers."""

    @abstractmethod
    def _describe(self, matrices: Floats) -> Any:
        """The features of patterns given by their adjacency matrices."""

    def _n_label_inputs(self) -> int:
        """The number of one-hot columns per node: one per fitted label, and one for all others."""
        return 0 if self.n_labels_ is None else self.n_labels_ + 1


def input_atoms(weights: Array, k: int) -> Array:
    """The contribution of each input of a pattern: one row per pair of nodes, then per label.

    An edge sets two entries of the flattened adjacency matrix.
    """
    rows, columns = np.triu_indices(k, 1)
    pairs = weights[rows * k + columns] + weights[columns * k + rows]
    return np.concatenate([pairs, weights[k * k :]])


def pattern_inputs(drawn: Drawn, n_label_inputs: int) -> SparseRows:
    """The inputs of every distinct pattern, in the order of `input_atoms`."""
    k = drawn.k
    bits = ((drawn.codes[:, None] >> np.arange(n_pairs(k))) & 1).astype(bool)
    if n_label_inputs:
        labels = drawn.node_labels()
        one_hot = labels[:, :, None] == np.arange(n_label_inputs)
        bits = np.hstack([bits, one_hot.reshape(len(bits), -1)])
    rows, columns = np.nonzero(bits)
    indptr = np.searchsorted(rows, np.arange(len(bits) + 1)).astype(np.int64)
    return SparseRows(indptr, columns.astype(np.int64), np.ones(len(columns)))


def summed_features(
    counts: SparseRows,
    inputs: SparseRows,
    layers: Sequence[tuple[Floats, Floats]],
    activation: Callable[..., Floats],
    tiling: Tiling = QUIET,
) -> Floats:
    """Σ over a graph's patterns of count · activation(inputs · weights + offset, ...).

    ``layers`` are pairs (weights, offset), one per argument of the activation. Blocks of features
    are distributed over threads; within a block, patterns are evaluated in turn and added to the
    graphs that have them, in the order of the columns of ``counts``.
    """
    n_graphs, n_patterns = len(counts.indptr) - 1, len(inputs.indptr) - 1
    width = len(layers[0][1])
    cuts = np.append(np.arange(0, n_patterns, _PATTERNS), n_patterns)
    bounds = _positions(counts, cuts, n_patterns)
    result = np.empty((n_graphs, width))

    def fill(begin: int, end: int) -> None:
        for block in range(begin, end):
            features = slice(block * _FEATURES, min((block + 1) * _FEATURES, width))
            tables = [np.ascontiguousarray(weights[:, features]) for weights, _ in layers]
            offsets = [offset[features] for _, offset in layers]
            total = np.zeros((n_graphs, len(offsets[0])))
            for c, (first, last) in enumerate(pairwise(cuts.tolist())):
                rows = inputs.indptr[first:last], inputs.indptr[first + 1 : last + 1]
                values = []
                for table, offset in zip(tables, offsets, strict=True):
                    value = np.tile(offset, (last - first, 1))
                    add_weighted_rows(*rows, inputs.columns, inputs.values, table, 0, value)
                    values.append(value)
                described = activation(*values)
                add_weighted_rows(
                    *(bounds[c], bounds[c + 1], counts.columns, counts.values),
                    *(described, first, total),
                )
            result[:, features] = total

    n_blocks = -(-width // _FEATURES)
    for_tiles(fill, n_blocks, n_tiles=n_blocks, tiling=tiling)
    return result


def _positions(counts: SparseRows, cuts: Ints, n_patterns: int) -> Ints:
    """The position of each cut of the patterns in each graph's entries, shape (cuts, graphs)."""
    n_graphs = len(counts.indptr) - 1
    rows = np.repeat(np.arange(n_graphs), np.diff(counts.indptr))
    places = rows * (n_patterns + 1) + counts.columns
    wanted = np.arange(n_graphs) * (n_patterns + 1) + cuts[:, None]
    return np.searchsorted(places, wanted).astype(np.int64)


class GaussianMap(GraphletMap):
    """Random Fourier features of the adjacency matrix, for the Gaussian kernel.

    φ(F) = sqrt(2/m) cos(Wᵀa + b), with a the flattened adjacency matrix of the graphlet,
    W ~ N(0, 1/σ²) for each entry and b ~ U[0, 2π]; the expected inner product is
    exp(−‖a − a'‖² / (2σ²)). The map is not invariant to the order of the nodes; its mean over
    random orders is.

    Parameters
    ----------
    n_components : int, default 1000
        Number of features (m).
    sigma : float, default 1.0
        Width of the kernel. Every edge in which two graphlets differ adds 2 to ‖a − a'‖².
    random_state : int, RandomState or None
        Seed of W and b; None uses that of `GraphSampling`.

    Attributes
    ----------
    weights_ : array, shape (k², m)
        W; with labels, rows for their one-hot blocks follow.
    offsets_ : array, shape (m,)

    References
    ----------
    Rahimi & Recht (2008), Random features for large-scale kernel machines.

    Examples
    --------
    >>> import numpy as np
    >>> from gramlet import GaussianMap
    >>> triangle, path = np.ones((3, 3)) - np.eye(3), np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> features = GaussianMap(20000, sigma=2.0, random_state=0).fit_transform([triangle, path])
    >>> bool(abs(features[0] @ features[1] - np.exp(-2 / 8)) < 0.02)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": COMPONENTS,
        "sigma": SIGMA,
        "random_state": ["random_state"],
    }

    def __init__(
        self, n_components: int = 1000, sigma: float = 1.0, *, random_state: Any = None
    ) -> None:
        self.n_components = n_components
        self.sigma = sigma
        self.random_state = random_state

    stored = fields(
        offsets_=ArrayOf("float64", "n_components"),
        weights_=ArrayOf("float64", None, "n_components"),
    )

    def validate(self) -> None:
        """Raise ValueError if the weights do not fit the size of the patterns."""
        super().validate()
        require(len(self.weights_) == self._n_inputs(), "weights_ must have one row per input")

    def _n_inputs(self) -> int:
        return self.k_ * self.k_ + self.k_ * self._n_label_inputs()

    def _draw(self, rng: np.random.RandomState) -> None:
        shape = (self._n_inputs(), self.n_components)
        self.weights_ = rng.standard_normal(shape) / self.sigma
        self.offsets_ = rng.uniform(0.0, 2.0 * np.pi, self.n_components)

    def _describe(self, matrices: Floats) -> Floats:
        rows = self._inputs_of(matrices)
        return self._cosines(rows @ self.weights_[: rows.shape[1]] + self.offsets_)

    def _inputs_of(self, matrices: Floats) -> Floats:
        return matrices.reshape(len(matrices), -1)

    def _cosines(self, values: Floats) -> Floats:
        np.cos(values, out=values)
        values *= np.sqrt(2.0 / self.n_components)
        return values

    def sums(self, drawn: Drawn, tiling: Tiling = QUIET) -> Floats:
        """For every graph, the sum of the features of the subgraphs drawn from it."""
        counts = SparseRows(drawn.indptr, drawn.columns, drawn.counts)
        inputs = pattern_inputs(drawn, self._n_label_inputs())
        layer = (input_atoms(self.weights_, drawn.k), self.offsets_)
        return summed_features(counts, inputs, [layer], self._cosines, tiling=tiling)

    def names(self) -> list[str]:
        """A name per feature."""
        return [f"{type(self).__name__} {j}" for j in range(self.n_components)]


class EigenGaussianMap(GaussianMap):
    """Random Fourier features of the eigenvalues of the adjacency matrix.

    As `GaussianMap`, on the k eigenvalues in ascending order instead of the k² entries: the map is
    invariant to the order of the nodes, and graphlets with the same eigenvalues have the same
    features. With labels, the eigenvalues are followed by the number of nodes of each label.

    Parameters
    ----------
    n_components : int, default 1000
        Number of features (m).
    sigma : float, default 1.0
        Width of the kernel.
    random_state : int, RandomState or None
        Seed of W and b; None uses that of `GraphSampling`.

    Attributes
    ----------
    weights_ : array, shape (k, m)
        W; with labels, rows for their numbers follow.
    offsets_ : array, shape (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from gramlet import EigenGaussianMap
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> same = path[[1, 0, 2]][:, [1, 0, 2]]
    >>> a, b = EigenGaussianMap(5, random_state=0).fit_transform([path, same])
    >>> bool(np.allclose(a, b))
    True
    """

    def _n_inputs(self) -> int:
        return self.k_ + self._n_label_inputs()

    def _inputs_of(self, matrices: Floats) -> Floats:
        return np.asarray(np.linalg.eigvalsh(matrices), dtype=np.float64)

    def sums(self, drawn: Drawn, tiling: Tiling = QUIET) -> Floats:
        """For every graph, the sum of the features of the subgraphs drawn from it."""
        classes = classes_of_codes(drawn.codes, drawn.k)
        if self.n_labels_ is None:
            counts = SparseRows(*drawn.regrouped(classes, len(patterns(drawn.k))))
            classes = np.arange(len(patterns(drawn.k)))
        else:
            counts = SparseRows(drawn.indptr, drawn.columns, drawn.counts)
        inputs = self._spectra_and_labels(drawn, classes)
        layer = (self.weights_, self.offsets_)
        return summed_features(counts, inputs, [layer], self._cosines, tiling=tiling)

    def _spectra_and_labels(self, drawn: Drawn, classes: Ints) -> SparseRows:
        k = drawn.k
        spectra = self._inputs_of(adjacency_matrices(patterns(k).smallest, k))[classes]
        columns = np.tile(np.arange(k), (len(classes), 1))
        if self.n_labels_ is not None:
            labels = drawn.node_labels()
            known = labels <= self.n_labels_  # padding nodes have no label
            columns = np.hstack([columns, np.where(known, k + labels, 0)])
            spectra = np.hstack([spectra, known.astype(np.float64)])
        indptr = np.arange(len(classes) + 1, dtype=np.int64) * columns.shape[1]
        return SparseRows(indptr, columns.ravel().astype(np.int64), spectra.ravel())


class MatchMap(GraphletMap):
    """The indicator of a graphlet's pattern.

    φ(F) is 1 for the pattern of F and 0 elsewhere: up to isomorphism, with one column for each of
    the N_k classes, or with ``isomorphic=False``, one for each of the 2^{k(k−1)/2} patterns. The
    mean over uniform samples estimates the k-spectrum of the graphlet kernel.

    With more than 4096 columns (k = 8, or ``isomorphic=False`` from k = 6 on) the result is a CSR
    matrix. With labels, isomorphisms preserve them, and patterns have up to 5 nodes; the columns
    are the patterns drawn from the fitted graphs, and other patterns of new graphs are left out.

    Parameters
    ----------
    isomorphic : bool, default True
        Whether isomorphic patterns share a column.

    Examples
    --------
    >>> import numpy as np
    >>> from gramlet import MatchMap
    >>> triangle, empty = np.ones((3, 3)) - np.eye(3), np.zeros((3, 3))
    >>> MatchMap().fit_transform([triangle, empty])
    array([[0., 0., 0., 1.],
           [1., 0., 0., 0.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"isomorphic": ["boolean"]}

    stored = fields(known_=Sometimes(ArrayOf("int64", None, 2, least=0)))  # with labels

    def __init__(self, isomorphic: bool = True) -> None:
        self.isomorphic = isomorphic

    def _most_labelled_nodes(self) -> int:
        return MAX_LABELLED_NODES if self.isomorphic else MAX_NODES

    def learn(self, drawn: Drawn) -> None:
        """With labels, store the patterns drawn from the fitted graphs."""
        if self.n_labels_ is not None:
            self.known_ = np.unique(np.column_stack(self._forms(drawn)), axis=0)

    def validate(self) -> None:
        """Raise ValueError if there are patterns that do not exist."""
        super().validate()
        require((self.n_labels_ is not None) == hasattr(self, "known_"), "known_ needs labels")
        if self.n_labels_ is not None and len(self.known_):
            code, word = (int(column.max()) for column in self.known_.T)
            exist = code < 1 << n_pairs(self.k_) and word < (self.n_labels_ + 2) ** self.k_
            require(exist, "known_ contains patterns that do not exist")

    def _forms(self, drawn: Drawn) -> tuple[Ints, Ints]:
        if self.isomorphic:
            return canonical_labelled(drawn.codes, drawn.words, drawn.k, drawn.base)
        return drawn.codes, drawn.words

    def _n_columns(self) -> int:
        if self.n_labels_ is not None:
            return len(self.known_)
        return len(patterns(self.k_)) if self.isomorphic else 1 << n_pairs(self.k_)

    def _columns_of(self, codes: Ints) -> Ints:
        return classes_of_codes(codes, self.k_) if self.isomorphic else codes

    def sums(self, drawn: Drawn, tiling: Tiling = QUIET) -> Any:
        """For every graph, the number of times that each pattern was drawn."""
        if self.n_labels_ is None:
            groups = self._columns_of(drawn.codes)
        else:
            groups = self._known_columns(drawn)
        n_columns = self._n_columns()
        indptr, columns, counts = drawn.regrouped(groups, max(n_columns, 1))
        shape = (drawn.n_graphs, n_columns)
        return self._as_matrix(sparse.csr_matrix((counts, columns, indptr), shape=shape))

    def _known_columns(self, drawn: Drawn) -> Ints:
        """The column of every pattern; −1 for those not drawn in `fit`."""
        rows = np.column_stack(self._forms(drawn))
        both = np.concatenate([self.known_, rows])
        _, place = np.unique(both, axis=0, return_inverse=True)
        place = place.reshape(-1)
        column_of_place = np.full(place.max(initial=-1) + 1, -1, dtype=np.int64)
        column_of_place[place[: len(self.known_)]] = np.arange(len(self.known_))
        return column_of_place[place[len(self.known_) :]]

    def _as_matrix(self, counts: sparse.csr_matrix) -> Any:
        return counts if counts.shape[1] > _MOST_DENSE_COLUMNS else counts.toarray()

    def _describe(self, matrices: Floats) -> Any:
        rows, columns = np.triu_indices(self.k_, 1)
        bits = (matrices[:, rows, columns] != 0).astype(np.int64)
        codes = bits @ (1 << np.arange(n_pairs(self.k_), dtype=np.int64))
        entries = (np.ones(len(codes)), self._columns_of(codes), np.arange(len(codes) + 1))
        return self._as_matrix(sparse.csr_matrix(entries, shape=(len(codes), self._n_columns())))

    def names(self) -> list[str]:
        """The pattern of each column: its edges, and its node labels if they are used."""
        if self.n_labels_ is not None:
            return self._labelled_names()
        if self.isomorphic:
            return pattern_names(patterns(self.k_).smallest, self.k_)
        if self.k_ == MAX_NODES:
            raise ValueError(
                f"MatchMap(isomorphic=False) has {self._n_columns()} columns at k={self.k_}: too "
                "many to name. Column c is the pattern with the code c."
            )
        return pattern_names(np.arange(self._n_columns()), self.k_)

    def _labelled_names(self) -> list[str]:
        words = [*(self.label_names_ or []), "new", "-"]  # the last two: see `LabelBlock`
        labels = unpacked_labels(self.known_[:, 1], self.k_, len(words))
        texts = [",".join(words[label] for label in row) for row in labels.tolist()]
        plain = pattern_names(self.known_[:, 0], self.k_)
        return [f"{name}; labels {text}" for name, text in zip(plain, texts, strict=True)]
