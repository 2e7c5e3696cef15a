"""Stores on Dask: a scheduler and workers started with the `dask` command, as on a cluster.

All processes listen on the local machine only. They are started once: the tests run in this order,
and the last ones kill a worker and the scheduler.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import gramlet
from gramlet import Dataset, FeatureStore, HashedFeatures
from gramlet.cli.program import run
from gramlet.files.stream import slices_of
from reference.examples import labelled_graphs
from scale.conftest import array_bytes

distributed = pytest.importorskip("distributed")
HASHED = HashedFeatures(n_iter=2, n_bits=10)
HERE = "127.0.0.1"


class Cluster:
    """A scheduler and two workers, each in a separate process."""

    def __init__(self, folder) -> None:
        self.file = folder / "scheduler.json"
        self.folder = folder
        self.scheduler = self._start(
            "scheduler",
            "--host",
            HERE,
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(self.file),
        )
        self._wait(self.file.is_file)
        self.address = json.loads(self.file.read_text())["address"]
        assert self.address.startswith(f"tcp://{HERE}:")
        self.workers = [
            self._start(
                "worker",
                self.address,
                "--host",
                HERE,
                "--nthreads",
                "1",
                "--no-nanny",
                "--no-dashboard",
                "--local-directory",
                str(folder),
            )
            for _ in range(2)
        ]

    def _start(self, *command: str) -> subprocess.Popen:
        with (self.folder / "log").open("a") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "distributed.cli.dask_" + command[0], *command[1:]],
                stdout=log,
                stderr=log,
            )

    @staticmethod
    def _wait(there) -> None:
        until = time.monotonic() + 120
        while not there():
            assert time.monotonic() < until
            time.sleep(0.05)

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def client(cluster):
    client = distributed.Client(cluster.address, timeout="60s")
    client.wait_for_workers(2, timeout=120)
    yield client
    client.close(timeout=5)


@pytest.fixture
def data():
    return Dataset(labelled_graphs(60), np.arange(60) % 3, ids=[f"g{i}" for i in range(60)])


def part_bytes(place):
    return {path.name: path.read_bytes() for path in place.glob("part-*")}


def test_features_of_graphs(client, data, tmp_path):
    here = FeatureStore.write(tmp_path / "here", data, HASHED, 7)
    there = FeatureStore.write(tmp_path / "there", data, HASHED, 7, client=client)
    assert part_bytes(tmp_path / "there") == part_bytes(tmp_path / "here")
    assert there.ids.tolist() == here.ids.tolist() == list(data.ids)
    assert sorted(os.listdir(tmp_path / "there")) == sorted(os.listdir(tmp_path / "here"))


def test_a_worker_is_sent_its_own_graphs_alone(data):
    import cloudpickle

    blocks = list(slices_of(data, 10))
    sent = [cloudpickle.dumps(block) for block in blocks]
    assert max(map(len, sent)) < 0.5 * len(cloudpickle.dumps(data))
    again = cloudpickle.loads(sent[3])()
    assert again.ids == [f"g{i}" for i in range(30, 40)]
    assert (HASHED.transform(again.graphs) != HASHED.transform(data.graphs[30:40])).nnz == 0


def test_features_of_a_file_by_the_command_line(cluster, client, tmp_path, capsys):
    pytest.importorskip("rdkit")
    table = tmp_path / "a.csv"
    rows = [f"m{i},{'C' * (1 + i % 9)}N,{i % 2}\n" for i in range(60)]
    rows[7] = "m7,?,1\n"
    table.write_text("id,smiles,y\n" + "".join(rows))
    command = ["embed", str(table), "--hashed", "10", "--batch-size", "9", "--on-error", "skip"]
    assert run([*command, "-o", str(tmp_path / "here")]) == 0
    there = [*command, "-o", str(tmp_path / "there"), "--scheduler", cluster.address]
    assert run(there) == 0
    told = capsys.readouterr()
    assert "59 × 1024 features" in told.out
    assert told.err.count("1 of 60 rows were left out, the first at") == 2
    assert part_bytes(tmp_path / "there") == part_bytes(tmp_path / "here")
    assert "line 9" in FeatureStore(tmp_path / "there").skipped[0].place
    assert run(there) == 0  # finished: nothing to do


def test_tiles_by_the_command_line(cluster, client, tmp_path, capsys):
    command = ["gram", "MUTAG", "-k", "wl", "-p", "n_iter=1", "--chunk", "50"]
    assert run([*command, "-o", str(tmp_path / "here.zarr")]) == 0
    scheduler = ["--scheduler", cluster.address]
    assert run([*command, "-o", str(tmp_path / "there.zarr"), *scheduler]) == 0
    assert array_bytes(tmp_path / "there.zarr") == array_bytes(tmp_path / "here.zarr")


def test_an_error_on_a_worker_is_told(client, tmp_path):
    pytest.importorskip("rdkit")
    table = tmp_path / "a.csv"
    table.write_text(
        "id,smiles\n" + "".join(f"m{i},{'C' if i != 11 else '?'}\n" for i in range(20))
    )
    with pytest.raises(ValueError, match=r"line 13: .*is not a valid SMILES"):
        FeatureStore.write(tmp_path / "s", table, HASHED, 5, client=client, molecules="smiles")
    assert not (tmp_path / "s" / "gramlet.lock").exists()


def test_a_worker_and_then_the_scheduler_are_killed(cluster, client, data, tmp_path):
    expected = FeatureStore.write(tmp_path / "here", data, HASHED, 1)
    place = tmp_path / "there"
    killer = threading.Thread(target=kill_after, args=(place, cluster.workers[0]))
    killer.start()
    FeatureStore.write(place, data, HASHED, 1, client=client)
    killer.join()
    assert part_bytes(place) == part_bytes(tmp_path / "here")
    assert len(client.nthreads()) == 1

    lost = tmp_path / "lost"
    killer = threading.Thread(target=kill_after, args=(lost, cluster.scheduler))
    killer.start()
    with pytest.raises(ConnectionError, match=r"scheduler was lost.*Finished parts are kept"):
        FeatureStore.write(lost, data, HASHED, 1, client=client)
    killer.join()
    kept = list(lost.glob("part-*"))
    assert 0 < len(kept) < 60
    store = FeatureStore.write(lost, data, HASHED, 1)
    assert part_bytes(lost) == part_bytes(tmp_path / "here")
    assert store.shape == expected.shape


def kill_after(place, process) -> None:
    until = time.monotonic() + 60
    while time.monotonic() < until and len(list(place.glob("part-*"))) < 3:
        time.sleep(0.001)
    os.kill(process.pid, signal.SIGKILL)


def test_processes_of_this_machine(tmp_path):
    """--workers: the command starts and ends a LocalCluster."""
    place = tmp_path / "store"
    assert (
        run(
            [
                "embed",
                "MUTAG",
                "--hashed",
                "10",
                "--batch-size",
                "50",
                "--workers",
                "1",
                "-o",
                str(place),
            ]
        )
        == 0
    )
    expected = HashedFeatures(n_bits=10).transform(gramlet.load_dataset("MUTAG").graphs)
    assert (FeatureStore(place).to_csr() != expected).nnz == 0


def test_two_clusters_of_this_machine_side_by_side(recwarn):
    """No warning about a port in use, and no port that other machines can reach."""
    pytest.importorskip("distributed")
    from gramlet.scale.cluster import started, stopped

    clients = [started(1), started(1)]
    try:
        for client in clients:
            scheduler = client.cluster.scheduler
            assert scheduler.http_server.address == "127.0.0.1"
            assert scheduler.address.startswith("tcp://127.0.0.1:")
    finally:
        for client in clients:
            stopped(client)
    assert not [str(one.message) for one in recwarn if "Port" in str(one.message)]
