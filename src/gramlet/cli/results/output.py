"""Output of commands: to terminals of all kinds, and to files that are complete or absent."""

from __future__ import annotations

import codecs
import contextlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramlet.cli.errors import WrongUse
from gramlet.cli.wording import with_options
from gramlet.common.safe_writing import check_place as check_place_exists

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["check_place", "console", "grid", "note", "prepare_streams", "show_warning"]

_ENDLESS = 10_000  # columns

_REPLACING = "gramlet.ascii"
_IN_ASCII = {
    "×": "x", "±": "+-", "─": "-", "━": "-", "·": ";", "…": "...", "–": "-", "—": "-",
    "≥": ">=", "≤": "<=", "’": "'", "“": '"', "”": '"', "√": "sqrt", "Σ": "sum", "∞": "inf",
    "γ": "gamma", "σ": "sigma", "λ": "lambda", "φ": "phi", "μ": "mu", "α": "alpha", "η": "eta",
}  # fmt: skip


def prepare_streams() -> None:
    """Let standard output and standard error accept any text, whatever they are connected to.

    A character that the terminal cannot show is written in ASCII; a closed stream discards
    everything.
    """
    codecs.register_error(_REPLACING, _in_ascii)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            with contextlib.suppress(OSError, ValueError):
                stream.reconfigure(errors=_REPLACING)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_ascii, error.object[error.start : error.end])), error.end


def _ascii(character: str) -> str:
    from unicodedata import normalize

    if character in _IN_ASCII:
        return _IN_ASCII[character]
    plain = normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or character.encode("ascii", "backslashreplace").decode()


def console(stderr: bool = False) -> Console:
    """A rich console: colours on a terminal, plain unwrapped lines in a pipe."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else _ENDLESS)


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


def note(text: str) -> None:
    """Print a remark on standard error."""
    with contextlib.suppress(OSError, ValueError):  # work continues if the pipe is closed
        print(text, file=sys.stderr, flush=True)


def show_warning(message: Warning | str, *others: Any, **more: Any) -> None:
    """A warning on one line, without the source line that raised it."""
    note(f"gramlet: warning: {' '.join(with_options(message).split())}")


def check_place(path: Path, endings: Sequence[str] = ()) -> Path:
    """Refuse a file that cannot be written, before any work is done."""
    if endings and path.suffix.lower() not in endings:
        raise WrongUse(
            f"{str(path)!r}: the file's name must end in {' or '.join(endings)}; the ending gives "
            "the format to write."
        )
    try:
        check_place_exists(path)
    except OSError as why:
        raise WrongUse(str(why)) from why
    return path
