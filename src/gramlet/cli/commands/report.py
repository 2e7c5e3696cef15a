"""``gramlet report``: write an evaluation as one HTML page."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Any

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
    output_option,
)
from gramlet.cli.arguments.params import parse_params
from gramlet.cli.errors import Failure
from gramlet.cli.results.evaluation_report import Report
from gramlet.cli.results.output import check_place, note
from gramlet.cli.work.evaluation_work import (
    BASELINES,
    CONSTANTS,
    Groups,
    Work,
    checked_arguments,
    checked_names,
    kept_store,
    options_by_kernel,
)

__all__ = ["report"]


def report(
    context: typer.Context,
    source: Input,
    output: Annotated[Path, output_option("The page: a file that ends in .html.")],
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
    folds: Folds = 10,
    repeats: Repeats = 3,
    inner_folds: InnerFolds = 5,
    groups: Annotated[
        Groups | None,
        typer.Option(
            "--groups", help="Keep molecules with the same Murcko scaffold in one test part."
        ),
    ] = None,
    normalize: Normalize = True,
    fresh: Fresh = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """Evaluate kernels on a data set and write one HTML page about it.

    The page shows the data, the scores with intervals and baselines, and per kernel predictions,
    kernel matrix, map, patterns and single graphs. It is self-contained: it needs no network and no
    other file. Finished work is kept, as by 'gramlet evaluate'.
    """
    check_place(output, (".html", ".htm"))
    asked = checked_names(kernel)
    options = parse_params(param)
    data = read_input(source, reading)
    target = target_of(data, source, learning)
    from gramlet.engine.core.compiling import announce_compilation
    from gramlet.evaluation import Protocol
    from gramlet.evaluation.protocols.protocol import DEFAULT_C
    from gramlet.report.page import require_template, write_report

    require_template()
    protocol = Protocol(
        folds=folds,
        repeats=repeats,
        inner_folds=inner_folds,
        random_state=seed,
        C=tuple(costs) if costs else DEFAULT_C,
        groups=None if groups is None else groups.value,
    )
    chosen = options_by_kernel([CONSTANTS[target.task], *asked], options, data, target, source)
    announce_compilation()
    work = Work(
        Report(data, target, protocol),
        arguments={
            **checked_arguments(data, target, protocol, learning),
            "draws": None,
            "dataset": data.name,
            "n_jobs": jobs,
            "verbose": True,
        },
        normalize=normalize,
        fit_once=False,
        store=kept_store(fresh),
    )
    work.run(chosen)
    if work.results:
        say = (lambda words: note(f"report: {words}")) if sys.stderr.isatty() else None
        write_report(
            output, work.results, data, kernels=_kernels(work.results, normalize),
            title=data.name or source, command=_command(context), n_jobs=jobs, progress=say,
        )  # fmt: skip
        print(f"{len(work.results)} results on {len(data.graphs)} graphs, in {output}")
    if work.failed:
        raise Failure(f"no result for {'; '.join(work.failed)}")


def _command(context: typer.Context) -> str:
    """The command as it was given."""
    given = context.find_root().obj or sys.argv[1:]
    return shlex.join(["gramlet", *given])


def _kernels(results: list[Any], normalize: bool) -> dict[str, Any]:
    """The kernels to show: those requested, with the options chosen most often."""
    from gramlet.report.material import kernel_behind

    found = {}
    for result in results:
        if result.name not in (*BASELINES, *CONSTANTS.values()):
            found[result.name] = kernel_behind(result, normalize)
    return found
