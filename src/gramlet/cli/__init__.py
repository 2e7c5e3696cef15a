"""The command line: the program ``gramlet``, and how it ends on Ctrl-C.

Python raises KeyboardInterrupt at whatever line is running. In the middle of compiled code, of an
import or of a destructor this becomes another error, a printed traceback, or nothing. The program
has nothing to clean up except its temporary files, so a thread removes these and ends the process.
Imports almost nothing: Ctrl-C is handled before anything large is imported.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # not from typing: Ctrl-C is handled before anything is imported
if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 128 + signal.SIGINT

_ENDINGS = {int(signal.SIGINT): "interrupted", int(signal.SIGTERM): "terminated"}
_CLEAR_LINE, _SHOW_CURSOR = "\r\x1b[2K", "\x1b[?25h"

_last_words = [b""]  # for standard output, if the process is ended now


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
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        from gramlet.cli.program import run
    except ImportError as error:
        from gramlet.cli.terminal import report

        return report(error, arguments)
    code = run(arguments)
    if argv is None:
        # At its end Python restores the system's handling of signals, with which Ctrl-C would end
        # a finished program as if it had failed.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return code


def end_on_interrupt() -> None:
    """From now on, let Ctrl-C and SIGTERM end the process with a line on standard error.

    Does nothing for a signal that the process was told to ignore (``nohup``, a job in the
    background), and nothing on Windows.
    """
    if os.name != "posix":
        return
    from threading import Thread

    # Python writes the number of each signal to the pipe at once, also during compiled code.
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in _ENDINGS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda received, frame: None)
    os.register_at_fork(after_in_child=_restore)
    Thread(target=_wait, args=(reader,), daemon=True, name="gramlet-signals").start()


def leave_words(text: str) -> None:
    """Set what is printed on standard output if the process is ended; "" for nothing."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    _last_words[0] = text.encode(encoding, "replace")


def _wait(reader: int) -> None:
    while received := os.read(reader, 1):
        if received[0] in _ENDINGS:
            _end(received[0])


def _end(number: int) -> None:
    writing = sys.modules.get("gramlet.common.safe_writing")
    if writing is not None and hasattr(writing, "remove_unfinished"):
        writing.remove_unfinished()
    # A progress bar hides the cursor and leaves its line half drawn.
    drawn = os.isatty(2) and os.environ.get("TERM") != "dumb"
    start = _CLEAR_LINE + _SHOW_CURSOR if drawn else ""
    try:
        _say(1, _last_words[0])
        _say(2, f"{start}gramlet: {_ENDINGS[number]}\n".encode())
    finally:  # also where standard error is closed
        os._exit(128 + number)


def _say(stream: int, words: bytes) -> None:
    try:
        while words:
            words = words[os.write(stream, words) :]
    except OSError:  # the stream is closed
        return


def _restore() -> None:
    """Restore the usual meaning of signals in a forked process, which is not the program."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
