"""gramlet: graph kernels and graph embeddings, exact and fast, at home in scikit-learn.

The public names are loaded when first used, so that ``import gramlet`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import Any

from gramlet._version import __version__

# Public name -> the module it lives in.
_HOMES = {
    "GraphBatch": "gramlet.graphs.batch",
    "as_batch": "gramlet.graphs.convert",
    "Dataset": "gramlet.graphs.dataset",
    "read_tu": "gramlet.graphs.tudataset",
    "write_tu": "gramlet.graphs.tudataset",
    "load_dataset": "gramlet.graphs.datasets",
    "list_datasets": "gramlet.graphs.datasets",
    "stochastic_block_model_classes": "gramlet.graphs.synthetic",
    "planted_subtrees": "gramlet.graphs.synthetic",
    "random_labelled_graphs": "gramlet.graphs.synthetic",
    "gram": "gramlet.kernels.function",
    "VertexHistogram": "gramlet.kernels.histogram",
    "EdgeHistogram": "gramlet.kernels.histogram",
    "OptimalAssignment": "gramlet.kernels.histogram",
    "WeisfeilerLehman": "gramlet.kernels.weisfeiler_lehman",
    "WLOptimalAssignment": "gramlet.kernels.weisfeiler_lehman",
    "WassersteinWL": "gramlet.kernels.wasserstein",
    "wasserstein": "gramlet.engine.transport",
    "ShortestPath": "gramlet.kernels.shortest_path",
    "RandomWalk": "gramlet.kernels.random_walk",
    "Propagation": "gramlet.kernels.propagation",
    "PyramidMatch": "gramlet.kernels.pyramid",
    "GeometricAssignment": "gramlet.kernels.geometric_assignment",
    "earth_movers_distance": "gramlet.kernels.earth_mover",
    "EMDKernel": "gramlet.kernels.earth_mover",
    "RandomGraphEmbedding": "gramlet.embeddings.random_graph",
    "RConvolution": "gramlet.kernels.rconvolution",
    "GraphKernelGP": "gramlet.kernels.gaussian_process",
    "FeatureMap": "gramlet.kernels.features",
    "KernelMap": "gramlet.kernels.kernel_map",
    "plot_map": "gramlet.plotting",
    "explain_linear": "gramlet.explain",
    "plot_patterns": "gramlet.plotting",
    "plot_graph_importance": "gramlet.plotting",
    "WeightedWassersteinWL": "gramlet.kernels.weighted_wasserstein",
    "LaplacianKernel": "gramlet.kernels.laplacian",
    "FeatureLaplacian": "gramlet.kernels.laplacian",
    "MultiscaleLaplacian": "gramlet.kernels.multiscale",
    "GraphletKernel": "gramlet.kernels.graphlet",
    "GraphSampling": "gramlet.embeddings.graph_sampling",
    "UniformSampler": "gramlet.embeddings.samplers",
    "RandomWalkSampler": "gramlet.embeddings.samplers",
    "MatchMap": "gramlet.embeddings.match",
    "GaussianMap": "gramlet.embeddings.feature_maps",
    "EigenGaussianMap": "gramlet.embeddings.feature_maps",
    "OpticalMap": "gramlet.embeddings.optical",
    "mean_kernel": "gramlet.kernels.mean_kernel",
    "mmd": "gramlet.kernels.mean_kernel",
    "mmd_test": "gramlet.kernels.two_sample",
    "save": "gramlet.persistence",
    "load": "gramlet.persistence",
    "evaluate": "gramlet.evaluation.run",
    "Protocol": "gramlet.evaluation.protocol",
    "compare_results": "gramlet.evaluation.significance",
}

# Modules of functions, public as modules.
_MODULES = ("paths", "theory")

__all__ = ["__version__", *_HOMES, *_MODULES]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"gramlet.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'gramlet' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
