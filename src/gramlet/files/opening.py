"""Opening files: plain or gzip, as bytes or as text, within a limit of size.

Every failure becomes one ValueError that names the file. The readers of each format interpret the
contents.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from gramlet.files.dataset import DatasetNotFoundError

__all__ = ["DEFAULT_MAX_BYTES", "is_text", "open_bytes", "open_text"]

DEFAULT_MAX_BYTES = 4 * 2**30

_GZIP_MARK = b"\x1f\x8b"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


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
def open_text(
    path: Path, max_bytes: int = DEFAULT_MAX_BYTES, errors: str = "strict"
) -> Iterator[TextIO]:
    """The text of a file in UTF-8, with or without a byte order mark; line ends are unchanged.

    With ``errors="surrogateescape"``, `is_text` finds bytes that are not UTF-8, row by row.
    """
    with open_bytes(path, max_bytes) as stream:
        text = io.TextIOWrapper(stream, encoding="utf-8-sig", newline="", errors=errors)
        try:
            yield text
        except UnicodeDecodeError as why:
            raise ValueError(_not_utf8(path, why, max_bytes)) from None


def _not_utf8(path: Path, why: UnicodeDecodeError, max_bytes: int) -> str:
    """The message for a file that is not UTF-8: with the line, or that it is UTF-16."""
    found = why.reason
    with open_bytes(path, max_bytes) as stream:
        for number, line in enumerate(stream, start=1):
            if number == 1 and line[:2] in _UTF16_MARKS:
                found = "it begins as UTF-16 does"
                break
            try:
                line.decode()
            except UnicodeDecodeError as here:
                byte = f"byte 0x{here.object[here.start : here.start + 1].hex()}: {here.reason}"
                place = f"{path}, line {number}"
                return f"{place}: this is not text in UTF-8 ({byte}). Save it as UTF-8."
    return f"{path} is not a text file in UTF-8 ({found}). Save it as UTF-8."


def is_text(text: str) -> bool:
    r"""Whether a text that was read with ``errors="surrogateescape"`` was valid UTF-8.

    >>> is_text("Äpfel"), is_text(b"\xc4pfel".decode("utf-8", "surrogateescape"))
    (True, False)
    """
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
