"""Graph sampling and averaging on community graphs: accuracy, error and time.

Experiments similar to those of Ghanem, Keriven, Tremblay (2021), Fast graph kernel with optical
random features: two classes of graphs with 60 nodes in six communities and the same expected
degree. They differ in the probability of an edge within a community; the ratio of the two
probabilities is called similarity. The script prints

- accuracy against k for optical features of uniform samples and of walks, and for patterns matched;
- accuracy against the number of random features;
- the error of the squared distance of two embeddings and the bound `gramlet.theory.mmd_bound`;
- seconds against k for the four feature maps,

and plots all four.

    python examples/gsa_block_model.py --picture gsa_block_model.png
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from gramlet import (
    EigenGaussianMap,
    GaussianMap,
    GraphSampling,
    MatchMap,
    OpticalMap,
    mmd,
    stochastic_block_model_classes,
    theory,
)

SIZES = (3, 4, 5, 6)
FEATURES = (10, 30, 100, 300, 1000, 5000)
LENGTHS = (100, 400, 1600, 6400)
WAYS = {
    "optical, uniform": ("uniform", OpticalMap(5000)),
    "optical, walk": ("walk", OpticalMap(5000)),
    "match, uniform": ("uniform", MatchMap()),
}
MAPS = {
    "match": MatchMap(),
    "optical": OpticalMap(5000),
    "Gaussian": GaussianMap(5000),
    "eigenvalues": EigenGaussianMap(5000),
}
STYLES = {"optical, uniform": "o-", "optical, walk": "s-", "match, uniform": "k.:"}
# The same for all; 1 instead of 10 changes accuracies by a few percent but no conclusion.
PENALTY = 10.0


def accuracy(data: Any, sampling: GraphSampling) -> float:
    """Percent correct of a support vector machine on scaled features, five folds three times."""
    features = sampling.fit_transform(data.graphs)
    # The scale does not depend on the targets, so computing it from all graphs leaks nothing.
    scaled = features - features.mean(axis=0)
    scaled /= np.maximum(scaled.std(axis=0), 1e-12)
    gram = scaled @ scaled.T
    gram *= len(gram) / np.trace(gram)
    model = SVC(kernel="precomputed", C=PENALTY)
    scores = [
        cross_val_score(
            model, gram, data.target, cv=StratifiedKFold(5, shuffle=True, random_state=r)
        )
        for r in range(3)
    ]
    return 100 * float(np.mean(scores))


def sampling_of(k: int, sampler: str, feature_map: Any) -> GraphSampling:
    return GraphSampling(
        k=k, n_samples=2000, sampler=sampler, feature_map=feature_map, random_state=0
    )


def against_size(similarities: list[float], draw: int) -> dict[tuple[float, str], list[float]]:
    """Accuracies for every similarity and method, one per graphlet size."""
    print("Accuracy in percent, 300 graphs, s = 2000, m = 5000")
    print(f"{'similarity':>10}  {'map, sampler':<18}" + "".join(f"  k = {k}" for k in SIZES))
    found = {}
    for similarity in similarities:
        data = stochastic_block_model_classes(similarity=similarity, random_state=draw)
        for name, way in WAYS.items():
            row = [accuracy(data, sampling_of(k, *way)) for k in SIZES]
            found[similarity, name] = row
            print(f"{similarity:>10}  {name:<18}" + "".join(f"  {value:5.1f}" for value in row))
    return found


def against_features(similarity: float, draw: int) -> dict[str, list[float]]:
    """Accuracies of optical features at k = 6 for increasing numbers of features."""
    print(f"\nAccuracy in percent against m, k = 6, s = 2000, similarity {similarity}")
    print(f"{'sampler':<8}" + "".join(f"  {m:>5}" for m in FEATURES))
    data = stochastic_block_model_classes(similarity=similarity, random_state=draw)
    found = {}
    for sampler in ("uniform", "walk"):
        row = [accuracy(data, sampling_of(6, sampler, OpticalMap(m))) for m in FEATURES]
        found[sampler] = row
        print(f"{sampler:<8}" + "".join(f"  {value:>5.1f}" for value in row))
    return found


def errors(n_repeats: int = 20) -> dict[str, list[float]]:
    """Root mean squares of ‖z − z'‖² − MMD² as samples, features or both grow, and the bound."""
    sparse, dense = (
        stochastic_block_model_classes(
            n_graphs=1, expected_degree=degree, within_prob=0.4, random_state=0
        ).graphs
        for degree in (6.0, 24.0)
    )
    pair = type(sparse).concatenate([sparse, dense])
    exact = mmd(sparse, dense, 4, "gaussian", sigma=2.0) ** 2
    ways = {
        "s = n": lambda n: (n, 20_000),
        "m = n": lambda n: (50_000, n),
        "s = m = n": lambda n: (n, n),
    }
    found: dict[str, list[float]] = {"bound": [], **{name: [] for name in ways}}
    for n in LENGTHS:
        found["bound"].append(theory.mmd_bound(n, n, 0.05, feature_bound=2**0.5))
        for name, way in ways.items():
            s, m = way(n)
            squares = [distance(pair, s, m, seed) ** 2 for seed in range(n_repeats)]
            found[name].append(float(np.sqrt(np.mean((np.array(squares) - exact) ** 2))))
    show_errors(exact, found)
    return found


