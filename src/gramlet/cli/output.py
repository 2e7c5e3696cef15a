"""What commands write: to the terminal, and to files that are whole or not there at all."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramlet.cli.errors import WrongUse

if TYPE_CHECKING:
    from rich.console import Console

_ENDLESS = 10_000  # columns

__all__ = ["check_place", "console", "note", "one_line_warnings"]


def console(stderr: bool = False) -> Console:
    """A rich console: colours on a terminal; in a pipe plain lines that are not broken."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else _ENDLESS)


def note(text: str) -> None:
    """A remark beside the output proper."""
    print(text, file=sys.stderr, flush=True)


def one_line_warnings() -> None:
    """Show Python's warnings as a line each, without the source they come from."""

    def show(message: Warning | str, *others: Any, **more: Any) -> None:
        note(f"gramlet: warning: {' '.join(str(message).split())}")

    warnings.showwarning = show


def check_place(path: Path, endings: Sequence[str] = ()) -> Path:
    """Refuse a file that could not be written, before any work is done for it."""
    if endings and path.suffix.lower() not in endings:
        raise WrongUse(
            f"{str(path)!r}: the file's name must end in {' or '.join(endings)}; it says which "
            "format to write."
        )
    if path.is_dir():
        raise WrongUse(f"{str(path)!r} is a folder; name a file.")
    if not path.parent.is_dir():
        raise WrongUse(f"{str(path)!r}: there is no folder {str(path.parent)!r}.")
    return path
