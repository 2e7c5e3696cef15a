"""What kernels are compared by, where no option says otherwise."""

from __future__ import annotations

import pytest

from gramlet.cli.options import Comparing


@pytest.mark.parametrize(
    ("asked", "n_graphs", "expected"), [(None, 1999, 3), (None, 2000, 1), (5, 2000, 5), (1, 10, 1)]
)
def test_many_graphs_are_divided_once_unless_more_is_asked_for(asked, n_graphs, expected):
    assert Comparing(repeats=asked).protocol(n_graphs).repeats == expected
