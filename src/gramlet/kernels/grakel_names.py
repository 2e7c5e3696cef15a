"""GraKeL's names of kernels, for users of GraKeL.

The row of the registry for each name, and the message for the kernel that is not offered. GraKeL's
names are case-sensitive, and so is this table; no name has a different meaning here. Other
differences are on the page "Coming from GraKeL".
"""

from __future__ import annotations

PAGE = "the page 'Coming from GraKeL' of the documentation"

# GraKeL's name or alias -> the name of our row.
GRAKEL_NAMES = {
    "vertex_histogram": "vertex",
    "subtree_wl": "vertex",
    "VH": "vertex",
    "ST-WL": "vertex",
    "edge_histogram": "edge",
    "EH": "edge",
    "random_walk": "rw",
    "RW": "rw",
    "shortest_path": "sp",
    "SP": "sp",
    "graphlet_sampling": "graphlet",
    "GR": "graphlet",
    "subgraph_matching": "subgraph-matching",
    "SM": "subgraph-matching",
    "multiscale_laplacian": "mlg",
    "ML": "mlg",
    "svm_theta": "svm-theta",
    "SVMT": "svm-theta",
    "neighborhood_hash": "neighborhood-hash",
    "NH": "neighborhood-hash",
    "neighborhood_subgraph_pairwise_distance": "nspdk",
    "NSPD": "nspdk",
    "odd_sth": "odd-sth",
    "ODD": "odd-sth",
    "PR": "propagation",  # its long name, "propagation", is the same here
    "pyramid_match": "pyramid-match",
    "PM": "pyramid-match",
    "graph_hopper": "graph-hopper",
    "GH": "graph-hopper",
    "weisfeiler_lehman_optimal_assignment": "wl-oa",
    "WL-OA": "wl-oa",
    "weisfeiler_lehman": "wl",
    "WL": "wl",
    "hadamard_code": "hadamard",
    "HC": "hadamard",
    "core_framework": "core",
    "CORE": "core",
}

# GraKeL's names of parameters that are not used here.
GRAKEL_PARAMETERS = frozenset(
    {
        "L",
        "M",
        "P",
        "R",
        "T",
        "algorithm_type",
        "as_attributes",
        "base_graph_kernel",
        "bits",
        "d",
        "h",
        "heta",
        "k",
        "ke",
        "kernel_type",
        "kv",
        "lamda",
        "lw",
        "max_dim",
        "method_type",
        "metric",
        "n_samples",
        "nh_type",
        "p",
        "r",
        "sampling",
        "sparse",
        "subsets_size_range",
        "t_max",
        "w",
        "with_attributes",
        "with_labels",
    }
)

_NOT_OFFERED = frozenset({"lovasz_theta", "LOVT"})


def not_offered(name: str) -> str | None:
    """Why a kernel of GraKeL is not offered, and the nearest one; None for other names.

    >>> not_offered("LOVT").endswith("see the page 'Coming from GraKeL' of the documentation.")
    True
    >>> not_offered("SP") is None
    True
    """
    if name not in _NOT_OFFERED:
        return None
    return (
        "The Lovász-θ kernel is not offered: its value depends on which of many optimal "
        f"representations a solver returns. The nearest kernel is 'svm-theta'; see {PAGE}."
    )
