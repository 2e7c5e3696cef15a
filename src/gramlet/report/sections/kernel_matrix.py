"""The matrix of a kernel in a report: sorted heat map, spectrum, and facts about them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from gramlet.kernels.contract.tags import graph_tags
from gramlet.report.figures import curve_chart, spectrum_chart
from gramlet.report.heatmap import heatmap
from gramlet.report.kernel_view import KernelView
from gramlet.report.machines import learning_curve
from gramlet.report.material import Material
from gramlet.report.words import Cell, Figure, Table, score_limits, score_text, sentence

__all__ = ["curve_figure", "gram_section"]


def gram_section(material: Material, view: KernelView) -> dict[str, Any]:
    """The section about a kernel matrix."""
    return {"facts": _facts(view), "figures": [_heat(material, view), _spectrum(view)]}


def _facts(view: KernelView) -> Table:
    values = view.eigenvalues
    n, whole = len(view.sample), len(view.gram)
    of_part = f" (of {n:,} of {whole:,} graphs)" if n < whole else ""
    smallest = f"smallest eigenvalue {values[0]:.3g}, largest {values[-1]:.3g}{of_part}"
    definite = "yes" if view.positive else "no"
    own = np.diagonal(view.gram)
    rows = [
        ("kernel", _shown(view.estimator)),
        ("positive semi-definite", f"{definite}: {smallest}"),
        ("effective rank", f"{view.effective_rank:.1f} of {n:,}{of_part}"),
        (
            "diagonal dominance",
            f"{view.dominance:.3g} (mean of the diagonal over mean of the "
            "rest; large values mean that every graph is similar only to itself)",
        ),
        ("self-similarities", f"{own.min():.4g} to {own.max():.4g}"),
    ]
    if view.supervised:
        rows.append(
            ("fitted on", "all graphs with their target: the figures here are not estimates")
        )
    return Table(
        "The kernel matrix of all graphs, with the options chosen most often",
        ("fact", "value"),
        [(Cell(a), Cell(b)) for a, b in rows],
    )


def _shown(estimator: Any) -> str:
    """The estimator with its options; a seed only where numbers are drawn."""
    if "random_state" in estimator.get_params(deep=False) and not graph_tags(estimator).random:
        estimator = clone(estimator).set_params(random_state=None)
    return f"{estimator!r}"


def _heat(material: Material, view: KernelView) -> Figure:
    """Graphs sorted by target, then along the first component."""
    n = len(view.gram)
    try:
        along = view.map[0][:, 0]
    except ValueError:
        along = np.zeros(n)
    first = material.codes if material.target is not None else np.zeros(n)
    order = np.lexsort((along, first))
    matrix = view.gram[np.ix_(order, order)]
    off = matrix[~np.eye(n, dtype=bool)] if n > 1 else matrix.ravel()
    low, high = np.quantile(off, [0.01, 0.99]) if len(off) else (0.0, 1.0)
    what = "value of the target" if material.regression else "class"
    caption = (
        f"Kernel matrix, graphs sorted by {what}, then along the first component; dark: "
        f"{low:.3g} and below, bright: {high:.3g} and above"
    )
    if n > 220:
        caption += "; means over blocks of graphs"
    title = f"{view.result.name}: sorted kernel matrix"
    return Figure(heatmap(matrix, title, float(low), float(high)), caption)


def _spectrum(view: KernelView) -> Figure:
    title = f"{view.result.name}: eigenvalues of the kernel matrix"
    n, whole = len(view.sample), len(view.gram)
    caption = "Eigenvalues, largest first" + (
        f", of {n:,} of {whole:,} graphs" if n < whole else ""
    )
    return Figure(spectrum_chart(view.eigenvalues, title), caption)


def curve_figure(material: Material, view: KernelView) -> Figure:
    """The learning curve, or why there is none."""
    if material.target is None:
        return Figure(None, "Learning curve", "The results contain no target.")
    seed = view.result.protocol.random_state
    try:
        curve = learning_curve(view, material.codes, material.regression, seed)
    except ValueError as why:
        return Figure(None, "Learning curve", str(why))
    scoring = "r2" if material.regression else "accuracy"
    score, limits = score_text(scoring), score_limits(scoring)
    machine = "ridge regression" if material.regression else "a support vector machine"
    title = f"{view.result.name}: learning curve"
    caption = (
        f"{sentence(score)} of {machine} on a fifth of the graphs held out, mean and standard "
        "deviation of three splits; C as chosen most often at full size"
    )
    if not material.regression:
        balanced = view.result.class_weight == "balanced"
        caption += ", with balanced class weights" if balanced else ", without class weights"
    if curve.n_graphs < len(view.gram):
        caption += f"; made with {curve.n_graphs:,} of {len(view.gram):,} graphs"
    return Figure(
        curve_chart(curve.sizes, curve.means, curve.spreads, title, score, limits), caption
    )
