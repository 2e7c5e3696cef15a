"""Descriptions of parameters that many estimators share, written once.

`shared_texts` inserts them into a class docstring in place of ``%(normalize)s`` and so on.
"""

from __future__ import annotations

from typing import Any, TypeVar

C = TypeVar("C", bound=type[Any])

_TEXTS = {
    "normalize": """normalize : False, "cosine" (or True) or "tanimoto", default False
        "cosine" divides by sqrt(k(G,G) k(G',G')), "tanimoto" by k(G,G) + k(G',G') − k(G,G'), which
        keeps the difference between small and large graphs; an entry without norm is 0.""",
    "normalize_unit": """normalize : False, "cosine" (or True) or "tanimoto", default False
        As k(G, G) is 1, "cosine" has no effect; "tanimoto" is k / (2 − k).""",
    "n_jobs": """n_jobs : int or None
        Number of threads; the result does not depend on it.""",
    "verbose": """verbose : bool or int
        Show a progress bar on a terminal.""",
    "use_edge_labels": """use_edge_labels : bool or "auto", default "auto"
        Whether to use edge labels; "auto" uses them if the fitted graphs have them.""",
    "include_initial": """include_initial : bool, default True
        Whether to include level 0, the labels themselves.""",
    "masses": """masses : {"degree", "uniform"}, default "degree"
        Mass of a node: its share of the sum of degrees (1/n if the graph has no edges), or 1/n.""",
    "random_state": """random_state : int, RandomState or None
        Seed of the random numbers, which are drawn once, in `fit`.""",
}


def shared_texts(cls: C) -> C:
    """Insert the shared texts into the docstring of a class."""
    if cls.__doc__:
        for name, text in _TEXTS.items():
            cls.__doc__ = cls.__doc__.replace(f"%({name})s", text)
    return cls
