"""The subsequence kernel against enumeration of all subsequences, and the range of floats."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import KernelPCA
from sklearn.svm import SVC

from compiled_calls import from_python
from gramlet.engine.sequences.subsequences import lane_totals, wide_total
from gramlet.paths import subsequence, subsequence_gram
from reference import path_kernels as reference

lane_totals = from_python(lane_totals)

WORDS = st.text("abc", max_size=9)
DECAYS = st.floats(0.01, 1.0)
LENGTHS = st.integers(1, 5)


def random_strings(n: int, longest: int, alphabet: str = "abcd", seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(alphabet), rng.integers(0, longest + 1))) for _ in range(n)]


def plain_programme(s, t, n: int, decay):
    """The kernel in O(n|s||t|) steps, in the number type of ``decay``."""
    below = [[1] * (len(t) + 1) for _ in range(len(s) + 1)]
    total = 0
    for _ in range(n):
        here = [[0] * (len(t) + 1) for _ in range(len(s) + 1)]
        total = 0
        for i, a in enumerate(s):
            ending = 0
            for j, b in enumerate(t):
                matched = decay * decay * below[i][j] if a == b else 0
                total += matched
                ending = matched + decay * ending
                here[i + 1][j + 1] = ending + decay * here[i][j + 1]
        below = here
    return total


# -- values ----------------------------------------------------------------------------------


@given(WORDS, WORDS, LENGTHS, DECAYS)
def test_pair_is_its_definition(s, t, n, decay):
    expected = reference.subsequence(s, t, n, decay)
    assert subsequence(s, t, n, decay) == pytest.approx(expected, rel=1e-10)
    assert subsequence(s, t, n, decay=decay) == subsequence(s, t, n, decay)


@given(st.lists(WORDS, max_size=5), st.lists(WORDS, max_size=5), LENGTHS, DECAYS, st.booleans())
def test_matrix_is_its_definition(S, T, n, decay, normalize):
    options = {"n": n, "decay": decay, "normalize": normalize}
    for ours, theirs, shape in (
        (subsequence_gram(S, T, **options), (S, T), (len(S), len(T))),
        (subsequence_gram(S, **options), (S,), (len(S), len(S))),
    ):
        expected = reference.subsequence_gram(*theirs, **options).reshape(shape)
        np.testing.assert_allclose(ours, expected, rtol=1e-10, atol=1e-300)


@pytest.mark.parametrize("decay", [0.3, 0.5, 1.0])
def test_check_values(decay):
    """Φ_asd("Nasdaq") = λ³ and Φ_asd("lassodimension") = 2λ⁵, times Φ_asd("asd") = λ³."""
    assert subsequence("asd", "Nasdaq", 3, decay) == pytest.approx(decay**6, rel=1e-14)
    assert subsequence("lassodimension", "asd", 3, decay) == pytest.approx(2 * decay**8, rel=1e-14)


@pytest.mark.parametrize("normalize", [False, True])
def test_more_strings_than_lanes_of_all_lengths(normalize):
    S = random_strings(75, 11)
    options = {"n": 3, "decay": 0.6, "normalize": normalize}
    K = subsequence_gram(S, **options)
    np.testing.assert_allclose(K, reference.subsequence_gram(S, **options), rtol=1e-12)
    assert np.array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-12 * K.max()
    few, many = S[:3], S[3:]
    np.testing.assert_allclose(subsequence_gram(few, many, **options), K[:3, 3:], rtol=1e-13)
    np.testing.assert_allclose(subsequence_gram(many, few, **options), K[3:, :3], rtol=1e-13)


def test_matrix_of_one_pair_is_the_pair():
    s, t = random_strings(2, 60, seed=5)
    matrix = subsequence_gram([s], [t], n=4, decay=0.7)
    assert matrix[0, 0] == subsequence(s, t, 4, decay=0.7)


def test_long_strings_are_the_plain_programme():
    S = ["".join(np.random.default_rng(k).choice(list("acgt"), 90 + 10 * k)) for k in range(4)]
    for decay in (0.05, 0.9, 1.0):
        K = subsequence_gram(S, n=4, decay=decay)
        for i, s in enumerate(S):
            for j, t in enumerate(S):
                assert K[i, j] == pytest.approx(plain_programme(s, t, 4, decay), rel=1e-11)


@pytest.mark.parametrize("normalize", [False, True])
def test_threads_do_not_change_a_bit(normalize):
    S, T = random_strings(150, 30), random_strings(70, 30, seed=1)
    options = {"n": 4, "decay": 0.7, "normalize": normalize}
    assert np.array_equal(subsequence_gram(S, **options), subsequence_gram(S, **options, n_jobs=2))
    one, two = (subsequence_gram(S, T, **options, n_jobs=jobs) for jobs in (None, 2))
    assert np.array_equal(one, two)


def test_a_pair_does_not_depend_on_its_company():
    S = random_strings(40, 40)
    K = subsequence_gram(S, [*S[:33], "abcd" * 50], n=3, decay=0.8)
    for i in (0, 17, 39):
        assert np.array_equal(
            subsequence_gram(S[i : i + 1] + S[:35], S[:33], n=3, decay=0.8)[0], K[i, :33]
        )


def test_counts_without_decay_are_whole_numbers():
    assert subsequence("a" * 30, "a" * 20, 4, decay=1.0) == math.comb(30, 4) * math.comb(20, 4)


# -- tokens ----------------------------------------------------------------------------------


def test_tokens_are_what_python_tells_apart():
    options = {"n": 2, "decay": 1.0}
    K = subsequence_gram(["ab", ["a", "b"], ("a", "b"), np.array(["a", "b"])], **options)
    assert np.array_equal(K, np.ones((4, 4)))
    K = subsequence_gram([[1, 2], [1.0, 2.0], np.array([1, 2]), b"\x01\x02", "12"], **options)
    assert np.array_equal(K[:4, :4], np.ones((4, 4)))
    assert K[4].tolist() == [0, 0, 0, 0, 1]
    assert subsequence([(0, 1), None, "x"], [None, "x"], 2, 1.0) == 1.0
    assert subsequence(["the", "cat"], ["the", "hat"], 1, 1.0) == 1.0


def test_any_character_is_a_token():
    strange = "a\N{SNOWMAN}\N{GRINNING FACE}\ud800\x00"
    K = subsequence_gram([strange, list(strange), strange[::-1]], n=5, decay=1.0)
    assert K.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]


def test_collections_of_any_kind():
    words = ["ab", "abc", "b"]
    expected = subsequence_gram(words, n=1, decay=0.5)
    for collection in (tuple(words), np.array(words), np.array(words, dtype=object), iter(words)):
        assert np.array_equal(subsequence_gram(collection, n=1, decay=0.5), expected)
    rows = np.array([[1, 2, 1], [2, 2, 1]])
    assert subsequence_gram(rows, n=1, decay=1.0).tolist() == [[5, 4], [4, 5]]


# -- borders ---------------------------------------------------------------------------------


def test_strings_too_short_have_the_value_zero():
    for normalize in (False, True):
        K = subsequence_gram(["", "a", "ab"], n=2, decay=0.5, normalize=normalize)
        assert np.array_equal(K[:2], np.zeros((2, 3)))
        assert K[2, 2] > 0
    assert subsequence("", "", 1, 0.5) == 0.0
    assert subsequence("abc", "abc", 10**12, 0.5) == 0.0
    assert np.array_equal(subsequence_gram(["", ""], n=1, decay=0.5), np.zeros((2, 2)))
    assert subsequence_gram([], n=1, decay=0.5).shape == (0, 0)
    assert subsequence_gram([], ["a"], n=1, decay=0.5).shape == (0, 1)
    assert subsequence_gram(["a"], [], n=1, decay=0.5, normalize=True).shape == (1, 0)


def test_small_decay_does_not_spoil_normalised_values():
    """λ^(2n) is far below the smallest float, gaps are not."""
    S = ["abcdefgh" * 8, "abcdefgx" * 8, "hgfedcba" * 8]
    decay, n = 1e-9, 40
    K = subsequence_gram(S, n=n, decay=decay, normalize=True)
    assert np.array_equal(np.diag(K), np.ones(3))
    assert np.array_equal(subsequence_gram(S, n=n, decay=decay), np.zeros((3, 3)))
    exact = Fraction(decay)
    values = {
        pair: plain_programme(S[pair[0]][:24], S[pair[1]][:24], 10, exact)
        for pair in ((0, 0), (0, 1), (1, 1))
    }
    expected = math.sqrt(values[0, 1] ** 2 / (values[0, 0] * values[1, 1]))
    short = subsequence_gram([s[:24] for s in S], n=10, decay=decay, normalize=True)
    assert short[0, 1] == pytest.approx(expected, rel=1e-12)


def test_wide_gaps():
    """The common subsequence spans 3002 positions: its weight is negligible."""
    S = ["a" + "x" * 3000 + "b", "a" + "y" * 3000 + "b"]
    K = subsequence_gram(S, n=2, decay=0.5, normalize=True)
    assert np.array_equal(K, np.eye(2))
    kept = subsequence_gram(S, n=2, decay=0.999, normalize=True)[0, 1]
    assert 0 < kept < 1e-6


def test_counts_beyond_floats_are_normalised_and_named():
    """C(520, n)² exceeds the range of float64; exact values are sums of squares of binomials."""
    n = 260
    S = ["a" * 520, "a" * 270 + "b" * 250, "ab"]
    own = [
        math.comb(520, n) ** 2,
        sum((math.comb(270, k) * math.comb(250, n - k)) ** 2 for k in range(n + 1)),
    ]
    shared = math.comb(520, n) * math.comb(270, n)  # only the letter a
    K = subsequence_gram(S, n=n, decay=1.0, normalize=True)
    assert np.array_equal(np.diag(K), [1, 1, 0])
    assert not K[2].any()
    expected = math.exp(math.log(shared) - (math.log(own[0]) + math.log(own[1])) / 2)
    assert K[0, 1] == pytest.approx(expected, rel=1e-10)
    with pytest.raises(ValueError, match=r"S\[0\] and S\[0\] exceeds .* normalize=True"):
        subsequence_gram(S, n=n, decay=1.0)
    with pytest.raises(ValueError, match="exceeds the largest float64"):
        subsequence(S[0], S[0], n, decay=1.0)


def test_a_small_power_times_a_large_count_is_within_floats():
    """λ^(2n) is below the smallest float; the kernel, a sum of many terms, is not."""
    n, decay = 350, 0.33
    assert decay ** (2 * n) == 0.0
    spread = sum(  # embeddings of n tokens in 700 positions, by their span
        (700 - span + 1) * math.comb(span - 2, n - 2) * Fraction(decay) ** span
        for span in range(n, 701)
    )
    expected = float(spread * Fraction(decay) ** n)
    assert expected > 1e-300
    assert subsequence("a" * 700, "a" * n, n, decay) == pytest.approx(expected, rel=1e-10)


def two_powers(number: Fraction) -> float:
    """log2 of a positive fraction of any size."""
    return math.log2(number.numerator) - math.log2(number.denominator)


@pytest.mark.parametrize("decay", [1e-200, 2.0**-700, 1e-40])
def test_wide_numbers_span_what_floats_do_not(decay):
    for s, t, n in (([1, 0, 0, 2, 3], [1, 9, 9, 9, 2, 3], 2), ([1, 0, 0, 2], [1, 9, 9, 2], 2)):
        value, exponent = wide_total(np.array(s), np.array(t), n, decay)
        exact = plain_programme(s, t, n, Fraction(decay)) / Fraction(decay) ** (2 * n)
        assert math.log2(value) + exponent == pytest.approx(two_powers(exact), rel=1e-12)


@given(
    st.lists(st.integers(0, 2), max_size=30),
    st.lists(st.integers(0, 2), max_size=30),
    LENGTHS,
    DECAYS,
)
def test_lanes_and_wide_numbers_take_the_same_steps(s, t, n, decay):
    width = 3
    lanes = np.stack([t, t[::-1], [-1] * len(t)], axis=1).reshape(len(t), width).astype(np.int64)
    sums, running, totals = np.empty((n, len(t) + 1, width)), np.empty(width), np.empty(width)
    lane_totals(np.array(s, dtype=np.int64), lanes, decay, sums, running, totals)
    for lane in range(width):
        own = np.ascontiguousarray(lanes[:, lane])
        value, exponent = wide_total(np.array(s, dtype=np.int64), own, n, decay)
        assert totals[lane] == math.ldexp(value, int(exponent))


# -- in scikit-learn, and bad input ----------------------------------------------------------


def test_strings_are_classified_and_mapped():
    rng = np.random.default_rng(0)
    words = ["".join(rng.permutation(list("abc")).tolist() * 3 + ["d"]) for _ in range(20)]
    words += [word.replace("c", "e") for word in words]
    y = np.repeat([0, 1], 20)
    K = subsequence_gram(words, n=3, decay=0.7, normalize=True)
    train, test = np.arange(40) % 2 == 0, np.arange(40) % 2 == 1
    model = SVC(kernel="precomputed").fit(K[np.ix_(train, train)], y[train])
    assert model.score(K[np.ix_(test, train)], y[test]) == 1.0
    assert KernelPCA(2, kernel="precomputed").fit_transform(K).shape == (40, 2)


GRAM = {"n": 2, "decay": 0.5}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: subsequence("a", "a", 0, 0.5), ValueError, "n of subsequence .*>= 1; got 0"),
        (lambda: subsequence("a", "a", 1.5, 0.5), TypeError, "n of subsequence .* got 1.5"),
        (lambda: subsequence("a", "a", 1, 0.0), ValueError, r"decay of subsequence .*\(0, 1\]"),
        (lambda: subsequence("a", "a", 1, 1.01), ValueError, "decay of subsequence .* 1.01"),
        (lambda: subsequence("a", "a", 1, math.nan), ValueError, "decay of subsequence .* nan"),
        (lambda: subsequence("a", "a", 1, "0.5"), TypeError, "decay of subsequence"),
        (lambda: subsequence("a", 5, 1, 0.5), TypeError, "t of subsequence .* got int"),
        (lambda: subsequence({"a"}, "a", 1, 0.5), TypeError, "s of subsequence .* got set"),
        (lambda: subsequence_gram("abc", **GRAM), TypeError, r"S of .* as a list: \[string\]"),
        (lambda: subsequence_gram(["a"], "abc", **GRAM), TypeError, "T of subsequence_gram"),
        (lambda: subsequence_gram(3, **GRAM), TypeError, "S of subsequence_gram .* got int"),
        (lambda: subsequence_gram(["a", None], **GRAM), TypeError, r"S\[1\] .* got NoneType"),
        (lambda: subsequence_gram([["a"], [["b"]]], **GRAM), TypeError, r"S\[1\].* type list"),
        (lambda: subsequence_gram(["a"], [[math.nan]], **GRAM), ValueError, r"T\[0\] .* NaN"),
        (lambda: subsequence_gram(["a"], n=-3, decay=0.5), ValueError, "n of subsequence_gram"),
        (lambda: subsequence_gram(["a"], n=1, decay=-1), ValueError, "decay of subsequence_gram"),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()
