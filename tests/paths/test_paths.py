"""Kernels on vectors and path sums, against enumeration of all subsets and paths."""

from __future__ import annotations

import itertools
import pickle
import subprocess
import sys
import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from gramlet import paths
from reference import path_kernels as reference

ENTRIES = st.floats(-3, 3, allow_nan=False, width=32)
KERNELS = {
    "linear": paths.linear,
    "polynomial": partial(paths.polynomial, degree=3),
    "all_subsets": paths.all_subsets,
    "anova": partial(paths.anova, degree=3),
}


@st.composite
def matrix_pairs(draw, max_columns: int = 6):
    """Two matrices with the same number of columns and any number of rows, also none."""
    d = draw(st.integers(1, max_columns))
    n, m = draw(st.integers(0, 4)), draw(st.integers(1, 4))
    cells = partial(arrays, np.float64, elements=ENTRIES)
    return draw(cells(shape=(n, d))), draw(cells(shape=(m, d)))


def random_matrix(n: int, d: int, seed: int = 0, scale: float = 0.5) -> np.ndarray:
    return np.random.default_rng(seed).normal(scale=scale, size=(n, d))


def assert_close(actual, expected, scale: float = 1.0) -> None:
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10 * scale)


# -- values ----------------------------------------------------------------------------------


@given(matrix_pairs())
def test_linear_and_all_subsets_are_their_definitions(pair):
    X, Y = pair
    for ours, theirs in (
        (paths.linear, reference.linear),
        (paths.all_subsets, reference.all_subsets),
    ):
        assert_close(ours(X, Y), reference.matrix(theirs, X, Y).reshape(len(X), len(Y)), 1e4)


@given(matrix_pairs(), st.integers(0, 8))
def test_anova_and_polynomial_are_their_definitions(pair, degree):
    X, Y = pair
    for ours, theirs in ((paths.anova, reference.anova), (paths.polynomial, reference.polynomial)):
        expected = reference.matrix(theirs, X, Y, degree=degree).reshape(len(X), len(Y))
        size = 1.0 + np.abs(expected).max(initial=0.0)
        assert_close(ours(X, Y, degree=degree), expected, size)
        assert_close(ours(X, Y, degree), expected, size)


@given(matrix_pairs(), st.integers(0, 8))
def test_all_degrees_in_one_pass_are_the_degrees_one_by_one(pair, degree):
    X, Y = pair
    stacked = paths.anova(X, Y, degree, all_degrees=True)
    assert stacked.shape == (degree + 1, len(X), len(Y))
    for m in range(degree + 1):
        assert np.array_equal(stacked[m], paths.anova(X, Y, degree=m))


def test_anova_degrees_add_up_to_all_subsets():
    X, Y = random_matrix(7, 9), random_matrix(5, 9, seed=1)
    stacked = paths.anova(X, Y, degree=9, all_degrees=True)
    assert_close(stacked.sum(axis=0), paths.all_subsets(X, Y))


def test_borders_of_anova():
    X = random_matrix(4, 3)
    assert np.array_equal(paths.anova(X, degree=0), np.ones((4, 4)))
    assert np.array_equal(paths.anova(X, degree=4), np.zeros((4, 4)))
    assert np.array_equal(paths.anova(X, degree=10**9), np.zeros((4, 4)))
    assert_close(paths.anova(X, degree=1), X @ X.T)
    stacked = paths.anova(X, degree=5, all_degrees=True)
    assert not stacked[4:].any()
    assert stacked[3].any()


@pytest.mark.parametrize("d", [0, 1])
def test_no_or_one_column(d):
    X = np.full((2, d), 2.0)
    assert np.array_equal(paths.all_subsets(X), np.full((2, 2), 5.0 if d else 1.0))
    assert np.array_equal(paths.anova(X, degree=1), np.full((2, 2), 4.0 if d else 0.0))
    assert np.array_equal(paths.linear(X), np.full((2, 2), 4.0 if d else 0.0))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("n", "m"), [(300, 1), (1, 300), (259, 521), (600, 600)])
