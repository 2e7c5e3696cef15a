"""The data of the benchmarks, and their conversion to the formats of other packages."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gramlet import GraphBatch, load_dataset

# Kernels that need node attributes: they get random ones.
WITH_ATTRIBUTES = ("wwl-attr",)


def default_folder() -> str | None:
    """``GRAMLET_DATA``, or the folder ``shared/data`` beside the repository, if there is one."""
    if os.environ.get("GRAMLET_DATA"):
        return os.environ["GRAMLET_DATA"]
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return str(beside) if beside.is_dir() else None


@dataclass(frozen=True)
class Source:
    """Where data come from, and how many graphs are used.

    Attributes
    ----------
    folder : str or None
        A folder of TU data sets; if None, only MUTAG, the cache and the network are used.
    quick : bool
        Use MUTAG instead of the data set of a case.
    n_graphs : int or None
        The number of graphs, instead of that of a case.
    """

    folder: str | None = None
    quick: bool = False
    n_graphs: int | None = None

    def load(self, name: str, n_graphs: int | None = None) -> GraphBatch:
        """The graphs of a data set, or a random sample of them (the same at every call)."""
        graphs = load_dataset("MUTAG" if self.quick else name, data_home=self.folder).graphs
        wanted = self.n_graphs or n_graphs
        if wanted is None or wanted >= len(graphs):
            return graphs
        chosen = np.random.default_rng(0).permutation(len(graphs))[:wanted]
        return graphs[np.sort(chosen)]


def sample(data: str, n_graphs: int, with_attributes: bool) -> tuple[GraphBatch, Any]:
    """A sample of a data set without edge labels, and its classes."""
    whole = load_dataset(data, data_home=default_folder())
    chosen = np.sort(np.random.default_rng(0).permutation(len(whole.graphs))[:n_graphs])
    graphs = whole.graphs[chosen]
    tails, heads = graphs.arcs()
    once = tails < heads
    attributes = np.random.default_rng(1).normal(size=(graphs.n_nodes_total, 2))
    batch = GraphBatch.from_arcs(
        graphs.node_offsets,
        tails[once],
        heads[once],
        node_labels=graphs.node_labels,
        node_attributes=attributes if with_attributes else None,
    )
    return batch, np.asarray(whole.target)[chosen]


def to_grakel(batch: GraphBatch, edge_codes: Any = None) -> list[list[Any]]:
    """The graphs in GraKeL's format: neighbours, node labels and edge labels, each a dict.

    Neighbours are dicts of dicts. From a set of edges, which its loader returns, GraKeL would lose
    nodes without edges. ``edge_codes``: one label per arc, used instead of the batch's edge labels.
    """
    labels = [0] * batch.n_nodes_total if batch.node_labels is None else list(batch.node_labels)
    codes = edge_codes
    if codes is None and batch.edge_labels is not None:
        codes = list(batch.edge_labels)
    graphs = []
    for first, last in zip(batch.node_offsets[:-1], batch.node_offsets[1:], strict=True):
        neighbours = {
            node: dict.fromkeys((batch.indices[begin:end] - first).tolist(), 1.0)
            for node, (begin, end) in enumerate(
                zip(batch.indptr[first:last], batch.indptr[first + 1 : last + 1], strict=True)
            )
        }
        arcs = [(tail, head) for tail, around in neighbours.items() for head in around]
        begin, end = batch.indptr[first], batch.indptr[last]
        edges = {} if codes is None else dict(zip(arcs, codes[begin:end], strict=True))
        graphs.append([neighbours, dict(enumerate(labels[first:last])), edges])
    return graphs


def to_igraph(batch: GraphBatch) -> list[Any]:
    """The graphs as igraph graphs with the vertex attribute ``label``."""
    import igraph

    graphs = []
    for graph in batch:
        tails, heads = graph.arcs()
        once = tails < heads
        edges = np.column_stack([tails[once], heads[once]]).tolist()
        vertices = {"label": list(graph.node_labels or [0] * graph.n_nodes_total)}
        graphs.append(igraph.Graph(n=graph.n_nodes_total, edges=edges, vertex_attrs=vertices))
    return graphs


def random_batch(
    n_graphs: int, n_nodes: int, n_edges: int, n_labels: int = 5, seed: int = 0
) -> GraphBatch:
    """Uniformly random graphs with the given number of edges, minus repeats and self-loops."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(n_nodes, size=(n_graphs, n_edges, 2))
    return GraphBatch.from_edges(
        [part[part[:, 0] != part[:, 1]] for part in edges],
        n_nodes=[n_nodes] * n_graphs,
        node_labels=rng.integers(n_labels, size=(n_graphs, n_nodes)),
    )
