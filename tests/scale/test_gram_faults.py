"""Faults of long runs: kill -9, a full disk, lost workers, a lost scheduler."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import gramlet
from gramlet.scale.gram_store import PairWork, TileGrid, _Store, prepared, write_tile
from reference.examples import labelled_graphs
from scale import killed_runs
from scale.conftest import array_bytes, finished_tiles


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_random_moments(tmp_path):
    """At least twenty kills: the same bytes as without, and no finished tile is repeated."""
    ended = subprocess.run(
        [sys.executable, killed_runs.__file__, str(tmp_path), "20"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    told = json.loads(ended.stdout)
    assert told["kills"] >= 20
    assert told["repeated"] == 0
    assert told["with_tiles"] > 0  # some were killed during the work
    gramlet.gram(
        killed_runs.graphs(),
        killed_runs.KERNEL,
        output=tmp_path / "K.zarr",
        chunk=killed_runs.CHUNK,
    )
    expected = array_bytes(tmp_path / "K.zarr")
    for number in range(told["stores"]):
        place = tmp_path / f"K{number}.zarr"
        assert array_bytes(place) == expected
        assert sorted(os.listdir(place)) == ["c", "zarr.json"]
        assert not list(place.rglob("*.partial"))


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a disk of half a megabyte, and a function that makes room there."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True).returncode == 0
    except OSError:
        done = False
    if not done:
        pytest.skip("only root may mount a small disk; another test limits file sizes")
    yield (
        folder,
        lambda: subprocess.run(["mount", "-o", "remount,size=8m", str(folder)], check=True),
    )
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk(small_disk):
    folder, make_room = small_disk
    graphs = labelled_graphs(300)
    place = folder / "K.zarr"
    with pytest.raises(
        OSError, match=r"K\.zarr.*cannot be written: No space left on device.*make room"
    ):
        gramlet.gram(graphs, "vertex", output=place, chunk=32)
    kept = finished_tiles(place)
    assert 0 < len(kept) < 55
    make_room()
    written = []
    original = _Store.write
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_Store, "write", lambda s, *a: written.append(a[1]) or original(s, *a))
        stored = gramlet.gram(graphs, "vertex", output=place, chunk=32)
    assert np.array_equal(stored[:], gramlet.gram(graphs, "vertex"))
    assert not kept & set(written)


@pytest.mark.parametrize("free", [0, 4096, 12_288])
def test_a_disk_that_is_full_from_the_beginning(small_disk, free):
    """Lock, manifest and metadata need space too, and their errors name the path."""
    folder, make_room = small_disk
    graphs = labelled_graphs(100)
    with (folder / "filler").open("wb") as file:
        file.write(b"x" * (512 * 1024 - free))
    for place, write in (("K.zarr", gramlet.gram), ("s", gramlet.FeatureStore.write)):
        arguments = (graphs, "wl") if place == "K.zarr" else (folder / place, graphs)
        output = {"output": folder / place, "chunk": 32} if place == "K.zarr" else {}
        with pytest.raises(OSError, match=rf"{place}.*cannot be written: No space left.*make room"):
            write(*arguments, **output)
    make_room()
    stored = gramlet.gram(graphs, "wl", output=folder / "K.zarr", chunk=32)
    assert np.array_equal(stored[:], gramlet.gram(graphs, "wl"))
    assert len(gramlet.FeatureStore.write(folder / "s", graphs)) == 100


def test_a_limit_on_file_sizes(tmp_path):
    place = tmp_path / "K.zarr"
    graphs = labelled_graphs(40)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (600, hard))
    try:
        with pytest.raises(OSError, match=r"K\.zarr.*cannot be written: File too large"):
            gramlet.gram(graphs, "vertex", output=place, chunk=8)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    stored = gramlet.gram(graphs, "vertex", output=place, chunk=8)
    assert np.array_equal(stored[:], gramlet.gram(graphs, "vertex"))


def test_an_interrupted_run_keeps_its_tiles(tmp_path, monkeypatch):
    graphs, place = labelled_graphs(40), tmp_path / "K.zarr"
    calls = iter(range(100))
    original = PairWork.tile

    def compute(*args):
        if next(calls) == 5:
            raise KeyboardInterrupt
        return original(*args)

    monkeypatch.setattr(PairWork, "tile", compute)
    with pytest.raises(KeyboardInterrupt):
        gramlet.gram(graphs, "vertex", output=place, chunk=8)
    assert len(finished_tiles(place)) == 5
    assert not (place / "gramlet.lock").exists()
    stored = gramlet.gram(graphs, "vertex", output=place, chunk=8)
    assert np.array_equal(stored[:], gramlet.gram(graphs, "vertex"))


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    )
    yield cluster
    # A cluster that was closed while a worker was started again may not end by itself.
    with contextlib.suppress(TimeoutError):
        cluster.close(timeout=10)


def test_tiles_on_workers(cluster, tmp_path):
    """Without faults; with each worker killed once; and with the scheduler lost during the work."""
    import distributed

    graphs = labelled_graphs(120)
    gramlet.gram(graphs, "wl", output=tmp_path / "K.zarr", chunk=12, normalize=True)
    expected = array_bytes(tmp_path / "K.zarr")
    with distributed.Client(cluster) as client:
        given = {"chunk": 12, "normalize": True, "client": client}
        gramlet.gram(graphs, "wl", output=tmp_path / "A.zarr", **given)
        assert array_bytes(tmp_path / "A.zarr") == expected

        processes = list(client.run(os.getpid).values())
        killer = threading.Thread(target=kill_in_turn, args=(processes, tmp_path / "B.zarr"))
        killer.start()
        gramlet.gram(graphs, "wl", output=tmp_path / "B.zarr", **given)
        killer.join()
        assert array_bytes(tmp_path / "B.zarr") == expected
        assert sorted(os.listdir(tmp_path / "B.zarr")) == ["c", "zarr.json"]

        rectangular = gramlet.gram(
            graphs[:30], "wl", graphs[:50], output=tmp_path / "R.zarr", **given
        )
        assert np.array_equal(
            rectangular[:], gramlet.gram(graphs[:30], "wl", graphs[:50], normalize=True)
        )

        nowhere = _Store(tmp_path / "nowhere", TileGrid(4, 4, 2, symmetric=True), {})
        with pytest.raises(FileNotFoundError, match="A worker does not see the folder"):
            client.submit(write_tile, None, nowhere, (0, 0)).result()

        closer = threading.Thread(target=close_after, args=(cluster, tmp_path / "C.zarr"))
        closer.start()
        with pytest.raises(ConnectionError, match=r"scheduler was lost.*Finished tiles are kept"):
            gramlet.gram(graphs, "wl", output=tmp_path / "C.zarr", **given)
        closer.join()
    kept = finished_tiles(tmp_path / "C.zarr")
    assert 0 < len(kept) < 55
    gramlet.gram(graphs, "wl", output=tmp_path / "C.zarr", chunk=12, normalize=True)
    assert array_bytes(tmp_path / "C.zarr") == expected


def wait_for_tiles(place: Path, number: int) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if len(finished_tiles(place)) >= number:
            return
        time.sleep(0.002)
    raise AssertionError(f"{number} tiles were not reached")


def kill_in_turn(processes: list[int], place: Path) -> None:
    for count, process in enumerate(processes):
        wait_for_tiles(place, 3 + 20 * count)
        os.kill(process, 9)


def close_after(cluster, place: Path) -> None:
    wait_for_tiles(place, 3)
    cluster.close()


def test_the_only_worker_is_killed(tmp_path):
    """The profile is lost with the worker, and sent again to the one that replaces it."""
    distributed = pytest.importorskip("distributed")
    graphs = labelled_graphs(120)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        processes = list(client.run(os.getpid).values())
        killer = threading.Thread(target=kill_in_turn, args=(processes, tmp_path / "K.zarr"))
        killer.start()
        stored = gramlet.gram(graphs, "wl", output=tmp_path / "K.zarr", chunk=12, client=client)
        killer.join()
    assert np.array_equal(stored[:], gramlet.gram(graphs, "wl"))


def test_a_late_worker_does_not_write_into_another_matrix(tmp_path):
    graphs, place = labelled_graphs(20), tmp_path / "K.zarr"
    gramlet.gram(graphs, "wl", output=place, chunk=5)
    late = _Store(place, TileGrid(20, 20, 5, symmetric=True), {"kernel": "another"})
    work = prepared(gramlet.VertexHistogram(), graphs, None, None)
    before = array_bytes(place)
    with pytest.raises(ValueError, match=r"was changed \(attributes\)"):
        write_tile(work, late, (0, 1))
    assert array_bytes(place) == before


def test_no_scheduler_answers():
    from gramlet.scale import cluster as clusters

    pytest.importorskip("distributed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "_PATIENCE", "1s")
        with pytest.raises(ConnectionError, match="No Dask scheduler answers at 'tcp:"):
            clusters.connected("tcp://127.0.0.1:9")


def test_a_client_of_threads_beside_another_and_one_that_is_closed(tmp_path):
    """Results come through the given client, not through Dask's default client."""
    distributed = pytest.importorskip("distributed")
    graphs = labelled_graphs(20)
    here = {"processes": False, "n_workers": 1, "dashboard_address": ":0"}
    with distributed.Client(**here) as client:
        other = distributed.Client(**here)
        other.close()
        stored = gramlet.gram(graphs, "wl", output=tmp_path / "K.zarr", chunk=8, client=client)
        assert np.array_equal(stored[:], gramlet.gram(graphs, "wl"))
    place = tmp_path / "none.zarr"
    with pytest.raises(ConnectionError, match="client is closed"):
        gramlet.gram(graphs, "wl", output=place, client=client)
    with pytest.raises(TypeError, match=r"must be a dask\.distributed\.Client.*got str"):
        gramlet.gram(graphs, "wl", output=place, client="tcp://host:8786")
    assert not place.exists()
