"""The geometry of one drawn graph, for SVG and for matplotlib.

`drawing_of` decides positions, texts and colours; `svg` and `graphs` draw them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.build import ranges
from gramlet.graphs.conversion.convert import as_single
from gramlet.plotting.colours import ELEMENT_COLOURS, label_colours, named
from gramlet.plotting.layout import LARGEST_DRAWN, edges_of, layout, sampled
from gramlet.plotting.molecule_drawing import BOND_ORDERS, atoms_of, molecule_points

__all__ = ["Drawing", "Stroke", "drawing_of", "induced"]

_PLAIN = "#d9d9d9"
_LONGEST_TEXT = 4  # letters written into a node


class Stroke(NamedTuple):
    """A line between two nodes: its order (1, 2, 3, or 1.5: aromatic), arrow, and text."""

    tail: int
    head: int
    order: float = 1.0
    arrow: bool = False
    text: str = ""


@dataclass(frozen=True)
class Drawing:
    """The geometry of a graph, ready to be drawn.

    Attributes
    ----------
    points : array, shape (nodes, 2)
        The second coordinate grows upwards; edges are about 1 long.
    texts : list of str
        The text at each node; "" for none.
    names : list of str
        The whole label of each node.
    colours : list of str
        Colours of the letters of a molecule, or of the nodes of any other graph.
    strokes : list of Stroke
    radius : float
        Of a node.
    molecule : bool
        Whether atoms are letters at the ends of bonds, or nodes are discs.
    values : array or None
        The importance of each node.
    note : str
        A note about parts that are not drawn.
    boxes : bool
        Whether nodes are boxes as wide as their texts.
    marked : tuple of int
        Nodes with a ring around them.
    """

    points: Floats
    texts: list[str]
    names: list[str]
    colours: list[str]
    strokes: list[Stroke]
    radius: float = 0.28
    molecule: bool = False
    values: Floats | None = None
    note: str = ""
    boxes: bool = False
    marked: tuple[int, ...] = ()

    def marking(self, nodes: tuple[int, ...]) -> Drawing:
        """The same drawing with rings around these nodes."""
        return replace(self, marked=nodes)

    def rails(self, stroke: Stroke) -> list[tuple[float, bool]]:
        """The lines of a bond: offset to the left of its middle, and whether dashed.

        The dashed line of an aromatic bond is on the side of its ring.
        """
        if not self.molecule or stroke.order == 1.0:
            return [(0.0, False)]
        if stroke.order == 1.5:
            return [(0.0, False), (self._ring_side(stroke), True)]
        if stroke.order == 2.0:
            return [(-0.5, False), (0.5, False)]
        return [(-1.0, False), (0.0, False), (1.0, False)]

    def _ring_side(self, stroke: Stroke) -> float:
        """The side of an aromatic bond that has more of its aromatic neighbours."""
        a, b = self.points[stroke.tail], self.points[stroke.head]
        left = np.array([a[1] - b[1], b[0] - a[0]])
        towards = 0.0
        for other in self._aromatic:
            for node in other - {stroke.tail, stroke.head} if len(other) == 2 else ():
                if len(other & {stroke.tail, stroke.head}) == 1:
                    towards += float(np.sign((self.points[node] - (a + b) / 2) @ left))
        return 1.0 if towards >= 0 else -1.0

    @cached_property
    def _aromatic(self) -> list[frozenset[int]]:
        return [frozenset((s.tail, s.head)) for s in self.strokes if s.order == 1.5]


def drawing_of(
    graph: Any,
    values: Any = None,
    *,
    node_names: Mapping[Any, str] | None = None,
    edge_names: Mapping[Any, str] | None = None,
    colours: Mapping[str, str] | None = None,
    most_nodes: int = LARGEST_DRAWN,
    most_edges: int | None = None,
) -> Drawing:
    """The geometry of one graph.

    Parameters
    ----------
    graph : one graph, of any type that `gramlet.as_batch` accepts in a list
    values : array, optional
        The importance of each node.
    node_names, edge_names : mapping, optional
        Names of labels; graphs whose names are atoms and bonds are drawn as molecules.
    colours : mapping, optional
        The colour of each label by its name; by default by its place among the labels of the batch
        that the graph was taken from.
    most_nodes, most_edges : int
        For larger graphs only a connected part, or a part of the edges, is drawn, with a note.

    Examples
    --------
    >>> from gramlet.plotting.drawing import drawing_of
    >>> ethanal = drawing_of("CC=O")
    >>> ethanal.molecule, ethanal.texts, [stroke.order for stroke in ethanal.strokes]
    (True, ['', '', 'O'], [1.0, 2.0])
    """
    batch = as_single(graph)
    shown = None if values is None else np.asarray(values, dtype=np.float64).reshape(-1)
    if shown is not None and len(shown) != batch.n_nodes_total:
        raise ValueError(
            f"values has {len(shown)} numbers for a graph of {batch.n_nodes_total} nodes; give one "
            "per node."
        )
    total = batch.n_nodes_total
    kept = sampled(batch, most_nodes)
    note = ""
    if kept is not None:
        batch = induced(batch, kept)
        shown = None if shown is None else shown[kept]
        note = f"{len(kept):,} of {total:,} nodes"
    palette = colours if colours is not None else _palette(batch, node_names)
    edges, bonds = _edges_and_labels(batch, edge_names)
    names = _names(batch, node_names)
    if bonds is not None and not batch.directed:
        found = _molecule(names, edges, bonds, shown, note)
        if found is not None:
            return found
    points = layout(batch)
    radius = _radius(points)
    strokes, thinned = _strokes(batch, edges, most_edges)
    return Drawing(
        points=points,
        texts=[name if len(name) <= _LONGEST_TEXT and radius > 0.12 else "" for name in names],
        names=names,
        colours=[palette.get(name, _PLAIN) for name in names],
        strokes=strokes,
        radius=radius,
        values=shown,
        note=", ".join(filter(None, [note, thinned])),
    )


def _palette(batch: GraphBatch, node_names: Any) -> dict[str, str]:
    if batch.node_labels is None:
        return {}
    return label_colours(named(node_names, label) for label in batch.node_labels.categories)


def _names(batch: GraphBatch, node_names: Any) -> list[str]:
    if batch.node_labels is None:
        return [""] * batch.n_nodes_total
    return [named(node_names, label) for label in batch.node_labels]


def _edges_and_labels(batch: GraphBatch, edge_names: Any) -> tuple[Ints, list[str] | None]:
    """The edges, each once, and the names of their labels."""
    if batch.edge_labels is None or batch.directed:
        return edges_of(batch), [] if batch.n_nodes_total == 1 else None
    tails, heads = batch.arcs()
    once = np.flatnonzero(tails < heads)
    labels = batch.edge_labels.take(once)
    return np.column_stack([tails[once], heads[once]]), [named(edge_names, x) for x in labels]


def _molecule(
    names: list[str], edges: Ints, bonds: list[str], values: Floats | None, note: str
) -> Drawing | None:
    atoms = atoms_of(names, bonds)
    if atoms is None:
        return None
    orders = [BOND_ORDERS[bond] for bond in bonds]
    points = molecule_points(atoms, edges, orders)
    if points is None:
        n = len(atoms)
        points = layout(GraphBatch.from_edges([edges], n_nodes=[n]))
    bonded = np.bincount(edges.ravel(), minlength=len(atoms))
    return Drawing(
        points=points,
        texts=[
            "" if text == "C" and degree else text
            for (_, text), degree in zip(atoms, bonded, strict=True)
        ],
        names=names,
        colours=[ELEMENT_COLOURS.get(symbol, "currentColor") for symbol, _ in atoms],
        strokes=[Stroke(u, v, order) for (u, v), order in zip(edges.tolist(), orders, strict=True)],
        molecule=True,
        values=values,
        note=note,
    )


def _strokes(batch: GraphBatch, edges: Ints, most: int | None) -> tuple[list[Stroke], str]:
    """The lines to draw, thinned evenly if there are too many, and a note about it."""
    if batch.directed:
        tails, heads = batch.arcs()
        edges = np.column_stack([tails, heads])
    total = len(edges)
    note = ""
    if most is not None and total > most:
        edges = edges[np.linspace(0, total - 1, most).astype(np.int64)]
        note = f"{most:,} of {total:,} {'arcs' if batch.directed else 'edges'}"
    return [Stroke(u, v, 1.0, batch.directed) for u, v in edges.tolist()], note


def _radius(points: Floats) -> float:
    """The largest radius at which nodes do not cover their neighbours, up to a limit."""
    if len(points) < 2:
        return 0.3
    from scipy.spatial import cKDTree

    nearest = cKDTree(points).query(points, k=2)[0][:, 1]
    return float(np.clip(0.45 * np.quantile(nearest, 0.1), 0.05, 0.3))


def induced(batch: GraphBatch, nodes: Ints) -> GraphBatch:
    """The subgraph of these nodes, which are ascending."""
    place = np.full(batch.n_nodes_total, -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    arcs = ranges(batch.indptr[nodes], batch.degrees[nodes])
    arcs = arcs[place[batch.indices[arcs]] >= 0]
    tails, heads = batch.arcs()
    take = {
        name: None if getattr(batch, name) is None else getattr(batch, name).take(rows)
        for name, rows in (("node_labels", nodes), ("edge_labels", arcs))
    }
    offsets = np.array([0, len(nodes)])
    return GraphBatch.from_arcs(
        offsets, place[tails[arcs]], place[heads[arcs]], directed=batch.directed, **take
    )
