"""Maps of graphs: classes have a legend, numbers a colour bar."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import KernelMap
from gramlet.plotting import plot_map
from reference.evaluation import trees

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("Agg")


@pytest.fixture(scope="module")
def graph_map():
    return KernelMap("wl").fit(trees(30))


def test_numbers_have_a_colour_bar(graph_map):
    values = np.linspace(-1.5, 2, 30)
    ax = plot_map(graph_map, values, value_name="logBB")
    assert ax.get_legend() is None
    points, bar = ax.collections[0], ax.figure.axes[1]
    np.testing.assert_array_equal(points.get_array(), values)
    assert bar.get_ylabel() == "logBB"
    assert points.get_clim() == (-1.5, 2)
    plt.close(ax.figure)


def test_classes_have_a_legend(graph_map):
    ax = plot_map(graph_map, np.arange(30) % 3)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]
    assert len(ax.figure.axes) == 1
    plt.close(ax.figure)


def test_values_must_match_the_graphs(graph_map):
    with pytest.raises(ValueError, match="3 values for 30 fitted graphs"):
        plot_map(graph_map, [0, 1, 0])


def test_twenty_classes_have_names_colours_and_markers():
    graph_map = KernelMap("wl").fit(trees(60))
    names = {letter: f"kind {letter}" for letter in "abcdefghijklmnopqrst"}
    ax = plot_map(graph_map, np.array([*names] * 3), class_names=names)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(names.values())
    looks = {
        (tuple(points.get_facecolor()[0]), points.get_paths()[0].vertices.round(3).tobytes())
        for points in ax.collections
    }
    assert len(looks) == 20
    plt.close(ax.figure)


def test_names_come_from_the_data_set():
    from gramlet import load_dataset

    mutag = load_dataset("MUTAG")
    ax = plot_map(KernelMap("vertex").fit(mutag.graphs), mutag.target, graphs=mutag, examples=2)
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert shown == ["not mutagenic", "mutagenic"]
    plt.close(ax.figure)


def test_graphs_are_mapped_by_the_default_kernel():
    from gramlet import load_dataset

    graphs = trees(30)
    ax = plot_map(graphs, np.arange(30) % 2, examples=3)
    scores = KernelMap().fit(graphs).scores_[:, :2]
    shown = np.concatenate([points.get_offsets() for points in ax.collections])
    np.testing.assert_allclose(shown, np.concatenate([scores[::2], scores[1::2]]))
    assert len(ax.child_axes) == 3
    mutag = load_dataset("MUTAG")
    legend = plot_map(mutag, examples=0).get_legend().get_texts()
    assert [text.get_text() for text in legend] == ["not mutagenic", "mutagenic"]
    with pytest.raises(TypeError, match=r"plot_map\(graphs, y\) draws a map"):
        plot_map(graphs, graphs=graphs)
    plt.close("all")
