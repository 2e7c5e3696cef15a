"""The files of a TU data set: in a folder, a zip archive, or among other files.

Finds and names them, and reads their bytes within a limit of size. Archives are read in pieces and
never unpacked to disk. `text`, `graphs` and `dataset` interpret the contents.
"""

from __future__ import annotations

import contextlib
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from gramlet.files.dataset import DatasetNotFoundError
from gramlet.files.kinds import kind_of
from gramlet.files.opening import DEFAULT_MAX_BYTES, brief, open_bytes

_INDICATOR = "_graph_indicator.txt"
_EDGES = "_A.txt"
_GZIP = ".gz"
_README = "README.txt"
# The names of the files of a data set, after its own name.
_MEMBERS = (
    _EDGES,
    _INDICATOR,
    "_graph_labels.txt",
    "_graph_attributes.txt",
    "_node_labels.txt",
    "_node_attributes.txt",
    "_edge_labels.txt",
    "_edge_attributes.txt",
    "_label_readme.txt",
    "_gramlet.json",
)
_LONGEST_README = 1 << 20
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    RuntimeError,
    NotImplementedError,
    OSError,
    UnicodeDecodeError,
    struct.error,
)


class TUFiles:
    """The files of one data set by their role (``"A"``, ``"graph_labels"``, ...).

    Parameters
    ----------
    name : str
        The data set's name, with which the files' names begin.
    paths : dict of str to Path or str
        A folder's files by file name; or, with ``archive``, the archive's members.
    archive : Path, optional
    max_bytes : int
        The largest total size of all files that are read.
    """

    def __init__(
        self, name: str, paths: Mapping[str, Path | str], archive: Path | None, max_bytes: int
    ) -> None:
        self.name = name
        self._paths = paths
        self._archive = archive
        self._max_bytes = max_bytes
        self._read_bytes = 0

    def file_name(self, role: str) -> str:
        """The name of the file with a role: ``NAME_role.txt``."""
        return f"{self.name}_{role}.txt"

    def location(self, file: str) -> str:
        """The expected place of a file, for messages."""
        if self._archive is not None:
            return f"{self._archive}: {file}"
        return str(self._folder() / file)

    def has(self, role: str) -> bool:
        """Whether the data set has a file with this role."""
        return self.file_name(role) in self._paths

    def has_file(self, file: str) -> bool:
        """Whether the data set has a file of this name."""
        return file in self._paths

    @contextlib.contextmanager
    def open(self, role: str) -> Iterator[BinaryIO]:
        """A stream of the bytes of a required file."""
        if not self.has(role):
            raise DatasetNotFoundError(
                f"{self.location(self.file_name(role))} is missing; a TU data set needs it."
            )
        with self._open_file(self.file_name(role)) as stream:
            yield stream

    def read(self, file: str, most: int = -1) -> bytes:
        """The bytes of a file by its name, up to a limit if given."""
        with self._open_file(file) as stream:
            return stream.read(most)

    def readmes(self) -> list[str]:
        """The text of every file that describes the data set or names labels."""
        files = [f for f in (_README, f"{self.name}_label_readme.txt") if f in self._paths]
        texts = [self.read(file, _LONGEST_README).decode("utf-8", "replace") for file in files]
        return [text.replace("\r\n", "\n") for text in texts]

    def _folder(self) -> Path:
        return Path(next(iter(self._paths.values()))).parent

    def _account(self, n_bytes: int, file: str) -> None:
        self._read_bytes += n_bytes
        if self._read_bytes > self._max_bytes:
            raise ValueError(
                f"{self.location(file)}: with this file the data set has {self._read_bytes:,} "
                f"bytes; the limit is {self._max_bytes:,}. If you trust the file, raise max_bytes."
            )

    @contextlib.contextmanager
    def _open_file(self, file: str) -> Iterator[BinaryIO]:
        if self._archive is None:
            path = Path(self._paths[file])
            if path.suffix == _GZIP:
                with open_bytes(path, self._max_bytes - self._read_bytes) as unpacked:
                    yield unpacked
                    self._account(unpacked.tell(), file)
                return
            self._account(path.stat().st_size, file)
            with path.open("rb") as stream:
                yield stream
            return
        member = str(self._paths[file])
        try:
            with zipfile.ZipFile(self._archive) as archive:
                self._account(archive.getinfo(member).file_size, file)
                # Reading stops at the declared size, whatever the archive contains.
                with archive.open(member) as packed:
                    yield packed  # type: ignore[misc]
        except DatasetNotFoundError:
            raise
        except _DAMAGE as why:
            raise ValueError(
                f"{self._archive}: {_plain_name(member)} cannot be read ({brief(why)}). "
                "The archive is damaged, encrypted or of an unknown kind: get it again."
            ) from why


def open_tu(path: str | Path, max_bytes: int = DEFAULT_MAX_BYTES) -> TUFiles:
    """Find the files of the data set that ``path`` names.

    ``path`` is a folder with the files (or with a subfolder of the same name, or ``raw``, that
    contains them), a zip archive, with or without the ``.zip``, or the common beginning of the
    files' names: ``folder/NAME`` or ``archive.zip/NAME``.
    """
    path = Path(path).expanduser()
    if path.is_file():
        return _open_archive(path, path.stem, max_bytes)
    if _in_archive(path):
        return _open_archive(path.parent, path.name, max_bytes, named=True)
    if path.is_dir():
        for folder in (path, path / path.name, path / "raw"):
            found = _by_name(folder)
            if any(name.endswith(_INDICATOR) for name in found):
                return TUFiles(_dataset_name(found, path.name, path), found, None, max_bytes)
        raise DatasetNotFoundError(
            f"{path} holds no TU data set: there is no file that ends in {_INDICATOR}."
        )
    archive = path.with_name(path.name + ".zip")
    if archive.is_file():
        return _open_archive(archive, path.name, max_bytes)
    if _begins_names(path):
        return TUFiles(path.name, _by_name(path.parent), None, max_bytes)
    raise DatasetNotFoundError(
        f"{path} does not exist, nor does {archive.name} beside it. "
        "Give the folder or the zip archive of a TU data set."
    )


