"""Labels as bytes: equal if and only if they are equal in Python."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet.graphs.fingerprint import label_bytes

plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.complex_numbers(allow_nan=False),
    st.fractions(),
    st.text(max_size=4),
    st.binary(max_size=4),
)
labels = st.recursive(plain, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)


@given(labels, labels)
def test_equal_exactly_when_python_says_so(a, b):
    assert (label_bytes(a) == label_bytes(b)) == (a == b)


@given(st.integers(-(2**60), 2**60))
def test_numbers_of_all_types(value):
    alike = [Fraction(value), complex(value)] if abs(value) < 2**53 else [Fraction(value)]
    assert all(label_bytes(other) == label_bytes(value) for other in (*alike, np.int64(value)))


def test_parts_do_not_run_together():
    assert label_bytes(("ab", "c")) != label_bytes(("a", "bc"))
    assert label_bytes(((1,), 2)) != label_bytes((1, (2,)))


@pytest.mark.parametrize("value", [object(), range(3)])
def test_values_that_cannot_be_written_down(value):
    with pytest.raises(ValueError, match="have no content hash"):
        label_bytes(value)
