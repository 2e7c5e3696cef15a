"""The geometry of one drawn graph, which `svg` writes as text and `axes` draws with matplotlib.

`drawing_of` decides positions, texts and colours of nodes, `Drawing.shapes` the lines, discs and
letters. A graph is drawn as a molecule if all its node labels begin with an element's symbol, as
`gramlet.molecules` writes them, and its edge labels are bond types; its coordinates are RDKit's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.build import ranges
from gramlet.graphs.conversion.convert import as_single
from gramlet.graphs.molecules.parsing import quiet
from gramlet.plotting.colours import (
    ELEMENT_COLOURS,
    importance_colour,
    label_colours,
    named,
    text_on,
)
from gramlet.plotting.layout import LARGEST_DRAWN, edges_of, layout, sampled

Names = Mapping[Any, str]

_PLAIN = "#d9d9d9"
_LONGEST_TEXT = 4  # letters written into a node

# Lengths, in edges.
_BOND_GAP = 0.27  # between the end of a bond and the middle of a letter
_RAIL = 0.12  # between the lines of a double bond
_LETTER, _SMALL_LETTER = 0.43, 0.36

# Lines per bond type; aromatic bonds have a solid line and a dashed one.
BOND_ORDERS = {
    "single": 1.0,
    "double": 2.0,
    "triple": 3.0,
    "aromatic": 1.5,
    "quadruple": 4.0,
    "dative": 1.0,
}
_ELEMENTS = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se "
    "Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy "
    "Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U"
)
_SYMBOLS = frozenset(_ELEMENTS.split())
# Charge, hydrogens, aromatic, chirality, ring: as `gramlet.molecules` writes them.
_SUFFIX = re.compile(r"([+-]\d*)?(H\d*)?(?:ar)?(?:@\w*)?r?")
_RAISED = str.maketrans("+-0123456789", "⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


class Stroke(NamedTuple):
    """A line between two nodes: its order (1, 2, 3, or 1.5: aromatic), arrow, and text."""

    tail: int
    head: int
    order: float = 1.0
    arrow: bool = False
    text: str = ""


class Disc(NamedTuple):
    """A filled circle."""

    x: float
    y: float
    radius: float
    fill: str
    opacity: float = 1.0


class Box(NamedTuple):
    """A rectangle with round corners around a text."""

    x: float
    y: float
    half_width: float
    fill: str


class Letters(NamedTuple):
    """A text around a point; ``rim``: pages may draw a rim of the paper's colour around it."""

    x: float
    y: float
    text: str
    colour: str
    size: float
    rim: bool = False


