"""``gramlet explain``: the patterns that matter to a model, as a table, files and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlet.cli.errors import Failure, WrongUse
from gramlet.cli.explanation_files import check_folder, write_explanation
from gramlet.cli.inputs import read_input, refuse_numbers, target_of
from gramlet.cli.options import (
    INPUT_HELP,
    Costs,
    InnerFolds,
    Jobs,
    Kernel,
    Learning,
    Normalize,
    Params,
    Reading,
    Seed,
    output_option,
    parse_params,
)
from gramlet.cli.output import console, note
from gramlet.cli.training import Training, choose_and_fit, load_model

if TYPE_CHECKING:
    from gramlet.evaluation.protocols.task import Target
    from gramlet.explain import ModelExplanation
    from gramlet.files.dataset import Dataset
    from gramlet.kernels.registry import Entry


_NO_DECISION = "--decision is for coefficients; weights are the same for all classes."
_OF_A_FIT = (
    "kernel",
    "param",
    "costs",
    "inner_folds",
    "normalize",
    "seed",
    "task",
    "scoring",
    "classifier",
    "class_weight",
    "min_class_size",
)
_OF_NUMBERS = "wl"  # the default kernel for a regression


def explain(
    context: typer.Context,
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="[MODEL] INPUT",
            help=f"MODEL: as 'gramlet train' wrote it; without it one is fitted. INPUT: "
            f"{INPUT_HELP[0].lower()}{INPUT_HELP[1:]}",
        ),
    ],
    output: Annotated[Path, output_option("Folder for tables and pictures.", "FOLDER")],
    reading: Reading,
    learning: Learning,
    kernel: Kernel = "weighted-wwl",
    param: Params = None,
    costs: Costs = None,
    inner_folds: InnerFolds = 5,
    normalize: Normalize = True,
    patterns: Annotated[
        int,
        typer.Option("--patterns", "-n", metavar="N", help="Patterns shown per level.", min=1),
    ] = 8,
    level: Annotated[
        int | None, typer.Option("--level", metavar="LEVEL", help="Only this level.", min=0)
    ] = None,
    decision: Annotated[
        str | None,
        typer.Option(
            "--decision", metavar="NAME", help="Of several classes: which, e.g. '1 over 2'."
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """Show the patterns that decide: of a saved MODEL on the graphs of INPUT, or of a new fit.

    For weighted-wwl the values are the weights that the kernel learned (1 is neutral). For other
    kernels with explicit features the value of a pattern is what one occurrence adds to the
    decision of a support vector machine, or to the number that a regression predicts; with
    --normalize, the default, it is to be divided by the norm of the graph. A new fit uses all
    graphs, C chosen as by 'gramlet train', and n_iter=2 unless --param sets it; for a
    regression the default kernel is wl. The patterns that matter most are shown; patterns.csv
    contains all.
    """
    model_file, source = _model_and_input(context, what)
    _check_pictures()
    check_folder(output, {"MODEL": model_file, "INPUT": source})
    if model_file is None:
        row = _explainable(kernel)
        if row.tags.supervised and decision is not None:
            raise WrongUse(_NO_DECISION)
        params = _params(row, parse_params(param), level)
        how = Training(costs, inner_folds, normalize, seed, jobs, learning)
        how.protocol()  # a wrong C is refused before any work is done
        data = read_input(source, reading)
        target = target_of(data, source, learning)
        if target.task == "regression" and row.tags.supervised:
            if _was_given(context, "kernel"):
                refuse_numbers(target, source, kernel)
            row = _explainable(_OF_NUMBERS)
            params = _params(row, parse_params(param), level)
        found, summary = _of_a_new_fit(row, params, how, data, target)
    else:
        model = load_model(model_file)
        data = read_input(source, reading, needs_target=False)
        found, summary = _of_a_model(model, model_file, data)
    if level is not None and level not in found.levels:
        there = ", ".join(map(str, found.levels)) or "none: the kernel has no levels"
        raise WrongUse(f"--level must be a level of the model ({there}); got {level}.")
    which = _decision(found, decision)
    # Written first: printing fails if the pipe is closed.
    names = write_explanation(output, found, which, patterns, level)
    _show(data.name, found, which, summary, patterns, level)
    print(f"In {output}: {', '.join(names)}")


def _model_and_input(context: typer.Context, what: list[str]) -> tuple[Path | None, str]:
    if len(what) > 2:
        raise WrongUse(f"explain takes MODEL and INPUT, or INPUT alone; got {len(what)} names.")
    if len(what) == 1:
        if what[0].endswith(".gramlet"):
            raise WrongUse(
                f"{what[0]!r} looks like a model. Name the graphs to explain it on, too: "
                "gramlet explain MODEL INPUT."
            )
        return None, what[0]
    for name in _OF_A_FIT:
        if _was_given(context, name):
            option = {"costs": "C"}.get(name, name.replace("_", "-"))
            raise WrongUse(
                f"--{option} is for a new fit; {what[0]!r} is fitted already. Leave one of them "
                "out."
            )
    return Path(what[0]), what[1]


def _was_given(context: typer.Context, name: str) -> bool:
    origin = context.get_parameter_source(name)
    return origin is not None and origin.name == "COMMANDLINE"


def _check_pictures() -> None:
    """Raise before any work is done if matplotlib is missing."""
    from gramlet.plotting.figure import pyplot

    pyplot().switch_backend("Agg")


def _explainable(kernel: str) -> Entry:
    """The registry's entry of a kernel whose patterns have values."""
    from gramlet.kernels import registry

    row = registry.get(kernel)
    if not _gives_values(row):
        there = ", ".join(other.name for other in registry.entries() if _gives_values(other))
        raise WrongUse(f"--kernel {kernel!r} gives no values to patterns; these do: {there}.")
    return row


