"""How commands fail: one line on standard error, and an exit code that says whose fault it was."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable
from typing import ParamSpec, TypeVar

__all__ = ["CommandError", "Failure", "Interrupted", "WrongUse", "guarded", "report"]

WRONG_USE = 2
FAILURE = 1
INTERRUPTED = 130

P = ParamSpec("P")
T = TypeVar("T")


class CommandError(Exception):
    """An error whose message is meant for the person at the terminal."""

    exit_code = FAILURE


class WrongUse(CommandError):
    """The command was asked for something that cannot be: an unknown name, a missing file."""

    exit_code = WRONG_USE


class Failure(CommandError):
    """The command was right, but could not be done: damaged data, a full disk."""


class Interrupted(CommandError):
    """Ctrl-C."""

    exit_code = INTERRUPTED


def guarded(command: Callable[P, T]) -> Callable[P, T]:
    """Turn Ctrl-C in a command into `Interrupted`, before the parser makes it something else."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except KeyboardInterrupt:
            raise Interrupted("interrupted") from None

    return run


def report(error: BaseException, debug: bool) -> int:
    """Say on standard error, on one line, what went wrong; return the exit code."""
    if isinstance(error, BrokenPipeError):
        silence_output()
        return FAILURE
    if debug:
        traceback.print_exception(error)
    if isinstance(error, Interrupted | KeyboardInterrupt):
        print("gramlet: interrupted", file=sys.stderr)
        return INTERRUPTED
    message, code = _message_and_code(error)
    print(f"gramlet: error: {' '.join(message.split())}", file=sys.stderr)
    return code


def _message_and_code(error: BaseException) -> tuple[str, int]:
    if isinstance(error, CommandError):
        return str(error), error.exit_code
    if hasattr(error, "format_message"):  # of the parser: a wrong option, a missing argument
        context = getattr(error, "ctx", None)
        path = getattr(context, "command_path", "gramlet")
        return f"{error.format_message().rstrip('.?')}. Try '{path} --help'.", WRONG_USE
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"there is no file {str(error.filename)!r}.", WRONG_USE
    if isinstance(error, ValueError | TypeError | FileNotFoundError):
        return str(error), WRONG_USE  # gramlet's checks of what it was given
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}", FAILURE
    if isinstance(error, OSError | ImportError | RuntimeError):
        return str(error) or type(error).__name__, FAILURE
    hint = "This should not happen; --debug shows where it did."
    return f"{type(error).__name__}: {error}. {hint}", FAILURE


def silence_output() -> None:
    """Let nothing more be written to a pipe that nobody reads, not even when Python ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
