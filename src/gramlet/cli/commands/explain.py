"""``gramlet explain``: the patterns that matter to a model, as a table, files and pictures."""

from __future__ import annotations

import csv
import io
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlet._version import __version__
from gramlet.cli.commands.predict import load_model
from gramlet.cli.commands.train import Training, describe, fit_estimator, machine_for, verdict
from gramlet.cli.inputs import read_input, refuse_numbers, target_of
from gramlet.cli.options import (
    INPUT_HELP,
    Kernel,
    Reading,
    check_folder,
    output_option,
)
from gramlet.cli.output import Inputs, check_place
from gramlet.cli.terminal import WrongUse, console, grid, note
from gramlet.common.safe_writing import writing

if TYPE_CHECKING:
    from gramlet.evaluation.task import Target
    from gramlet.explain import ModelExplanation
    from gramlet.files.dataset import Dataset
    from gramlet.kernels.registry import Entry


PATTERNS, GRAPHS, PATTERN_PICTURE, GRAPH_PICTURE = (
    "patterns.csv",
    "graphs.csv",
    "patterns.png",
    "graphs.png",
)

_SIGN = "gramlet"  # written into our pictures, to recognise them later
_HEADINGS = {PATTERNS: ("level", "pattern"), GRAPHS: ("graph",)}
_GRAPHS_PER_CLASS = 2
_CLASSES_DRAWN = 4
_PATTERNS_PER_GRAPH = 5
_NO_DECISION = "--decision is for machines; weights are the same for all classes."
_OF_NUMBERS = "wl"  # the default kernel for a regression


@dataclass(frozen=True)
class ExplainTraining(Training):
    """How a machine is fitted, with another default."""

    kernel: Kernel = "weighted-wwl"


_OF_A_FIT = [field.name for field in fields(ExplainTraining) if field.name != "jobs"]


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
    how: ExplainTraining,
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
) -> None:
    """Show the patterns that decide: of a saved MODEL on the graphs of INPUT, or of a new fit.

    For weighted-wwl the values are the weights that the kernel learned (1 is neutral). For Tanimoto
    kernels, the default, and wl-oa the value of a pattern is the mean of what it adds to the
    decision, or to the number that is predicted, over all fitted graphs. With --normalize none it
    is what one occurrence adds, with cosine that times the norm of the graph. A new fit uses all
    graphs, C chosen as by 'gramlet train', and n_iter=2 unless --param sets it; for a
    regression the default kernel is wl. The patterns that matter most are shown; patterns.csv
    contains all.
    """
    model_file, source = _model_and_input(context, what)
    _check_pictures()
    _check_output(output, {"MODEL": model_file, "INPUT": source})
    if model_file is None:
        row = _explainable(how.kernel)
        if row.tags.supervised and decision is not None:
            raise WrongUse(_NO_DECISION)
        how.options()  # wrong ones are refused before any work is done
        _check_level(row, how, level)
        data = read_input(source, reading)
        target = target_of(data, source, how)
        if target.task == "regression" and row.tags.supervised:
            if _was_given(context, "kernel"):
                refuse_numbers(target, source, how.kernel)
            how = replace(how, kernel=_OF_NUMBERS)
            _check_level(_explainable(_OF_NUMBERS), how, level)
        machine_for(how, target)
        explanation, summary = _of_a_new_fit(how, data, target)
    else:
        model = load_model(model_file)
        data = read_input(source, reading, needs_target=False)
        explanation, summary = _of_a_model(model, data)
    if level is not None and level not in explanation.levels:
        levels = ", ".join(map(str, explanation.levels)) or "none: the kernel has no levels"
        raise WrongUse(f"--level must be a level of the model ({levels}); got {level}.")
    which = _decision(explanation, decision)
    # Written first: printing fails if the pipe is closed.
    names = write_explanation(output, explanation, which, patterns, level)
    _show(data.name, explanation, which, summary, patterns, level)
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
    from gramlet.plotting.axes import pyplot

    pyplot().switch_backend("Agg")


def _explainable(kernel: str) -> Entry:
    """The registry's entry of a kernel whose patterns have values."""
    from gramlet.kernels import registry

    row = registry.get(kernel)
    if not _gives_values(row):
        names = ", ".join(other.name for other in registry.entries() if _gives_values(other))
        raise WrongUse(f"--kernel {kernel!r} gives no values to patterns; these do: {names}.")
    return row


