"""Graphs in a pandas Series or a DataFrame of one column; pandas is not imported here."""

from __future__ import annotations

from typing import Any

__all__ = ["graphs_of", "index_of", "is_pandas"]


def is_pandas(x: Any) -> bool:
    """Whether an object is a pandas Series or DataFrame."""
    return _kind(x) is not None


def index_of(x: Any) -> Any:
    """The index of a Series or DataFrame of graphs; None for anything else.

    Estimators use it for their output after ``set_output(transform="pandas")``.
    """
    return x.index if is_pandas(x) else None


def graphs_of(x: Any) -> list[Any]:
    """The graphs of a Series, or of the one column of a DataFrame, in order.

    Raises a ValueError for a missing value, naming its index, and for several columns.
    """
    if _kind(x) == "DataFrame":
        if x.shape[1] != 1:
            columns = ", ".join(map(repr, x.columns)) or "none"
            raise ValueError(
                f"as_batch takes a DataFrame of one column; this one has {x.shape[1]}: {columns}. "
                "Pick the column of graphs: as_batch(frame[name])."
            )
        x = x.iloc[:, 0]
    missing = x.isna().to_numpy().nonzero()[0]
    if len(missing):
        first = int(missing[0])
        raise ValueError(
            f"Graph {first} is missing: the value at index {x.index.tolist()[first]!r} is "
            f"{x.iloc[first]!r} ({len(missing)} missing in all). Leave such rows out, together "
            "with their targets."
        )
    return list(x)


def _kind(x: Any) -> str | None:
    """ "Series" or "DataFrame" (subclasses too), or None."""
    for base in type(x).__mro__:
        if base.__module__.partition(".")[0] == "pandas" and base.__name__ in _KINDS:
            return base.__name__
    return None


_KINDS = ("Series", "DataFrame")
