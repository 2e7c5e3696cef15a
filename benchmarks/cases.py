"""A benchmark case: data, gramlet's function, the peer's, and a check that both results agree.

The modules of ``kernels/`` and ``tasks/`` register their cases; `all_cases` imports them all.
`measure` runs and measures them.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.data import Source

Check = Callable[[Any, Any], None]


def same_matrices(ours: Any, theirs: Any, constant: float = 1.0, tolerance: float = 1e-9) -> None:
    """Raise an AssertionError unless ``theirs`` is ``constant`` times ``ours``, up to rounding."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, f"shapes {ours.shape} and {theirs.shape}"
    difference = np.abs(constant * ours - theirs)
    allowed = tolerance * np.maximum(1.0, np.abs(theirs))
    worst = np.unravel_index(np.argmax(difference - allowed), difference.shape)
    assert (difference <= allowed).all(), (
        f"entry {tuple(map(int, worst))}: {constant} × {ours[worst]} and {theirs[worst]}"
    )


def agree(constant: float) -> Check:
    """`same_matrices` for a peer that computes a multiple of what we do."""
    return lambda ours, theirs: same_matrices(ours, theirs, constant)


@dataclass(frozen=True)
class Case:
    """gramlet and a peer on the same data.

    Attributes
    ----------
    name, title : str
        The name on the command line, and one line about what is computed.
    data : callable
        Takes a `Source` and returns the argument of ``ours`` and ``peer``. Everything that is not
        timed (reading files, conversion into the peer's own format) is done here.
    ours, peer : callable
        Take these data and return the result. ``peer`` is None if only our time is measured.
    peer_name : str
        The name of the peer in the table, e.g. ``"GraKeL, sparse=True"``.
    check : callable or None
        Takes both results and raises an AssertionError if they do not agree. None if the peer
        computes something else, so that only times are compared.
    needs : callable
        Returns None if the peer can be run, otherwise the reason why not.
    target_ratio : float, optional
        The least speed relative to the peer.
    target_memory : float, optional
        The largest peak memory relative to the peer's.
    target_seconds : float, optional
        The longest time.
    """

    name: str
    title: str
    data: Callable[[Source], Any]
    ours: Callable[[Any], Any]
    peer: Callable[[Any], Any] | None = None
    peer_name: str = ""
    check: Check | None = same_matrices
    needs: Callable[[], str | None] = field(default=lambda: None)
    target_ratio: float | None = None
    target_memory: float | None = None
    target_seconds: float | None = None


@dataclass(frozen=True)
class Growth:
    """How our time grows with the size of the data: the slope in a log-log plot.

    Attributes
    ----------
    name, title : str
    sizes : sequence of int
    data : callable
        Takes a size and returns the data.
    ours : callable
        Takes the data.
    size_of : callable
        Takes the data and returns the size used in the fit (edges, nodes, ...).
    target_exponent : float, optional
        The largest slope.
    """

    name: str
    title: str
    sizes: Sequence[int]
    data: Callable[[int], Any]
    ours: Callable[[Any], Any]
    size_of: Callable[[Any], int]
    unit: str = "edges"
    target_exponent: float | None = None


_CASES: dict[str, Case | Growth] = {}


def register(case: Case | Growth) -> Case | Growth:
    """Add a case to those of the command line."""
    if case.name in _CASES:
        raise ValueError(f"There are two benchmarks called {case.name!r}.")
    _CASES[case.name] = case
    return case


def all_cases() -> dict[str, Case | Growth]:
    """All cases of the modules in ``kernels/`` and ``tasks/``, by name."""
    from benchmarks import kernels, tasks

    for room in (kernels, tasks):
        for module in pkgutil.iter_modules(room.__path__):
            importlib.import_module(f"{room.__name__}.{module.name}")
    return dict(_CASES)
