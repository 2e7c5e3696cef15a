"""Options of commands whose result is a folder on disk, computed in parts here or on a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from gramlet.cli.arguments.options import Fresh
from gramlet.cli.errors import WrongUse
from gramlet.cli.results.output import Inputs, refuse_inputs

__all__ = ["OnDisk", "check_folder", "cluster_client"]


Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", metavar="N", min=1, help="For folders: compute in N processes on this machine."
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="For folders: compute on the workers of this Dask scheduler.",
    ),
]


@dataclass(frozen=True)
class OnDisk:
    """How a result is written to a folder."""

    workers: Workers = None
    scheduler: Scheduler = None
    verify: Annotated[
        bool,
        typer.Option("--verify", help="For folders: check finished parts, repair damaged ones."),
    ] = False
    fresh: Fresh = False

    def refuse_for(self, output: Path) -> None:
        """Refuse options that apply only to folders if the output is a file."""
        for field in fields(self):
            if getattr(self, field.name) not in (None, False):
                raise WrongUse(
                    f"--{field.name} is for results in folders; {str(output)!r} is a file."
                )


def check_folder(output: Path, inputs: Inputs) -> None:
    """Refuse a folder that cannot be created, or that is read, before any work is done."""
    from gramlet.scale.store_folder import place_of

    refuse_inputs(output, inputs)
    try:
        place_of(output, "K.zarr")
    except (FileNotFoundError, ValueError) as why:
        raise WrongUse(str(why)) from why


@contextlib.contextmanager
def cluster_client(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """The requested Dask client, closed at the end; None if none was requested."""
    if workers is not None and scheduler is not None:
        raise WrongUse("--workers and --scheduler exclude each other: give one of them.")
    if workers is None and scheduler is None:
        yield None
        return
    from gramlet.scale.cluster import connected, started, stopped

    client = started(workers) if workers is not None else connected(str(scheduler))
    try:
        yield client
    finally:
        if workers is not None:
            stopped(client)
        else:
            with contextlib.suppress(Exception):  # closing fails if the scheduler is lost
                client.close()
