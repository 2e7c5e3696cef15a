"""Groups of tiles for workers, and tiles that are written stripe by stripe."""

from __future__ import annotations

import hashlib
import os

import numpy as np
import pytest

from gramlet import VertexHistogram
from gramlet.scale.matrices.tile_cluster import Blocks, Groups, write_tiles
from gramlet.scale.matrices.tile_grid import TileGrid
from gramlet.scale.matrices.tile_store import TileStore, checksum
from gramlet.scale.matrices.tile_work import prepared
from scale.conftest import labelled_graphs


@pytest.fixture
def blocks(tmp_path):
    graphs = labelled_graphs(80)
    work = prepared(VertexHistogram(), graphs, None, None)
    store = TileStore(tmp_path / "K.zarr", TileGrid(80, 80, 2, symmetric=True))
    store.folder.mkdir()
    store.create()
    (tmp_path / "scratch").mkdir()
    return Blocks(work, store, tmp_path / "scratch")


def sizes(groups: Groups, n_threads: int, seconds: float) -> list[int]:
    """Sizes of all groups if each tile takes the given time."""
    found = []
    while (task := groups.next_task(n_threads)) is not None:
        found.append(len(task.arguments[0].tasks))
        groups.learn(seconds)
    return found


def test_all_tiles_once_and_in_order(blocks):
    tiles = blocks.store.grid.tiles()
    groups = Groups(tiles, blocks)
    found = []
    while (task := groups.next_task(2)) is not None:
        found += [part.tile for part in task.arguments[0].tasks]
        groups.learn(0.01)
    assert found == tiles


def test_tiles_that_take_long_are_sent_one_by_one(blocks):
    tiles = blocks.store.grid.tiles()
    assert set(sizes(Groups(tiles, blocks), 2, 0.4)) == {1}


def test_tiles_that_take_nothing_are_sent_together_but_not_at_the_end(blocks):
    tiles = blocks.store.grid.tiles()  # 820
    found = sizes(Groups(tiles, blocks), 2, 0.0)
    assert sum(found) == len(tiles)
    assert found[0] == 1  # nothing is known yet
    assert max(found) == 64
    assert found[-8:] == [1] * 8
    assert len(found) < len(tiles) / 10
    # No worker gets more than a quarter of its share of the remaining tiles.
    remaining = len(tiles)
    for size in found:
        assert size == 1 or size <= remaining / 8
        remaining -= size


def test_a_message_names_the_tiles(blocks):
    groups = Groups(blocks.store.grid.tiles(), blocks)
    task = groups.next_task(1)
    assert task is not None
    assert task.shown == "rows 0:2, columns 0:2"
    groups.learn(0.25)
    task = groups.next_task(1)
    assert task is not None
    assert task.shown == "rows 0:2, columns 2:4 and 1 more"


def test_a_group_is_on_the_disk_before_its_checksums_are_told(blocks, monkeypatch):
    order = []
    flush, write = TileStore.flush, TileStore.write
    monkeypatch.setattr(
        TileStore, "write", lambda s, *a: order.append(("write", a[0])) or write(s, *a)
    )
    monkeypatch.setattr(
        TileStore, "flush", lambda s, t: order.append(("flush", *(t := list(t)))) or flush(s, t)
    )
    groups = Groups(blocks.store.grid.tiles()[1:], blocks)
    groups.learn(0.1)
    task = groups.next_task(1)
    assert task is not None
    written, seconds = write_tiles(*task.arguments)
    tiles = [(0, j) for j in range(1, 6)]
    assert [tile for tile, _ in written] == tiles
    assert order == [*(("write", tile) for tile in tiles), ("flush", *tiles)]
    assert all(blocks.store.is_intact(tile, digest) for tile, digest in written)
    assert seconds > 0


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
    assert digest == checksum(expected) == hashlib.sha256(expected.tobytes()).hexdigest()[:32]
    assert np.array_equal(store.read((0, 1)), expected)
    assert np.array_equal(store.read((1, 0)), expected.T)
    assert not store.read((0, 0)).any()
    assert not store.read((1, 1)).any()


def test_workers_of_this_machine_keep_memory_and_are_not_sampled():
    """With Dask's defaults, a tile takes half as much time again."""
    pytest.importorskip("distributed")
    from gramlet.scale.cluster import started, stopped

    client = started(1)
    try:
        settings = client.submit(_settings).result()
    finally:
        stopped(client)
    assert settings == (str(2**28), str(2**28), "1", False)


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
