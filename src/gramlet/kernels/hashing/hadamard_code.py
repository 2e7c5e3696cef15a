"""Hadamard code kernel: nodes match when their sums over neighbours agree, label by label."""

from __future__ import annotations

from collections import Counter
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Ints
from gramlet.common.fields import Instance, Integer, ListOf, fields
from gramlet.common.parameters import Interval
from gramlet.common.stored_state import require
from gramlet.engine.core.ragged import taken
from gramlet.engine.core.signature_table import SignaturesOf, SignatureTable, pack_rows
from gramlet.engine.core.tiles import Tiling
from gramlet.engine.counts.comparison import count_codes
from gramlet.engine.hashing.neighbour_codes import (
    MAX_ROUNDS,
    label_residues,
    residue_levels,
)
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.count_kernel import CountKernel, ExplicitFeatures, count_new
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS
from gramlet.kernels.contract.labels import NodeLabels
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags
from gramlet.kernels.weisfeiler_lehman.colour_counts import columns_of_levels

# The text of a vector that is longer than this is replaced by a number.
_LONGEST_TEXT = 400


@shared_texts
class HadamardCode(ExplicitFeatures, CountKernel):
    """Hadamard code kernel.

    At level t = 0..``n_iter`` two nodes match if their vectors x_t, integers of any size, are
    equal, with X_t = (I + A)^t · onehot(labels); k sums, over all levels, the number of matching
    pairs of nodes. The Hadamard codes of the paper encode these vectors; here they are compared by
    residues modulo three random primes of 61 bits. The probability of any collision is below 1e-20.

    Cost: O(m) per level for m edges, then a sparse product. Positive semi-definite.

    Parameters
    ----------
    n_iter : int, default 4
        Rounds of summing over neighbours, up to 10,000.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    References
    ----------
    Kataoka, Inokuchi (2016), Hadamard code graph kernels for classifying graphs.

    Examples
    --------
    >>> from gramlet import HadamardCode
    >>> graphs = [([(0, 1), (1, 2)], ["C", "O", "C"]), ([(0, 1)], ["C", "O"])]
    >>> kernel = HadamardCode(n_iter=1)
    >>> kernel.fit_transform(graphs)
    array([[10.,  7.],
           [ 7.,  6.]])
    >>> kernel.get_feature_names_out().tolist()
    ['t0:(C:1)', 't0:(O:1)', 't1:(C:1,O:1)', 't1:(C:2,O:1)']
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_iter": [Interval(Integral, 0, None, closed="left")],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        n_iter: int = 4,
        *,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_iter = n_iter
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, batch: GraphBatch) -> None:
        if self.n_iter > MAX_ROUNDS:
            raise ValueError(
                f"HadamardCode: n_iter is {self.n_iter}; vectors are compared reliably (with a "
                f"probability of error below 1e-20) for at most {MAX_ROUNDS} rounds. Use fewer."
            )

    def _counter(self) -> WalkVectorCounter:
        return WalkVectorCounter(int(self.n_iter))

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(features=True, refines=True, uses=("node_labels",))


class WalkVectorCounter:
    """Counts the vectors x_t(v) of each graph at every level.

    Attributes
    ----------
    tables : list of SignatureTable
        One per level: the residues of each vector.
    recipes : list of SignatureTable
        One per level 1, 2, ...: the vectors of the previous level that sum to a vector.
    """

    stored = fields(
        n_iter=Integer(0, most=MAX_ROUNDS),
        labels=Instance(NodeLabels),
        tables=ListOf(SignaturesOf(3), "n_iter+1"),
        recipes=ListOf(Instance(SignatureTable), "n_iter"),
    )

    def __init__(self, n_iter: int) -> None:
        self.n_iter = n_iter

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        self.labels = NodeLabels()
        self.tables: list[SignatureTable] = []
        self.recipes: list[SignatureTable] = []
        levels: list[Ints] = []
        for residues in residue_levels(batch, self.labels.fit(batch), self.n_iter):
            table, ids = SignatureTable.fit(*pack_rows(residues))
            if levels:
                self.recipes.append(_recipes(batch, levels[-1], _first_nodes(ids, len(table))))
            self.tables.append(table)
            levels.append(ids)
        known = self._known()
        columns = np.stack(columns_of_levels(levels, known))
        return count_codes(batch.node_offsets, columns, sum(known))

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        residues = residue_levels(batch, self.labels.encode(batch), self.n_iter)
        levels = [
            table.lookup(*pack_rows(rows))
            for table, rows in zip(self.tables, residues, strict=True)
        ]
        known = self._known()
        columns = np.stack(columns_of_levels(levels, known))
        return count_new(batch.node_offsets, columns, sum(known))

    def _known(self) -> list[int]:
        return [len(table) for table in self.tables]

    def names(self) -> list[str]:
        """Each vector with its level: ``t1:(C:2,O:1)``."""
        labels = self.labels.names()
        residues = pack_rows(label_residues(np.arange(len(labels))))
        vectors = [Counter[int]() for _ in range(len(self.tables[0]))]
        for label, number in enumerate(self.tables[0].lookup(*residues).tolist()):
            if number < len(vectors):
                vectors[number][label] = 1
        names = []
        for t in range(self.n_iter + 1):
            if t:
                vectors = [
                    sum((vectors[i] for i in self.recipes[t - 1].signature(j).tolist()), Counter())
                    for j in range(len(self.recipes[t - 1]))
                ]
            names += [_text(t, i, vector, labels) for i, vector in enumerate(vectors)]
        return names

    def validate(self) -> None:
        for before, table, recipe in zip(self.tables, self.tables[1:], self.recipes, strict=False):
            require(len(recipe) == len(table), "there must be one recipe per vector")
            inside = (recipe.data >= 0) & (recipe.data < len(before))
            require(inside.all(), "recipes must contain vectors of the previous level")

    @property
    def n_features(self) -> int:
        return sum(self._known())


def _first_nodes(ids: Ints, n_ids: int) -> Ints:
    """The first node of each id."""
    first = np.zeros(n_ids, np.int64)
    first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
    return first


def _recipes(batch: GraphBatch, before: Ints, nodes: Ints) -> SignatureTable:
    """For some nodes, the ids of their own and their neighbours' vectors at the previous level."""
    offsets, arcs = taken(batch.indptr, nodes)
    heads = before[batch.indices[arcs]]
    data = np.insert(heads, offsets[:-1], before[nodes])
    return SignatureTable(offsets + np.arange(len(offsets)), data)


def _text(level: int, number: int, vector: Counter[int], labels: list[str]) -> str:
    text = ",".join(f"{labels[label]}:{vector[label]}" for label in sorted(vector))
    if len(text) > _LONGEST_TEXT:
        return f"t{level}:(…{len(vector)} labels, no. {level}.{number})"
    return f"t{level}:({text})"
