"""Drawings: molecules by their bonds and elements, one colour per label, notes, safe SVG."""

from __future__ import annotations

import re
import time
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest

from gramlet import GraphBatch, load_dataset
from gramlet.plotting.colours import ELEMENT_COLOURS, class_style, label_colours
from gramlet.plotting.drawing import atom_of, drawing_of
from gramlet.plotting.svg import drawing_svg

pytest.importorskip("networkx", reason="needs networkx")

HOSTILE = "</svg><script>alert(1)</script>"


@pytest.fixture(scope="module")
def mutag():
    return load_dataset("MUTAG")


def test_mutag_is_drawn_as_molecules(mutag):
    names = {"node_names": mutag.node_label_names, "edge_names": mutag.edge_label_names}
    drawn = drawing_of(mutag.graphs[0], **names)
    assert drawn.molecule
    assert sorted(filter(None, drawn.texts)) == ["N", "O", "O"]
    assert {stroke.order for stroke in drawn.strokes} == {1.0, 1.5, 2.0}
    assert len(drawn.strokes) == mutag.graphs.n_edges[0]
    oxygen = drawn.texts.index("O")
    assert drawn.colours[oxygen] == ELEMENT_COLOURS["O"]
    assert not drawing_of(mutag.graphs[0]).molecule  # numbers are not elements


def test_bonds_of_molecules_have_one_length():
    pytest.importorskip("rdkit")
    drawn = drawing_of("CC(=O)Oc1ccccc1C(=O)[O-]")
    lengths = [np.linalg.norm(drawn.points[s.tail] - drawn.points[s.head]) for s in drawn.strokes]
    np.testing.assert_allclose(lengths, 1.0, atol=0.03)
    assert "O⁻" in drawn.texts


def test_broken_lines_of_a_ring_are_inside():
    pytest.importorskip("rdkit")
    drawn = drawing_of("c1ccccc1")
    middle = drawn.points.mean(axis=0)
    shapes = drawn.shapes()
    assert len(shapes.lines) == len(shapes.dashed) == 6
    for (a, b), (c, d) in zip(shapes.lines, shapes.dashed, strict=True):
        assert np.linalg.norm((c + d) / 2 - middle) < np.linalg.norm((a + b) / 2 - middle)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("C", ("C", "C")),
        ("Cl", ("Cl", "Cl")),
        ("N+", ("N", "N⁺")),
        ("NH3+", None),
        ("N+H3", ("N", "NH₃⁺")),
        ("OH1", ("O", "OH")),
        ("Car", ("C", "C")),
        ("Q", None),
        ("7", None),
        ("", None),
        ("Nonsense", None),
    ],
)
def test_labels_of_atoms(label, expected):
    assert atom_of(label) == expected


def test_one_label_has_one_colour_in_every_graph_of_a_set():
    batch = GraphBatch.from_edges(
        [[(0, 1)], [(0, 1)], [(0, 1)]], node_labels=[["x", "y"], ["y", "z"], ["z", "x"]]
    )
    seen: dict[str, set[str]] = {}
    for graph in batch:
        drawn = drawing_of(graph)
        for name, colour in zip(drawn.names, drawn.colours, strict=True):
            seen.setdefault(name, set()).add(colour)
    assert all(len(colours) == 1 for colours in seen.values())
    assert len(set.union(*seen.values())) == 3
    assert len(set(label_colours(range(20)).values())) == 20


def test_twenty_classes_are_told_apart():
    styles = [class_style(i) for i in range(20)]
    assert len(set(styles)) == 20
    for (colour, marker), (next_colour, next_marker) in pairwise(styles):
        assert colour != next_colour
        assert marker != next_marker


def test_one_scale_of_importance():
    graph = ([(0, 1)], "ab")
    weak = drawing_svg(drawing_of(graph, [0.1, -0.1]), reach=1.0)
    strong = drawing_svg(drawing_of(graph, [1.0, -1.0]), reach=1.0)
    alone = drawing_svg(drawing_of(graph, [0.1, -0.1]))
    assert "#b2182b" in strong
    assert "#b2182b" not in weak
    assert "#b2182b" in alone


def test_values_must_be_one_per_node():
    with pytest.raises(ValueError, match="3 numbers for a graph of 2 nodes"):
        drawing_of(([(0, 1)], "ab"), [1, 2, 3])


def test_large_graphs_are_drawn_in_part_and_say_so():
    rng = np.random.default_rng(0)
    edges = [(i, int(rng.integers(max(0, i - 50), i))) for i in range(1, 5000)]
    started = time.process_time()
    drawn = drawing_of(GraphBatch.from_edges([edges], n_nodes=[5000]), np.arange(5000.0))
    assert time.process_time() - started < 20.0  # about five on an idle machine
    assert len(drawn.points) == len(drawn.values) == 1000
    assert drawn.note == "1,000 of 5,000 nodes"
    dense = GraphBatch.from_edges([[(i, j) for i in range(40) for j in range(i)]])
    assert drawing_of(dense, most_edges=100).note == "100 of 780 edges"


def test_hostile_labels_are_text():
    picture = drawing_svg(
        drawing_of(([(0, 1)], ["<b>", "&"])), title=f'"{HOSTILE}"', css_class="graph"
    )
    root = ET.fromstring(picture)
    assert {element.tag for element in root.iter()} <= {"svg", "g", "path", "circle", "text"}
    assert [element.text for element in root.iter("text")] == ["<b>", "&"]
    assert root.get("aria-label") == f'"{HOSTILE}"'


@pytest.mark.parametrize("n", [0, 1, 2])
def test_small_graphs(n):
    picture = drawing_svg(
        drawing_of(GraphBatch.from_edges([[(0, 1)] if n == 2 else []], n_nodes=[n]))
    )
    assert picture.count("<circle") == n
    assert bool(re.search(r"M[\d.]+ [\d.]+L", picture)) == (n == 2)


def test_arcs_have_heads():
    batch = GraphBatch.from_edges([[(0, 1), (1, 2)]], directed=True)
    drawn = drawing_of(batch)
    assert drawing_svg(drawn).count("Z") == 2
    for stroke, (tip, *_) in zip(drawn.strokes, drawn.shapes().arrows, strict=True):
        apart = np.linalg.norm(tip - drawn.points[[stroke.tail, stroke.head]], axis=1)
        assert apart[1] == pytest.approx(drawn.radius)
        assert apart[0] > apart[1]
