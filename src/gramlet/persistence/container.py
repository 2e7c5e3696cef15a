"""The file of a saved model: a zip archive of ``manifest.json`` and ``arrays/0.npy``, ….

Members are stored without compression, so that a file never declares more bytes than it has. The
archive is written under a temporary name and renamed: an interrupted write leaves the old file
unchanged. zip's checksums detect accidental damage of the members.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from gramlet.common.arrays import Array
from gramlet.common.safe_writing import writing

_MANIFEST = "manifest.json"
# Archives of gramlet before format 3 have this comment.
_OLDER = b"gramlet sha256 "
# Arrays without entries take no bytes, whatever their shape.
_WIDEST_EMPTY = 1 << 24
_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


class ModelFileError(ValueError):
    """A file that `gramlet.load` refuses: foreign, damaged, or of another format."""


def is_plain(dtype: np.dtype[Any]) -> bool:
    """Whether an array of this type consists of its bytes only: numbers or text."""
    return dtype.kind in "biufcSU"


def write_container(path: str | os.PathLike[str], manifest: Any, arrays: Sequence[Array]) -> None:
    """Write the JSON value ``manifest`` and the arrays to ``path``, completely or not at all."""
    text = json.dumps(manifest, allow_nan=False, separators=(",", ":"))
    with writing(path) as part, zipfile.ZipFile(part, "x") as archive:
        archive.writestr(_member(_MANIFEST), text)
        for number, array in enumerate(arrays):
            member, large = _member(f"arrays/{number}.npy"), array.nbytes >= 1 << 30
            with archive.open(member, "w", force_zip64=large) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)


def _member(name: str) -> zipfile.ZipInfo:
    # Members have a fixed date, so that equal models give equal files.
    member = zipfile.ZipInfo(name)
    member.external_attr = 0o644 << 16
    return member


def read_container(path: str | os.PathLike[str]) -> tuple[Any, list[Array]]:
    """The manifest and the arrays of a file; raise `ModelFileError` for anything wrong."""
    name = os.fspath(path)
    with open(path, "rb") as file:
        if file.read(4) != b"PK\x03\x04":
            raise ModelFileError(
                f"{name!r} is not a model that gramlet.save wrote: it is not a zip archive."
            )
        try:
            with zipfile.ZipFile(file) as archive:
                return _read_members(archive, os.fstat(file.fileno()).st_size)
        except Exception as error:
            raise ModelFileError(f"{name!r} cannot be read: {error}") from error


def _read_members(archive: zipfile.ZipFile, file_size: int) -> tuple[Any, list[Array]]:
    if archive.comment.startswith(_OLDER):
        raise ModelFileError(
            "it was written by an earlier gramlet, in a format that is no longer read. Load it "
            "with the gramlet that wrote it, or fit and save the model again."
        )
    members = {member.filename: member for member in archive.infolist()}
    names = [f"arrays/{number}.npy" for number in range(len(archive.infolist()) - 1)]
    if set(members) != {_MANIFEST, *names}:
        raise ModelFileError(
            f"gramlet.save did not write it: a model has the members {_MANIFEST}, arrays/0.npy, "
            "arrays/1.npy and so on, each once."
        )
    for member in members.values():
        if member.compress_type != zipfile.ZIP_STORED or member.file_size != member.compress_size:
            raise ModelFileError(f"its member {member.filename!r} is compressed; no model's is.")
    claimed = sum(member.file_size for member in members.values())
    if claimed > file_size:
        raise ModelFileError(f"it declares {claimed} bytes in a file of {file_size}.")
    manifest = _parsed(archive.read(_MANIFEST))
    return manifest, [_array(archive, members[name]) for name in names]


def _parsed(text: bytes) -> Any:
    def refuse(constant: str) -> Any:
        raise ModelFileError(f"{_MANIFEST} contains {constant}, which is not valid JSON.")

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ModelFileError(f"{_MANIFEST} contains a name twice in one place.")
        return dict(pairs)

    return json.loads(text.decode("ascii"), parse_constant=refuse, object_pairs_hook=once)


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Array:
    """The array of an ``.npy`` member, whose header is checked before memory is taken."""
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        if version not in _HEADERS:
            raise ModelFileError(f"an array is in version {version} of the npy format.")
        shape, by_columns, dtype = _HEADERS[version](stream)
        if not is_plain(dtype):
            raise ModelFileError(f"an array of type {dtype} is neither numbers nor text.")
        n_bytes = math.prod(shape) * dtype.itemsize
        if (
            dtype.itemsize == 0
            or min(shape, default=0) < 0
            or n_bytes != member.file_size - stream.tell()
            or (n_bytes == 0 and math.prod(extent or 1 for extent in shape) > _WIDEST_EMPTY)
        ):
            raise ModelFileError(f"an array of shape {shape} does not have as many bytes.")
        entries = np.frombuffer(bytearray(stream.read()), dtype)
    return entries.reshape(shape, order="F" if by_columns else "C")
