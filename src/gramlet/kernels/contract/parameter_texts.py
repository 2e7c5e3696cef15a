"""Texts of parameters that many estimators share, written once.

`shared_texts` puts them into a class's docstring where it says ``%(normalize)s`` and so on.
"""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["shared_texts"]

C = TypeVar("C", bound=type[Any])

_TEXTS = {
    "normalize": """normalize : bool, default False
        Divide by sqrt(k(G,G) k(G',G')); an entry whose norm is 0 becomes 0.""",
    "normalize_unit": """normalize : bool, default False
        Without effect: k(G, G) is 1.""",
    "n_jobs": """n_jobs : int or None
        Number of threads; the result does not depend on it.""",
    "verbose": """verbose : bool or int
        Show a progress bar on a terminal.""",
    "use_edge_labels": """use_edge_labels : bool or "auto", default "auto"
        Whether edge labels count; "auto": if the fitted graphs have them.""",
    "include_initial": """include_initial : bool, default True
        Whether level 0, the labels themselves, counts.""",
    "masses": """masses : {"degree", "uniform"}, default "degree"
        Mass of a node: its share of the graph's degrees (all alike without an edge), or 1/n.""",
    "random_state": """random_state : int, RandomState or None
        Seed of the random numbers, which are drawn once, at `fit`.""",
}


def shared_texts(cls: C) -> C:
    """Fill the shared texts into a class's docstring."""
    if cls.__doc__:
        for name, text in _TEXTS.items():
            cls.__doc__ = cls.__doc__.replace(f"%({name})s", text)
    return cls
