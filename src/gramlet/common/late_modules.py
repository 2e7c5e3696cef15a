"""Modules that are loaded at their first use, though an import statement has run.

scikit-learn's base classes import scipy.stats and pandas, which no kernel uses: half of the time
that its import takes. Until something asks them for a name, stand-ins take their places.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from threading import RLock
from types import ModuleType
from typing import Any

__all__ = ["load_late"]

# Names that tools ask every module for, in the hope that it has them: no reason to load one.
_ASKED_OF_ALL = frozenset(["__warningregistry__"])
_loading = RLock()
_running: list[ModuleType] = []  # their code runs now; it may well ask for their names


def load_late(*names: str) -> None:
    """Let the next imports of these modules cost nothing until they are used.

    A module that is there already, or is not installed, is left alone.

    >>> load_late("json", "no_such_module")  # json was imported long ago
    """
    for name in names:
        if name not in sys.modules:
            spec = _spec(name)
            if spec is not None and spec.loader is not None:
                sys.modules[name] = _stand_in(spec)


def _spec(name: str) -> ModuleSpec | None:
    """Where a module is; unlike `importlib.util.find_spec` this imports no package around it."""
    folders = None
    spec = None
    before = ""
    for part in name.split("."):
        before = f"{before}.{part}" if before else part
        spec = PathFinder.find_spec(before, folders)
        if spec is None:
            return None
        folders = spec.submodule_search_locations
    return spec


class _LateModule(ModuleType):
    """A module whose code has not run yet; it becomes an ordinary one when it has."""

    def __getattr__(self, name: str) -> Any:
        if name not in _ASKED_OF_ALL:
            with _loading:  # other threads wait until the module is complete
                if type(self) is _LateModule and self not in _running:
                    _run(self)
            if name in vars(self) or type(self) is ModuleType:
                return getattr(self, name)
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


def _stand_in(spec: ModuleSpec) -> ModuleType:
    made = module_from_spec(spec)
    made.__class__ = _LateModule
    # Without its path an import of a module inside it asks for the path, which loads it first.
    vars(made).pop("__path__", None)
    return made


def _run(module: ModuleType) -> None:
    """Run the code of a module in place of its stand-in."""
    spec = module.__spec__
    assert spec is not None
    assert spec.loader is not None
    if spec.submodule_search_locations is not None:
        module.__path__ = spec.submodule_search_locations
    _running.append(module)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        # As after any import that failed: the next one tries again.
        if sys.modules.get(spec.name) is module:
            del sys.modules[spec.name]
        raise
    finally:
        _running.remove(module)
    module.__class__ = ModuleType
