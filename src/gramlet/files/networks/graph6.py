"""graph6 and sparse6: one graph per line, in printable characters.

Follows nauty's description of the format. Numbers are checked against the length of the line before
anything of that size is allocated.
"""

from __future__ import annotations

import numpy as np

from gramlet.common.arrays import Ints, UInt8s

__all__ = ["parse_graph6", "parse_sparse6"]

_MOST_NODES = 10_000_000


def parse_graph6(text: bytes) -> tuple[int, Ints]:
    """The number of nodes and the edges of a graph6 line.

    >>> n_nodes, edges = parse_graph6(b"Bw")
    >>> n_nodes, edges.tolist()
    (3, [[0, 1], [0, 2], [1, 2]])
    """
    n, body = _size(_sextets(text.removeprefix(b">>graph6<<")))
    n_bits = n * (n - 1) // 2
    if len(body) != (n_bits + 5) // 6:
        raise ValueError(f"{n} nodes need {(n_bits + 5) // 6} characters; the line has {len(body)}")
    bits = _bits(body)
    if bits[n_bits:].any():
        raise ValueError("the bits after the last pair of nodes are not 0")
    (place,) = np.nonzero(bits[:n_bits])
    # Pairs are ordered by columns: (0, 1), (0, 2), (1, 2), (0, 3), ...
    first_of_column = np.arange(n) * (np.arange(n) - 1) // 2
    high = np.searchsorted(first_of_column, place, side="right") - 1
    return n, np.stack([place - first_of_column[high], high], axis=1)


def parse_sparse6(text: bytes) -> tuple[int, Ints]:
    """The number of nodes and the edges of a sparse6 line, loops and repeats included.

    >>> n_nodes, edges = parse_sparse6(b":Bc")
    >>> n_nodes, edges.tolist()
    (3, [[0, 1], [0, 2]])
    """
    text = text.removeprefix(b">>sparse6<<")
    if not text.startswith(b":"):
        raise ValueError("a sparse6 line begins with ':'")
    n, body = _size(_sextets(text[1:]))
    width = max(n - 1, 0).bit_length()
    bits = _bits(body)
    n_pairs = len(bits) // (width + 1)
    # The remaining bits are ones; one zero before them is allowed.
    if not bits[n_pairs * (width + 1) + 1 :].all():
        raise ValueError("the line ends within an edge; is it cut off?")
    pairs = bits[: n_pairs * (width + 1)].reshape(n_pairs, width + 1).astype(np.int64)
    steps = pairs[:, 0]
    values = pairs[:, 1:] @ (1 << np.arange(width - 1, -1, -1, dtype=np.int64))
    edges = []
    current = 0
    for step, value in zip(steps.tolist(), values.tolist(), strict=True):
        current += step
        if current >= n or value >= n:
            break  # padding
        if value > current:
            current = value
        else:
            edges.append((value, current))
    return n, np.array(edges, dtype=np.int64).reshape(-1, 2)


def _sextets(text: bytes) -> UInt8s:
    raw = np.frombuffer(text, dtype=np.uint8)
    outside = np.flatnonzero((raw < 63) | (raw > 126))
    if len(outside):
        raise ValueError(f"character {outside[0] + 1} is not between '?' and '~'")
    return raw - np.uint8(63)


def _size(sextets: UInt8s) -> tuple[int, UInt8s]:
    """The number of nodes, and the bytes after it."""
    for mark, length in ((0, 1), (1, 3), (2, 6)):
        if mark < 2 and len(sextets) > mark and sextets[mark] == 63:
            continue
        digits = sextets[mark : mark + length]
        if len(digits) < length:
            break
        n = 0
        for digit in digits.tolist():
            n = n * 64 + digit
        if n > _MOST_NODES:
            raise ValueError(f"{n:,} nodes are more than {_MOST_NODES:,}")
        return n, sextets[mark + length :]
    raise ValueError("the number of nodes is missing")


def _bits(sextets: UInt8s) -> UInt8s:
    return np.unpackbits(sextets[:, None], axis=1)[:, 2:].reshape(-1)
