"""The notice of compilation: once, and only when something is compiled."""

from __future__ import annotations

import os
import subprocess
import sys

SCRIPT = """
from numba import njit
from gramlet.engine.core.compiling import announce_compilation, has_compiled
announce_compilation()
announce_compilation()
from gramlet.engine.machines.support_vectors import fill_block
import numpy as np
assert not has_compiled()
fill_block(np.zeros((2, 2)), np.array([0]), np.array([1]), np.zeros((1, 1)))
fill_block(np.zeros((2, 2), order="F"), np.array([0]), np.array([1]), np.zeros((1, 1)))
print(has_compiled())
"""


def test_it_is_said_once_and_not_for_what_is_in_the_cache(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    runs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        for _ in range(2)
    ]
    assert runs[0].stdout.strip() == "True"
    assert runs[0].stderr.splitlines() == [
        "gramlet: compiling; the first run on this machine takes some seconds more"
    ]
    assert runs[1].stdout.strip() == "False"
    assert runs[1].stderr == ""


def test_the_notice_can_go_elsewhere():
    from gramlet.engine.core import compiling

    said = []
    announcer = compiling._Announcer()
    announcer.say = said.append
    announcer.on_start(None)
    announcer.on_start(None)
    announcer.on_end(None)
    assert said == [compiling.NOTICE]
