"""Graphlet kernel: how often each pattern on k nodes occurs, exactly or by sampling."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from gramlet.common.fields import Flag, Integer, fields
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.graphlets.patterns import MAX_NODES, classes_of_codes, pattern_names, patterns
from gramlet.engine.graphlets.sampling import sample_counts
from gramlet.engine.graphlets.spectrum import graphlet_frequencies
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.count_kernel import CountKernel, ExplicitFeatures
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags

_LARGEST_EXACT = 6


@shared_texts
class GraphletKernel(ExplicitFeatures, CountKernel):
    """Graphlet kernel.

    k(G, G') = f_Gᵀ f_G', with f_G the k-spectrum: the frequencies, up to isomorphism, of all
    C(v, k) subgraphs induced by k nodes. Labels are ignored. Positive semi-definite.

    Cost: for k = 3, 4, O(Σ deg²) and the number of four-cliques, by formulas; for k = 5, 6, about
    20 nanoseconds per *connected* subgraph; disconnected subgraphs are derived from these.
    ``method="sample"``: O(k²) per sample.

    Parameters
    ----------
    k : int, default 4
        Number of nodes of a graphlet: 3 to 6, or 3 to 8 with ``method="sample"``. Graphs with fewer
        nodes are padded with isolated nodes.
    connected_only : bool, default False
        Count only connected subgraphs, with frequencies that sum to 1; a graph without any gets the
        zero vector.
    method : {"exact", "sample"}
        All subgraphs, or an estimate from uniform samples.
    n_samples : int, default 2000
        Samples per graph, for ``method="sample"``; `gramlet.theory.graphlet_samples` computes how
        many are enough.
    random_state : int, RandomState or None
        For ``method="sample"``. The samples of a graph depend only on it and on the graph.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    References
    ----------
    Shervashidze, Vishwanathan, Petri, Mehlhorn, Borgwardt (2009), Efficient graphlet kernels for
    large graph comparison.

    Examples
    --------
    >>> from gramlet import GraphBatch, GraphletKernel
    >>> graphs = GraphBatch.from_edges([[(0, 1), (1, 2), (0, 2)], [(0, 1), (0, 2), (0, 3)]])
    >>> kernel = GraphletKernel(k=3)
    >>> kernel.fit_transform(graphs)
    array([[1.   , 0.   ],
           [0.   , 0.625]])
    >>> kernel.features(graphs).toarray()
    array([[0.  , 0.  , 0.  , 1.  ],
           [0.25, 0.  , 0.75, 0.  ]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "k": [Interval(Integral, 3, MAX_NODES, closed="both")],
        "connected_only": ["boolean"],
        "method": [StrOptions({"exact", "sample"})],
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        k: int = 4,
        connected_only: bool = False,
        *,
        method: str = "exact",
        n_samples: int = 2000,
        random_state: Any = None,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.k = k
        self.connected_only = connected_only
        self.method = method
        self.n_samples = n_samples
        self.random_state = random_state
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, batch: GraphBatch) -> None:
        if self.method == "exact" and self.k > _LARGEST_EXACT:
            raise ValueError(
                f'GraphletKernel(method="exact") takes k from 3 to {_LARGEST_EXACT}; got '
                f'k={self.k}. Use method="sample" for larger graphlets.'
            )

    def _counter(self) -> GraphletCounter:
        return GraphletCounter(self)

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(features=True, random=self.method == "sample", uses=())


class GraphletCounter:
    """The k-spectra of graphs, exact or estimated."""

    stored = fields(
        k=Integer(3, most=MAX_NODES),
        connected_only=Flag(),
        exact=Flag(),
        n_samples=Integer(1, most=10**9),
        seed=Integer(0, most=2**63 - 1),
    )

    def __init__(self, kernel: GraphletKernel) -> None:
        self.k = int(kernel.k)
        self.connected_only = kernel.connected_only
        self.exact = kernel.method == "exact"
        self.n_samples = int(kernel.n_samples)
        self.seed = 0
        if not self.exact:
            rng = check_random_state(kernel.random_state)
            self.seed = int(rng.randint(2**63 - 1, dtype=np.int64))

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        return self.count(batch, tiling)

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        shares = self._exact(batch, tiling) if self.exact else self._estimated(batch, tiling)
        return shares[:, patterns(self.k).connected] if self.connected_only else shares

    def names(self) -> list[str]:
        known = patterns(self.k)
        codes = known.smallest[known.connected] if self.connected_only else known.smallest
        return pattern_names(codes, self.k)

    def validate(self) -> None:
        require(not self.exact or self.k <= _LARGEST_EXACT, "k is out of range")

    @property
    def n_features(self) -> int:
        known = patterns(self.k)
        return int(known.connected.sum()) if self.connected_only else len(known)

    def _exact(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        return sparse.csr_matrix(
            graphlet_frequencies(batch, self.k, connected_only=self.connected_only, tiling=tiling)
        )

    def _estimated(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        """(1/s) Σ_j of the class indicators of s uniform samples."""
        drawn = sample_counts(batch, self.k, self.n_samples, self.seed, tiling=tiling)
        classes = classes_of_codes(drawn.codes, self.k)
        counts = drawn.counts.astype(np.float64)
        if self.connected_only:
            counts *= patterns(self.k).connected[classes]
        shape = (len(batch), len(patterns(self.k)))
        shares = sparse.csr_matrix((counts, classes, drawn.indptr), shape=shape)
        shares.sum_duplicates()
        totals = np.asarray(shares.sum(axis=1)).reshape(-1)
        shares.data /= np.repeat(np.maximum(totals, 1.0), np.diff(shares.indptr))
        shares.eliminate_zeros()
        return shares
