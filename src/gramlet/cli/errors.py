"""How commands fail: the one place that turns an exception into a line and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Sequence

from gramlet.cli.interrupts import INTERRUPTED
from gramlet.common.safe_writing import NO_ROOM

WRONG_USE = 2
FAILURE = 1


class WrongUse(Exception):
    """The command was used wrongly: an unknown name, a missing file."""


class Failure(Exception):
    """The command was valid, but failed: damaged data, a full disk."""


def debug_wanted(arguments: Sequence[str]) -> bool:
    """Whether tracebacks are requested, by ``--debug`` or by the environment."""
    return "--debug" in arguments or os.environ.get("GRAMLET_DEBUG", "0") not in ("", "0")


def report(error: BaseException, debug: bool) -> int:
    """Print the error on standard error, on one line if possible; return the exit code."""
    if type(error).__name__ == "Abort":  # typer's, in place of an EOFError
        error = error.__cause__ or error
    if isinstance(error, BrokenPipeError):
        silence_output()
        return FAILURE
    if isinstance(error, KeyboardInterrupt):
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


def silence_output() -> None:
    """Write nothing more to a closed pipe or a full disk, not even when Python exits."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
