"""Numbers in text: exact, in blocks of any size, with errors that name the line."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet.files.tu.text import read_numbers


def parse_integers(text: bytes, file: str) -> np.ndarray:
    return read_numbers(io.BytesIO(text), file, np.int64)


def parse_floats(text: bytes, file: str) -> np.ndarray:
    return read_numbers(io.BytesIO(text), file, np.float64)


@given(
    st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**8 - 1)), min_size=1, max_size=30),
    st.integers(1, 40),
    st.sampled_from([",", ", ", " , "]),
    st.sampled_from(["\n", "\r\n", " \n"]),
    st.sampled_from(["", "\n", "\n\n \n"]),
)
def test_blocks_of_any_size_give_the_same_numbers(
    rows: list[tuple[int, int]], size: int, separator: str, line_end: str, rest: str
) -> None:
    written = line_end.join(f"{u}{separator}{v}" for u, v in rows) + rest
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gramlet.files.tu.text._BLOCK", size)
        assert parse_integers(written.encode(), "file").tolist() == [list(row) for row in rows]
        with pytest.raises(ValueError, match=rf"file, line {len(rows) + 1}: the line is empty"):
            parse_integers((written.rstrip() + "\n \n\n1,2").encode(), "file")


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gramlet.files.tu.text._BLOCK", 100)
    monkeypatch.setattr("gramlet.files.tu.text.LONGEST_LINE", 1000)
    with pytest.raises(ValueError, match="file, line 2 is longer than 1,000 bytes"):
        parse_integers(b"1\n" + b"1" * 5000, "file")


@given(
    st.lists(
        st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-5, 5)), min_size=1, max_size=9
    )
)
def test_integers_are_exact(rows: list[tuple[int, int]]) -> None:
    text = "\n".join(f"{a},{b}" for a, b in rows).encode()
    assert parse_integers(text, "file").tolist() == [list(row) for row in rows]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=20))
def test_floats_are_exact(values: list[float]) -> None:
    text = "\n".join(map(repr, values)).encode()
    assert parse_floats(text, "file")[:, 0].tobytes() == np.array(values).tobytes()


@given(st.text(alphabet="0123456789,. \n-ex", max_size=25))
def test_any_text_is_a_table_or_an_error_with_a_line(text: str) -> None:
    """The fast reader and a plain one agree on every text."""
    lines = text.rstrip().split("\n") if text.strip() else []
    try:
        plain = [[float(field) for field in line.split(",")] for line in lines]
        sound = len({len(row) for row in plain}) <= 1
    except ValueError:
        sound = False
    sound = sound and bool(np.isfinite([x for row in plain for x in row]).all())
    if sound:
        assert parse_floats(text.encode(), "file").tolist() == plain
    else:
        with pytest.raises(ValueError, match=r"file, line \d+: "):
            parse_floats(text.encode(), "file")
