"""``gramlet evaluate``: compare kernels with each other and with baselines on a data set.

Names, options and arguments are checked before anything is computed; finished work is kept.
``gramlet report`` runs the same evaluations.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gramlet._version import __version__
from gramlet.cli import leave_words
from gramlet.cli.inputs import read_input, refuse_numbers, target_of
from gramlet.cli.options import Comparing, Input, Learning, Reading, normalisation, parse_params
from gramlet.cli.output import check_place
from gramlet.cli.terminal import Failure, WrongUse, console, note, show_warning
from gramlet.common.safe_writing import writing

if TYPE_CHECKING:
    from gramlet.evaluation import Protocol, Result
    from gramlet.evaluation.store import Store
    from gramlet.evaluation.task import Target
    from gramlet.files.dataset import Dataset
    from gramlet.graphs.batch import GraphBatch

CONSTANTS = {"classification": "majority", "regression": "mean"}
BASELINES = ("size", "vertex", "edge")

_NO_KERNELS = ("majority", "mean", "size", "auto")  # rows that are not in the registry
_LONG = 20.0  # seconds after which a result is printed before the table is complete
# Scorers that depend on which of two classes counts as positive.
_OF_ONE_CLASS = ("f1", "precision", "recall", "jaccard", "average_precision")


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
        Literal["nested", "best-of-grid"],
        typer.Option(
            "--selection",
            help="Choose inside the training parts, or on the test parts, which is optimistic.",
        ),
    ] = "nested",
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

    C and the kernels' own options are chosen inside each training part; in the row auto, the kernel
    too. Four baselines are always included: the most frequent class (or the mean), the size of the
    graphs, and the histograms of node labels and of edge types. Finished work is kept: a run that
    was stopped shows its finished rows, and the same command continues from there.
    """
    if json_file is not None:
        check_place(json_file, inputs={"INPUT": source})
    comparison = comparison_of(
        source,
        reading,
        comparing,
        learning,
        draws=draws,
        fit_once=fit_once,
        test_size=holdout,
        selection=selection,
        scale_C=scale_c,
    )
    comparison.run()
    if json_file is not None:  # first: printing fails if the pipe is closed
        comparison.write(json_file)
    comparison.show()
    comparison.refuse_failures()


def comparison_of(
    source: str,
    reading: Reading,
    comparing: Comparing,
    learning: Learning,
    *,
    draws: int | None = None,
    fit_once: bool = False,
    **protocol: Any,
) -> Comparison:
    """Read INPUT and check all options; nothing is computed yet.

    ``protocol`` are fields of the protocol beyond those of `Comparing`.
    """
    from gramlet.engine.core.compiling import announce_compilation
    from gramlet.evaluation.splits import groups_of
    from gramlet.kernels import registry

    for name in comparing.kernel or ():
        if name not in _NO_KERNELS:
            registry.get(name)
    given = parse_params(comparing.param)
    data = read_input(source, reading)
    target = target_of(data, source, learning)
    names = dict.fromkeys([*BASELINES, *(comparing.kernel or default_kernels(data.graphs))])
    rows = [CONSTANTS[target.task], *(name for name in names if name not in CONSTANTS.values())]
    whole = comparing.protocol(len(data.graphs), **protocol)
    options = _options_by_kernel(rows, given, data, target, source)
    announce_compilation()
    arguments = {
        "task": target.task,
        "scoring": learning.scoring,
        "classifier": learning.classifier,
        "class_weight": learning.weights(target.classes, target.shown_classes),
        "min_class_size": learning.min_class_size,
        "groups": groups_of(None, whole.groups, data, len(data.graphs)),
        "draws": draws,
        "n_jobs": comparing.jobs,
        "verbose": True,
    }
    store = _kept_store(comparing.fresh)
    normalize = normalisation(comparing.normalize)
    return Comparison(data, target, whole, options, arguments, normalize, fit_once, store)


def default_kernels(graphs: GraphBatch) -> list[str]:
    """The rows beside the baselines: kernels that suit the columns of graphs, and "auto"."""
    from gramlet.evaluation.candidates import automatic_kernels

    readable = graphs.molecules is not None and importlib.util.find_spec("rdkit") is not None
    morgan = ["morgan"] if readable else []
    kernels = list(automatic_kernels(graphs))
    return [*morgan, *kernels, *(["auto"] if kernels else [])]


