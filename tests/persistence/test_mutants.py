"""Thousands of changed models are refused, or load and give finite numbers.

The mutants are loaded in separate processes with little memory (see `mutants`), so that a crash, an
endless loop or a huge allocation is a failure here. The ordinary run loads a few mutants per model;
``GRAMLET_MUTANTS=500`` loads 500, ``GRAMLET_MUTANTS_SEED`` gives other ones.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("resource", reason="memory is limited by the system's own means")

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from mutants import models  # noqa: E402

N_MUTANTS = int(os.environ.get("GRAMLET_MUTANTS", "12"))
SEED = int(os.environ.get("GRAMLET_MUTANTS_SEED", "0"))
# A mutant takes some milliseconds; one that takes a minute is considered endless. Before the first
# one, models are fitted and code is compiled.
_PATIENCE, _WARM_UP = 60.0, 900.0


def failures(names: list[str], folder: Path, seed: int, count: int) -> list[str]:
    """What went wrong with the mutants of some models, including those that end the process."""
    found: list[str] = []
    first = 0
    while names:
        lines, how = _watched(names, folder, seed, first, count - first)
        found += [line for line in lines if line.startswith("WRONG")]
        done = [line.split()[1] for line in lines if line.startswith("DONE")]
        names = [name for name in names if name not in done]
        if how is None:
            break
        tried = [line for line in lines if line.startswith("TRY")]
        if not tried:
            return [*found, f"{how} before the first mutant: {lines[-5:]}"]
        found.append(f"{how}: {tried[-1]}")
        # Continue after the mutant that ended the process, with its model first.
        for name in names[:1]:
            number = int(tried[-1].split()[2]) + 1
            if number < count:
                lines, again = _watched([name], folder, seed, number, count - number)
                found += [line for line in lines if line.startswith("WRONG")]
                if again is not None:
                    found.append(f"{again}: {lines[-1]}")
        names = names[1:]
    return found


def _watched(
    names: list[str], folder: Path, seed: int, first: int, count: int
) -> tuple[list[str], str | None]:
    """The lines of a run, and how it ended if not normally."""
    command = [sys.executable, str(HERE / "mutants.py"), str(folder)]
    command += [str(seed), str(first), str(count), *names]
    log = folder / "log.txt"
    with open(log, "wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        silent_since, size = time.monotonic(), 0
        while process.poll() is None:
            time.sleep(0.05)
            if log.stat().st_size != size:
                silent_since, size = time.monotonic(), log.stat().st_size
            patience = _PATIENCE if size else _WARM_UP
            if time.monotonic() - silent_since > patience:
                process.kill()
                process.wait()
                return _lines(log), "it does not end"
    ended = None if process.returncode == 0 else f"the process ended with {process.returncode}"
    return _lines(log), ended


def _lines(log: Path) -> list[str]:
    return log.read_text(errors="replace").splitlines()


@pytest.mark.parametrize("part", range(2))
def test_every_mutant_is_refused_or_gives_finite_numbers(part, tmp_path):
    names = list(models())[part::2]
    wrong = failures(names, tmp_path, SEED, N_MUTANTS)
    assert wrong == []


def test_a_process_that_ends_early_is_seen(tmp_path):
    found = failures(["no-such-model"], tmp_path, SEED, 1)
    assert len(found) == 1
    assert "ended with 1 before the first mutant" in found[0]
