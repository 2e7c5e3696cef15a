"""Patterns and graphs: drawings agree with names and values, with matplotlib and without."""

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
    WeightedWassersteinWL,
    WeisfeilerLehman,
    explain_linear,
    explain_model,
    load_dataset,
    plot_graph_importance,
    plot_patterns,
)
from gramlet.plotting import draw_graph, drawing_of, layout, patterns
from gramlet.plotting.colours import importance_colour
from gramlet.plotting.patterns import can_draw, pattern_drawing
from reference.examples import random_graphs

pytest.importorskip("networkx", reason="needs networkx")
mpl = pytest.importorskip("matplotlib", reason="needs matplotlib")
mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

MUTAG = load_dataset("MUTAG")
GRAPHS = MUTAG.graphs[:30]
NAMES = {"node_names": MUTAG.node_label_names, "edge_names": MUTAG.edge_label_names}
RANDOM = random_graphs(0, n_graphs=20)
SIDES = np.arange(20) % 2


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
    model = make_pipeline(kernel, SVC(kernel="precomputed")).fit(GRAPHS, np.arange(30) % 2)
    assert can_draw(model[0])
    figure = plot_patterns(explain_linear(model), n=3, graphs=GRAPHS, **NAMES)
    bars = [p for p in figure.findobj(mpl.patches.Rectangle) if p.get_height() == 0.55]
    assert len(bars) == min(3, len(explain_linear(model).names))
    with pytest.raises(ValueError, match="have no levels"):
        plot_patterns(explain_linear(model), level=1)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def weighted():
    return WeightedWassersteinWL(n_iter=1, solver="accelerated").fit(RANDOM, SIDES)


@pytest.fixture(scope="module")
def explanation():
    model = make_pipeline(WeisfeilerLehman(n_iter=1), SVC(kernel="precomputed"))
    return explain_linear(model.fit(RANDOM, SIDES))


def texts(figure) -> list[str]:
    return [t.get_text() for t in figure.findobj(mpl.text.Text) if t.get_text()]


def test_patterns_by_level(weighted):
    figure = plot_patterns(weighted, n=3)
    shown = texts(figure)
    assert "level 0" in shown
    assert "level 1" in shown
    bars = [p for p in figure.findobj(mpl.patches.Rectangle) if p.get_height() == 0.55]
    drawn = sorted(p.get_x() + p.get_width() for p in bars)
    expected = [w[np.argsort(-np.abs(w - 1), kind="stable")[:3]] for w in weighted.weights_]
    np.testing.assert_allclose(drawn, np.sort(np.concatenate(expected)))


def test_one_level_of_coefficients(explanation):
    figure = plot_patterns(explanation, n=2, level=1)
    assert "level 0" not in texts(figure)
    with pytest.raises(ValueError, match="level must be one of"):
        plot_patterns(explanation, level=7)


def letters(ax) -> int:
    """How many texts are drawn; letters are outlines, as large as the rest."""
    layers = [c for c in ax.collections if c.get_label() == "_letters"]
    return len(layers[0].get_paths()) if layers else 0


def fills(ax) -> list[str]:
    """The colours of the nodes."""
    (nodes,) = (c for c in ax.collections if c.get_label() == "_nodes")
    return [mpl.colors.to_hex(colour) for colour in nodes.get_facecolors()]


def test_importance_of_nodes(weighted, explanation):
    graph = RANDOM[int(np.argmax(RANDOM.sizes))]
    assert len(fills(plot_graph_importance(weighted, graph))) == graph.n_nodes_total
    ax = plot_graph_importance(explanation, graph)
    values = explanation.nodes(graph).sum(axis=1)
    reach = np.abs(values).max()
    assert fills(ax) == [importance_colour(value, reach) for value in values]
    bar = ax.figure.axes[1]
    assert bar.get_ylim() == pytest.approx((-reach, reach))
    assert bar.get_ylabel() == "adds to the decision for 1"


@pytest.mark.parametrize("kernel", [WeisfeilerLehman(n_iter=1), ShortestPath()])
def test_explained_models_are_drawn_with_the_names_they_were_given(kernel, monkeypatch):
    names = {label: f"<{label}>" for label in RANDOM.node_labels.used()}
    model = make_pipeline(kernel, SVC(kernel="precomputed")).fit(RANDOM, SIDES)
    drawn = []
    monkeypatch.setattr(patterns, "put_on_axes", lambda d, **axes: drawn.append(d))
    plot_patterns(explain_model(model, RANDOM, SIDES, node_names=names), n=3)
    shown = {name for drawing in drawn for name in drawing.names if name}
    assert shown
    assert shown <= set(names.values())


def test_a_graph_of_an_explanation_is_given_by_its_position():
    model = make_pipeline(WeisfeilerLehman(n_iter=1), SVC(kernel="precomputed")).fit(RANDOM, SIDES)
    names = {label: f"<{label}>" for label in RANDOM.node_labels.used()}
    found = explain_model(model, RANDOM, SIDES, node_names=names)
    assert fills(plot_graph_importance(found, 3)) == fills(
        plot_graph_importance(explain_linear(model), RANDOM[3])
    )
    with pytest.raises(ValueError, match="position of one of its 20 graphs"):
        plot_graph_importance(found, 20)


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
def test_small_graphs_can_be_drawn(edges):
    assert letters(draw_graph((edges, ["$C", "O"]))) == 2
    draw_graph(GraphBatch.from_edges([[]]))


def test_other_models_have_no_patterns():
    with pytest.raises(TypeError, match="Patterns have values in"):
        plot_patterns(WeisfeilerLehman().fit(RANDOM))


def test_directed_graphs_are_drawn_with_arrows_and_marked_patterns():
    edges = [[(1, 0), (2, 1)], [(0, 1), (1, 0), (2, 0)]] * 4
    batch = GraphBatch.from_edges(edges, node_labels=["abc"] * 8, directed=True)
    points = layout(batch[0])
    apart = np.linalg.norm(points[:, None] - points[None, :], axis=2)
    np.testing.assert_allclose(apart, [[0, 1, 2], [1, 0, 1], [2, 1, 0]], atol=0.02)
    (arrows,) = (c for c in draw_graph(batch[1]).collections if c.get_label() == "_arrows")
    assert len(arrows.get_paths()) == 3  # both arcs between two nodes, and one from 2 to 0
    assert {stroke[:2] for stroke in drawing_of(batch[1]).strokes} == set(edges[1])
    model = make_pipeline(WeisfeilerLehman(n_iter=1), SVC(kernel="precomputed"))
    explanation = explain_linear(model.fit(batch, np.arange(8) % 2))
    assert "h1:a(<b)" in explanation.names
    tree = patterns.pattern_drawing(
        explanation.kernel, explanation.names.tolist().index("h1:a(<b)")
    )
    assert [stroke.text for stroke in tree.strokes] == ["<"]
    plot_patterns(explanation, level=1)
    plot_graph_importance(explanation, batch[0])
