"""Kernels on vectors and strings as sums over paths.

The cost of a kernel that multiplies weights along the paths of a graph and sums over all paths is
proportional to the number of edges, for any number of features. The functions take matrices (one
row per example) and return matrices, for ``SVC(kernel=...)``; for two vectors they return a float,
for ``KernelRidge(kernel=...)`` and ``KernelPCA(kernel=...)``.
"""

from __future__ import annotations

from gramlet.paths.products import ProductKernel, product_kernel
from gramlet.paths.strings import subsequence, subsequence_gram
from gramlet.paths.vectors import all_subsets, anova, linear, path_sum, polynomial

__all__ = [
    "linear",
    "polynomial",
    "all_subsets",
    "anova",
    "product_kernel",
    "ProductKernel",
    "subsequence",
    "subsequence_gram",
    "path_sum",
]