def distance(pair: Any, n_samples: int, n_components: int, seed: int) -> float:
    sampling = GraphSampling(
        k=4, n_samples=n_samples, feature_map=GaussianMap(n_components, 2.0), random_state=seed
    )
    return mmd(*sampling.fit_transform(pair))


def show_errors(exact: float, found: dict[str, list[float]]) -> None:
    print(f"\nError of the squared distance, Gaussian map, k = 4, MMD² = {exact:.4f}")
    print(f"{'':<10}" + "".join(f"{n:>9}" for n in LENGTHS) + "    slope")
    for name, values in found.items():
        slope = np.polyfit(np.log(LENGTHS), np.log(values), 1)[0]
        print(f"{name:<10}" + "".join(f"{value:>9.4f}" for value in values) + f"{slope:>9.2f}")


def seconds() -> dict[str, list[float]]:
    """Processor seconds of each map on 300 graphs, one value per graphlet size."""
    print("\nProcessor seconds, 300 graphs, s = 2000, m = 5000")
    print(f"{'map':<12}" + "".join(f"  k = {k}" for k in SIZES))
    graphs = stochastic_block_model_classes(random_state=0).graphs
    found = {}
    for name, feature_map in MAPS.items():
        row = []
        for k in SIZES:
            sampling_of(k, "uniform", feature_map).fit(graphs[:2])  # compiles, loads tables
            begin = time.process_time()
            sampling_of(k, "uniform", feature_map).fit_transform(graphs)
            row.append(time.process_time() - begin)
        found[name] = row
        print(f"{name:<12}" + "".join(f"  {value:5.2f}" for value in row))
    return found


def picture(
    similarity: float, sizes: Any, features: Any, error: Any, time_taken: Any, place: Path
) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 2, figsize=(10, 7.5), layout="constrained")
    for (which, name), row in sizes.items():
        if which == similarity:
            # Lines with equal accuracies overlap: the last is dotted.
            axes[0, 0].plot(SIZES, row, STYLES[name], label=name)
    axes[0, 0].set(xlabel="k", ylabel="accuracy (%)", xticks=SIZES)
    axes[0, 0].set_title(f"similarity {similarity}, s = 2000, m = 5000")
    for name, row in features.items():
        axes[0, 1].plot(FEATURES, row, "o-", label=name)
    axes[0, 1].set(xlabel="m", ylabel="accuracy (%)", xscale="log")
    axes[0, 1].set_title("optical features, k = 6")
    for name, row in error.items():
        axes[1, 0].loglog(LENGTHS, row, "k--" if name == "bound" else "o-", label=name)
    axes[1, 0].set(xlabel="n", ylabel="error of the squared distance")
    axes[1, 0].set_title("Gaussian features, k = 4")
    for name, row in time_taken.items():
        axes[1, 1].semilogy(SIZES, row, "o-", label=name)
    axes[1, 1].set(xlabel="k", ylabel="seconds", xticks=SIZES)
    axes[1, 1].set_title("300 graphs, s = 2000, m = 5000")
    for axis in axes.flat:
        axis.legend(frameon=False)
        axis.grid(alpha=0.3)
    figure.savefig(place, dpi=150)
    print(f"\nDrawn in {place}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--similarity", type=float, nargs="+", default=[1.1, 1.2, 1.5, 2.0, 3.0])
    parser.add_argument("--shown", type=float, default=3.0, help="the similarity that is drawn")
    parser.add_argument("--draw", type=int, default=0, help="seed of the graphs")
    parser.add_argument("--picture", type=Path, default=Path("gsa_block_model.png"))
    chosen = parser.parse_args()
    similarities = sorted({*chosen.similarity, chosen.shown})
    sizes = against_size(similarities, chosen.draw)
    features = against_features(chosen.shown, chosen.draw)
    picture(chosen.shown, sizes, features, errors(), seconds(), chosen.picture)


if __name__ == "__main__":
    main()
