"""Ctrl-C at any time in a separate process: one line, exit code 130, no files left over."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")

# Prints a line when the program has installed its handler for Ctrl-C, which it does first. Under
# nohup Ctrl-C is ignored, also in processes that are started: its usual meaning is restored.
PROGRAM = (
    "import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "import gramlet.cli as cli; begin = cli.end_on_interrupt; "
    "cli.end_on_interrupt = lambda: (begin(), os.write(1, b'>')); "
    "{} sys.exit(cli.main())"
)


_started: list[subprocess.Popen] = []


@pytest.fixture(autouse=True)
def ended():
    """Leave no process behind, also if a test fails."""
    yield
    while _started:
        with _started.pop() as process:
            process.kill()


def start(*arguments: str, first: str = "", **more) -> subprocess.Popen:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(first), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        **more,
    )
    _started.append(process)
    assert process.stdout.read(1) == b">"
    return process


def interrupted(process: subprocess.Popen, number: int = signal.SIGINT) -> tuple[int, list[str]]:
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    said = [line for line in err.decode().splitlines() if "compiling" not in line]
    return process.returncode, said


@pytest.mark.parametrize("command", ["evaluate", "gram"])
def test_at_random_moments(tmp_path, command):
    rng = random.Random(command)
    # A matrix that takes long to compute, and a csv file that takes long to write.
    arguments = {
        "evaluate": ("evaluate", "MUTAG", "--repeats", "500", "--json", tmp_path / "r.json"),
        "gram": ("gram", "MUTAG", "-k", "rw", "-p", "decay=1e-4", "-o", tmp_path / "K.csv"),
    }
    for _ in range(3):
        process = start(*arguments[command])
        moment = 0.01 + 2.0 * rng.random()
        time.sleep(moment)
        if process.poll() is not None:
            continue
        # A finished program is not interrupted while Python ends.
        code, lines = interrupted(process)
        told = [line for line in lines if "which rw does not use" not in line]
        assert (code, told) in [(130, ["gramlet: interrupted"]), (0, [])], moment
        assert set(os.listdir(tmp_path)) <= {"K.csv"}


def test_a_finished_program_is_not_interrupted():
    """At its end Python restores the system's handling of signals, then frees its modules."""
    late = (
        "import time; Slow = type('Slow', (), {'__del__': lambda self, write=os.write, "
        "sleep=time.sleep: (write(1, b'$'), sleep(1.0))}); slow = Slow();"
    )
    process = start("kernels", first=late)
    while (printed := process.stdout.read(1)) != b"$":
        assert printed, "the program ended before its modules were freed"
    assert interrupted(process) == (0, [])


@pytest.mark.parametrize("place", ["compiler", "bar", "main thread"])
def test_in_special_places(tmp_path, place):
    out = tmp_path / "out"
    out.mkdir()
    environment = dict(os.environ)
    if place == "compiler":  # nothing is compiled yet
        environment["NUMBA_CACHE_DIR"] = str(tmp_path / "cache")
    first = "sys.stderr.isatty = lambda: True;" if place == "bar" else ""
    line = ("evaluate", "MUTAG", "--repeats", "500", "--json", out / "r.json", "-j", "1")
    process = start(*line, first=first, env=environment)
    time.sleep(1.5)
    code, said = interrupted(process)
    assert code == 130
    assert said[-1].endswith("gramlet: interrupted")
    assert "Traceback" not in "".join(said)
    assert os.listdir(out) == []


def test_while_a_file_is_written(tmp_path):
    slow = (
        "import numpy as np, time; np.save = lambda file, matrix: "
        "(file.write(b'half'), os.write(1, b'w'), time.sleep(60));"
    )
    for number, code, word in (
        (signal.SIGINT, 130, "interrupted"),
        (signal.SIGTERM, 143, "terminated"),
    ):
        process = start("gram", "MUTAG", "-k", "vertex", "-o", tmp_path / "K.npy", first=slow)
        assert process.stdout.read(1) == b"w"
        assert len(os.listdir(tmp_path)) == 1
        assert interrupted(process, number) == (code, [f"gramlet: {word}"])
        assert os.listdir(tmp_path) == []


def test_compiled_code_that_does_not_return(tmp_path):
    """The main thread gets no signal before compiled code returns; the process still ends."""
    stuck = (
        "import gramlet.files.datasets.datasets as d, ctypes; "
        "d.load_dataset = lambda *a: (os.write(1, b's'), ctypes.CDLL(None).sleep(50));"
    )
    process = start("info", "MUTAG", first=stuck)
    assert process.stdout.read(1) == b"s"
    started = time.monotonic()
    assert interrupted(process) == (130, ["gramlet: interrupted"])
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("moment", [0.05, 0.5])
def test_while_workers_start(tmp_path, moment):
    """A terminal sends Ctrl-C to all processes; workers end without a word."""
    pytest.importorskip("distributed", reason="needs Dask")
    pytest.importorskip("zarr", reason="needs zarr")
    told = (
        "import gramlet.scale.cluster as c; block = c._block_interrupts; "
        "c._block_interrupts = lambda: (block(), os.write(1, b's'));"
    )
    store = ("gram", "MUTAG", "-k", "vertex", "-o", tmp_path / "K.zarr", "--workers", "2")
    process = start(*store, first=told, start_new_session=True)
    assert process.stdout.read(1) == b"s"
    time.sleep(moment)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    said = [line for line in err.decode().splitlines() if "compiling" not in line]
    assert (process.returncode, said[0]) == (130, "gramlet: interrupted")
    # A worker that Python was just starting, and whose parent has ended, may end with Python's
    # own error about it.
    assert not said[1:] or said[-1] == "EOFError: Ran out of input"


def test_impatience_changes_nothing(tmp_path):
    process = start("evaluate", "MUTAG", "--repeats", "500")
    time.sleep(1.0)
    for _ in range(3):
        process.send_signal(signal.SIGINT)
    assert interrupted(process) == (130, ["gramlet: interrupted"])


def test_a_process_that_ignores_ctrl_c_goes_on():
    """nohup and scripts start background jobs in this way."""
    process = start("kernels", first="import signal; signal.signal(2, signal.SIG_IGN);")
    time.sleep(0.05)
    assert interrupted(process) == (0, [])


def test_a_killed_command_is_cleaned_up_by_the_next(tmp_path):
    slow = (
        "import numpy as np, time; np.save = lambda file, matrix: "
        "(file.write(b'half'), os.write(1, b'w'), time.sleep(60));"
    )
    place = tmp_path / "K.npy"
    process = start("gram", "MUTAG", "-k", "vertex", "-o", place, first=slow)
    assert process.stdout.read(1) == b"w"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    assert len(os.listdir(tmp_path)) == 1
    # Even if the process fails before it writes anything.
    process = start("gram", "no-such-set.zip", "-o", place)
    process.communicate(timeout=60)
    assert process.returncode == 2
    assert os.listdir(tmp_path) == []


def test_almost_nothing_is_imported_before_ctrl_c_is_taken_over():
    """During these imports Ctrl-C still gives Python's own traceback."""
    code = (
        "import sys, re; before = set(sys.modules); import gramlet.cli; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    allowed = {"__future__", "gramlet", "gramlet._version", "gramlet.cli", "signal"}
    assert set(done.stdout.split()) <= allowed
