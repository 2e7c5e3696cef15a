"""``gramlet evaluate``: compare kernels with each other and with baselines on a data set."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gramlet.cli.errors import Failure
from gramlet.cli.evaluations import prepared
from gramlet.cli.options import Comparing, Input, Learning, Reading
from gramlet.cli.output import check_place


class Selection(StrEnum):
    """Where C and options are chosen."""

    nested = "nested"
    best_of_grid = "best-of-grid"


def evaluate(
    source: Input = "MUTAG",
    *,
    reading: Reading,
    comparing: Comparing,
    learning: Learning,
    scale_c: Annotated[
        bool,
        typer.Option("--scale-C", help="Take C relative to the spread of the training graphs."),
    ] = False,
    holdout: Annotated[
        float | None,
        typer.Option(
            "--holdout",
            metavar="SHARE",
            help="Hold out this share instead of folds, e.g. 0.2.",
            min=0.0,
            max=1.0,
        ),
    ] = None,
    selection: Annotated[
        Selection,
        typer.Option(
            "--selection",
            help="Choose inside the training parts, or on the test parts, which is optimistic.",
        ),
    ] = Selection.nested,
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws", metavar="N", help="Repeat kernels that draw random numbers N times.", min=1
        ),
    ] = None,
    fit_once: Annotated[
        bool,
        typer.Option(
            "--fit-once",
            help="Fit kernels that learn from graphs, not from classes, once on all graphs: "
            "faster, but they have seen the test graphs.",
        ),
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the results as JSON.")
    ] = None,
) -> None:
    """Cross-validate kernels on a data set and show a table.

    C and the kernels' own options are chosen inside each training part. Four baselines are always
    included: the most frequent class (or the mean), the size of the graphs, and the histograms of
    node labels and of edge types. Finished work is kept: a run that was stopped shows its finished
    rows, and the same command continues from there.
    """
    if json_file is not None:
        check_place(json_file, inputs={"INPUT": source})
    work = prepared(
        source,
        reading,
        comparing,
        learning,
        draws=draws,
        fit_once=fit_once,
        test_size=holdout,
        selection=selection.value,
        scale_C=scale_c,
    )
    work.run()
    if json_file is not None and work.results:  # first: printing fails if the pipe is closed
        work.report.write(json_file, work.results)
    if work.results:
        from gramlet.engine.core.compiling import has_compiled

        work.report.show(work.results, has_compiled(), work.found)
    if work.failed:
        raise Failure(f"no result for {'; '.join(work.failed)}")
