"""The options of all commands, each declared once: one name, one meaning, one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

__all__ = [
    "Costs",
    "DataDir",
    "Folds",
    "Fresh",
    "InnerFolds",
    "Input",
    "Jobs",
    "Kernel",
    "Model",
    "Normalize",
    "Params",
    "Repeats",
    "Seed",
    "output_option",
]

INPUT_HELP = (
    "A data set's name, a TU folder or zip, a file of molecules (.smi, .csv, .tsv, .sdf) or of "
    "graphs (.graphml, .gexf, .gml, .g6, .s6, .json, .jsonl), or a folder of such files."
)


def _checked_jobs(jobs: int) -> int:
    if jobs == 0:
        raise typer.BadParameter("0 is not a number of threads from 1, or -1 for all cores.")
    return jobs


DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="FOLDER", help="Folder with data sets (folders or zips)."),
]
Input = Annotated[str, typer.Argument(metavar="INPUT", help=INPUT_HELP)]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="As 'gramlet train' wrote it.")]
Kernel = Annotated[
    str,
    typer.Option(
        "--kernel",
        "-k",
        metavar="NAME",
        help="A name from 'gramlet kernels', or an expression: 'wl(n_iter=3) + 0.5 * sp'.",
    ),
]
Params = Annotated[
    list[str] | None,
    typer.Option(
        "--param", "-p", metavar="KEY=VALUE", help="A parameter of the kernel; repeatable."
    ),
]
Costs = Annotated[
    list[float] | None,
    typer.Option(
        "--C",
        metavar="NUMBER",
        help="Penalty of the support vector machine; if given several times, cross-validation "
        "chooses the best. [default: the best of 0.001, 0.01, ..., 1000]",
    ),
]
Folds = Annotated[
    int, typer.Option("--folds", metavar="N", help="Folds that test the machines.", min=2)
]
InnerFolds = Annotated[
    int,
    typer.Option(
        "--inner-folds", metavar="N", help="Folds that choose C and the kernel's options.", min=2
    ),
]
Repeats = Annotated[
    int | None,
    typer.Option(
        "--repeats",
        metavar="N",
        help="Repetitions, each with new folds.",
        min=1,
        show_default="3; 1 from 2,000 graphs on",
    ),
]
Normalize = Annotated[
    bool,
    typer.Option("--normalize/--no-normalize", help="Scale the kernel to k(G, G) = 1."),
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Start again: use nothing that an earlier run kept."),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="Seed of all random choices.", min=0)
]
Jobs = Annotated[
    int,
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        help="Threads; -1: all cores. Results stay the same.",
        callback=_checked_jobs,
    ),
]


def output_option(help: str, metavar: str = "FILE") -> Any:
    """The option ``--output``; only its help text differs between commands."""
    return typer.Option("--output", "-o", metavar=metavar, help=help)
