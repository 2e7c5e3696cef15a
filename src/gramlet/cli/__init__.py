"""The command line: the program ``gramlet``.

Imports as little as possible: Ctrl-C is handled before anything large is imported, and each command
imports what it needs.
"""

from __future__ import annotations

import sys

from gramlet.cli.interrupts import end_on_interrupt, ignore_interrupts

TYPE_CHECKING = False  # not from typing: Ctrl-C is handled before anything is imported
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; return its exit code.

    0: success. 1: failure. 2: wrong usage. 130: interrupted.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments. By default those of the process, in which case Ctrl-C ends the process at
        once. If arguments are given, Ctrl-C raises KeyboardInterrupt as usual in Python.
    """
    if argv is None:
        end_on_interrupt()
    from gramlet.cli.errors import debug_wanted, report

    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        from gramlet.cli.program import run
    except ImportError as error:
        return report(error, debug_wanted(arguments))
    code = run(arguments)
    if argv is None:
        ignore_interrupts()
    return code
