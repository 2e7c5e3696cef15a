"""Kernels on vectors and strings as sums over paths.

A kernel that multiplies weights along the paths of a graph and adds over all paths costs as much
as the graph has edges, however many features it compares. Functions here take matrices (one row
per example) and give matrices, so each goes into ``SVC(kernel=...)``; two vectors give a float, as
``KernelRidge(kernel=...)`` and ``KernelPCA(kernel=...)`` ask for.
"""

from __future__ import annotations

from gramlet.paths.layers import path_sum
from gramlet.paths.products import ProductKernel, product_kernel
from gramlet.paths.strings import subsequence, subsequence_gram
from gramlet.paths.vectors import all_subsets, anova, linear, polynomial

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
