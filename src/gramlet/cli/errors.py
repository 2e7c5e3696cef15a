"""How commands fail: one line on standard error, and an exit code for the kind of error."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

from gramlet.cli.interrupts import INTERRUPTED
from gramlet.cli.wording import with_options
from gramlet.common.safe_writing import NO_ROOM

__all__ = [
    "CommandError",
    "Failure",
    "Interrupted",
    "WrongUse",
    "debug_wanted",
    "flush_output",
    "guarded",
    "report",
]

WRONG_USE = 2
FAILURE = 1

P = ParamSpec("P")
T = TypeVar("T")


class CommandError(Exception):
    """An error whose message is shown to the user."""

    exit_code = FAILURE


class WrongUse(CommandError):
    """The command was used wrongly: an unknown name, a missing file."""

    exit_code = WRONG_USE


class Failure(CommandError):
    """The command was valid, but failed: damaged data, a full disk."""


class Interrupted(CommandError):
    """Ctrl-C."""

    exit_code = INTERRUPTED


def guarded(command: Callable[P, T]) -> Callable[P, T]:
    """Turn Ctrl-C in a command into `Interrupted`, before the parser converts it otherwise."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None

    return run


def debug_wanted(arguments: Sequence[str]) -> bool:
    """Whether tracebacks are requested, by ``--debug`` or by the environment."""
    return "--debug" in arguments or os.environ.get("GRAMLET_DEBUG", "0") not in ("", "0")


def report(error: BaseException, debug: bool) -> int:
    """Print the error on standard error, on one line if possible; return the exit code."""
    if isinstance(error, BrokenPipeError):
        silence_output()
        return FAILURE
    if isinstance(error, Interrupted | KeyboardInterrupt):
        line, code = "gramlet: interrupted", INTERRUPTED
    else:
        message, code = _message_and_code(error)
        if not getattr(error, "keeps_lines", False):
            message = " ".join(message.split())
        line = f"gramlet: error: {message}"
    with contextlib.suppress(OSError, ValueError):  # the pipe is closed
        if debug:
            traceback.print_exception(error)
        print(line, file=sys.stderr, flush=True)
    return code


def _message_and_code(error: BaseException) -> tuple[str, int]:
    if isinstance(error, CommandError):
        return str(error), error.exit_code
    if hasattr(error, "format_message"):  # from the parser: a wrong option, a missing argument
        context = getattr(error, "ctx", None)
        path = getattr(context, "command_path", "gramlet")
        return f"{error.format_message().rstrip('.?')}. Try '{path} --help'.", WRONG_USE
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"there is no file {_name(error)}.", WRONG_USE
    if isinstance(error, OSError) and error.strerror is not None:
        verb = " cannot be written" if error.errno in NO_ROOM else ""
        place = f"{_name(error)}{verb}: " if error.filename is not None else ""
        return f"{place}{error.strerror.removesuffix('.')}.", FAILURE
    if isinstance(error, ValueError | TypeError | FileNotFoundError):
        # raised by gramlet's input checks
        return with_options(error) or type(error).__name__, WRONG_USE
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}", FAILURE
    if isinstance(error, OSError | ImportError | RuntimeError):
        return str(error) or type(error).__name__, FAILURE
    hint = "This should not happen; --debug shows where it did."
    return f"{type(error).__name__}: {error}. {hint}", FAILURE


def _name(error: OSError) -> str:
    return repr(os.fsdecode(error.filename) if isinstance(error.filename, bytes) else
                str(error.filename))  # fmt: skip


def flush_output() -> None:
    """Flush what was printed; if that fails, keep Python from failing again at exit."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError, CommandError):
        silence_output()
        raise


def silence_output() -> None:
    """Write nothing more to a closed pipe, not even when Python exits."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
