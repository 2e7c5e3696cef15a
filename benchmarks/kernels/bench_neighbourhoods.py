"""Kernels on neighbourhoods and hashes compared with GraKeL.

GraKeL's NSPDK changes when nodes are renumbered, and its ODD-STh depends on the order of the
graphs. gramlet's therefore have no peer: only their time and its growth with the number of graphs
are measured.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from benchmarks.cases import Case, Growth, register
from benchmarks.data import Source, random_batch, to_grakel
from benchmarks.kernels.bench_wl import Both, both, gram, needs_grakel
from gramlet import (
    NSPDK,
    GraphBatch,
    HadamardCode,
    NeighborhoodHash,
    ODDSTh,
    SubgraphMatching,
)


def grakel_matching(data: Both) -> Any:
    from grakel import SubgraphMatching as Peer

    return Peer(k=3).fit_transform(data.peer)


def grakel_hadamard(data: Both) -> Any:
    from grakel import HadamardCode as Peer

    # GraKeL counts levels, not rounds.
    return Peer(n_iter=5).fit_transform(data.peer)


class Coded(NamedTuple):
    """The same graphs and the same codes of labels for both sides."""

    ours: GraphBatch
    peer: list[Any]
    codes: dict[Any, int]


def coded(source: Source, n_graphs: int | None = None) -> Coded:
    """Graphs of NCI1 with the codes that GraKeL draws (they cannot be passed to it)."""
    from grakel import NeighborhoodHash as Peer

    batch = source.load("NCI1", n_graphs)
    graphs = to_grakel(batch)
    drawn = Peer(R=1, bits=16, random_state=0).fit(graphs)._labels_hash_dict
    return Coded(batch, graphs, {label: int(code) for label, code in drawn.items()})


def hashes(data: Coded, kind: str) -> Any:
    return NeighborhoodHash(kind=kind, n_bits=16, codes=data.codes).fit_transform(data.ours)


def grakel_hashes(data: Coded, kind: str) -> Any:
    from grakel import NeighborhoodHash as Peer

    return Peer(R=3, nh_type=kind, bits=16, random_state=0).fit_transform(data.peer)


register(
    Case(
        "subgraph-matching",
        "Gram matrix of SubgraphMatching(size=3), 20 graphs of MUTAG",
        partial(both, name="MUTAG", n_graphs=20),
        partial(gram, SubgraphMatching),
        grakel_matching,
        "GraKeL",
        needs=needs_grakel,
        target_ratio=200.0,
    )
)
register(
    Case(
        "subgraph-matching-mutag",
        "Gram matrix of SubgraphMatching(size=3), MUTAG",
        partial(both, name="MUTAG"),
        partial(gram, SubgraphMatching),
        target_seconds=1.0,
    )
)
register(
    Case(
        "hadamard",
        "Gram matrix of HadamardCode(n_iter=4), NCI1",
        both,
        partial(gram, HadamardCode),
        grakel_hadamard,
        "GraKeL",
        needs=needs_grakel,
        target_ratio=10.0,
    )
)
for kind, peer_kind in (("simple", "simple"), ("count", "count_sensitive")):
    register(
        Case(
            f"neighborhood-hash-{kind}",
            f'Gram matrix of NeighborhoodHash(kind="{kind}"), 1,000 graphs of NCI1',
            partial(coded, n_graphs=1000),
            partial(hashes, kind=kind),
            partial(grakel_hashes, kind=peer_kind),
            "GraKeL",
            needs=needs_grakel,
            target_ratio=10.0,
        )
    )
for name, kernel in (("nspdk", NSPDK), ("odd-sth", ODDSTh)):
    for data, seconds in (("MUTAG", 0.3), ("NCI1", 15.0)):
        register(
            Case(
                f"{name}-{data.lower()}",
                f"Gram matrix of {kernel.__name__}, {data}",
                partial(both, name=data),
                partial(gram, kernel),
                target_seconds=seconds,
            )
        )
    register(
        Growth(
            f"{name}-growth",
            f"Features of {kernel.__name__} on random graphs of 30 nodes and 35 edges",
            (500, 1000, 2000, 4000),
            partial(random_batch, n_nodes=30, n_edges=35),
            lambda batch, kernel=kernel: kernel().fit(batch).features(batch),
            len,
            "graphs",
            target_exponent=1.15,
        )
    )
