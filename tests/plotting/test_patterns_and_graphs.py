"""Pictures of patterns and graphs: their content and positions, and errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from gramlet import (
    GraphBatch,
    ShortestPath,
    WeightedWassersteinWL,
    WeisfeilerLehman,
    explain_linear,
    explain_model,
    plot_graph_importance,
    plot_patterns,
)
from gramlet.plotting import draw_graph, drawing_of, layout, patterns
from gramlet.plotting.colours import importance_colour
from reference.examples import random_graphs

pytest.importorskip("networkx", reason="needs networkx")
mpl = pytest.importorskip("matplotlib", reason="needs matplotlib")
mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

GRAPHS = random_graphs(0, n_graphs=20)
Y = np.arange(20) % 2


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def weighted():
    return WeightedWassersteinWL(n_iter=1, solver="accelerated").fit(GRAPHS, Y)


@pytest.fixture(scope="module")
def explanation():
    model = make_pipeline(WeisfeilerLehman(n_iter=1), SVC(kernel="precomputed"))
    return explain_linear(model.fit(GRAPHS, Y))


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
    graph = GRAPHS[int(np.argmax(GRAPHS.sizes))]
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
    names = {label: f"<{label}>" for label in GRAPHS.node_labels.used()}
    model = make_pipeline(kernel, SVC(kernel="precomputed")).fit(GRAPHS, Y)
    drawn = []
    monkeypatch.setattr(patterns, "put_on_axes", lambda d, ax: drawn.append(d) or ax)
    plot_patterns(explain_model(model, GRAPHS, Y, node_names=names), n=3)
    shown = {name for drawing in drawn for name in drawing.names if name}
    assert shown
    assert shown <= set(names.values())


def test_a_graph_of_an_explanation_is_given_by_its_position():
    model = make_pipeline(WeisfeilerLehman(n_iter=1), SVC(kernel="precomputed")).fit(GRAPHS, Y)
    names = {label: f"<{label}>" for label in GRAPHS.node_labels.used()}
    found = explain_model(model, GRAPHS, Y, node_names=names)
    assert fills(plot_graph_importance(found, 3)) == fills(
        plot_graph_importance(explain_linear(model), GRAPHS[3])
    )
    with pytest.raises(ValueError, match="position of one of its 20 graphs"):
        plot_graph_importance(found, 20)


def test_layout_keeps_distances_and_sets_components_apart():
    path = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]], n_nodes=[5])
    points = layout(path)
    np.testing.assert_allclose(np.linalg.norm(points[0] - points[3]), 3.0, atol=0.05)
    assert points[4, 0] > points[:4, 0].max()
    assert np.array_equal(points, layout(path))


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
def test_small_graphs_can_be_drawn(edges):
    assert letters(draw_graph((edges, ["$C", "O"]))) == 2
    draw_graph(GraphBatch.from_edges([[]]))


def test_other_models_have_no_patterns():
    with pytest.raises(TypeError, match="Patterns have values in"):
        plot_patterns(WeisfeilerLehman().fit(GRAPHS))


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
