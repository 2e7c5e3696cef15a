"""The program ``gramlet``: its commands, and the one place where errors become exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from gramlet._version import __version__
from gramlet.cli import coordinates, evaluating, explaining, listing, matrices, models
from gramlet.cli.errors import guarded, report
from gramlet.cli.output import one_line_warnings

__all__ = ["app", "main"]

# Plain help: rich's panels would double the time that --help takes.
app = typer.Typer(
    name="gramlet",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")] = False,
) -> None:
    """Graph kernels and graph embeddings: evaluate, compute, train, predict."""


for _command in (
    evaluating.evaluate,
    matrices.gram,
    coordinates.embed,
    models.train,
    models.predict,
    explaining.explain,
    listing.kernels,
    listing.datasets,
    listing.info,
):
    app.command()(guarded(_command))
app.command("map")(guarded(coordinates.map_))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; return its exit code.

    0: done. 1: it failed. 2: it was used wrongly. 130: it was interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in arguments
    # It may stand anywhere, also behind the command, where the parser would not look for it.
    arguments = [argument for argument in arguments if argument != "--debug"] or ["--help"]
    one_line_warnings()
    try:
        code = app(args=arguments, prog_name="gramlet", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except SystemExit as ending:  # rich ends so when nobody reads its output
        return ending.code if isinstance(ending.code, int) else 1
    except BaseException as error:
        return report(error, debug)
