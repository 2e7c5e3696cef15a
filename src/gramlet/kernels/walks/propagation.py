"""Propagation kernel: label distributions that propagate along edges, hashed at every step."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import (
    ArrayOf,
    Flag,
    Instance,
    Integer,
    ListOf,
    Number,
    Optional,
    Plain,
    Sometimes,
    Text,
    fields,
)
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.stored_state import require, require_instance
from gramlet.engine.core.neighbour_means import neighbour_means
from gramlet.engine.core.signature_table import SignaturesOf, SignatureTable, pack_rows
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.counts.comparison import count_codes
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.fingerprint import label_hash
from gramlet.kernels.contract.columns import required_attributes
from gramlet.kernels.contract.count_kernel import CountKernel, ExplicitFeatures, count_new
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS
from gramlet.kernels.contract.labels import NodeLabels
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags
from gramlet.kernels.weisfeiler_lehman.colour_counts import columns_of_levels

# The key of the column of labels not seen in `fit`.
_UNSEEN = label_hash(("gramlet", "label not seen in fit"))


def _key(label: Any) -> tuple[int, int]:
    """128 bits of a label's content; of its text if its type has no content hash."""
    try:
        return label_hash(label)
    except ValueError:
        return label_hash((type(label).__qualname__, repr(label)))


class PropagationCounter:
    """Counts the bins of the nodes' distributions, step by step."""

    stored = fields(
        n_iter=Integer(0),
        width=Number(1e-140),
        root=Flag(),
        cauchy=Flag(),
        use_attributes=Flag(),
        random_state=Plain(),
        owner=Text(),
        labels=Sometimes(Instance(NodeLabels)),
        n_columns=Integer(0),
        directions=ArrayOf("float64", "n_iter+1", "n_columns"),
        shifts=ArrayOf("float64", None),
        late_seed=Optional(Integer(0, 2**31)),
        tables=ListOf(SignaturesOf(1), "n_iter+1"),
    )

    def __init__(self, kernel: Propagation) -> None:
        self.n_iter = kernel.n_iter
        self.width = float(kernel.width)
        self.root = kernel.metric == "hellinger"
        self.cauchy = kernel.metric in ("tv", "l1")
        self.use_attributes = kernel.use_attributes
        self.random_state = kernel.random_state
        self.owner = type(kernel).__name__

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        rng = check_random_state(self.random_state)
        if self.use_attributes:
            self.n_columns = required_attributes(batch, self.owner).shape[1]
            self.directions = self._draw(rng, self.n_columns)
        else:
            self.labels = NodeLabels()
            self.labels.fit(batch)
            self.n_columns = len(self.labels) + 1  # the last is for unseen labels
            self.directions = self._draw_by_label(int(rng.randint(2**31 - 1)))
        self.shifts = rng.uniform(0.0, self.width, self.n_iter + 1)
        # If the fitted graphs have no nodes, the number of attributes is not known yet.
        self.late_seed = None if self.n_columns else int(rng.randint(2**31 - 1))
        self.tables: list[SignatureTable] = []
        codes = []
        for bins in self._bins(batch):
            table, found = SignatureTable.fit(*pack_rows(bins[:, None]))
            self.tables.append(table)
            codes.append(found)
        known = [len(table) for table in self.tables]
        columns = np.stack(columns_of_levels(codes, known))
        return count_codes(batch.node_offsets, columns, sum(known))

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        codes = [
            table.lookup(*pack_rows(bins[:, None]))
            for table, bins in zip(self.tables, self._bins(batch), strict=True)
        ]
        known = [len(table) for table in self.tables]
        columns = np.stack(columns_of_levels(codes, known))
        return count_new(batch.node_offsets, columns, sum(known))

    def names(self) -> list[str]:
        return [
            f"t{t}:bin {value:.0f}"
            for t, table in enumerate(self.tables)
            for value in table.data.view(np.float64)
        ]

    def validate(self) -> None:
        require(
            (self.late_seed is None) == (self.n_columns > 0),
            "late_seed must be None if there are columns",
        )
        require(len(self.shifts) == self.n_iter + 1, "shifts need one entry per step")
        if not self.use_attributes:
            require_instance("labels", self.labels, NodeLabels)
            require(self.n_columns == len(self.labels) + 1, "n_columns does not fit the labels")

    @property
    def n_features(self) -> int:
        return sum(len(table) for table in self.tables)

    def _bins(self, batch: GraphBatch) -> list[Ints]:
        """The bin of every node at every step: the bits of floor((x·u + b) / width)."""
        heights = self._heights_of_roots(batch) if self.root else self._heights(batch)
        scaled = np.floor((heights + self.shifts[:, None]) / self.width) + 0.0
        return [np.ascontiguousarray(step).view(np.int64) for step in scaled]

    def _heights(self, batch: GraphBatch) -> Floats:
        """x·u_t for all t; as (T^t P) u = T^t (P u), numbers are propagated, not distributions."""
        rows = self._start(batch)
        travelling = rows @ self._directions(rows.shape[1]).T
        heights = np.empty((self.n_iter + 1, batch.n_nodes_total))
        for t in range(self.n_iter + 1):
            heights[t] = travelling[:, 0]
            if t < self.n_iter:
                travelling = neighbour_means(batch.indptr, batch.indices, travelling[:, 1:])
        return heights

    def _heights_of_roots(self, batch: GraphBatch) -> Floats:
        rows = self._start(batch)
        rows = rows.toarray() if sparse.issparse(rows) else np.array(rows)
        directions = self._directions(rows.shape[1])
        heights = np.empty((self.n_iter + 1, len(rows)))
        for t in range(self.n_iter + 1):
            heights[t] = np.sqrt(rows) @ directions[t]
            if t < self.n_iter:
                rows = neighbour_means(batch.indptr, batch.indices, rows)
        return heights

    def _draw(self, rng: Any, n_columns: int) -> Floats:
        shape = (self.n_iter + 1, n_columns)
        return rng.standard_cauchy(shape) if self.cauchy else rng.standard_normal(shape)

    def _draw_by_label(self, seed: int) -> Floats:
        """One column per label, by the label's content: not by the order or number of labels."""
        keys = [_key(label) for label in self.labels.vocabulary.values or ()]
        if self.labels.vocabulary.values is None:
            keys = [label_hash(None)]
        columns = [
            self._draw(np.random.RandomState(np.random.Philox(key=[a ^ seed, b])), 1)
            for a, b in (*keys, _UNSEEN)
        ]
        return np.ascontiguousarray(np.hstack(columns))

    def _directions(self, n_columns: int) -> Floats:
        """The fitted directions; if the fitted graphs have no nodes, new ones of this length."""
        if self.late_seed is None or n_columns == 0:
            return self.directions
        return self._draw(np.random.RandomState(self.late_seed), n_columns)

    def _start(self, batch: GraphBatch) -> Any:
        n = batch.n_nodes_total
        if self.use_attributes:
            values = required_attributes(batch, self.owner, self.n_columns or None)
            if self.root and (values < 0).any():
                graph = int(batch.graph_of_node[np.flatnonzero((values < 0).any(axis=1))[0]])
                raise ValueError(
                    f'{self.owner}(metric="hellinger") takes square roots, but graph {graph} has '
                    'negative attributes. Use metric="l2" or "l1".'
                )
            return values
        codes = np.minimum(self.labels.encode(batch), self.n_columns - 1)
        return sparse.csr_matrix((np.ones(n), codes, np.arange(n + 1)), shape=(n, self.n_columns))


