"""
Predictions with error bars
===========================

A Gaussian process on a graph kernel predicts how well molecules pass the blood-brain barrier, with
an error bar for each prediction. The error bars are 95 % intervals.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, WhiteKernel

import gramlet

data = gramlet.load_dataset("B3DB-logBB")
some = np.random.default_rng(1).permutation(len(data.graphs))[:250]
graphs, logbb = data.graphs[some], data.target[some]

kernel = gramlet.GraphKernelGP(gramlet.WLOptimalAssignment(n_iter=2, normalize=True))
process = GaussianProcessRegressor(ConstantKernel() * kernel + WhiteKernel(0.3), normalize_y=True)
process.fit(graphs[:200], logbb[:200])
mean, deviation = process.predict(graphs[200:], return_std=True)

figure, ax = plt.subplots(figsize=(5, 4))
ax.errorbar(logbb[200:], mean, 1.96 * deviation, fmt="o", alpha=0.6)
ax.plot([-2, 1.5], [-2, 1.5], color="grey", linewidth=1)
ax.set(xlabel="measured logBB", ylabel="predicted")
figure.tight_layout()