def test_many_rows_and_columns_agree_with_whole_matrices(name, n, m):
    """More rows and columns than fit into one tile or block."""
    X, Y = random_matrix(n, 8), random_matrix(m, 8, seed=1)
    products = X[:, None, :] * Y[None, :, :]
    degrees = [np.ones((n, m)), *(np.zeros((n, m)) for _ in range(3))]
    for r in range(8):
        for s in (3, 2, 1):
            degrees[s] = degrees[s] + products[:, :, r] * degrees[s - 1]
    expected = {
        "linear": X @ Y.T,
        "polynomial": (1 + X @ Y.T) ** 3,
        "all_subsets": np.prod(1 + products, axis=2),
        "anova": degrees[3],
    }[name]
    assert_close(KERNELS[name](X, Y), expected)


@pytest.mark.parametrize("name", KERNELS)
def test_gram_matrix_is_symmetric_to_the_bit_and_positive(name):
    X = random_matrix(530, 12)
    K = KERNELS[name](X)
    assert np.array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-9 * np.abs(K).max()
    assert_close(KERNELS[name](X, X.copy()), K)


@pytest.mark.parametrize("kernel", [paths.all_subsets, KERNELS["anova"]])
def test_neither_threads_nor_sparseness_nor_the_triangle_change_a_bit(kernel):
    X = random_matrix(400, 10) * (np.random.default_rng(3).random((400, 10)) < 0.4)
    K = kernel(X)
    assert np.array_equal(kernel(X, n_jobs=2), K)
    assert np.array_equal(kernel(X, X.copy()), K)
    stored = sparse.csr_matrix(X)
    assert np.array_equal(kernel(stored), K)
    assert np.array_equal(kernel(stored, sparse.csc_array(X), n_jobs=2), K)
    assert np.array_equal(kernel(stored, X[:7]), K[:, :7])


def test_sparse_input_of_any_format_is_left_alone():
    X = sparse.coo_matrix(([1.0, 2.0, 3.0], ([0, 0, 1], [2, 2, 0])), shape=(2, 3))  # a cell twice
    before = X.data.copy(), X.row.copy(), X.col.copy()
    dense = X.toarray()
    for kernel in KERNELS.values():
        assert_close(kernel(X), kernel(dense))
    assert all(np.array_equal(a, b) for a, b in zip(before, (X.data, X.row, X.col), strict=True))
    unsorted = sparse.csr_matrix(([5.0, 7.0], [2, 0], [0, 2]), shape=(1, 3))
    paths.anova(unsorted)
    assert unsorted.indices.tolist() == [2, 0]


@pytest.mark.parametrize("name", KERNELS)
def test_two_vectors_give_the_entry_as_a_float(name):
    X = random_matrix(2, 6)
    value = KERNELS[name](X[0], X[1])
    assert type(value) is float
    assert value == pytest.approx(KERNELS[name](X)[0, 1], rel=1e-12)
    assert KERNELS[name](X[0]) == KERNELS[name](X[0], X[0])


def test_two_vectors_with_all_degrees():
    assert paths.anova([1, 2], [3, 4], 3, all_degrees=True).tolist() == [1, 11, 24, 0]


def test_temporary_memory_is_far_below_the_result():
    X = random_matrix(700, 40)
    paths.anova(X[:3], degree=5)
    tracemalloc.start()
    K = paths.anova(X, degree=5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.2 * K.nbytes


# -- products and paths ----------------------------------------------------------------------


def test_product_kernel_multiplies_kernels_on_their_columns():
    X, Y = random_matrix(5, 4), random_matrix(3, 4, seed=1)
    parts = [paths.linear, partial(paths.polynomial, degree=2), rbf_kernel]
    mask = np.array([False, False, True, True])
    for blocks in (
        [[0], [1, 2], [2, 3]],
        [0, slice(1, 3), mask],
        [0, np.array([1, 2]), slice(2, 4)],
    ):
        ours = paths.product_kernel(parts, blocks)
        columns = [[0], [1, 2], [2, 3]]
        assert_close(ours(X, Y), reference.product_kernel(parts, columns)(X, Y))
        assert_close(ours(X), reference.product_kernel(parts, columns)(X, X))
        assert ours(X[0], Y[1]) == pytest.approx(ours(X, Y)[0, 1])


def test_product_kernel_gives_each_kernel_one_column_by_default():
    X = random_matrix(5, 3)
    one_more = partial(paths.polynomial, degree=1)
    assert_close(paths.product_kernel([one_more] * 3)(X), paths.all_subsets(X))


def test_product_kernel_takes_kernels_on_other_things_than_numbers():
    def same(a, b):
        return np.equal(a, b.T).astype(float)

    X = np.array([["a", "u"], ["a", "v"]], dtype=object)
    assert paths.product_kernel([same, same])(X).tolist() == [[1, 0], [0, 1]]


def test_product_kernel_is_pickled_and_shown():
    kernel = paths.product_kernel([paths.linear, paths.all_subsets], [0, [1, 2]])
    X = random_matrix(4, 3)
    assert np.array_equal(pickle.loads(pickle.dumps(kernel))(X), kernel(X))
    assert repr(kernel) == "product_kernel([linear, all_subsets], blocks=(0, [1, 2]))"


@given(st.data())
def test_path_sum_adds_over_all_paths(data):
    widths = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=5))
    layers = [
        data.draw(arrays(np.float64, (a, b), elements=ENTRIES))
        for a, b in itertools.pairwise(widths)
    ]
    expected = reference.path_sum(layers)
    assert_close(paths.path_sum(layers), expected, 1e3)
    assert_close(paths.path_sum([sparse.csr_matrix(layer) for layer in layers]), expected, 1e3)


