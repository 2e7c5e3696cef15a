"""The names under which networkx and igraph graphs store columns; no data is dropped silently.

A given name that no graph has is an error; data under other names only gives a warning.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, NamedTuple

__all__ = ["ATTR", "LABEL", "WEIGHT", "AttributeNames", "check_names", "require_names"]


class _Usual(str):
    """A default name, which may be missing."""

    __slots__ = ()


LABEL, WEIGHT, ATTR = _Usual("label"), _Usual("weight"), _Usual("attr")


class AttributeNames(NamedTuple):
    """The names under which networkx and igraph graphs store columns; None leaves one out."""

    label: str | None = LABEL
    edge_label: str | None = LABEL
    weight: str | None = WEIGHT
    attr: str | None = ATTR
    edge_attr: str | None = ATTR


_OF_NODES = ("label", "attr")
_OF_EDGES = ("edge_label", "weight", "edge_attr")


def require_names(names: AttributeNames) -> None:
    """Raise a TypeError for a value that cannot be a name."""
    for parameter, name in names._asdict().items():
        if not isinstance(name, Hashable):
            raise TypeError(f"{parameter} must be the name of an attribute, or None; got {name!r}.")


def check_names(records: Sequence[Any], names: AttributeNames) -> None:
    """Raise for given names that are found nowhere; warn of data under other names only.

    Records of other types of graphs, which have no names, and graphs without nodes (or edges)
    are skipped.
    """
    on_nodes = {
        i: r.node_names for i, r in enumerate(records) if r.n_nodes and r.node_names is not None
    }
    on_edges = {
        i: r.edge_names for i, r in enumerate(records) if len(r.edges) and r.edge_names is not None
    }
    unread = []
    for noun, found, parameters in (("node", on_nodes, _OF_NODES), ("edge", on_edges, _OF_EDGES)):
        known = {parameter: getattr(names, parameter) for parameter in parameters}
        everything = frozenset().union(*found.values())
        for parameter, name in known.items():
            if found and _given(name) and name not in everything:
                raise ValueError(_not_found(parameter, name, noun, found))
        # No warning if names, or None, were given explicitly.
        chosen = any(map(_was_chosen, known.values()))
        if everything and not chosen and everything.isdisjoint(known.values()):
            unread.append(f"{noun}s have {_listed(everything)}")
    if unread:
        warnings.warn(
            f"Data on nodes or edges is left out: {'; '.join(unread)}. as_batch reads 'label' and "
            "'attr' of nodes and 'label', 'weight' and 'attr' of edges; give other names as "
            "as_batch(x, label=..., attr=..., edge_label=..., weight=..., edge_attr=...).",
            stacklevel=3,
        )


def _was_chosen(name: Any) -> bool:
    return not isinstance(name, _Usual)


def _given(name: Any) -> bool:
    return name is not None and _was_chosen(name)


def _not_found(parameter: str, name: str, noun: str, found: dict[int, frozenset[Any]]) -> str:
    first, last = min(found), max(found)
    graphs = f"graph {first}" if first == last else f"graphs {first} to {last}"
    example = next((i for i, names in found.items() if names), None)
    there = (
        f"the {noun}s have no data"
        if example is None
        else f"the {noun}s of graph {example} have {_listed(found[example])}"
    )
    return f"{parameter}={name!r}: no {noun} of {graphs} has an attribute {name!r}; {there}."


def _listed(names: Iterable[Any]) -> str:
    """The first ten names, sorted."""
    texts = sorted(map(repr, names))
    return ", ".join(texts[:10]) + (f" and {len(texts) - 10} more" if len(texts) > 10 else "")
