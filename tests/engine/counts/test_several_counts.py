"""Counts in blocks of columns against plain arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from gramlet.common.fields import check
from gramlet.engine.core.tiles import Tiling
from gramlet.kernels.neighbourhoods.nspdk import BlockProfile


def profile(n_rows: int, seed: int, n_new: int = 0) -> BlockProfile:
    """Forty known columns and some unseen ones in blocks 3, 5, 7 and 9; some rows are empty."""
    rng = np.random.default_rng(seed)
    n_columns = 40 + n_new
    share = np.resize([0.0, 0.02, 0.1, 0.9], n_columns)
    counts = (rng.random((n_rows, n_columns)) < share) * rng.integers(1, 5, (n_rows, n_columns))
    counts[rng.random(n_rows) < 0.1] = 0
    blocks = np.concatenate([np.resize([7, 3, 5], 40), np.resize([9, 3], n_new)])
    return BlockProfile.of(sparse.csr_matrix(counts.astype(float)), blocks, 40)


def plain(a: BlockProfile, b: BlockProfile) -> np.ndarray:
    left, right = a.counts.toarray(), b.counts.toarray()
    out = np.zeros((len(a), len(b)))
    for block in (3, 5, 7):
        mine, theirs = (side.blocks[side.block_of] == block for side in (a, b))
        known = np.flatnonzero(mine[:40])
        products = left[:, known] @ right[:, known].T
        own = (left[:, mine] ** 2).sum(1)[:, None] * (right[:, theirs] ** 2).sum(1)[None]
        out += np.where(products > 0, products / np.sqrt(np.where(own > 0, own, 1.0)), 0.0)
    return out


@pytest.mark.parametrize("n_rows", [1, 70, 300])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_symmetric_matrix_of_blocks(n_rows, n_jobs):
    made = profile(n_rows, 0)
    found = made.compare_self(Tiling(n_jobs))
    assert np.array_equal(found, plain(made, made))
    assert np.array_equal(np.diagonal(found), made.norms())


@pytest.mark.parametrize("n_new", [0, 1, 5])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_new_rows_with_unseen_columns(n_new, n_jobs):
    fitted, new = profile(90, 0), profile(150, 1, n_new)
    assert np.array_equal(new.compare(fitted, Tiling(n_jobs)), plain(new, fitted))
    assert np.array_equal(fitted.compare(new, Tiling(n_jobs)), plain(fitted, new))


def test_parts_of_a_matrix_have_its_bits():
    made = profile(130, 2)
    whole = made.compare_self()
    assert np.array_equal(made[:50].compare(made[50:]), whole[:50, 50:])
    assert np.array_equal(made[20:60].compare_self(), whole[20:60, 20:60])


def test_no_column_is_shared():
    counts = sparse.csr_matrix(np.eye(3))
    made = BlockProfile.of(counts, np.array([1, 0, 1]), 3)
    assert np.array_equal(made.compare_self(), np.eye(3))
    assert np.array_equal(made[:1].compare(made[1:]), np.zeros((1, 2)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"blocks": np.array([5, 3, 7])}, "blocks must be ascending"),
        ({"blocks": 3}, "blocks must be an array of int64"),
        ({"block_of": np.zeros(40, np.int64)}, "block_of must be an array of uint8"),
        ({"block_of": np.full(40, 3, np.uint8)}, "block_of must"),
    ],
)
def test_damaged_profiles_are_refused(change, message):
    made = profile(5, 0)
    fields = {name: getattr(made, name) for name in ("counts", "blocks", "block_of", "n_known")}
    with pytest.raises(ValueError, match=message):
        check(BlockProfile(**{**fields, **change}))
