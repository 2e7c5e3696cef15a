"""What all tests share: data sets, settings of hypothesis."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from without_compiler import COMPILER_IS_OFF, few_seconds, lighten

TESTS = Path(__file__).resolve().parent

# No deadline: the first example of a test may include compiling. Every run has the same examples,
# so that failures come from changes of the code; HYPOTHESIS_PROFILE=explore draws more, and others.
settings.register_profile(
    "gramlet", max_examples=30, deadline=None, print_blob=True, derandomize=True
)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gramlet"))


# What starts processes, runs whole programs, or checks the references: not in the fast lane.
EXHAUSTIVE = (
    "benchmarks/papers",
    "benchmarks/test_compare_kernels.py",
    "cli/commands/test_warm_up.py",
    "cli/test_interrupts.py",
    "cli/test_terminals.py",
    "docs",
    "engine/core/test_compiled.py",
    "persistence/test_interrupted_saving.py",
    "persistence/test_mutants.py",
    "reference_checks",
    "report/test_browser.py",
    "scale/test_command_line_cluster.py",
    "scale/test_gram_faults.py",
    "test_coming_from_grakel.py",
    "test_distribution.py",
    "test_estimator_checks.py",
    "test_examples.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(item.path.is_relative_to(TESTS / path) for path in EXHAUSTIVE):
            item.add_marker(pytest.mark.exhaustive)
    if COMPILER_IS_OFF:
        lighten(items)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    if not COMPILER_IS_OFF:
        return (yield)
    with few_seconds():
        return (yield)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of benchmark data sets beside the repository."""
    folder = TESTS.parent.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("needs the benchmark data sets in the folder shared/data beside the repository")
    return folder
