"""Ctrl-C in the program: one line, exit code 130, no temporary file, whatever is running.

Python turns Ctrl-C into a KeyboardInterrupt at whatever line is running. In the middle of compiled
code, of an import or of a destructor that becomes another error, a printed traceback, or nothing.
Nothing the program does has to be wound up except its temporary files, so it removes these and ends
the process, without raising anything.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from typing import Any

from gramlet.common.safe_writing import remove_unfinished

__all__ = ["INTERRUPTED", "end_on_interrupt"]

INTERRUPTED = 128 + signal.SIGINT

_WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
_PATIENCE = 0.5  # seconds until a main thread that stays in compiled code is not waited for

_ending = threading.Lock()  # held by whoever ends the process; never released


def end_on_interrupt() -> None:
    """From now on, let Ctrl-C and SIGTERM end the process with a line on standard error.

    Does nothing for a signal that the process was told to ignore (``nohup``, a job in the
    background), and nothing outside the main thread.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in _WORDS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda received, frame: _end(received))
    if os.name == "posix":
        _watch()
        os.register_at_fork(after_in_child=_forget)


def _end(number: int) -> None:
    if not _ending.acquire(blocking=False):
        return
    remove_unfinished()
    # A progress bar hides the cursor and leaves its line half drawn.
    drawn = sys.stderr is not None and os.isatty(2) and os.environ.get("TERM") != "dumb"
    text = f"{chr(13) + chr(27) + '[2K' + chr(27) + '[?25h' if drawn else ''}gramlet: "
    with contextlib.suppress(OSError):
        os.write(2, f"{text}{_WORDS[signal.Signals(number)]}\n".encode())
    os._exit(128 + number)


def _watch() -> None:
    """Let a thread end the process if the main thread does not: compiled code sees no signals."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    threading.Thread(target=_wait, args=(reader,), daemon=True, name="gramlet-signals").start()


def _wait(reader: int) -> None:
    while received := os.read(reader, 1):
        if received[0] in _WORDS:
            time.sleep(_PATIENCE)
            _end(received[0])


def _forget(*_: Any) -> None:
    """A forked process is not the program: signals have their usual meaning there."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
