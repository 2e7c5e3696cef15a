"""The networks in PyTorch and their training: a graph isomorphism network, and one without edges.

Imported only when a network is trained or used. One network is trained at a time, on one thread,
with its own random numbers: the same seed always gives the same network.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch_geometric.nn import GINConv, global_add_pool

from gramlet.common.arrays import Floats, Ints
from gramlet.graphs.batch import GraphBatch

_LOCK = threading.Lock()


class _Norm(nn.BatchNorm1d):
    """Batch normalisation that uses its running statistics for a single row, or none."""

    def forward(self, rows: Tensor) -> Tensor:
        if self.training and len(rows) < 2:
            return nn.functional.batch_norm(
                rows, self.running_mean, self.running_var, self.weight, self.bias, False
            )
        return super().forward(rows)


def _perceptron(n_inputs: int, n_hidden: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(n_inputs, n_hidden), _Norm(n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_hidden)
    )


class GraphIsomorphismNetwork(nn.Module):
    """Sums over neighbours and perceptrons, layer by layer; every layer has its own readout."""

    def __init__(
        self, n_inputs: int, n_classes: int, n_hidden: int, n_layers: int, dropout: float
    ) -> None:
        super().__init__()
        widths = [n_inputs] + [n_hidden] * n_layers
        self.layers = nn.ModuleList(
            GINConv(_perceptron(width, n_hidden), train_eps=True) for width in widths[:-1]
        )
        self.norms = nn.ModuleList(_Norm(n_hidden) for _ in range(n_layers))
        self.readouts = nn.ModuleList(nn.Linear(width, n_classes) for width in widths)
        self.dropout = nn.Dropout(dropout)

    def forward(self, rows: Tensor, edges: Tensor, of_graph: Tensor, n_graphs: int) -> Tensor:
        """Values of the classes, one row per graph."""
        values = self.readouts[0](global_add_pool(rows, of_graph, n_graphs))
        for layer, norm, readout in zip(self.layers, self.norms, self.readouts[1:], strict=True):
            if len(rows):
                rows = torch.relu(norm(layer(rows, edges)))
            else:
                rows = rows.new_zeros((0, readout.in_features))
            values = values + self.dropout(readout(global_add_pool(rows, of_graph, n_graphs)))
        return values


class DeepSets(nn.Module):
    """A perceptron on each node, their sum, and a perceptron on the sum; edges are ignored."""

    def __init__(
        self, n_inputs: int, n_classes: int, n_hidden: int, n_layers: int, dropout: float
    ) -> None:
        super().__init__()
        parts: list[nn.Module] = []
        for width in [n_inputs] + [n_hidden] * (n_layers - 1):
            parts += [nn.Linear(width, n_hidden), nn.ReLU()]
        self.of_nodes = nn.Sequential(*parts)
        self.of_graphs = nn.Sequential(
            nn.Linear(n_hidden, n_hidden),
            nn.ReLU(),
            nn.Dropout(dropout),
            nn.Linear(n_hidden, n_classes),
        )

    def forward(self, rows: Tensor, edges: Any, of_graph: Tensor, n_graphs: int) -> Tensor:
        """Values of the classes, one row per graph."""
        return self.of_graphs(global_add_pool(self.of_nodes(rows), of_graph, n_graphs))


@dataclass(frozen=True)
class Rules:
    """How a network is trained."""

    learning_rate: float
    weight_decay: float
    batch_size: int
    max_epochs: int
    patience: int
    verbose: bool


class Prepared:
    """Graphs with the rows of their nodes, from which mini-batches are taken."""

    def __init__(self, batch: GraphBatch, rows: Floats) -> None:
        self._batch = batch
        self._rows = rows

    def __len__(self) -> int:
        return len(self._batch)

    def take(self, graphs: Ints) -> tuple[Tensor, Tensor, Tensor, int]:
        """Rows, edges (both directions), the graph of each node, and the number of graphs."""
        offsets = self._batch.node_offsets
        nodes = np.concatenate(
            [np.arange(offsets[g], offsets[g + 1]) for g in graphs] or [np.zeros(0, np.int64)]
        ).astype(np.int64)
        part = self._batch[graphs]
        tails = np.repeat(np.arange(part.n_nodes_total), np.diff(part.indptr))
        edges = np.stack([tails, np.asarray(part.indices)]).astype(np.int64)
        return (
            torch.from_numpy(np.ascontiguousarray(self._rows[nodes], dtype=np.float32)),
            torch.from_numpy(edges),
            torch.from_numpy(np.array(part.graph_of_node, dtype=np.int64)),
            len(graphs),
        )


@contextmanager
def _alone(seed: int | None = None) -> Iterator[None]:
    """One network at a time, on one thread; restores the number of threads and random state."""
    with _LOCK:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch.random.fork_rng(devices=[]):
                if seed is not None:
                    torch.manual_seed(seed)
                yield
        finally:
            torch.set_num_threads(threads)


def train(
    make: Any, data: Prepared, codes: Ints, fitted: Ints, held: Ints, rules: Rules, seed: int
) -> tuple[dict[str, Floats], list[float]]:
    """Train on some graphs; return the weights with the lowest loss on the held-out graphs.

    Without held-out graphs all epochs are run, and the last weights are returned.

    Returns
    -------
    weights, history
        Arrays by name, and the loss on the held-out graphs (or on the fitted ones) per epoch.
    """
    with _alone(seed):
        network = make()
        optimiser = torch.optim.Adam(
            network.parameters(), rules.learning_rate, weight_decay=rules.weight_decay
        )
        target = torch.from_numpy(codes)
        order = np.random.RandomState(seed % 2**32)
        best, best_epoch = _weights(network), 0
        history: list[float] = []
        for epoch in range(rules.max_epochs):
            fitted_loss = _epoch(network, optimiser, data, target, order.permutation(fitted), rules)
            loss = _loss(network, data, target, held) if len(held) else fitted_loss
            if not history or loss < min(history) or not len(held):
                best, best_epoch = _weights(network), epoch
            history.append(loss)
            if rules.verbose:
                print(f"epoch {epoch + 1}: loss {loss:.4f}")
            if len(held) and epoch - best_epoch >= rules.patience:
                break
    return best, history


def _epoch(
    network: nn.Module, optimiser: Any, data: Prepared, target: Tensor, order: Ints, rules: Rules
) -> float:
    network.train()
    total = 0.0
    for start in range(0, len(order), rules.batch_size):
        graphs = order[start : start + rules.batch_size]
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(network(*data.take(graphs)), target[graphs])
        loss.backward()
        optimiser.step()
        total += float(loss.detach()) * len(graphs)
    return total / len(order)


def _loss(network: nn.Module, data: Prepared, target: Tensor, graphs: Ints) -> float:
    network.eval()
    with torch.no_grad():
        return float(nn.functional.cross_entropy(network(*data.take(graphs)), target[graphs]))


def _weights(network: nn.Module) -> dict[str, Floats]:
    return {name: value.detach().numpy().copy() for name, value in network.state_dict().items()}


def class_values(make: Any, weights: dict[str, Floats], data: Prepared, size: int = 256) -> Floats:
    """Values of the classes, one row per graph."""
    with _alone():
        network = make()
        network.load_state_dict({name: torch.from_numpy(v) for name, v in weights.items()})
        network.eval()
        parts = []
        with torch.no_grad():
            for start in range(0, len(data), size):
                graphs = np.arange(start, min(start + size, len(data)))
                parts.append(network(*data.take(graphs)).numpy().astype(np.float64))
    return np.concatenate(parts)
