"""Tiles over threads: every row once, errors and interruptions from any thread, little overhead."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
import threadpoolctl

from gramlet.engine.core.tiles import Tiling, for_tiles, mirror, one_blas_thread, row_ranges


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5])
@pytest.mark.parametrize("n_rows", [0, 1, 2, 7, 500])
def test_every_row_is_visited_once(n_rows, n_jobs):
    visits = np.zeros(n_rows, dtype=int)

    def work(begin, end):
        visits[begin:end] += 1

    for_tiles(work, n_rows, tiling=Tiling(n_jobs))
    assert (visits == 1).all()


def test_two_threads_take_part_at_one_time():
    both = threading.Barrier(2, timeout=60)
    seen = set()

    def work(begin, end):
        if begin < 2:
            both.wait()  # would time out with one thread
        seen.add(threading.get_ident())

    for_tiles(work, 100, n_tiles=100, tiling=Tiling(2))
    assert len(seen) == 2
    assert threading.get_ident() in seen


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
@pytest.mark.parametrize("by_helper", [True, False])
def test_what_a_tile_raises_comes_out_and_stops_the_others(by_helper, error):
    main = threading.get_ident()
    both = threading.Barrier(2, timeout=60)
    done = []

    def work(begin, end):
        if begin < 2:
            both.wait()
            if (threading.get_ident() == main) != by_helper:
                raise error("of this tile")
        time.sleep(0.005)
        done.append(begin)

    before = threading.active_count()
    with pytest.raises(error, match="of this tile"):
        for_tiles(work, 1000, n_tiles=1000, tiling=Tiling(2))
    assert len(done) < 900
    assert threading.active_count() == before


def test_ranges_do_not_depend_on_the_number_of_threads():
    found = {}
    for n_jobs in (1, 2, 3):
        tiles = []
        for_tiles(lambda *tile, tiles=tiles: tiles.append(tile), 300, tiling=Tiling(n_jobs))
        found[n_jobs] = sorted(tiles)
    assert found[1] == found[2] == found[3] == row_ranges(300)


def test_threads_cost_little_where_tiles_are_small():
    def seconds(n_jobs):
        begin = time.process_time()
        for _ in range(20):
            for_tiles(lambda *_: None, 128, tiling=Tiling(n_jobs))
        return time.process_time() - begin

    seconds(2)
    # Waiting for a pool after each of 128 tiles took 1.6 milliseconds per call.
    assert min(seconds(2) for _ in range(3)) - min(seconds(1) for _ in range(3)) < 20 * 0.001


@pytest.mark.parametrize("n", [0, 1, 5, 127, 128, 129, 300])
def test_mirror_copies_the_upper_triangle(n):
    given = np.random.default_rng(n).random((n, n))
    found = given.copy()
    mirror(found)
    np.testing.assert_array_equal(found, np.triu(given) + np.triu(given, 1).T)


def test_blas_has_one_thread_inside_and_as_many_as_before_afterwards():
    libraries = threadpoolctl.ThreadpoolController().select(user_api="blas")
    for before in (1, 2):
        with libraries.limit(limits=before, user_api="blas"):
            threads = [library.num_threads for library in libraries.lib_controllers]
            with one_blas_thread():
                assert {library.num_threads for library in libraries.lib_controllers} == {1}
            assert [library.num_threads for library in libraries.lib_controllers] == threads