def _gives_values(row: Entry) -> bool:
    from gramlet.explain.sums import has_patterns

    return row.kind == "kernel" and (row.tags.supervised or has_patterns(row.make()))


def _options(row: Entry, how: Training) -> dict[str, Any]:
    """The parameters to fit with, as lists of one value."""
    has = row.make().get_params(deep=False)
    options = how.options(tune=False) or {}
    return {"n_iter": [2], **options} if "n_iter" in has else options


def _check_level(row: Entry, how: Training, level: int | None) -> None:
    """Refuse a level that the kernel will not have."""
    estimator = row.make(**{key: values[0] for key, values in _options(row, how).items()})
    first = 0 if getattr(estimator, "include_initial", True) else 1
    last = getattr(estimator, "n_iter", 0)
    if level is not None and not first <= level <= last:
        levels = ", ".join(map(str, range(first, last + 1)))
        raise WrongUse(f"--level must be one of {levels}; got {level}.")


def _of_a_new_fit(
    how: Training, data: Dataset, target: Target
) -> tuple[ModelExplanation, list[str]]:
    """Fit a machine on all graphs and explain it on them; also return lines about its quality."""
    from gramlet.explain import explain_model
    from gramlet.explain.models import name_labels

    graphs = name_labels(data.graphs, data.node_label_names, data.edge_label_names)
    model = fit_estimator(how.kernel, _options(how.entry, how), how, graphs, target)
    used = graphs if len(target.kept) == len(graphs) else graphs[target.kept]
    explanation = explain_model(model, used, target.named, class_names=data.target_names)
    quality, no_better = verdict(model, target, how.scoring)
    lines = [f"{describe(model)}: {quality}."]
    if no_better:
        what = "target" if explanation.regression else "classes"
        lines.append(f"The explanation is of a machine that has learned nothing about the {what}.")
    return explanation, lines


def _of_a_model(model: Any, data: Dataset) -> tuple[ModelExplanation, list[str]]:
    """Explain a saved model on the graphs of the input; also return lines about its quality."""
    from gramlet.engine.core.compiling import announce_compilation
    from gramlet.explain import explain_model

    announce_compilation()
    explanation = explain_model(
        model,
        data.graphs,
        data.target if _is_its_target(model, data) else None,
        class_names=data.target_names,
        node_names=data.node_label_names,
        edge_names=data.edge_label_names,
    )
    return explanation, _verdict(explanation)


def _is_its_target(model: Any, data: Dataset) -> bool:
    """Whether the input's target consists of the model's classes (a .smi file may have names)."""
    from sklearn.base import is_regressor

    if data.target is None or data.target.ndim != 1:
        return False
    if is_regressor(model):
        return data.target.dtype.kind in "iuf"
    known = {str(value) for value in getattr(model, "classes_", data.target.tolist())}
    return bool(known & {str(value) for value in data.target.tolist()})


def _verdict(explanation: ModelExplanation) -> list[str]:
    if explanation.numbers is not None and explanation.predictions is not None:
        error = float(((explanation.predictions - explanation.numbers) ** 2).mean() ** 0.5)
        return [f"Root mean square error on these graphs: {error:.4g}."]
    if explanation.accuracy is None or explanation.majority is None:
        return []
    right = f"{100 * explanation.accuracy:.1f} % of these graphs classified correctly"
    if not explanation.no_better:
        return [f"{right}."]
    return [
        f"{right}: no better than always predicting their most frequent class, "
        f"{100 * explanation.majority:.1f} %.",
        "The explanation is of a machine that does not predict these graphs' classes.",
    ]


