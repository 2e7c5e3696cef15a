"""Compiling ahead of time, for images and shared machines."""

from __future__ import annotations

from gramlet.warming.processes import warm_up
from gramlet.warming.work import TOOLS, names_of_work

__all__ = ["TOOLS", "names_of_work", "warm_up"]
