"""No data are lost if saving is interrupted, the disk is full or two processes write one file."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import gramlet

SAVE = """
import sys, numpy as np, gramlet
path, size, times = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
print("ready", flush=True)
sys.stdin.readline()
for _ in range(times):
    gramlet.save({"who": size, "numbers": np.random.default_rng(size).normal(size=size)}, path)
"""


def started(path: Path, size: int, times: int = 1) -> subprocess.Popen[str]:
    """A process that waits for a line, then saves an array of some size."""
    process = subprocess.Popen(
        [sys.executable, "-c", SAVE, str(path), str(size), str(times)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_two_processes_that_write_one_file_leave_one_whole_model(tmp_path):
    path = tmp_path / "m.gramlet"
    sizes = (2000, 3000)
    processes = [started(path, size, times=20) for size in sizes]
    for process in processes:
        go(process)
    seen = set()
    while any(process.poll() is None for process in processes):
        if path.exists():
            seen.add(gramlet.load(path)["who"])  # complete at any time
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    model = gramlet.load(path)
    assert model["who"] in sizes
    assert len(model["numbers"]) == model["who"]
    assert seen <= set(sizes)
    assert list(tmp_path.iterdir()) == [path]


def test_a_killed_save_leaves_the_old_file_and_the_next_one_cleans_up(tmp_path):
    path = tmp_path / "m.gramlet"
    gramlet.save({"who": "old"}, path)
    process = started(path, 3_000_000, times=1000)
    go(process)
    # Killed while the partial file exists.
    for _ in range(2000):
        if len(list(tmp_path.iterdir())) > 1:
            break
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert gramlet.load(path)["who"] in ("old", 3_000_000)
    gramlet.save({"who": "new"}, path)
    assert gramlet.load(path)["who"] == "new"
    assert list(tmp_path.iterdir()) == [path]


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
import numpy as np, gramlet
try:
    gramlet.save(np.random.default_rng(0).normal(size=100_000), sys.argv[1])
except OSError as error:
    print("refused", error.errno)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on the size of files")
def test_a_file_that_may_not_grow_leaves_the_old_one(tmp_path):
    path = tmp_path / "m.gramlet"
    gramlet.save({"who": "old"}, path)
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, check=True
    )
    assert run.stdout.startswith("refused")
    assert gramlet.load(path) == {"who": "old"}
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 256 KB; the test is skipped if it cannot be mounted."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("mounting a small disk needs root")
    command = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("no small disk can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_leaves_the_old_file(small_disk):
    path = small_disk / "m.gramlet"
    gramlet.save({"who": "old"}, path)
    with pytest.raises(OSError, match="No space left"):
        gramlet.save(np.random.default_rng(0).normal(size=100_000), path)
    assert gramlet.load(path) == {"who": "old"}
    assert list(small_disk.iterdir()) == [path]
    gramlet.save({"who": "new"}, path)  # the space of the failed file is free again
    assert gramlet.load(path) == {"who": "new"}
