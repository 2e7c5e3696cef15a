"""Where compiled code is kept between runs.

Code that was compiled earlier (in an image, in a shared installation) is read from where it is,
even if that folder is read-only; new code is written to the first writable folder. numba's own
cache requires one folder for both. `compiled` decides which functions are compiled.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from numba import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    _CacheLocator,
    _SourceFileBackedLocatorMixin,
)

from gramlet.common.places import cache_folder

__all__ = ["HOW_TO_CHOOSE", "CodeCache", "folder_for_new_code", "folders"]

HOW_TO_CHOOSE = (
    "Set the environment variable GRAMLET_CACHE, or NUMBA_CACHE_DIR for compiled code alone, to a "
    "folder that can be written to."
)
_PACKAGE = Path(__file__).resolve().parents[2]
_BESIDE_SOURCE = "__pycache__"


def folders() -> list[Path | None]:
    """Folders for compiled code in order of preference; None means beside the source files.

    If ``NUMBA_CACHE_DIR`` is set, it is the only folder. Otherwise code is searched for in all of
    them, so that an installation may ship its own, and new code is written to the first writable
    one.
    """
    if config.CACHE_DIR:
        return [Path(config.CACHE_DIR).expanduser().absolute()]
    own = cache_folder().absolute() / "compiled"
    return [own, None] if os.environ.get("GRAMLET_CACHE") else [None, own]


def folder_for_new_code() -> Path | None:
    """The folder that new compiled code is written to, or None if no folder is writable.

    For code that is stored beside the source files this is the package's own folder.
    """
    for folder in folders():
        if _writable(_place(folder, Path(__file__))):
            return _PACKAGE if folder is None else folder
    return None


def _place(folder: Path | None, source: Path) -> Path:
    """The folder for the compiled code of one source file."""
    if folder is None:
        return source.parent / _BESIDE_SOURCE
    # Each installation has its own folder: numba compares only a file's name and date.
    package = f"gramlet_{_digest(str(_PACKAGE))}"
    inside = source.parent.relative_to(_PACKAGE) if source.is_relative_to(_PACKAGE) else Path()
    return folder / package / inside


def _digest(text: str) -> str:
    import hashlib

    return hashlib.sha256(text.encode()).hexdigest()[:16]


@cache
def _writable(folder: Path) -> bool:
    """Whether files can be written to a folder, which is created if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


class _Located(_SourceFileBackedLocatorMixin, _CacheLocator):
    """Gives numba the folder, which has to be writable only when code is saved."""

    def __init__(self, py_func: Any, source: str, folder: Path) -> None:
        self._py_file = source
        self._lineno = py_func.__code__.co_firstlineno
        self._folder = folder

    def get_cache_path(self) -> str:
        return str(self._folder)


class _OneFolder(FunctionCache):
    """numba's cache of one function in a given folder."""

    def __init__(self, py_func: Any, folder: Path) -> None:
        class Implementation(CompileResultCacheImpl):
            _locator_classes = (_At(folder),)

        self._impl_class = Implementation
        super().__init__(py_func)


class _At:
    """Takes the place of a locator class in numba's list: all functions are in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def from_function(self, py_func: Any, source: str) -> _Located:
        return _Located(py_func, source, self._folder)


class CodeCache:
    """The compiled code of one function: read from any folder, written to one.

    It has the methods that numba's dispatcher calls.

    Parameters
    ----------
    py_func : function
        The function to be compiled.
    """

    def __init__(self, py_func: Callable[..., Any]) -> None:
        source = Path(py_func.__code__.co_filename)
        self._places = [_OneFolder(py_func, _place(folder, source)) for folder in folders()]
        able = (place for place in self._places if _writable(Path(place.cache_path)))
        self._keeper: _OneFolder | None = next(able, None)

    @property
    def cache_path(self) -> str | None:
        """The folder that new code is written to, or None."""
        return None if self._keeper is None else str(self._keeper.cache_path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code for a signature, or None."""
        for place in self._places:
            try:
                found = place.load_overload(sig, target_context)
            except OSError:  # a folder that only its owner may read
                continue
            if found is not None:
                return found
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store compiled code; warn once if that is not possible."""
        try:
            if self._keeper is not None:
                self._keeper.save_overload(sig, data)
                return
            reason = "it cannot be written to"
        except OSError as error:  # the disk is full, or the folder was removed
            reason = error.strerror or str(error)
        _complain(str(self.cache_path or self._places[-1].cache_path), reason)

    def flush(self) -> None:
        """Remove the stored code, as numba does before it recompiles a function."""
        if self._keeper is not None:
            self._keeper.flush()

    def enable(self) -> None:
        """Part of numba's interface: a cache is always enabled."""

    def disable(self) -> None:
        """Part of numba's interface: a cache is always enabled."""


_complained = False


def _complain(folder: str, reason: str) -> None:
    global _complained
    if _complained:
        return
    _complained = True
    warnings.warn(
        f"Compiled code cannot be kept in {folder!r}: {reason}. Every process compiles again. "
        f"{HOW_TO_CHOOSE}",
        stacklevel=2,
    )
