"""Output on terminals of every kind: it may be simpler, but never fails after the work is done."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys

import pytest

from gramlet.cli import main

PROGRAM = "import sys; from gramlet.cli import main; sys.exit(main())"
QUICK = ("-k", "vertex", "--folds", "2", "--repeats", "1", "--inner-folds", "2", "--C", "1")


def run(*arguments: str, environment=None, program: str = PROGRAM, **more):
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        capture_output="stdout" not in more,
        env={**os.environ, **(environment or {})},
        timeout=120,
        **more,
    )
    return done.returncode, done.stdout or b"", done.stderr or b""


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1", "TERM": "dumb", "NO_COLOR": "1"},
    ],
)
def test_without_unicode(environment):
    code, out, err = run("evaluate", "MUTAG", *QUICK, environment=environment)
    assert code == 0, err
    assert b"cross-validation" in out
    assert b"\x1b" not in out
    if "latin" not in environment.get("PYTHONIOENCODING", ""):
        text = out.decode("ascii")  # and nothing else
        assert "2-fold cross-validation ? 1" in text


def test_names_that_are_no_text(tmp_path):
    place = os.fsencode(tmp_path) + b"/K\xff.npy"
    code, out, err = run("gram", "MUTAG", "-k", "vertex", "-o", os.fsdecode(place))
    assert code == 0, err
    assert b"K?.npy" in out
    assert os.path.exists(place)


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell's redirections")
class TestStreams:
    def shell(self, line: str, **environment: str):
        full = f'"{sys.executable}" -c "{PROGRAM}" {line}'
        done = subprocess.run(
            ["bash", "-c", full],
            capture_output=True,
            env={**os.environ, **environment},
            timeout=120,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_closed(self, tmp_path):
        place = tmp_path / "r.json"
        code, out, err = self.shell(f"evaluate MUTAG {' '.join(QUICK)} --json {place} >&-")
        assert (code, out) == (1, "")
        assert err == "gramlet: error: standard output cannot be written: it is closed.\n"
        assert json.loads(place.read_text())["dataset"] == "MUTAG"
        code, _, err = self.shell("kernels nope 2>&-")
        assert (code, err) == (2, "")

    def test_a_reader_that_stops_costs_no_file(self, tmp_path):
        place = tmp_path / "r.json"
        _, _, err = self.shell(f"evaluate MUTAG {' '.join(QUICK)} --json {place} | head -0")
        assert err == ""
        assert len(json.loads(place.read_text())["results"]) == 4

    def test_full(self):
        for command in ("kernels", "--help", "info MUTAG"):
            code, _, err = self.shell(f"{command} > /dev/full")
            assert code == 1, command
            reason = "standard output cannot be written: No space left on device."
            assert err == f"gramlet: error: {reason}\n"

    def test_predictions_that_are_not_written(self, tmp_path):
        model = tmp_path / "m.gramlet"
        train = ["train", "MUTAG", "-k", "vertex", "--C", "1", "--inner-folds", "2"]
        assert main([*train, "-o", str(model)]) == 0
        for place in (">&-", "> /dev/full"):
            code, _, err = self.shell(f"predict {model} MUTAG {place}")
            assert code == 1
            assert err.splitlines()[-1].startswith(
                "gramlet: error: standard output cannot be written: "
            )
        code, out, err = self.shell(f"predict {model} MUTAG | head -1")
        assert out.startswith("id ")
        assert "error" not in err


@pytest.mark.skipif(os.name == "nt", reason="there are no such terminals on Windows")
@pytest.mark.parametrize("terminal", ["xterm-256color", "dumb"])
def test_a_narrow_terminal(terminal):
    import pty

    lines = [("evaluate", "MUTAG", *QUICK), ("kernels",)]
    if terminal != "dumb":
        lines += [("info", "MUTAG")]
    for line in lines:
        leader, follower = pty.openpty()
        environment = {"TERM": terminal, "COLUMNS": "40", "NO_COLOR": "1"}
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *line],
            stdout=follower,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
        )
        os.close(follower)
        shown = b""
        try:
            while piece := os.read(leader, 10_000):
                shown += piece
        except OSError:  # the reading end is closed
            pass
        err = process.communicate(timeout=120)[1]
        os.close(leader)
        assert process.returncode == 0, err
        text = shown.decode().replace("\r", "")
        if terminal == "dumb":
            assert "\x1b" not in text
        else:
            plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)
            assert max(map(len, plain.split("\n"))) <= 40, line


class TestDebug:
    @pytest.mark.parametrize("wanted", ["1", "yes"])
    def test_by_the_environment(self, capsys, monkeypatch, wanted):
        monkeypatch.setenv("GRAMLET_DEBUG", wanted)
        assert main(["kernels", "nope"]) == 2
        assert "Traceback" in capsys.readouterr().err

    @pytest.mark.parametrize("not_wanted", ["", "0"])
    def test_not_otherwise(self, capsys, monkeypatch, not_wanted):
        monkeypatch.setenv("GRAMLET_DEBUG", not_wanted)
        assert main(["kernels", "nope"]) == 2
        assert "Traceback" not in capsys.readouterr().err


def test_a_missing_library_is_told_in_one_line():
    hide = "import sys; sys.modules['typer'] = None; from gramlet.cli import main; sys.exit(main())"
    code, out, err = run("kernels", program=hide)
    assert (code, out) == (1, b"")
    assert err.startswith(b"gramlet: error: ")
    assert len(err.splitlines()) == 1