class Shapes(NamedTuple):
    """What a drawing consists of, from the back to the front; lines are (start, end)."""

    glows: list[Disc]
    lines: list[tuple[Floats, Floats]]
    dashed: list[tuple[Floats, Floats]]
    arrows: list[Floats]
    nodes: list[Disc]
    boxes: list[Box]
    letters: list[Letters]
    rings: list[Disc]


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

    def reach(self, given: float | None = None) -> float:
        """The importance at which colours are full: as given, or the largest."""
        if given is not None or self.values is None:
            return given or 0.0
        return float(np.abs(self.values).max(initial=0.0))

    @property
    def margins(self) -> tuple[float, float]:
        """Space left and right of the points, and above and below them."""
        widest = max(map(half_box, self.texts), default=0.0) if self.boxes else 0.0
        return max(0.53, widest + 0.07), 0.53

    def shapes(self, reach: float | None = None) -> Shapes:
        """Lines, discs and letters; importance has its full colour at ``reach``."""
        full = self.reach(reach)
        values = [0.0] * len(self.points) if self.values is None else self.values.tolist()
        shares = [min(1.0, abs(value) / full) if full > 0 else 0.0 for value in values]
        glows: list[Disc] = []
        nodes: list[Disc] = []
        boxes: list[Box] = []
        letters: list[Letters] = []
        fills = self.colours
        if self.molecule:
            # Discs behind the atoms that matter.
            glows = [
                Disc(x, y, 0.37, importance_colour(np.sign(value), 1.0), 0.06 + 0.74 * share)
                for (x, y), value, share in zip(self.points, values, shares, strict=True)
                if share > 0.03
            ]
        else:
            if self.values is not None:
                fills = [importance_colour(value, full) for value in values]
            for (x, y), text, fill in zip(self.points, self.texts, fills, strict=True):
                if self.boxes:
                    boxes.append(Box(x, y, half_box(text), fill))
                else:
                    nodes.append(Disc(x, y, self.radius, fill))
        size = self._letter_size()
        for (x, y), text, fill, share in zip(self.points, self.texts, fills, shares, strict=True):
            strong = self.molecule and share > 0.6  # too dark for coloured letters
            colour = "#ffffff" if strong else fill if self.molecule else text_on(fill)
            if text:
                letters.append(Letters(x, y, text, colour, size, self.molecule and not strong))
        lines, dashed, arrows = self._lines()
        for stroke in self.strokes:
            if stroke.text:
                x, y = (self.points[stroke.tail] + self.points[stroke.head]) / 2
                letters.append(Letters(x, y + 0.23, stroke.text, "currentColor", 0.3, True))
        ring = 0.33 if self.molecule else self.radius + 0.1
        marked = self.points[sorted(set(self.marked))]
        rings = [Disc(x, y, ring, "none") for x, y in marked]
        return Shapes(glows, lines, dashed, arrows, nodes, boxes, letters, rings)

    def _letter_size(self) -> float:
        if self.molecule:
            return _LETTER
        if self.boxes:
            return _SMALL_LETTER
        longest = max(map(len, self.texts), default=0)
        return min(_SMALL_LETTER, 2.6 * self.radius / max(1.6, longest))

    def _lines(self) -> tuple[list[Any], list[Any], list[Floats]]:
        """Solid and dashed lines, and the triangles at the heads of arrows."""
        lines: list[Any] = []
        dashed: list[Any] = []
        arrows: list[Floats] = []
        for stroke in self.strokes:
            a, b = self.points[stroke.tail], self.points[stroke.head]
            along = (b - a) / max(float(np.hypot(*(b - a))), 1e-9)
            left = np.array([-along[1], along[0]])
            if stroke.arrow:
                # The tip is at the rim of the node.
                tip = b - along * self.radius
                arrows.append(
                    np.array([tip, tip - 0.2 * along + 0.1 * left, tip - 0.2 * along - 0.1 * left])
                )
            if not self.molecule:
                lines.append((a, b))
                continue
            # A bond ends before letters; the dashed line of a ring is shorter than the other.
            rails = self._rails(stroke)
            limit = float(np.hypot(*(b - a))) / 2.2
            for rail, broken in rails:
                least = 0.12 if rail and stroke.order == 1.5 else 0.0
                cut = [
                    min(max(_BOND_GAP if self.texts[node] else 0.0, least), limit)
                    for node in (stroke.tail, stroke.head)
                ]
                shift = rail * _RAIL * left
                ends = (a + cut[0] * along + shift, b - cut[1] * along + shift)
                (dashed if broken else lines).append(ends)
        return lines, dashed, arrows

    def _rails(self, stroke: Stroke) -> list[tuple[float, bool]]:
        """The lines of a bond: offset to the left of its middle, and whether dashed.

        The dashed line of an aromatic bond is on the side of its ring.
        """
        if stroke.order == 1.0:
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
        ends = {stroke.tail, stroke.head}
        near = (self._aromatic[stroke.tail] | self._aromatic[stroke.head]) - ends
        towards = sum(float(np.sign((self.points[i] - (a + b) / 2) @ left)) for i in near)
        return 1.0 if towards >= 0 else -1.0

    @cached_property
    def _aromatic(self) -> list[set[int]]:
        """The aromatic neighbours of each node."""
        near: list[set[int]] = [set() for _ in self.points]
        for stroke in self.strokes:
            if stroke.order == 1.5:
                near[stroke.tail].add(stroke.head)
                near[stroke.head].add(stroke.tail)
        return near


def half_box(text: str) -> float:
    """Half the width of the box around a text."""
    return 0.13 + 0.12 * len(text)


