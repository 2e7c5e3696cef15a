"""Names of the numbers in label files, from the README of a TU data set."""

from __future__ import annotations

import re

__all__ = ["names_in_readme"]

_ENTRY = re.compile(r"(-?\d{1,18})[ \t]+(\S.*)")


def names_in_readme(readme: str, subject: str) -> dict[int, str] | None:
    """The names under a heading such as ``Node labels:``, one ``number  name`` per line.

    The heading is a line that begins with the subject and ends with a colon; blank lines are
    ignored. Takes one pass over the lines.

    >>> names_in_readme("Node labels:\\n\\n  0  C\\n  1  N\\n\\nEdge labels:\\n", "Node labels")
    {0: 'C', 1: 'N'}
    """
    names: dict[int, str] = {}
    inside = False
    for line in map(str.strip, readme.split("\n")):
        if not line:
            continue
        entry = _ENTRY.fullmatch(line) if inside else None
        if entry is not None:
            names[int(entry[1])] = entry[2].strip()
        elif names:
            break
        else:
            inside = line.startswith(subject) and line.endswith(":")
    return names or None
