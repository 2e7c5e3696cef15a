"""Groups of tiles for workers, and tiles that are written stripe by stripe."""

from __future__ import annotations

import os
from itertools import chain

import numpy as np
import pytest

from gramlet import VertexHistogram
from gramlet.scale.matrices.tile_cluster import Blocks, next_task, write_tiles
from gramlet.scale.matrices.tile_grid import Tile, TileGrid
from gramlet.scale.matrices.tile_groups import Groups
from gramlet.scale.matrices.tile_store import TileStore, checksum
from gramlet.scale.matrices.tile_work import prepared
from scale.conftest import labelled_graphs

GRID = TileGrid(80, 80, 2, symmetric=True)


@pytest.fixture
def blocks(tmp_path):
    graphs = labelled_graphs(80)
    work = prepared(VertexHistogram(), graphs, None, None)
    store = TileStore(tmp_path / "K.zarr", GRID)
    store.folder.mkdir()
    store.create()
    (tmp_path / "scratch").mkdir()
    return Blocks(work, store, tmp_path / "scratch")


def groups_of(groups: Groups, n_threads: int, seconds: float) -> list[list[Tile]]:
    """The tiles of all groups if a tile off the diagonal takes so long."""
    found = []
    while tiles := groups.next_tiles(n_threads):
        found.append(tiles)
        groups.learn(found[-1], seconds * cost(found[-1]))
    return found


def cost(tiles: list[Tile]) -> float:
    return sum(0.5 if i == j else 1.0 for i, j in tiles)


def test_all_tiles_once_and_those_on_the_diagonal_last():
    tiles = GRID.tiles()
    found = [*chain(*groups_of(Groups(tiles, symmetric=True), 2, 0.01))]
    assert found[:-40] == [(i, j) for i, j in tiles if i < j]
    assert found[-40:] == [(i, i) for i in range(40)]


def test_tiles_that_take_long_are_sent_one_by_one():
    tiles = GRID.tiles()
    found = groups_of(Groups(tiles, symmetric=True), 2, 3.0)
    assert {len(group) for group in found} == {1}


def test_tiles_that_take_nothing_are_sent_together_but_not_at_the_end():
    tiles = GRID.tiles()  # 820
    found = groups_of(Groups(tiles, symmetric=True), 2, 0.0)
    assert sum(map(len, found)) == len(tiles)
    assert len(found[0]) == 1  # nothing is known yet
    assert max(map(len, found)) == 64
    assert max(map(cost, found[-4:])) <= 1.0
    assert len(found) < len(tiles) / 10
    # Nobody is handed more than half of his share of what remains, to the nearest tile.
    remaining = cost(tiles)
    for group in found:
        assert len(group) == 1 or cost(group) <= remaining / 4 + 0.5
        remaining -= cost(group)


@pytest.mark.parametrize("seconds", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("n_threads", [2, 7])
def test_a_group_takes_two_seconds_and_workers_end_together(seconds, n_threads):
    found = groups_of(Groups(GRID.tiles(), symmetric=True), n_threads, seconds)
    times = [seconds * cost(group) for group in found]
    assert max(times) <= 2.0 + seconds / 2
    assert max(times) > 0.75 * min(2.0, 64 * seconds)
    free = [0.0] * n_threads
    for time in times:  # the next free worker gets the next group
        free[free.index(min(free))] += time
    assert max(free) - min(free) <= seconds + 1e-9


def test_tiles_of_a_matrix_that_is_not_symmetric_keep_their_order():
    tiles = TileGrid(6, 6, 2, symmetric=False).tiles()
    found = groups_of(Groups(tiles, symmetric=False), 1, 3.0)
    assert [*chain(*found)] == tiles


def test_a_message_names_the_tiles(blocks):
    groups = Groups(GRID.tiles(), symmetric=True)
    task = next_task(groups, blocks, 1)
    assert task is not None
    assert task.shown == "rows 0:2, columns 2:4"
    groups.learn([(0, 1)], 1.0)
    task = next_task(groups, blocks, 1)
    assert task is not None
    assert task.shown == "rows 0:2, columns 4:6 and 1 more"


def test_a_group_is_on_the_disk_before_its_checksums_are_told(blocks, monkeypatch):
    order = []
    flush, write = TileStore.flush, TileStore.write
    monkeypatch.setattr(
        TileStore, "write", lambda s, *a: order.append(("write", a[0])) or write(s, *a)
    )
    monkeypatch.setattr(
        TileStore, "flush", lambda s, t: order.append(("flush", *(t := list(t)))) or flush(s, t)
    )
    groups = Groups(GRID.tiles()[1:], symmetric=True)
    groups.learn([(0, 1)], 0.4)
    task = next_task(groups, blocks, 1)
    assert task is not None
    written, seconds = write_tiles(*task.arguments)
    tiles = [(0, j) for j in range(1, 6)]
    assert [tile for tile, _ in written] == tiles
    assert order == [*(("write", tile) for tile in tiles), ("flush", *tiles)]
    assert all(blocks.store.is_intact(tile, digest) for tile, digest in written)
    assert seconds > 0


def crc32c(data: bytes) -> int:
    """Castagnoli's polynomial, bit by bit."""
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


@pytest.mark.parametrize("shape", [(70, 70), (70, 33), (31, 64), (1, 40), (40, 1)])
def test_a_tile_and_its_mirror_in_stripes(tmp_path, shape):
    """Heights and widths that are not multiples of a stripe; the mirror is the transposed tile."""
    n = max(shape)
    values = np.random.default_rng(0).normal(size=shape)
    grid = TileGrid(2 * n, 2 * n, n, symmetric=True)
    store = TileStore(tmp_path, grid)
    store.create()
    expected = np.zeros((n, n))
    expected[: shape[0], : shape[1]] = values
    digest = store.write((0, 1), values)
    store.flush([(0, 1)])
    assert digest == checksum(expected) == f"{crc32c(expected.tobytes()):08x}"
    assert np.array_equal(store.read((0, 1)), expected)
    assert np.array_equal(store.read((1, 0)), expected.T)
    assert not store.read((0, 0)).any()
    assert not store.read((1, 1)).any()


def test_workers_of_this_machine_keep_memory_and_are_not_sampled(monkeypatch):
    """With Dask's defaults, a tile takes half as much time again."""
    pytest.importorskip("distributed")
    from gramlet.scale.cluster import started, stopped

    monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")  # an earlier cluster leaves this behind
    client = started(1)
    try:
        settings = client.submit(_settings).result()
    finally:
        stopped(client)
    assert settings == (str(2**28), str(2**28), "1", False)
    assert os.environ["MALLOC_TRIM_THRESHOLD_"] == "65536"


def _settings() -> tuple[str | None, str | None, str | None, bool]:
    import dask

    return (
        os.environ.get("MALLOC_TRIM_THRESHOLD_"),
        os.environ.get("MALLOC_MMAP_THRESHOLD_"),
        os.environ.get("OMP_NUM_THREADS"),
        dask.config.get("distributed.worker.profile.enabled"),
    )


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
