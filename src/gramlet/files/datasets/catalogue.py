"""The embedded data sets and the well-known ones of the TU collection, with their statistics.

Contains sizes and kinds of labels for choosing a data set, and digests for checking a download.
`datasets` loads the data.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass


@dataclass(frozen=True)
class DatasetFacts:
    """One row of the catalogue: a data set's name and its published statistics.

    Attributes
    ----------
    name, domain : str
    n_graphs, n_classes : int
        0 classes: the target is a real number.
    mean_nodes, mean_edges : float
        Per graph, edges undirected.
    node_labels, edge_labels : bool
    node_attributes : int
        Attributes per node; 0 for none.
    embedded : bool
        Whether it comes with the package.
    """

    name: str
    domain: str
    n_graphs: int
    n_classes: int
    mean_nodes: float
    mean_edges: float
    node_labels: bool
    edge_labels: bool
    node_attributes: int

    @property
    def embedded(self) -> bool:
        return self.name in ("MUTAG", "B3DB", "B3DB-logBB")


# name, graphs, classes, mean nodes, mean edges, labels of (n)odes and (e)dges, node attributes
_TABLES = {
    "small molecules": """
        AIDS             2000    2    15.69    16.20  ne   4
        B3DB             3901    2    24.70    26.63  ne   0
        B3DB-logBB        888    0    21.34    23.00  ne   0
        BZR               405    2    35.75    38.36  n-   3
        COX2              467    2    41.22    43.45  n-   3
        DHFR              756    2    42.43    44.54  n-   3
        FRANKENSTEIN     4337    2    16.90    17.88  --   780
        MCF-7           27770    2    26.39    28.52  ne   0
        MOLT-4          39765    2    26.09    28.13  ne   0
        MUTAG             188    2    17.93    19.79  ne   0
        Mutagenicity     4337    2    30.32    30.77  ne   0
        NCI1             4110    2    29.87    32.30  n-   0
        NCI109           4127    2    29.68    32.13  n-   0
        NCI-H23         40353    2    26.07    28.10  ne   0
        OVCAR-8         40516    2    26.07    28.10  ne   0
        P388            41472    2    22.11    23.55  ne   0
        PC-3            27509    2    26.35    28.49  ne   0
        PTC_FM            349    2    14.11    14.48  ne   0
        PTC_FR            351    2    14.56    15.00  ne   0
        PTC_MM            336    2    13.97    14.32  ne   0
        PTC_MR            344    2    14.29    14.69  ne   0
        SF-295          40271    2    26.06    28.08  ne   0
        SN12C           40004    2    26.08    28.11  ne   0
        SW-620          40532    2    26.05    28.08  ne   0
        UACC257         39988    2    26.09    28.12  ne   0
        Yeast           79601    2    21.54    22.84  ne   0
    """,
    "proteins and brains": """
        DD               1178    2   284.32   715.66  n-   0
        ENZYMES           600    6    32.63    62.14  n-   18
        KKI                83    2    26.96    48.42  n-   0
        OHSU               79    2    82.01   199.66  n-   0
        Peking_1           85    2    39.31    77.35  n-   0
        PROTEINS         1113    2    39.06    72.82  n-   1
        PROTEINS_full    1113    2    39.06    72.82  n-   29
    """,
    "computer vision": """
        COIL-DEL         3900  100    21.54    54.24  -e   2
        COIL-RAG         3900  100     3.01     3.02  --   64
        Letter-high      2250   15     4.67     4.50  --   2
        Letter-low       2250   15     4.68     3.13  --   2
        Letter-med       2250   15     4.67     4.50  --   2
        MSRC_9            221    8    40.58    97.94  n-   0
        MSRC_21           563   20    77.52   198.32  n-   0
        MSRC_21C          209   20    40.28    96.60  n-   0
    """,
    "social networks": """
        COLLAB           5000    3    74.49  2457.78  --   0
        deezer_ego_nets  9629    2    23.49    65.25  --   0
        github_stargazers 12725  2   113.79   234.64  --   0
        IMDB-BINARY      1000    2    19.77    96.53  --   0
        IMDB-MULTI       1500    3    13.00    65.94  --   0
        REDDIT-BINARY    2000    2   429.63   497.75  --   0
        REDDIT-MULTI-5K  4999    5   508.52   594.87  --   0
        REDDIT-MULTI-12K 11929  11   391.41   456.89  --   0
        reddit_threads 203088    2    23.93    24.99  --   0
        twitch_egos    127094    2    29.67    86.59  --   0
    """,
    "synthetic": """
        COLORS-3        10500   11    61.31    91.03  --   4
        SYNTHETIC         300    2   100.00   196.00  --   1
        SYNTHETICnew      300    2   100.00   196.25  --   1
        Synthie           400    4    95.00   172.93  --   15
        TRIANGLES       45000   10    20.85    32.74  --   0
    """,
}

# SHA-256 over the data files themselves (see `download.digest_of`): a repacked archive, or one with
# another README, has the same digest.
_DIGESTS: dict[str, str] = {
    "ENZYMES": "d66f393b12d70fc1aa3d9fa515fbfb46ca4cf770ecb4afe3157c6f8058d6f3b0",
    "IMDB-BINARY": "720d62b21ffd272d1045f9f7e122e1efe8e0826aef27d22e3d3e01a460e06d2c",
    "IMDB-MULTI": "7528004ab96e8233cfe745cc80cd70ebfaacd3758bb9b13c20a6ebb6cd3fe04d",
    "MUTAG": "1e4a1991a079ee50ea89aa20d877877fa06bbde8d7230e4e1f3bd7fc7dd9f2d6",
    "NCI1": "e3c84e4e22e84821670e953d21588d0b9659c3ebeaadff21e89291f149a9bb8d",
    "PROTEINS": "671b83b3fe79f2d3f4d4cd5861aa83b262b68687fa5ad9b58ff7c7425f484d4e",
    "PTC_MR": "59dcf9a0c28544b3309a28e2a0f6cf87cffc779526a48851dc185cf5889e0776",
}


def _row(domain: str, line: str) -> DatasetFacts:
    name, graphs, classes, nodes, edges, labels, attributes = line.split()
    return DatasetFacts(
        name,
        domain,
        int(graphs),
        int(classes),
        float(nodes),
        float(edges),
        "n" in labels,
        "e" in labels,
        int(attributes),
    )


_FACTS = {
    row.name: row
    for domain, table in _TABLES.items()
    for row in (_row(domain, line) for line in table.strip().splitlines())
}


def list_datasets() -> list[DatasetFacts]:
    """The embedded and the well-known data sets of the TU collection, with their statistics.

    :func:`load_dataset` takes these names, and any other name of the collection.

    Examples
    --------
    >>> from gramlet import list_datasets
    >>> [row.name for row in list_datasets() if row.n_graphs < 200 and row.edge_labels]
    ['MUTAG']
    """
    return list(_FACTS.values())


def facts_of(name: str) -> DatasetFacts | None:
    """The catalogue's row for a name, if it has one."""
    return _FACTS.get(name)


def content_digest(name: str) -> str | None:
    """The SHA-256 digest of a data set's files, where it is known."""
    return _DIGESTS.get(name)


def similar_names(name: str) -> list[str]:
    """Names in the catalogue that are similar to ``name``.

    >>> similar_names("mutag")[0]
    'MUTAG'
    """
    folded = {known.lower(): known for known in _FACTS}
    return [folded[m] for m in difflib.get_close_matches(name.lower(), folded, n=3, cutoff=0.7)]