def _gives_values(row: Entry) -> bool:
    return row.kind == "kernel" and (row.tags.supervised or row.tags.features)


def _params(row: Entry, given: dict[str, Any], level: int | None) -> dict[str, Any]:
    """The parameters to fit with; wrong ones are refused before any work is done."""
    has = row.make().get_params(deep=False)
    params = {"n_iter": 2, **given} if "n_iter" in has else given
    estimator = row.make(**params)
    estimator._validate_params()
    first = 0 if getattr(estimator, "include_initial", True) else 1
    last = getattr(estimator, "n_iter", 0)
    if level is not None and not first <= level <= last:
        there = ", ".join(map(str, range(first, last + 1)))
        raise WrongUse(f"--level must be one of {there}; got {level}.")
    return params


def _of_a_new_fit(
    row: Entry, params: dict[str, Any], how: Training, data: Dataset, target: Target
) -> tuple[ModelExplanation, list[str]]:
    """Fit a machine on all graphs and explain it on them; also return lines about its quality."""
    from gramlet.engine.core.compiling import announce_compilation
    from gramlet.explain import explain_model
    from gramlet.explain.models import name_labels

    announce_compilation()
    graphs = name_labels(data.graphs, data.node_label_names, data.edge_label_names)
    trained = choose_and_fit(row, params, how, graphs, target, tune=False, score=True)
    kept = graphs if len(target.kept) == len(graphs) else graphs[target.kept]
    found = explain_model(trained.model, kept, target.named, class_names=data.target_names)
    lines = [f"{row.name} fitted with C={trained.C:g}: {trained.verdict()}"]
    if trained.no_better:
        what = "target" if found.regression else "classes"
        lines.append(f"The explanation is of a machine that has learned nothing about the {what}.")
    return found, lines


