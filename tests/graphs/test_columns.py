"""Categorical columns: labels that differ in Python stay different after every operation."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet.graphs.columns import Categorical, frozen, join_columns, same_column, unify

LABELS = st.one_of(
    st.integers(0, 3),
    st.sampled_from(["0", "1", "C"]),
    st.tuples(st.integers(0, 1)),
    st.tuples(st.integers(0, 1), st.sampled_from("ab")),
)


def typed(values):
    """Values with their types, so that 1 and "1" are not confused."""
    return [(type(v), v) for v in values]


@given(st.lists(LABELS))
def test_values_come_back_as_they_went_in(values):
    column = Categorical.from_values(values)
    assert typed(column) == typed(values)
    assert typed(np.asarray(column)) == typed(values)
    assert len(column) == len(values)
    assert len(set(column.categories)) == len(column.categories)


@given(st.lists(LABELS, min_size=1), st.data())
def test_take_and_indexing_pick_values(values, data):
    column = Categorical.from_values(values)
    picks = data.draw(st.lists(st.integers(0, len(values) - 1)))
    wanted = typed([values[i] for i in picks])
    assert typed(column.take(np.array(picks, np.int64))) == wanted
    assert typed(column[np.array(picks, np.int64)]) == wanted
    assert typed([column[-1]]) == typed([values[-1]])


@given(st.lists(LABELS), st.lists(LABELS))
def test_unify_gives_one_code_to_one_value(first, second):
    a, b, alphabet = unify([Categorical.from_values(first), Categorical.from_values(second)])
    assert typed(alphabet[c] for c in a) == typed(first)
    assert typed(alphabet[c] for c in b) == typed(second)
    assert len(set(alphabet)) == len(alphabet)


@given(st.lists(LABELS), st.lists(LABELS))
def test_columns_are_equal_when_their_values_are(first, second):
    a, b = Categorical.from_values(first), Categorical.from_values(second)
    assert (a == b) == (first == second)
    if first == second:
        assert hash(a) == hash(b)


def test_equality_does_not_look_at_codes():
    assert Categorical(np.array([0, 1]), ("a", "b")) == Categorical(np.array([2, 0]), "b-a")
    assert Categorical(np.array([0, 1]), ("a", "b")) != Categorical(np.array([0, 1]), ("b", "a"))
    assert Categorical.from_values("a") != "a"


@pytest.mark.parametrize(
    "values",
    [
        np.array([30, 10, 30, 20]),
        np.array(["x", "b", "x"]),
        np.array([2.5, 0.5]),
        np.array([True, False]),
        np.array([], dtype=int),
    ],
)
def test_arrays_are_encoded_in_order_of_appearance_as_plain_values(values):
    column = Categorical.from_values(values)
    assert column == Categorical.from_values(values.tolist())
    assert column.categories == tuple(dict.fromkeys(values.tolist()))
    assert not any(isinstance(v, np.generic) for v in column.categories)


def test_numpy_scalars_are_the_values_they_hold():
    column = Categorical.from_values([np.int64(1), 1, np.str_("1"), "1"])
    assert column.categories == (1, "1")
    assert column.codes.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "values",
    [
        np.array([0.0, np.nan]),
        [0.0, float("nan")],
        [np.float64("nan")],
        ["a", ("a", float("nan"))],
        [(1, (2, float("nan")))],
        [frozenset([float("nan")])],
        np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"),
    ],
)
def test_nan_is_no_label(values):
    with pytest.raises(ValueError, match="NaN is not a label"):
        Categorical.from_values(values)


def test_missing_values_of_pandas_are_no_labels():
    pd = pytest.importorskip("pandas", reason="needs pandas")
    for missing in (pd.NA, pd.NaT, ("a", pd.NA)):
        with pytest.raises(ValueError, match="NaN is not a label"):
            Categorical.from_values(["a", missing])


def test_labels_are_told_apart_as_python_does():
    column = Categorical.from_values([1, True, 1.0, "1", (1,), b"1", ("1",), None, "None"])
    assert column.codes.tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 6]


def test_unhashable_labels_are_refused():
    with pytest.raises(TypeError, match=r"hashable.*list: \['a'\]"):
        Categorical.from_values(["a", ["a"]])


def test_two_dimensional_labels_are_refused():
    with pytest.raises(ValueError, match=r"1-d column.*\(2, 2\)"):
        Categorical.from_values(np.eye(2))


def test_used_leaves_out_what_a_slice_lost():
    column = Categorical.from_values("abca")
    assert column.used() == ("a", "b", "c")
    assert column[1:2].used() == ("b",)
    assert column[1:2].categories == ("a", "b", "c")


def test_recode_numbers_unknown_values_after_the_known():
    column = Categorical.from_values(["x", "new", "y", "newer", "new"])
    assert column.recode({"x": 1, "y": 0}, 2).tolist() == [1, 2, 0, 3, 2]


def test_pickle_and_repr():
    column = Categorical.from_values(["a", (1, 2), "a"])
    again = pickle.loads(pickle.dumps(column))
    assert again == column
    assert again.categories == column.categories
    assert repr(column) == "Categorical(3 entries of 2 values)"


def test_codes_cannot_be_written():
    column = Categorical.from_values("ab")
    with pytest.raises(ValueError, match="read-only"):
        column.codes[0] = 1


def test_frozen_leaves_the_callers_array_writable():
    array = np.arange(3)
    assert not frozen(array).flags.writeable
    assert array.flags.writeable


def test_a_column_without_entries_is_as_good_as_none():
    assert same_column(None, Categorical.from_values([]))
    assert same_column(np.zeros((0, 3)), None)
    assert same_column(np.zeros((0, 3)), np.zeros((0, 1)))
    assert not same_column(None, np.zeros(1))
    assert not same_column(np.zeros(1), np.ones(1))


def test_joining_needs_the_column_in_all_pieces_or_none():
    labels = Categorical.from_values("a")
    assert join_columns("node_labels", [None, None], [0, 4].index) is None
    assert list(join_columns("node_labels", [labels, labels], [0, 4].index)) == ["a", "a"]
    with pytest.raises(ValueError, match="Graph 14 has node_labels and graph 10 has none"):
        join_columns("node_labels", [None, labels], [10, 14].__getitem__)
