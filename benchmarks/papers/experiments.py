"""Experiments of papers that are not accuracies of kernels on data sets.

Each function returns its measurements as plain numbers: the heading of a table, its rows, the
number of repeats, and the seconds it took. Times are processor times.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from gramlet import theory
from gramlet.common.arrays import Floats
from gramlet.discrepancy.mean_kernel import mmd
from gramlet.embeddings.feature_maps import GaussianMap, MatchMap
from gramlet.embeddings.graph_sampling import GraphSampling
from gramlet.embeddings.optical_map import OpticalMap
from gramlet.embeddings.random_graph_embedding import RandomGraphEmbedding
from gramlet.evaluation.protocol import Protocol
from gramlet.evaluation.run import evaluate
from gramlet.files.dataset import Dataset
from gramlet.files.datasets.synthetic import (
    planted_subtrees,
    random_labelled_graphs,
    stochastic_block_model_classes,
)
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.wasserstein.wasserstein_wl import WassersteinWL
from gramlet.kernels.wasserstein.weighted import WeightedWassersteinWL
from gramlet.models.estimators import GraphClassifier

_PLANTED = "0(0,1,2)"


def _measured(
    heading: list[str], rows: list[list[Any]], repeats: int, begin: float
) -> dict[str, Any]:
    seconds = time.process_time() - begin
    return {"heading": heading, "rows": rows, "repeats": repeats, "seconds": round(seconds, 2)}


def _seconds(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return round(time.process_time() - begin, 4)


# Random graph embedding


def components(
    data: Dataset, repeats: int = 1, n_jobs: int | None = None, counts: tuple[int, ...] = ()
) -> dict[str, Any]:
    """Accuracy, its spread over folds, and time of all features, by number of random graphs.

    10 folds, ridge; γ from 1 and 10, chosen by 3 inner folds.
    """
    begin = time.process_time()
    protocol = Protocol(repeats=repeats, inner_folds=3, C=tuple(10.0 ** np.arange(-2, 9)))
    rows: list[list[Any]] = []
    for labels in (True, False):
        for count in counts or (4, 8, 16, 32, 64, 128, 256):
            model = RandomGraphEmbedding(count, use_labels=labels, random_state=0, n_jobs=n_jobs)
            spent = _seconds(partial(model.fit_transform, data.graphs))
            result = evaluate(
                model,
                data.graphs,
                data.target,
                protocol,
                options={"gamma": [1.0, 10.0]},
                classifier="ridge",
                fit_once=True,
                baselines=False,
                n_jobs=n_jobs,
            )
            name = "with labels" if labels else "without labels"
            shown = [round(100 * result.mean, 2), round(100 * result.std_folds, 2)]
            rows.append([name, count, *shown, spent])
    heading = ["", "R", "accuracy", "± over folds", "seconds"]
    return _measured(heading, rows, repeats, begin)


def growth(
    repeats: int = 1,
    n_jobs: int | None = None,
    numbers: tuple[int, ...] = (125, 250, 500, 1000, 2000),
    sizes: tuple[int, ...] = (50, 100, 200, 500, 1000),
    n_graphs: int = 100,
) -> dict[str, Any]:
    """Time of 128 features against the number N of graphs (n = 100) and of nodes n.

    Twice as many edges as nodes. The last row of each series has the fitted exponent.
    """
    begin = time.process_time()

    def spent(n: int, size: int) -> float:
        graphs = random_labelled_graphs(n, size, 2 * size, n_labels=0, random_state=0)
        model = RandomGraphEmbedding(128, random_state=0, n_jobs=n_jobs).fit(graphs[:1])
        return min(_seconds(lambda: model.transform(graphs)) for _ in range(repeats))

    spent(3, 200)  # compile everything first
    rows: list[list[Any]] = []
    series = {
        "graphs N (n = 100)": ([(n, 100) for n in numbers], numbers),
        f"nodes n (N = {n_graphs})": ([(n_graphs, n) for n in sizes], sizes),
    }
    for name, (settings, values) in series.items():
        times = [spent(*setting) for setting in settings]
        rows += [[name, value, seconds] for value, seconds in zip(values, times, strict=True)]
        rows.append([name, "exponent", round(_slope(values, times), 3)])
    return _measured(["against", "value", "seconds"], rows, repeats, begin)


def _slope(values: tuple[int, ...], times: list[float]) -> float:
    """p of the best fit time ~ value^p."""
    return float(np.polyfit(np.log(values), np.log(np.maximum(times, 1e-9)), 1)[0])


# Learned weights


def planted(repeats: int = 10, n_jobs: int | None = None) -> dict[str, Any]:
    """Accuracy on test graphs of other trees than the training graphs', and the pattern's rank.

    ``repeats`` data sets. C and γ chosen on the training graphs; then γ = 0.1 and a fixed C. The
    substructures are the library's own, not those of the paper.
    """
    begin = time.process_time()
    protocol = Protocol(inner_folds=4, C=(0.1, 1.0, 10.0, 100.0))
    kernels: dict[str, Any] = {
        "WWL": WassersteinWL(n_iter=2, gamma=0.1, n_jobs=n_jobs),
        "Weighted WWL": WeightedWassersteinWL(
            2, gamma=0.1, radius=1.0, solver="accelerated", n_jobs=n_jobs
        ),
    }
    samples: dict[str, list[list[float]]] = {name: [] for name in kernels}
    ranks: list[int] = []
    for seed in range(repeats):
        data = planted_subtrees(random_state=seed)
        for name, kernel in kernels.items():
            samples[name].append(_planted_scores(kernel, data, protocol))
        texts = [p.text for p in kernels["Weighted WWL"].top_patterns(10**6, level=1)]
        ranks.append(1 + texts.index(_PLANTED))
    rows: list[list[Any]] = [
        [name, *(round(100 * float(mean), 2) for mean in np.mean(scores, axis=0))]
        for name, scores in samples.items()
    ]
    rows.append(["sets in which the pattern has the highest weight", ranks.count(1)])
    heading = ["", "C and γ chosen", *(f"C = {cost:g}" for cost in protocol.C)]
    return _measured(heading, rows, repeats, begin)


def _planted_scores(kernel: Any, data: Any, protocol: Protocol) -> list[float]:
    graphs, target = data.graphs[data.train], data.target[data.train]
    tests, truth = data.graphs[data.test], data.target[data.test]
    model = GraphClassifier(
        kernel,
        options={"gamma": (0.1, 1.0, 10.0)},
        C=protocol.C,
        cv=protocol.inner_folds,
        random_state=protocol.random_state,
    )
    scores = [float(model.fit(graphs, target).score(tests, truth))]
    gram, cross = kernel.fit_transform(graphs, target), kernel.transform(tests)
    for cost in protocol.C:
        machine = SVC(kernel="precomputed", C=cost).fit(gram, target)
        scores.append(float(machine.score(cross, truth)))
    return scores


def learning_times(data: Dataset, repeats: int = 1, n_jobs: int | None = None) -> dict[str, Any]:
    """Processor seconds of 500 steps or passes with two rounds of refinement, and the last loss.

    The paper's times are for its whole classification task.
    """
    begin = time.process_time()
    rows: list[list[Any]] = []
    for name, solver in (
        ("full batch", "batch"),
        ("stochastic", "stochastic"),
        ("accelerated", "accelerated"),
    ):
        model = WeightedWassersteinWL(
            2, solver=solver, max_iter=500, use_edge_labels=False, random_state=0, n_jobs=n_jobs
        )
        learn = partial(model.fit, data.graphs, data.target)
        times = [_seconds(learn) for _ in range(repeats)]
        rows.append([name, min(times), model.n_passes_, round(float(model.loss_history_[-1]), 6)])
    return _measured(["", "seconds", "passes", "loss"], rows, repeats, begin)


# Graph sampling and averaging


def bound(
    repeats: int = 20, n_jobs: int | None = None, lengths: tuple[int, ...] = (100, 400, 1600, 6400)
) -> dict[str, Any]:
    """Root mean squares of ‖z − z'‖² − MMD² as samples s, features m, or both grow; the bound.

    Gaussian features of graphlets of four nodes, of a sparse and a dense graph.
    """
    begin = time.process_time()
    sparse, dense = (
        stochastic_block_model_classes(
            n_graphs=1, expected_degree=degree, within_prob=0.4, random_state=0
        ).graphs
        for degree in (6.0, 24.0)
    )
    pair = GraphBatch.concatenate([sparse, dense])
    exact = mmd(sparse, dense, 4, "gaussian", sigma=2.0) ** 2
    ways: dict[str, Callable[[int], tuple[int, int]]] = {
        "s = n, m = 20000": lambda n: (n, 20_000),
        "s = 50000, m = n": lambda n: (50_000, n),
        "s = m = n": lambda n: (n, n),
    }
    bounds = [theory.mmd_bound(n, n, 0.05, feature_bound=2**0.5) for n in lengths]
    rows: list[list[Any]] = [["bound, δ = 0.05", *(round(value, 5) for value in bounds)]]
    for name, way in ways.items():
        row = []
        for n in lengths:
            squares = [_distance(pair, *way(n), seed, n_jobs) ** 2 for seed in range(repeats)]
            row.append(round(float(np.sqrt(np.mean((np.array(squares) - exact) ** 2))), 5))
        rows.append([name, *row])
    return _measured(["", *(f"n = {n}" for n in lengths)], rows, repeats, begin)


def _distance(pair: Any, n_samples: int, n_components: int, seed: int, n_jobs: Any) -> float:
    sampling = GraphSampling(
        k=4,
        n_samples=n_samples,
        feature_map=GaussianMap(n_components, 2.0),
        random_state=seed,
        n_jobs=n_jobs,
    )
    return float(mmd(*sampling.fit_transform(pair)))


def blocks(
    repeats: int = 3,
    n_jobs: int | None = None,
    similarities: tuple[float, ...] = (1.1, 1.5, 3.0),
    sizes: tuple[int, ...] = (3, 4, 5, 6),
) -> dict[str, Any]:
    """Accuracies on two classes of community graphs that differ in the density of communities.

    300 graphs of 60 nodes, 2000 samples, 5000 features; five folds ``repeats`` times, a support
    vector machine with C = 10.
    """
    begin = time.process_time()
    ways = {
        "optical, uniform": ("uniform", OpticalMap(5000)),
        "optical, walk": ("walk", OpticalMap(5000)),
        "match, uniform": ("uniform", MatchMap()),
    }
    rows: list[list[Any]] = []
    for similarity in similarities:
        data = stochastic_block_model_classes(similarity=similarity, random_state=0)
        for name, (sampler, feature_map) in ways.items():
            row = []
            for k in sizes:
                sampling = GraphSampling(
                    k=k,
                    n_samples=2000,
                    sampler=sampler,
                    feature_map=feature_map,
                    random_state=0,
                    n_jobs=n_jobs,
                )
                features = sampling.fit_transform(data.graphs)
                row.append(round(_block_accuracy(features, data.target, repeats), 2))
            rows.append([similarity, name, *row])
    heading = ["similarity", "features, sampler", *(f"k = {k}" for k in sizes)]
    return _measured(heading, rows, repeats, begin)


def _block_accuracy(features: Floats, target: Any, repeats: int) -> float:
    # The scale does not use classes, so it can be computed from all graphs without leakage.
    scaled = features - features.mean(axis=0)
    scaled /= np.maximum(scaled.std(axis=0), 1e-12)
    gram = scaled @ scaled.T
    gram *= len(gram) / np.trace(gram)
    scores = [
        cross_val_score(
            SVC(kernel="precomputed", C=10.0),
            gram,
            target,
            cv=StratifiedKFold(5, shuffle=True, random_state=repeat),
        )
        for repeat in range(repeats)
    ]
    return 100.0 * float(np.mean(scores))
