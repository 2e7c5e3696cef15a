"""Critical-difference diagrams: mean ranks of methods over data sets."""

from __future__ import annotations

from typing import Any

from gramlet.evaluation.ranking import Ranking
from gramlet.plotting.axes import new_axes

_ROW = 0.28  # inches per name
_BAR = 0.42  # between the bars of cliques, in rows


def plot_critical_differences(ranking: Ranking, test: str = "wilcoxon", ax: Any = None) -> Any:
    """Draw a critical-difference diagram.

    Methods are placed on an axis of mean ranks, the best at the right. A thick bar joins methods of
    which no two differ significantly. With "nemenyi" the critical difference is drawn above.

    Parameters
    ----------
    ranking : Ranking
        As returned by `gramlet.compare_results` for results on several data sets.
    test : {"wilcoxon", "nemenyi"}
        The test by which methods are joined: Holm-corrected Wilcoxon tests of pairs, or the
        critical difference of mean ranks.
    ax : matplotlib axes, optional
        By default those of a new figure.

    Returns
    -------
    matplotlib axes

    References
    ----------
    Demšar (2006), Statistical comparisons of classifiers over multiple data sets.

    Examples
    --------
    >>> import numpy as np
    >>> from gramlet import plot_critical_differences
    >>> from gramlet.evaluation import rank_scores
    >>> scores = np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6], [0.9, 0.9, 0.5]])
    >>> ax = plot_critical_differences(rank_scores(scores, ["wl", "sp", "size"], "abc"))
    >>> [text.get_text() for text in ax.texts if "wl" in text.get_text()]
    ['wl (1.17)']
    """
    cliques = ranking.cliques(test)
    means = ranking.mean_ranks
    worst_first = list(means)[::-1]
    half = (len(means) + 1) // 2
    depth = 1.0 + len(cliques) * _BAR
    height = _ROW * (half + 3 + len(cliques) * _BAR)
    ax = new_axes(ax, figsize=(7.0, max(1.6, height)))
    _draw_axis(ax, len(means))
    for position, name in enumerate(worst_first):
        left = position < half
        row = position if left else len(means) - 1 - position
        _draw_name(ax, name, means[name], left, depth + row, len(means))
    for number, group in enumerate(cliques):
        ranks = [means[name] for name in group]
        height = 0.45 + number * _BAR
        ends = [max(ranks) + 0.04, min(ranks) - 0.04]
        ax.plot(ends, [height, height], color="black", linewidth=3, solid_capstyle="butt")
    if test == "nemenyi":
        start = float(len(means))
        ends = [start, max(1.0, start - ranking.critical_difference)]
        ax.plot(ends, [-0.9, -0.9], color="black", linewidth=1, marker="|")
        label = f"critical difference {ranking.critical_difference:.2f}"
        ax.text(sum(ends) / 2, -1.05, label, ha="center", va="bottom", fontsize=8)
    ax.set_ylim(depth + half, -2.0)
    return ax


def _draw_axis(ax: Any, n_methods: int) -> None:
    """Ranks from the worst at the left to 1 at the right."""
    margin = 0.35 * (n_methods - 1) + 0.4
    ax.set_xlim(n_methods + margin, 1 - margin)
    ax.axis("off")
    ax.plot([1, n_methods], [0, 0], color="black", linewidth=1)
    for rank in range(1, n_methods + 1):
        ax.plot([rank, rank], [0, -0.15], color="black", linewidth=1)
        ax.text(rank, -0.25, str(rank), ha="center", va="bottom", fontsize=8)


def _draw_name(ax: Any, name: str, rank: float, left: bool, depth: float, n: int) -> None:
    end = n + 0.15 if left else 1 - 0.15
    ax.plot([rank, rank, end], [0, depth, depth], color="#777777", linewidth=0.8)
    side = "right" if left else "left"
    ax.text(end, depth, f"{name} ({rank:.2f})", ha=side, va="center", fontsize=9)
