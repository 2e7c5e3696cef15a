"""Dataset: graphs, their target, and what is known about both, under one name.

What the readers and generators return. It holds no knowledge of files, formats or the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gramlet.common.arrays import Array
from gramlet.graphs.batch import GraphBatch

__all__ = ["Dataset", "DatasetNotFoundError"]


class DatasetNotFoundError(FileNotFoundError, ValueError):
    """A data set, or a file it cannot do without, is not where it was looked for."""


class Dataset(dict[str, Any]):
    """A set of graphs with its target: fields by attribute or by key.

    Fields that were not given are None, so that ``dataset.target_names`` can always be asked.

    Parameters
    ----------
    graphs : GraphBatch
    target : array, optional
        One class (or number, or row of numbers) a graph.
    name, description : str
    target_names, node_label_names, edge_label_names : dict, optional
        What the values in the target and the labels of the graphs stand for.
    **fields
        Anything else that belongs to the data, e.g. ``group`` in planted data.

    Examples
    --------
    >>> from gramlet import load_dataset
    >>> mutag = load_dataset("MUTAG")
    >>> mutag
    Dataset 'MUTAG': GraphBatch(188 graphs, 3371 nodes, 3721 edges, 7 node labels, 4 edge labels)
    >>> mutag["target"] is mutag.target
    True
    >>> mutag.node_label_names[5]
    'Cl'
    """

    graphs: GraphBatch
    target: Array
    name: str
    description: str
    target_names: Mapping[Any, str] | None
    node_label_names: Mapping[Any, str] | None
    edge_label_names: Mapping[Any, str] | None

    def __init__(
        self,
        graphs: GraphBatch,
        target: Any = None,
        *,
        name: str = "",
        description: str = "",
        target_names: Mapping[Any, str] | None = None,
        node_label_names: Mapping[Any, str] | None = None,
        edge_label_names: Mapping[Any, str] | None = None,
        **fields: Any,
    ) -> None:
        if target is not None:
            target = np.asarray(target)
            if target.ndim == 0 or len(target) != len(graphs):
                raise ValueError(
                    f"Dataset {name!r}: the target has shape {target.shape} for {len(graphs)} "
                    "graphs; give one value a graph."
                )
        super().__init__(
            graphs=graphs,
            target=target,
            name=name,
            description=description,
            target_names=target_names,
            node_label_names=node_label_names,
            edge_label_names=edge_label_names,
            **fields,
        )

    def __getattr__(self, field: str) -> Any:
        try:
            return self[field]
        except KeyError:
            raise AttributeError(
                f"This Dataset has no field {field!r}; it has {', '.join(self)}."
            ) from None

    def __setattr__(self, field: str, value: Any) -> None:
        self[field] = value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self})

    def __repr__(self) -> str:
        return f"Dataset {self.get('name')!r}: {self.get('graphs')!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (dict(self),))


def _rebuild(fields: dict[str, Any]) -> Dataset:
    return Dataset(**fields)