def _decision(explanation: ModelExplanation, wanted: str | None) -> int:
    outputs = explanation.outputs
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
    explanation: ModelExplanation,
    output: int,
    summary: list[str],
    n: int,
    level: int | None,
) -> None:
    from rich.markup import escape

    screen = console()
    screen.print(f"[bold]{escape(name)}[/]: {len(explanation.graphs)} graphs")
    for line in summary:
        screen.print(line, markup=False)
    if explanation.outputs[output]:
        screen.print(f"Positive values speak for {explanation.outputs[output]}.", markup=False)
    headings = ["pattern", explanation.meaning, "graphs", *map(escape, explanation.classes)]
    table = grid(*headings, right=tuple(range(1, len(headings))))
    table.columns[0].no_wrap = False
    everything = explanation.patterns(output)
    levels: list[int | None] = [*explanation.levels] or [None]
    for h in levels:
        if level not in (None, h):
            continue
        if h is not None:
            count = sum(pattern.level == h for pattern in everything)
            table.add_row(f"[bold]level {h}[/] [dim]({count} patterns)[/]")
        for pattern in explanation.leading(n, h, output):
            cells = [f"{100 * share:.0f} %" for share in pattern.shares]
            value = f"{pattern.value:.3f}" if explanation.neutral else _signed(pattern.value)
            text = f"  [cyan]{escape(pattern.text)}[/]"
            table.add_row(text, value, str(pattern.n_graphs), *cells)
    screen.print(table)
    shares = "of the graphs below and above" if explanation.regression else "of each class's graphs"
    screen.print(
        f"[dim]Patterns whose {explanation.meaning} is farthest from {explanation.neutral:g}; on "
        f"the right the share {shares} that have them.[/]"
    )


def _check_output(folder: Path, inputs: Inputs) -> None:
    """Refuse a folder that cannot be created, or whose files of these names are not ours."""
    check_folder(folder, inputs)
    for name in (PATTERNS, GRAPHS, PATTERN_PICTURE, GRAPH_PICTURE):
        place = folder / name
        if folder.exists():
            check_place(place, inputs=inputs)
        if place.exists() and not _is_ours(place):
            raise WrongUse(
                f"--output: {str(place)!r} was not made by 'gramlet explain' and would be lost. "
                "Move it away, or name another folder."
            )


def _is_ours(place: Path) -> bool:
    if not place.is_file():
        return False
    with place.open("rb") as file:
        head = file.read(2000)
    if place.suffix == ".csv":
        return head.startswith(",".join(_HEADINGS[place.name]).encode())
    return head.startswith(b"\x89PNG") and f"{_SIGN} ".encode() in head


def write_explanation(
    folder: Path, explanation: ModelExplanation, output: int, n: int, level: int | None
) -> list[str]:
    """Write all files, or none; return their names.

    Patterns are drawn for kernels whose patterns are trees or small graphs, graphs coloured where
    patterns are rooted at nodes; an older picture of ours, of another model, is removed.
    """
    contents = {
        PATTERNS: _pattern_table(explanation, output),
        GRAPHS: _graph_table(explanation, output),
    }
    if len(explanation.graphs):
        contents |= _pictures(explanation, output, n, level)
    made = not folder.exists()
    folder.mkdir(exist_ok=True)
    try:
        with ExitStack() as files:
            for name, content in contents.items():
                files.enter_context(writing(folder / name)).write_bytes(content)
    except BaseException:
        if made:
            folder.rmdir()
        raise
    for name in {PATTERN_PICTURE, GRAPH_PICTURE} - set(contents):
        (folder / name).unlink(missing_ok=True)
    return list(contents)


