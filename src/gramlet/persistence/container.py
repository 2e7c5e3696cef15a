"""The file of a saved model: a sealed zip archive of one JSON member and arrays.

Sealed means that the archive ends in the SHA-256 of everything before: a file that was truncated or
changed anywhere is refused before anything in it is read. Files are written under a temporary name
and renamed, so that an interrupted write leaves the old file unchanged. `encoding` and `decoding`
interpret the members.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import stat
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from gramlet.common.arrays import Array
from gramlet.common.safe_writing import writing
from gramlet.persistence.limits import (
    DEEPEST_JSON,
    MOST_VALUES,
    TIGHTEST,
    TIGHTEST_MANIFEST,
    WIDEST_EMPTY,
)

__all__ = ["ModelFileError", "plain_dtype", "read_container", "write_container"]

_MANIFEST = "manifest.json"
_ARRAY_NAME = re.compile(r"arrays/(0|[1-9][0-9]{0,8})\.npy")
_TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_SEAL = b"gramlet sha256 "
_SEAL_LENGTH = len(_SEAL) + 64
_BLOCK = 1 << 20


class ModelFileError(ValueError):
    """A file that `gramlet.load` refuses: foreign, damaged, or of a later format."""


def plain_dtype(dtype: np.dtype[Any]) -> bool:
    """Whether an array of this type consists of its bytes only: numbers, text, dates, records."""
    return not dtype.hasobject and dtype.kind in "biufcSUmMV"


# Writing


def write_container(path: str | os.PathLike[str], manifest: Any, arrays: Sequence[Any]) -> None:
    """Write the JSON value ``manifest`` and the arrays to ``path``, completely or not at all."""
    target = _writable(path)
    with writing(target) as part, open(part, "x+b") as file:
        _write_archive(file, manifest, arrays)
        _seal(file)


def _writable(path: str | os.PathLike[str]) -> Path:
    # A link is kept: the file it points to is replaced.
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(
            f"gramlet.save: {os.fspath(path)!r} is a folder. Give the name of a file in it."
        )
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"gramlet.save: the folder {str(target.parent)!r} does not exist. Create it first."
        )
    return target


def _write_archive(file: IO[bytes], manifest: Any, arrays: Sequence[Array]) -> None:
    text = json.dumps(manifest, allow_nan=False, separators=(",", ":")).encode("ascii")
    with zipfile.ZipFile(file, "w") as archive:
        _write_member(archive, _MANIFEST, text)
        for number, array in enumerate(arrays):
            _write_member(archive, f"arrays/{number}.npy", array)
        archive.comment = _SEAL + b"0" * 64


def _write_member(archive: zipfile.ZipFile, name: str, content: bytes | Array) -> None:
    trial = _Trial()
    _write_content(trial, content)
    # A fixed date, so that equal models give equal files.
    member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    member.external_attr = 0o644 << 16
    tightest = TIGHTEST_MANIFEST if name == _MANIFEST else TIGHTEST
    worth_it = trial.packed < 0.9 * trial.size and trial.size <= tightest * trial.packed
    member.compress_type = zipfile.ZIP_DEFLATED if worth_it else zipfile.ZIP_STORED
    member._compresslevel = _Trial.level  # type: ignore[attr-defined]
    with archive.open(member, "w", force_zip64=trial.size >= 1 << 31) as stream:
        _write_content(stream, content)


def _write_content(stream: Any, content: bytes | Array) -> None:
    if isinstance(content, bytes):
        stream.write(content)
    else:
        np.lib.format.write_array(stream, content, allow_pickle=False)


class _Trial:
    """A stream that measures the length of what is written to it, plain and compressed."""

    level = 1

    def __init__(self) -> None:
        self._squeezer = zlib.compressobj(self.level, zlib.DEFLATED, -15)
        self.size = 0
        self._packed = 0

    def write(self, block: Any) -> None:
        self.size += memoryview(block).nbytes
        self._packed += len(self._squeezer.compress(block))

    @property
    def packed(self) -> int:
        return self._packed + len(self._squeezer.copy().flush())


def _seal(file: IO[bytes]) -> None:
    end = file.seek(0, os.SEEK_END)
    digest = _digest(file, end - 64)
    file.seek(end - 64)
    file.write(digest)


def _digest(file: IO[bytes], length: int) -> bytes:
    """The SHA-256 of the first ``length`` bytes, in hexadecimal."""
    digest = hashlib.sha256()
    file.seek(0)
    while length > 0:
        block = file.read(min(_BLOCK, length))
        if not block:
            break
        digest.update(block)
        length -= len(block)
    return digest.hexdigest().encode("ascii")


# Reading


def read_container(path: str | os.PathLike[str]) -> tuple[Any, list[Array]]:
    """The manifest and the arrays of a file; raise `ModelFileError` for anything wrong."""
    with open(path, "rb") as file:
        _check_seal(file, path)
        try:
            with zipfile.ZipFile(file) as archive:
                return _read_members(archive, os.fstat(file.fileno()).st_size)
        except Exception as error:
            raise ModelFileError(f"{os.fspath(path)!r} cannot be read: {error}") from error


def _check_seal(file: IO[bytes], path: str | os.PathLike[str]) -> None:
    name = os.fspath(path)
    if file.read(4) != b"PK\x03\x04":
        raise ModelFileError(
            f"{name!r} is not a model that gramlet.save wrote: it is not a zip archive."
        )
    length = file.seek(0, os.SEEK_END)
    file.seek(max(0, length - _SEAL_LENGTH))
    seal = file.read()
    if not seal.startswith(_SEAL):
        raise ModelFileError(
            f"{name!r} is not a model that gramlet.save wrote, or its end is missing: there is no "
            "checksum where one should be. If it was copied, copy it again."
        )
    if _digest(file, length - 64) != seal[len(_SEAL) :]:
        raise ModelFileError(
            f"{name!r} is damaged: its content does not match its checksum. Copy it again, or save "
            "the model again."
        )
    file.seek(0)


def _read_members(archive: zipfile.ZipFile, file_size: int) -> tuple[Any, list[Array]]:
    members = archive.infolist()
    numbers = _numbers_of([member.filename for member in members])
    for member in members:
        _check_member(member)
    claimed = sum(member.file_size for member in members)
    if claimed > TIGHTEST * file_size:
        raise ModelFileError(
            f"it declares {claimed} bytes in a file of {file_size}, which no saved model does."
        )
    manifest = _parse(archive.read(_MANIFEST))
    return manifest, [_array(archive.read(f"arrays/{number}.npy")) for number in numbers]


def _check_member(member: zipfile.ZipInfo) -> None:
    """Refuse members that no saved model has, before any of them is unpacked."""
    name = member.filename
    if member.flag_bits & 0x1:
        raise ModelFileError(f"its member {name!r} is encrypted.")
    if member.is_dir() or stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG):
        raise ModelFileError(f"its member {name!r} is a link or a folder, not a file.")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ModelFileError(f"its member {name!r} is compressed by an unsupported method.")
    tightest = TIGHTEST_MANIFEST if name == _MANIFEST else TIGHTEST
    if member.file_size > tightest * max(member.compress_size, 1):
        raise ModelFileError(
            f"its member {name!r} declares {member.file_size} bytes in "
            f"{member.compress_size}, which no saved model does."
        )


def _numbers_of(names: list[str]) -> range:
    """The numbers of the arrays, which must be ``arrays/0.npy`` and so on, and nothing else."""
    if _MANIFEST not in names:
        raise ModelFileError(f"it has no {_MANIFEST}; gramlet.save did not write it.")
    for name in names:
        if name != _MANIFEST and not _ARRAY_NAME.fullmatch(name):
            raise ModelFileError(f"it has a member {name!r} that no saved model has.")
    if set(names) != {_MANIFEST, *(f"arrays/{i}.npy" for i in range(len(names) - 1))}:
        raise ModelFileError("its arrays are not numbered from 0 on, each once.")
    return range(len(names) - 1)


def _parse(text: bytes) -> Any:
    def refuse(constant: str) -> Any:
        raise ModelFileError(f"{_MANIFEST} contains {constant}, which is not valid JSON.")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        if len(fields) != len(pairs):
            raise ModelFileError(f"{_MANIFEST} contains a name twice in one place.")
        return fields

    _check_extent(text)
    return json.loads(text.decode("ascii"), parse_constant=refuse, object_pairs_hook=once)


def _check_extent(text: bytes) -> None:
    """Check the depth and the number of values of JSON before it is converted to objects."""
    bare = np.frombuffer(_TEXT.sub(b"", text), dtype=np.uint8)
    steps = np.zeros(256, dtype=np.int8)
    steps[[ord("["), ord("{")]] = 1
    steps[[ord("]"), ord("}")]] = -1
    n_values = 0
    depth = 0
    for at in range(0, len(bare), _BLOCK):
        block = bare[at : at + _BLOCK]
        depths = depth + np.cumsum(steps[block], dtype=np.int64)
        if depths.max(initial=0) > DEEPEST_JSON:
            raise ModelFileError(f"{_MANIFEST} is nested too deeply.")
        depth = int(depths[-1])
        n_values += int(np.isin(block, [ord(","), ord("["), ord("{")]).sum())
    # A value of the tree takes up to two JSON values: its tag and itself.
    if n_values > 4 * MOST_VALUES:
        raise ModelFileError(f"{_MANIFEST} contains {n_values} values, which no saved model does.")


def _array(content: bytes) -> Array:
    """The array of an ``.npy`` member, with its header checked against the number of bytes."""
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise ModelFileError(f"an array is in version {version} of the npy format.")
    shape, by_columns, dtype = readers[version](stream)
    if not plain_dtype(dtype):
        raise ModelFileError("an array contains Python objects; only plain arrays are read.")
    begin = stream.tell()
    if math.prod(extent or 1 for extent in shape) > WIDEST_EMPTY and 0 in shape:
        raise ModelFileError(f"an array of shape {shape} has no entries.")
    if (
        dtype.itemsize == 0
        or any(extent < 0 for extent in shape)
        or (math.prod(shape) * dtype.itemsize != len(content) - begin)
    ):
        raise ModelFileError(f"an array of shape {shape} does not have the right number of bytes.")
    array = np.empty(shape, dtype, order="F" if by_columns else "C")
    if array.nbytes:
        flat = np.frombuffer(content, dtype, offset=begin)
        array[...] = flat.reshape(shape, order="F" if by_columns else "C")
    return array
