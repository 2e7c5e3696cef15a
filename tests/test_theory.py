"""The bounds against their formulas, and the guarantees they give."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from gramlet import theory
from reference.kernels import graphlets as reference


def test_numbers_of_graphs():
    # OEIS A000088.
    known = [1, 2, 4, 11, 34, 156, 1044, 12346, 274668, 12005168, 1018997864]
    assert [theory.n_graphlets(k) for k in range(1, 12)] == known
    assert [theory.n_graphlets(k) for k in range(1, 6)] == [
        reference.n_classes(k) for k in range(1, 6)
    ]


@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize(("eps", "delta"), [(0.1, 0.05), (0.01, 0.5), (1.5, 0.999)])
def test_graphlet_samples(k, eps, delta):
    assert theory.graphlet_samples(k, eps, delta) == reference.graphlet_samples(k, eps, delta)
    assert isinstance(theory.graphlet_samples(k, eps, delta), int)


def test_enough_samples_are_enough():
    # For a multinomial with N_3 = 4 outcomes, many repetitions of s samples each.
    eps, delta = 0.2, 0.2
    s = theory.graphlet_samples(3, eps, delta)
    rng = np.random.default_rng(0)
    truth = np.array([0.4, 0.3, 0.2, 0.1])
    errors = np.abs(rng.multinomial(s, truth, size=2000) / s - truth).sum(axis=1)
    assert (errors >= eps).mean() <= delta


@pytest.mark.parametrize("feature_bound", [1.0, math.sqrt(2), 3])
def test_mmd_bound(feature_bound):
    found = theory.mmd_bound(5000, 2000, 0.05, feature_bound)
    assert found == pytest.approx(reference.mmd_bound(5000, 2000, 0.05, feature_bound))
    # Both parts decrease with the square root.
    assert theory.mmd_bound(20000, 8000, 0.05, feature_bound) == pytest.approx(found / 2)


def test_fourier_components():
    m = theory.fourier_components(0.1, 100, 0.05)
    assert m == reference.fourier_components(0.1, 100, 0.05)
    # The union bound over pairs holds at m and not at m − 1.
    pairs = 100 * 99 / 2
    assert pairs * 2 * math.exp(-m * 0.1**2 / 4) <= 0.05
    assert pairs * 2 * math.exp(-(m - 1) * 0.1**2 / 4) > 0.05


def test_numbers_of_other_types():
    assert theory.n_graphlets(np.int64(4)) == 11
    assert theory.graphlet_samples(np.int32(3), np.float32(0.5), Fraction(1, 10)) == 41


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theory.n_graphlets(0), "k must be at least 1; got 0"),
        (lambda: theory.graphlet_samples(0, 0.1, 0.1), "k must be at least 1"),
        (lambda: theory.graphlet_samples(3, 0.0, 0.1), "eps must be positive"),
        (lambda: theory.graphlet_samples(3, math.nan, 0.1), "eps must be positive"),
        (lambda: theory.graphlet_samples(3, 0.1, 0.0), "delta is a probability"),
        (lambda: theory.graphlet_samples(3, 0.1, 1.0), "delta is a probability"),
        (lambda: theory.mmd_bound(0, 10, 0.1), "m must be at least 1"),
        (lambda: theory.mmd_bound(10, 0, 0.1), "s must be at least 1"),
        (lambda: theory.mmd_bound(10, 10, 1.5), "delta is a probability"),
        (lambda: theory.mmd_bound(10, 10, 0.5, -1.0), "feature_bound must be positive"),
        (lambda: theory.fourier_components(0.1, 1, 0.1), "n must be at least 2; got 1"),
        (lambda: theory.fourier_components(-0.1, 10, 0.1), "eps must be positive"),
        (lambda: theory.fourier_components(0.1, 10, math.nan), "delta is a probability"),
    ],
)
def test_values_outside_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: theory.n_graphlets(3.0),
        lambda: theory.n_graphlets(True),
        lambda: theory.graphlet_samples(3, "0.1", 0.1),
        lambda: theory.mmd_bound(10.5, 10, 0.1),
        lambda: theory.fourier_components(0.1, 10, None),
    ],
)
def test_other_types_are_refused(call):
    with pytest.raises(TypeError, match="must be"):
        call()
