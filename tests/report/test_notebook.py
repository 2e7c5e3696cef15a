"""Output for notebooks: facts and pictures, escaped, small."""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from gramlet import GraphBatch, KernelMap, WeisfeilerLehman, explain_linear, explain_model

pytest.importorskip("networkx", reason="needs networkx")

HOSTILE = "<script>alert(1)</script>"


def shown(thing) -> str:
    """The HTML of an object, which must be well-formed and small."""
    text = thing._repr_html_()
    assert len(text) < 100_000
    ET.fromstring(text.replace("<br>", "<br/>"))
    return text


def test_batches_show_facts_and_some_graphs(mutag):
    text = shown(mutag.graphs)
    assert "188 graphs, 3371 nodes" in text
    assert text.count("<svg") == 4
    named = shown(mutag)
    assert ">O</text>" in named
    assert "classification" in named
    shown(mutag.graphs[:0])
    clique = GraphBatch.from_edges([[(i, j) for i in range(300) for j in range(i)]])
    assert "60 of 300 nodes" in shown(clique)


def test_without_networkx_the_facts_stay(mutag, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    text = shown(mutag.graphs)
    assert "188 graphs, 3371 nodes" in text
    assert "pip install gramlet[plot]" in text


def test_results_show_scores_and_baselines(mutag_results):
    text = shown(mutag_results[0])
    assert f"accuracy {100 * mutag_results[0].mean:.1f} %" in text
    assert "size (baseline)" in text


def test_maps_show_points(mutag):
    unfitted = KernelMap("vertex")
    assert "KernelMap" in unfitted._repr_mimebundle_()["text/plain"]
    assert "KernelMap" in unfitted._repr_html_()
    graph_map = KernelMap("vertex").fit(mutag.graphs)
    fitted = graph_map._repr_mimebundle_()
    assert shown(graph_map) == fitted["text/html"]
    assert fitted["text/html"].count("<circle") == 188
    assert "component 1" in fitted["text/html"]


def test_explanations_show_patterns(mutag):
    model = make_pipeline(WeisfeilerLehman(n_iter=1), SVC(kernel="precomputed"))
    model.fit(mutag.graphs, mutag.target)
    linear = explain_linear(model)
    strongest = linear.top(1)[0][0]
    assert strongest in shown(linear)
    assert shown(linear).count("<svg") == 8
    named = explain_model(model, mutag.graphs, mutag.target, node_names=mutag.node_label_names)
    assert ">N</text>" in shown(named)


@pytest.mark.parametrize("kernel", ["wl"])
def test_hostile_names_are_escaped(kernel):
    batch = GraphBatch.from_edges([[(0, 1)]] * 6, node_labels=[[HOSTILE, "b"], ["c", "d"]] * 3)
    assert "<script" not in shown(batch)
    model = make_pipeline(WeisfeilerLehman(n_iter=1), SVC(kernel="precomputed"))
    model.fit(batch, np.array([HOSTILE, "x"] * 3))
    text = shown(explain_linear(model))
    assert "<script" not in text
    assert "&lt;script&gt;" in text
