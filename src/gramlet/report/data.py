"""The data in a report: sizes, labels, classes or numbers, empty graphs, repeats, the ceiling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gramlet.common.arrays import Array, Ints
from gramlet.evaluation.hints import isomorphism_classes
from gramlet.evaluation.scorers import percent_or_number, score_text
from gramlet.plotting.colours import CLASS_COLOURS, named
from gramlet.report.figures import bars, histogram
from gramlet.report.material import Material
from gramlet.report.parts import Cell, Figure, Table

_MOST_BARS = 20
_MOST_GROUPS = 50


class Repeats(NamedTuple):
    """What repeated graphs, between which no function of the graph can distinguish, cost.

    Attributes
    ----------
    conflicting : list of lists of int
        The groups of isomorphic graphs that have different targets.
    ceiling : float or None
        The best score that a function of the graph can reach on these graphs: the share of correct
        predictions, or R². None without a target.
    """

    conflicting: list[list[int]]
    ceiling: float | None


def repeats_of(
    groups: Sequence[Sequence[int]],
    target: Array | None,
    regression: bool,
    kept: Ints | None = None,
) -> Repeats:
    """Conflicts and the ceiling of the graphs at the positions ``kept``; by default of all.

    >>> repeats_of([[0, 1, 2]], np.array([1, 1, 0, 0]), False).ceiling
    0.75
    """
    if target is None or not len(target):
        return Repeats([], None)
    used = set(range(len(target)) if kept is None else kept.tolist())
    inside = [[i for i in group if i in used] for group in groups]
    conflicting = [group for group in inside if len(np.unique(target[group])) > 1]
    if regression:
        numbers = np.asarray(target, dtype=np.float64)
        total = float(numbers.var()) * len(numbers)
        lost = sum(float(numbers[group].var()) * len(group) for group in conflicting)
        return Repeats(conflicting, 1 - lost / total if total > 0 else 1.0)
    largest = sum(np.unique(target[group], return_counts=True)[1].max() for group in conflicting)
    return Repeats(conflicting, 1 - (sum(map(len, conflicting)) - int(largest)) / len(used))


def data_section(material: Material) -> dict[str, Any]:
    """The section about the data: facts, figures, notes, and groups of repeated graphs."""
    figures = [_target_figure(material)]
    batch = material.graphs
    if material.data is None or batch is None:
        note = (
            "The graphs were not given to this report: sizes, labels, repeated graphs, kernel "
            "matrices, maps, patterns and drawings are missing. Give the data set as data=."
        )
        return {"facts": None, "figures": figures, "notes": [note], "groups": None}
    for what, counts in (("node", batch.sizes), ("edge", batch.n_edges)) if len(batch) else ():
        picture = histogram(counts, f"Number of {what}s per graph", f"{what}s")
        figures.append(Figure(picture, f"{what.capitalize()}s per graph"))
    figures += [
        _label_figure(batch.node_labels, material.node_names, "node", material.colours),
        _label_figure(batch.edge_labels, material.edge_names, "edge", {}, twice=not batch.directed),
    ]
    groups = _positions_of_equal(isomorphism_classes(material.data.graphs))
    repeats = repeats_of(groups, material.target, material.regression, material.kept)
    return {
        "facts": _facts(material),
        "figures": figures,
        "notes": [_words_on_repeats(material, len(batch), groups, repeats)],
        "groups": _groups_table(material, groups, repeats) if groups else None,
    }


def _facts(material: Material) -> Table:
    batch = material.graphs
    assert batch is not None
    sizes, edges = batch.sizes, batch.n_edges
    line = "arcs" if batch.directed else "edges"
    rows = [
        ("graphs", f"{len(batch):,}"),
        ("nodes", f"{batch.n_nodes_total:,}{_spread(sizes)}"),
        (line, f"{int(edges.sum()):,}{_spread(edges)}"),
        ("empty graphs (without nodes)", _listed(np.flatnonzero(sizes == 0))),
        (f"graphs without {line}", _listed(np.flatnonzero((edges == 0) & (sizes > 0)))),
        ("direction", "directed" if batch.directed else "undirected"),
        ("node labels", _count(batch.node_labels)),
        ("edge labels", _count(batch.edge_labels)),
        ("edge weights", "yes" if batch.edge_weights is not None else "none"),
        ("node attributes", _width(batch.node_attributes)),
        ("edge attributes", _width(batch.edge_attributes)),
    ]
    skipped = None if material.data is None else material.data.skipped
    if skipped:
        rows.append(("rows left out when reading", f"{len(skipped)}, e.g. {skipped[0]}"))
    if len(material.kept) < len(batch):
        rows.append(
            ("graphs left out, of classes that are too small", f"{len(batch) - len(material.kept)}")
        )
    return Table.of_facts("Contents of the data set", rows)


def _spread(counts: Any) -> str:
    if not len(counts):
        return ""
    return f" ({counts.min()} to {counts.max()} per graph, {counts.mean():.1f} on average)"


def _listed(positions: Any) -> str:
    if not len(positions):
        return "none"
    shown = ", ".join(map(str, positions[:8].tolist())) + (", …" if len(positions) > 8 else "")
    return f"{len(positions)} (positions {shown})"


def _count(column: Any) -> str:
    return "none" if column is None else f"{len(column.used())} different"


def _width(column: Any) -> str:
    return "none" if column is None else f"{column.shape[1]} per row"


def _target_figure(material: Material) -> Figure:
    if material.target is None:
        return Figure(None, "Target", "The results contain no target.")
    if material.regression:
        name = (None if material.data is None else material.data.target_name) or "target"
        return Figure(histogram(material.codes, f"Histogram of {name}", name), f"Values of {name}")
    counts = np.bincount(material.codes, minlength=len(material.classes))
    order = np.argsort(-counts, kind="stable")[:_MOST_BARS]
    names = [material.class_names[i] for i in order]
    note = f"; {_MOST_BARS} of {len(counts)}, by size" if len(counts) > _MOST_BARS else ""
    colours = [CLASS_COLOURS[i % len(CLASS_COLOURS)] for i in order]
    picture = bars(names, counts[order].tolist(), "Graphs per class", "graphs", colours)
    return Figure(picture, f"Graphs per class{note}")


def _label_figure(column: Any, names: Any, what: str, colours: Any, twice: bool = False) -> Figure:
    """How often each label occurs; ``twice``: edges are stored in both directions."""
    title = f"{what.capitalize()} labels"
    if column is None or not len(column):
        return Figure(None, title, f"The graphs have no {what} labels.")
    counts = np.bincount(column.codes, minlength=len(column.categories))
    counts = counts // 2 if twice else counts
    order = [i for i in np.argsort(-counts, kind="stable").tolist() if counts[i]][:_MOST_BARS]
    shown = [named(names, column.categories[i]) for i in order]
    n_used = int((counts > 0).sum())
    note = f"; the {_MOST_BARS} most frequent of {n_used}" if n_used > _MOST_BARS else ""
    fills = [colours.get(name, CLASS_COLOURS[0]) for name in shown]
    picture = bars(shown, counts[order].tolist(), title, f"{what}s", fills, fixed=bool(colours))
    return Figure(picture, f"{title}{note}")


def _positions_of_equal(numbers: Ints) -> list[list[int]]:
    """Positions of equal numbers, for those that occur more than once."""
    order = np.argsort(numbers, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1)
    return [part.tolist() for part in parts if len(part) > 1]


def _words_on_repeats(
    material: Material, n_graphs: int, groups: list[list[int]], repeats: Repeats
) -> str:
    if not groups:
        return "No two graphs are isomorphic with equal labels."
    score = score_text("r2" if material.regression else "accuracy")
    what = "targets" if material.regression else "classes"
    n_used = len(material.kept)
    words = (
        f"{sum(map(len, groups)):,} of {n_graphs:,} graphs occur more than once, in "
        f"{len(groups):,} groups of isomorphic graphs with equal labels (weights and attributes "
        "are not compared)."
    )
    if repeats.conflicting and repeats.ceiling is not None:
        ceiling = percent_or_number(repeats.ceiling, "r2" if material.regression else "accuracy")
        which = "" if n_used == n_graphs else f" ({n_used:,} graphs that were used)"
        words += (
            f" {len(repeats.conflicting)} of these groups have different {what}: no function of "
            f"graph and labels alone can exceed {ceiling} {score} on these data{which}."
        )
    elif material.target is not None:
        words += f" None of them has different {what}, so they do not limit the {score}."
    return words


def _groups_table(material: Material, groups: list[list[int]], repeats: Repeats) -> Table:
    conflicting = {i for group in repeats.conflicting for i in group}
    order = sorted(groups, key=lambda g: (conflicting.isdisjoint(g), -len(g)))[:_MOST_GROUPS]
    rows = []
    for group in order:
        names = [material.graph_name(i) for i in group[:6]] + ["…"] * (len(group) > 6)
        values = dict.fromkeys(material.target_text(i) for i in group[:50])
        conflict = "no" if conflicting.isdisjoint(group) else "yes"
        size = Cell(str(len(group)), len(group))
        rows.append((size, Cell(", ".join(names)), Cell(", ".join(values)), Cell(conflict)))
    note = f"{_MOST_GROUPS} of {len(groups)} groups" if len(groups) > _MOST_GROUPS else ""
    headings = ("graphs", "which", "target", "conflict")
    return Table("Groups of isomorphic graphs", headings, rows, frozenset({0}), note)
