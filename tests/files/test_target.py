"""The rule that distinguishes classes from real numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gramlet.files.target import CellFormat, infer_task, target_from_cells


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b"], "classification"),
        ([str(i / 7) for i in range(100)], "classification"),
        ([True, False], "classification"),
        ([1, 2, 3], "classification"),
        ([1.0, 2.0, 3.0], "classification"),
        ([1.0, 2.5], "regression"),
        (range(49), "classification"),
        (range(50), "regression"),
        ([i % 10 for i in range(50)], "classification"),
        ([i % 11 for i in range(50)], "regression"),
        ([float(i % 11) for i in range(50)], "regression"),
        (np.array([1, 2.5], dtype=object), "regression"),
        (np.array([1, "2.5"], dtype=object), "classification"),
        (np.array(["a", "b"], dtype=object), "classification"),
        (np.array([True, False], dtype=object), "classification"),
        ([5], "classification"),
    ],
)
def test_the_rule(values, task):
    values = values if isinstance(values, np.ndarray) else np.asarray(list(values))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert infer_task(values) == task


def test_whole_numbers_taken_for_regression_are_said_once():
    with pytest.warns(UserWarning, match="60 distinct whole numbers for 60 graphs") as caught:
        infer_task(range(60), warn=True)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "values",
    [
        [1.0, np.nan, 2.0, np.inf],
        np.array([1.0, None, 2.0, float("nan")], dtype=object),
        np.array(["a", None, "b", None], dtype=object),
    ],
)
def test_missing_targets_are_listed(values):
    with pytest.raises(ValueError, match=r"for 2 of 4 graphs \(positions 1, 3\)"):
        infer_task(values)


def test_one_value_per_graph():
    with pytest.raises(ValueError, match=r"got shape \(2, 2\)"):
        infer_task([[1, 2], [3, 4]])


def test_cells_of_tables():
    assert target_from_cells(["1", " 2"])[0].dtype == np.int64
    assert target_from_cells(["1e3", "2"])[0].tolist() == [1000.0, 2.0]
    values, unfit = target_from_cells(["0.5", "-inf", "x"])
    assert values.tolist() == [0.5, 0.0, 0.0]
    assert sorted(unfit) == [1, 2]
    assert target_from_cells(["9" * 30, "1"])[0].tolist() == [1e30, 1.0]
    assert target_from_cells(["9" * 5000, "1"])[0].tolist() == ["9" * 5000, "1"]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["0,5", "-1,25", "3"], [0.5, -1.25, 3.0]),
        (["0,125", "1,250"], [0.125, 1.25]),
        (["1,5e3", "2"], [1500.0, 2.0]),
        (["1,2", "1,2,3"], ["1,2", "1,2,3"]),
        (["1,5", "x"], ["1,5", "x"]),
        (["yes, a lot", "no"], ["yes, a lot", "no"]),
    ],
)
def test_decimal_commas(cells, values):
    found, unfit = target_from_cells(cells)
    assert (found.tolist(), unfit) == (values, {})


def test_numbers_with_decimal_commas_stay_numbers_where_some_cells_are_none():
    found, unfit = target_from_cells(["0,5", "1,25", "<0,1", "3"])
    assert (found.tolist(), list(unfit)) == ([0.5, 1.25, 0.0, 3.0], [2])


@pytest.mark.parametrize("cells", [["1.234,5", "2,5"], ["1,234.5", "2.5"], ["1,234,567.5"]])
def test_marks_between_thousands_do_not_make_classes(cells):
    found, unfit = target_from_cells(cells)
    assert found.dtype.kind == "f"
    assert list(unfit) == [0]
    assert "thousands separators" in unfit[0]


def test_commas_beside_points_or_between_thousands_do_not_fit():
    assert list(target_from_cells(["0.5", "0,5"])[1]) == [1]
    found = target_from_cells(["1,234", "12,500", "7"])[1]
    assert list(found) == [0, 1]
    assert "decimal comma" in found[0]


@pytest.mark.parametrize(
    ("cells", "values", "odd"),
    [
        ([*(f"{i},5" for i in range(9)), "2.5"], [*(i + 0.5 for i in range(9)), 0], [9]),
        (["2.5", "1,5", "2,5", "7"], [0, 1.5, 2.5, 7], [0]),
        (["2,5", "1.5", "2.5", "7"], [0, 1.5, 2.5, 7], [0]),
        (["1,234", "12,500", "0.5"], [0, 0, 0.5], [0, 1]),
        (["1,0", "2.5", "3,0"], [1, 0, 3], [1]),
    ],
)
def test_the_majority_decides_between_decimal_commas_and_points(cells, values, odd):
    found, unfit = target_from_cells(cells)
    assert (found.tolist(), sorted(unfit)) == (values, odd)


def test_the_format_of_a_whole_column_decides_for_its_blocks():
    written = CellFormat().learn(["1,5"]).learn(["2,5", "3"]).learn(["2.5"])
    assert written.values(["2.5"])[1] == {
        0: "'2.5' has a decimal point, but most values have a decimal comma"
    }
    assert written.values(["3", "2,5"])[0].tolist() == [3.0, 2.5]
    unclear = CellFormat().learn(["1,234", "12,500"]).learn(["7"])
    assert unclear.values(["7"])[0].tolist() == [7.0]


def test_classes_beyond_64_bits_stay_apart() -> None:
    from gramlet.files.target import check_target, target_from_cells

    numbers = [2**64 + 1, 2**64 + 2, 5]
    assert len(set(check_target(numbers).tolist())) == 3
    assert len(set(check_target([2**63 + 1, 2**63 + 2, -1]).tolist())) == 3
    cells = [str(number) for number in numbers]
    assert target_from_cells(cells)[0].tolist() == cells


def test_a_target_of_309_digits_is_not_finite() -> None:
    from gramlet.files.target import check_target, target_from_cells

    _, unfit = target_from_cells(["0.5", "9" * 309])
    assert list(unfit) == [1]
    assert "is not finite" in unfit[1]
    assert check_target([10**310, 1]).tolist() == [str(10**310), "1"]
