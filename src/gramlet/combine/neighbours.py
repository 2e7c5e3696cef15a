"""Nearest neighbours of graphs by any kernel, without a matrix of all pairs."""

from __future__ import annotations

from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from gramlet.combine.feature_products import normalized_kernel
from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.checks import require_count
from gramlet.common.fields import ArrayOf, Instance, Integer, fields
from gramlet.common.notices import counted
from gramlet.common.parameters import HasMethods, Interval
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.counts.nearest import NearestIndex, nearest_rows
from gramlet.graphs.conversion.convert import as_batch
from gramlet.kernels.contract.kernel import GraphKernel
from gramlet.kernels.contract.normalisation import Kind, canonical, normalize_in_place
from gramlet.kernels.contract.profile import CountProfile

# The number of bytes of a block of rows.
_BLOCK = 1 << 26


class GraphNeighbors(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """The exact nearest neighbours of graphs by the distance of a normalised kernel.

    d² = 2 − 2 T(x, y) with T = k(x, y)/(k(x, x) + k(y, y) − k(x, y)), or the cosine if the kernel
    says so; neighbours are ordered by d² rounded to 12 decimals, then by position. Cosines of
    kernels on counts use inverted indices, with bounds that skip rows that cannot be among the
    nearest; others are computed block by block. Memory: the profile of the fitted graphs, one block
    of rows, and the neighbours.

    Parameters
    ----------
    kernel : str or estimator, default "wl-oa"
        A name in the registry, or a kernel or an embedding of gramlet; it is always normalised.
    n_neighbors : int, default 5
    n_jobs : int or None
        Number of threads; the result does not depend on it.
    verbose : bool or int
        Show a progress bar on a terminal.

    Attributes
    ----------
    kernel_ : estimator
        The fitted kernel.
    n_samples_fit_ : int
        The number of fitted graphs.

    Notes
    -----
    A graph of norm 0 has the similarity 1 to others of norm 0, and 0 to all other graphs.

    Examples
    --------
    >>> from gramlet import GraphNeighbors, load_dataset
    >>> mutag = load_dataset("MUTAG").graphs
    >>> index = GraphNeighbors("wl-oa", n_neighbors=2).fit(mutag)
    >>> distances, positions = index.kneighbors(mutag[:3])
    >>> positions[:, 0].tolist(), distances[:, 0].tolist()
    ([0, 1, 2], [0.0, 0.0, 0.0])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "kernel": [str, HasMethods(["fit", "transform"])],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    stored = fields(
        n_samples_fit_=Integer(1),
        kernel_=Instance(GraphKernel, n_fitted_="n_samples_fit_"),
        norms_=ArrayOf("float64", "n_samples_fit_"),
    )

    def __init__(
        self,
        kernel: Any = "wl-oa",
        n_neighbors: int = 5,
        *,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.kernel = kernel
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the graphs that neighbours are searched in (y is for supervised kernels)."""
        self._validate_params()
        kernel = normalized_kernel(self.kernel)
        if kernel.__graph_tags__().whole_matrix:
            raise ValueError(
                f"GraphNeighbors compares graphs pair by pair, but {kernel!r} repairs its Gram "
                'matrix as a whole. Use psd="none".'
            )
        batch = as_batch(X)
        self.__dict__.pop("index_", None)
        self.kernel_ = kernel.fit(batch, y)
        self.norms_: Floats = np.array(self._fitted.norms(self._tiling()), dtype=np.float64)
        self.n_samples_fit_ = len(batch)
        return self

    def kneighbors(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        return_distance: bool = True,
        *,
        return_similarity: bool = False,
    ) -> Any:
        """Find the nearest fitted graphs of each graph.

        Parameters
        ----------
        X : graphs, optional
            The default is the fitted graphs; then no graph is its own neighbour.
        n_neighbors : int, optional
            The default is the parameter of the estimator.
        return_distance : bool, default True
        return_similarity : bool, default False
            Return similarities in place of distances.

        Returns
        -------
        distances : array, shape (graphs, n_neighbors)
            Ascending; only if ``return_distance``.
        positions : array of int64, shape (graphs, n_neighbors)
        """
        check_is_fitted(self)
        wanted = self.n_neighbors if n_neighbors is None else n_neighbors
        wanted = require_count("n_neighbors", wanted, 1)
        available = self.n_samples_fit_ - (X is None)
        if wanted > available:
            if not available:
                raise ValueError(
                    "There is one graph, and no other to compare it with. Fit at least two."
                )
            others = counted(available, "other graph" if X is None else "graph")
            raise ValueError(
                f"n_neighbors={wanted}, but only {others} {'was' if available == 1 else 'were'} "
                f"fitted. Use at most {available}."
            )
        if X is None:
            squares, positions = self._search(self._fitted, self.norms_, wanted, True)
        else:
            batch = as_batch(X)
            profile = self.kernel_.profile_of(batch)
            norms = np.array(profile.norms(self._tiling()), dtype=np.float64)
            squares, positions = self._search(profile, norms, wanted, False)
        # Distances that are equal to 12 decimals are sorted by position; make them ascend.
        squares = np.maximum.accumulate(squares, axis=1)
        if return_similarity:  # differences beyond the 12th decimal are rounding errors
            return np.round(1.0 - squares / 2.0, 12) + 0.0, positions
        return (np.sqrt(squares), positions) if return_distance else positions

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> sparse.csr_matrix:
        """The neighbours as a sparse matrix, shape (graphs, fitted graphs).

        Parameters
        ----------
        X, n_neighbors : as for `kneighbors`
        mode : {"connectivity", "distance"}
            Whether entries are ones or distances.
        """
        if mode not in ("connectivity", "distance"):
            raise ValueError(f"mode must be 'connectivity' or 'distance'; got {mode!r}.")
        distances, positions = self.kneighbors(X, n_neighbors)
        entries = np.ones(positions.size) if mode == "connectivity" else distances.reshape(-1)
        offsets = np.arange(len(positions) + 1, dtype=np.int64) * positions.shape[1]
        shape = (len(positions), self.n_samples_fit_)
        return sparse.csr_matrix((entries, positions.reshape(-1), offsets), shape=shape)

    def transform(self, X: Any) -> sparse.csr_matrix:
        """The distances to the nearest n_neighbors + 1 graphs, as in KNeighborsTransformer.

        For estimators that take precomputed neighbours: KNeighborsClassifier, DBSCAN, UMAP.
        """
        check_is_fitted(self)
        fitted = self.n_samples_fit_
        if self.n_neighbors >= fitted:
            way_out = f"Use at most {fitted - 1}." if fitted > 1 else "Fit at least two graphs."
            raise ValueError(
                f"n_neighbors={self.n_neighbors}, of which transform finds one more, but only "
                f"{counted(fitted, 'graph')} {'was' if fitted == 1 else 'were'} fitted. {way_out}"
            )
        return self.kneighbors_graph(X, self.n_neighbors + 1, mode="distance")

    def fit_transform(self, X: Any, y: Any = None) -> sparse.csr_matrix:
        """Fit to X and return the distances to the nearest n_neighbors + 1 graphs."""
        return self.fit(X, y).transform(X)

    @property
    def _how(self) -> Kind:
        return canonical(self.kernel_.normalize) or "cosine"

    @property
    def _fitted(self) -> Any:
        return self.kernel_._current(self.kernel_.profile_)

    @cached_property
    def index_(self) -> NearestIndex:
        """The inverted index of a kernel on counts, built when first used."""
        profile = self._fitted
        return NearestIndex.build(profile.features(), profile.measure, self.norms_)

    def _search(self, profile: Any, norms: Floats, k: int, own: bool) -> tuple[Floats, Ints]:
        """Squared distances and positions; ``own`` if the profile is that of the fitted graphs."""
        n = len(profile)
        squares, positions = np.empty((n, k)), np.empty((n, k), dtype=np.int64)
        counts = type(profile) is CountProfile and self._how == "cosine"
        rows = max(1, _BLOCK // (8 * max(1, self.n_samples_fit_))) if not counts else max(1, n)
        for begin in range(0, n, rows):
            block = np.arange(begin, min(n, begin + rows))
            ordinary = block[norms[block] > 0]
            find = self._by_index if counts else self._by_rows
            if len(ordinary):
                squares[ordinary], positions[ordinary] = find(profile, norms, ordinary, k, own)
            for i in block[norms[block] <= 0]:
                row = np.where(self.norms_ > 0, 2.0, 0.0)
                squares[i], positions[i] = _nearest(row, k, i if own else -1)
        return squares, positions

    def _by_index(
        self, profile: Any, norms: Floats, rows: Ints, k: int, own: bool
    ) -> tuple[Floats, Ints]:
        counts = profile.counts[:, : self._fitted.n_known]
        places = rows if own else np.full(len(rows), -1, dtype=np.int64)
        if len(rows) < len(profile):
            counts = counts[rows]
        return nearest_rows(counts, norms[rows], self.index_, k, places, self._tiling())

    def _by_rows(
        self, profile: Any, norms: Floats, rows: Ints, k: int, own: bool
    ) -> tuple[Floats, Ints]:
        values = profile[rows].compare(self._fitted, self._tiling())
        normalize_in_place(values, norms[rows], self.norms_, self._how)
        squares, positions = np.empty((len(rows), k)), np.empty((len(rows), k), dtype=np.int64)
        for line, (i, row) in enumerate(zip(rows, values, strict=True)):
            row *= -2.0
            row += 2.0
            row[row < 2e-12] = 0.0
            squares[line], positions[line] = _nearest(row, k, i if own else -1)
        return squares, positions

    def _tiling(self) -> Tiling:
        return Tiling(self.n_jobs, self.verbose, type(self).__name__)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """A name per fitted graph."""
        check_is_fitted(self)
        return np.array([f"graph{i}" for i in range(self.n_samples_fit_)], dtype=object)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags


def _nearest(squares: Floats, k: int, own: int) -> tuple[Floats, Ints]:
    """The k smallest squared distances, by value rounded to 12 decimals, then by position."""
    keys = np.rint(squares * 1e12)
    if own >= 0:
        keys[own] = np.inf
    last = np.partition(keys, k - 1)[k - 1]
    near = np.flatnonzero(keys <= last)
    near = near[np.argsort(keys[near], kind="stable")][:k]
    return squares[near], near
