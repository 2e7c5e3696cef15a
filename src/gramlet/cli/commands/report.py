"""``gramlet report``: write an evaluation as one HTML page."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from gramlet.cli.commands.evaluate import Comparison, comparison_of, default_kernels
from gramlet.cli.options import (
    Comparing,
    Input,
    Learning,
    Reading,
    normalisation,
    output_option,
)
from gramlet.cli.output import check_place
from gramlet.cli.terminal import note


def report(
    context: typer.Context,
    source: Input,
    output: Annotated[Path, output_option("The page: a file that ends in .html.")],
    *,
    reading: Reading,
    comparing: Comparing,
    learning: Learning,
) -> None:
    """Evaluate kernels on a data set and write one HTML page about it.

    The page shows the data, the scores with intervals and baselines, and per kernel predictions,
    kernel matrix, map, patterns and single graphs. It is self-contained: it needs no network and no
    other file. Finished work is kept, as by 'gramlet evaluate'.
    """
    check_place(output, (".html", ".htm"), inputs={"INPUT": source})
    comparison = comparison_of(source, reading, comparing, learning)
    from gramlet.report.page import require_template

    require_template()
    comparison.run()
    _write(output, comparison, source, comparing, _command(context))
    comparison.refuse_failures()


def _write(
    output: Path, comparison: Comparison, source: str, comparing: Comparing, command: str
) -> None:
    """The page; rows that were not requested are baselines."""
    from gramlet.report.material import CONSTANTS, kernel_behind
    from gramlet.report.page import write_report

    names = [result.name for result in comparison.results]
    data = comparison.data
    asked = comparing.kernel or default_kernels(data.graphs)
    normalize = normalisation(comparing.normalize)
    kernels = {
        result.name: kernel_behind(result, normalize)
        for result in comparison.results
        if result.name in asked and result.name not in CONSTANTS
    }
    write_report(
        output,
        comparison.results,
        data,
        kernels=kernels,
        baselines=[name for name in names if name not in asked],
        title=data.name or source,
        command=command,
        n_jobs=comparing.jobs,
        progress=(lambda words: note(f"report: {words}")) if sys.stderr.isatty() else None,
    )
    print(f"{len(names)} results on {len(data.graphs)} graphs, in {output}")


def _command(context: typer.Context) -> str:
    """The command as it was given."""
    given = context.find_root().obj or sys.argv[1:]
    return shlex.join(["gramlet", *given])
