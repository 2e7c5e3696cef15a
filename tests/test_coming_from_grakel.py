"""The page for users of GraKeL: complete, and correct for the installed GraKeL."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gramlet import as_batch, gram, load_dataset
from gramlet.kernels import registry
from gramlet.kernels.expression import ExpressionError
from gramlet.kernels.grakel_names import GRAKEL_NAMES, GRAKEL_PARAMETERS

PAGE = Path(__file__).parents[1] / "docs" / "coming_from_grakel.md"
if not PAGE.is_file():
    pytest.skip("the pages are not part of an installed package", allow_module_level=True)
TEXT = PAGE.read_text(encoding="utf-8")
NOT_OFFERED = {"LOVT", "lovasz_theta"}
COMMON = {"n_jobs", "normalize", "verbose", "random_state"}


@pytest.fixture(scope="module")
def grakel() -> Any:
    return pytest.importorskip("grakel", reason="the page compares with GraKeL")


@pytest.fixture(scope="module")
def shown(grakel: Any) -> dict[str, Any]:
    """The value of each block of the page under its heading, and the names it defines."""
    values: dict[str, Any] = {}
    names: dict[str, Any] = {}
    heading = ""
    for part in re.split(r"^(#+ .*)$", TEXT, flags=re.M):
        if part.startswith("#"):
            heading = part.strip("# ")
        for block in re.findall(r"^```python\n(.*?)^```$", part, re.S | re.M):
            values.setdefault(heading, []).append(_run(block, names))
    return {**values, "names": names}


def _run(block: str, names: dict[str, Any]) -> Any:
    tree = ast.parse(block)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(PAGE), "exec"), names)
    if last is None:
        return None
    return eval(compile(ast.Expression(last.value), str(PAGE), "eval"), names)


def _rows() -> dict[str, str]:
    """The rows of the table of classes, by GraKeL's class."""
    found = re.findall(r"^\| `(\w+)` \|.*$", TEXT, re.M)
    return {name: re.search(rf"^\| `{name}` \|(.*)$", TEXT, re.M)[1] for name in found}


def test_every_class_and_every_parameter_is_on_the_page(grakel):
    from grakel.kernels import Kernel

    rows = _rows()
    classes = [
        value
        for value in vars(grakel).values()
        if inspect.isclass(value) and issubclass(value, Kernel) and value is not Kernel
    ]
    assert len(classes) >= 22
    for kernel in classes:
        row = rows[kernel.__name__]
        if "as above" in row:  # the kernel on attributes after the one on labels
            row += rows[kernel.__name__.removesuffix("Attr").removesuffix("Labeled")]
        for name in set(inspect.signature(kernel).parameters) - COMMON:
            assert f"`{name}`" in row, (kernel.__name__, name)
            assert name in GRAKEL_PARAMETERS or name in registry_parameters(), name


def registry_parameters() -> set[str]:
    names = {"base_kernel"}  # of the kernel that gramlet does not have
    return names.union(*(row.make().get_params() for row in registry.entries()))


def test_everything_else_that_grakel_exports_is_on_the_page(grakel):
    for name in set(grakel.__all__) - {"datasets"}:
        assert f"`{name}" in TEXT, name


def test_every_name_of_grakel_is_known_here(grakel):
    from grakel import graph_kernels

    for names in (*graph_kernels.sbk, *graph_kernels.sf):
        for name in names:
            assert f"`{name}`" in TEXT, name
            if name not in NOT_OFFERED:
                assert registry.find(name) is not None, name
    known = {name for names in (*graph_kernels.sbk, *graph_kernels.sf) for name in names}
    assert set(GRAKEL_NAMES) <= known


def test_names_of_grakel_hide_none_of_ours():
    own = {row.name for row in registry.entries()}
    assert own.isdisjoint(GRAKEL_NAMES)
    assert set(GRAKEL_NAMES.values()) <= own


def test_capital_letters_count_as_they_do_there():
    for name in ("Wl", "sP", "Shortest_Path"):
        assert registry.find(name) is None
        with pytest.raises(ValueError, match="No kernel is called"):
            registry.get(name)


@pytest.mark.parametrize("name", sorted(NOT_OFFERED))
def test_what_is_not_offered_names_the_page_and_the_nearest(name):
    with pytest.raises(ValueError, match=r"not offered.*'svm-theta'.*'Coming from GraKeL'"):
        registry.get(name)
    with pytest.raises(ExpressionError, match=r"at position 5.*\n?.*not offered"):
        registry.get(f"wl + {name}")


def test_parameters_of_grakel_point_to_the_page():
    with pytest.raises(ValueError, match=r"no parameter 'lamda'.*'Coming from GraKeL'"):
        registry.make("RW", lamda=0.1)
    with pytest.raises(ValueError, match="no parameter 'nonsense'") as caught:
        registry.make("RW", nonsense=0.1)
    assert "GraKeL" not in str(caught.value)


