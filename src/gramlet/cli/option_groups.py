"""Options that travel together: a command takes one object, the command line has one option each.

A group is a dataclass whose fields are declared as options are. `spread` puts its fields in the
place of the one parameter, so that every command that reads graphs has the same options for it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Annotated, Any, get_type_hints

import typer

from gramlet.cli.options import DataDir

__all__ = ["Reading", "spread"]


@dataclass(frozen=True)
class Reading:
    """How INPUT is read: the options of every command that reads graphs."""

    data_dir: DataDir = None
    molecules: Annotated[
        str | None,
        typer.Option(
            "--molecules",
            metavar="COLUMN",
            help="Of a table: heading, or number from 0, of the SMILES strings.",
        ),
    ] = None
    target: Annotated[
        str | None,
        typer.Option(
            "--target",
            metavar="COLUMN",
            help="Of a table: heading, or number from 0, of the classes.",
        ),
    ] = None


def spread(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command with the fields of its groups as parameters of their own.

    >>> from inspect import signature
    >>> def show(source: str, reading: Reading) -> str:
    ...     return f"{source}: {reading.target}"
    >>> list(signature(spread(show)).parameters)
    ['source', 'data_dir', 'molecules', 'target']
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
