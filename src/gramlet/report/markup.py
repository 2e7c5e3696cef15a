"""Text that is already HTML, which templates insert unchanged; all other text is escaped."""

from __future__ import annotations

__all__ = ["Markup"]


class Markup(str):
    """A piece of HTML or SVG whose texts have been escaped already.

    Templates recognise it by its method ``__html__``.

    >>> Markup("<b>bold</b>").__html__()
    '<b>bold</b>'
    """

    __slots__ = ()

    def __html__(self) -> str:
        return str(self)
