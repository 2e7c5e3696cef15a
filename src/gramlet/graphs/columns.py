"""Columns of a batch: categorical values encoded as integers, and arrays of floats."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.fields import ArrayOf, Labels, fields


def frozen(array: Array) -> Array:
    """The array, contiguous and read-only."""
    array = np.ascontiguousarray(array)
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def float_column(column: Any) -> Floats | None:
    """A column of weights or attributes as it is stored in a batch, or None."""
    return None if column is None else frozen(np.asarray(column, dtype=np.float64))


def text_column(column: Any, n_graphs: int) -> tuple[str, ...] | None:
    """One string per graph, as it is stored in a batch, or None."""
    if column is None:
        return None
    texts = tuple(column)
    if len(texts) != n_graphs:
        raise ValueError(
            f"molecules has {len(texts)} entries for {n_graphs} graphs; give one per graph."
        )
    for graph, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"Graph {graph}: molecules must be SMILES strings; got {text!r}.")
    return texts


def pick(column: Any, positions: Any) -> Any:
    """The entries of a column of any kind at these positions; None stays None."""
    if column is None or positions is None:
        return column
    if isinstance(column, tuple):
        return tuple([column[i] for i in positions.tolist()])
    return column.take(positions) if isinstance(column, Categorical) else column[positions]


class Categorical(Sequence[Any]):
    """An immutable column of categorical values.

    Parameters
    ----------
    codes : array of int
        One code per entry, an index into ``categories``.
    categories : sequence of hashable
        The distinct values.
    """

    __slots__ = ("_categories", "_codes")

    stored = fields(
        categories=Labels("n_categories"), codes=ArrayOf("int64", None, below="n_categories")
    )

    def __init__(self, codes: Array, categories: Iterable[Hashable]) -> None:
        self._codes = frozen(np.asarray(codes, dtype=np.int64))
        self._categories = tuple(categories)

    @classmethod
    def from_values(cls, values: Iterable[Any]) -> Categorical:
        """Encode values in the order of their first appearance."""
        if isinstance(values, np.ndarray) and values.dtype != object:
            return cls._from_array(values)
        index: dict[Hashable, int] = {}
        codes_list = []
        for value in values:
            plain = value.item() if isinstance(value, np.generic) else value
            try:
                code = index.setdefault(plain, len(index))
            except TypeError:
                raise TypeError(
                    f"Labels must be hashable (strings, ints, tuples, ...); got a label of type "
                    f"{type(plain).__name__}: {plain!r}."
                ) from None
            codes_list.append(code)
        for value in index:
            _refuse_nan(value)
        return cls(np.array(codes_list, dtype=np.int64), index)

    @classmethod
    def _from_array(cls, values: Array) -> Categorical:
        if values.ndim != 1:
            raise ValueError(f"Labels are a 1-d column; got an array of shape {values.shape}.")
        if (values != values).any():
            _refuse_nan(float("nan"))
        distinct, first, codes = np.unique(values, return_index=True, return_inverse=True)
        by_appearance = np.argsort(first)
        rank = np.empty_like(by_appearance)
        rank[by_appearance] = np.arange(len(rank))
        return cls(rank[codes.reshape(-1)], distinct[by_appearance].tolist())

    @property
    def codes(self) -> Ints:
        """One integer per entry, an index into `categories`."""
        return self._codes

    @property
    def categories(self) -> tuple[Hashable, ...]:
        """The distinct values; some may not occur (after slicing)."""
        return self._categories

    def used(self) -> tuple[Hashable, ...]:
        """The values that occur, in the order of their codes."""
        present = np.flatnonzero(np.bincount(self._codes, minlength=len(self._categories)))
        return tuple(self._categories[c] for c in present)

    def recode(self, index: dict[Hashable, int], n_known: int) -> Ints:
        """Codes in another alphabet; values not in ``index`` get codes from ``n_known`` on."""
        table = np.empty(len(self._categories), dtype=np.int64)
        fresh = n_known
        for code, value in enumerate(self._categories):
            known = index.get(value)
            if known is None:
                known = fresh
                fresh += 1
            table[code] = known
        return table[self._codes]

    def take(self, positions: Ints) -> Categorical:
        """The column at the given positions, with the same categories."""
        return Categorical(self._codes[positions], self._categories)

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, key: Any) -> Any:
        picked = self._codes[key]
        if np.ndim(picked) == 0:
            return self._categories[int(picked)]
        return Categorical(picked, self._categories)

    def __iter__(self) -> Iterator[Any]:
        return (self._categories[c] for c in self._codes.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        # Filled one by one: numpy would unpack labels that are tuples into rows.
        values = np.fromiter(self, dtype=object, count=len(self))
        return values if dtype is None else values.astype(dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Categorical):
            return NotImplemented
        if len(self) != len(other):
            return False
        mine, theirs, _ = unify([self, other])
        return bool(np.array_equal(mine, theirs))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Categorical({len(self)} entries of {len(self._categories)} values)"

    def __getstate__(self) -> dict[str, Any]:
        return {"categories": self._categories, "codes": np.asarray(self._codes)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Categorical.__init__(self, **state)


def _refuse_nan(label: Any) -> None:
    """Raise for a value that is not equal to itself (NaN, NaT, NA), alone or within a tuple."""
    if isinstance(label, tuple | frozenset):
        for part in label:
            _refuse_nan(part)
        return
    try:
        equal = bool(label == label)
    except (TypeError, ValueError):  # pandas' NA is neither equal nor unequal
        equal = False
    if not equal:
        raise ValueError("NaN is not a label: it is not equal to itself.")


def unify(columns: Sequence[Categorical]) -> tuple[Any, ...]:
    """Codes of every column in one common alphabet, then the alphabet.

    >>> a, b, alphabet = unify([Categorical.from_values("xy"), Categorical.from_values("yz")])
    >>> a.tolist(), b.tolist(), alphabet
    ([0, 1], [1, 2], ('x', 'y', 'z'))
    """
    index: dict[Hashable, int] = {}
    tables: dict[int, Ints] = {}
    recoded = []
    for column in columns:
        # Slices of one batch share their categories: thousands of columns, few alphabets.
        table = tables.get(id(column.categories))
        if table is None:
            table = np.array(
                [index.setdefault(value, len(index)) for value in column.categories],
                dtype=np.int64,
            )
            tables[id(column.categories)] = table
        recoded.append(table[column.codes])
    return (*recoded, tuple(index))


def same_column(mine: Any, theirs: Any) -> bool:
    """Whether columns are equal; one without entries (no nodes, no edges) equals None.

    NaN equals NaN: a batch that holds some is still equal to its copies.
    """
    if mine is None or theirs is None:
        return all(column is None or len(column) == 0 for column in (mine, theirs))
    if isinstance(mine, Categorical):
        return bool(mine == theirs)
    return len(mine) == len(theirs) == 0 or np.array_equal(mine, theirs, equal_nan=True)


def join_columns(name: str, pieces: Sequence[Any], position: Callable[[int], int]) -> Any:
    """One column from several: there in all pieces or in none.

    ``position`` gives the graph that stands for a piece in messages.
    """
    missing = [i for i, column in enumerate(pieces) if column is None]
    if len(missing) == len(pieces):
        return None
    if missing:
        there = next(i for i, column in enumerate(pieces) if column is not None)
        raise ValueError(both_or_neither(name, position(there), position(missing[0])))
    if isinstance(pieces[0], Categorical):
        *codes, alphabet = unify(pieces)
        return Categorical(np.concatenate(codes), alphabet)
    for i, column in enumerate(pieces):
        if column.shape[1:] != pieces[0].shape[1:]:
            raise ValueError(
                f"Graph {position(i)} has {column.shape[1]} {name} and graph {position(0)} has "
                f"{pieces[0].shape[1]}. All graphs need the same number."
            )
    return np.concatenate(pieces)


def both_or_neither(name: str, graph_with: int, graph_without: int) -> str:
    """The message for a column that only some graphs have."""
    return (
        f"Graph {graph_with} has {name} and graph {graph_without} has none. "
        f"Give {name} to all graphs or to none."
    )
