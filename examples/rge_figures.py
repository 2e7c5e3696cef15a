"""Accuracy and time of the random graph embedding for growing R, number and size of graphs.

Draws two figures: accuracy and time against the number R of random graphs, with and without
labels; and time against the number N of graphs and their number n of nodes, with fitted slopes.

    python examples/rge_figures.py --out docs/figures
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import gramlet
from gramlet.kernels.spectral.earth_mover import NodeReader

matplotlib.use("Agg")
import matplotlib.pyplot as plt

BLUE, ORANGE, GREY = "#2a6f97", "#d1661b", "#777777"


def embedding(**params: Any) -> gramlet.RandomGraphEmbedding:
    return gramlet.RandomGraphEmbedding(n_dims=6, random_state=0, **params)


# Accuracy and time against R


def accuracy_against_components(
    data: Any, components: list[int], folds: int, repeats: int
) -> dict[str, dict[str, list[float]]]:
    """Mean accuracy, its deviation over folds, and seconds for the features of all graphs."""
    costs = (1.0, 1e2, 1e4, 1e6)  # large values, because features vary little around their mean
    protocol = gramlet.Protocol(folds=folds, repeats=repeats, inner_folds=3, C=costs)
    curves: dict[str, dict[str, list[float]]] = {}
    for name, use_labels in (("with labels", True), ("without labels", False)):
        curve: dict[str, list[float]] = {"accuracy": [], "spread": [], "seconds": []}
        for count in components:
            model = embedding(n_components=count, use_labels=use_labels)
            begin = time.process_time()
            model.fit_transform(data.graphs)
            curve["seconds"].append(time.process_time() - begin)
            result = gramlet.evaluate(
                model,
                data.graphs,
                data.target,
                protocol,
                options={"gamma": [1.0, 10.0]},
                fit_once=True,
            )
            curve["accuracy"].append(result.mean)
            curve["spread"].append(float(np.std(result.accuracies.mean(axis=0))))
        curves[name] = curve
    return curves


def draw_components(curves: dict[str, Any], components: list[int], title: str) -> Any:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for (name, curve), colour in zip(curves.items(), (BLUE, ORANGE), strict=True):
        accuracy, spread = 100 * np.array(curve["accuracy"]), 100 * np.array(curve["spread"])
        left.plot(components, accuracy, "o-", color=colour, label=name, markersize=4)
        left.fill_between(
            components, accuracy - spread, accuracy + spread, color=colour, alpha=0.12, lw=0
        )
        right.loglog(components, curve["seconds"], "o-", color=colour, label=name, markersize=4)
    left.set_xscale("log", base=2)
    left.set(xlabel="random graphs R", ylabel="accuracy in %", title=title)
    seconds = curves["with labels"]["seconds"]
    reference = seconds[-1] * np.array(components) / components[-1]
    right.loglog(components, reference, ":", color=GREY, label="linear")
    right.set_xscale("log", base=2)
    right.set(xlabel="random graphs R", ylabel="seconds", title="features of all graphs")
    for axes in (left, right):
        axes.set_xticks(components, [str(count) for count in components])
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=8)
    return figure


# Time against N and n


def seconds_of(graphs: Any) -> tuple[float, float]:
    """Processor seconds for node coordinates, and for the distances and features after them."""
    model = embedding(n_components=128).fit(graphs[:1])
    begin = time.process_time()
    nodes = NodeReader(6, "auto").fit(graphs, 1)
    middle = time.process_time()
    model._features(nodes.with_masses())
    return middle - begin, time.process_time() - middle


def slope(sizes: list[int], seconds: list[float]) -> float:
    """The exponent p of the best fit seconds ~ size^p."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def draw_growth(axes: Any, sizes: list[int], parts: list[tuple[float, float]], what: str) -> None:
    coordinates = [a for a, _ in parts]
    features = [b for _, b in parts]
    total = [a + b for a, b in parts]
    for name, seconds, colour in (
        ("node coordinates", coordinates, ORANGE),
        ("distances", features, BLUE),
        ("all", total, "black"),
    ):
        label = f"{name}, slope {slope(sizes, seconds):.2f}"
        axes.loglog(sizes, seconds, "o-", color=colour, label=label, markersize=4)
    ratio = np.array(sizes) / sizes[0]
    axes.loglog(sizes, total[0] * ratio, ":", color=GREY, label="linear")
    axes.loglog(sizes, total[0] * ratio**2, "--", color=GREY, label="quadratic")
    axes.set(xlabel=what, ylabel="seconds")
    axes.set_ylim(min(coordinates + features) / 2, max(total) * 4)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.minorticks_off()
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize=7.5)


def growth(numbers: list[int], sizes: list[int], n_graphs: int) -> Any:
    draw = gramlet.random_labelled_graphs
    seconds_of(draw(3, 200, 400, n_labels=0, random_state=0))  # compiles all functions
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    parts = [seconds_of(draw(n, 100, 200, n_labels=0, random_state=0)) for n in numbers]
    draw_growth(left, numbers, parts, "graphs N (n = 100, m = 200)")
    parts = [seconds_of(draw(n_graphs, n, 2 * n, n_labels=0, random_state=0)) for n in sizes]
    draw_growth(right, sizes, parts, f"nodes n (N = {n_graphs}, m = 2n)")
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("."), help="folder for the pictures")
    parser.add_argument("--dataset", default="MUTAG")
    parser.add_argument("--data-dir", default=None, help="folder of TU data sets")
    parser.add_argument("--folds", type=int, default=10, help="folds of the cross-validation")
    parser.add_argument("--repeats", type=int, default=1, help="repeats of the cross-validation")
    parser.add_argument("--graphs", type=int, default=1000, help="N while n grows")
    parser.add_argument("--skip-accuracy", action="store_true")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    numbers = [125, 250, 500, 1000, 2000]
    growth(numbers, [50, 100, 200, 500, 1000], chosen.graphs).savefig(chosen.out / "rge_growth.svg")
    if not chosen.skip_accuracy:
        data = gramlet.load_dataset(chosen.dataset, data_home=chosen.data_dir)
        components = [4, 8, 16, 32, 64, 128]
        curves = accuracy_against_components(data, components, chosen.folds, chosen.repeats)
        picture = draw_components(curves, components, chosen.dataset)
        picture.savefig(chosen.out / "rge_components.svg")


if __name__ == "__main__":
    main()
