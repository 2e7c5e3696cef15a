"""Declared fields: valid state passes, errors name what is invalid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

from gramlet.common import fields as f


def counts(**changes):
    matrix = sparse.csr_matrix(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))
    for name, value in changes.items():
        setattr(matrix, name, value)
    return matrix


def int32s(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int32)


FLOATS, INDICES = f.ArrayOf("float64", 3), f.ArrayOf("int64", None, below=7)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (FLOATS, [1.0], "array of float64 with 1 axes; found a list of 1 entries"),
        (FLOATS, np.ones(3, dtype=np.float32), "found an array of float32"),
        (FLOATS, np.ones((3, 1)), r"found an array of float64 of shape \(3, 1\)"),
        (FLOATS, np.ones(2), "axis 0 of x must be 3; found 2"),
        (FLOATS, np.array([1, np.nan, 1]), "not finite"),
        (FLOATS, np.array([1, np.inf, 1]), "not finite"),
        (FLOATS, np.array([1, 1e200, 1]), "beyond 1e"),
        (FLOATS, np.ma.masked_array(np.ones(3)), "must be an array"),
        (f.ArrayOf("float64", 1, least=0.0), np.array([1e200]), "beyond"),
        (INDICES, np.array([3, -1]), "between 0 and 6; found -1"),
        (INDICES, np.array([3, 7]), "between 0 and 6; found 7"),
        *(
            (f.Offsets(2, 5), np.array(offsets, dtype=np.int64), "x")
            for offsets in ([], [1, 2], [0, 2, 1, 5], [0, 2], [0, 5, 5, 5], [-1, 5])
        ),
        (f.Offsets(2, 5), np.array([0.0, 2.0, 5.0]), "int64"),
        (f.Counts(2, 3), counts(data=np.array([1.0, -2.0, 3.0])), "between"),
        (f.Counts(2, 3), counts(data=np.array([1.0, np.nan, 3.0])), "not finite"),
        (f.Counts(2, 3), counts(data=np.array([1, 2, 3])), "float64"),
        (f.Counts(2, 3), counts(indices=int32s(0, 3, 1)), "indices"),
        (f.Counts(2, 3), counts(indices=int32s(0, -1, 1)), "indices"),
        (f.Counts(2, 3), counts(indptr=int32s(0, 3, 2)), "offsets"),
        (f.Counts(2, 3), counts(indptr=int32s(0, 2, 0)), "offsets"),
        (f.Counts(2, 3), sparse.csc_matrix(np.eye(2)), "csr"),
        (f.Counts(2, 3), sparse.csr_matrix((2, 4)), "columns"),
        (f.Counts(2, 3), sparse.csr_matrix((3, 3)), "rows"),
        *(
            (f.Integer(0, 10), value, "whole number from 0 to 10")
            for value in (-1, 11, 2.0, True, "3", None, np.float64(3))
        ),
        *(
            (f.Number(0.0), value, "x must be a number")
            for value in (-1.0, np.nan, np.inf, True, "3", None, 1e300)
        ),
        (f.Flag(), 1, "True or False"),
        (f.Choice("a", None), "b", "'a' or None"),
        (f.Text(), 3, "a str; found 3"),
        (f.Instance("Covariances"), 3, "a Covariances"),
        (f.Plain(), {"a": [object()]}, "numbers or text"),
        (f.Labels(2), ("a", "a"), "twice"),
        (f.Labels(2), (1.0, np.nan), "NaN"),
        (f.Classes(), np.array([1.0, np.nan]), "NaN"),
        (f.ListOf(f.Text(), 2), ["a", 2], r"x\[1\] must be a str"),
        (f.ListOf(f.Text(), 2), ["a"], "length"),
        (f.Tuple(f.Text(), f.Flag()), ("a", 1), r"x\[1\]"),
        (f.Either(f.Flag(), f.Integer()), "a", "True or False.*Or: .*whole number"),
    ],
)
def test_wrong_values_are_named(field, value, message):
    with pytest.raises(ValueError, match=message):
        field.check("x", value, {})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (FLOATS, np.ones(3)),
        (INDICES, np.array([0, 6])),
        (f.Offsets(2, 5), np.array([0, 0, 5])),
        (f.Counts(2, 3), counts()),
        (f.Integer(0, 10), np.int64(10)),
        (f.Number(0.0), 3),
        (f.Flag(), np.True_),
        (f.Optional(f.Text()), None),
        (f.Plain(), {"a": [1, ("b", None)], 2: np.ones(2)}),
        (f.Labels(2), ("a", 1)),
        (f.Either(f.Flag(), f.Integer()), 3),
    ],
)
def test_right_values_pass(field, value):
    field.check("x", value, {})


class Rows(NamedTuple):
    offsets: np.ndarray
    points: np.ndarray
    name: str
    scale: float | None

    stored = f.fields(offsets=f.Offsets("n", "points"), points=f.ArrayOf("float64", "points"))


@dataclass
class Holder:
    rows: Rows
    signed: bool

    stored = f.fields()


def test_symbols_agree_and_annotations_declare():
    rows = Rows(np.array([0, 2]), np.ones(2), "a", None)
    f.check(rows)
    f.check(Holder(rows, True))
    for changes, message in (
        ({"points": np.ones(3)}, "axis 0 of points must be 2; found 3"),
        ({"name": 3}, "name must be a str"),
        ({"scale": np.nan}, "scale must be a number"),
    ):
        with pytest.raises(ValueError, match=message):
            f.check(rows._replace(**changes))
    with pytest.raises(ValueError, match="rows must be a Rows"):
        f.check(Holder(3, True))
    with pytest.raises(ValueError, match="signed must be True or False"):
        f.check(Holder(rows, 1))