def _of_a_model(model: Any, path: Path, data: Dataset) -> tuple[ModelExplanation, list[str]]:
    """Explain a saved model on the graphs of the input; also return lines about its quality."""
    from gramlet.engine.core.compiling import announce_compilation
    from gramlet.explain import explain_model

    announce_compilation()
    try:
        found = explain_model(
            model,
            data.graphs,
            data.target if _is_its_target(model, data) else None,
            class_names=data.target_names,
            node_names=data.node_label_names,
            edge_names=data.edge_label_names,
        )
    except TypeError as why:
        raise WrongUse(f"{str(path)!r} cannot be explained: {why}") from why
    except ValueError as why:
        raise Failure(f"{str(path)!r} does not fit these graphs: {why}") from why
    return found, _verdict(found)


def _is_its_target(model: Any, data: Dataset) -> bool:
    """Whether the input's target consists of the model's classes (a .smi file may have names)."""
    from sklearn.base import is_regressor

    if data.target is None or data.target.ndim != 1:
        return False
    if is_regressor(model):
        return data.target.dtype.kind in "iuf"
    known = {str(value) for value in getattr(model, "classes_", data.target.tolist())}
    return bool(known & {str(value) for value in data.target.tolist()})


def _verdict(found: ModelExplanation) -> list[str]:
    if found.numbers is not None and found.predictions is not None:
        error = float(((found.predictions - found.numbers) ** 2).mean() ** 0.5)
        return [f"Root mean square error on these graphs: {error:.4g}."]
    if found.accuracy is None or found.majority is None:
        return []
    right = f"{100 * found.accuracy:.1f} % of these graphs classified correctly"
    if not found.no_better:
        return [f"{right}."]
    return [
        f"{right}: no better than always predicting their most frequent class, "
        f"{100 * found.majority:.1f} %.",
        "The explanation is of a machine that does not predict these graphs' classes.",
    ]


def _decision(found: ModelExplanation, wanted: str | None) -> int:
    outputs = found.outputs
    if wanted is None:
        if len(outputs) > 1:
            note(f"{len(outputs)} decisions; the first is shown. --decision chooses another.")
        return 0
    if outputs == [""]:
        raise WrongUse(_NO_DECISION)
    if wanted not in outputs:
        raise WrongUse(f"--decision must be one of: {', '.join(outputs)}; got {wanted!r}.")
    return outputs.index(wanted)


def _signed(value: float) -> str:
    """Three decimals; small values, of a small C, with three digits."""
    return f"{value:+.3f}" if abs(value) >= 0.0005 or not value else f"{value:+.2e}"


def _show(
    name: str,
    found: ModelExplanation,
    output: int,
    summary: list[str],
    n: int,
    level: int | None,
) -> None:
    from rich.markup import escape
    from rich.table import Table

    screen = console()
    screen.print(f"[bold]{escape(name)}[/]: {len(found.graphs)} graphs")
    for line in summary:
        screen.print(line, markup=False)
    if found.outputs[output]:
        screen.print(f"Positive values speak for {found.outputs[output]}.", markup=False)
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    grid.add_column("pattern", overflow="fold", style="cyan", min_width=12)
    grid.add_column(found.meaning, justify="right", no_wrap=True)
    grid.add_column("graphs", justify="right", no_wrap=True)
    for shown in found.classes:
        grid.add_column(escape(shown), justify="right", overflow="fold", min_width=5)
    everything = found.patterns(output)
    levels: list[int | None] = [*found.levels] or [None]
    for h in levels:
        if level not in (None, h):
            continue
        if h is not None:
            count = sum(pattern.level == h for pattern in everything)
            grid.add_row(f"[bold default]level {h}[/] [dim]({count} patterns)[/]")
        for pattern in found.leading(n, h, output):
            cells = [f"{100 * share:.0f} %" for share in pattern.shares]
            value = f"{pattern.value:.3f}" if found.neutral else _signed(pattern.value)
            grid.add_row(f"  {escape(pattern.text)}", value, str(pattern.n_graphs), *cells)
    screen.print(grid)
    shares = "of the graphs below and above" if found.regression else "of each class's graphs"
    screen.print(
        f"[dim]Patterns whose {found.meaning} is farthest from {found.neutral:g}; on the right the "
        f"share {shares} that have them.[/]"
    )
