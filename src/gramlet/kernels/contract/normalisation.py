"""Normalisation of kernel values by self-similarities: cosine and Tanimoto.

With a = k(G, G) and b = k(G', G'), cosine is k / sqrt(a b), which forgets how large graphs are, and
Tanimoto k / (a + b − k), which does not. Both are positive semi-definite wherever k is. Every place
that compares profiles (memory, tiles on disk, neighbours, landmarks, parts of sums) normalises with
the functions of this module.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.common.parameters import StrOptions
from gramlet.engine.core.tiles import QUIET, Tiling

# True is another word for "cosine".
Normalization = bool | Literal["cosine", "tanimoto"]
Kind = Literal[False, "cosine", "tanimoto"]
KINDS: tuple[Kind, ...] = (False, "cosine", "tanimoto")

NORMALIZE_CONSTRAINT: list[Any] = ["boolean", StrOptions({"cosine", "tanimoto"})]


def canonical(how: Normalization) -> Kind:
    """The kind of normalisation; True is "cosine"."""
    return "tanimoto" if how == "tanimoto" else "cosine" if how else False


def normalize_in_place(
    matrix: Floats, rows: Floats, columns: Floats, how: Normalization = "cosine"
) -> None:
    """Normalise kernel values by the norms of the graphs of rows and columns.

    An entry becomes 0 if a norm is not above 0 (cosine) or both are not (Tanimoto). It is done row
    by row, so that no second matrix is needed. Divisors are symmetric in the two norms to the last
    bit, so a symmetric matrix stays exactly symmetric.
    """
    if how == "tanimoto":
        _divide_by_unions(matrix, rows, columns)
    elif how:
        _divide_by_roots(matrix, rows, columns)


def _divide_by_roots(matrix: Floats, rows: Floats, columns: Floats) -> None:
    left, right = _roots(rows), _roots(columns)
    if (left == 1.0).all() and (right == 1.0).all():
        return
    for row, length in zip(matrix, left, strict=True):
        row /= length * right


def _roots(norms: Floats) -> Floats:
    """The square roots of norms; infinite for norms that are not above 0."""
    roots: Floats = np.where(norms > 0, np.sqrt(np.maximum(norms, 0.0)), np.inf)
    return roots


def _divide_by_unions(matrix: Floats, rows: Floats, columns: Floats) -> None:
    left, right = np.maximum(rows, 0.0), np.maximum(columns, 0.0)
    for i, row in enumerate(matrix):
        union = left[i] + right
        empty = union == 0.0
        union -= row
        wrong = (union <= 0.0) & ~empty
        if wrong.any():
            j = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f'normalize="tanimoto" is not defined for the graphs {i} (row) and {j} (column): '
                f"k(G, G) + k(G', G') - k(G, G') = {left[i]:g} + {right[j]:g} - {row[j]:g} must be "
                'above 0, which indefinite kernels do not guarantee. Use normalize="cosine".'
            )
        union[empty] = np.inf
        row /= union


def normalize_gram(matrix: Floats, how: Normalization) -> None:
    """Normalise a symmetric Gram matrix; its diagonal is then exactly 1, or 0 for a norm of 0."""
    if how:
        norms = np.diagonal(matrix).copy()
        normalize_in_place(matrix, norms, norms, how)
        np.fill_diagonal(matrix, unit(norms))


def unit(norms: Floats) -> Floats:
    """The self-similarities of a normalised kernel: 1, or 0 for a norm of 0."""
    return np.where(norms > 0, 1.0, 0.0)


def compared(rows: Any, columns: Any, how: Normalization, tiling: Tiling = QUIET) -> Floats:
    """The kernel values of two profiles, normalised."""
    matrix: Floats = rows.compare(columns, tiling)
    if how:
        normalize_in_place(matrix, rows.norms(tiling), columns.norms(tiling), how)
    return matrix


def compared_self(profile: Any, how: Normalization, tiling: Tiling = QUIET) -> Floats:
    """The Gram matrix of a profile, normalised."""
    matrix: Floats = profile.compare_self(tiling)
    normalize_gram(matrix, how)
    return matrix


def self_similarities(profile: Any, how: Normalization, tiling: Tiling = QUIET) -> Floats:
    """The values k(G, G) of a profile, normalised."""
    norms: Floats = profile.norms(tiling)
    return unit(norms) if how else norms
