"""The command line. Only light modules are imported here; commands import what they need."""

from gramlet.cli.program import main

__all__ = ["main"]
