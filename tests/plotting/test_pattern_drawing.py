"""Patterns of every kernel that can draw them: the drawing agrees with the name."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from gramlet import (
    NSPDK,
    EdgeHistogram,
    GraphBatch,
    GraphletKernel,
    ODDSTh,
    ShortestPath,
    VertexHistogram,
    WeisfeilerLehman,
    explain_linear,
    load_dataset,
    plot_patterns,
)
from gramlet.plotting.patterns import can_draw, pattern_drawing

pytest.importorskip("networkx", reason="needs networkx")

MUTAG = load_dataset("MUTAG")
GRAPHS = MUTAG.graphs[:30]
NAMES = {"node_names": MUTAG.node_label_names, "edge_names": MUTAG.edge_label_names}


def tree_text(drawing, node=None):
    """The tree of a drawing as text, in the notation of the kernels."""
    children: dict[int, list[tuple[int, int]]] = {}
    for stroke in drawing.strokes:
        times = int(stroke.text.rpartition("×")[2]) if "×" in stroke.text else 1
        children.setdefault(stroke.tail, []).append((stroke.head, times))
    if node is None:
        node = next(iter(set(range(len(drawing.names))) - {s.head for s in drawing.strokes}))
    below = [tree_text(drawing, c) for c, times in children.get(node, []) for _ in range(times)]
    return drawing.names[node] + (f"({','.join(sorted(below))})" if below else "")


@pytest.mark.parametrize("kernel", [WeisfeilerLehman(n_iter=2, use_edge_labels=False), ODDSTh(2)])
def test_trees(kernel):
    names = kernel.fit(GRAPHS).get_feature_names_out().tolist()
    for column in range(0, len(names), 7):
        text = names[column].partition(":")[2] or names[column]
        assert tree_text(pattern_drawing(kernel, column)) == text


def test_trees_have_names_of_bonds_and_one_colour_per_label():
    kernel = WeisfeilerLehman(n_iter=1).fit(GRAPHS)
    bonds = set(MUTAG.edge_label_names.values())
    own: dict[str, set[str]] = {}
    for column in range(kernel.counter_.n_features):
        drawn = pattern_drawing(kernel, column, **NAMES)
        assert {stroke.text.partition(" ×")[0] for stroke in drawn.strokes} <= bonds
        for name, colour in zip(drawn.names, drawn.colours, strict=True):
            own.setdefault(name, set()).add(colour)
    assert all(len(colours) == 1 for colours in own.values())
    assert len({colours.pop() for colours in own.values()}) == len(own) > 2
    given = pattern_drawing(kernel, 0, colours={"C": "#123456"}, **NAMES)
    assert given.colours[given.names.index("C")] == "#123456"


def test_no_text_of_a_tree_covers_another():
    """A letter of an edge label is 0.2 edges wide; boxes are as wide as their text."""
    batch = GraphBatch.from_edges(
        [[(0, 1), (0, 2), (0, 3)]],
        node_labels=[["a long name of a node"] * 4],
        edge_labels=[["quite a bond"] * 3],
    )
    kernel = WeisfeilerLehman(n_iter=1).fit(batch)
    for column in range(kernel.counter_.n_features):
        drawn = pattern_drawing(kernel, column)
        assert set(drawn.texts) == {"a long name of a node"}
        boxes = drawn.shapes().boxes
        for stroke in drawn.strokes:
            apart = abs(drawn.points[stroke.head, 0] - drawn.points[stroke.tail, 0])
            covered = boxes[stroke.tail].half_width + boxes[stroke.head].half_width
            assert apart >= covered + 0.2 * len(stroke.text)


def test_graphlets():
    kernel = GraphletKernel(k=4, connected_only=False).fit(GRAPHS)
    for column, name in enumerate(kernel.get_feature_names_out()):
        drawn = pattern_drawing(kernel, column)
        assert len(drawn.points) == 4
        edges = [] if "no edges" in name else name.split(": ")[1].split()
        assert sorted(f"{s.tail}-{s.head}" for s in drawn.strokes) == sorted(edges)


def test_shortest_paths():
    kernel = ShortestPath().fit(GRAPHS)
    for column, name in enumerate(kernel.get_feature_names_out()):
        drawn = pattern_drawing(kernel, column, **NAMES)
        ends, length = name.split(":")
        expected = [MUTAG.node_label_names[int(end)] for end in ends.split("-")]
        assert [drawn.names[0], drawn.names[-1]] == expected
        if int(length) <= 8:
            assert len(drawn.strokes) == int(length)
        else:
            assert drawn.strokes[0].text == length


def test_labels_and_edges():
    kernel = VertexHistogram().fit(GRAPHS)
    assert pattern_drawing(kernel, 0, **NAMES).names == ["C"]
    kernel = EdgeHistogram().fit(GRAPHS)
    name = kernel.get_feature_names_out()[0]
    drawn = pattern_drawing(kernel, 0)
    assert f"{drawn.names[0]}-{drawn.strokes[0].text}-{drawn.names[1]}" == name


def test_pairs_of_balls_are_cut_out_of_a_graph():
    kernel = NSPDK(radius=1, distance=2).fit(GRAPHS)
    names = kernel.get_feature_names_out().tolist()
    for column in range(0, len(names), 9):
        head, _, text = names[column].partition(": ")
        radius, distance = (int(part[1:]) for part in head.split())
        drawn = pattern_drawing(kernel, column, graphs=GRAPHS)
        roots = drawn.marked
        assert sorted(drawn.names[r] for r in roots) == sorted(
            (text if distance else f"{text} - {text}").replace("(", " ").split(" - ")[i].split()[0]
            for i in (0, 1)
        )
        assert (roots[0] == roots[1]) == (distance == 0)
        hops = np.full(len(drawn.points), np.inf)
        hops[list(roots)] = 0
        for _ in range(5):
            for stroke in drawn.strokes:
                a, b = stroke.tail, stroke.head
                hops[a], hops[b] = min(hops[a], hops[b] + 1), min(hops[b], hops[a] + 1)
        assert hops.max() <= max(radius, distance / 2)
    without = pattern_drawing(kernel, len(names) - 1)
    assert without.boxes


@pytest.mark.parametrize(
    "kernel", [NSPDK(1, 1), ODDSTh(1), GraphletKernel(k=3), ShortestPath(), VertexHistogram()]
)
def test_all_are_plotted_beside_bars(kernel):
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    model = make_pipeline(kernel, SVC(kernel="precomputed")).fit(GRAPHS, np.arange(30) % 2)
    assert can_draw(model[0])
    figure = plot_patterns(explain_linear(model), n=3, graphs=GRAPHS, **NAMES)
    bars = [p for p in figure.findobj(mpl.patches.Rectangle) if p.get_height() == 0.55]
    assert len(bars) == min(3, len(explain_linear(model).names))
    with pytest.raises(ValueError, match="have no levels"):
        plot_patterns(explain_linear(model), level=1)
    mpl.pyplot.close(figure)
