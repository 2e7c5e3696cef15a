"""The computations of the examples against simpler ones."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("rows", "columns"), [(40, 7), (12, 30)])
def test_leave_one_out_is_what_leaving_each_row_out_gives(rows: int, columns: int) -> None:
    rge_accuracy = example("rge_accuracy")
    rng = np.random.default_rng(rows)
    codes = np.r_[0, 1, 2, rng.integers(0, 3, rows - 3)]
    # The classes differ in small coordinates only, which a large ridge suppresses.
    table = rng.normal(size=(rows, columns))
    table[:, :3] += 4.0 * np.eye(3)[codes]
    table *= np.r_[np.full(3, 1e-3), np.ones(columns - 3)]
    table -= table.mean(axis=0)
    expected = []
    for ridge in rge_accuracy.RIDGES:
        right = 0
        for i in range(rows):
            kept = np.arange(rows) != i
            x, y = table[kept], np.eye(3)[codes[kept]]
            centre, mean = x.mean(axis=0), y.mean(axis=0)
            x = x - centre
            # By the smaller of the two systems: without the ridge the other one is singular.
            if rows - 1 <= columns:
                weights = x.T @ np.linalg.solve(x @ x.T + ridge * np.eye(rows - 1), y - mean)
            else:
                weights = np.linalg.solve(x.T @ x + ridge * np.eye(columns), x.T @ (y - mean))
            right += int(np.argmax(mean + (table[i] - centre) @ weights) == codes[i])
        expected.append(right / rows)
    np.testing.assert_allclose(rge_accuracy.leave_one_out(table, codes), expected)
    assert len(set(expected)) > 1


def test_error_bars_cover_what_lies_within_them() -> None:
    coverage = example("logbb_regression").coverage
    values, means = np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.1, 1.0, 4.1, 3.0])
    assert coverage(values, means, np.ones(4)) == 0.75
    assert coverage(values, means, np.full(4, 0.01)) == 0.5


def test_stored_errors_and_coverage_are_those_of_the_stored_predictions() -> None:
    module = example("logbb_regression")
    document = json.loads(module.OUTPUT.read_text(encoding="utf-8"))
    assert document["splits"]
    for split in document["splits"]:
        measured, predicted, deviation, ridge = (
            np.array(split[key]) for key in ("measured", "predicted", "deviation", "ridge")
        )
        assert len(measured) == document["n_molecules"] // 4
        assert split["process_rmse"] == pytest.approx(module.error_of(measured, predicted))
        assert split["ridge_rmse"] == pytest.approx(module.error_of(measured, ridge))
        assert split["coverage"] == module.coverage(measured, predicted, deviation)
        assert split["coverage"] > 0.8
