"""``gramlet warm-up``: compile ahead of time, so that no later run has to."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from gramlet.cli.terminal import Failure, note


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
    import warnings

    from gramlet.engine.core.compiled import HOW_TO_CHOOSE, code_folder, possible_folders

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = code_folder()
    if folder is None:
        places = " or ".join(repr(str(place)) for place in possible_folders())
        raise Failure(f"compiled code cannot be kept in {places}. {HOW_TO_CHOOSE}")
    from gramlet.warming import Done, names_of_work
    from gramlet.warming import warm_up as compile_ahead

    names = names_of_work(kernel)
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
