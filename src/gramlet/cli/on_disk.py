"""Options of commands whose result is a folder on disk, computed in parts here or on a cluster."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from gramlet.cli.errors import WrongUse

__all__ = ["OnDisk", "check_folder", "cluster_client"]


@dataclass(frozen=True)
class OnDisk:
    """How a matrix is written to a .zarr folder."""

    chunk: Annotated[
        int | None,
        typer.Option(
            "--chunk",
            metavar="N",
            min=1,
            help="Of .zarr: rows and columns of a tile. [default: 2048]",
        ),
    ] = None
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            metavar="N",
            min=1,
            help="Of .zarr: compute on N processes of this machine.",
        ),
    ] = None
    scheduler: Annotated[
        str | None,
        typer.Option(
            "--scheduler",
            metavar="ADDRESS",
            help="Of .zarr: compute on the workers of this Dask scheduler.",
        ),
    ] = None
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Of .zarr: check finished tiles and mend damaged ones."),
    ] = False
    fresh: Annotated[
        bool,
        typer.Option("--fresh", help="Of .zarr: start anew instead of continuing what is there."),
    ] = False

    def refuse_for(self, output: Path) -> None:
        """Refuse options that only a folder has, for a file."""
        for field in fields(self):
            if getattr(self, field.name) not in (None, False):
                raise WrongUse(
                    f"--{field.name} is for matrices on disk; {str(output)!r} is a file. Name a "
                    "folder that ends in .zarr."
                )


def check_folder(output: Path) -> None:
    """Refuse a folder that could not be made, before any work is done for it."""
    if output.exists() and not output.is_dir():
        raise WrongUse(f"{str(output)!r} is a file; name a folder.")
    if not output.absolute().parent.is_dir():
        raise WrongUse(f"{str(output)!r}: there is no folder {str(output.parent)!r}.")


@contextlib.contextmanager
def cluster_client(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """A Dask client as asked for, closed at the end; None if none was asked for."""
    if workers is not None and scheduler is not None:
        raise WrongUse("--workers and --scheduler exclude each other: give one of them.")
    if workers is None and scheduler is None:
        yield None
        return
    from gramlet.scale.tile_cluster import connected, started

    client = started(workers) if workers is not None else connected(str(scheduler))
    try:
        yield client
    finally:
        cluster = client.cluster if workers is not None else None
        with contextlib.suppress(Exception):  # a scheduler that is lost cannot be told goodbye
            client.close()
        if cluster is not None:
            cluster.close()
