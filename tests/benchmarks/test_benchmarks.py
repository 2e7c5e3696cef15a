"""The benchmark runner: finding cases, comparing sides, fitting growth. Nothing is timed here."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.cases import Case, Growth, agree, all_cases, register, same_matrices
from benchmarks.costs import limits, memory, parent
from benchmarks.data import Source, random_batch, to_grakel, to_igraph

from benchmarks import __main__ as command
from benchmarks import measure, report
from gramlet import GraphBatch, as_batch, load_dataset
from gramlet.engine.core.tiles import Tiling

ROOT = Path(__file__).resolve().parents[2]


def test_every_case_has_a_name_a_title_and_names_its_peer():
    cases = all_cases()
    assert {"wl", "wl-oa-dense", "wl-oa-sparse", "vertex", "edge", "wwl", "refinement"} <= set(
        cases
    )
    for name, case in cases.items():
        assert case.name == name
        assert case.title
        if isinstance(case, Case):
            assert bool(case.peer) == bool(case.peer_name)
    with pytest.raises(ValueError, match="two benchmarks"):
        register(cases["wl"])


def test_results_that_differ_are_noticed():
    a = np.arange(6.0).reshape(2, 3)
    same_matrices(a, a * (1 + 1e-12))
    agree(4.0)(a, 4 * a)
    with pytest.raises(AssertionError, match=r"entry \(1, 2\)"):
        same_matrices(a, a + np.array([[0, 0, 0], [0, 0, 1e-3]]))
    with pytest.raises(AssertionError, match="shapes"):
        same_matrices(a, a.T)


def test_a_sample_is_the_same_at_every_call():
    source = Source(quick=True)
    assert len(source.load("NCI1")) == 188
    sample = source.load("NCI1", 20)
    assert sample == source.load("NCI1", 20)
    assert len(Source(quick=True, n_graphs=7).load("NCI1", 20)) == 7


def test_graphs_are_the_same_in_other_formats():
    pytest.importorskip("igraph", reason="needs igraph")
    lonely = GraphBatch.from_edges(
        [[(0, 2)]], n_nodes=[4], node_labels=[[3, 0, 3, 1]], edge_labels=[[2]]
    )
    graphs = GraphBatch.concatenate([load_dataset("MUTAG").graphs[:20], lonely])
    for converted in (to_grakel(graphs), to_igraph(graphs)):
        back = as_batch(converted)
        assert (back.sizes == graphs.sizes).all()
        assert (back.indices == graphs.indices).all()
        assert list(back.node_labels) == list(graphs.node_labels)


def test_random_batches_have_the_size_asked_for():
    batch = random_batch(5, 10, 12)
    assert len(batch) == 5
    assert set(batch.sizes.tolist()) == {10}
    assert (batch.n_edges <= 12).all()
    assert batch.n_edges.sum() > 40


def test_the_slope_of_a_power_law():
    sizes = [10, 100, 1000]
    assert measure.slope(sizes, [3e-3 * n**1.5 for n in sizes]) == pytest.approx(1.5)


def test_the_peak_is_that_of_the_call():
    # In a new process: the system may reclaim pages of a large one.
    program = (
        "import numpy as np; from benchmarks import measure\n"
        "def allocate(n): return int(np.ones(n, dtype=np.uint8).sum(dtype=np.int64))\n"
        "allocate(10); print(measure.peak_bytes(allocate, 50_000_000))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert 4.5e7 < float(found.stdout) < 9e7


@pytest.mark.exhaustive
def test_sides_take_turns():
    order: list[str] = []
    case = Case(
        "turns",
        "a case",
        data=lambda source: 0,
        ours=lambda data: order.append("ours") or np.ones(1),
        peer=lambda data: order.append("peer") or np.ones(1),
    )
    result = measure._take_turns(case, 0, 0, 3)
    assert order == ["ours", "peer"] * 4  # once to warm up
    assert len(result["ours_seconds"]) == len(result["peer_seconds"]) == 3
    assert result["agreement"] == "yes"
    assert "agreement" not in measure._take_turns(replace(case, check=None), 0, 0, 1)


def test_what_is_told_of_a_case():
    case = Case("c", "a case", len, len, len, "Peer", target_ratio=5.0, target_memory=0.5)
    result = {
        "ours_seconds": [1.0, 3.0, 2.0],
        "ours_processor_seconds": [1.0, 3.0, 2.0],
        "peer_seconds": [8.0],
        "peer_processor_seconds": [8.0],
        "agreement": "yes",
        "ours_bytes": 10_000_000,
        "peer_bytes": 40_000_000,
    }
    text = "\n".join(report.tell_case(case, result))
    assert "4.0 times as fast (target: at least 5, MISSED)" in text
    assert "0.250 of the memory (target: at most 0.5, reached)" in text
    assert result["ratio"] == 4.0
    assert "same result: yes" in text
    del result["agreement"]
    assert "same result: not compared" in "\n".join(report.tell_case(case, result))
    assert "target" not in "\n".join(report.tell_case(case, result, judge=False))


def test_what_is_told_of_growth():
    case = Growth("g", "growth", (1, 2), int, int, int, target_exponent=1.1)
    told = report.tell_growth(case, {"sizes": [1, 2], "seconds": [1.0, 2.0], "exponent": 1.0})
    assert told[-1].endswith("to the power of 1.000 (target: at most 1.1, reached)")


def test_the_command_lists_runs_and_saves(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(sys, "argv", ["benchmarks"])
    assert command.main() == 0
    assert "wl-oa-dense" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", ["benchmarks", "no-such-case"])
    assert command.main() == 2
    arguments = ["benchmarks", "refinement", "--quick", "--repeats", "2", "--no-memory"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert command.main() == 0
    saved = json.loads((tmp_path / "refinement-quick.json").read_text())
    assert len(saved["ours_seconds"]) == 2
    assert saved["machine"]["versions"]["gramlet"]


def test_memory_is_measured_relative_to_the_matrix(monkeypatch, capsys, tmp_path):
    assert {"vertex", "wl", "wl-oa", "sp"} <= set(memory.count_kernels())
    assert "wwl" not in memory.count_kernels()
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    assert memory.main(["no-such-kernel"]) == 2
    peaks = {("vertex", False): 1.02, ("vertex", True): 3.0}
    monkeypatch.setattr(memory, "relative_peak", lambda name, norm, n: peaks[name, norm])
    assert memory.main(["vertex", "--graphs", "1000"]) == 1
    assert "1.02        3.00  MISSED" in capsys.readouterr().out
    peaks["vertex", True] = 1.1
    assert memory.main(["vertex"]) == 0


def test_limits_are_printed_beside_times(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(limits, "_MEGABYTES", 8)
    monkeypatch.setattr(limits, "_SIDE", 128)
    assert limits.main(["no-such-kernel"]) == 2
    capsys.readouterr()
    assert limits.main(["wl", "wwl", "--quick", "--repeats", "1"]) == 0
    text = capsys.readouterr().out
    assert "GB/s written to new memory" in text
    assert "ratio" in text
    found = json.loads(next(tmp_path.glob("limits*.json")).read_text())
    saved = found.get("result", found)["kernels"]
    assert saved["wl"]["n_bytes"] == 8 * 188**2
    assert saved["wl"]["n_operations"] > 188**2


def test_the_peak_of_a_gram_matrix_holds_the_matrix():
    # The matrix takes 32 MB; all other memory is added to it.
    assert memory.relative_peak("vertex", False, 2000) > 0.9


def test_other_numbers_than_the_parent_are_noticed():
    case = {"seconds": {"before": [1.0, 2.0], "after": [1.5, 1.2]}, "ratio": 1.2}
    same = parent._line("wl", "MUTAG", {**case, "difference": 0.0, "same_bits": True})
    assert same.endswith("1.20  none SLOWER")
    other = {**case, "ratio": 1.0, "difference": 1e-3, "same_bits": False}
    assert parent._line("wl", "MUTAG", other).endswith("1.0e-03 DIFFERENT")
    assert not parent._same(other)
    assert not parent._same({**other, "difference": None})


@pytest.mark.exhaustive
def test_the_parent_is_compared_by_the_same_matrices(tmp_path):
    now = ROOT / "src"
    before, after = parent.Side(now), parent.Side(now)
    try:
        case = parent.compare(before, after, "vertex", "MUTAG", 2, tmp_path, 20)
        assert parent.compare(before, after, "no-such-kernel", "MUTAG", 2, tmp_path, 20) is None
    finally:
        before.close()
        after.close()
    assert case["same_bits"]
    assert len(case["seconds"]["after"]) == 2
    assert np.load(tmp_path / "after.npy").shape == (20, 20)
    with pytest.raises(ValueError, match="no revision"):
        parent.source_of("no-such-revision")


def test_two_cores_tell_work_in_tiles_from_the_rest(capsys):
    from benchmarks.costs import two_cores

    from gramlet.engine.core.tiles import for_tiles

    def busy(*_):
        sum(range(100_000))

    inside = two_cores.compare(lambda n_jobs: for_tiles(busy, 20, tiling=Tiling(n_jobs)), 2)
    assert 1.7 < inside["limit"] <= 2.0
    outside = two_cores.compare(lambda n_jobs: [busy() for _ in range(20)], 2)
    assert outside["limit"] == pytest.approx(1.0)
    assert outside["tiles"] == 0.0
    assert two_cores.main(["no-such-kernel"]) == 2
    assert "evaluation" in capsys.readouterr().out


def test_choices_that_differ_are_noticed():
    from benchmarks.tasks.bench_machines import same_choices

    ours = np.array([[1, 10.0, 0.8], [2, 1.0, 0.7]])
    same_choices(ours, ours.copy())
    with pytest.raises(AssertionError, match="1 of 2 parts"):
        same_choices(ours, np.array([[1, 10.0, 0.8], [2, 10.0, 0.7]]))
