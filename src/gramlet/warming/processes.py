"""Compiling in several processes at once; `work` lists what there is to compile."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from gramlet.warming.work import compile_all_of

__all__ = ["Done", "warm_up"]


@dataclass(frozen=True)
class Done:
    """One finished piece of work: its name, the number of compiled functions, CPU seconds."""

    name: str
    n_compiled: int
    seconds: float


def warm_up(
    names: Sequence[str], n_jobs: int, tell: Callable[[Done], None] = lambda done: None
) -> list[Done]:
    """Compile everything that is not in the cache, in ``n_jobs`` processes.

    A second round compiles what was lost because two processes wrote at the same time.

    Parameters
    ----------
    names : sequence of str
        The result of `names_of_work`.
    n_jobs : int
        Number of processes.
    tell : callable
        Called with each finished piece of work of the first round.
    """
    found: list[Done] = []
    # Spawned, not forked: a fork would inherit threads and code that is already compiled.
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(n_jobs, len(names)), mp_context=fresh) as pool:
        try:
            for future in as_completed([pool.submit(_work, name) for name in names]):
                found.append(future.result())
                tell(found[-1])
            if n_jobs > 1:
                found += list(pool.map(_work, names))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return found


def _work(name: str) -> Done:
    from gramlet.engine.core.compiling import n_compiled

    before, begin = n_compiled(), time.process_time()
    compile_all_of(name)
    return Done(name, n_compiled() - before, time.process_time() - begin)