def _csv(rows: list[list[Any]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8", "surrogateescape")


def _pattern_table(explanation: ModelExplanation, output: int) -> bytes:
    shares = [f"share of {name}" for name in explanation.classes]
    rows: list[list[Any]] = [[*_HEADINGS[PATTERNS], explanation.meaning, "graphs", *shares]]
    patterns = explanation.patterns(output)
    for pattern in sorted(patterns, key=lambda pattern: (pattern.level or 0, -pattern.value)):
        level = "" if pattern.level is None else pattern.level
        shown = [f"{share:.6g}" for share in pattern.shares]
        rows.append([level, pattern.text, repr(pattern.value), pattern.n_graphs, *shown])
    return _csv(rows)


def _graph_table(explanation: ModelExplanation, output: int) -> bytes:
    """One row per graph: its class or number, the prediction, and unless there are weights, why."""
    predicted = explanation.predicted_names()
    summed = explanation.meaning != "weight"
    known: list[Any] | None = None
    if explanation.numbers is not None:
        known = explanation.numbers.tolist()
    elif explanation.accuracy is not None:
        known = [explanation.classes[code] for code in explanation.codes]
    what = "target" if explanation.regression else "class"
    head: list[Any] = [*_HEADINGS[GRAPHS], what, "prediction"]
    if summed:
        if not explanation.regression:  # where the decision is the prediction
            head.append(f"decision for {explanation.outputs[output]}")
        members = explanation.members(output)
        head += [f"added by {name}" for name in members]
        head.append("added most by")
        parts = explanation.contributions(output)
        decisions = parts.sum(axis=1).A1 + explanation.model.intercept[output]
        texts = [pattern.text for pattern in explanation.patterns(output)]
    rows: list[list[Any]] = [head]
    for i in range(len(explanation.graphs)):
        row: list[Any] = [i, known[i] if known else ""]
        row.append(predicted[i] if predicted else "")
        if summed:
            row += [] if explanation.regression else [repr(float(decisions[i]))]
            row += [repr(float(values[i])) for values in members.values()]
            row.append(_reasons(parts[i], texts))
        rows.append(row)
    return _csv(rows)


def _reasons(parts: Any, texts: list[str]) -> str:
    """The patterns of one graph that add most to its decision, in either direction."""
    order = sorted(range(parts.nnz), key=lambda p: -abs(parts.data[p]))[:_PATTERNS_PER_GRAPH]
    return "; ".join(f"{texts[parts.indices[p]]} {parts.data[p]:+.3g}" for p in order)


def _pictures(
    explanation: ModelExplanation, output: int, n: int, level: int | None
) -> dict[str, bytes]:
    from gramlet.plotting import plot_patterns
    from gramlet.plotting.axes import pyplot
    from gramlet.plotting.patterns import can_draw

    figures = {}
    if can_draw(getattr(explanation.model, "kernel", explanation.model)):
        figures[PATTERN_PICTURE] = plot_patterns(
            explanation.model, n, level, output=output, graphs=explanation.graphs
        )
    if explanation.drawable:
        figures[GRAPH_PICTURE] = _draw_graphs(explanation, output)
    contents = {}
    for name, figure in figures.items():
        stream = io.BytesIO()
        origin = {"Software": f"{_SIGN} {__version__}"}
        figure.savefig(stream, format="png", dpi=130, metadata=origin)
        pyplot().close(figure)
        contents[name] = stream.getvalue()
    return contents


def _draw_graphs(explanation: ModelExplanation, output: int) -> Any:
    """Typical graphs of each class, their nodes coloured by the patterns rooted there."""
    from gramlet.plotting import plot_graph_importance
    from gramlet.plotting.axes import pyplot

    sizes = explanation.graphs.sizes
    shown = explanation.classes[:_CLASSES_DRAWN]
    drawn = [_typical(sizes, explanation.codes == c) for c in range(len(shown))]
    rows, columns = len(drawn), _GRAPHS_PER_CLASS
    figure, axes = pyplot().subplots(
        rows, columns, figsize=(5.2 * columns, 3.6 * rows), layout="constrained", squeeze=False
    )
    for ax in axes.flat:
        ax.axis("off")
    reach = _reach(explanation, output, [position for positions in drawn for position in positions])
    for row, positions in enumerate(drawn):
        for ax, position in zip(axes[row], positions, strict=False):
            graph = explanation.graphs[position]
            plot_graph_importance(explanation.model, graph, output=output, ax=ax, reach=reach)
            ax.set_title(f"graph {position}, {explanation.classes[row]}", fontsize=10)
    return figure


def _reach(explanation: ModelExplanation, output: int, positions: list[int]) -> float:
    """The largest importance of a node in these graphs, so that all share one colour scale."""
    from gramlet.plotting.patterns import node_importance

    largest = 0.0
    for position in positions:
        values, centre, _ = node_importance(explanation.model, explanation.graphs[position], output)
        largest = max(largest, float(abs(values - centre).max(initial=0.0)))
    return largest


def _typical(sizes: Any, members: Any) -> list[int]:
    """Graphs of about the median size of their class, small enough for a readable picture."""
    import numpy as np

    where = np.flatnonzero(members)
    apart = np.abs(sizes[where] - np.median(sizes[where]))
    return [int(i) for i in where[np.argsort(apart, kind="stable")[:_GRAPHS_PER_CLASS]]]