@given(matrix_pairs(max_columns=5), st.integers(0, 4))
def test_the_kernels_are_path_sums(pair, degree):
    X, Y = pair
    for x in X[:2]:
        y = Y[0]
        products = (x * y)[None, :]
        step = [np.hstack([[[1.0]], products]), np.ones((len(x) + 1, 1))]
        assert_close(
            paths.path_sum(reference.all_subsets_layers(x, y)), paths.all_subsets(x, y), 1e4
        )
        taken = paths.path_sum(reference.anova_layers(x, y, degree))[0]
        assert_close(taken, paths.anova(x, y, degree, all_degrees=True), 1e4)
        powers = paths.path_sum(step * degree) if degree else 1.0
        assert_close(powers, paths.polynomial(x, y, degree), 1e6)


def test_path_sum_of_one_layer_is_a_copy_and_of_an_empty_layer_zero():
    W = np.array([[1.0, 2.0]])
    sums = paths.path_sum([W])
    sums[0, 0] = 5.0
    assert W[0, 0] == 1.0
    assert np.array_equal(paths.path_sum([np.ones((2, 0)), np.ones((0, 3))]), np.zeros((2, 3)))


# -- in scikit-learn -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crossed():
    """Signs of products of three coordinates: ANOVA can learn them, a linear kernel cannot."""
    X = np.array(list(itertools.product([-1.0, 1.0], repeat=6)))
    np.random.default_rng(0).shuffle(X)
    return X, np.sign(X[:, 0] * X[:, 1] * X[:, 2])


@pytest.mark.parametrize("name", KERNELS)
def test_svc_takes_the_function_as_it_takes_the_matrix(name, crossed):
    X, y = crossed
    kernel = KERNELS[name]
    direct = clone(SVC(kernel=kernel)).fit(X[:40], y[:40])
    given_matrix = SVC(kernel="precomputed").fit(kernel(X[:40]), y[:40])
    assert_close(
        direct.decision_function(X[40:]), given_matrix.decision_function(kernel(X[40:], X[:40])), 10
    )


def test_anova_learns_what_a_linear_kernel_cannot(crossed):
    X, y = crossed
    assert SVC(kernel=KERNELS["anova"]).fit(X[:40], y[:40]).score(X[40:], y[40:]) == 1.0
    assert SVC(kernel=paths.linear).fit(X, y).score(X, y) < 0.7


@pytest.mark.parametrize("name", [*KERNELS, "product"])
def test_kernel_ridge_and_kernel_pca_call_it_on_pairs_of_rows(name, crossed):
    X, y = crossed
    kernel = KERNELS.get(name) or paths.product_kernel([paths.linear, rbf_kernel], [[0, 1], [2, 4]])
    ridge = KernelRidge(kernel=kernel).fit(X[:20], y[:20])
    expected = KernelRidge(kernel="precomputed").fit(kernel(X[:20]), y[:20])
    assert_close(ridge.predict(X[20:30]), expected.predict(kernel(X[20:30], X[:20])), 1e3)
    rows = X[:20] * np.linspace(0.5, 1.0, X.shape[1])  # so that no two eigenvalues are equal
    scores = KernelPCA(2, kernel=kernel, eigen_solver="dense").fit_transform(rows)
    same = KernelPCA(2, kernel="precomputed", eigen_solver="dense").fit_transform(kernel(rows))
    assert_close(np.abs(scores), np.abs(same), 1e3)


