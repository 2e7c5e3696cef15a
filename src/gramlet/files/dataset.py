"""Dataset: graphs, their target, and further fields, under one name.

Readers and generators return it. It is independent of files, formats and the network.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gramlet.common.arrays import Array
from gramlet.files.target import Task, as_values, infer_task
from gramlet.graphs.batch import GraphBatch


class DatasetNotFoundError(FileNotFoundError, ValueError):
    """A data set, or a file that it needs, was not found."""


class Skipped(NamedTuple):
    """One row or file that was left out: where it is, and why."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


class Dataset(dict[str, Any]):
    """A set of graphs with its target: fields by attribute or by key.

    Fields that were not given are None, so that ``dataset.target_names`` is always defined. A
    Dataset unpacks as ``X, y = dataset``: graphs and target.

    Parameters
    ----------
    graphs : GraphBatch
    target : array, optional
        One class (or number, or row of numbers) per graph.
    name, description : str
    target_names, node_label_names, edge_label_names : dict, optional
        Names of the values in the target and of the labels of the graphs.
    ids : sequence of str, optional
        One identifier per graph, as in the file.
    molecules : sequence of str, optional
        One SMILES string per graph, where the graphs are molecules; by default those that the
        graphs keep.
    target_name : str, optional
        The name of the target: the heading of its column.
    skipped : sequence of Skipped, optional
        The rows or files that a reader left out, with the reasons. The field ``places`` then
        contains the place of each graph that remains.
    task : {"classification", "regression"}, optional
        The task of the whole set, if this is a part of it; by default derived from the target.
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
    >>> mutag.node_label_names[5], mutag.task
    ('Cl', 'classification')
    >>> X, y = mutag
    >>> len(X), len(y)
    (188, 188)
    """

    graphs: GraphBatch
    target: Array
    name: str
    description: str
    target_names: Mapping[Any, str] | None
    node_label_names: Mapping[Any, str] | None
    edge_label_names: Mapping[Any, str] | None
    ids: Sequence[str] | None
    molecules: Sequence[str] | None
    target_name: str | None
    skipped: Sequence[Skipped] | None

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
        ids: Sequence[str] | None = None,
        molecules: Sequence[str] | None = None,
        target_name: str | None = None,
        skipped: Sequence[Skipped] | None = None,
        task: Task | None = None,
        **fields: Any,
    ) -> None:
        if target is not None:
            target = as_values(target)
            if target.ndim == 0 or len(target) != len(graphs):
                raise ValueError(
                    f"Dataset {name!r}: the target has shape {target.shape} for {len(graphs)} "
                    "graphs; give one value per graph."
                )
        if molecules is None and graphs.molecules is not None:
            molecules = list(graphs.molecules)
        for field, column in (("ids", ids), ("molecules", molecules)):
            if column is not None and len(column) != len(graphs):
                raise ValueError(
                    f"Dataset {name!r}: {field} has {len(column)} entries for {len(graphs)} "
                    "graphs; give one per graph."
                )
        super().__init__(
            graphs=graphs,
            target=target,
            name=name,
            description=description,
            target_names=target_names,
            node_label_names=node_label_names,
            edge_label_names=edge_label_names,
            ids=ids,
            molecules=molecules,
            target_name=target_name,
            skipped=skipped,
            **fields,
        )
        if task is not None:
            self["task"] = task

    @property
    def task(self) -> Task | None:
        """The task for the target, as `infer_task` finds it; None if there is no target.

        Blocks of a file (`gramlet.stream`) have the task of the whole file.
        """
        if self.target is None or self.target.ndim != 1:
            return None
        whole: Task | None = self.get("task")
        return infer_task(self.target) if whole is None else whole

    def __iter__(self) -> Iterator[Any]:
        return iter((self.graphs, self.target))

    def __getattr__(self, field: str) -> Any:
        try:
            return self[field]
        except KeyError:
            raise AttributeError(
                f"This Dataset has no field {field!r}; it has {', '.join(self.keys())}."
            ) from None

    def __setattr__(self, field: str, value: Any) -> None:
        if field == "task":
            raise AttributeError("The task is derived from the target; it cannot be set.")
        self[field] = value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.keys()})

    def __repr__(self) -> str:
        return f"Dataset {self.get('name')!r}: {self.get('graphs')!r}"

    def _repr_html_(self) -> str:
        from gramlet.report.notebook import batch_html

        facts = [] if self.target is None else [("target", f"{self.task or 'several columns'}")]
        return batch_html(
            self.graphs,
            f"Dataset {self.name!r}",
            node_names=self.node_label_names,
            edge_names=self.edge_label_names,
            facts=facts,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (dict(self.items()),))


def _rebuild(fields: dict[str, Any]) -> Dataset:
    return Dataset(**fields)
