"""File formats by the endings of file names."""

from __future__ import annotations

from pathlib import Path

__all__ = ["TABLES", "describe_kinds", "kind_of", "stem_of"]

# Ending -> the usual ending of its format.
_KINDS = {
    ".zip": ".zip",
    ".smi": ".smi",
    ".smiles": ".smi",
    ".csv": ".csv",
    ".tsv": ".tsv",
    ".tab": ".tsv",
    ".parquet": ".parquet",
    ".sdf": ".sdf",
    ".sd": ".sdf",
    ".mol": ".sdf",
    ".graphml": ".graphml",
    ".gexf": ".gexf",
    ".gml": ".gml",
    ".g6": ".g6",
    ".s6": ".s6",
    ".json": ".json",
    ".jsonl": ".jsonl",
    ".ndjson": ".jsonl",
}

TABLES = (".smi", ".csv", ".tsv", ".parquet")


def kind_of(path: Path) -> str | None:
    """The format of a file by its ending, with or without .gz; None if it is unknown.

    >>> kind_of(Path("a.SMI.gz")), kind_of(Path("a.txt"))
    ('.smi', None)
    """
    return _KINDS.get(_plain(path).suffix.lower())


def stem_of(path: Path) -> str:
    """The name of a file without its ending.

    >>> stem_of(Path("data/a.b.csv.gz"))
    'a.b'
    """
    return _plain(path).stem


def describe_kinds() -> str:
    """All known formats, for messages."""
    return f"TU folders and {', '.join(dict.fromkeys(_KINDS.values()))}, also with .gz"


def _plain(path: Path) -> Path:
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path
