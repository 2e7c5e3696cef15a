"""``gramlet convert``: convert graphs from one file format to another."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from gramlet.cli.arguments.inputs import read_input
from gramlet.cli.arguments.option_groups import Reading
from gramlet.cli.arguments.options import Input
from gramlet.cli.errors import Failure, WrongUse
from gramlet.cli.results.output import check_place, note

__all__ = ["convert"]

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
    try:
        write(data, output, overwrite=overwrite, drop=drop or ())
    except ValueError as why:
        raise Failure(_with_options(why)) from why
    print(f"{len(data.graphs)} graphs in {output}")


def _with_options(why: ValueError) -> str:
    """Replace parameters in the message by the options of this command.

    >>> _with_options(ValueError("Leave them out with drop=['ids', 'target']."))
    'Leave them out with --drop ids --drop target.'
    """
    text = str(why).replace("overwrite=True", "--overwrite")
    text = re.sub(
        r"drop=\[(.*?)\]",
        lambda found: " ".join(f"--drop {name.strip()[1:-1]}" for name in found[1].split(",")),
        text,
    )
    return text.replace("drop=", "--drop")
