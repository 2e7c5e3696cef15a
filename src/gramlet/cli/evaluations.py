"""The evaluations that ``gramlet evaluate`` and ``gramlet report`` run, and their table.

Names, options and arguments are checked before anything is computed; finished work is kept.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramlet._version import __version__
from gramlet.cli.errors import WrongUse
from gramlet.cli.inputs import read_input, refuse_numbers, target_of
from gramlet.cli.interrupts import leave_words
from gramlet.cli.options import Comparing, Learning, Reading, parse_params
from gramlet.cli.output import console, note
from gramlet.common.safe_writing import writing

if TYPE_CHECKING:
    from gramlet.evaluation import Protocol, Result
    from gramlet.evaluation.protocols.task import Target
    from gramlet.evaluation.store import Store
    from gramlet.files.dataset import Dataset
    from gramlet.kernels.registry import Entry

# Scorers that depend on which of two classes counts as positive.
_OF_ONE_CLASS = ("f1", "precision", "recall", "jaccard", "average_precision")


@dataclass(frozen=True)
class Report:
    """The output of an evaluation, as text, table and JSON.

    Parameters
    ----------
    data : Dataset
    target : Target
    protocol : Protocol
    """

    data: Dataset
    target: Target
    protocol: Protocol

    def head(self) -> list[str]:
        """The data and the protocol, on one line each."""
        graphs, target = self.data.graphs, self.target
        lines = [
            f"{self.data.name}: {len(graphs)} graphs, {graphs.sizes.mean():.1f} nodes and "
            f"{graphs.n_edges.mean():.1f} edges on average, {self._target()}"
        ]
        left_out = len(target.plain) - len(target.kept)
        if left_out:
            lines.append(f"{left_out} graphs of smaller classes are left out")
        lines.append(f"{self.protocol.describe()}; seed {self.protocol.random_state}")
        return lines

    def _target(self) -> str:
        target = self.target
        if target.task == "classification":
            return f"classes of {' / '.join(map(str, target.members().tolist()))}"
        name = self.data.target_name or "target"
        values = target.values
        return f"{name} from {values.min():.4g} to {values.max():.4g}, mean {values.mean():.4g}"

    def so_far(self, results: Sequence[Result], n_rows: int) -> str:
        """What to print if the run is stopped now, as plain text; "" before the first row."""
        from gramlet.evaluation.results.tables import table

        if not results:
            return ""
        told = f"Stopped after {len(results)} of {n_rows} rows; the same command continues."
        return "\n".join([*self.head(), "", table(results, hints=False), "", told, ""])

    def show(self, results: Sequence[Result], compiled: bool, found: Sequence[str] = ()) -> None:
        """The whole table; ``found``: the rows that were kept from an earlier run."""
        from rich.markup import escape

        from gramlet.evaluation.results.tables import as_good_as_the_best, remarks, table

        screen = console()
        style = "rich" if screen.is_terminal else "text"
        first, *others = self.head()
        name = self.data.name
        screen.print(f"[bold]{escape(name)}[/]{escape(first[len(name) :])}")
        for line in others:
            screen.print(line, markup=False)
        screen.print()
        screen.print(table(results, style, hints=False), markup=False)
        screen.print()
        best, near = as_good_as_the_best(results)
        if best.scores.size < 2:
            beside = " (one test part: no test of significance)"
        elif best.pooled.all():
            beside = " (all test parts are pooled: no test of significance)"
        else:
            equal = f"; not significantly worse: {', '.join(near)}" if near else ""
            beside = f"{equal} (corrected resampled t-test, 5 %)"
        screen.print(f"Best: [bold]{escape(best.name)}[/]{escape(beside)}")
        for text in remarks(results):
            screen.print(text, markup=False)
        for text in [*self._footnotes(compiled, found), *self._positive(best.scoring)]:
            screen.print(f"[dim]{escape(text)}[/]")

    def _footnotes(self, compiled: bool, found: Sequence[str]) -> list[str]:
        spread = "repeats' means" if self.protocol.repeats > 1 else "folds"
        remark = f"±: standard deviation of the {spread}."
        if compiled:
            remark += " Seconds exclude compilation, which happens once per machine."
        lines = [remark]
        if found:
            lines.append(
                f"Kept from an earlier run: {', '.join(found)}. --fresh computes everything again."
            )
        return lines

    def _positive(self, scoring: str) -> list[str]:
        """The class that a scorer of one class is about."""
        if scoring not in _OF_ONE_CLASS or self.target.n_classes != 2:
            return []
        return [f"{scoring} is that of the class {str(self.target.shown_classes[-1])!r}."]

    def write(self, path: Path, results: Sequence[Result]) -> None:
        """All results as JSON."""
        document = {
            "format": "gramlet evaluation 1",
            "gramlet": __version__,
            "dataset": self.data.name,
            "results": [result.to_dict() for result in results],
        }
        with writing(path) as place:
            place.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


CONSTANTS = {"classification": "majority", "regression": "mean"}
BASELINES = ("size", "vertex", "edge")
DEFAULT_KERNELS = ("wl", "wl-oa", "wwl")

_NO_KERNELS = ("majority", "mean", "size")  # baselines that are not in the registry
_LONG = 20.0  # seconds after which a result is printed before the table is complete


def prepared(
    source: str,
    reading: Reading,
    comparing: Comparing,
    learning: Learning,
    *,
    draws: int | None = None,
    fit_once: bool = False,
    **protocol: Any,
) -> Work:
    """Read INPUT and check all options; nothing is computed yet.

    ``protocol`` are fields of the protocol beyond those of `Comparing`.
    """
    asked = _checked_names(comparing.kernel)
    given = parse_params(comparing.param)
    data = read_input(source, reading)
    target = target_of(data, source, learning)
    from gramlet.engine.core.compiling import announce_compilation

    whole = comparing.protocol(len(data.graphs), **protocol)
    choices = _options_by_kernel([CONSTANTS[target.task], *asked], given, data, target, source)
    announce_compilation()
    return Work(
        Report(data, target, whole),
        choices,
        arguments={
            **_checked_arguments(data, target, whole, learning),
            "draws": draws,
            "dataset": data.name,
            "n_jobs": comparing.jobs,
            "verbose": True,
        },
        normalize=comparing.normalize,
        fit_once=fit_once,
        store=_kept_store(comparing.fresh),
    )


def _checked_names(asked: Sequence[str] | None) -> list[str]:
    """The baselines and the requested kernels, each once; raise WrongUse for an unknown name."""
    from gramlet.kernels import registry

    names = list(dict.fromkeys([*BASELINES, *(asked or DEFAULT_KERNELS)]))
    for name in names:
        if name not in _NO_KERNELS:
            registry.get(name)
    return [name for name in names if name not in CONSTANTS.values()]


def _options_by_kernel(
    names: Sequence[str], given: dict[str, Any], data: Dataset, target: Target, source: str
) -> dict[str, dict[str, Any] | None]:
    """The values each kernel chooses from: its own options, replaced by those given."""
    from gramlet.kernels import registry

    found: dict[str, dict[str, Any] | None] = {}
    unused = set(given)
    for name in names:
        if name in _NO_KERNELS:
            found[name] = None
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
        mine = {key: value for key, value in given.items() if key in has}
        unused -= set(mine)
        _check_values(row, mine)
        found[name] = {**row.tunable, **mine}
    if unused:
        kernels = [name for name in names if name not in _NO_KERNELS]
        known = sorted({key for name in kernels for key in registry.make(name).get_params()})
        raise WrongUse(
            f"--param: none of the kernels has a parameter {sorted(unused)[0]!r}. They have: "
            f"{', '.join(known)}."
        )
    return found


def _check_values(row: Entry, given: dict[str, Any]) -> None:
    """Refuse values that a kernel does not allow, before anything is computed."""
    for key, values in given.items():
        for value in values if isinstance(values, list) else [values]:
            row.make(**{key: value})._validate_params()


def _checked_arguments(
    data: Dataset, target: Target, protocol: Protocol, learning: Learning
) -> dict[str, Any]:
    """The arguments of `evaluate` that are the same for all kernels.

    What does not fit the data is reported before any kernel is computed.
    """
    from gramlet.evaluation.machines.machines import machine_of
    from gramlet.evaluation.protocols.groups import groups_of
    from gramlet.evaluation.scores.scorers import scorer_of

    classifier = None if learning.classifier is None else learning.classifier.value
    weights = learning.weights(target.classes, target.shown_classes)
    groups = groups_of(None, protocol, data, len(data.graphs))
    scorer_of(learning.scoring, target.task, target.n_classes)
    machine_of(classifier, target, protocol, weights, groups is not None)
    kept = None if groups is None else groups[target.kept]
    protocol.splits(target.values, target.shown_classes, kept)
    return {
        "task": target.task,
        "scoring": learning.scoring,
        "classifier": classifier,
        "class_weight": weights,
        "min_class_size": learning.min_class_size,
        "groups": groups,
    }


def _kept_store(fresh: bool) -> Store | None:
    """Where finished work is kept; None, with a warning, if that is not possible."""
    from gramlet.common.places import cache_folder
    from gramlet.evaluation.store import Store

    try:
        return Store(cache_folder() / "evaluations", fresh=fresh)
    except (OSError, ValueError) as why:
        _tell_not_kept(why)
        return None


def _tell_not_kept(why: Exception) -> None:
    note(f"gramlet: warning: finished work is not kept: {' '.join(str(why).split())}")


@dataclass
class Work:
    """The evaluations of all rows, one after the other."""

    report: Report
    options: Mapping[str, dict[str, Any] | None]  # by row: the values to choose from
    arguments: Mapping[str, Any]
    normalize: bool
    fit_once: bool
    store: Store | None
    results: list[Result] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)  # and why
    found: list[str] = field(default_factory=list)  # kept from an earlier run

    def run(self) -> None:
        """Evaluate every row; a run that is stopped keeps the rows that are finished."""
        try:
            for name, choice in self.options.items():
                self._row(name, choice)
                leave_words(self.report.so_far(self.results, len(self.options)))
        except KeyboardInterrupt:
            print(self.report.so_far(self.results, len(self.options)), end="", flush=True)
            raise
        leave_words("")

    def _row(self, name: str, choice: dict[str, Any] | None) -> None:
        started = time.perf_counter()
        try:
            result = self._evaluated(name, choice)
        except (ValueError, TypeError) as why:
            self.failed.append(f"{name!r}: {why}")
            return
        self.results.append(result)
        seconds = time.perf_counter() - started
        if seconds < result.seconds:  # the others were spent in an earlier run
            self.found.append(name)
        if sys.stderr.isatty() and seconds > _LONG:
            note(f"{name}: {result.scoring} {result.mean:.3f} in {seconds:.0f} s")

    def _evaluated(self, name: str, choice: dict[str, Any] | None) -> Result:
        from gramlet import evaluation

        try:
            with warnings.catch_warnings():
                # Already shown when the target was read, and the same for all rows.
                warnings.filterwarnings("ignore", message="min_class_size=")
                result: Result = evaluation.evaluate(
                    name,
                    self.report.data.graphs,
                    self.report.target.plain,
                    self.report.protocol,
                    options=choice,
                    normalize=self.normalize if "normalize" not in (choice or {}) else None,
                    fit_once=self.fit_once and not _uses_classes(name),
                    store=self.store,
                    **self.arguments,
                )
            return result
        except OSError as why:  # a full disk, a folder that cannot be written
            if self.store is None:
                raise
            _tell_not_kept(why)
            self.store = None
            return self._evaluated(name, choice)


def _uses_classes(name: str) -> bool:
    """Whether a kernel learns from classes, so that fitting it once would leak them."""
    from gramlet.kernels import registry

    return name not in _NO_KERNELS and registry.get(name).tags.supervised
