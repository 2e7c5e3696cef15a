"""Dask clusters: clients, and a bounded number of tasks on their workers.

If a worker dies, its tasks are computed again; if the scheduler is lost, an error is raised that
names what is kept. The callers define the tasks.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import resource_tracker
from typing import Any

_PATIENCE = "20s"  # time limit for the answer of a scheduler
_TASKS_PER_THREAD = 3  # with the scheduler: one that runs and two that wait
_RETRIES = 2  # of a call that raises an error, by Dask; calls of lost workers are repeated anyway
_MOST_LOSSES = 10  # how often what all calls share may be lost with the workers


def require_client(client: Any) -> None:
    """Raise if this is not a synchronous Dask client, or if it was closed."""
    if not all(hasattr(client, name) for name in ("submit", "nthreads", "status")):
        raise TypeError(
            "client must be a dask.distributed.Client, such as Client(address); got "
            f"{type(client).__name__}."
        )
    if getattr(client, "asynchronous", False):
        raise TypeError("client is asynchronous; give one made with asynchronous=False.")
    if client.status in ("closed", "closing"):
        raise ConnectionError("client is closed; give one that is connected to a scheduler.")


def started(n_workers: int) -> Any:
    """A client with its own worker processes on this machine; close both when done."""
    distributed = _distributed()
    import dask

    # Python's cleaner of semaphores warns of those that a killed process left behind, and removes
    # them. It is another process, which only the environment tells to be quiet.
    os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker")
    # Workers that are stopped in the middle of a task would say so; what matters is raised here.
    settings = {"distributed.nanny.pre-spawn-environ.DASK_LOGGING__DISTRIBUTED": "critical"}
    with dask.config.set(settings):
        cluster = _without_interrupts(
            lambda: distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                processes=True,
                # Without an address Dask's HTTP server would listen on all interfaces, on a port
                # that another cluster may use.
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
            )
        )
    return distributed.Client(cluster)


def _without_interrupts(start: Callable[[], Any]) -> Any:
    """Start a cluster whose processes do not receive Ctrl-C; this process still does.

    The processes inherit the blocked signals of the thread that starts them. After Ctrl-C this
    process stops them; if it reached them too, each would print where it was.
    """
    with ThreadPoolExecutor(1, "gramlet-cluster", _block_interrupts) as pool:
        starting = pool.submit(start)
        try:
            return starting.result()
        except KeyboardInterrupt:
            starting.result().close()
            raise


def _block_interrupts() -> None:
    """Block Ctrl-C in this thread, and in all threads and processes that it starts."""
    if os.name != "posix":
        return
    # It is started with the first queue, and its start would end the blocking.
    resource_tracker.ensure_running()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def stopped(client: Any) -> None:
    """Close a client and, if `started` made it, its workers."""
    # On a busy machine workers that end slowly are killed, and messages to them arrive too late;
    # the user need not be told.
    for name in ("distributed", "distributed.nanny", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    cluster = client.cluster
    with contextlib.suppress(Exception):  # closing fails if the scheduler is lost
        client.close()
    if cluster is not None:
        cluster.close()


def connected(address: str) -> Any:
    """A client of a running scheduler."""
    distributed = _distributed()
    try:
        return distributed.Client(address, timeout=_PATIENCE)
    except (OSError, ValueError) as why:
        raise ConnectionError(
            f"No Dask scheduler answers at {address!r}. Start one with 'dask scheduler' and give "
            "the address that it prints, such as tcp://HOST:8786."
        ) from why


def _distributed() -> Any:
    try:
        import distributed
    except ImportError as why:
        raise ImportError(
            "Work on a cluster needs Dask, which is not installed: pip install 'gramlet[scale]'."
        ) from why
    return distributed


def results(
    client: Any,
    function: Callable[..., Any],
    calls: Iterator[tuple[str, tuple[Any, ...]]],
    kept: str,
    shared: Any = None,
) -> Iterator[Any]:
    """Results of calls on the workers, as they finish; a bounded number is submitted at a time.

    Dask repeats the calls of workers that die, and those that raise an error a few times. After an
    error nothing more is submitted; of several errors that of the earliest call is raised.

    Parameters
    ----------
    client : dask.distributed.Client
    function : callable
    calls : iterator of (name, arguments)
        The name is for messages.
    kept : str
        What is kept after an error, and where, for messages.
    shared : object, optional
        The first argument of every call; it is sent to each worker once.
    """
    from distributed import as_completed
    from distributed.comm import CommClosedError

    require_client(client)
    running: dict[Any, tuple[int, str, tuple[Any, ...]]] = {}  # with the place of each call
    failures: dict[int, Exception] = {}
    numbered = ((place, *call) for place, call in enumerate(calls))
    # Of this client: without futures Dask would use the one that was created last.
    completed = as_completed(loop=client.loop, with_results=True, raise_errors=False)
    first = _scattered(client, shared)
    n_losses = 0

    def submit(call: tuple[int, str, tuple[Any, ...]]) -> None:
        future = client.submit(function, *first, *call[2], pure=False, retries=_RETRIES)
        running[future] = call
        completed.add(future)

    def submit_more() -> None:
        most = max(1, _TASKS_PER_THREAD * sum(client.nthreads().values()))
        try:
            while not failures and len(running) < most and (call := next(numbered, None)):
                submit(call)
        except ValueError as error:  # of reading what the next call is about
            failures[sys.maxsize] = error

    try:
        submit_more()
        for future, result in completed:
            call = running.pop(future)
            if future.status == "finished" and not isinstance(result, BaseException):
                yield result
                submit_more()
                continue
            if future.status == "error":
                failures[call[0]] = _error(future, call[1], kept)
                continue
            if client.status != "running":
                raise ConnectionError
            # The result, or what the calls share, was lost with the workers that had it.
            n_losses += 1
            if n_losses > _MOST_LOSSES * _TASKS_PER_THREAD:
                raise _died(call[1], kept)
            if first and first[0].status != "finished":
                first = _scattered(client, shared)
            submit(call)
        if failures:
            raise failures[min(failures)]
    except Exception as why:
        # A client may notice only later that nothing answers.
        if client.status == "running" and not isinstance(why, CommClosedError):
            raise
        raise ConnectionError(
            f"The connection to the Dask scheduler was lost (client is {client.status}). "
            f"{kept} Connect a new client and call again with the same arguments to "
            "compute the rest."
        ) from why
    finally:
        with contextlib.suppress(Exception):  # the scheduler may be lost
            client.cancel(list(running))


def _scattered(client: Any, shared: Any) -> list[Any]:
    """An object on every worker, as the first argument of calls; none if there is no object."""
    if shared is None:
        return []
    client.wait_for_workers(1)
    return [client.scatter(shared, broadcast=True, hash=False)]


def _error(future: Any, name: str, kept: str) -> Exception:
    """The error of a call."""
    error: Exception = future.exception()
    if type(error).__name__ != "KilledWorker":
        return error
    died = _died(name, kept)
    died.__cause__ = error
    return died


def _died(name: str, kept: str) -> RuntimeError:
    return RuntimeError(
        f"The workers that computed {name} died repeatedly; too little memory is the usual "
        f"reason. Give workers more memory, or start again with smaller parts. {kept}"
    )
