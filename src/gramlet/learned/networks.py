"""The networks in PyTorch: a graph isomorphism network, and one that ignores edges.

Only imported when a network is trained or used; the inputs are computed in `node_inputs`, training
is in `training`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GINConv, global_add_pool

__all__ = ["DeepSets", "GraphIsomorphismNetwork"]


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
            nn.Linear(n_hidden, n_hidden), nn.ReLU(), nn.Dropout(dropout),
            nn.Linear(n_hidden, n_classes),
        )  # fmt: skip

    def forward(self, rows: Tensor, edges: Any, of_graph: Tensor, n_graphs: int) -> Tensor:
        """Values of the classes, one row per graph."""
        return self.of_graphs(global_add_pool(self.of_nodes(rows), of_graph, n_graphs))
