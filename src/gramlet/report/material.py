"""The input of a report: results, their data, and the kernels that gave them.

`Material` combines them and checks that they agree; for missing parts it has a text that the page
shows instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Floats
from gramlet.evaluation.result import Result
from gramlet.explain.models import name_labels
from gramlet.files.dataset import Dataset
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.kernels import registry
from gramlet.kernels.expression import normalized_by_name
from gramlet.plotting.colours import ELEMENT_COLOURS, label_colours, named
from gramlet.plotting.drawing import atoms_of

# Results without a kernel, and what the baselines that are always computed use.
CONSTANTS = ("majority", "mean", "size")
BASELINES = {
    "majority": "predicts the most frequent class",
    "mean": "predicts the mean",
    "size": "uses the numbers of nodes and edges only",
    "vertex": "uses the histogram of node labels only",
    "edge": "uses the histogram of edge types only",
}


@dataclass(frozen=True, eq=False)
class Material:
    """Results on one set of graphs, with everything that a page shows about them.

    Attributes
    ----------
    results : list of Result
        All on the same target.
    data : Dataset or None
    kernels : dict
        The unfitted estimator of each result, by the result's name.
    why_not : dict
        Why there is no estimator, by the result's name.
    n_jobs : int or None
    baselines : frozenset of str
        Names of results that are shown for comparison only.
    """

    results: list[Result]
    data: Dataset | None
    kernels: dict[str, Any]
    why_not: dict[str, str] = field(default_factory=dict)
    n_jobs: int | None = None
    baselines: frozenset[str] = frozenset(CONSTANTS)

    @property
    def first(self) -> Result:
        """The first result, for properties that all have in common."""
        return self.results[0]

    @property
    def regression(self) -> bool:
        return self.first.task == "regression"

    @cached_property
    def graphs(self) -> GraphBatch | None:
        """The graphs, with names in place of labels if the data have them."""
        if self.data is None:
            return None
        return name_labels(self.data.graphs, self.data.node_label_names, self.data.edge_label_names)

    @cached_property
    def used_graphs(self) -> GraphBatch:
        """The graphs that were used."""
        if self.graphs is None:
            raise ValueError("The graphs were not given to this report.")
        whole = len(self.kept) == len(self.graphs)
        return self.graphs if whole else self.graphs[self.kept]

    @cached_property
    def best(self) -> Result:
        """The best result that is not a baseline, or the best."""
        kernels = [r for r in self.results if r.name not in self.baselines] or self.results
        return max(kernels, key=lambda result: result.mean)

    @property
    def detailed(self) -> list[Result]:
        """Results with a kernel, the best first."""
        known = [result for result in self.results if result.name in self.kernels]
        return sorted(known, key=lambda result: -result.mean)

    @cached_property
    def target(self) -> Array | None:
        """The target of all graphs, as it was given."""
        if self.first.target is not None:
            return self.first.target
        return None if self.data is None else self.data.target

    @cached_property
    def kept(self) -> Array:
        """The positions of the graphs that were used."""
        target = self.target
        if target is None:
            return np.arange(0 if self.graphs is None else len(self.graphs))
        if self.regression or not len(self.first.classes):
            return np.arange(len(target))
        return np.flatnonzero(np.isin(target, self.first.classes))

    @cached_property
    def codes(self) -> Array:
        """For the graphs that were used: positions of their classes, or their numbers."""
        assert self.target is not None, "asked for only where there is a target"
        if self.regression:
            numbers: Floats = np.asarray(self.target[self.kept], dtype=np.float64)
            return numbers
        return np.searchsorted(self.classes, self.target[self.kept])

    @cached_property
    def classes(self) -> Array:
        """The classes, sorted; empty for a regression."""
        if self.regression or self.target is None:
            return np.zeros(0)
        return self.first.classes if len(self.first.classes) else np.unique(self.target)

    def code_of(self, value: Any) -> int:
        """The position of a class; -1 for any other value."""
        known = self.classes.tolist()
        return known.index(value) if value in known else -1

    @cached_property
    def class_names(self) -> list[str]:
        return [self.value_text(value) for value in self.classes.tolist()]

    @property
    def node_names(self) -> Any:
        """Names of node labels, if the labels are not names already."""
        return self._names("node_labels", "node_label_names")

    @property
    def edge_names(self) -> Any:
        """Names of edge labels, if the labels are not names already."""
        return self._names("edge_labels", "edge_label_names")

    def _names(self, column: str, names: str) -> Any:
        if self.data is None:
            return None
        renamed = getattr(self.graphs, column) is not getattr(self.data.graphs, column)
        return None if renamed else self.data[names]

    @cached_property
    def _labels_and_atoms(self) -> tuple[list[str], list[tuple[str, str]] | None]:
        """The node labels by name, and the atoms that they stand for if graphs are molecules."""
        if self.graphs is None or self.graphs.node_labels is None:
            return [], None
        labels = [named(self.node_names, label) for label in self.graphs.node_labels.categories]
        edges = self.graphs.edge_labels
        bonds = [] if edges is None else [named(self.edge_names, x) for x in edges.categories]
        return labels, atoms_of(labels, bonds) if bonds else None

    @property
    def of_molecules(self) -> bool:
        """Whether the labels of all graphs are atoms and bonds."""
        return self._labels_and_atoms[1] is not None

    @cached_property
    def colours(self) -> dict[str, str]:
        """One colour per label, for all pictures."""
        labels, atoms = self._labels_and_atoms
        if atoms is None:
            return label_colours(labels)
        symbols = [symbol for symbol, _ in atoms]
        return {
            label: ELEMENT_COLOURS.get(symbol, "#7a7a7a")
            for label, symbol in zip(labels, symbols, strict=True)
        }

    def result_name(self, name: str) -> str:
        """The name of a result; a baseline is called one."""
        return f"{name} (baseline)" if name in self.baselines else name

    def graph_name(self, position: int) -> str:
        """The name of a graph: its identifier, or its position."""
        ids = None if self.data is None else self.data.ids
        return f"graph {position}" if ids is None else f"{ids[position]}"

    def smiles(self, position: int) -> str:
        """A graph as SMILES, if it is a molecule; else ""."""
        smiles = None if self.data is None else self.data.molecules
        return "" if smiles is None else f"{smiles[position]}"

    def target_text(self, position: int) -> str:
        """The class or the number of a graph."""
        if self.target is None:
            return "unknown"
        return self.value_text(self.target[position])

    def value_text(self, value: Any) -> str:
        """A class by its name, or a number."""
        if value is None:
            return "none"
        if self.regression:
            return "none" if value != value else f"{float(value):.4g}"
        plain = value.item() if isinstance(value, np.generic) else value
        names = None if self.data is None else self.data.target_names
        return named(names, plain)


def material_of(
    results: Result | Sequence[Result] | Mapping[str, Result],
    data: Any = None,
    kernels: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    baselines: Iterable[str] = (),
) -> Material:
    """Check that results and data agree, and find the kernels of the results.

    Raises
    ------
    ValueError
        If there is no result, or results or data have different numbers of graphs.
    """
    given = results.values() if isinstance(results, Mapping) else results
    rows = [given] if isinstance(given, Result) else list(given)
    if not rows:
        raise ValueError("There is no result to report; give at least one.")
    for result in rows:
        if not isinstance(result, Result):
            raise TypeError(
                f"A report needs Results, as gramlet.evaluate returns them; got "
                f"{type(result).__name__}."
            )
        if (result.task, result.scoring) != (rows[0].task, rows[0].scoring):
            raise ValueError(
                f"The results {rows[0].name!r} and {result.name!r} do not have the same task and "
                "scorer; make one report for each."
            )
    compared = frozenset([*CONSTANTS, *baselines])
    estimators: dict[str, Any] = {}
    why_not: dict[str, str] = {}
    for result in rows:
        if kernels and result.name in kernels:
            estimators[result.name] = kernels[result.name]
        elif result.name in compared:
            why_not[result.name] = "It is a baseline, shown for comparison only."
        else:
            try:
                estimators[result.name] = kernel_behind(result)
            except (ValueError, TypeError, KeyError) as why:
                reason = " ".join(str(why).split())
                if not is_registered(result.name):
                    reason = "the result is of a ready matrix or of an estimator of your own"
                why_not[result.name] = (
                    f"Its kernel is not known ({reason}); give it as "
                    f"kernels={{{result.name!r}: estimator}}."
                )
    return Material(rows, _dataset(data, rows[0]), estimators, why_not, n_jobs, compared)


def _dataset(data: Any, result: Result) -> Dataset | None:
    if data is None:
        return None
    dataset = data if isinstance(data, Dataset) else Dataset(as_batch(data), name=result.data.name)
    if result.target is not None and len(dataset.graphs) != len(result.target):
        raise ValueError(
            f"The result {result.name!r} is of {len(result.target)} graphs, the data have "
            f"{len(dataset.graphs)}. Give the graphs that were evaluated."
        )
    return dataset


def is_registered(name: str) -> bool:
    """Whether a result's name is that of a kernel, or an expression of such names."""
    try:
        registry.get(name)
    except (ValueError, TypeError):
        return False
    return True


def kernel_behind(result: Result, normalize: str | bool | None = None) -> Any:
    """The registry's estimator of a result's name, with the options chosen most often.

    Of the row "auto", the kernel chosen most often; ``normalize`` is that of `gramlet.evaluate`.

    Raises
    ------
    ValueError, TypeError
        If the registry has no such name, or the options are not those of a kernel.
    """
    options = {key: value for key, (value, _) in result.most_chosen().items() if key != "C"}
    name = options.pop("kernel", result.name)
    if normalize is None:
        estimator = normalized_by_name(name, **options)
    else:
        estimator = registry.make(name, **options)
    has = estimator.get_params()
    if normalize is not None and "normalize" in has and "normalize" not in options:
        estimator.set_params(normalize=normalize)
    if has.get("random_state", 0) is None:
        estimator.set_params(random_state=result.protocol.random_state)
    estimator._validate_params()
    return estimator
