"""What commands say: tables, remarks, warnings, and errors as one line and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gramlet.cli import INTERRUPTED

if TYPE_CHECKING:
    from rich.console import Console

WRONG_USE = 2
FAILURE = 1

_ENDLESS = 10_000  # columns


class WrongUse(Exception):
    """The command was used wrongly: an unknown name, a missing file."""


class Failure(Exception):
    """The command was valid, but failed: damaged data, a full disk."""


def report(error: BaseException, arguments: Sequence[str] = ()) -> int:
    """Print the error on standard error, on one line if possible; return the exit code.

    ``--debug`` among the arguments, or GRAMLET_DEBUG=1, adds the traceback.
    """
    if type(error).__name__ == "Abort":  # typer's, in place of an EOFError
        error = error.__cause__ or error
    if isinstance(error, BrokenPipeError):
        silence_output()
        return FAILURE
    if isinstance(error, KeyboardInterrupt):
        line, code = "interrupted", INTERRUPTED
    else:
        message, code = _message_and_code(error)
        if not getattr(error, "keeps_lines", False):
            message = " ".join(message.split())
        line = f"error: {message}"
    if "--debug" in arguments or os.environ.get("GRAMLET_DEBUG", "0") not in ("", "0"):
        import traceback

        note("".join(traceback.format_exception(error)).rstrip())
    note(f"gramlet: {line}")
    return code


def _message_and_code(error: BaseException) -> tuple[str, int]:
    if hasattr(error, "format_message"):  # typer's: a wrong option, a missing argument
        context = getattr(error, "ctx", None)
        path = getattr(context, "command_path", "gramlet")
        return f"{error.format_message().rstrip('.?')}. Try '{path} --help'.", WRONG_USE
    if isinstance(error, OSError) and error.strerror is not None:
        return _system_message(error)
    text = str(error) or type(error).__name__
    if isinstance(error, WrongUse | ValueError | TypeError | FileNotFoundError):
        return text, WRONG_USE
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}", FAILURE
    if isinstance(error, Failure | OSError | ImportError | RuntimeError):
        return text, FAILURE
    hint = "This should not happen; --debug shows where it did."
    return f"{type(error).__name__}: {error}. {hint}", FAILURE


def _system_message(error: OSError) -> tuple[str, int]:
    """The system's reason, with the place; of the streams only standard output raises errors."""
    from gramlet.common.safe_writing import NO_ROOM

    reason = f"{str(error.strerror).removesuffix('.')}."
    if error.filename is not None:
        place = repr(os.fsdecode(error.filename))
        if isinstance(error, FileNotFoundError):
            return f"there is no file {place}.", WRONG_USE
    elif error.errno in NO_ROOM and error.strerror == os.strerror(error.errno or 0):
        place = "standard output"
    else:
        return reason, FAILURE
    return f"{place}{' cannot be written' * (error.errno in NO_ROOM)}: {reason}", FAILURE


def prepare_streams() -> None:
    """Let standard output and standard error accept any text, whatever they are connected to.

    A character that the terminal cannot show becomes "?"; a closed stream discards all.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            with contextlib.suppress(OSError, ValueError):
                stream.reconfigure(errors="replace")


def silence_output() -> None:
    """Write nothing more to a closed pipe or a full disk, not even when Python exits."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def note(text: str) -> None:
    """Print a remark on standard error."""
    with contextlib.suppress(OSError, ValueError):  # work continues if the pipe is closed
        print(text, file=sys.stderr, flush=True)


def show_warning(message: Warning | str, *others: Any, **more: Any) -> None:
    """A warning on one line, without the source line that raised it."""
    note(f"gramlet: warning: {' '.join(str(message).split())}")


def console() -> Console:
    """A rich console: colours on a terminal, plain unwrapped lines in a pipe."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else _ENDLESS)


def grid(*headings: str, right: tuple[int, ...] = (), headings_shown: bool = True) -> Any:
    """An empty table without lines; the columns ``right`` are aligned right."""
    from rich.table import Table

    table = Table(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        header_style="underline",
        show_header=headings_shown,
    )
    for column, heading in enumerate(headings):
        side = "right" if column in right else "left"
        table.add_column(
            heading,
            justify=side,  # type: ignore[arg-type]
            no_wrap=column == 0,
            overflow="fold",
        )
    return table
