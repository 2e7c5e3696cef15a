"""Accuracies of the random graph embedding, compared with the published ones.

10-fold cross-validation repeated ten times. All fifty published settings of gamma and max_nodes are
compared inside each training part, by the leave-one-out accuracy of regularised least squares,
which has a closed form. A support vector machine is fitted to the features of the best setting,
scaled by one number of the training part; its C is chosen by five inner folds. The random graphs
are drawn once, from the label frequencies and the largest coordinate of all graphs.

    python examples/rge_accuracy.py PTC_MR IMDB-BINARY --data-dir FOLDER
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.svm import SVC

import gramlet
from gramlet.evaluation.machines import Block, machine_of
from gramlet.evaluation.splits import Split
from gramlet.evaluation.task import target_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Wu et al. 2018, tables 1 and 2: accuracy and standard deviation over repeats, in percent.
PUBLISHED = {
    "PTC_MR": "61.5 ± 2.34",
    "ENZYMES": "48.27 ± 0.99",
    "PROTEINS": "75.98 ± 0.71",
    "NCI1": "76.46 ± 0.45",
    "IMDB-BINARY": "71.48 ± 1.01",
    "IMDB-MULTI": "47.26 ± 0.89",
}
GAMMAS = (1e-3, 1e-2, 1e-1, 1.0, 10.0)
MAX_NODES = tuple(range(3, 31, 3))
RIDGES = 10.0 ** np.arange(-10, 2)  # for features with a mean square of one
MOST_STEPS = 200_000  # of a support vector machine while C is chosen

Setting = tuple[float, int]  # gamma, max_nodes
Distances = dict[int, Floats]  # to the random graphs, by max_nodes


def distances(graphs: gramlet.GraphBatch, chosen: argparse.Namespace) -> Distances:
    """Distances from all graphs to the random graphs of each size; gamma is applied later."""
    found = {}
    for max_nodes in MAX_NODES:
        embedding = gramlet.RandomGraphEmbedding(
            n_components=chosen.components,
            anchors=chosen.anchors,
            max_nodes=max_nodes,
            random_state=0,
            n_jobs=chosen.jobs,
        )
        found[max_nodes] = embedding.fit(graphs).distance(graphs)
    return found


def features(found: Distances, setting: Setting, train: Ints) -> Floats:
    """Features of all graphs, centred and scaled to a mean square of one over the training part.

    Neither changes which classes a support vector machine can separate; scaling makes values of C
    comparable between settings.
    """
    gamma, max_nodes = setting
    table = np.exp(-gamma * found[max_nodes])
    table -= table[train].mean(axis=0)
    spread = np.sqrt(np.einsum("ij,ij->", table[train], table[train]) / len(train))
    return table / spread if spread > 0 else table


def leave_one_out(table: Floats, codes: Ints) -> Floats:
    """Accuracy of least squares on one-hot classes, each row left out in turn, for each ridge.

    Without row i its error is r_i / (1 - h_i), with r the errors and h the diagonal of the hat
    matrix of all rows. For a small ridge both are small, and computed as such.
    """
    n, d = table.shape
    values, vectors = eigh(table.T @ table if d <= n else table @ table.T, driver="evd")
    kept = values > 1e-12 * values[-1]
    values, vectors = values[kept], vectors[:, kept]
    left = table @ vectors / np.sqrt(values) if d <= n else vectors
    wanted = np.eye(codes.max() + 1)[codes]
    coordinates, squares = left.T @ wanted, left * left
    # The residuals for a ridge of 0: zero if there are as many features as rows.
    over = np.zeros_like(wanted), np.zeros(n)
    if len(values) < n - 1:
        over = wanted - wanted.mean(axis=0) - left @ coordinates, 1 - 1 / n - squares.sum(axis=1)
    accuracies = np.empty(len(RIDGES))
    for k, ridge in enumerate(RIDGES):
        lost = ridge / (values + ridge)
        errors = over[0] + left @ (lost[:, np.newaxis] * coordinates)
        out = wanted - errors / (over[1] + squares @ lost)[:, np.newaxis]
        accuracies[k] = np.mean(out.argmax(axis=1) == codes)
    return accuracies


def test(
    found: Distances, codes: Ints, split: Split, costs: Floats
) -> tuple[float, Setting, float]:
    """Accuracy on the test part, and gamma, max_nodes and C as chosen without it."""
    train = split.train
    settings = [(gamma, max_nodes) for max_nodes in MAX_NODES for gamma in GAMMAS]
    scores = [
        leave_one_out(features(found, setting, train)[train], codes[train]).max()
        for setting in settings
    ]
    setting = settings[int(np.argmax(scores))]
    table = features(found, setting, train)
    gram = table @ table.T
    rules = gramlet.Protocol(C=tuple(costs), max_iter=MOST_STEPS)
    machine = machine_of("svc", target_of(codes, len(codes), "classification"), rules)
    right = np.zeros(len(costs), dtype=np.int64)
    for part, held in split.inner:
        block, cross = gram[np.ix_(part, part)], gram[np.ix_(held, part)]
        predicted = machine.predict_grid(Block(block, cross), codes[part]).values
        right += np.count_nonzero(predicted == codes[held], axis=1)
    cost = float(costs[right.argmax()])
    final = SVC(kernel="precomputed", C=cost).fit(gram[np.ix_(train, train)], codes[train])
    predicted = final.predict(gram[np.ix_(split.test, train)])
    return float(np.mean(predicted == codes[split.test])), setting, cost


def results(name: str, chosen: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Accuracies on one data set, the chosen settings, and the seconds, after each repeat."""
    begin = time.perf_counter()
    data = gramlet.load_dataset(name, data_home=chosen.data_dir)
    target = target_of(data.target, len(data.graphs), "classification")
    codes, classes = target.values, target.classes
    found = distances(data.graphs, chosen)
    embedding = time.perf_counter() - begin
    protocol = gramlet.Protocol(folds=10, repeats=chosen.repeats, inner_folds=5)
    costs = np.array(chosen.costs)
    runs = []
    for split in protocol.splits(codes, classes):
        runs.append(test(found, codes, split, costs))
        if len(runs) % protocol.folds:
            continue
        table = np.array([run[0] for run in runs]).reshape(-1, protocol.folds)
        yield {
            "data": name,
            "components": chosen.components,
            "anchors": chosen.anchors,
            "mean": float(table.mean()),
            "std": float(table.mean(axis=1).std()),
            "accuracies": table.tolist(),
            "chosen": counted([run[1] for run in runs]),
            "costs": counted([run[2] for run in runs]),
            "embedding_seconds": embedding,
            "seconds": time.perf_counter() - begin,
        }


