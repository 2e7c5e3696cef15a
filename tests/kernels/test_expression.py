"""Kernels as text: their meaning, and errors that give the position."""

from __future__ import annotations

import numpy as np
import pytest

import gramlet
from gramlet import (
    GraphNystroem,
    KernelMap,
    KernelProduct,
    KernelSum,
    OptimalAssignment,
    Protocol,
    ShortestPath,
    VertexHistogram,
    WeisfeilerLehman,
    WLOptimalAssignment,
)
from gramlet.kernels import registry
from gramlet.kernels.expression import ExpressionError, parse_kernel

MUTAG = gramlet.load_dataset("MUTAG")
TANIMOTO = {"normalize": "tanimoto"}
WL, SP = WeisfeilerLehman(**TANIMOTO), ShortestPath(**TANIMOTO)
VERTEX = VertexHistogram(**TANIMOTO)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wl", WeisfeilerLehman()),
        ("wl()", WeisfeilerLehman()),
        (" wl-oa( n_iter = 2 ) ", WLOptimalAssignment(n_iter=2)),
        ("wl + sp", KernelSum([WL, SP])),
        ("2*wl", KernelSum([WL], [2.0])),
        ("wl+2e-1*sp", KernelSum([WL, SP], [1.0, 0.2])),
        (
            "wl(n_iter=3) * sp + 0.5 * vertex",
            KernelSum(
                [KernelProduct([WeisfeilerLehman(n_iter=3, **TANIMOTO), SP]), VERTEX],
                [1.0, 0.5],
            ),
        ),
        (
            "wl * (sp + vertex)",
            KernelProduct([WL, KernelSum([SP, VERTEX])]),
        ),
        ("2 * 3 * wl", KernelSum([WL], [6.0])),
        ("wl(base=edge)", WeisfeilerLehman(base="edge")),
        ("wl(base='edge', normalize=true)", WeisfeilerLehman(base="edge", normalize=True)),
        ('wl(use_edge_labels="auto", n_jobs=None)', WeisfeilerLehman()),
        ("wl(n_jobs=-1)", WeisfeilerLehman(n_jobs=-1)),
        ("wl(sp)", WeisfeilerLehman(base=ShortestPath())),
        ("wl(sp(use_labels=False) + vertex, n_iter=1)", None),
        ("v-oa", OptimalAssignment("vertex")),
    ],
)
def test_meaning(text, expected):
    found = parse_kernel(text)
    if expected is not None:
        assert repr(found) == repr(expected)
    if text.startswith("wl(sp("):
        assert isinstance(found.base, KernelSum)
        assert found.n_iter == 1


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("wl + vertx", 5, "Did you mean 'vertex'"),
        ("wl +", 4, "found the end"),
        ("wl sp", 3, r"Expected '\+', '\*', a value or the end, found 'sp'"),
        ("(wl + sp", 0, "'\\(' is still open"),
        ("wl)", 2, "found '\\)'"),
        ("wl(n_itr=3)", 3, "no parameter 'n_itr'"),
        ("wl(n_iter=)", 10, "a value"),
        ("wl(n_iter=3, n_iter=4)", 13, "given twice"),
        ("vertex(wl)", 7, "takes no base"),
        ("wl % sp", 3, "found '%'"),
        ("2 + wl", 0, "A number is not a kernel"),
        ("2 * 3", 0, "A number is not a kernel"),
        ("wl + -1 * sp", 5, "at least 0"),
        ("wl + 1e999 * sp", 5, "finite"),
        ("wl + 1e308 * sp", 5, "at most 1e\\+100"),
        ("1e99 * 1e99 * wl", 7, "product of the factors"),
        ("wl.fit", 0, "Expected a kernel's name"),
        ("(lambda: wl)()", 0, "Expected a kernel's name"),
        ("wl(*sp)", 3, "not followed by a kernel"),
        ("wl * rge", 5, "An embedding cannot be"),
        ("", 0, "empty"),
        ("__import__('os')", 0, "No kernel is called '__import__'"),
        ("wl(n_iter=[1, 2)", 15, "found '\\)'"),
        ("(" * 100 + "wl" + ")" * 100, 50, "too deeply"),
    ],
)
def test_mistakes_are_shown_with_a_caret(text, place, message):
    with pytest.raises(ExpressionError, match=message) as caught:
        parse_kernel(text)
    head, line, caret = str(caught.value).rsplit("\n", 2)
    assert f"(at position {place})" in head
    assert line == f"  {text}"
    assert caret == " " * (place + 2) + "^"


@pytest.mark.parametrize(
    ("text", "place", "hint"),
    [
        ("2 wl", 2, "Did you mean 'wl'"),
        ("wl sp", 3, "Did you mean 'wl-sp'"),
        ("wl - sp", 3, "found '-'"),
        ("wl$", 2, "found '\\$'"),
        ("wll sp2", 4, "Did you mean 'wl-sp'"),
        ("sp,", 0, "Expected a kernel's name"),
    ],
)
def test_a_text_without_operators_shows_its_place_too(text, place, hint):
    with pytest.raises(ExpressionError, match=hint) as caught:
        registry.get(text)
    assert f"(at position {place})" in str(caught.value)


def test_long_sums_are_read_or_refused():
    assert len(parse_kernel("+".join(["vertex"] * 200)).kernels) == 200
    with pytest.raises(ExpressionError, match="at most 10000 characters"):
        parse_kernel("+".join(["vertex"] * 5000))


def test_every_door_reads_expressions():
    graphs = MUTAG.graphs[:20]
    text = "wl(n_iter=1) * sp + 0.5 * vertex"
    expected = WeisfeilerLehman(n_iter=1, **TANIMOTO).fit_transform(graphs) * SP.fit_transform(
        graphs
    )
    expected = expected + 0.5 * VERTEX.fit_transform(graphs)
    np.testing.assert_allclose(gramlet.gram(graphs, text), expected)
    normalised = gramlet.gram(graphs, text, normalize=True)
    assert np.array_equal(np.diagonal(normalised), np.ones(20))
    assert KernelMap("wl + sp").fit_transform(graphs).shape == (20, 2)
    assert GraphNystroem("wl + sp", 5, random_state=0).fit_transform(graphs).shape == (20, 5)
    result = gramlet.evaluate(
        "wl(n_iter=1) + sp",
        MUTAG.graphs[:60],
        MUTAG.target[:60],
        Protocol(folds=2, repeats=1, inner_folds=2),
    )
    assert result.accuracies.shape == (1, 2)
    with pytest.raises(ValueError, match="has no parameter 'n_iter'"):
        gramlet.gram(graphs, "wl + sp", n_iter=3)


def test_rows_of_expressions():
    row = registry.get("2 * wl(normalize=False)")
    assert row.kind == "kernel"
    assert row.tags.features
    assert row.cls() is KernelSum
    assert registry.get("rge(gamma=0.5)").kind == "embedding"
    with pytest.raises(ValueError, match="No kernel is called 'wll'"):
        registry.get("wll")


def test_kernels_by_name():
    assert gramlet.list_kernels() == [row.name for row in registry.entries()]
    assert set(gramlet.list_kernels("embedding")) < set(gramlet.list_kernels())
    assert repr(gramlet.make_kernel("wl", n_iter=2)) == repr(WeisfeilerLehman(n_iter=2))


def test_parameters_of_grakel_in_a_constructor_point_to_the_page():
    with pytest.raises(TypeError, match=r"no parameter 'h'.*Coming from GraKeL.*n_iter"):
        WeisfeilerLehman(h=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_itr'"):
        WeisfeilerLehman(n_itr=3)
