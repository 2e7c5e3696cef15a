"""ODD-STh: subtrees of the decompositions of a graph into directed acyclic graphs."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Floats, Ints
from gramlet.common.fields import Instance, Integer, ListOf, Number, fields
from gramlet.common.parameters import Interval
from gramlet.engine.core.signature_table import SignatureTable
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.counts.comparison import count_codes
from gramlet.engine.neighbourhoods.descent_trees import DescentTrees, descent_trees, split_child
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.count_kernel import CountKernel, ExplicitFeatures
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS
from gramlet.kernels.contract.labels import NodeLabels
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags
from gramlet.kernels.weisfeiler_lehman.colour_counts import columns_of_levels

# The text of a larger tree is its root, the number of its children and its own number.
_LONGEST_TEXT = 400


class TreeCounter:
    """Counts the descent trees of each graph, times decay^{|T|/2}."""

    stored = fields(
        height=Integer(),
        decay=Number(0.0, 1.0),
        labels=Instance(NodeLabels),
        tables=ListOf(Instance(SignatureTable)),
    )

    def __init__(self, height: int, decay: float) -> None:
        self.height = height
        self.decay = decay

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        self.labels = NodeLabels()
        trees = descent_trees(batch, self.labels.fit(batch), self.height, tiling=tiling)
        self.tables = trees.tables
        return self._weighted(trees)

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        codes = self.labels.encode(batch)
        return self._weighted(descent_trees(batch, codes, self.height, self.tables, tiling=tiling))

    def _weighted(self, trees: DescentTrees) -> sparse.csr_matrix:
        known = [len(table) for table in self.tables]
        columns = _columns(trees, known)
        width = max(sum(known), int(columns.max(initial=-1)) + 1)
        counts = count_codes(trees.offsets, columns, width)
        if self.decay == 1.0:
            return counts
        sizes = np.ones(width)
        sizes[columns] = trees.sizes
        counts.data *= _weights(sizes, self.decay)[counts.indices]
        return counts

    def names(self) -> list[str]:
        """Each tree as a text: ``C(C,O(N))``."""
        labels = self.labels.names()
        texts: list[list[str]] = []
        for level, table in enumerate(self.tables):
            texts.append([])
            for tree in range(len(table)):
                root, *children = table.signature(tree).tolist()
                parts = sorted(texts[h][i] for h, i in map(split_child, children))
                text = f"{labels[root]}({','.join(parts)})" if parts else labels[root]
                if len(text) > _LONGEST_TEXT:
                    text = f"{labels[root]}(…{len(parts)} children, no. {level}.{tree})"
                texts[level].append(text)
        return [text for level in texts for text in level]

    @property
    def n_features(self) -> int:
        return sum(len(table) for table in self.tables)


def _columns(trees: DescentTrees, known: list[int]) -> Ints:
    """The column of each tree: first the fitted trees by height, then the others."""
    n_levels = max(len(known), len(trees.tables))
    known = known + [0] * (n_levels - len(known))
    rows = [np.flatnonzero(trees.heights == level) for level in range(n_levels)]
    columns = np.empty(len(trees.ids), np.int64)
    levels = columns_of_levels([trees.ids[where] for where in rows], known)
    for where, level in zip(rows, levels, strict=True):
        columns[where] = level
    return columns


def _weights(sizes: Floats, decay: float) -> Floats:
    """decay^{|T|/2}; 0 if decay^{|T|} underflows."""
    with np.errstate(under="ignore"):
        return np.where(decay**sizes > 0.0, decay ** (sizes / 2.0), 0.0)


@shared_texts
class ODDSTh(ExplicitFeatures, CountKernel):
    """Ordered DAG decompositions, compared by their subtrees.

    DD(v) contains the nodes within ``height`` hops of v and the arcs that lead one hop farther from
    v; T_v(u) is the tree of all descents from u in DD(v), with unordered children. With f_T(G) the
    number of pairs (v, u) whose tree is T and n_T the number of its nodes, k = Σ_T decay^n_T f_T(G)
    f_T(G'). In directed graphs, hops and descents follow arcs.

    Trees are renamed, never unfolded. Cost: O(m_v) per node v and height of trees, with m_v the
    number of edges within ``height`` hops; then a sparse product. Positive semi-definite.

    Parameters
    ----------
    height : int, default 3
        The largest number of hops; values above the longest distance make no difference.
    decay : float, default 1.0
        Weight per node of a tree, above 0 and at most 1.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    References
    ----------
    Da San Martino, Navarin, Sperduti (2012), A tree-based kernel for graphs.

    Examples
    --------
    >>> from gramlet import ODDSTh
    >>> graphs = [([(0, 1), (1, 2)], ["C", "O", "C"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = ODDSTh(height=1)
    >>> kernel.fit_transform(graphs)
    array([[13.,  6.],
           [ 6.,  4.]])
    >>> kernel.get_feature_names_out().tolist()
    ['O', 'C', 'C(O)', 'O(C,C)', 'O(C)']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "height": [Interval(Integral, 0, None, closed="left")],
        "decay": [Interval(Real, 0, 1, closed="right")],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        height: int = 3,
        decay: float = 1.0,
        *,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.height = height
        self.decay = decay
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _counter(self) -> TreeCounter:
        return TreeCounter(int(self.height), float(self.decay))

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(features=True, directed=True, uses=("node_labels",))
