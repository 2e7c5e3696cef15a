"""Output of commands: to terminals of all kinds, and to files that are complete or absent."""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from gramlet.cli.errors import Failure, WrongUse
from gramlet.cli.wording import with_options
from gramlet.common.safe_writing import check_place as check_place_exists

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "Inputs",
    "check_place",
    "console",
    "grid",
    "note",
    "prepared_streams",
    "refuse_inputs",
    "show_warning",
]

Inputs = Mapping[str, str | Path | None]  # what a command reads, by its name in the help

_ENDLESS = 10_000  # columns

_REPLACING = "gramlet.ascii"
_IN_ASCII = {
    "×": "x", "±": "+-", "─": "-", "━": "-", "·": ";", "…": "...", "–": "-", "—": "-",
    "≥": ">=", "≤": "<=", "’": "'", "“": '"', "”": '"', "√": "sqrt", "Σ": "sum", "∞": "inf",
    "γ": "gamma", "σ": "sigma", "λ": "lambda", "φ": "phi", "μ": "mu", "α": "alpha", "η": "eta",
}  # fmt: skip


@contextlib.contextmanager
def prepared_streams() -> Iterator[None]:
    """Let standard output and standard error accept any text, whatever they are connected to.

    A character that the terminal cannot show is written in ASCII. Standard error discards
    everything if it is closed; standard output raises an error that names it.
    """
    codecs.register_error(_REPLACING, _in_ascii)
    is_closed = sys.stdout is None
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            with contextlib.suppress(OSError, ValueError):
                stream.reconfigure(errors=_REPLACING)
    with contextlib.redirect_stdout(_StandardOutput(sys.stdout, is_closed)):
        yield


class _StandardOutput:
    """Standard output, whose errors name it; a pipe that is not read is left to the caller."""

    def __init__(self, stream: TextIO, is_closed: bool) -> None:
        self._stream, self._is_closed = stream, is_closed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with _naming_output():
            if text and self._is_closed:
                raise OSError(errno.EBADF, "it is closed")
            return self._stream.write(text)

    def flush(self) -> None:
        with _naming_output():
            self._stream.flush()


@contextlib.contextmanager
def _naming_output() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as why:
        raise Failure(f"standard output cannot be written: {why.strerror or why}.") from why


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


def refuse_inputs(place: Path, inputs: Inputs) -> None:
    """Refuse to write to a file or folder that the command reads."""
    for name, given in inputs.items():
        if given is None:
            continue
        # One of them does not exist, is no valid name, or is a link to itself.
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            which = _part_read(place, Path(given).expanduser())
            if which:
                raise WrongUse(
                    f"{str(place)!r} is {which.format(name)}; name another place for the output."
                )


def _part_read(place: Path, source: Path) -> str:
    """Which part of the source a place is, also by links; "" if it is none."""
    from gramlet.files.kinds import kind_of
    from gramlet.files.tu.members import is_tu

    archives = (parent for parent in source.parents if parent.is_file())
    if any(place.samefile(path) for path in (source, *archives) if path.exists()):
        return "{} itself"
    if not place.is_file() or place.resolve(strict=True).parent != source.resolve():
        return ""
    is_member = place.suffix == ".txt" if is_tu(source) else kind_of(place) is not None
    return "a file of {}" if is_member else ""


def check_place(path: Path, endings: Sequence[str] = (), *, inputs: Inputs) -> Path:
    """Refuse a file that cannot be written, or that the command reads, before any work is done."""
    refuse_inputs(path, inputs)
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