def _options_by_kernel(
    names: Sequence[str], given: dict[str, Any], data: Dataset, target: Target, source: str
) -> dict[str, dict[str, Any] | None]:
    """The values each kernel chooses from: its own options, replaced by those given."""
    from gramlet.evaluation.candidates import automatic_kernels
    from gramlet.kernels import registry

    options: dict[str, dict[str, Any] | None] = {}
    known: set[str] = set()
    automatic = automatic_kernels(data.graphs)
    for name in names:
        if name in _NO_KERNELS:
            options[name] = None
            if name == "auto" and given:
                has = {key for one in automatic for key in registry.get(one).make().get_params()}
                known |= has
                options[name] = {k: v for k, v in given.items() if k in has} or None
            continue
        row = registry.get(name)
        if row.tags.supervised:
            refuse_numbers(target, source, name)
        for column in row.tags.needs:
            if getattr(data.graphs, column) is None:
                raise WrongUse(
                    f"kernel {name!r} needs {column.replace('_', ' ')}, which {data.name!r} does "
                    "not have."
                )
        has = row.make().get_params() if given else {}
        known |= set(has)
        mine = {key: value for key, value in given.items() if key in has}
        for key, values in mine.items():
            for value in values if isinstance(values, list) else [values]:
                from gramlet.common.parameters import require_parameters

                require_parameters(row.make(**{key: value}))
        options[name] = {**(row.tunable or automatic.get(name, {})), **mine}
    unused = sorted(set(given) - known)
    if unused:
        raise WrongUse(
            f"--param: none of the kernels has a parameter {unused[0]!r}. They have: "
            f"{', '.join(sorted(known))}."
        )
    return options


def _kept_store(fresh: bool) -> Store | None:
    """Where finished work is kept; None, with a warning, if that is not possible."""
    from gramlet.common.places import cache_folder
    from gramlet.evaluation.store import Store

    try:
        return Store(cache_folder() / "evaluations", fresh=fresh)
    except (OSError, ValueError) as why:
        _warn_of_store(why)
        return None


def _warn_of_store(why: Exception) -> None:
    show_warning(f"finished work is not kept: {why}")