@pytest.mark.exhaustive
def test_grid_search_picks_the_degree_in_other_processes(crossed):
    X, y = crossed
    kernels = [partial(paths.anova, degree=m) for m in (1, 2, 3)]
    kernels.append(paths.product_kernel([paths.linear] * 6))
    search = GridSearchCV(SVC(C=100), {"kernel": kernels}, cv=3, n_jobs=2).fit(X, y)
    assert search.best_params_["kernel"].keywords == {"degree": 3}


# -- bad input -------------------------------------------------------------------------------

GOOD = np.ones((2, 3))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: paths.anova(GOOD, degree=-1), ValueError, "degree of anova .* got -1"),
        (lambda: paths.anova(GOOD, degree=1.5), TypeError, "degree of anova .* got 1.5"),
        (lambda: paths.anova(GOOD, degree=True), TypeError, "degree of anova .* got True"),
        (lambda: paths.polynomial(GOOD, degree=-2), ValueError, "degree of polynomial .* got -2"),
        (lambda: paths.linear(GOOD, np.ones((2, 4))), ValueError, r"\(2, 3\).*\(2, 4\)"),
        (lambda: paths.all_subsets(GOOD, np.ones(3)), ValueError, r"\(2, 3\).*\(3,\).*reshape"),
        (lambda: paths.anova(np.ones((2, 2, 2))), ValueError, r"X of anova .*\(2, 2, 2\)"),
        (lambda: paths.anova(3.0), ValueError, r"X of anova .*\(\)"),
        (lambda: paths.linear([[np.nan, 1]]), ValueError, "X of linear must be finite"),
        (lambda: paths.anova(GOOD, [[np.inf, 1, 1]]), ValueError, "Y of anova must be finite"),
        (lambda: paths.anova(sparse.csr_matrix([[np.nan]])), ValueError, "X of anova must be fin"),
        (lambda: paths.linear([["a", "b"]]), ValueError, "X of linear must be numbers"),
        (lambda: paths.linear([[1j]]), ValueError, "X of linear must be real"),
        (lambda: paths.anova(1e200 * GOOD), ValueError, "anova exceeds the largest float64"),
        (lambda: paths.all_subsets([[1e200, 1e200, 1]], [[1e200, 1, -1]]), ValueError, "exceeds"),
        (lambda: paths.polynomial(1e100 * GOOD, degree=9), ValueError, "polynomial exceeds"),
        (lambda: paths.linear(1e200 * GOOD), ValueError, r"linear exceeds .* \(0, 0\)"),
        (lambda: paths.path_sum([]), ValueError, "layers of path_sum .* got none"),
        (lambda: paths.path_sum([GOOD, GOOD]), ValueError, r"layers\[0\].*layers\[1\] has"),
        (lambda: paths.path_sum([[1, 2]]), ValueError, r"layers\[0\] of path_sum must be a matrix"),
        (lambda: paths.path_sum([[[np.nan]]]), ValueError, r"layers\[0\] of path_sum must be fin"),
        (lambda: paths.path_sum([[[1e200]]] * 2), ValueError, "path_sum exceeds"),
        (lambda: paths.product_kernel([]), ValueError, "product_kernel needs at least one"),
        (lambda: paths.product_kernel(["rbf"]), TypeError, r"kernels\[0\] .* 'rbf'"),
        (lambda: paths.product_kernel([paths.linear], [0, 1]), ValueError, "2 blocks and 1 kernel"),
        (lambda: paths.product_kernel([paths.linear])(GOOD), ValueError, "1 kernels.*3 columns"),
        (
            lambda: paths.product_kernel([paths.linear], [3])(GOOD),
            ValueError,
            r"blocks\[0\].* is 3",
        ),
        (lambda: paths.product_kernel([paths.linear], [0])(GOOD, [1]), ValueError, r"\(1,\)"),
        (lambda: paths.product_kernel([lambda a, b: 1.0], [0])(GOOD), ValueError, r"kernels\[0\]"),
        (
            lambda: paths.product_kernel([lambda a, b: a * np.nan @ b.T], [0])(GOOD),
            ValueError,
            "NaN",
        ),
    ],
)
def test_bad_input_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_importing_gramlet_does_not_load_a_compiler():
    code = (
        "import sys, gramlet; assert 'numba' not in sys.modules; "
        "assert gramlet.paths.linear([1], [2]) == 2.0; assert 'paths' in dir(gramlet)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
