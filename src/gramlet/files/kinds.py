"""File formats by the endings of file names, and the options of `read` that apply to each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gramlet.files.opening import DEFAULT_MAX_BYTES

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

_OPTIONS_OF_TABLES = {"molecules", "sep", "header", "id"}
_OPTIONS_OF_NETWORKS = {"label", "edge_label", "weight", "attr", "edge_attr"}

TABLES = (".smi", ".csv", ".tsv", ".parquet")
NETWORKS = (".graphml", ".gexf", ".gml", ".g6", ".s6", ".json", ".jsonl")


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


@dataclass(frozen=True)
class ReadOptions:
    """The options of `read`, by the same names."""

    target: str | int | Literal[False] | None = None
    molecules: str | int | None = None
    id: str | int | None = None
    sep: str | None = None
    header: bool | None = None
    directed: bool | None = None
    node_labels: str | None = None
    label: str | None = None
    edge_label: str | None = None
    weight: str | None = None
    attr: str | None = None
    edge_attr: str | None = None
    edge_weights: bool | None = None
    atoms: tuple[str, ...] = ("element", "charge")
    hydrogens: bool = False
    on_error: str = "raise"
    n_jobs: int | None = None
    max_bytes: int = DEFAULT_MAX_BYTES

    def __post_init__(self) -> None:
        if self.target is True:  # which is an integer, and would be the second column
            raise TypeError(
                "target must be the heading or the number of a column, None to find it, or False "
                "for none; got True."
            )


def refuse_foreign_options(path: Path, kind: str, options: ReadOptions) -> None:
    """Refuse an option that does not apply to the format."""
    if kind == "tu":
        allowed = {"edge_weights"}
    elif kind == "folder":
        allowed = {"sep", *_OPTIONS_OF_NETWORKS}
    elif kind in NETWORKS:
        allowed = {"id", *_OPTIONS_OF_NETWORKS}
    else:
        allowed = _OPTIONS_OF_TABLES if kind in TABLES else {"id"}
        if kind == ".parquet":
            allowed = {"molecules", "id"}
    for option in sorted({"edge_weights", *_OPTIONS_OF_TABLES, *_OPTIONS_OF_NETWORKS} - allowed):
        if getattr(options, option) is not None:
            what = {"tu": "TU data", "folder": "a folder of graphs"}.get(kind, f"a {kind} file")
            raise ValueError(f"{path} is {what}, to which {option}= does not apply.")
