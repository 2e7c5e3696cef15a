"""Ranks over data sets against values worked by hand and against scipy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from gramlet import Protocol, compare_results, evaluate, load_dataset
from gramlet.evaluation.ranking import holm, rank_scores

# Areas under the curve of four learners on 14 data sets, after the example of Demšar (2006).
METHODS = ("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf")
AREAS = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.975, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)
DATA = tuple(f"data {i}" for i in range(14))


def results(table, names, data):
    """Results with these means; comparisons across data sets use nothing else."""
    mutag = load_dataset("MUTAG")
    made = evaluate("majority", mutag, protocol=Protocol(folds=3, repeats=1))
    return [
        replace(
            made,
            name=name,
            scores=np.full((1, 3), table[row, column]),
            data=replace(made.data, name=where),
        )
        for row, where in enumerate(data)
        for column, name in enumerate(names)
    ]


def test_ranks_and_critical_difference_by_hand():
    ranking = rank_scores(AREAS, METHODS, DATA)
    means = [ranking.mean_ranks[name] for name in METHODS]
    np.testing.assert_allclose(means, np.array([44, 28, 41, 27]) / 14)
    # 2.569 sqrt(4·5 / (6·14)), the constant of Demšar's table 5.
    assert ranking.critical_difference == pytest.approx(1.25, abs=0.01)
    assert list(ranking.mean_ranks) == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    # The extreme ranks differ by 17/14 < 1.25: Nemenyi finds nothing.
    assert ranking.cliques("nemenyi") == [tuple(ranking.mean_ranks)]
    at_ten = rank_scores(AREAS, METHODS, DATA, alpha=0.1)
    # 2.291 sqrt(20 / 84) = 1.118: now the last differs from the first two, by 17/14 and 16/14.
    assert at_ten.critical_difference == pytest.approx(1.12, abs=0.01)
    assert at_ten.cliques("nemenyi") == [
        ("C4.5+m+cf", "C4.5+m", "C4.5+cf"),
        ("C4.5+cf", "C4.5"),
    ]


@given(st.integers(2, 9), st.integers(3, 6), st.integers(0, 999), st.booleans())
def test_friedman_is_that_of_scipy(n, k, seed, ties):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 3, (n, k)) / 3 if ties else rng.uniform(size=(n, k))
    ranking = rank_scores(scores, [str(j) for j in range(k)], [str(i) for i in range(n)])
    if all(len(set(row)) == 1 for row in scores.tolist()):
        assert (ranking.friedman, ranking.friedman_p) == (0.0, 1.0)
        return
    expected = stats.friedmanchisquare(*scores.T)
    assert ranking.friedman == pytest.approx(expected.statistic, abs=1e-9)
    assert ranking.friedman_p == pytest.approx(expected.pvalue, abs=1e-9)


def test_pairs_are_wilcoxon_tests_with_holm_correction():
    ranking = rank_scores(AREAS, METHODS, DATA)
    assert len(ranking.pairs) == 6
    for pair in ranking.pairs:
        a, b = METHODS.index(pair.first), METHODS.index(pair.second)
        expected = stats.wilcoxon((AREAS[:, a] - AREAS[:, b]).round(12), zero_method="zsplit")
        assert pair.statistic == pytest.approx(expected.statistic)
        assert pair.p_value == pytest.approx(expected.pvalue)
    assert [p.adjusted for p in ranking.pairs] == holm([p.p_value for p in ranking.pairs])
    # Demšar's example of the test: C4.5 against C4.5+m, sums of ranks 93 and 12.
    assert ranking.pairs[0].statistic == 12
    joined = ranking.cliques("wilcoxon")
    for group in joined:
        for pair in ranking.pairs:
            if {pair.first, pair.second} <= set(group):
                assert pair.adjusted > 0.05


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == [0.03, 0.06, 0.06]
    assert holm([0.5, 0.4]) == [0.8, 0.8]
    assert holm([]) == []


def test_methods_that_are_alike_everywhere():
    ranking = rank_scores(np.ones((4, 3)), "abc", "wxyz")
    assert ranking.friedman == 0
    assert all(pair.p_value == 1 for pair in ranking.pairs)
    assert ranking.cliques() == [("a", "b", "c")]


def test_bad_input():
    with pytest.raises(ValueError, match="at least two data sets"):
        rank_scores(np.ones((1, 2)), "ab", "x")
    with pytest.raises(ValueError, match="alpha must be"):
        rank_scores(np.ones((2, 2)), "ab", "xy", alpha=5)
    with pytest.raises(ValueError, match="'wilcoxon' or 'nemenyi'"):
        rank_scores(np.ones((2, 2)), "ab", "xy").cliques("t")


def test_results_of_several_data_sets_are_ranked():
    ranking = compare_results(results(AREAS, METHODS, DATA))
    np.testing.assert_allclose(ranking.scores, AREAS)
    assert ranking.methods == METHODS
    assert "4 methods on 14 data sets" in str(ranking)
    incomplete = results(AREAS, METHODS, DATA)[:-1]
    with pytest.raises(ValueError, match=r"no result 'C4\.5\+m\+cf' on 'data 13'"):
        compare_results(incomplete)
    with pytest.raises(ValueError, match=r"two results 'C4\.5' on 'data 0'"):
        compare_results([*results(AREAS, METHODS, DATA), incomplete[0]])
    with pytest.raises(ValueError, match="different scorers"):
        compare_results([replace(incomplete[0], scoring="f1"), *incomplete[1:]])


def test_results_of_one_data_set_are_compared_in_pairs():
    mutag = load_dataset("MUTAG")
    quick = Protocol(folds=5, repeats=1, inner_folds=3)
    found = [evaluate(name, mutag, protocol=quick) for name in ("vertex", "size", "majority")]
    compared = compare_results(found)
    assert [(c.first, c.second) for c in compared] == [
        ("vertex", "size"),
        ("vertex", "majority"),
        ("size", "majority"),
    ]
    for comparison, (a, b) in zip(compared, [(0, 1), (0, 2), (1, 2)], strict=True):
        alone = compare_results(found[a], found[b])
        assert comparison.p_value == alone.p_value
        assert alone.adjusted is None
    assert [c.adjusted for c in compared] == holm([c.p_value for c in compared])
    assert "Holm" in str(compared[0])
    with pytest.raises(ValueError, match="at least two results"):
        compare_results(found[:1])
    with pytest.raises(TypeError, match="two results, or one list"):
        compare_results(found[0])


def test_graphs_without_a_name_belong_to_the_named_data_set():
    mutag = load_dataset("MUTAG")
    quick = Protocol(folds=3, repeats=1, inner_folds=2, C=(1.0,))
    named = evaluate("majority", mutag, protocol=quick)
    without = evaluate("size", mutag.graphs, mutag.target, quick)
    (found,) = compare_results([named, without])
    assert found.difference == pytest.approx(named.mean - without.mean)
    other = evaluate("size", mutag.graphs[:100], mutag.target[:100], quick)
    with pytest.raises(ValueError, match="do not have the same folds"):
        compare_results([named, other])
