"""What all tests share: the path to the reference code, data sets, settings of hypothesis."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

TESTS = Path(__file__).resolve().parent
if str(TESTS) not in sys.path:  # for `from reference.strategies import ...`
    sys.path.insert(0, str(TESTS))

# No deadline: the first example of a test may include compiling. Every run has the same examples,
# so that failures come from changes of the code; HYPOTHESIS_PROFILE=explore draws new ones.
settings.register_profile("gramlet", deadline=None, print_blob=True, derandomize=True)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gramlet"))

from without_compiler import COMPILER_IS_OFF, few_seconds, lighten  # noqa: E402


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
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