def test_names_of_grakel_in_expressions():
    graphs = [([(0, 1), (1, 2)], ["C", "C", "O"]), ([(0, 1)], ["C", "O"])]
    expected = gram(graphs, "wl(n_iter=2) + 0.5 * sp")
    np.testing.assert_array_equal(gram(graphs, "WL(n_iter=2) + 0.5 * shortest_path"), expected)
    np.testing.assert_array_equal(gram(graphs, "CORE(VH)"), gram(graphs, "core(vertex)"))
    np.testing.assert_array_equal(gram(graphs, "wl", base="SP"), gram(graphs, "wl(sp)"))
    np.testing.assert_array_equal(gram(graphs, "shortest-path + wl"), gram(graphs, "sp + wl"))


def test_equal_numbers_on_the_page_and_on_molecules(grakel, shown):
    names = shown["names"]
    assert len(names["agreement"]) == len(names["same"]) >= 12
    assert all(names["agreement"].values()), names["agreement"]
    graphs = load_dataset("MUTAG").graphs[:10]
    listed = [_listed(graph) for graph in graphs]
    assert as_batch(listed) == graphs
    for name, (peer, ours) in names["same"].items():
        expected = peer.fit_transform(listed)
        np.testing.assert_allclose(ours.fit_transform(graphs), expected, rtol=1e-6, err_msg=name)


def _listed(graph: Any) -> list[Any]:
    tails, heads = graph.arcs()
    arcs = list(zip(tails.tolist(), heads.tolist(), strict=True))
    labels = dict(enumerate(graph.node_labels))
    return [dict.fromkeys(arcs, 1), labels, dict(zip(arcs, graph.edge_labels, strict=True))]


def test_names_and_frameworks_on_the_page(shown):
    assert shown["Names"][-1] is True


def test_what_differs_by_a_known_amount(shown):
    assert shown["Edge histograms"] == [True]
    assert shown["Codes of labels"] == [True]
    assert shown["Random walks"] == [(False, True)]
    assert shown["Laplacians"] == [True]


def test_what_is_wrong_there_is_still_wrong_and_right_here(shown):
    """Fails if GraKeL repairs something: then the page must be changed."""
    peer, ours = shown["NSPDK"][0]
    assert (ours == 4.0).all()
    assert peer[0, 1] != pytest.approx(4.0)
    first, last, ours = shown["ODD-STh"][0]
    assert (first[0, 0], last[1, 1], ours[1, 1]) == (4.0, 7.0, 4.0)
    peer, ours = shown["Graphlets"][0]
    assert (ours == 1.0).all()
    assert len(np.unique(np.diagonal(peer))) > 1
    assert shown["Pyramid match"] == [(4.5, 3.0)]
    peer, ours = shown["SVM-theta"][0]
    assert (peer == 0.0).all()
    assert (ours > 0.0).all()
    peer, ours = shown["Cores"][0]
    assert (peer[0, 0], ours[0, 0], ours[3, 3]) == (10.0, 0.0, 9.0)
    weights = shown["GraphHopper"][0]
    assert weights["the path"] == (33.0, 33.0)
    assert weights["weights doubled"] == (18.0, 33.0)
    np.testing.assert_array_equal(shown["GraphHopper"][1], [[33.0, 2.0], [2.0, 1.0]])


def test_an_empty_entry_is_a_graph_without_nodes(shown):
    graphs = shown["names"]["graphs"]
    assert shown["Graphs stay as they are"][1] == (2, 2)
    assert as_batch([graphs[0], [], graphs[1]]).sizes[1] == 0


def test_all_formats_of_grakel_are_read(grakel):
    from scipy import sparse

    matrix = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    labels = {0: "C", 1: "O", 2: "N"}
    kinds = {(0, 1): "s", (1, 0): "s", (1, 2): "d", (2, 1): "d"}
    structures = {
        "matrix": matrix,
        "sparse": sparse.csr_matrix(matrix),
        "lists": matrix.tolist(),
        "dictionary of lists": {0: [1], 1: [0, 2], 2: [1]},
        "nested dictionary": {0: {1: 1.0}, 1: {0: 1.0, 2: 1.0}, 2: {1: 1.0}},
        "arcs with weights": dict.fromkeys(kinds, 1),
        "list of arcs": list(kinds),
        "set of arcs": set(kinds),
        "triples": [(u, v, 1.0) for u, v in kinds],
    }
    expected = as_batch([(list(kinds), labels, kinds)])
    assert list(expected.node_labels) == ["C", "O", "N"]
    for name, structure in structures.items():
        assert as_batch([[structure, labels, kinds]]) == expected, name
        for how in ("auto", "all", "adjacency", "dictionary"):
            graph = grakel.Graph(structure, labels, kinds, graph_format=how)
            assert as_batch([graph]) == expected, (name, how)


def test_the_page_is_found():
    index = (PAGE.parent / "index.md").read_text(encoding="utf-8")
    assert "\ncoming_from_grakel\n" in index
