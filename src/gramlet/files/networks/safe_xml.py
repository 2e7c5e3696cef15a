"""A safe XML parser: no entities, no external resources, no deep nesting."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO
from xml.parsers import expat

__all__ = ["guarded_parser", "parse_guarded"]

_DEEPEST = 64
_OF_ENCODINGS = (
    expat.errors.XML_ERROR_INVALID_TOKEN,
    expat.errors.XML_ERROR_UNKNOWN_ENCODING,
    expat.errors.XML_ERROR_INCORRECT_ENCODING,
)


def guarded_parser(
    path: Path,
    start: Callable[[str, dict[str, str]], None] | None = None,
    end: Callable[[str], None] | None = None,
) -> Any:
    """A parser that refuses entities and deep nesting, and calls ``start`` and ``end``."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    depth = 0

    def refuse(*_: Any) -> int:
        raise ValueError(
            f"Refusing to read {path}: it declares XML entities, which data files do not need."
        )

    def enter(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise ValueError(f"{path} is nested more than {_DEEPEST} deep.")
        if start is not None:
            start(tag, attributes)

    def leave(tag: str) -> None:
        nonlocal depth
        depth -= 1
        if end is not None:
            end(tag)

    parser.EntityDeclHandler = refuse
    parser.UnparsedEntityDeclHandler = refuse
    parser.ExternalEntityRefHandler = refuse
    parser.StartElementHandler = enter
    parser.EndElementHandler = leave
    return parser


def parse_guarded(parser: Any, stream: BinaryIO, path: Path) -> None:
    """Parse a document; raise one ValueError with the line if it is not well-formed."""
    try:
        parser.ParseFile(stream)
    except expat.ExpatError as why:
        said = expat.ErrorString(why.code)
        advice = "Save it as UTF-8." if said in _OF_ENCODINGS else "Is the file cut off?"
        raise ValueError(
            f"{path}, line {why.lineno}: not well-formed XML ({said}). {advice}"
        ) from None
    except LookupError as why:
        raise ValueError(f"{path} cannot be read ({why}). Save it as UTF-8.") from None
