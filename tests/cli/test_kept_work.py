"""Work that ``gramlet evaluate`` stores: found again, deleted on demand, reported when stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

LINE = (
    "evaluate",
    "MUTAG",
    "-k",
    "wl",
    "-p",
    "n_iter=1",
    "--folds",
    "3",
    "--repeats",
    "1",
    "--inner-folds",
    "2",
)
BASELINES = ["majority", "size", "vertex", "edge"]


@pytest.fixture
def computed(monkeypatch):
    """The names of kernels that are computed, not read from the store."""
    from gramlet.evaluation import run as module

    names = []
    outcomes = module._Evaluation._outcomes

    def recorded(self, candidates, verbose=False, key=""):
        if key:  # not a baseline of another row
            names.append(candidates[0].name)
        return outcomes(self, candidates, verbose, key)

    monkeypatch.setattr(module._Evaluation, "_outcomes", recorded)
    return names


def rows(out: str) -> list[str]:
    return out.split("───\n")[1].split("\n\n")[0].splitlines()


def test_the_same_command_finds_its_results(run, computed, kept_work):
    code, first, _ = run(*LINE)
    assert code == 0
    assert computed == [*BASELINES, "wl"]
    assert "Kept from an earlier run" not in first
    assert len(list((kept_work / "evaluations").iterdir())) == 5
    code, second, _ = run(*LINE)
    assert computed == [*BASELINES, "wl"]
    assert rows(second) == rows(first)
    assert "Kept from an earlier run: " in second
    run(*LINE, "--seed", "1")
    assert len(computed) == 10


def test_fresh_computes_anew_and_keeps_that(run, computed, kept_work):
    run(*LINE)
    code, out, _ = run(*LINE, "--fresh")
    assert code == 0
    assert len(computed) == 10
    assert "Kept from an earlier run" not in out
    assert len(list((kept_work / "evaluations").iterdir())) == 5
    run(*LINE)
    assert len(computed) == 10


def test_where_nothing_can_be_kept(run, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("GRAMLET_CACHE", str(tmp_path / "file"))
    code, out, err = run(*LINE)
    assert code == 0
    assert "wl" in out
    assert "finished work is not kept" in err


def test_a_disk_that_is_full(run, monkeypatch):
    from gramlet.evaluation.store import Store

    def full(self, *others):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Store, "write", full)
    code, out, err = run(*LINE)
    assert code == 0
    assert len(rows(out)) == 5
    assert err.count("finished work is not kept") == 1


@pytest.mark.exhaustive
@pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")
def test_a_stopped_run_shows_its_rows_and_goes_on(run, computed):
    program = (
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored under nohup\n"
        "from gramlet import evaluation\n"
        "from gramlet.cli import main\n"
        "real = evaluation.evaluate\n"
        "def slow(name, *others, **more):\n"
        "    if name == 'wl':\n"
        "        os.write(2, b'now')\n"
        "        time.sleep(60)\n"
        "    return real(name, *others, **more)\n"
        "evaluation.evaluate = slow\n"
        "sys.exit(main())\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, *LINE], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        said = b""
        while not said.endswith(b"now"):
            said += process.stderr.read(1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert err == b"gramlet: interrupted\n"
    shown = out.decode()
    assert [row.split()[0] for row in rows(shown)] == BASELINES
    assert shown.endswith("Stopped after 4 of 5 rows; the same command continues.\n")
    code, out, _ = run(*LINE)
    assert code == 0
    assert computed == ["wl"]
    assert rows(out)[:4] == rows(shown)[:4]


def test_interrupted_inside_of_python(run, monkeypatch):
    from gramlet import evaluation

    real = evaluation.evaluate

    def stopped(name, *others, **more):
        if name == "vertex":
            raise KeyboardInterrupt
        return real(name, *others, **more)

    monkeypatch.setattr(evaluation, "evaluate", stopped)
    code, out, err = run(*LINE)
    assert code == 130
    assert [row.split()[0] for row in rows(out)] == ["majority", "size"]
    assert err.splitlines()[-1] == "gramlet: interrupted"
