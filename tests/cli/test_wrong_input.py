"""Wrong input of every kind: one line on standard error, exit code 1 or 2, nothing written."""

from __future__ import annotations

import os
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet.cli import main
from gramlet.cli.options import parse_params
from gramlet.cli.output import write_matrix
from gramlet.cli.terminal import WrongUse
from gramlet.files.dataset import Dataset
from gramlet.graphs.conversion.convert import as_batch

READING = {
    "info": ["info", "{}"],
    "evaluate": ["evaluate", "{}", "--json", "out.json"],
    "gram": ["gram", "{}", "-o", "out.npy"],
    "embed": ["embed", "{}", "-o", "out.npz"],
    "map": ["map", "{}", "-o", "out.png"],
    "train": ["train", "{}", "-o", "out.gramlet"],
    "explain": ["explain", "{}", "-o", "out"],
}
WRITING = {
    "gram": ["gram", "MUTAG", "-k", "vertex", "-o"],
    "embed": ["embed", "MUTAG", "-k", "vertex", "-o"],
    "map": ["map", "MUTAG", "-k", "vertex", "-o"],
    "train": ["train", "MUTAG", "-k", "vertex", "-o"],
    "evaluate": ["evaluate", "MUTAG", "-k", "vertex", "--json"],
}
ENDINGS = {"gram": ".npy", "embed": ".npz", "map": ".png", "train": ".gramlet", "evaluate": ".json"}


