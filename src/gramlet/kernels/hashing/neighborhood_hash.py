"""Neighbourhood hash kernel: codes of nodes combined with their neighbours' by bit operations."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from gramlet.common.arrays import Floats, Ints, UInt64s
from gramlet.common.checks import is_integer
from gramlet.common.fields import (
    ArrayOf,
    Flag,
    Instance,
    Integer,
    ListOf,
    Optional,
    Plain,
    TupleOf,
    fields,
)
from gramlet.common.parameters import Interval, StrOptions
from gramlet.common.randomness import as_generator
from gramlet.common.stored_state import (
    require,
)
from gramlet.engine.core.signature_table import SignaturesOf, SignatureTable, pack_rows
from gramlet.engine.core.tiles import QUIET, Tiling
from gramlet.engine.hashing.neighbour_codes import hash_levels
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.fingerprint import label_bytes
from gramlet.kernels.contract.count_kernel import count_new
from gramlet.kernels.contract.kernel import COMMON_CONSTRAINTS, GraphKernel
from gramlet.kernels.contract.labels import wrong_kind
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.profile import CountProfile, Profile
from gramlet.kernels.contract.tags import GraphTags


@shared_texts
class NeighborhoodHash(GraphKernel):
    """Neighbourhood hash kernel.

    Every node starts with a code of ``n_bits`` bits for its label. In each round its code is
    rotated by one bit and combined with its neighbours' codes by exclusive or. k is the mean over
    the rounds of c/(n + n' − c), with c the number of codes that two graphs of n and n' nodes
    share. The kernel is fast, but not exact: different neighbourhoods may get the same code.

    Cost: O(m) per round for m edges (O(m log d) for "count" and degrees d), then sums of minima.
    Positive semi-definite.

    Parameters
    ----------
    n_iter : int, default 3
        Number of rounds, at least 1.
    kind : {"simple", "count"}
        "simple": neighbours' codes are combined unchanged, so that two equal codes cancel.
        "count": equal codes are first counted and rotated by their number.
    n_bits : int, default 32
        Number of bits of a code, from 1 to 64.
    codes : mapping or None
        Codes of the labels, integers from 0 to 2^n_bits − 1. None: a hash of the label and
        ``random_state``, the same in every process.
    random_state : int, RandomState or None, default 0
        Key of the hash of labels; None draws a random one in `fit`.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    References
    ----------
    Hido, Kashima (2009), A linear-time graph kernel.

    Examples
    --------
    >>> from gramlet import NeighborhoodHash
    >>> graphs = [([(0, 1), (1, 2)], ["C", "O", "C"]), ([(0, 1)], ["C", "O"])]
    >>> NeighborhoodHash(n_iter=1, n_bits=3, codes={"C": 1, "O": 2}).fit_transform(graphs)
    array([[1.  , 0.25],
           [0.25, 1.  ]])
    """

    stored = fields(
        rounds_=Instance("CodeRounds"), profile_=Instance("HashProfile", len="n_fitted_")
    )

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "kind": [StrOptions({"simple", "count"})],
        "n_bits": [Interval(Integral, 1, 64, closed="both")],
        "codes": [Mapping, None],
        "random_state": ["random_state"],
        **COMMON_CONSTRAINTS,
    }

    def __init__(
        self,
        n_iter: int = 3,
        kind: str = "simple",
        *,
        n_bits: int = 32,
        codes: Mapping[Hashable, int] | None = None,
        random_state: Any = 0,
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.n_iter = n_iter
        self.kind = kind
        self.n_bits = n_bits
        self.codes = codes
        self.random_state = random_state
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check(self, batch: GraphBatch) -> None:
        _check_codes(self.codes, int(self.n_bits))

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> HashProfile:
        self.rounds_ = CodeRounds(self)
        return self.rounds_.fit(batch)

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> HashProfile:
        return self.rounds_.profile(batch)

    def _validate_fitted(self) -> None:
        profile: Any = self.profile_
        require(len(profile.levels) == self.rounds_.n_iter, "there must be one level per round")
        for level, table in zip(profile.levels, self.rounds_.tables, strict=True):
            known = (level.n_known, level.counts.shape[1])
            require(known == (len(table),) * 2, "levels must have one column per fitted code")

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(random=self.codes is None, refines=True, uses=("node_labels",))


class CodeRounds:
    """The rounds of hashing with the fitted parameters, and the codes of the fitted graphs.

    Attributes
    ----------
    seed : int
        Key of the hash of every label.
    tables : list of SignatureTable
        One per round: the codes of the fitted nodes.
    labelled : bool or None
        Whether the fitted nodes have labels; None if there are no nodes.
    """

    stored = fields(
        n_iter=Integer(1),
        counting=Flag(),
        n_bits=Integer(1, most=64),
        codes=Optional(Plain()),
        seed=Integer(0, most=2**127),
        tables=ListOf(SignaturesOf(1), "n_iter"),
        labelled=Optional(Flag()),
    )

    def __init__(self, kernel: NeighborhoodHash) -> None:
        self.n_iter = int(kernel.n_iter)
        self.counting = kernel.kind == "count"
        self.n_bits = int(kernel.n_bits)
        self.codes = None if kernel.codes is None else dict(kernel.codes)
        self.seed = _seed(kernel.random_state)
        self.tables: list[SignatureTable] = []
        self.labelled: bool | None = None

    def levels(self, batch: GraphBatch) -> UInt64s:
        """The codes of all nodes after each round, shape (n_iter, nodes)."""
        return hash_levels(
            batch.indptr,
            batch.indices,
            self._initial(batch),
            self.n_iter,
            self.n_bits,
            self.counting,
        )

    def fit(self, batch: GraphBatch) -> HashProfile:
        """Learn the codes of these graphs."""
        self.labelled = batch.node_labels is not None if batch.n_nodes_total else None
        self.tables = [
            SignatureTable.fit(*pack_rows(codes.view(np.int64)[:, None]))[0]
            for codes in self.levels(batch)
        ]
        return self.profile(batch)

    def profile(self, batch: GraphBatch) -> HashProfile:
        """The codes of graphs in terms of the fitted ones."""
        if batch.n_nodes_total and self.labelled not in (None, batch.node_labels is not None):
            fitted, given = ("with", "without") if self.labelled else ("without", "with")
            raise ValueError(wrong_kind(fitted, given, "node labels"))
        counted = []
        for table, codes in zip(self.tables, self.levels(batch), strict=True):
            columns = table.lookup(*pack_rows(codes.view(np.int64)[:, None]))
            counts = count_new(batch.node_offsets, columns, len(table))
            counted.append(CountProfile(counts, "min", len(table)))
        return HashProfile(tuple(counted), batch.sizes.astype(np.float64))

    def _initial(self, batch: GraphBatch) -> UInt64s:
        """The code of each node's label; nodes without labels have the label None."""
        column = batch.node_labels
        if column is None:
            values: tuple[Hashable, ...] = (None,)
            entries = np.zeros(batch.n_nodes_total, np.int64)
        else:
            values, entries = column.categories, column.codes
        table = np.zeros(max(1, len(values)), np.uint64)
        for entry in np.unique(entries).tolist():
            table[entry] = self._code(values[entry], batch, entries, entry)
        return table[entries]

    def _code(self, label: Hashable, batch: GraphBatch, entries: Ints, entry: int) -> int:
        if self.codes is None:
            key = self.seed.to_bytes(16, "little")
            digest = blake2b(label_bytes(label), digest_size=8, key=key).digest()
            return int.from_bytes(digest, "little") >> (64 - self.n_bits)
        if label not in self.codes:
            node = int(np.flatnonzero(entries == entry)[0])
            graph = int(batch.graph_of_node[node])
            what = "nodes without a label (None)" if label is None else f"the label {label!r}"
            raise ValueError(
                f"NeighborhoodHash: codes has no code for {what} of graph {graph}. Give one, or "
                "use codes=None, which computes codes for all labels."
            )
        return int(self.codes[label])

    def validate(self) -> None:
        _check_codes(self.codes, self.n_bits)


def _seed(random_state: Any) -> int:
    """The key of the hash of labels: the given integer, or a random one."""
    if is_integer(random_state) and random_state >= 0:
        return int(random_state) % 2**127
    return int(as_generator(random_state).integers(2**62))


def _check_codes(codes: Any, n_bits: int) -> None:
    if codes is None:
        return
    if not isinstance(codes, Mapping):
        raise ValueError(
            f"NeighborhoodHash: codes must be a mapping of labels to integers, or None; got "
            f"{codes!r}."
        )
    for label, code in codes.items():
        if not is_integer(code) or not 0 <= code < 2**n_bits:
            raise ValueError(
                f"NeighborhoodHash: the code of label {label!r} is {code!r}; with n_bits={n_bits} "
                f"it must be an integer from 0 to {2**n_bits - 1}."
            )


@dataclass(frozen=True)
class HashProfile(Profile):
    """The codes of some graphs after each round.

    k is the mean over levels of c/(n + n' − c), with c the number of codes that two graphs share
    and n, n' their numbers of nodes; 0 if both are empty.

    Attributes
    ----------
    levels : tuple of CountProfile
        Counts of codes, compared by sums of minima.
    sizes : array of float64
        The number of nodes of each graph.
    """

    levels: tuple[CountProfile, ...]
    sizes: Floats

    stored = fields(
        levels=TupleOf(Instance(CountProfile, len="n"), least=1),
        sizes=ArrayOf("float64", "n", least=0.0),
    )

    def __len__(self) -> int:
        return len(self.sizes)

    def take(self, rows: Ints) -> HashProfile:
        return HashProfile(tuple(level.take(rows) for level in self.levels), self.sizes[rows])

    def compare(self, other: HashProfile, tiling: Tiling = QUIET) -> Floats:
        pairs = zip(self.levels, other.levels, strict=True)
        return self._shares(other, (mine.compare(theirs, tiling) for mine, theirs in pairs))

    def compare_self(self, tiling: Tiling = QUIET) -> Floats:
        shares = self._shares(self, (level.compare_self(tiling) for level in self.levels))
        np.fill_diagonal(shares, self.norms())
        return shares

    def _shares(self, other: HashProfile, common: Iterator[Floats]) -> Floats:
        """The mean of c/(n + n' − c) for the numbers c of shared codes of every level."""
        out = np.zeros((len(self), len(other)))
        for level in common:
            for size, row, total in zip(self.sizes, level, out, strict=True):
                total += row / np.maximum(size + other.sizes - row, 1.0)
        out /= len(self.levels)
        return out

    def norms(self, tiling: Tiling = QUIET) -> Floats:
        """A graph shares all codes with itself."""
        return np.where(self.sizes > 0, 1.0, 0.0)

    def validate(self) -> None:
        for level in self.levels:
            require(level.measure == "min", "the measure of levels must be 'min'")
