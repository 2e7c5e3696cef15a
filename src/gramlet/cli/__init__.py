"""The command line: the program ``gramlet``.

Light on purpose: Ctrl-C is taken care of before anything large is imported, and each command
imports what it needs.
"""

from __future__ import annotations

import sys

from gramlet.cli.interrupts import end_on_interrupt

TYPE_CHECKING = False  # not from typing: Ctrl-C is taken over before anything is imported
if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; return its exit code.

    0: done. 1: it failed. 2: it was used wrongly. 130: it was interrupted.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments. By default those of the process, which is then gramlet's own: Ctrl-C ends it
        at once. With arguments given, Ctrl-C raises KeyboardInterrupt as everywhere in Python.
    """
    if argv is None:
        end_on_interrupt()
    from gramlet.cli.errors import debug_wanted, report

    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        from gramlet.cli.program import run
    except ImportError as error:
        return report(error, debug_wanted(arguments))
    return run(arguments)
