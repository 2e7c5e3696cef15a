"""How the kind of a target is inferred, and which targets are refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gramlet.evaluation.task import target_of
from gramlet.files.target import infer_task


@pytest.mark.parametrize(
    ("y", "task"),
    [
        (["a", "b"] * 30, "classification"),
        ([str(k / 3) for k in range(100)], "classification"),
        ([True, False] * 30, "classification"),
        (np.array(["x", "y"], dtype=object), "classification"),
        ([0.5, 1.0], "regression"),
        (np.arange(49), "classification"),
        (np.arange(49.0), "classification"),
        (np.arange(50) % 10, "classification"),  # exactly a fifth as many values as graphs
        (np.arange(100) % 20, "classification"),
        ([1, 2.5, 3], "regression"),
    ],
)
def test_classes_and_numbers_are_told_apart(y, task):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert infer_task(y) == task
        assert target_of(y, len(y)).task == task


@pytest.mark.parametrize("kind", [int, float, object])
def test_many_whole_numbers_are_a_quantity_and_one_warning_says_so(kind):
    y = (np.arange(50) % 11).astype(kind)
    with pytest.warns(UserWarning, match="11 distinct whole numbers for 50 graphs") as caught:
        assert target_of(y, 50).task == "regression"
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert target_of(y, 50, "classification").n_classes == 11


def test_the_task_can_be_said():
    y = [1, 2, 2, 1, 3]
    assert target_of(y, 5).classes.tolist() == [1, 2, 3]
    target = target_of(y, 5, "regression")
    assert target.values.tolist() == [1.0, 2.0, 2.0, 1.0, 3.0]
    with pytest.raises(ValueError, match=r"not whole, e.g. 0.5 at position 1. Use task='regress"):
        target_of([1, 0.5, 2], 3, "classification")
    with pytest.raises(ValueError, match="task='regression' needs numbers; y contains strings"):
        target_of(["1.5", "2.5"], 2, "regression")
    with pytest.raises(ValueError, match="y contains booleans"):
        target_of([True, False], 2, "regression")
    with pytest.raises(ValueError, match="task must be 'auto'"):
        target_of(y, 5, "ranking")


def test_missing_values_are_refused_with_their_positions():
    pd = pytest.importorskip("pandas")
    for y in (
        [1.5, np.nan, 2.5, np.inf],
        [1.5, None, 2.5, float("-inf")],
        pd.Series([1, pd.NA, 2, pd.NA], dtype="Int64"),
        pd.Series(["a", None, "b", np.nan]),
    ):
        with pytest.raises(ValueError, match=r"for 2 of 4 graphs, at positions 1, 3\. Leave"):
            target_of(y, 4)
    many = np.full(40, np.nan)
    with pytest.raises(ValueError, match=r"at positions 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, \.\.\.\."):
        target_of(many, 40)


def test_y_is_matched_by_position_never_by_index():
    pd = pytest.importorskip("pandas")
    series = pd.Series(["a", "b", "c"], index=[2, 0, 1])
    assert target_of(series, 3).values.tolist() == [0, 1, 2]


def test_small_classes_are_left_out_with_one_warning():
    y = np.repeat(["big", "huge", "tiny", "small"], [6, 9, 1, 3])
    with pytest.warns(UserWarning, match="leaves out 4 of 19 graphs, those .* 'small', 'tiny'"):
        target = target_of(y, 19, min_class_size=4)
    assert target.classes.tolist() == ["big", "huge"]
    assert target.kept.tolist() == list(range(15))
    assert target.named.tolist() == y[:15].tolist()
    assert len(target.plain) == 19
    with (
        pytest.raises(ValueError, match=r"1 class left by min_class_size=7 \('huge'\); a class"),
        pytest.warns(UserWarning, match="leaves out 10"),
    ):
        target_of(y, 19, min_class_size=7)
    with pytest.raises(ValueError, match="min_class_size is for classes"):
        target_of([0.5, 1.5, 2.5], 3, min_class_size=2)


def test_a_constant_number_is_nothing_to_predict():
    with pytest.raises(ValueError, match=r"y is 2.5 for all 3 graphs"):
        target_of([2.5, 2.5, 2.5], 3)


@pytest.mark.parametrize(
    "y",
    [[2**64, 2**64 + 1, 2**64], [10**309, 1, 10**309], [0.5, 10**309, 1], [1e19, 2.0, 1e19]],
)
def test_numbers_beyond_64_bits_are_refused(y):
    """As floating-point numbers different classes would be one."""
    with pytest.raises(ValueError, match="beyond 64 bits, which would not be told apart"):
        target_of(y, 3)