@dataclass
class Comparison:
    """The evaluations of all rows, one after the other, and their table."""

    data: Dataset
    target: Target
    protocol: Protocol
    options: Mapping[str, dict[str, Any] | None]  # by row: the values to choose from
    arguments: Mapping[str, Any]
    normalize: Literal["tanimoto", "cosine"] | bool | None
    fit_once: bool
    store: Store | None
    results: list[Result] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)  # and why
    reused: list[str] = field(default_factory=list)  # rows from an earlier run

    def run(self) -> None:
        """Evaluate every row; a run that is stopped shows the rows that are finished.

        The first row is a constant. It takes no time, and what is wrong with the options or the
        target is reported by it, before any kernel is computed.
        """
        from gramlet.evaluation.result_table import score_of

        try:
            for name, options in self.options.items():
                started = time.perf_counter()
                try:
                    result = self._result(name, options)
                except (ValueError, TypeError) as why:
                    if not self.results:
                        raise
                    self.failures.append(f"{name!r}: {why}")
                    continue
                self.results.append(result)
                seconds = time.perf_counter() - started
                if seconds < result.seconds:  # the others were spent in an earlier run
                    self.reused.append(name)
                if sys.stderr.isatty() and seconds > _LONG:
                    note(f"{name}: {score_of(result)} in {seconds:.0f} s")
                leave_words(self.so_far())
        except KeyboardInterrupt:
            print(self.so_far(), end="", flush=True)
            raise
        leave_words("")

    def _result(self, name: str, options: dict[str, Any] | None) -> Result:
        from gramlet import evaluation
        from gramlet.kernels import registry

        # A kernel that learns from classes would leak them if it were fitted once.
        fit_once = self.fit_once and name not in _NO_KERNELS
        fit_once = fit_once and not registry.get(name).tags.supervised
        try:
            with warnings.catch_warnings():
                # Already shown when the target was read, and the same for all rows.
                warnings.filterwarnings("ignore", message="min_class_size=")
                result: Result = evaluation.evaluate(
                    name,
                    self.data,
                    protocol=self.protocol,
                    options=options,
                    normalize=self.normalize if "normalize" not in (options or {}) else None,
                    fit_once=fit_once,
                    store=self.store,
                    **self.arguments,
                )
            return result
        except OSError as why:  # a full disk, a folder that cannot be written
            if self.store is None:
                raise
            _warn_of_store(why)
            self.store = None
            return self._result(name, options)

    def refuse_failures(self) -> None:
        """Raise if a row has no result."""
        if self.failures:
            raise Failure(f"no result for {'; '.join(self.failures)}")

    def head(self) -> list[str]:
        """The data and the protocol, on one line each."""
        graphs, target = self.data.graphs, self.target
        if target.task == "classification":
            shown = f"classes of {' / '.join(map(str, target.members().tolist()))}"
        else:
            values = target.values
            shown = (
                f"{self.data.target_name or 'target'} from {values.min():.4g} to "
                f"{values.max():.4g}, mean {values.mean():.4g}"
            )
        lines = [
            f"{self.data.name}: {len(graphs)} graphs, {graphs.sizes.mean():.1f} nodes and "
            f"{graphs.n_edges.mean():.1f} edges on average, {shown}"
        ]
        left_out = len(target.plain) - len(target.kept)
        if left_out:
            lines.append(f"{left_out} graphs of smaller classes are left out")
        return [*lines, f"{self.protocol.describe()}; seed {self.protocol.random_state}"]

    def so_far(self) -> str:
        """What to print if the run is stopped now, as plain text; "" before the first row."""
        from gramlet.evaluation.result_table import table

        if not self.results:
            return ""
        rows = f"{len(self.results)} of {len(self.options)} rows"
        last = f"Stopped after {rows}; the same command continues."
        return "\n".join([*self.head(), "", table(self.results, hints=False), "", last, ""])

    def show(self) -> None:
        """Print the whole table."""
        from rich.markup import escape

        from gramlet.evaluation.result_table import as_good_as_the_best, remarks, table

        screen = console()
        first, *others = self.head()
        name = self.data.name
        screen.print(f"[bold]{escape(name)}[/]{escape(first[len(name) :])}")
        screen.print(*others, "", sep="\n", markup=False)
        style = "rich" if screen.is_terminal else "text"
        screen.print(table(self.results, style, hints=False), markup=False)
        best, near = as_good_as_the_best(self.results)
        if best.scores.size < 2:
            beside = " (one test part: no test of significance)"
        elif best.pooled.all():
            beside = " (all test parts are pooled: no test of significance)"
        else:
            equal = f"; not significantly worse: {', '.join(near)}" if near else ""
            beside = f"{equal} (corrected resampled t-test, 5 %)"
        screen.print(f"\nBest: [bold]{escape(best.name)}[/]{escape(beside)}")
        for text in remarks(self.results):
            screen.print(text, markup=False)
        for text in self._footnotes(best.scoring):
            screen.print(f"[dim]{escape(text)}[/]")

    def _footnotes(self, scoring: str) -> list[str]:
        from gramlet.engine.core.compiling import has_compiled
        from gramlet.evaluation.scorers import score_text

        spread = "repeats' means" if self.protocol.repeats > 1 else "folds"
        lines = [f"±: standard deviation of the {spread}."]
        if has_compiled():
            lines[0] += " Seconds exclude compilation, which happens once per machine."
        if self.reused:
            rows = ", ".join(self.reused)
            lines.append(f"Kept from an earlier run: {rows}. --fresh computes everything again.")
        if scoring in _OF_ONE_CLASS and self.target.n_classes == 2:
            positive = str(self.target.shown_classes[-1])
            lines.append(f"{score_text(scoring)} is that of the class {positive!r}.")
        return lines

    def write(self, path: Path) -> None:
        """All results as JSON."""
        document = {
            "format": "gramlet evaluation 1",
            "gramlet": __version__,
            "dataset": self.data.name,
            "results": [result.to_dict() for result in self.results],
        }
        with writing(path) as place:
            place.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