@pytest.fixture(scope="module")
def wrong(tmp_path_factory):
    """A folder of files that are neither data sets nor models."""
    folder = tmp_path_factory.mktemp("wrong")
    garbage = np.random.default_rng(0).bytes(3000)
    for name in ("garbage.bin", "garbage.csv", "garbage.smi", "garbage.zip", "garbage.gramlet"):
        (folder / name).write_bytes(garbage)
    for name in ("empty", "empty.csv", "empty.smi", "empty.zip", "empty.gramlet"):
        (folder / name).touch()
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "quote.csv").write_text('smiles,label\n"C')
    (folder / "heads.csv").write_text("smiles,label\n")
    (folder / "BAD").mkdir()
    (folder / "BAD" / "BAD_A.txt").write_text("1, 2\nx, y\n")
    (folder / "BAD" / "BAD_graph_indicator.txt").write_text("1\n1\n")
    return folder


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """Run a command that must fail with one line on standard error and write nothing."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> str:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        err = "".join(line for line in err.splitlines(keepends=True) if "compiling" not in line)
        assert code in (1, 2), arguments
        assert out == ""
        assert len(err.splitlines()) == 1, err
        assert err.startswith("gramlet: error: ")
        assert "should not happen" not in err
        assert os.listdir(tmp_path) == []
        return err

    return run


@pytest.mark.parametrize("command", READING)
def test_what_cannot_be_read(refused, wrong, command):
    for name in sorted(os.listdir(wrong)):
        refused(*(part.format(wrong / name) for part in READING[command]))
    for text in ("", " ", "no/such", "no.csv", "/dev/null", "a\0b", "../..", "\udcff/x"):
        refused(*(part.format(text) for part in READING[command]))


@pytest.mark.parametrize("command", ["predict", "explain"])
def test_what_is_no_model(refused, wrong, command):
    options = ["-o", "out"] if command == "explain" else []
    for name in sorted(os.listdir(wrong)):
        refused(command, wrong / name, "MUTAG", *options)
    refused(command, "no.gramlet", "MUTAG", *options)


@pytest.mark.skipif(os.name == "nt", reason="devices are called differently on Windows")
@pytest.mark.parametrize("command", WRITING)
def test_where_nothing_can_be_written(refused, wrong, command):
    ending = ENDINGS[command]
    (wrong / f"device{ending}").unlink(missing_ok=True)
    (wrong / f"device{ending}").symlink_to("/dev/full")
    for place in (
        f"{wrong}/folder",
        f"{wrong}/no/such{ending}",
        f"{wrong}/empty/x{ending}",
        f"{wrong}/device{ending}",
        f"/proc/self/x{ending}",
        f"{wrong}/{'x' * 300}{ending}",
    ):
        refused(*WRITING[command], place)


@contextmanager
def little_room():
    """A limit for the size of files, as a full disk; it also holds for the output of pytest."""
    resource = pytest.importorskip("resource", reason="limits of Unix")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("output", ["m.jsonl", "m.graphml.gz", "m.zip", "M"])
def test_a_disk_that_is_full(refused, output):
    with little_room():
        said = refused("convert", "MUTAG", output)
    assert said == f"gramlet: error: {output!r} cannot be written: File too large.\n"


@pytest.mark.parametrize("ending", [".npy", ".NPZ", ".csv"])
def test_a_matrix_on_a_full_disk(tmp_path, ending):
    matrix = np.random.default_rng(0).random((50, 50))
    data = Dataset(as_batch([([(0, 1)], "CO")] * 50))
    with little_room(), pytest.raises(OSError, match=f"File too large: '.*K{ending}'$"):
        write_matrix(tmp_path / f"K{ending}", "K", matrix, data)
    assert os.listdir(tmp_path) == []


def test_messages_of_the_system_end_in_one_full_stop(refused, monkeypatch):
    def full(*arguments, **more):
        raise OSError(28, "'K' cannot be written: No space left. Finished tiles are kept.")

    monkeypatch.setattr("gramlet.files.writing.write", full)
    assert refused("convert", "MUTAG", "m.jsonl").endswith("Finished tiles are kept.\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--holdout", "2"],
            "Invalid value for '--holdout': Input should be less than or equal to 1. "
            "Try 'gramlet evaluate --help'.",
        ),
        (
            ["--C", "-1"],
            "The 'C' parameter of Protocol must be positive numbers. Got (-1.0,) instead.",
        ),
        (
            ["--C", "1", "--C", "0"],
            "The 'C' parameter of Protocol must be positive numbers. Got (1.0, 0.0) instead.",
        ),
    ],
)
def test_wrong_options_of_the_protocol(refused, options, message):
    said = refused("evaluate", "MUTAG", "-k", "vertex", *options)
    assert said == f"gramlet: error: {message}\n"


@pytest.mark.parametrize("command", ["gram", "train", "explain", "embed", "map"])
@pytest.mark.parametrize(
    "options",
    [
        ["-k", "nope"],
        ["-k", ""],
        ["-p", "n_iter=x"],
        ["-p", "n_iter=1.5"],
        ["-p", "n_iter=[1]"],
        ["-p", "n_iter={}"],
        ["-p", "nope=1"],
        ["-p", "=1"],
        ["-p", "n_iter=" + "(" * 5000],
        ["--jobs", "many"],
        ["--jobs", "0"],
        ["--nope"],
    ],
)
def test_wrong_options(refused, command, options):
    output = {"gram": "K.npy", "embed": "K.npy", "map": "m.png"}.get(command, "out")
    refused(command, "MUTAG", "-k", "wl", *options, "-o", output)


def test_a_number_of_threads_is_checked_once(refused):
    for command in (["evaluate", "MUTAG"], ["embed", "MUTAG", "--hashed", "8", "-o", "out"]):
        told = refused(*command, "--jobs", "0")
        assert "'--jobs' / '-j': 0 is not a number of threads from 1, or -1 for all cores." in told


@given(st.text(max_size=40), st.text(max_size=60))
def test_parameters_are_read_or_refused(key, value):
    text = f"{key}={value}"
    name, _, rest = text.partition("=")
    if not name.strip() or not rest.strip():
        with pytest.raises(WrongUse, match="--param"):
            parse_params([text])
    else:
        assert list(parse_params([text])) == [name.strip()]


@given(
    st.recursive(
        st.one_of(
            st.booleans(),
            st.none(),
            st.integers(),
            st.floats(allow_nan=False, allow_infinity=False),
            st.text("abcdef_-", min_size=1).filter(
                lambda text: text.lower() not in ("true", "false", "none")
            ),
        ),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=5,
    )
)
def test_values_come_back(value):
    shown = value if isinstance(value, str) else repr(value)
    assert parse_params([f"key={shown}"]) == {"key": value}


def test_long_parameters_end_soon():
    for text in ("1," * 4000, "(" * 9000, "-" * 9000 + "1", "[" * 3000 + "]" * 3000, "9" * 9000):
        parse_params([f"key={text}"])
    with pytest.raises(WrongUse, match="at most 10000 are read"):
        parse_params(["key=" + "1" * 10_001])
