"""How well does a molecule pass the blood-brain barrier? Regression with error bars.

Measured logBB of the B3DB data set. A Gaussian process on the marginalised kernel, its parameters
chosen by marginal likelihood with exact derivatives, says how sure it is of each value; kernel
ridge regression on Weisfeiler-Lehman features stands beside it.

    python examples/logbb_regression.py [MOLECULES]
"""

from __future__ import annotations

import sys

import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

import gramlet

# Marginal likelihood is maximised on this many molecules, the process fitted on all.
N_TUNE = 100


def gaussian_process(graphs: gramlet.GraphBatch, y: np.ndarray) -> GaussianProcessRegressor:
    """Tune the kernel on some of the molecules, then fit on all."""
    kernel = gramlet.MarginalizedKernel(stop=0.1, node_floor=0.2, edge_floor=0.5, normalize=True)
    bounds = {"stop": (0.01, 0.9), "node_floor": (1e-3, 0.9), "edge_floor": (1e-3, 0.99)}
    product = ConstantKernel(1.0, (1e-2, 1e4)) * gramlet.GraphKernelGP(kernel, bounds)
    noisy = product + WhiteKernel(0.3, (1e-3, 10.0))
    tuned = GaussianProcessRegressor(noisy, normalize_y=True).fit(graphs[:N_TUNE], y[:N_TUNE])
    return GaussianProcessRegressor(tuned.kernel_, optimizer=None, normalize_y=True).fit(graphs, y)


def coverage(y: np.ndarray, mean: np.ndarray, deviation: np.ndarray, width: float = 1.96) -> float:
    """The share of values within the error bars: 95 % if these tell the truth."""
    return float((np.abs(y - mean) <= width * deviation).mean())


def main(n_molecules: int = 300) -> None:
    data = gramlet.load_dataset("B3DB-logBB")
    chosen = np.random.default_rng(0).permutation(len(data.graphs))[:n_molecules]
    X, y = data.graphs[chosen], np.asarray(data.target, dtype=float)[chosen]
    train, test = train_test_split(np.arange(len(y)), test_size=0.25, random_state=0)

    process = gaussian_process(X[train], y[train])
    mean, deviation = process.predict(X[test], return_std=True)
    error = np.sqrt(np.mean((mean - y[test]) ** 2))
    print(f"tuned: {process.kernel_}")
    print(f"Gaussian process, marginalised kernel: RMSE {error:.3f}")
    print(f"  within the 95 % error bars: {coverage(y[test], mean, deviation):.0%}")

    wl = gramlet.WeisfeilerLehman(normalize=True)
    ridge = make_pipeline(wl, KernelRidge(kernel="precomputed"))
    grid = {"weisfeilerlehman__n_iter": [1, 2, 3], "kernelridge__alpha": [0.03, 0.1, 0.3, 1.0]}
    search = GridSearchCV(ridge, grid, scoring="neg_root_mean_squared_error").fit(
        X[train], y[train] - y[train].mean()
    )
    guess = search.predict(X[test]) + y[train].mean()
    print(f"kernel ridge, Weisfeiler-Lehman: RMSE {np.sqrt(np.mean((guess - y[test]) ** 2)):.3f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
