"""The folder for downloads, tables and compiled code."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """The folder for downloads, tables and compiled code.

    ``GRAMLET_CACHE`` if set; otherwise ``gramlet`` in ``XDG_CACHE_HOME`` or in the platform's cache
    folder.
    """
    own = os.environ.get("GRAMLET_CACHE")
    if own:
        return Path(own).expanduser()
    shared = os.environ.get("XDG_CACHE_HOME")
    if shared:
        return Path(shared).expanduser() / "gramlet"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local")).expanduser() / "gramlet"
    if sys.platform == "darwin":
        return Path("~/Library/Caches/gramlet").expanduser()
    return Path("~/.cache/gramlet").expanduser()
