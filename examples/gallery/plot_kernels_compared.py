"""
Gram matrices of four kernels
=============================

Gram matrices of the same molecules for four kernels. Rows are sorted by class, then by size: a
classifier can use blocks on the diagonal.
"""

import matplotlib.pyplot as plt
import numpy as np

import gramlet

mutag = gramlet.load_dataset("MUTAG")
order = np.lexsort([mutag.graphs.sizes, mutag.target])
figure, axes = plt.subplots(1, 4, figsize=(12, 3.2))
for ax, name in zip(axes, ("vertex", "wl", "sp", "graphlet"), strict=True):
    K = gramlet.gram(mutag.graphs[order], name, normalize=True)
    ax.imshow(K, vmin=0, vmax=1)
    ax.set_title(name)
    ax.set_axis_off()
figure.tight_layout()
