"""Objects of the engines in fitted models are refused if anything in them is changed."""

from __future__ import annotations

from dataclasses import is_dataclass, replace
from typing import Any

import numpy as np
import pytest

import gramlet
from gramlet import GraphBatch
from gramlet.common.fields import check, check_state
from gramlet.engine.core.signature_table import SignaturesOf


@pytest.fixture(scope="module")
def graphs() -> GraphBatch:
    edges = [[(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)], [(0, 1)]]
    return GraphBatch.from_edges(
        edges,
        node_labels=[["C", "O", "C"], ["C", "C", "N"], ["N", "O"]],
        edge_labels=[[1, 2], [1, 1, 2], [2]],
        node_attributes=[np.arange(2.0 * n).reshape(n, 2) for n in (3, 3, 2)],
    )


def engines(graphs: GraphBatch) -> dict[str, Any]:
    """Objects of the engines from some fitted kernels."""
    walks = gramlet.RandomWalk().fit(graphs)
    spectra = gramlet.RandomWalk(use_labels=False).fit(graphs)
    colours = gramlet.WeisfeilerLehman(n_iter=1, use_edge_labels=True).fit(graphs)
    points = gramlet.EMDKernel(n_dims=2).fit(graphs)
    labelled = gramlet.FeatureLaplacian().fit(graphs)
    attributed = gramlet.FeatureLaplacian(vertex_features="attributes").fit(graphs)
    exact = gramlet.MultiscaleLaplacian(n_levels=1, method="exact").fit(graphs)
    return {
        "walks": walks.profile_.graphs,
        "spectra": spectra.profile_.graphs,
        "refinement": colours.counter_.colouring.refinement,
        "table": colours.counter_.colouring.refinement.tables[0],
        "points": points.profile_.sets,
        "supported": labelled.profile_.covariances,
        "covariances": attributed.profile_.covariances,
        "exact": exact.profile_,
    }


def changed(thing: Any, name: str, value: Any) -> Any:
    """A copy with one field replaced."""
    if hasattr(thing, "_replace"):
        return thing._replace(**{name: value})
    if is_dataclass(thing):
        return replace(thing, **{name: value})
    copy = object.__new__(type(thing))
    if hasattr(thing, "__setstate__"):
        state = {**thing.__getstate__(), name: value}
        check_state(type(thing), state)
        copy.__setstate__(state)
        return copy
    copy.__dict__.update({**vars(thing), name: value})
    return copy


def at(array: np.ndarray, place: Any, value: Any) -> np.ndarray:
    array = array.copy()
    array[place] = value
    return array


CHANGES: list[tuple[str, str, Any]] = [
    ("walks", "heads", lambda a: at(a, 0, 3)),
    ("walks", "heads", lambda a: at(a, 0, -1)),
    ("walks", "heads", lambda a: a.astype(np.int32)),
    ("walks", "weights", lambda a: at(a, 0, np.nan)),
    ("walks", "weights", lambda a: a[:-1]),
    ("walks", "indptr", lambda a: at(a, 1, 50)),
    ("walks", "node_offsets", lambda a: at(a, 1, 2)),
    ("walks", "class_offsets", lambda a: at(a, 1, 0)),
    ("walks", "class_begins", lambda a: at(a, 0, 1)),
    ("walks", "class_ends", lambda a: at(a, 0, 0)),
    ("walks", "class_ends", lambda a: at(a, -1, 9)),
    ("walks", "class_labels", lambda a: a[::-1].copy()),
    ("spectra", "offsets", lambda a: at(a, -1, 99)),
    ("spectra", "values", lambda a: at(a, 0, np.inf)),
    ("spectra", "masses", lambda a: at(a, 0, -1.0)),
    ("refinement", "n_initial", lambda n: n - 1),
    ("refinement", "with_edge_labels", lambda flag: 2),
    ("refinement", "tables", lambda tables: [None]),
    ("table", "offsets", lambda a: at(a, -1, 10**6)),
    ("table", "offsets", lambda a: at(a, 0, 1)),
    ("table", "data", lambda a: a.astype(float)),
    ("points", "masses", lambda a: at(a, 0, 0)),
    ("points", "masses", lambda a: at(a, 0, a[0] + 1)),
    ("points", "offsets", lambda a: at(a, 1, -1)),
    ("points", "columns", lambda a: a[:, :-1]),
    ("points", "labels", lambda a: at(a, 0, -5)),
    ("supported", "codes", lambda a: a[::-1].copy()),
    ("supported", "codes", lambda a: at(a, 0, -1)),
    ("supported", "starts", lambda a: at(a, 1, 0)),
    ("supported", "values", lambda a: at(a, 0, -1.0)),
    ("supported", "logs", lambda a: at(a, 0, 50.0)),
    ("supported", "gamma", lambda g: -1.0),
    ("covariances", "order", lambda n: n + 1),
    ("covariances", "packed", lambda a: at(a, (0, 0), -1.0)),
    ("covariances", "quarter_logs", lambda a: at(a, 0, 50.0)),
    ("exact", "vertex_features", lambda a: a[:-1]),
    ("exact", "hops", lambda hops: (-1,)),
    ("exact", "eta", lambda eta: -1.0),
]


def test_what_was_fitted_is_sound(graphs):
    for thing in engines(graphs).values():
        check(thing)


@pytest.mark.parametrize(
    ("which", "name", "change"),
    CHANGES,
    ids=[f"{w}-{n}-{i}" for i, (w, n, _) in enumerate(CHANGES)],
)
def test_one_change_is_refused(which, name, change, graphs):
    thing = engines(graphs)[which]
    with pytest.raises(ValueError, match=r"."):
        check(changed(thing, name, change(getattr(thing, name))))


def test_tables_of_signatures_have_a_width(graphs):
    table = engines(graphs)["table"]
    with pytest.raises(ValueError, match="2 entries each"):
        SignaturesOf(2).check("types", table, {})


@pytest.mark.parametrize(
    ("name", "change"),
    [("heads", lambda a: at(a, 0, (a[0] + 1) % 3)), ("weights", lambda a: at(a, 0, 2.0))],
)
def test_edges_of_undirected_walks_go_both_ways(graphs, name, change):
    profile = gramlet.RandomWalk().fit(graphs).profile_
    check(profile)
    forged = profile.graphs._replace(**{name: change(getattr(profile.graphs, name))})
    with pytest.raises(ValueError, match=r"\w"):
        check(replace(profile, graphs=forged))
