"""Thousands of changed models are refused, or load and give finite numbers.

The mutants are loaded in separate processes with little memory (see `mutants`), so that a crash, an
endless loop or a huge allocation is a failure here. The ordinary run loads a few mutants per model;
``GRAMLET_MUTANTS=500`` loads 500, ``GRAMLET_MUTANTS_SEED`` gives other ones.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("resource", reason="memory is limited by the system's own means")

from persistence import mutants

N_MUTANTS = int(os.environ.get("GRAMLET_MUTANTS", "8"))
SEED = int(os.environ.get("GRAMLET_MUTANTS_SEED", "0"))


@pytest.mark.parametrize("part", range(2))
def test_every_mutant_is_refused_or_gives_finite_numbers(part, tmp_path):
    command = [sys.executable, mutants.__file__, str(tmp_path), str(SEED), str(N_MUTANTS)]
    run = subprocess.run(
        [*command, *list(mutants.models())[part::2]],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=900 + N_MUTANTS * 30,
    )
    lines = run.stdout.splitlines()
    assert [line for line in lines if line.startswith("WRONG")] == []
    assert lines[-1] == "END", f"the process ended with {run.returncode}: {lines[-10:]}"
