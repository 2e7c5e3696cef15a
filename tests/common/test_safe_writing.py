"""Files are complete or absent: after errors, after kills while writing, in impossible places."""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
import subprocess
import sys

import pytest

from gramlet.common import safe_writing
from gramlet.common.safe_writing import (
    check_place,
    naming_place,
    remove_unfinished,
    writing,
    writing_folder,
)

# Writes half a file, prints a line, and waits.
HALF = """
import sys, time
from gramlet.common.safe_writing import writing
with writing(sys.argv[1]) as place:
    place.write_text("half")
    print(place.name, flush=True)
    time.sleep(60)
"""


def killed_while_writing(path) -> str:
    """Kill a process while it writes ``path``; returns the name of the file it left."""
    process = subprocess.Popen(
        [sys.executable, "-c", HALF, str(path)], stdout=subprocess.PIPE, text=True
    )
    name = process.stdout.readline().strip()
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    return name


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.txt").write_text("before")
    (tmp_path / "link.txt").symlink_to("real.txt")
    with writing(tmp_path / "link.txt") as place:
        place.write_text("after")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "after"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, MemoryError])
def test_any_error_leaves_the_old_file_alone(tmp_path, error):
    path = tmp_path / "K.npy"
    path.write_text("before")

    def fail():
        with writing(path) as place:
            place.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["K.npy"]


@pytest.mark.skipif(os.name == "nt", reason="processes are killed differently on Windows")
def test_what_a_killed_process_left_is_removed_by_the_next_write(tmp_path):
    path = tmp_path / "K.npy"
    path.write_text("before")
    left = killed_while_writing(path)
    assert sorted(os.listdir(tmp_path)) == sorted(["K.npy", left])
    assert path.read_text() == "before"
    with writing(path) as place:
        place.write_text("after")
    assert os.listdir(tmp_path) == ["K.npy"]
    assert path.read_text() == "after"
    # Also by writing another file of the folder, and by the check before the work.
    killed_while_writing(path)
    with writing(tmp_path / "other.csv") as place:
        place.write_text("x")
    assert sorted(os.listdir(tmp_path)) == ["K.npy", "other.csv"]
    killed_while_writing(path)
    check_place(path)
    assert sorted(os.listdir(tmp_path)) == ["K.npy", "other.csv"]


def test_files_of_the_living_of_other_machines_and_of_others_stay(tmp_path):
    names = [
        f".K.{safe_writing._HOST}-{os.getpid()}-00ff00ff.part.npy",  # of this process
        ".K.00000000-4194305-00ff00ff.part.npy",  # of a dead process on another machine
        f".K.{safe_writing._HOST}-x-00ff00ff.part.npy",
        "K.part.npy",
        ".hidden",
        "thesis.part.tex",
    ]
    for name in names:
        (tmp_path / name).touch()
    with writing(tmp_path / "K.npy") as place:
        place.touch()
    assert sorted(os.listdir(tmp_path)) == sorted([*names, "K.npy"])


def test_what_is_being_written_can_be_removed_at_once(tmp_path):
    def remove_on_the_way():
        with writing(tmp_path / "K.npy") as place:
            place.write_text("half")
            remove_unfinished()
            assert os.listdir(tmp_path) == []

    with pytest.raises(FileNotFoundError):
        remove_on_the_way()
    assert not safe_writing._unfinished


@pytest.mark.skipif(os.name == "nt", reason="there are no such files on Windows")
def test_devices_and_pipes_are_not_replaced(tmp_path):
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    for place in (fifo, "/dev/null", "/dev/full"):
        with pytest.raises(OSError, match="is a device, a pipe"), writing(place):
            pass
        with pytest.raises(OSError, match="is a device, a pipe"):
            check_place(place)
    assert stat.S_ISFIFO(fifo.stat().st_mode)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(IsADirectoryError, match="is a folder; name a file"):
        check_place(tmp_path)


def test_long_names_and_odd_characters(tmp_path):
    for name in ("x" * 250 + ".npy", "ü" * 120 + ".csv", "a.b.c", ".hidden", "new\nline.txt"):
        check_place(tmp_path / name)
        with writing(tmp_path / name) as place:
            assert place.name.endswith((tmp_path / name).suffix)
            place.write_text("x")
        assert os.listdir(tmp_path) == [name]
        (tmp_path / name).unlink()
    with pytest.raises(OSError, match="cannot be written"):
        check_place(tmp_path / ("x" * 300 + ".npy"))
    assert os.listdir(tmp_path) == []


def test_places_that_cannot_be_written(tmp_path, monkeypatch):
    with pytest.raises(OSError, match="there is no folder"):
        check_place(tmp_path / "no" / "K.npy")
    if os.path.isdir("/proc/self"):
        with pytest.raises(OSError, match="cannot be written: "):
            check_place("/proc/self/K.npy")
    mine = tmp_path / "K.npy"
    mine.touch()
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(
        OSError, match=re.escape(repr(str(mine))) + " cannot be written: you do not"
    ):
        check_place(mine)


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    (tmp_path / "X").mkdir()
    (tmp_path / "X" / "old.txt").write_text("old")
    with writing_folder(tmp_path / "X") as place:
        (place / "new.txt").write_text("new")
    assert os.listdir(tmp_path) == ["X"]
    assert os.listdir(tmp_path / "X") == ["new.txt"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_leaves_the_old_folder_alone(tmp_path, error, monkeypatch):
    (tmp_path / "X").mkdir()
    with pytest.raises(error), writing_folder(tmp_path / "X"):
        raise error
    rename = os.rename

    def fail_on_the_new(source, target):
        if ".part" in os.fspath(source):
            raise error
        rename(source, target)

    monkeypatch.setattr(os, "rename", fail_on_the_new)
    with pytest.raises(error), writing_folder(tmp_path / "X") as place:
        (place / "new.txt").write_text("whole")
    assert os.listdir(tmp_path) == ["X"]
    assert os.listdir(tmp_path / "X") == []


def test_a_folder_left_aside_by_a_killed_process_is_put_back(tmp_path):
    aside = tmp_path / ".X.before"
    aside.mkdir()
    (aside / "old.txt").write_text("old")
    with pytest.raises(RuntimeError), writing_folder(tmp_path / "X"):
        raise RuntimeError
    assert os.listdir(tmp_path) == ["X"]
    assert os.listdir(tmp_path / "X") == ["old.txt"]


@pytest.mark.parametrize("context", [writing, writing_folder])
def test_system_errors_name_the_file(tmp_path, context):
    message = r"No space left on device: '.*result'$"
    with pytest.raises(OSError, match=message), context(tmp_path / "result"):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(PermissionError) as caught, context(tmp_path / "result") as place:
        raise PermissionError(errno.EACCES, "Permission denied", str(place))
    assert caught.value.filename == str(tmp_path / "result")
    for other in (OSError("a message"), OSError(errno.EIO, "Input/output error", "other")):
        said = str(other)
        with pytest.raises(OSError, match=f"^{re.escape(said)}$"), context(tmp_path / "result"):
            raise other
    assert os.listdir(tmp_path) == []


def test_a_full_disk_within_a_store_says_what_is_kept(tmp_path):
    message = r"K\.zarr' cannot be written: No space.*Tiles are kept; make room"
    naming = naming_place(tmp_path / "K.zarr", "Tiles are kept")
    with pytest.raises(OSError, match=message), naming, writing(tmp_path / "tile"):
        raise OSError(errno.ENOSPC, "No space left on device")