def counted(values: list[Any]) -> list[tuple[Any, int]]:
    """Each distinct value with its count, the most frequent first."""
    return Counter(values).most_common()


def save(result: dict[str, Any], folder: Path) -> None:
    """Write the results as JSON, replacing those of an earlier repeat."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{result['data']}-{result['anchors']}-{result['components']}.json"
    beside = place.with_suffix(".part")
    beside.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    beside.replace(place)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=list(PUBLISHED))
    parser.add_argument("--data-dir", default=None, help="folder of TU data sets")
    parser.add_argument("--components", type=int, default=512, help="random graphs R")
    parser.add_argument("--anchors", default="uniform", choices=["uniform", "gaussian", "data"])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument(
        "--costs",
        type=float,
        nargs="+",
        default=[0.1, 1.0, 10.0, 100.0, 1000.0],
        metavar="C",
        help="values of C, ascending, for features with a mean square of one",
    )
    parser.add_argument("--save", type=Path, help="folder for the results as JSON")
    parser.add_argument("--jobs", type=int, default=None)
    chosen = parser.parse_args()
    head = f"{'data set':14} {'repeats':>7} {'ours':>16} {'Wu et al.':>16} {'minutes':>8}"
    print(head, flush=True)
    for name in chosen.datasets:
        for result in results(name, chosen):
            if chosen.save is not None:
                save(result, chosen.save)
            ours = f"{100 * result['mean']:.2f} ± {100 * result['std']:.2f}"
            published, minutes = PUBLISHED.get(name, "-"), result["seconds"] / 60
            repeats = len(result["accuracies"])
            line = f"{name:14} {repeats:7} {ours:>16} {published:>16} {minutes:8.1f}"
            print(line, flush=True)


if __name__ == "__main__":
    main()
