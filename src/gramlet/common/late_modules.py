"""Lazy modules: the code of a module runs when one of its names is first used, not at its import.

scikit-learn's base classes import modules that no kernel uses and that take half of the time of all
imports. Placeholders stand in `sys.modules` until a name is used.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from threading import RLock
from types import ModuleType
from typing import Any

__all__ = ["SELDOM_USED", "load_late"]

# Modules that scikit-learn imports and that no kernel uses.
SELDOM_USED = ("scipy.stats", "scipy.special", "pandas")

# Attributes that tools look up on every module, whether it has them or not: they load nothing.
_ASKED_OF_ALL = frozenset(["__warningregistry__"])
_loading = RLock()
_running: list[ModuleType] = []  # modules whose code is running; it may use their own names


def load_late(*names: str) -> None:
    """Delay the loading of these modules from their import to the first use of a name.

    Modules that are already imported, or not installed, are not changed.

    >>> load_late("json", "no_such_module")  # json is already imported
    """
    for name in names:
        if name not in sys.modules:
            spec = _spec(name)
            if spec is not None and spec.loader is not None:
                sys.modules[name] = made = _stand_in(spec)
                # As an import does; otherwise `import package.module as m` would load the package.
                package, _, own_name = name.rpartition(".")
                if package in sys.modules:
                    setattr(sys.modules[package], own_name, made)


def _spec(name: str) -> ModuleSpec | None:
    """The spec of a module; unlike `importlib.util.find_spec`, this does not import its package."""
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
    """A module whose code has not run yet; it becomes an ordinary module afterwards."""

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
    # Importing a submodule looks up the path of the package. Without a path this loads the package.
    vars(made).pop("__path__", None)
    return made


def _run(module: ModuleType) -> None:
    """Run the code of a module, in the placeholder's own namespace."""
    spec = module.__spec__
    assert spec is not None
    assert spec.loader is not None
    if spec.submodule_search_locations is not None:
        module.__path__ = spec.submodule_search_locations
    _running.append(module)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        # As after any failed import, the next import tries again.
        if sys.modules.get(spec.name) is module:
            del sys.modules[spec.name]
        raise
    finally:
        _running.remove(module)
    module.__class__ = ModuleType
