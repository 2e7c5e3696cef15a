"""Graphs in a column, or a frame of one column, of pandas, polars or pyarrow.

pandas is not imported here; polars and pyarrow objects are read through narwhals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_ARROW = ("DataFrame", "LazyFrame", "Series", "Table", "RecordBatch", "ChunkedArray", "Array")


def graphs_of(x: Any) -> list[Any]:
    """The graphs of a Series, or of the one column of a DataFrame, in order.

    Raises a ValueError for a missing value, naming its index, and for several columns.
    """
    x = plain_frame(x)
    if _kind(x) == "DataFrame" or isinstance(x, Frame):
        if x.shape[1] != 1:
            columns = ", ".join(map(repr, x.columns)) or "none"
            raise ValueError(
                f"as_batch takes a DataFrame of one column; this one has {x.shape[1]}: {columns}. "
                "Pick the column of graphs: as_batch(frame[name])."
            )
        x = x[x.columns[0]] if isinstance(x, Frame) else x.iloc[:, 0]
    missing = np.flatnonzero(np.asarray(x.isna()))
    if len(missing):
        first = int(missing[0])
        raise ValueError(
            f"Graph {first} is missing: the value at index {x.index.tolist()[first]!r} is "
            f"{x.tolist()[first]!r} ({len(missing)} missing in all). Leave such rows out, together "
            "with their targets."
        )
    return list(x.tolist() if isinstance(x, Column) else x)


def _kind(x: Any) -> str | None:
    """ "Series" or "DataFrame" (subclasses too), or None."""
    for base in type(x).__mro__:
        if base.__module__.partition(".")[0] == "pandas" and base.__name__ in (
            "Series",
            "DataFrame",
        ):
            return base.__name__
    return None


class Column:
    """A column of polars or pyarrow, with what is used of a pandas Series."""

    ndim, dtype = 1, None

    def __init__(self, name: str | None, values: list[Any]) -> None:
        self.name = name
        self.index = np.arange(len(values))
        self._values = values

    def isna(self) -> Any:
        """Which values are missing."""
        return np.array(
            [v is None or (isinstance(v, float) and v != v) for v in self._values], bool
        )

    def tolist(self) -> list[Any]:
        """The values."""
        return self._values


class Frame:
    """A frame of polars or pyarrow, with what is used of a pandas DataFrame."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._columns = columns
        self.columns = list(columns)
        self.index = np.arange(len(self))
        self.shape = (len(self), len(columns))

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __getitem__(self, name: str) -> Column:
        return Column(name, self._columns[name])


def is_frame(x: Any) -> bool:
    """Whether an object is a frame or column of pandas, polars or pyarrow."""
    return _kind(x) is not None or isinstance(x, Column | Frame) or _is_arrow(x)


def _is_arrow(x: Any) -> bool:
    bases = [(base.__module__.partition(".")[0], base.__name__) for base in type(x).__mro__]
    return any(library in ("polars", "pyarrow") and name in _ARROW for library, name in bases)


def plain_frame(x: Any) -> Any:
    """A frame or column of polars or pyarrow as lists; other objects as they are."""
    if not _is_arrow(x):
        return x
    try:
        import narwhals
    except ImportError:
        raise ImportError(
            f"Reading a {type(x).__module__.partition('.')[0]} {type(x).__name__} needs narwhals: "
            "pip install gramlet[tables]"
        ) from None
    if not hasattr(x, "columns") and hasattr(x, "to_pylist"):
        return Column(None, x.to_pylist())
    native = narwhals.from_native(x, allow_series=True)
    if isinstance(native, narwhals.LazyFrame):
        native = native.collect()
    if isinstance(native, narwhals.Series):
        return Column(native.name or None, native.to_list())
    return Frame({name: native[name].to_list() for name in native.columns})
