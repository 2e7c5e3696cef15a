"""Whole numbers in text, eight digits at once: the fast way through long tables of edges.

For tables of numbers of at most eight digits without signs, as in the long files of the TU format;
`text` parses all others.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Int32s, Ints, UInt8s, UInt64s

__all__ = ["parse_digits"]

_COMMA, _NEWLINE, _RETURN, _SPACE, _ZERO = b",\n\r 0"
_LONGEST = 8

# The last k of eight bytes; in little-endian order the last byte is the highest.
_LAST_BYTES = np.array(
    [((1 << 64) - 1) ^ ((1 << 8 * (_LONGEST - k)) - 1) for k in range(_LONGEST + 1)],
    dtype=np.uint64,
)
_PADDING = b" " * _LONGEST

# Adjacent digits are combined to pairs, pairs to fours, fours to eight: each step multiplies
# the earlier part by its power of ten, adds it to the later one and keeps every second field.
_STEPS = (
    (np.uint64(10 * 2**8 + 1), np.uint64(8), np.uint64(0x00FF00FF00FF00FF)),
    (np.uint64(100 * 2**16 + 1), np.uint64(16), np.uint64(0x0000FFFF0000FFFF)),
    (np.uint64(10000 * 2**32 + 1), np.uint64(32), np.uint64(0x00000000FFFFFFFF)),
)


def parse_digits(body: bytes, n_columns: int) -> Int32s | None:
    """The numbers of whole lines as a (rows, columns) array, or None if anything is unusual.

    >>> parse_digits(b"12, 345\\n6,78901234\\n", 2).tolist()
    [[12, 345], [6, 78901234]]
    >>> parse_digits(b"1, -2\\n", 2) is None
    True
    """
    raw = np.frombuffer(_PADDING + body, dtype=np.uint8)
    is_digit = (raw - np.uint8(_ZERO)) < 10
    edges = np.flatnonzero(is_digit[1:] != is_digit[:-1]) + 1
    starts, ends = edges[0::2], edges[1::2]
    if not len(starts) or len(starts) != len(ends) or len(ends) % n_columns:
        return None
    lengths = ends - starts
    if lengths.max() > _LONGEST or not _is_regular(raw, ends, n_columns):
        return None
    return _values(raw, ends, lengths).reshape(-1, n_columns)


def _is_regular(raw: UInt8s, ends: Ints, n_columns: int) -> bool:
    """Whether each number is directly followed by a comma or, at the end of a row, by a line end.

    Counts ensure that there are no further commas and line ends, and otherwise only spaces.
    """
    after = raw[ends].reshape(-1, n_columns)
    n_rows = len(after)
    line_end = after[0, -1]
    if not (after[:, :-1] == _COMMA).all() or not (after[:, -1] == line_end).all():
        return False
    n_returns = np.count_nonzero(raw == _RETURN)
    if line_end == _RETURN:
        if n_returns != n_rows or not (raw[ends[n_columns - 1 :: n_columns] + 1] == _NEWLINE).all():
            return False
    elif line_end != _NEWLINE or n_returns:
        return False
    n_commas = np.count_nonzero(raw == _COMMA)
    n_spaces = np.count_nonzero(raw == _SPACE)
    n_others = len(raw) - np.count_nonzero((raw - np.uint8(_ZERO)) < 10)
    return bool(
        n_commas == n_rows * (n_columns - 1)
        and np.count_nonzero(raw == _NEWLINE) == n_rows
        and n_others == n_commas + n_rows + n_spaces + n_returns
    )


def _values(raw: UInt8s, ends: Ints, lengths: Ints) -> Int32s:
    """The value of each number, from the eight bytes that end with it."""
    windows: UInt64s = np.ndarray((len(raw) - 7,), dtype="<u8", buffer=raw, strides=(1,))
    words = windows[ends - _LONGEST]
    words ^= np.uint64(0x3030303030303030)
    words &= _LAST_BYTES[lengths]
    for factor, shift, fields in _STEPS:
        words *= factor
        words >>= shift
        words &= fields
    return words.astype(np.int32)
