"""The threads that write tiles: order, errors, and no waiting for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

import pytest

from gramlet.scale.matrices.tile_writer import _Stage


def put_all(work: Callable[[list[int]], None], n_waiting: int, items: Iterable[int]) -> None:
    with _Stage("test", work, n_waiting) as stage:
        for item in items:
            stage.put(item)


def test_items_keep_their_order_and_all_are_worked_on():
    found: list[int] = []
    put_all(found.extend, 2, range(50))
    assert found == list(range(50))


@pytest.mark.parametrize("n_waiting", [1, 8])
def test_an_error_is_raised_and_later_items_are_left(n_waiting):
    seen: list[int] = []

    def fail(items: list[int]) -> None:
        seen.extend(items)
        raise OSError("no space")

    with pytest.raises(OSError, match="no space"):
        put_all(fail, n_waiting, range(1000))
    assert len(seen) <= n_waiting + 1


def test_an_error_in_the_last_items_ends_the_thread():
    """The mark of the end was taken together with the items that fail."""
    gate = threading.Event()
    raised: list[str] = []

    def work(items: list[int]) -> None:
        gate.wait(10)
        if 2 in items:
            raise OSError("no space")

    def run() -> None:
        try:
            put_all(work, 8, [1, 2])
        except OSError as error:
            raised.append(str(error))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    threading.Timer(0.3, gate.set).start()
    thread.join(10)
    assert not thread.is_alive()
    assert raised == ["no space"]