def drawing_of(
    graph: Any,
    values: Any = None,
    *,
    node_names: Names | None = None,
    edge_names: Names | None = None,
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
    total = batch.n_nodes_total
    importance = None if values is None else np.asarray(values, dtype=np.float64).reshape(-1)
    if importance is not None and len(importance) != total:
        raise ValueError(
            f"values has {len(importance)} numbers for a graph of {total} nodes; give one per node."
        )
    notes = []
    part = sampled(batch, most_nodes)
    if part is not None:
        batch = induced(batch, part)
        importance = None if importance is None else importance[part]
        notes.append(f"{len(part):,} of {total:,} nodes")
    labels = batch.node_labels
    names = [""] * len(part if part is not None else range(total))
    if labels is not None:
        names = [named(node_names, label) for label in labels]
    molecule = _molecule(batch, names, edge_names, importance, ", ".join(notes))
    if molecule is not None:
        return molecule
    if colours is None and labels is not None:
        colours = label_colours(named(node_names, label) for label in labels.categories)
    points = layout(batch)
    radius = _radius(points)
    # Lines, thinned evenly if there are too many.
    lines = np.column_stack(batch.arcs()) if batch.directed else edges_of(batch)
    if most_edges is not None and len(lines) > most_edges:
        what = "arcs" if batch.directed else "edges"
        notes.append(f"{most_edges:,} of {len(lines):,} {what}")
        lines = lines[np.linspace(0, len(lines) - 1, most_edges).astype(np.int64)]
    return Drawing(
        points=points,
        texts=[name if len(name) <= _LONGEST_TEXT and radius > 0.12 else "" for name in names],
        names=names,
        colours=[(colours or {}).get(name, _PLAIN) for name in names],
        strokes=[Stroke(u, v, 1.0, batch.directed) for u, v in lines.tolist()],
        radius=radius,
        values=importance,
        note=", ".join(notes),
    )


def _radius(points: Floats) -> float:
    """The largest radius at which nodes do not cover their neighbours, up to a limit."""
    if len(points) < 2:
        return 0.3
    from scipy.spatial import cKDTree

    nearest = cKDTree(points).query(points, k=2)[0][:, 1]
    return float(np.clip(0.45 * np.quantile(nearest, 0.1), 0.05, 0.3))


def induced(batch: GraphBatch, nodes: Ints) -> GraphBatch:
    """The subgraph of these nodes, which are ascending."""
    position = np.full(batch.n_nodes_total, -1, dtype=np.int64)
    position[nodes] = np.arange(len(nodes))
    arcs = ranges(batch.indptr[nodes], batch.degrees[nodes])
    arcs = arcs[position[batch.indices[arcs]] >= 0]
    tails, heads = batch.arcs()
    columns = {
        name: None if getattr(batch, name) is None else getattr(batch, name).take(rows)
        for name, rows in (("node_labels", nodes), ("edge_labels", arcs))
    }
    offsets = np.array([0, len(nodes)])
    return GraphBatch.from_arcs(
        offsets, position[tails[arcs]], position[heads[arcs]], directed=batch.directed, **columns
    )


def _molecule(
    batch: GraphBatch, names: list[str], edge_names: Any, values: Floats | None, note: str
) -> Drawing | None:
    """The drawing of a graph whose labels are atoms and bonds; None for any other."""
    if batch.directed or (batch.edge_labels is None and len(names) != 1):
        return None
    edges, bonds = edges_of(batch), []
    if batch.edge_labels is not None:
        tails, heads = batch.arcs()
        once = np.flatnonzero(tails < heads)
        edges = np.column_stack([tails[once], heads[once]])
        bonds = [named(edge_names, label) for label in batch.edge_labels.take(once)]
    atoms = atoms_of(names, bonds)
    if atoms is None:
        return None
    orders = [BOND_ORDERS[bond] for bond in bonds]
    points = _rdkit_points(atoms, edges, orders)
    if points is None:
        points = layout(GraphBatch.from_edges([edges], n_nodes=[len(atoms)]))
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


def atom_of(label: str) -> tuple[str, str] | None:
    """The element and the text of the atom that a label stands for; None if it is not an atom.

    >>> atom_of("N+"), atom_of("OH1"), atom_of("Cl"), atom_of("Car"), atom_of("helix")
    (('N', 'N⁺'), ('O', 'OH'), ('Cl', 'Cl'), ('C', 'C'), None)
    """
    start = re.match(r"[A-Z][a-z]?", label)
    if start is None:
        return None
    long, short = start[0], label[0]
    for symbol in (long,) if long == label else (short, long):
        suffix = _SUFFIX.fullmatch(label[len(symbol) :])
        if symbol in _SYMBOLS and suffix is not None:
            charge, hydrogens = suffix[1] or "", suffix[2] or ""
            hydrogens = "H" + hydrogens[1:].replace("1", "", hydrogens == "H1") if hydrogens else ""
            return symbol, symbol + hydrogens.translate(_LOWERED) + charge.translate(_RAISED)
    return None


def atoms_of(labels: Sequence[str], bonds: Sequence[str]) -> list[tuple[str, str]] | None:
    """The atoms of a graph with these labels of nodes and edges; None if it is not a molecule.

    >>> atoms_of(["C", "O"], ["double"])
    [('C', 'C'), ('O', 'O')]
    >>> atoms_of(["C", "O"], ["friend"]) is None
    True
    """
    if not labels or not all(bond in BOND_ORDERS for bond in bonds):
        return None
    known = {label: atom_of(label) for label in set(labels)}
    atoms = [atom for label in labels if (atom := known[label]) is not None]
    return atoms if len(atoms) == len(labels) else None


def _rdkit_points(
    atoms: Sequence[tuple[str, str]], edges: Ints, orders: Sequence[float]
) -> Floats | None:
    """RDKit's coordinates with bonds of length 1; None without RDKit, or if it gives none."""
    try:
        from rdkit import Chem
        from rdkit.Chem import rdDepictor
    except ImportError:
        return None
    kinds = {
        1.0: Chem.BondType.SINGLE,
        2.0: Chem.BondType.DOUBLE,
        3.0: Chem.BondType.TRIPLE,
        1.5: Chem.BondType.AROMATIC,
        4.0: Chem.BondType.QUADRUPLE,
    }
    molecule = Chem.RWMol()
    try:
        with quiet():
            for symbol, _ in atoms:
                molecule.AddAtom(Chem.Atom(symbol))
            for (u, v), order in zip(edges.tolist(), orders, strict=True):
                molecule.AddBond(u, v, kinds[order])
            molecule.UpdatePropertyCache(strict=False)
            Chem.FastFindRings(molecule)
            rdDepictor.Compute2DCoords(molecule, canonOrient=True)
    except (RuntimeError, ValueError):
        return None
    bond_length = 1.5  # of RDKit
    points: Floats = np.asarray(molecule.GetConformer().GetPositions())[:, :2] / bond_length
    return points if np.isfinite(points).all() else None
