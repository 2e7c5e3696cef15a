"""Text that is already HTML: what templates put into the page as it is, everything else escaped."""

from __future__ import annotations

__all__ = ["Markup"]


class Markup(str):
    """A piece of HTML or SVG whose texts have been escaped by who made it.

    Templates know it by its method ``__html__``.

    >>> Markup("<b>bold</b>").__html__()
    '<b>bold</b>'
    """

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)
