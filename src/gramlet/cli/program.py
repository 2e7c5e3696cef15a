"""The program ``gramlet``: its commands, and the one place where errors become exit codes."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from gramlet._version import __version__
from gramlet.cli import INTERRUPTED
from gramlet.cli.commands import (
    convert,
    embed,
    evaluate,
    explain,
    gram,
    info,
    kernels,
    map,
    neighbors,
    predict,
    train,
    warm_up,
)
from gramlet.cli.commands import report as report_command
from gramlet.cli.options import spread
from gramlet.cli.terminal import Failure, prepare_streams, report, show_warning, silence_output

# Plain help: rich's panels would double the time that --help takes.
app = typer.Typer(
    name="gramlet",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

COMMANDS: dict[str, Callable[..., Any]] = {
    "evaluate": evaluate.evaluate,
    "report": report_command.report,
    "gram": gram.gram,
    "embed": embed.embed,
    "map": map.map_,
    "train": train.train,
    "predict": predict.predict,
    "explain": explain.explain,
    "neighbors": neighbors.neighbors,
    "duplicates": neighbors.duplicates,
    "kernels": kernels.kernels,
    "datasets": kernels.datasets,
    "info": info.info,
    "convert": convert.convert,
    "warm-up": warm_up.warm_up,
}


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"gramlet {__version__}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show tracebacks of errors, as GRAMLET_DEBUG=1 does."),
    ] = False,
) -> None:
    """Graph kernels and graph embeddings: evaluate, compute, train, predict, explain."""


for _name, _command in COMMANDS.items():
    app.command(_name)(spread(_command))


def run(given: Sequence[str]) -> int:
    """Run a command; return the exit code."""
    # --debug is accepted anywhere, also after the command, where the parser does not look for it.
    arguments = [argument for argument in given if argument != "--debug"] or ["--help"]
    is_closed = sys.stdout is None
    prepare_streams()
    with warnings.catch_warnings():
        warnings.showwarning = show_warning
        try:
            code = app(args=arguments, prog_name="gramlet", standalone_mode=False, obj=arguments)
            if code == INTERRUPTED:  # typer's answer to a KeyboardInterrupt
                return report(KeyboardInterrupt(), given)
            sys.stdout.flush()
            if is_closed and not code:
                raise Failure("standard output cannot be written: it is closed.")
            return int(code or 0)
        except SystemExit as ending:  # typer's and rich's, when their output is not read
            code = ending.code
        except BaseException as error:
            code = report(error, given)
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        silence_output()
    return code if isinstance(code, int) else 1
