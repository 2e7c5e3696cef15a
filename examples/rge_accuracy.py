"""Accuracies of the random graph embedding, beside the published ones.

10-fold cross-validation repeated ten times; gamma, max_nodes and C are chosen inside each training
part. The random graphs are drawn once, to the label frequencies and the largest coordinate of all
graphs; ``--refit`` draws them in each training part, which takes many times longer. Hours for the
larger sets: ``--repeats 1 --few`` gives a first impression. Features vary little around their mean,
so that large values of C have to be among those to choose from.

    python examples/rge_accuracy.py PTC_MR IMDB-BINARY --data-dir FOLDER
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import gramlet

# Wu et al. 2018, tables 1 and 2: accuracy and standard deviation over repeats, in percent.
PUBLISHED = {
    "PTC_MR": "61.5 ± 2.34",
    "ENZYMES": "48.27 ± 0.99",
    "PROTEINS": "75.98 ± 0.71",
    "NCI1": "76.46 ± 0.45",
    "IMDB-BINARY": "71.48 ± 1.01",
    "IMDB-MULTI": "47.26 ± 0.89",
}
ALL = {"gamma": [1e-3, 1e-2, 1e-1, 1.0, 10.0], "max_nodes": list(range(3, 31, 3))}
FEW = {"gamma": [1e-1, 1.0, 10.0], "max_nodes": [3, 15, 30]}


def accuracy(name: str, chosen: argparse.Namespace) -> tuple[Any, float]:
    """The result on one data set, and the seconds it took."""
    data = gramlet.load_dataset(name, data_home=chosen.data_dir)
    embedding = gramlet.RandomGraphEmbedding(
        n_components=chosen.components, anchors=chosen.anchors, random_state=0
    )
    protocol = gramlet.Protocol(
        folds=10, repeats=chosen.repeats, inner_folds=chosen.inner_folds, C=chosen.costs
    )
    begin = time.perf_counter()
    result = gramlet.evaluate(
        embedding, data.graphs, data.target, protocol,
        options=FEW if chosen.few else ALL, name="rge", dataset=name,
        fit_once=not chosen.refit, n_jobs=chosen.jobs,
    )  # fmt: skip
    return result, time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", default=list(PUBLISHED))
    parser.add_argument("--data-dir", default=None, help="folder of TU data sets")
    parser.add_argument("--components", type=int, default=512, help="random graphs R")
    parser.add_argument("--anchors", default="uniform", choices=["uniform", "gaussian", "data"])
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--inner-folds", type=int, default=5)
    parser.add_argument("--costs", type=float, nargs="+", default=[1.0, 1e2, 1e4, 1e6], metavar="C")
    parser.add_argument("--few", action="store_true", help="fewer values of gamma and max_nodes")
    parser.add_argument("--refit", action="store_true", help="random graphs of each training part")
    parser.add_argument("--save", type=Path, help="folder for the results as JSON")
    parser.add_argument("--jobs", type=int, default=None)
    chosen = parser.parse_args()
    print(f"{'data set':14} {'ours':>16} {'Wu et al.':>16} {'minutes':>8}")
    for name in chosen.datasets:
        result, seconds = accuracy(name, chosen)
        if chosen.save is not None:
            chosen.save.mkdir(parents=True, exist_ok=True)
            place = chosen.save / f"{name}-rge.json"
            place.write_text(result.to_json(indent=1) + "\n", encoding="utf-8")
        spread = result.accuracies.mean(axis=1).std()
        ours = f"{100 * result.mean:.2f} ± {100 * spread:.2f}"
        print(
            f"{name:14} {ours:>16} {PUBLISHED.get(name, '-'):>16} {seconds / 60:8.1f}", flush=True
        )


if __name__ == "__main__":
    main()
