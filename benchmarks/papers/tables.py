"""The tables and experiments, as data: rows, options, protocols.

A row is computed as described in the paper, with edge labels left out as in the papers'
experiments; ``note`` describes differences. ``published.json`` contains the published
numbers, `runner` runs tables, `experiments` contains experiments that are not accuracies of
kernels.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from gramlet.evaluation.protocol import Protocol

SELECTIONS = ("nested", "best-of-grid")
_RIDGE_COSTS = tuple(10.0**power for power in range(-2, 9))


@dataclass(frozen=True)
class Row:
    """A row of a table: a kernel with the options to choose from.

    Attributes
    ----------
    name : str
        As in the paper.
    kernel : str
        A name of the registry, or "gin" or "deep-sets" for `network_classifiers`; "" for a row of
        published numbers only.
    params, options : mapping
        Fixed parameters, and options with the values to choose from.
    classifier : {"svc", "ridge"}
    fit_once : bool
        Whether the kernel is fitted on all graphs, without their classes, as in the paper.
    C : tuple of float or None
        Instead of the protocol's.
    note : str
        How the row differs from the paper's.
    variant_of : str
        The row that it is compared with on the same folds; "" for none.
    """

    name: str
    kernel: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    classifier: str = "svc"
    fit_once: bool = False
    C: tuple[float, ...] | None = None
    note: str = ""
    variant_of: str = ""


@dataclass(frozen=True)
class Table:
    """A table of accuracies.

    Attributes
    ----------
    name, title, source : str
    data : tuple of str
        Data sets, smallest first.
    rows : tuple of Row
    protocol : Protocol
    selections : tuple of str
        The ways of choosing options that the table has.
    """

    name: str
    title: str
    source: str
    data: tuple[str, ...]
    rows: tuple[Row, ...]
    protocol: Protocol
    selections: tuple[str, ...] = SELECTIONS

    def row(self, name: str) -> Row:
        """The row of this name."""
        return next(row for row in self.rows if row.name == name)


@dataclass(frozen=True)
class Experiment:
    """Measurements that are not accuracies of kernels on data sets.

    Attributes
    ----------
    name, title, source : str
    function : str
        Its name in `benchmarks.papers.experiments`.
    data : tuple of str
        Data sets it runs on, one after the other; () if it generates its own.
    """

    name: str
    title: str
    source: str
    function: str
    data: tuple[str, ...] = ()


def _steps(last: int, first: int = 1) -> tuple[int, ...]:
    return tuple(range(first, last + 1))


def _wl(name: str, last: int, kernel: str = "wl", first: int = 1) -> Row:
    return Row(name, kernel, {"use_edge_labels": False}, {"n_iter": _steps(last, first)})


_RGE = Row(
    "RGE",
    "rge",
    {"n_components": 512, "random_state": 0},
    {"gamma": (0.1, 1.0, 10.0), "max_nodes": (6, 15, 30)},
    classifier="ridge",
    fit_once=True,
    C=_RIDGE_COSTS,
    note="512 random graphs, 9 of the paper's 50 settings, ridge instead of a support vector "
    "machine",
)
_GRAPHLETS = Row("", "graphlet", {}, {"k": (3, 4, 5)})
_STEPS = {"kind": "steps", "decay": 1.0}
_DEEP = Row(
    "DGK",
    "deep",
    {},
    {"n_components": (16, 64)},
    note="Weisfeiler-Lehman patterns, closed form instead of a word model",
)
_NETWORK = {"max_epochs": 100, "patience": 20, "random_state": 0}
_MLG_OPTIONS = {"eta": (0.01, 0.1, 1.0), "radius": (1, 2, 3), "n_levels": (1, 2, 3)}


def _named(row: Row, name: str) -> Row:
    return replace(row, name=name)


def _rge(name: str, note: str = "", **params: Any) -> Row:
    """A row of random graph embedding with ridge and these parameters."""
    return Row(
        name,
        "rge",
        {"n_components": 512, "random_state": 0, **params},
        {"gamma": (1.0, 10.0)},
        classifier="ridge",
        fit_once=True,
        C=_RIDGE_COSTS,
        note=note,
    )


def _weighted(name: str, note: str = "", **params: Any) -> Row:
    """A row of learned weights with these parameters."""
    return Row(
        name,
        "weighted-wwl",
        {"use_edge_labels": False, "tol": 1e-3, "max_iter": 20, **params},
        {"n_iter": (1, 2, 4), "gamma": (0.1, 1.0, 10.0)},
        note=note,
    )


def _variants(first: Row, *rows: Row) -> tuple[Row, ...]:
    """A row and others that are compared with it."""
    return (first, *(replace(row, variant_of=first.name) for row in rows))


_TABLES = (
    Table(
        "rge-1",
        "Random graph embedding against graph kernels with node labels",
        "rge",
        ("PTC_MR", "ENZYMES", "PROTEINS", "NCI1"),
        (
            _RGE,
            Row("EMD", "emd", {}, {"gamma": (0.01, 0.1, 1.0, 10.0)}),
            Row("PM", "pyramid-match", {}, {"n_dims": (4, 6, 8), "n_levels": (2, 4, 6)}),
            Row("OA-E", "geometric-assignment", {}, {"n_dims": (2, 4, 6)}, fit_once=True),
            Row("V-OA", "v-oa"),
            Row("RW", "rw", {}, {"decay": (1e-5, 1e-4, 1e-3, 1e-2)}),
            _named(_GRAPHLETS, "GL"),
            Row("SP", "sp"),
        ),
        Protocol(inner_folds=3),
    ),
    Table(
        "rge-2",
        "Random graph embedding against learned models",
        "rge",
        ("IMDB-BINARY", "PROTEINS", "IMDB-MULTI", "NCI1"),
        (
            _RGE,
            Row("DGCNN"),
            Row("PSCN"),
            Row("DCNN"),
            replace(
                _DEEP, fit_once=True, note=f"{_DEEP.note}; similarities of patterns from all graphs"
            ),
        ),
        Protocol(inner_folds=3),
    ),
    Table(
        "weighted-2",
        "Learned subtree weights against graph kernels",
        "weighted-wwl",
        ("MUTAG", "PTC_MR", "PROTEINS", "NCI1"),
        (
            Row("Random walk", "rw", {}, {"decay": (1e-5, 1e-4, 1e-3, 1e-2)}),
            Row("Shortest path", "sp"),
            _wl("WL", 6),
            _wl("WL-OA", 6, "wl-oa"),
            Row(
                "WWL",
                "wwl",
                {"use_edge_labels": False},
                {"n_iter": _steps(6), "gamma": (0.01, 0.1, 1.0, 10.0)},
            ),
            Row(
                "Weighted WWL",
                "weighted-wwl",
                {"use_edge_labels": False, "tol": 1e-3, "max_iter": 20},
                {
                    "n_iter": (1, 2, 4),
                    "gamma": (0.01, 0.1, 1.0, 10.0),
                    "radius": (0.1, 0.5, 1.0),
                },
                note="all pairs instead of 500 random ones, until the loss is within 0.1 % of the "
                "optimum or for 20 passes; n_iter from 1, 2, 4",
            ),
        ),
        Protocol(inner_folds=3),
    ),
    Table(
        "mlg-1",
        "The multiscale Laplacian kernel against graph kernels",
        "mlg",
        ("MUTAG", "PTC_MR", "ENZYMES", "PROTEINS", "NCI1"),
        (
            _wl("WL", 5),
            _wl("WL-Edge", 5, "wl-edge"),
            Row("SP", "sp"),
            _named(_GRAPHLETS, "Graphlet"),
            Row("p-RW", "rw", _STEPS, {"n_steps": _steps(5)}),
            Row("MLG", "mlg", {"random_state": 0}, _MLG_OPTIONS, fit_once=True),
            Row(
                "MLG, published code",
                "mlg",
                {
                    "random_state": 0,
                    "discount": True,
                    "top": "pseudo-inverse",
                    "growth": "add",
                    "unique_landmarks": True,
                },
                _MLG_OPTIONS,
                fit_once=True,
                note="with the options of the authors' code",
                variant_of="MLG",
            ),
        ),
        Protocol.holdout(),
    ),
    Table(
        "rge-options",
        "Random graph embedding: what the paper leaves open",
        "rge",
        ("PTC_MR", "ENZYMES", "IMDB-BINARY", "NCI1"),
        _variants(
            _rge("ridge, 512 random graphs"),
            replace(
                _rge("support vector machine", "C from 0.01 to 1000"),
                classifier="svc",
                C=tuple(10.0**power for power in range(-2, 4)),
            ),
            _rge("second draw", random_state=1),
            _rge("third draw", random_state=2),
            _rge("1024 random graphs", n_components=1024),
            _rge("2048 random graphs", n_components=2048),
            _rge("anchors from the data", anchors="data"),
            _rge("equal masses", "all nodes of a graph weigh the same", masses="uniform"),
            _rge("labels drawn alike", "no effect without labels", label_draw="uniform"),
        ),
        Protocol(repeats=3, inner_folds=3),
    ),
    Table(
        "weighted-options",
        "Learned subtree weights: other constraints and solvers",
        "weighted-wwl",
        ("MUTAG", "PTC_MR"),
        _variants(
            Row(
                "weights of 1 (WWL)",
                "wwl",
                {"use_edge_labels": False},
                {"n_iter": (1, 2, 4), "gamma": (0.1, 1.0, 10.0)},
            ),
            _weighted("ball of radius 0.5"),
            _weighted("ball of radius 1", radius=1.0),
            _weighted(
                "box, level 0 fixed",
                "as in the authors' published code",
                constraint="box",
                radius=1.0,
                fixed_levels=(0,),
            ),
            _weighted(
                "500 random pairs",
                "the paper's algorithm and step",
                solver="stochastic",
                max_iter=500,
                random_state=0,
            ),
            _weighted("classes balanced", "both kinds of pairs count alike", balanced=True),
        ),
        Protocol(repeats=3, inner_folds=3),
    ),
    Table(
        "tudataset",
        "Baselines of the TUDataset collection",
        "tudataset",
        ("ENZYMES", "IMDB-BINARY", "PROTEINS", "IMDB-MULTI", "NCI1"),
        (
            _wl("1-WL", 5, first=0),
            _wl("WL-OA", 5, "wl-oa", first=0),
            Row("GR", "graphlet", {"k": 3}, note="graphlets of three nodes without labels"),
            Row("SP", "sp"),
            Row("GIN-ε"),
            Row("GIN-ε-JK"),
        ),
        Protocol(inner_folds=3),
    ),
    Table(
        "learned",
        "Networks and kernels on the same splits",
        "errica",
        ("MUTAG", "PTC_MR", "ENZYMES", "PROTEINS", "IMDB-BINARY", "IMDB-MULTI", "NCI1"),
        (
            Row(
                "GIN",
                "gin",
                _NETWORK,
                {"n_hidden": (16, 32), "n_layers": (2, 4)},
                note="4 settings where the paper has many more; no node attributes",
            ),
            Row(
                "structure-blind",
                "deep-sets",
                _NETWORK,
                {"n_hidden": (32, 64)},
                note="sums over nodes; no node attributes, no molecular fingerprints",
            ),
            Row("DGCNN"),
            Row(
                "structure2vec",
                note="published by Dai, Dai, Song (2016), ten folds, options chosen by another "
                "protocol",
            ),
            _wl("WL", 5),
            _wl("WL-OA", 5, "wl-oa"),
            _DEEP,
        ),
        Protocol.errica(),
        ("nested",),
    ),
)
_EXPERIMENTS = (
    Experiment(
        "rge-figure-2",
        "Accuracy and time against the number R of random graphs",
        "rge",
        "components",
        ("MUTAG", "PTC_MR"),
    ),
    Experiment("rge-figure-3", "Time against the number of graphs and their size", "rge", "growth"),
    Experiment("planted", "Graphs with a planted pattern", "weighted-wwl", "planted"),
    Experiment(
        "weighted-3",
        "Time of full-batch and stochastic learning",
        "weighted-wwl",
        "learning_times",
        ("MUTAG", "PTC_MR", "PROTEINS", "NCI1"),
    ),
    Experiment("gsa-bound", "Error of the squared distance beside its bound", "gsa", "bound"),
    Experiment("gsa-blocks", "Two classes of community graphs", "gsa", "blocks"),
)

TABLES: dict[str, Table] = {table.name: table for table in _TABLES}
EXPERIMENTS: dict[str, Experiment] = {found.name: found for found in _EXPERIMENTS}


@dataclass(frozen=True)
class Published:
    """One published number.

    Attributes
    ----------
    mean : float or str
        In percent; a time is a string, as printed.
    std : float or None
        The number after ±, if it is known.
    """

    mean: float | str
    std: float | None = None

    def __str__(self) -> str:
        if isinstance(self.mean, str):
            return self.mean
        return f"{self.mean:g}" if self.std is None else f"{self.mean:g} ± {self.std:g}"


@cache
def _document() -> dict[str, Any]:
    text = (Path(__file__).parent / "published.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document


def published(table: str, row: str, data: str) -> Published | None:
    """The published number of a row on a data set; None if the paper has none.

    >>> str(published("mlg-1", "MLG", "MUTAG")), published("mlg-1", "MLG", "COLLAB")
    ('84.21 ± 2.61', None)
    """
    found = _document()["tables"].get(table, {}).get(row, {}).get(data)
    return None if found is None else Published(*found)


def source_of(name: str) -> str:
    """The paper that a table is from.

    >>> source_of("mlg")
    'Kondor, Pan (2016), The multiscale Laplacian graph kernel'
    """
    source: str = _document()["sources"][name]
    return source
