"""``gramlet evaluate``: compare kernels with each other and with baselines on a data set."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gramlet.cli.arguments.inputs import read_input, target_of
from gramlet.cli.arguments.option_groups import Learning, Reading
from gramlet.cli.arguments.options import (
    Costs,
    Folds,
    Fresh,
    InnerFolds,
    Input,
    Jobs,
    Normalize,
    Repeats,
    Seed,
)
from gramlet.cli.arguments.params import parse_params
from gramlet.cli.errors import Failure
from gramlet.cli.results.evaluation_report import Report
from gramlet.cli.results.output import check_place
from gramlet.cli.work.evaluation_work import (
    CONSTANTS,
    Groups,
    Work,
    checked_arguments,
    checked_names,
    kept_store,
    options_by_kernel,
)


class Selection(StrEnum):
    """Where C and options are chosen."""

    nested = "nested"
    best_of_grid = "best-of-grid"


def evaluate(
    source: Input = "MUTAG",
    *,
    reading: Reading,
    kernel: Annotated[
        list[str] | None,
        typer.Option("--kernel", "-k", metavar="NAME", help="Kernel to evaluate; repeatable."),
    ] = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="KEY=VALUE[,VALUE]",
            help="Values to choose from, for the kernels that have this parameter; repeatable.",
        ),
    ] = None,
    learning: Learning,
    costs: Costs = None,
    scale_c: Annotated[
        bool,
        typer.Option("--scale-C", help="Take C relative to the spread of the training graphs."),
    ] = False,
    folds: Folds = 10,
    repeats: Repeats = 3,
    inner_folds: InnerFolds = 5,
    holdout: Annotated[
        float | None,
        typer.Option(
            "--holdout", metavar="SHARE", help="Hold out this share instead of folds, e.g. 0.2."
        ),
    ] = None,
    groups: Annotated[
        Groups | None,
        typer.Option(
            "--groups", help="Keep molecules with the same Murcko scaffold in one test part."
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
    normalize: Normalize = True,
    fit_once: Annotated[
        bool,
        typer.Option(
            "--fit-once",
            help="Fit kernels that learn from graphs, not from classes, once on all graphs: "
            "faster, but they have seen the test graphs.",
        ),
    ] = False,
    fresh: Fresh = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
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
        check_place(json_file)
    asked = checked_names(kernel)
    options = parse_params(param)
    data = read_input(source, reading)
    target = target_of(data, source, learning)
    from gramlet.engine.core.compiling import announce_compilation, has_compiled
    from gramlet.evaluation import Protocol
    from gramlet.evaluation.protocols.protocol import DEFAULT_C

    protocol = Protocol(
        folds=folds,
        repeats=repeats,
        inner_folds=inner_folds,
        test_size=holdout,
        random_state=seed,
        C=tuple(costs) if costs else DEFAULT_C,
        groups=None if groups is None else groups.value,
        selection=selection.value,
        scale_C=scale_c,
    )
    chosen = options_by_kernel([CONSTANTS[target.task], *asked], options, data, target, source)
    announce_compilation()
    work = Work(
        Report(data, target, protocol),
        arguments={
            **checked_arguments(data, target, protocol, learning),
            "draws": draws,
            "dataset": data.name,
            "n_jobs": jobs,
            "verbose": True,
        },
        normalize=normalize,
        fit_once=fit_once,
        store=kept_store(fresh),
    )
    work.run(chosen)
    if json_file is not None and work.results:  # first: printing fails if the pipe is closed
        work.report.write(json_file, work.results)
    if work.results:
        work.report.show(work.results, has_compiled(), work.found)
    if work.failed:
        raise Failure(f"no result for {'; '.join(work.failed)}")
