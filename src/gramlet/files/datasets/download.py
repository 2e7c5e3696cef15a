"""Downloading an archive of the TU collection into the cache, with limits of time and size.

An archive is downloaded under a temporary name and renamed when it is complete and checked, so that
several processes can download the same one at once.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from gramlet._version import __version__
from gramlet.common.safe_writing import writing
from gramlet.files.tu.members import open_tu

if TYPE_CHECKING:
    import http.client

BASE_URL = "https://www.chrsmrrs.com/graphkerneldatasets"

_CHUNK = 1 << 16
_DIGEST_ROLES = (
    "A",
    "graph_indicator",
    "graph_labels",
    "node_labels",
    "edge_labels",
    "node_attributes",
)


class DownloadError(OSError):
    """A download failed, and another attempt would not help."""


class _PassingError(Exception):
    """A temporary failure, after which another attempt is made."""


def digest_of(archive: Path) -> str:
    """SHA-256 over the data files of an archive, independent of packing and of other files."""
    files = open_tu(archive)
    total = hashlib.sha256()
    for role in _DIGEST_ROLES:
        if files.has(role):
            content = files.read(files.file_name(role)).replace(b"\r\n", b"\n")
            total.update(f"{role} {hashlib.sha256(content).hexdigest()}\n".encode())
    return total.hexdigest()


def fetch(
    url: str,
    place: Path,
    *,
    digest: str | None = None,
    timeout: float = 30.0,
    deadline: float = 1800.0,
    retries: int = 2,
    pause: float = 1.0,
    max_bytes: int = 2**30,
) -> Path:
    """Download a TU archive to ``place``, unless it exists already.

    Parameters
    ----------
    url : str
    place : Path
        The file to create; its folder is created if necessary.
    digest : str, optional
        The expected result of :func:`digest_of`.
    timeout : float
        Seconds to wait for an answer, or for the next piece of it.
    deadline : float
        Seconds for one whole attempt, a limit for servers that send slowly.
    retries : int
        Further attempts after a temporary failure (no answer, connection lost, server error), with
        increasing pauses that start at ``pause`` seconds.
    max_bytes : int
        The largest size that is accepted.
    """
    if place.is_file():
        return place
    if not url.startswith(("http://", "https://")):
        raise DownloadError(f"{url} is neither an http nor an https address.")
    place.parent.mkdir(parents=True, exist_ok=True)
    with writing(place) as fresh:
        _with_retries(lambda: _receive(url, fresh, timeout, deadline, max_bytes), retries, pause)
        _check(url, fresh, digest)
    return place


def _with_retries(attempt: Callable[[], None], retries: int, pause: float) -> None:
    for left in range(retries, -1, -1):
        try:
            return attempt()
        except _PassingError as why:
            if not left:
                raise DownloadError(str(why)) from why
            time.sleep(pause)
            pause *= 2
    return None


def _receive(url: str, place: Path, timeout: float, deadline: float, max_bytes: int) -> None:
    """One attempt: write the body of the answer to ``place``."""
    # Imported here: most programs read data that are there.
    import http.client
    import urllib.error
    import urllib.request

    request = urllib.request.Request(url, headers={"User-Agent": f"gramlet/{__version__}"})
    give_up = time.monotonic() + deadline
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer, place.open("wb") as file:
            announced = int(answer.headers.get("Content-Length") or -1)
            if announced > max_bytes:
                raise DownloadError(_too_large(url, announced, max_bytes))
            received = _copy(url, answer, file, announced, give_up, max_bytes)
    except urllib.error.HTTPError as why:
        kind = _PassingError if why.code >= 500 or why.code in (408, 429) else DownloadError
        raise kind(f"{url} answers {why.code} {why.reason}.") from why
    except TimeoutError as why:
        raise _PassingError(f"{url} did not answer within {timeout:g} seconds.") from why
    except (urllib.error.URLError, ConnectionError, http.client.HTTPException) as why:
        reason = getattr(why, "reason", None) or why
        raise _PassingError(f"{url} cannot be reached ({reason}).") from why
    if announced >= 0 and received != announced:
        raise _PassingError(f"{url} was cut off after {received:,} of {announced:,} bytes.")


def _copy(
    url: str,
    answer: http.client.HTTPResponse,
    file: BinaryIO,
    announced: int,
    give_up: float,
    max_bytes: int,
) -> int:
    received = 0
    with _progress(url, announced) as advance:
        # read1 returns what has arrived, so that a slow server cannot exceed the deadline.
        while piece := answer.read1(_CHUNK):
            received += len(piece)
            if received > max_bytes:
                raise DownloadError(_too_large(url, received, max_bytes))
            if time.monotonic() > give_up:
                raise _PassingError(f"{url} is too slow: {received:,} bytes arrived in time.")
            file.write(piece)
            advance(len(piece))
    return received


def _too_large(url: str, size: int, limit: int) -> str:
    return f"{url} is larger than expected: {size:,} bytes or more; the limit is {limit:,}."


@contextlib.contextmanager
def _progress(url: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda n_bytes: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"Downloading {url}", total=total if total > 0 else None)
        yield lambda n_bytes: bar.advance(task, n_bytes)


def _check(url: str, archive: Path, digest: str | None) -> None:
    try:
        found = digest_of(archive)
    except ValueError as why:
        reason = str(why).replace(str(archive), url)
        raise DownloadError(f"The answer of {url} is not a TU archive: {reason}") from why
    if digest is not None and found != digest:
        raise DownloadError(
            f"The answer of {url} is not the known data set: the SHA-256 of its files is {found}, "
            f"expected {digest}."
        )
