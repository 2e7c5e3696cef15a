"""The picture of the first page: ``python docs/figures/landing.py`` draws ``landing.svg``.

A map of MUTAG's molecules, and one of them with its atoms coloured by what they add to a
prediction.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import gramlet

FOLDER = Path(__file__).parent


def main() -> None:
    """Draw both halves."""
    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "gramlet"  # the same file in every run
    mutag = gramlet.load_dataset("MUTAG")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), width_ratios=(3, 2))
    graph_map = gramlet.KernelMap(gramlet.WLOptimalAssignment(n_iter=3, normalize=True))
    gramlet.plot_map(graph_map.fit(mutag.graphs), mutag.target, graphs=mutag, ax=left)
    model = make_pipeline(
        gramlet.WeisfeilerLehman(n_iter=2, normalize=True), SVC(kernel="precomputed", C=10)
    ).fit(mutag.graphs, mutag.target)
    linear = gramlet.explain_linear(model, class_names=mutag.target_names)
    names = {"node_names": mutag.node_label_names, "edge_names": mutag.edge_label_names}
    gramlet.plot_graph_importance(linear, mutag.graphs[0], ax=right, **names)
    figure.tight_layout()
    figure.savefig(FOLDER / "landing.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
