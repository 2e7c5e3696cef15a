"""Spectral embeddings compared with numpy, graph by graph, as other packages compute them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.cases import Case, register
from benchmarks.data import Source
from gramlet import FGSD, GraphBatch, NetLSD

Floats = NDArray[np.float64]


def data(source: Source) -> tuple[GraphBatch, list[Floats]]:
    """Graphs of NCI1, and their adjacency matrices for the peer."""
    batch = source.load("NCI1", 1000)
    return batch, [batch.adjacency(i) for i in range(len(batch))]


def laplacian(adjacency: Floats) -> Floats:
    degrees = adjacency.sum(axis=1)
    roots = np.sqrt(np.maximum(degrees, 1.0))
    return np.diag((degrees > 0).astype(float)) - adjacency / np.outer(roots, roots)


def netlsd(data: Any) -> Floats:
    return NetLSD().fit_transform(data[0])


def netlsd_in_a_loop(data: Any) -> Floats:
    times = np.logspace(-2, 2, 250)
    spectra = [np.linalg.eigvalsh(laplacian(adjacency)) for adjacency in data[1]]
    return np.array([np.exp(-np.outer(times, values)).sum(axis=1) for values in spectra])


def fgsd(data: Any) -> Floats:
    return FGSD().fit_transform(data[0])


def fgsd_in_a_loop(data: Any) -> Floats:
    rows = []
    for adjacency in data[1]:
        inverse = np.linalg.pinv(laplacian(adjacency), rcond=1e-10, hermitian=True)
        own = np.diagonal(inverse)
        distances = own[:, None] + own[None, :] - 2.0 * inverse
        # As in gramlet: values on the border of two bins belong to the upper one, 20 to the last.
        exact = distances.reshape(-1) * 10.0
        places = np.floor(exact + 1e-9).astype(int)
        places[np.abs(exact - 200.0) <= 1e-9] = 199
        rows.append(np.bincount(places[(places >= 0) & (places < 200)], minlength=200))
    return np.array(rows, dtype=np.float64)


for name, title, ours, peer in (
    ("netlsd", "NetLSD, 250 times, 1000 graphs of NCI1", netlsd, netlsd_in_a_loop),
    ("fgsd", "FGSD, 200 bins, 1000 graphs of NCI1", fgsd, fgsd_in_a_loop),
):
    register(Case(name, title, data, ours, peer, "numpy in a loop"))
