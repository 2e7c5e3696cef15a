"""How well does a molecule pass the blood-brain barrier? Regression with error bars.

The targets are measured logBB values of the B3DB data set. A Gaussian process on the marginalised
kernel predicts each value with an error bar; its parameters are chosen by marginal likelihood with
exact derivatives. It is compared with kernel ridge regression on Weisfeiler-Lehman features. The
results of a few random splits are stored in ``benchmarks/papers/results/logbb.json``, from
which the results page is made.

    python examples/logbb_regression.py [--molecules 300] [--splits 3] [--output FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

import gramlet
from gramlet.common.safe_writing import writing

OUTPUT = Path(__file__).parents[1] / "benchmarks" / "papers" / "results" / "logbb.json"
# Marginal likelihood is maximised on this many molecules; the process is fitted on all.
N_TUNE = 100


def gaussian_process(graphs: gramlet.GraphBatch, y: np.ndarray) -> GaussianProcessRegressor:
    """Tune the kernel on some of the molecules, then fit on all."""
    kernel = gramlet.MarginalizedKernel(stop=0.1, node_floor=0.2, edge_floor=0.5, normalize=True)
    bounds = {"stop": (0.01, 0.9), "node_floor": (1e-3, 0.9), "edge_floor": (1e-3, 0.99)}
    product = ConstantKernel(1.0, (1e-2, 1e4)) * gramlet.GraphKernelGP(kernel, bounds)
    noisy = product + WhiteKernel(0.3, (1e-3, 10.0))
    tuned = GaussianProcessRegressor(noisy, normalize_y=True).fit(graphs[:N_TUNE], y[:N_TUNE])
    return GaussianProcessRegressor(tuned.kernel_, optimizer=None, normalize_y=True).fit(graphs, y)


def ridge_search() -> GridSearchCV:
    """Kernel ridge regression on subtree patterns, with options chosen by cross-validation."""
    wl = gramlet.WeisfeilerLehman(normalize=True)
    ridge = make_pipeline(wl, KernelRidge(kernel="precomputed"))
    grid = {"weisfeilerlehman__n_iter": [1, 2, 3], "kernelridge__alpha": [0.03, 0.1, 0.3, 1.0]}
    return GridSearchCV(ridge, grid, scoring="neg_root_mean_squared_error")


def coverage(y: np.ndarray, mean: np.ndarray, deviation: np.ndarray, width: float = 1.96) -> float:
    """The share of values within the error bars: 95 % if the error bars are right."""
    return float((np.abs(y - mean) <= width * deviation).mean())


def error_of(y: np.ndarray, guess: np.ndarray) -> float:
    """The root mean squared error."""
    return float(np.sqrt(np.mean((guess - y) ** 2)))


def one_split(X: gramlet.GraphBatch, y: np.ndarray, seed: int) -> dict[str, Any]:
    """Both models, fitted on three quarters of the molecules and tested on the rest."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.25, random_state=seed)
    begun = time.process_time()
    process = gaussian_process(X[train], y[train])
    mean, deviation = process.predict(X[test], return_std=True)
    process_seconds = time.process_time() - begun
    begun = time.process_time()
    centre = y[train].mean()
    search = ridge_search().fit(X[train], y[train] - centre)
    guess = search.predict(X[test]) + centre
    return {
        "split": seed,
        "process_rmse": error_of(y[test], mean),
        "coverage": coverage(y[test], mean, deviation),
        "process_seconds": process_seconds,
        "tuned": str(process.kernel_),
        "ridge_rmse": error_of(y[test], guess),
        "ridge_seconds": time.process_time() - begun,
        "chosen": {key: float(value) for key, value in search.best_params_.items()},
        "mean_rmse": error_of(y[test], np.full(len(test), centre)),
        "measured": y[test].tolist(),
        "predicted": mean.tolist(),
        "deviation": deviation.tolist(),
        "ridge": guess.tolist(),
    }


def _told(found: dict[str, Any]) -> str:
    return (
        f"split {found['split']}, tuned: {found['tuned']}\n"
        f"  Gaussian process, marginalised kernel: RMSE {found['process_rmse']:.3f}, within the "
        f"95 % error bars: {found['coverage']:.0%}\n"
        f"  kernel ridge, Weisfeiler-Lehman: RMSE {found['ridge_rmse']:.3f}\n"
        f"  the mean alone: RMSE {found['mean_rmse']:.3f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--molecules", type=int, default=300)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    given = parser.parse_args()
    data = gramlet.load_dataset("B3DB-logBB")
    chosen = np.random.default_rng(0).permutation(len(data.graphs))[: given.molecules]
    X, y = data.graphs[chosen], np.asarray(data.target, dtype=float)[chosen]
    document: dict[str, Any] = {
        "gramlet": gramlet.__version__,
        "n_molecules": len(y),
        "n_tuned": N_TUNE,
        "splits": [],
    }
    for seed in range(given.splits):
        document["splits"].append(one_split(X, y, seed))
        print(_told(document["splits"][-1]), flush=True)
        with writing(given.output) as place:
            place.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"Written to {given.output}")


if __name__ == "__main__":
    main()
