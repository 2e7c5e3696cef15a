"""Opening files: plain or gzip, as bytes or as text, within a limit of size; what cannot be read.

Every failure becomes one ValueError that names the file. The readers of each format interpret the
contents, and report rows and graphs that cannot be used to `Problems`.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal, TextIO

from gramlet.common.notices import counted, warn_caller
from gramlet.files.dataset import DatasetNotFoundError, Skipped

DEFAULT_MAX_BYTES = 4 * 2**30

_GZIP_MARK = b"\x1f\x8b"
_ESCAPED = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8, as `open_text` has them


class _Limited(io.RawIOBase):
    """A stream that raises if more bytes than allowed are read."""

    def __init__(self, source: BinaryIO, path: Path, max_bytes: int) -> None:
        self._source = source
        self._path = path
        self._max_bytes = max_bytes
        self._left = max_bytes

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._max_bytes - self._left

    def readinto(self, buffer: Any) -> int:
        piece = self._source.read(len(buffer))
        self._left -= len(piece)
        if self._left < 0:
            raise ValueError(
                f"{self._path} has more than {self._max_bytes:,} bytes, unpacked. If you trust "
                "the file, raise max_bytes."
            )
        buffer[: len(piece)] = piece
        return len(piece)


@contextlib.contextmanager
def open_bytes(path: Path, max_bytes: int = DEFAULT_MAX_BYTES) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked if it is packed with gzip."""
    if not path.is_file():
        raise DatasetNotFoundError(f"There is no file {path}.")
    try:
        with contextlib.ExitStack() as stack:
            plain: Any = stack.enter_context(path.open("rb"))
            if plain.peek(2)[:2] == _GZIP_MARK:
                plain = stack.enter_context(gzip.GzipFile(fileobj=plain))
            yield io.BufferedReader(_Limited(plain, path, max_bytes), 1 << 16)
    except (EOFError, zlib.error, gzip.BadGzipFile) as why:
        raise ValueError(
            f"{path} is not a complete gzip file ({why}). Is it truncated? Get it again."
        ) from why


@contextlib.contextmanager
def open_text(path: Path, max_bytes: int = DEFAULT_MAX_BYTES) -> Iterator[TextIO]:
    """The text of a file in UTF-8, with or without a byte order mark; line ends are unchanged.

    `text_problem` finds bytes that are not UTF-8, row by row.
    """
    with open_bytes(path, max_bytes) as stream:
        yield io.TextIOWrapper(stream, "utf-8-sig", newline="", errors="surrogateescape")


def read_text(path: Path, max_bytes: int = DEFAULT_MAX_BYTES) -> str:
    """The whole text of a file; bytes that are not UTF-8 are an error that names the line."""
    with open_bytes(path, max_bytes) as stream:
        content = stream.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as why:
        line = content.count(b"\n", 0, why.start) + 1
        raise ValueError(f"{path}, line {line}: {_not_text(content[why.start])}.") from None


def text_problem(text: str) -> str | None:
    r"""What is wrong with a text of `open_text` that was not valid UTF-8, or None.

    >>> text_problem("Äpfel")
    >>> text_problem(b"\xc4pfel".decode("utf-8", "surrogateescape"))
    'this is not text in UTF-8 (byte 0xc4); save the file as UTF-8'
    """
    escaped = None if text.isascii() else _ESCAPED.search(text)
    return _not_text(ord(escaped[0]) - 0xDC00) if escaped else None


def _not_text(byte: int) -> str:
    return f"this is not text in UTF-8 (byte 0x{byte:02x}); save the file as UTF-8"


def brief(why: BaseException) -> str:
    """The message of another library on one line, shortened, since it may quote the file."""
    return " ".join(str(why).split())[:200] or type(why).__name__


OnError = Literal["raise", "skip"]


class Problems:
    """The rows, graphs or files that a reader could not use, and why.

    Parameters
    ----------
    on_error : "raise" or "skip"
    of_block : bool
        Whether these are the rows of one block of a file, whose reader counts over the whole file:
        then there is no warning, and a block without any readable row is not an error.
    """

    def __init__(self, on_error: str, of_block: bool = False) -> None:
        if on_error not in ("raise", "skip"):
            raise ValueError(f'on_error must be "raise" or "skip"; got {on_error!r}.')
        self._raises = on_error == "raise"
        self._of_block = of_block
        self.skipped: list[Skipped] = []

    def add(self, place: str, reason: str) -> None:
        """List a problem."""
        self.skipped.append(Skipped(place, reason))

    def check(self) -> None:
        """Raise the first problem, with the number of the others, unless problems are skipped."""
        if not self.skipped or not self._raises:
            return
        first, others = self.skipped[0], len(self.skipped) - 1
        end = "" if first.reason.endswith("?") else "."
        more = f"; {others:,} more cannot be read" if others else ""
        raise ValueError(
            f'{first}{end} Correct it, or leave it out with on_error="skip" (--on-error skip)'
            f"{more}."
        )

    def finish(self, path: object, n_read: int, noun: str) -> list[Skipped]:
        """Everything that was left out; warn once with the count. Raise if nothing can be read."""
        self.check()
        if not self.skipped or self._of_block:
            return self.skipped
        total = counted(n_read + len(self.skipped), noun)
        first = self.skipped[0]
        if not n_read:
            raise ValueError(f"{path}: none of {total} can be read; the first is {first}.")
        warn_caller(
            f"{path}: {len(self.skipped):,} of {total} were left out, the first at {first}. The "
            "field 'skipped' lists them."
        )
        return self.skipped
