"""``gramlet warm-up``: compile ahead of time, so that no later run has to."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from gramlet.cli.errors import Failure
from gramlet.cli.results.output import note

__all__ = ["warm_up"]


def warm_up(
    kernel: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KERNEL]...", help="Kernels to compile; none: everything."),
    ] = None,
    processes: Annotated[
        int | None,
        typer.Option("--processes", metavar="N", help="Processes. [default: one per core]", min=1),
    ] = None,
) -> None:
    """Compile kernels ahead of time, for images and shared machines.

    Compiled code is kept in a folder, whose name is printed at the end; the environment variable
    GRAMLET_CACHE, or NUMBA_CACHE_DIR, chooses another one. Existing code is not compiled again.
    """
    from gramlet.engine.core.code_cache import HOW_TO_CHOOSE, folder_for_new_code, folders
    from gramlet.warming import names_of_work
    from gramlet.warming import warm_up as compile_ahead
    from gramlet.warming.processes import Done

    names = names_of_work(kernel)
    folder = folder_for_new_code()
    if folder is None:
        places = " and ".join(repr(str(place or "the package")) for place in folders())
        raise Failure(f"compiled code cannot be kept in {places}. {HOW_TO_CHOOSE}")
    done = 0

    def tell(piece: Done) -> None:
        nonlocal done
        done += 1
        what = f"{piece.n_compiled} functions" if piece.n_compiled else "nothing to compile"
        note(f"{done}/{len(names)} {piece.name}: {what}, {piece.seconds:.1f} s")

    n_jobs = processes or os.cpu_count() or 1
    found = compile_ahead(names, n_jobs, tell)
    total = sum(piece.n_compiled for piece in found)
    seconds = sum(piece.seconds for piece in found)
    print(f"{total} functions compiled in {seconds:.1f} s of processor time; kept in {folder}")
