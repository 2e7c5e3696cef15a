"""Dask clusters: clients, and a bounded number of tasks on their workers.

If a worker dies, its tasks are computed again; if the scheduler is lost, an error is raised that
names what is kept. The callers define the tasks.
"""

from __future__ import annotations

import contextlib
import logging
import math
import os
import signal
import time
import uuid
from collections import deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import resource_tracker
from typing import Any

__all__ = [
    "Task",
    "bounded_results",
    "connected",
    "require_client",
    "started",
    "stopped",
    "waiting_for_disk",
]

_ASK_AGAIN = 2.0  # seconds after which the number of workers is requested again
_PATIENCE = "20s"  # time limit for the answer of a scheduler
_TASKS_PER_THREAD = 3  # with the scheduler: one that runs and two that wait
_KEPT_BYTES = 2**28  # of free memory that a worker keeps for its next tile
_MOST_LOSSES = 20  # how often the same task may be lost before an error is raised


@dataclass(frozen=True)
class Task:
    """A call for a worker. ``name`` is returned with the result; ``shown`` is for messages."""

    name: Hashable
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    shown: str


@dataclass(frozen=True)
class _Failed:
    """The error of a task, as its result."""

    error: Exception


def _attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of a call, or its error: workers print tracebacks of errors that are raised."""
    try:
        return function(*arguments)
    except Exception as error:
        return _Failed(error)


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

    settings = {
        # Dask samples its workers' stacks a hundred times per second, for a dashboard.
        "distributed.worker.profile.enabled": False,
        # Dask's monitoring of its own loops takes 7 % of a core with two workers, and 2 % with
        # these intervals.
        "distributed.admin.tick.interval": "500ms",
        "distributed.admin.system-monitor.interval": "5s",
        "distributed.worker.memory.monitor-interval": "500ms",
    }
    # Dask has its workers give memory back to the system at once. Tiles use the same memory again
    # and again; to get it anew each time takes half as long as computing a tile of wl.
    kept = dict.fromkeys(("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_"), str(_KEPT_BYTES))
    # Python's cleaner of semaphores warns of those that a killed process left behind, and removes
    # them.
    earlier = os.environ.get("PYTHONWARNINGS")
    quiet = ",".join(filter(None, (earlier, "ignore:resource_tracker")))
    kept["MALLOC_ARENA_MAX"] = "1"  # so that all threads use what is kept
    before = "distributed.nanny.pre-spawn-environ."
    settings |= {before + name: int(value) for name, value in kept.items()}
    # Workers that are stopped in the middle of a task would say so; what matters is raised here.
    settings[f"{before}DASK_LOGGING__DISTRIBUTED"] = "critical"
    with dask.config.set(settings), _environment({**kept, "PYTHONWARNINGS": quiet}):
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


@contextlib.contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Environment variables for what is started inside.

    Dask prefers the variables of this process to its configuration, and leaves those of an earlier
    cluster behind.
    """
    earlier = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in earlier.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def stopped(client: Any) -> None:
    """Close a client of `started` and its workers."""
    # On a busy machine workers that end slowly are killed, and messages to them arrive too late;
    # the user need not be told.
    for name in ("distributed", "distributed.nanny", "tornado.application"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    cluster = client.cluster
    with contextlib.suppress(Exception):  # closing fails if the scheduler is lost
        client.close()
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


@contextlib.contextmanager
def waiting_for_disk() -> Iterator[None]:
    """On a worker, let the next task begin while this one waits; anywhere else nothing."""
    distributed = _distributed()
    with contextlib.suppress(ValueError):  # not on a worker
        distributed.secede()
    yield


def bounded_results(
    client: Any, next_task: Callable[[int], Task | None], kept: str
) -> Iterator[list[tuple[Hashable, Any]]]:
    """Names and results of tasks as they finish, a few at a time.

    The error of a task is raised after all tasks before it are finished, so that of several errors
    the first one is raised.

    Parameters
    ----------
    client : dask.distributed.Client
    next_task : callable
        The next task, given the number of the workers' threads; None after the last one. Called
        as workers get free.
    kept : str
        What is kept after an error, and where, for messages.
    """
    require_client(client)
    run = _Run(client, next_task, kept)
    try:
        while finished := run.step():
            yield finished
    finally:
        run.stop()


class _Run:
    """Submitted tasks."""

    def __init__(self, client: Any, next_task: Callable[[int], Task | None], kept: str) -> None:
        from distributed import as_completed

        self.client, self.next_task, self.kept = client, next_task, kept
        self.label = f"gramlet-{uuid.uuid4().hex[:8]}"
        self.again: deque[Task] = deque()
        self.running: dict[str, Task] = {}
        self.futures: dict[str, Any] = {}
        # Of this client: without futures Dask would use the one that was created last.
        self.completed = as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self.losses: dict[Hashable, int] = {}
        self.places: dict[Hashable, int] = {}  # of the tasks that are not finished, in their order
        self.failure: tuple[int, Exception] | None = None  # the first one, and its place
        self.n_tasks = 0
        self.n_submitted = self.n_threads = 0
        self.asked = -math.inf

    def step(self) -> list[tuple[Hashable, Any]]:
        """Some finished tasks; none if all are finished."""
        finished: list[tuple[Hashable, Any]] = []
        while not finished:
            self._require_scheduler()
            self._submit_more()
            self._raise_failure()
            if not self.running:
                break
            for future, result in self.completed.next_batch(block=True):
                task = self.running.pop(future.key)
                del self.futures[future.key]
                if not self._is_finished(future, result, task):
                    self.again.append(task)
                    continue
                place = self.places.pop(task.name)
                if isinstance(result, _Failed):
                    self._note_failure(place, result.error)
                else:
                    finished.append((task.name, result))
        return finished

    def _note_failure(self, place: int, error: Exception) -> None:
        if self.failure is None or place < self.failure[0]:
            self.failure = (place, error)

    def _raise_failure(self) -> None:
        """Raise the first error, unless a task before it is not finished."""
        if self.failure is None:
            return
        place, error = self.failure
        if all(other > place for other in self.places.values()):
            raise error

    def stop(self) -> None:
        """Cancel tasks that have not started, after an error or Ctrl-C."""
        if self.futures:
            with contextlib.suppress(Exception):  # the scheduler may be lost
                self.client.cancel(list(self.futures.values()))

    def _submit_more(self) -> None:
        most = self._most_tasks()
        while len(self.running) < most:
            task = self.again.popleft() if self.again else self._new_task()
            if task is None:
                return
            self.n_submitted += 1
            key = f"{self.label}-{self.n_submitted}"
            future = self.client.submit(
                _attempt, task.function, *task.arguments, key=key, pure=False
            )
            self.running[key], self.futures[key] = task, future
            self.completed.add(future)

    def _new_task(self) -> Task | None:
        """The next task; none after an error."""
        if self.failure is not None:
            return None
        try:
            task = self.next_task(self.n_threads)
        except Exception as error:  # of reading what the task is about
            self._note_failure(self.n_tasks, error)
            return None
        if task is not None:
            self.places[task.name] = self.n_tasks
            self.n_tasks += 1
        return task

    def _is_finished(self, future: Any, result: Any, task: Task) -> bool:
        """Whether a task has its result; False if it must be computed again."""
        if future.status == "finished" and not isinstance(result, BaseException):
            return True
        error = future.exception() if future.status == "error" else None
        if error is not None and type(error).__name__ != "KilledWorker":
            raise error
        self.losses[task.name] = self.losses.get(task.name, 0) + 1
        if error is not None or self.losses[task.name] > _MOST_LOSSES:
            raise RuntimeError(
                f"The workers that computed {task.shown} died repeatedly; too little memory "
                "is the usual reason. Give workers more memory, or start again with smaller parts. "
                f"{self.kept}"
            ) from error
        return False

    def _most_tasks(self) -> int:
        """The limit by the number of workers, which may change; the scheduler is asked for it."""
        now = time.monotonic()
        if now >= self.asked + _ASK_AGAIN:
            self.asked = now
            self.n_threads = sum(self.client.nthreads().values())
        return max(1, _TASKS_PER_THREAD * self.n_threads)

    def _require_scheduler(self) -> None:
        if self.client.status != "running":
            raise ConnectionError(
                f"The connection to the Dask scheduler was lost (client is {self.client.status}). "
                f"{self.kept} Connect a new client and call again with the same arguments to "
                "compute the rest."
            )
