"""Whether arcs form an undirected graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet.graphs.conversion.symmetry import is_symmetric

ARCS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=12)


@given(ARCS)
def test_it_agrees_with_sets(arcs):
    table = np.array(arcs, dtype=np.int64).reshape(-1, 2)
    wanted = all((v, u) in set(arcs) for u, v in arcs)
    assert is_symmetric(table) == wanted
    both = np.concatenate([table, table[:, ::-1]])
    assert is_symmetric(both)


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1.0, 1.0], True),
        ([1.0, 1.0 + 2**-52], False),
        ([np.nan, np.nan], True),
        ([np.nan, 1.0], False),
        ([[1, 2], [1, 2]], True),
        ([[1, 2], [2, 1]], False),
    ],
)
def test_data_of_opposite_arcs_is_compared_exactly(values, wanted):
    assert is_symmetric(np.array([(0, 1), (1, 0)]), None, np.array(values)) is wanted


def test_repeats_count_once():
    assert is_symmetric(np.array([(0, 1), (1, 0), (0, 1)]), np.array([2, 2, 2]))
