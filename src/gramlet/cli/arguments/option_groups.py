"""Groups of options: a command takes one object, the command line has one option per field.

A group is a dataclass whose fields are declared as options. `spread` replaces the one parameter by
these fields, so that all commands that read graphs have the same options.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from gramlet.cli.arguments.options import DataDir
from gramlet.cli.errors import WrongUse

if TYPE_CHECKING:
    from gramlet.common.arrays import Array

__all__ = ["Learning", "Reading", "spread"]


class OnError(StrEnum):
    """What to do with rows that cannot be read."""

    stop = "stop"
    skip = "skip"


class NodeLabels(StrEnum):
    """Labels to make for the nodes."""

    degree = "degree"
    none = "none"


class Task(StrEnum):
    """How a target is interpreted."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


class Classifier(StrEnum):
    """The machine behind the kernel."""

    svc = "svc"
    ridge = "ridge"
    svr = "svr"


@dataclass(frozen=True)
class Reading:
    """How INPUT is read: the options of every command that reads graphs."""

    data_dir: DataDir = None
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="COLUMN",
            help="What to learn: heading, or number from 0, of a column; a property of molecules "
            "or graphs.",
        ),
    ] = None
    molecules: Annotated[
        str | None,
        typer.Option(
            "--molecules", metavar="COLUMN", help="Column of a table with the SMILES strings."
        ),
    ] = None
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Column of a table with the identifiers."),
    ] = None
    on_error: Annotated[
        OnError,
        typer.Option(
            "--on-error", help="What to do with rows that cannot be read: stop, or leave them out."
        ),
    ] = OnError.stop
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            metavar="NAME",
            help="For .graphml, .gexf, .gml and .json: the node data to use as labels.",
        ),
    ] = None
    node_labels: Annotated[
        NodeLabels | None,
        typer.Option(
            "--node-labels",
            help="Label nodes by their degrees, or with none, instead of the file's labels.",
        ),
    ] = None
    directed: Annotated[
        bool | None,
        typer.Option(
            "--directed/--undirected",
            help="Read edges as directed or as undirected. [default: as in the file]",
        ),
    ] = None

    def given(self) -> dict[str, bool]:
        """The options by their names on the command line, with whether each was given."""
        return {
            f"--{field.name.replace('_', '-')}": getattr(self, field.name) != field.default
            for field in fields(self)
        }

    def options(self) -> dict[str, Any]:
        """The options of `gramlet.files.read.read` that were given, by their names there."""
        columns = {name: _column(getattr(self, name)) for name in ("target", "molecules", "id")}
        found = {
            **columns,
            "label": self.label,
            "on_error": "skip" if self.on_error is OnError.skip else None,
            "node_labels": None if self.node_labels is None else self.node_labels.value,
            "directed": self.directed,
        }
        return {name: value for name, value in found.items() if value is not None}


@dataclass(frozen=True)
class Learning:
    """What is learned and by which machine: the options of every command that fits one."""

    task: Annotated[
        Task,
        typer.Option("--task", help="Whether the target contains classes or real numbers."),
    ] = Task.auto
    scoring: Annotated[
        str | None,
        typer.Option(
            "--scoring",
            metavar="NAME",
            help="Score to report and to choose by, as named in scikit-learn, e.g. "
            "balanced_accuracy, roc_auc, neg_root_mean_squared_error. [default: accuracy, or r2 "
            "for numbers]",
        ),
    ] = None
    classifier: Annotated[
        Classifier | None,
        typer.Option(
            "--classifier",
            help="The machine: support vectors or ridge. [default: svc, or ridge for numbers]",
        ),
    ] = None
    class_weight: Annotated[
        list[str] | None,
        typer.Option(
            "--class-weight",
            metavar="balanced | CLASS=NUMBER",
            help="Weigh the errors on each class: in inverse proportion to its size, or by numbers "
            "(repeatable).",
        ),
    ] = None
    min_class_size: Annotated[
        int | None,
        typer.Option(
            "--min-class-size", metavar="N", help="Leave out classes with fewer graphs.", min=1
        ),
    ] = None

    def weights(self, classes: Array, shown: Array | None = None) -> Any:
        """The class weights as scikit-learn takes them; classes by value or by ``shown`` name."""
        if not self.class_weight:
            return None
        if self.class_weight == ["balanced"]:
            return "balanced"
        known = {str(name): name for name in classes.tolist()}
        if shown is not None:
            known |= dict(zip(map(str, shown.tolist()), classes.tolist(), strict=True))
        found: dict[Any, float] = {}
        for text in self.class_weight:
            name, _, number = text.rpartition("=")
            try:
                weight = float(number)
            except ValueError:
                weight = 0.0
            if not name or not 0 < weight < math.inf:
                raise WrongUse(
                    f"--class-weight {text!r}: write 'balanced', or a class and a number above 0, "
                    "e.g. yes=10."
                )
            if name not in known:
                raise WrongUse(
                    f"--class-weight {text!r}: there is no class {name!r}; the classes are "
                    f"{', '.join(known)}."
                )
            found[known[name]] = weight
        return found


def _column(text: str | None) -> str | int | None:
    return int(text) if text is not None and text.isdecimal() else text


def spread(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the fields of its groups as separate parameters.

    >>> from inspect import signature
    >>> def show(source: str, reading: Reading) -> str:
    ...     return f"{source}: {reading.target}"
    >>> list(signature(spread(show)).parameters)  # doctest: +NORMALIZE_WHITESPACE
    ['source', 'data_dir', 'target', 'molecules', 'id', 'on_error', 'label',
     'node_labels', 'directed']
    >>> spread(show)(source="x.csv", target="y")
    'x.csv: y'
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[type[Any], list[str]]] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if isinstance(kind, type) and is_dataclass(kind):
            declared = get_type_hints(kind, include_extras=True)
            groups[name] = (kind, [field.name for field in fields(kind)])
            parameters += [
                inspect.Parameter(
                    field.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    default=field.default,
                    annotation=declared[field.name],
                )
                for field in fields(kind)
            ]
        else:
            parameters.append(
                parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind)
            )

    @functools.wraps(command)
    def run(**given: Any) -> Any:
        for name, (kind, members) in groups.items():
            own = {member: given.pop(member) for member in members if member in given}
            given[name] = kind(**own)
        return command(**given)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run