@shared_texts
class Propagation(ExplicitFeatures, CountKernel):
    """Propagation kernel.

    Every node starts with the distribution P_0 of its label (or its attributes) and takes the mean
    of its neighbours' distributions in every step, P_{t+1} = D⁻¹A P_t. At t = 0..``n_iter`` each
    row x is hashed to floor((x·u_t + b_t)/width), and k sums the products of the graphs' bin counts
    over all steps. Similar distributions share a bin. Cost: O(T² m) for T steps and m edges of all
    graphs (O(T m c) for "hellinger" and c labels), then a sparse product. Positive semi-definite.

    Parameters
    ----------
    n_iter : int, default 5
        Number of steps (T).
    width : float, default 1e-3
        Bandwidth, as the width of a bin: a larger value makes more distributions equal.
    metric : {"tv", "hellinger", "l1", "l2"}
        The distance that hashing preserves: u is Cauchy for "tv" and "l1", Gaussian for "l2" and
        (on square roots) "hellinger".
    use_attributes : bool, default False
        Start from the node attributes instead of the labels.
    random_state : int, RandomState or None
        Seed of u_t and b_t, which are drawn once, in `fit`. The coordinate of a label in u_t
        depends on the seed and on the label, not on other labels or the order of the graphs.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    Notes
    -----
    Labels not seen in `fit` share one additional coordinate. Edge weights are ignored. A node
    without neighbours keeps its row. In directed graphs the mean is over out-neighbours; a node
    without out-neighbours keeps its row.

    References
    ----------
    Neumann, Garnett, Bauckhage, Kersting (2016), Propagation kernels: efficient graph kernels from
    propagated information.

    Examples
    --------
    >>> from gramlet import Propagation
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> Propagation(n_iter=1, random_state=0).fit_transform(graphs)
    array([[ 4.,  6.],
           [ 6., 10.]])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_iter": [Interval(Integral, 0, None, closed="left")],
        "width": [Interval(Real, 0, None, closed="neither")],
        "metric": [StrOptions({"tv", "hellinger", "l1", "l2"})],
        "use_attributes": ["boolean"],
        "random_state": ["random_state"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        n_iter: int = 5,
        width: float = 1e-3,
        *,
        metric: str = "tv",
        random_state: Any = None,
        use_attributes: bool = False,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_iter = n_iter
        self.width = width
        self.metric = metric
        self.random_state = random_state
        self.use_attributes = use_attributes
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _counter(self) -> PropagationCounter:
        return PropagationCounter(self)

    def __graph_tags__(self) -> GraphTags:
        # A direction has one coordinate per fitted label.
        return GraphTags(
            features=True,
            random=True,
            directed=True,
            depends_on_fitted=not self.use_attributes,
            needs=("node_attributes",) if self.use_attributes else (),
            uses=("node_attributes",) if self.use_attributes else ("node_labels",),
        )
