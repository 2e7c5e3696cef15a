"""Critical-difference diagrams: positions of names, and bars."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="needs matplotlib")

from matplotlib import pyplot

from gramlet import plot_critical_differences
from gramlet.evaluation import rank_scores


@pytest.fixture
def ranking():
    rng = np.random.default_rng(0)
    scores = np.array([0.9, 0.88, 0.7, 0.69]) + 0.02 * rng.normal(size=(12, 4))
    return rank_scores(scores, ["wl", "oa", "sp", "size"], [str(i) for i in range(12)])


def thick_bars(ax):
    return [sorted(line.get_xdata()) for line in ax.lines if line.get_linewidth() == 3]


@pytest.mark.parametrize("test", ["wilcoxon", "nemenyi"])
def test_bars_join_the_cliques(ranking, test):
    ax = plot_critical_differences(ranking, test)
    means = ranking.mean_ranks
    expected = [
        sorted((min(means[m] for m in group) - 0.04, max(means[m] for m in group) + 0.04))
        for group in ranking.cliques(test)
    ]
    np.testing.assert_allclose(thick_bars(ax), expected)
    assert len(expected) >= 1
    pyplot.close(ax.figure)


def test_every_method_has_its_name_and_rank_and_the_best_is_at_the_right(ranking):
    figure, ax = pyplot.subplots()
    assert plot_critical_differences(ranking, "nemenyi", ax) is ax
    texts = [text.get_text() for text in ax.texts]
    for name, rank in ranking.mean_ranks.items():
        assert f"{name} ({rank:.2f})" in texts
    assert any(text.startswith("critical difference") for text in texts)
    left, right = ax.get_xlim()
    assert left > 4 > 1 > right
    pyplot.close(figure)


def test_an_unknown_test_is_refused(ranking):
    with pytest.raises(ValueError, match="'wilcoxon' or 'nemenyi'"):
        plot_critical_differences(ranking, "t")
