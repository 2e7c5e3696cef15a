"""Results and pages that the tests of reports share."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import Dataset, GraphBatch, Protocol, evaluate, load_dataset
from gramlet.report import write_report

HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"
QUICK = Protocol(folds=3, repeats=2, inner_folds=2, C=(1.0, 10.0))


@pytest.fixture(scope="session")
def mutag():
    return load_dataset("MUTAG")


@pytest.fixture(scope="session")
def mutag_results(mutag):
    kernels = {"wl": {"n_iter": [1, 2]}, "wl-oa": {"n_iter": [1]}, "vertex": {}}
    return [evaluate(k, mutag, protocol=QUICK, options=v) for k, v in kernels.items()]


@pytest.fixture(scope="session")
def mutag_page(mutag, mutag_results, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "mutag.html"
    return write_report(path, mutag_results, mutag, command="gramlet report MUTAG -o mutag.html")


@pytest.fixture(scope="session")
def regression():
    """Every fourth molecule of B3DB with a measured value."""
    whole = load_dataset("B3DB-logBB")
    some = np.arange(0, len(whole.graphs), 8)
    return Dataset(
        whole.graphs[some],
        whole.target[some],
        name="logBB",
        target_name="logBB",
        ids=[whole.ids[i] for i in some],
        molecules=[whole.molecules[i] for i in some],
    )


@pytest.fixture(scope="session")
def regression_page(regression, tmp_path_factory):
    result = evaluate("wl", regression, protocol=QUICK, options={"n_iter": [1]})
    return write_report(tmp_path_factory.mktemp("report") / "logbb.html", result, regression)


@pytest.fixture(scope="session")
def hostile():
    """Results in which all names are HTML and scripts."""
    rng = np.random.default_rng(0)
    edges = [[(i, i + 1) for i in range(4)] for _ in range(24)]
    labels = [[f"{HOSTILE}{int(x)}" for x in rng.integers(2, size=5) + (i % 2)] for i in range(24)]
    bonds = [[f"'\">{HOSTILE}" for _ in range(4)] for _ in range(24)]
    graphs = GraphBatch.from_edges(edges, node_labels=labels, edge_labels=bonds)
    return Dataset(
        graphs,
        np.array([f"{HOSTILE}{i % 2}" for i in range(24)]),
        name=HOSTILE,
        ids=[f"{HOSTILE}{i}" for i in range(24)],
        target_names={f"{HOSTILE}1": f"{HOSTILE}named"},
    )


@pytest.fixture(scope="session")
def hostile_page(hostile, tmp_path_factory):
    result = evaluate("wl", hostile, protocol=QUICK, options={"n_iter": [1]}, name="wl")
    path = tmp_path_factory.mktemp("report") / "hostile.html"
    return write_report(path, result, hostile, command=f"gramlet report {HOSTILE}", title=HOSTILE)
