"""Blocks of a profile in files, which workers of a cluster read.

A task contains the file's path and digest; a worker reads a file once, checks the digest before
anything is unpacked, and keeps the block for later tasks of the same run.
"""

from __future__ import annotations

import hashlib
import pickle
import threading
from dataclasses import dataclass
from pathlib import Path

from gramlet.scale.matrices.tile_work import Block

__all__ = ["StoredBlock", "keep_block", "load_block"]


@dataclass(frozen=True)
class StoredBlock:
    """The path of a block, and the SHA-256 of its file."""

    path: Path
    digest: str


def keep_block(block: Block, path: Path) -> StoredBlock:
    """Write a block to a file."""
    data = pickle.dumps(block, protocol=pickle.HIGHEST_PROTOCOL)
    path.write_bytes(data)
    return StoredBlock(path, hashlib.sha256(data).hexdigest())


_lock = threading.Lock()
_loaded: dict[StoredBlock, Block] = {}


def load_block(stored: StoredBlock) -> Block:
    """The block, from the file the first time and from memory afterwards.

    Blocks of earlier runs are discarded.
    """
    with _lock:
        if stored in _loaded:
            return _loaded[stored]
        for other in [other for other in _loaded if other.path.parent != stored.path.parent]:
            del _loaded[other]
        data = stored.path.read_bytes()
        if hashlib.sha256(data).hexdigest() != stored.digest:
            raise ValueError(
                f"{str(stored.path)!r} is not the file that was written there. Call again with the "
                "same arguments; finished tiles are kept."
            )
        block: Block = pickle.loads(data)
        _loaded[stored] = block
        return block
