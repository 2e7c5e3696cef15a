"""Pictures of patterns and graphs: their content and positions, and errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from gramlet import (
    GraphBatch,
    WeightedWassersteinWL,
    WeisfeilerLehman,
    explain_linear,
    plot_graph_importance,
    plot_patterns,
)
from gramlet.plotting import draw_graph, layout
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


def test_names_are_shown_for_labels(weighted):
    renamed = {label: f"<{label}>" for label in GRAPHS.node_labels.used()}
    assert any(t.startswith("<") for t in texts(plot_patterns(weighted, node_names=renamed)))


def test_importance_of_nodes(weighted, explanation):
    graph = GRAPHS[int(np.argmax(GRAPHS.sizes))]
    n = graph.n_nodes_total
    ax = plot_graph_importance(weighted, graph)
    assert len(ax.collections[1].get_offsets()) == n
    ax = plot_graph_importance(explanation, graph)
    np.testing.assert_allclose(ax.collections[1].get_array(), explanation.nodes(graph).sum(axis=1))


def test_layout_keeps_distances_and_sets_components_apart():
    path = GraphBatch.from_edges([[(0, 1), (1, 2), (2, 3)]], n_nodes=[5])
    points = layout(path)
    np.testing.assert_allclose(np.linalg.norm(points[0] - points[3]), 3.0, atol=0.05)
    assert points[4, 0] > points[:4, 0].max()
    assert np.array_equal(points, layout(path))


@pytest.mark.parametrize("edges", [[], [(0, 1)]])
def test_small_graphs_can_be_drawn(edges):
    ax = draw_graph((edges, ["C", "O"]))
    assert {t.get_text() for t in ax.texts} == {"C", "O"}
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
    drawn = draw_graph(batch[1]).findobj(mpl.text.Annotation)
    assert len(drawn) == 3  # both arcs between two nodes, and one that leads from 2 to 0
    ends = {(tuple(a.xyann), tuple(a.xy)) for a in drawn}
    p = layout(batch[1])
    assert ends == {(tuple(p[u]), tuple(p[v])) for u, v in edges[1]}
    model = make_pipeline(WeisfeilerLehman(n_iter=1), SVC(kernel="precomputed"))
    explanation = explain_linear(model.fit(batch, np.arange(8) % 2))
    assert "h1:a(<b)" in explanation.names
    assert {">", "<"} <= set(texts(plot_patterns(explanation, level=1)))
    plot_graph_importance(explanation, batch[0])
