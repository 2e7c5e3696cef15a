"""``gramlet evaluate``: kernels against each other on a data set, beside the baselines."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlet._version import __version__
from gramlet.cli.errors import Failure, WrongUse
from gramlet.cli.inputs import read_input, target_of
from gramlet.cli.option_groups import Reading
from gramlet.cli.options import (
    Costs,
    Folds,
    InnerFolds,
    Input,
    Jobs,
    Normalize,
    Repeats,
    Seed,
)
from gramlet.cli.output import check_place, console, note
from gramlet.cli.params import parse_params
from gramlet.common.safe_writing import writing

if TYPE_CHECKING:
    from gramlet.evaluation import Protocol, Result
    from gramlet.files.dataset import Dataset
    from gramlet.kernels.registry import Entry

BASELINES = ("majority", "vertex", "edge")
DEFAULT_KERNELS = ("wl", "wl-oa", "wwl")

_MOSTLY = 0.5
_LONG = 20.0  # seconds after which a result is told before the table is complete


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
    costs: Costs = None,
    folds: Folds = 10,
    repeats: Repeats = 3,
    inner_folds: InnerFolds = 5,
    holdout: Annotated[
        float | None,
        typer.Option(
            "--holdout", metavar="SHARE", help="Hold out this share instead of folds, e.g. 0.2."
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
    seed: Seed = 0,
    jobs: Jobs = -1,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Write the results as JSON.")
    ] = None,
) -> None:
    """Cross-validate kernels on a data set and show a table.

    C and the kernels' own options are chosen inside each training part. The majority class and the
    histograms of node labels and edge types always stand beside the kernels asked for.
    """
    if json_file is not None:
        check_place(json_file)
    names = _names(kernel)
    options = parse_params(param)
    data = read_input(source, reading)
    target = target_of(data, source)
    from gramlet.engine.core.compiling import announce_compilation, has_compiled
    from gramlet.evaluation import Protocol
    from gramlet.evaluation.protocol import DEFAULT_C

    announce_compilation()
    protocol = Protocol(
        folds=folds,
        repeats=repeats,
        inner_folds=inner_folds,
        test_size=holdout,
        random_state=seed,
        C=tuple(costs) if costs else DEFAULT_C,
    )
    chosen = _options_by_kernel(names, options, data)
    results, failed = _run(data, target, protocol, chosen, normalize, fit_once, jobs)
    if json_file is not None and results:  # first: whoever reads the table may stop reading
        _write(json_file, data, results)
    if results:
        _show(data, protocol, results, has_compiled())
    if failed:
        raise Failure(f"no result for {'; '.join(failed)}")


def _names(asked: Sequence[str] | None) -> list[str]:
    """The baselines and what was asked for, each once; an unknown name is wrong use."""
    from gramlet.kernels import registry

    names = list(dict.fromkeys([*BASELINES, *(asked or DEFAULT_KERNELS)]))
    for name in names:
        if name != "majority":
            registry.get(name)
    return names


def _options_by_kernel(
    names: Sequence[str], given: dict[str, Any], data: Dataset
) -> dict[str, dict[str, Any] | None]:
    """What each kernel is to choose from: its own options, with those given in their place."""
    from gramlet.kernels import registry

    found: dict[str, dict[str, Any] | None] = {}
    unused = set(given)
    for name in names:
        if name == "majority":
            found[name] = None
            continue
        row = registry.get(name)
        for column in row.tags.needs:
            if getattr(data.graphs, column) is None:
                raise WrongUse(
                    f"kernel {name!r} needs {column.replace('_', ' ')}, which {data.name!r} does "
                    "not have."
                )
        has = row.make().get_params() if given else {}
        mine = {key: value for key, value in given.items() if key in has}
        unused -= set(mine)
        _check_values(row, mine)
        found[name] = {**row.tunable, **mine}
    if unused:
        known = sorted({key for name in names[1:] for key in registry.make(name).get_params()})
        raise WrongUse(
            f"--param: none of the kernels has a parameter {sorted(unused)[0]!r}. They have: "
            f"{', '.join(known)}."
        )
    return found


def _check_values(row: Entry, given: dict[str, Any]) -> None:
    """Tell a value that a kernel does not allow before anything is computed."""
    for key, values in given.items():
        for value in values if isinstance(values, list) else [values]:
            row.make(**{key: value})._validate_params()


def _run(
    data: Dataset,
    target: Any,
    protocol: Protocol,
    options: dict[str, dict[str, Any] | None],
    normalize: bool,
    fit_once: bool,
    jobs: int,
) -> tuple[list[Result], list[str]]:
    """All results, and for each kernel that could not be evaluated why."""
    from gramlet import evaluation
    from gramlet.evaluation.protocol import check_target

    codes, classes = check_target(target, len(data.graphs))
    protocol.splits(codes, classes)  # a protocol that does not fit the data is no kernel's fault
    results, failed = [], []
    for name, choice in options.items():
        own = normalize if "normalize" not in (choice or {}) else None
        try:
            result = evaluation.evaluate(
                name,
                data.graphs,
                target,
                protocol,
                options=choice,
                normalize=own,
                dataset=data.name,
                fit_once=fit_once and not _uses_classes(name),
                n_jobs=jobs,
                verbose=True,
            )
        except (ValueError, TypeError) as why:
            failed.append(f"{name!r}: {why}")
            continue
        results.append(result)
        if sys.stderr.isatty() and result.seconds > _LONG:
            note(f"{name}: {100 * result.mean:.1f} % in {result.seconds:.0f} s")
    return results, failed


def _show(data: Dataset, protocol: Protocol, results: Sequence[Result], compiled: bool) -> None:
    from rich.markup import escape

    from gramlet.evaluation.tables import as_good_as_the_best, table

    screen = console()
    graphs = data.graphs
    members = " / ".join(str(count) for count in results[0].data.classes.values())
    screen.print(
        f"[bold]{escape(data.name)}[/]: {len(graphs)} graphs, {graphs.sizes.mean():.1f} nodes and "
        f"{graphs.n_edges.mean():.1f} edges on average, classes of {members}"
    )
    screen.print(f"{protocol.describe()}; seed {protocol.random_state}")
    screen.print()
    screen.print(table(results, "rich") if screen.is_terminal else table(results), markup=False)
    screen.print()
    best, near = as_good_as_the_best(results)
    others = f"; not significantly worse: {', '.join(near)}" if near else ""
    screen.print(f"Best: [bold]{best.name}[/]{others} (corrected resampled t-test, 5 %)")
    spread = "repeats' means" if protocol.repeats > 1 else "folds"
    remark = f"±: standard deviation of the {spread}."
    if compiled:
        remark += " Seconds include compiling this once."
    screen.print(f"[dim]{remark}[/]")
    wanting = _at_the_largest(results, max(protocol.C))
    if wanting:
        screen.print(
            f"[dim]Mostly chose the largest C: {', '.join(wanting)}. Larger ones, e.g. --C "
            f"{max(protocol.C):g} --C {1e3 * max(protocol.C):g}, may do better.[/]"
        )


def _at_the_largest(results: Sequence[Result], largest: float) -> list[str]:
    """The kernels that chose the largest C in more than half of the training parts."""
    chosen = {result.name: result.most_chosen().get("C", (None, 0.0)) for result in results}
    return [name for name, (cost, share) in chosen.items() if cost == largest and share > _MOSTLY]


def _write(path: Path, data: Dataset, results: Sequence[Result]) -> None:
    document = {
        "format": "gramlet evaluation 1",
        "gramlet": __version__,
        "dataset": data.name,
        "results": [result.to_dict() for result in results],
    }
    with writing(path) as place:
        place.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _uses_classes(name: str) -> bool:
    """Whether a kernel learns from classes, so that fitting it once would not be fair."""
    from gramlet.kernels import registry

    return name != "majority" and registry.get(name).tags.supervised
