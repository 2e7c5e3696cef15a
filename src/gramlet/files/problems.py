"""Rows and files that cannot be read: raise at once, or leave out, count and list them."""

from __future__ import annotations

from typing import Literal

from gramlet.common.notices import counted, warn_caller
from gramlet.files.dataset import Skipped

__all__ = ["OnError", "Problems"]

OnError = Literal["raise", "skip"]


class Problems:
    """The rows or files that a reader could not use.

    Parameters
    ----------
    on_error : "raise" or "skip"
    of_block : bool
        Whether these are the rows of one block of a file, whose reader counts over the whole file:
        then there is no warning, and a block without any readable row is not an error.
    """

    def __init__(self, on_error: str, of_block: bool = False) -> None:
        if on_error not in ("raise", "skip"):
            raise ValueError(f'on_error must be "raise" or "skip"; got {on_error!r}.')
        self._on_error = on_error
        self._of_block = of_block
        self.skipped: list[Skipped] = []

    @property
    def skips(self) -> bool:
        """Whether problems are listed instead of raised."""
        return self._on_error == "skip"

    def add(self, place: str, reason: str, way_out: str = "") -> None:
        """Raise the problem, or list it."""
        if not self.skips:
            advice = way_out or 'Correct it, or leave it out with on_error="skip".'
            end = "" if reason.endswith("?") else "."
            raise ValueError(f"{place}: {reason}{end} {advice}")
        self.skipped.append(Skipped(place, reason))

    def finish(self, path: object, n_read: int, noun: str) -> list[Skipped]:
        """Everything that was left out; warn once with the count. Raise if nothing can be read."""
        if not self.skipped or self._of_block:
            return self.skipped
        total = n_read + len(self.skipped)
        first = self.skipped[0]
        if not n_read:
            raise ValueError(
                f"{path}: none of {counted(total, noun)} can be read; the first is {first}."
            )
        warn_caller(
            f"{path}: {len(self.skipped):,} of {counted(total, noun)} were left out, the first at "
            f"{first}. The field 'skipped' lists them."
        )
        return self.skipped
