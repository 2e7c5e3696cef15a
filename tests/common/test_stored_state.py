"""Checks of stored state: valid state passes, errors name what is invalid."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from gramlet.common import stored_state as state
from gramlet.common.parameters import require_parameters


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1.0], "must be an array of float64; found a list of 1 entries"),
        (np.ones(3, dtype=np.float32), "found an array of float32"),
        (np.ones((3, 1)), r"shape \(3\); found \(3, 1\)"),
        (np.ones(2), r"shape \(3\); found \(2,\)"),
        (np.array([1, np.nan, 1]), "not finite"),
        (np.array([1, np.inf, 1]), "not finite"),
        (np.array([1, 1e200, 1]), "beyond 1e"),
        (np.ma.masked_array(np.ones(3)), "must be an array"),
    ],
)
def test_arrays_of_numbers(value, message):
    with pytest.raises(ValueError, match=message):
        state.require_array("x", value, "float64", (3,))


@pytest.mark.parametrize(("value", "sound"), [(-1, False), (0, True), (6, True), (7, False)])
def test_arrays_within_a_range(value, sound):
    array = np.array([3, value])
    if sound:
        state.require_array("x", array, "int64", (None,), least=0, most=6)
    else:
        with pytest.raises(ValueError, match=f"between 0 and 6; found {value}"):
            state.require_array("x", array, "int64", (None,), least=0, most=6)


def test_a_range_of_floats_still_refuses_what_overflows():
    with pytest.raises(ValueError, match="between"):
        state.require_array("x", np.array([1e200]), "float64", (1,), least=0.0)


@pytest.mark.parametrize(
    "offsets", [[], [1, 2], [0, 2, 1, 5], [0, 2], [0, 5, 5, 5], [-1, 5], [0.0, 2.0, 5.0]]
)
def test_offsets_that_do_not_rise_to_their_end(offsets):
    array = np.array(offsets) if offsets else np.zeros(0, dtype=np.int64)
    with pytest.raises(ValueError, match="offsets"):
        state.require_offsets("offsets", array, n_parts=2, end=5)


def test_offsets_of_empty_parts_are_sound():
    state.require_offsets("offsets", np.array([0, 0, 5]), n_parts=2, end=5)


def counts(**changes):
    matrix = sparse.csr_matrix(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))
    for name, value in changes.items():
        setattr(matrix, name, value)
    return matrix


@pytest.mark.parametrize(
    "matrix",
    [
        counts(data=np.array([1.0, -2.0, 3.0])),
        counts(data=np.array([1.0, np.nan, 3.0])),
        counts(data=np.array([1, 2, 3])),
        counts(indices=np.array([0, 3, 1], dtype=np.int32)),
        counts(indices=np.array([0, -1, 1], dtype=np.int32)),
        counts(indptr=np.array([0, 3, 2], dtype=np.int32)),
        counts(indptr=np.array([0, 2, 0], dtype=np.int32)),
        sparse.csc_matrix(np.eye(2)),
        np.eye(2),
        sparse.csr_matrix((2, 4)),
        sparse.csr_matrix((3, 3)),
    ],
)
def test_counts_that_point_outside_or_are_none(matrix):
    state.require_counts("counts", counts(), 2, 3)
    with pytest.raises(ValueError, match=r"counts|indices|index"):
        state.require_counts("counts", matrix, 2, 3)


@pytest.mark.parametrize("value", [-1, 11, 2.0, True, "3", None, np.float64(3)])
def test_integers(value):
    assert state.require_integer("n", np.int64(10), 0, 10) == 10
    with pytest.raises(ValueError, match="n must be a whole number from 0 to 10"):
        state.require_integer("n", value, 0, 10)


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, True, "3", None, 1e300])
def test_reals(value):
    assert state.require_real("x", 3, 0.0) == 3.0
    with pytest.raises(ValueError, match="x must be a number"):
        state.require_real("x", value, 0.0)


def test_flags_instances_and_lists():
    state.require_flag("f", np.True_)
    state.require_items("names", ("a", "b"), str, 2)
    for check, arguments in (
        (state.require_flag, ("f", 1)),
        (state.require_instance, ("s", 3, str)),
        (state.require_items, ("names", ["a", 2], str)),
        (state.require_items, ("names", ["a"], str, 2)),
        (state.require_items, ("names", {"a"}, str)),
    ):
        with pytest.raises(ValueError, match="must be"):
            check(*arguments)


def test_parameters_that_are_missing_or_not_allowed():
    from sklearn.svm import SVC

    with pytest.raises(ValueError, match="'C' parameter"):
        require_parameters(SVC(C=-1.0))
    machine = SVC()
    del machine.C
    with pytest.raises(ValueError, match=r"SVC lacks the parameters \['C'\]"):
        require_parameters(machine)
