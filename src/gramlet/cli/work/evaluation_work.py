"""The evaluations that ``gramlet evaluate`` and ``gramlet report`` run, row by row.

Names, options and arguments are checked before anything is computed; finished work is kept.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gramlet.cli.arguments.comparing import Comparing
from gramlet.cli.arguments.inputs import read_input, refuse_numbers, target_of
from gramlet.cli.arguments.option_groups import Learning, Reading
from gramlet.cli.arguments.params import parse_params
from gramlet.cli.errors import WrongUse
from gramlet.cli.interrupts import leave_words
from gramlet.cli.results.evaluation_report import Report
from gramlet.cli.results.output import note
from gramlet.cli.wording import with_options

if TYPE_CHECKING:
    from gramlet.evaluation import Protocol, Result
    from gramlet.evaluation.protocols.task import Target
    from gramlet.evaluation.store import Store
    from gramlet.files.dataset import Dataset
    from gramlet.kernels.registry import Entry

__all__ = [
    "BASELINES",
    "CONSTANTS",
    "DEFAULT_KERNELS",
    "Work",
    "prepared",
]

CONSTANTS = {"classification": "majority", "regression": "mean"}
BASELINES = ("size", "vertex", "edge")
DEFAULT_KERNELS = ("wl", "wl-oa", "wwl")

_NO_KERNELS = ("majority", "mean", "size")  # baselines that are not in the registry
_LONG = 20.0  # seconds after which a result is printed before the table is complete


def prepared(
    source: str, reading: Reading, comparing: Comparing, learning: Learning, *,
    draws: int | None = None, fit_once: bool = False, **protocol: Any,
) -> Work:  # fmt: skip
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
    try:
        groups = groups_of(None, protocol, data, len(data.graphs))
        scorer_of(learning.scoring, target.task, target.n_classes)
        machine_of(classifier, target, protocol, weights, groups is not None)
        kept = None if groups is None else groups[target.kept]
        protocol.splits(target.values, target.shown_classes, kept)
    except ValueError as why:
        raise WrongUse(with_options(why)) from why
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
            self.failed.append(f"{name!r}: {with_options(why)}")
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
