"""``gramlet convert``: convert graphs from one file format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gramlet.cli.inputs import read_input
from gramlet.cli.options import Input, Reading
from gramlet.cli.output import check_place
from gramlet.cli.terminal import WrongUse, note

_ENDINGS = (".jsonl", ".json", ".graphml", ".csv", ".tsv", ".smi", ".zip")


def convert(
    source: Input,
    output: Annotated[
        Path,
        typer.Argument(
            metavar="OUTPUT",
            help="What to write: .jsonl, .json, .graphml, .csv, .tsv, .smi (also with .gz), .zip "
            "(TU), or a TU folder.",
        ),
    ],
    *,
    reading: Reading,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an existing file.")
    ] = False,
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", metavar="FIELD", help="Field to leave out, e.g. 'ids'; repeatable."),
    ] = None,
) -> None:
    """Write graphs in another file format; only what --drop names is left out."""
    from gramlet.files.kinds import kind_of
    from gramlet.files.writing import write

    if output.suffix and kind_of(output) not in _ENDINGS:
        raise WrongUse(
            f"{str(output)!r}: graphs are written to {', '.join(_ENDINGS)}, or without ending to "
            f"a TU folder; got {output.suffix!r}."
        )
    if not output.is_dir():
        check_place(output, inputs={})  # --overwrite allows to replace INPUT
    if output.exists() and not overwrite:
        raise WrongUse(f"{str(output)!r} already exists; --overwrite replaces it.")
    data = read_input(source, reading)
    if data.get("unread"):
        note(
            f"gramlet: warning: {source} has columns or values that are not written: "
            f"{', '.join(map(repr, data.unread))}. --target writes one of them."
        )
    write(data, output, overwrite=overwrite, drop=drop or ())
    print(f"{len(data.graphs)} graphs in {output}")
