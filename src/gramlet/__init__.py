"""gramlet: graph kernels and graph embeddings for scikit-learn, exact and fast.

The public names are loaded when first used, so that ``import gramlet`` costs almost nothing.
"""

from __future__ import annotations

from gramlet._version import __version__

# Not from typing: imports should be few until the program handles Ctrl-C.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Public name -> the module that defines it.
_HOMES = {
    "GraphBatch": "gramlet.graphs.batch",
    "as_batch": "gramlet.graphs.conversion.convert",
    "molecules": "gramlet.graphs.molecules.molecules",
    "scaffolds": "gramlet.graphs.molecules.structures",
    "Dataset": "gramlet.files.dataset",
    "read": "gramlet.files.read",
    "write": "gramlet.files.writing",
    "convert": "gramlet.files.writing",
    "from_pandas": "gramlet.files.pandas_frames",
    "read_tu": "gramlet.files.tu.dataset",
    "write_tu": "gramlet.files.tu.write",
    "load_dataset": "gramlet.files.datasets.datasets",
    "list_datasets": "gramlet.files.datasets.catalogue",
    "stochastic_block_model_classes": "gramlet.files.datasets.synthetic",
    "planted_subtrees": "gramlet.files.datasets.synthetic",
    "random_labelled_graphs": "gramlet.files.datasets.synthetic",
    "gram": "gramlet.combine.gram",
    "HashedFeatures": "gramlet.scale.hashed_features",
    "stream": "gramlet.files.stream",
    "FeatureStore": "gramlet.scale.feature_store",
    "HashedLinearModel": "gramlet.scale.linear_model",
    "predict_stream": "gramlet.scale.stream_prediction",
    "list_kernels": "gramlet.kernels.registry",
    "make_kernel": "gramlet.kernels.registry",
    "GraphKernel": "gramlet.kernels.contract.kernel",
    "CountKernel": "gramlet.kernels.contract.count_kernel",
    "Profile": "gramlet.kernels.contract.profile",
    "VertexHistogram": "gramlet.kernels.histograms.label_histograms",
    "EdgeHistogram": "gramlet.kernels.histograms.label_histograms",
    "OptimalAssignment": "gramlet.kernels.histograms.label_histograms",
    "WeisfeilerLehman": "gramlet.kernels.weisfeiler_lehman.subtree",
    "WLOptimalAssignment": "gramlet.kernels.weisfeiler_lehman.subtree",
    "MorganKernel": "gramlet.kernels.weisfeiler_lehman.morgan",
    "DeepGraphKernel": "gramlet.kernels.weisfeiler_lehman.deep",
    "WassersteinWL": "gramlet.kernels.wasserstein.wasserstein_wl",
    "wasserstein": "gramlet.engine.transport.distance",
    "ShortestPath": "gramlet.kernels.paths.shortest_path",
    "GraphHopper": "gramlet.kernels.paths.graph_hopper",
    "CoreKernel": "gramlet.kernels.cores.core_kernel",
    "RandomWalk": "gramlet.kernels.walks.random_walk",
    "MarginalizedKernel": "gramlet.kernels.marginalized",
    "Propagation": "gramlet.kernels.walks.propagation",
    "HadamardCode": "gramlet.kernels.hashing.hadamard_code",
    "NeighborhoodHash": "gramlet.kernels.hashing.neighborhood_hash",
    "NSPDK": "gramlet.kernels.neighbourhoods.nspdk",
    "ODDSTh": "gramlet.kernels.neighbourhoods.odd_sth",
    "SubgraphMatching": "gramlet.kernels.neighbourhoods.subgraph_matching",
    "PyramidMatch": "gramlet.kernels.spectral.pyramid_match",
    "GeometricAssignment": "gramlet.kernels.spectral.geometric_assignment",
    "SVMTheta": "gramlet.kernels.spectral.svm_theta",
    "earth_movers_distance": "gramlet.kernels.spectral.earth_mover",
    "EMDKernel": "gramlet.kernels.spectral.earth_mover",
    "RandomGraphEmbedding": "gramlet.embeddings.random_graph_embedding",
    "NetLSD": "gramlet.embeddings.spectral_signatures",
    "FGSD": "gramlet.embeddings.spectral_signatures",
    "SpectralFeatures": "gramlet.embeddings.spectral_signatures",
    "LocalDegreeProfile": "gramlet.embeddings.degree_profile",
    "MolecularDescriptors": "gramlet.embeddings.molecular_descriptors",
    "EmbeddingKernel": "gramlet.kernels.composite.embedding_kernel",
    "RConvolution": "gramlet.kernels.histograms.rconvolution",
    "KernelSum": "gramlet.kernels.composite.sums",
    "KernelProduct": "gramlet.kernels.composite.sums",
    "AlignedKernelSum": "gramlet.combine.alignment",
    "KernelDistance": "gramlet.combine.distance",
    "similarity": "gramlet.combine.distance",
    "GraphNystroem": "gramlet.combine.nystroem",
    "graph_hashes": "gramlet.combine.duplicates",
    "find_duplicates": "gramlet.combine.duplicates",
    "GraphNeighbors": "gramlet.combine.neighbours",
    "GraphKernelGP": "gramlet.combine.gaussian_process",
    "FeatureMap": "gramlet.combine.feature_map",
    "KernelMap": "gramlet.combine.kernel_map",
    "write_report": "gramlet.report",
    "plot_map": "gramlet.plotting",
    "explain_linear": "gramlet.explain",
    "explain_model": "gramlet.explain",
    "plot_patterns": "gramlet.plotting",
    "plot_graph_importance": "gramlet.plotting",
    "WeightedWassersteinWL": "gramlet.kernels.wasserstein.weighted",
    "LaplacianKernel": "gramlet.kernels.laplacian.laplacian",
    "FeatureLaplacian": "gramlet.kernels.laplacian.laplacian",
    "MultiscaleLaplacian": "gramlet.kernels.laplacian.multiscale",
    "GraphletKernel": "gramlet.kernels.graphlets.graphlet",
    "GraphSampling": "gramlet.embeddings.graph_sampling",
    "UniformSampler": "gramlet.embeddings.samplers",
    "RandomWalkSampler": "gramlet.embeddings.samplers",
    "MatchMap": "gramlet.embeddings.feature_maps",
    "GaussianMap": "gramlet.embeddings.feature_maps",
    "EigenGaussianMap": "gramlet.embeddings.feature_maps",
    "OpticalMap": "gramlet.embeddings.optical_map",
    "mean_kernel": "gramlet.discrepancy.mean_kernel",
    "mmd": "gramlet.discrepancy.mean_kernel",
    "mmd_test": "gramlet.discrepancy.two_sample",
    "GraphClassifier": "gramlet.models.estimators",
    "GraphRegressor": "gramlet.models.estimators",
    "save": "gramlet.persistence",
    "load": "gramlet.persistence",
    "evaluate": "gramlet.evaluation.run",
    "Result": "gramlet.evaluation.result",
    "Protocol": "gramlet.evaluation.protocol",
    "compare_results": "gramlet.evaluation.significance",
    "plot_critical_differences": "gramlet.plotting",
}

# Modules of functions, public as modules.
_MODULES = ("paths", "theory")

__all__ = ["__version__", *_HOMES, *_MODULES]


def _module(name: str) -> Any:
    from importlib import import_module

    return import_module(name)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return _module(f"gramlet.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'gramlet' has no attribute {name!r}")
    value = getattr(_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