def _by_name(folder: Path) -> dict[str, Path]:
    """The files of a folder by name; packed files by the name without the ending."""
    files = [file for file in sorted(folder.glob("*")) if file.is_file()]
    packed = {file.name.removesuffix(_GZIP): file for file in files if file.suffix == _GZIP}
    return packed | {file.name: file for file in files if file.suffix != _GZIP}


def is_tu(path: Path) -> bool:
    """Whether a path that is not a file names a TU data set: a folder, or the beginning of names.

    A folder with edges counts as one even if other files are missing: its reader names them. So
    does every name in an archive.
    """
    if path.is_dir():
        folders = (path, path / path.name, path / "raw")
        return any(
            name.endswith((_INDICATOR, _EDGES)) for folder in folders for name in _by_name(folder)
        )
    archive = path.with_name(path.name + ".zip")
    return archive.is_file() or _in_archive(path) or _begins_names(path)


def foreign_files(folder: Path) -> list[str]:
    """The names of everything in a folder that is not part of its one data set, sorted.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("SET_A.txt", "SET_graph_indicator.txt", "README.txt", "diary.txt"):
    ...         Path(folder, name).touch()
    ...     foreign_files(Path(folder))
    ['diary.txt']
    """
    names = {file.name: file.is_file() for file in folder.iterdir()}
    datasets = [name.removesuffix(_INDICATOR) for name in names if name.endswith(_INDICATOR)]
    known = {datasets[0] + end for end in _MEMBERS} | {_README} if len(datasets) == 1 else set()
    return sorted(name for name, is_file in names.items() if not is_file or name not in known)


def _in_archive(path: Path) -> bool:
    """Whether a path names a data set in a zip archive: ``archive.zip/NAME``."""
    return kind_of(path.parent) == ".zip" and path.parent.is_file()


def _begins_names(path: Path) -> bool:
    """Whether a path is the common beginning of the files' names."""
    return any(path.with_name(path.name + _INDICATOR + end).is_file() for end in ("", _GZIP))


def _dataset_name(files: Iterable[str], likely: str, path: Path) -> str:
    names = sorted(f.removesuffix(_INDICATOR) for f in files if f.endswith(_INDICATOR))
    if likely in names:
        return likely
    if len(names) > 1:
        raise ValueError(
            f"{path} contains {len(names)} data sets ({', '.join(names)}); name one of them: "
            f"{path / names[0]}."
        )
    return names[0]


def _open_archive(path: Path, likely: str, max_bytes: int, named: bool = False) -> TUFiles:
    """The files of the data set that is probably, or if ``named`` certainly, called ``likely``."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = [i.filename for i in archive.infolist() if i.filename and not i.is_dir()]
    except _DAMAGE as why:
        raise ValueError(
            f"{path} is not a readable zip archive ({brief(why)}). Is the file truncated? Get it "
            "again."
        ) from why
    for member in members:
        _refuse_escape(member, path)
    by_place: dict[PurePosixPath, str] = {}
    for member in members:
        if _is_litter(member):
            continue
        if by_place.setdefault(_plain_name(member), member) != member:
            raise ValueError(
                f"{path}: {_plain_name(member)} occurs twice, as {member!r} and as "
                f"{by_place[_plain_name(member)]!r}; remove one of them."
            )
    homes = {place.name: place for place in sorted(by_place) if place.name.endswith(_INDICATOR)}
    if not homes:
        raise DatasetNotFoundError(
            f"{path} holds no TU data set: there is no file that ends in {_INDICATOR}."
        )
    if named and likely + _INDICATOR not in homes:
        there = ", ".join(home.removesuffix(_INDICATOR) for home in homes)
        raise DatasetNotFoundError(f"{path} has no data set {likely!r}; it has {there}.")
    name = _dataset_name(homes, likely, path)
    folder = homes[name + _INDICATOR].parent
    inside = {place.name: m for place, m in by_place.items() if place.parent == folder}
    return TUFiles(name, inside, path, max_bytes)


def _plain_name(member: str) -> PurePosixPath:
    """A member's name in one spelling: ``X//X_A.txt``, ``./X/X_A.txt`` and ``X\\X_A.txt`` agree."""
    return PurePosixPath(member.replace("\\", "/"))


def _refuse_escape(member: str, archive: Path) -> None:
    plain = member.replace("\\", "/")
    if plain.startswith("/") or re.match(r"^[A-Za-z]:", plain) or ".." in plain.split("/"):
        raise ValueError(
            f"Refusing to read {archive}: the member {member!r} points outside the archive's "
            "folder."
        )


def _is_litter(member: str) -> bool:
    """Whether a member is one that some systems add to archives."""
    place = _plain_name(member)
    return place.parts[:1] == ("__MACOSX",) or place.name.startswith("._")
