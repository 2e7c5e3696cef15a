"""Running the tests with the compiler off (``NUMBA_DISABLE_JIT=1``), to see which lines they reach.

Compiled code then runs as plain Python, hundreds of times slower. Hypothesis tries a few examples
per test, and tests made for large inputs are skipped; the ordinary run has them all. Used by
`conftest`; the gate itself is in ``.ci/coverage``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

__all__ = ["COMPILER_IS_OFF", "lighten", "silent_arithmetic"]

COMPILER_IS_OFF = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")

EXAMPLES = 3

# Tests whose inputs are large by design: parts of their names.
LARGE = (
    "test_planted_subtrees.py",
    "test_signature_table.py::test_few_and_many_distinct_signatures",
    "test_coordinates.py::test_large_graphs_by_iteration[star]",
    "test_coordinates.py::test_large_graphs_by_iteration[two cycles]",
    "test_coordinates.py::test_large_graphs_by_iteration[complete]",
    "test_random_walk.py::test_long_chains_whose_eigenvalues_crowd",
    "test_random_walk.py::test_sums_too_large_are_refused",
    "test_random_walk.py::test_molecules_against_the_definition",
    "test_distance.py::test_a_thousand_points_a_side",
    "test_distance.py::test_large_problems",
    "test_few_sinks.py::test_sources_in_an_order_that_misleads_the_sample",
)


def lighten(items: list[Any]) -> None:
    """Skip what is too large for the interpreter; let hypothesis try few examples."""
    skip = pytest.mark.skip(reason="too long without the compiler")
    for item in items:
        if any(name in item.nodeid for name in LARGE):
            item.add_marker(skip)
        test = getattr(item, "obj", None)
        test = getattr(test, "__func__", test)  # methods of classes
        if getattr(test, "is_hypothesis_test", False):
            # The only place where the settings of a test can be changed after it was defined.
            own = getattr(test, "_hypothesis_internal_use_settings", None)
            few = settings(own, max_examples=EXAMPLES, deadline=None)
            test._hypothesis_internal_use_settings = few


def silent_arithmetic() -> Any:
    """Compiled code is silent where numpy's scalars warn.

    Hashes wrap around by intent, and whole vectors are computed where some lanes are padding that
    nobody reads.
    """
    return np.errstate(over="ignore", invalid="ignore")
