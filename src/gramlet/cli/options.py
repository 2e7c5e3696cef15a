"""Options that several commands share, and how ``key=value`` is read."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from gramlet.cli.errors import WrongUse

__all__ = [
    "DataDir",
    "Input",
    "Jobs",
    "Kernel",
    "LabelColumn",
    "Params",
    "Seed",
    "SmilesColumn",
    "parse_params",
]

Input = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="A data set's name, a TU folder or zip, or a file of SMILES strings "
        "(.smi, or .csv with headings).",
    ),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="FOLDER", help="Folder with data sets (folders or zips)."),
]
SmilesColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Heading, or number from 0, of the SMILES strings."),
]
LabelColumn = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Heading, or number from 0, of the classes."),
]
Kernel = Annotated[
    str, typer.Option("--kernel", "-k", metavar="NAME", help="As 'gramlet kernels' lists them.")
]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param", "-p", metavar="KEY=VALUE", help="A parameter of the kernel; repeatable."
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs", "-j", metavar="N", help="Threads; -1: all cores. Results stay the same."
    ),
]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of all random choices.", min=0)]

_WORDS = {"true": True, "false": False, "none": None}


def parse_params(given: Sequence[str] | None) -> dict[str, Any]:
    """``["n_iter=3", "base=edge"]`` as a dictionary; values are numbers, words, true or false.

    >>> parse_params(["n_iter=3", "gamma=1e-2", "base=edge", "normalize=true", "radius=0.5,1"])
    {'n_iter': 3, 'gamma': 0.01, 'base': 'edge', 'normalize': True, 'radius': [0.5, 1]}
    """
    params: dict[str, Any] = {}
    for text in given or ():
        key, equals, value = text.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise WrongUse(f"--param {text!r}: write it as key=value, e.g. --param n_iter=3.")
        if key.strip() in params:
            raise WrongUse(f"--param {key.strip()} is given twice.")
        params[key.strip()] = _value(value.strip())
    return params


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        if "," in text and not text.startswith(("[", "(", "{")):
            return [_value(part.strip()) for part in text.split(",") if part.strip()]
        return text
    return list(value) if isinstance(value, tuple) else value
