"""Groups of graphs: given by the user, or molecules with the same scaffold."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramlet.common.arrays import Ints
from gramlet.evaluation.protocols.protocol import Protocol
from gramlet.files.dataset import Dataset
from gramlet.files.target import as_values

__all__ = ["groups_of"]


def groups_of(given: Any, protocol: Protocol, graphs: Any, n_graphs: int) -> Ints | None:
    """One code per graph, equal for graphs of one group; None if there are no groups.

    Parameters
    ----------
    given : array-like, "scaffold" or None
        The ``groups`` of `evaluate`, which override the protocol's.
    protocol : Protocol
    graphs : Dataset or anything else
        Scaffolds are those of a Dataset's molecules.
    n_graphs : int
    """
    groups = protocol.groups if given is None else given
    if groups is None:
        return None
    if isinstance(groups, str):
        if groups != "scaffold":
            raise ValueError(f"groups must be 'scaffold' or one value per graph; got {groups!r}.")
        groups = _scaffolds(graphs)
    values = as_values(groups)
    if values.ndim != 1 or len(values) != n_graphs:
        raise ValueError(
            f"groups must have one value per graph: got shape {values.shape} for {n_graphs} graphs."
        )
    codes: dict[Any, int] = {}
    for position, value in enumerate(values.tolist()):
        if value is None or value != value:
            raise ValueError(
                f"groups has no value (NaN or None) for the graph at position {position}."
            )
        codes.setdefault(value, len(codes))
    return np.array([codes[value] for value in values.tolist()], dtype=np.int64)


def _scaffolds(graphs: Any) -> Any:
    kept = None
    if isinstance(graphs, Dataset):
        kept = graphs.get("molecules")
        kept = graphs.get("smiles") if kept is None else kept
    if kept is None:
        raise ValueError(
            "groups='scaffold' needs the molecules: give evaluate a Dataset that keeps them "
            "(gramlet.read of a file of molecules), or the groups themselves as an array."
        )
    from gramlet.graphs.molecules.structures import scaffolds

    return scaffolds(kept)
