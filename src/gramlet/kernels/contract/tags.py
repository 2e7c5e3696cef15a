"""Tags: facts about an estimator, which the estimator itself declares in one place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class GraphTags:
    """Facts about an estimator with its current parameters.

    Attributes
    ----------
    kind : {"kernel", "embedding"}
        Whether `transform` gives kernel values or features.
    features : bool
        Whether a kernel has an explicit feature map (`features`).
    features_by_graphs : bool
        Whether that depends on the fitted graphs; ``features`` is False before `fit`.
    supervised : bool
        Whether `fit` uses the classes.
    random : bool
        Whether `fit` draws random numbers (there is a ``random_state``).
    depends_on_fitted : bool
        Whether k(G, G') depends on which other graphs were fitted.
    directed : bool
        Whether directed graphs can be compared.
    psd : bool
        Whether every Gram matrix is positive semi-definite.
    needs : tuple of str
        Columns that the graphs must have ("node_attributes", "edge_attributes").
    uses : tuple of str or None
        Columns that values depend on if the graphs have them ("node_labels", "edge_labels",
        "edge_weights", "node_attributes", "edge_attributes"); None if that is not known.
    after_fit : tuple of str
        Parameters that `fit` does not use: setting one on a fitted estimator has the same result as
        fitting with it.
    whole_matrix : bool
        Whether the Gram matrix is only defined as a whole, so that it cannot be split into tiles.
    refines : bool
        Whether the kernel refines node labels itself, so that it cannot be the base of another
        refinement.
    distances : bool
        Whether the output is a function of distances, which serve several values of parameters in
        ``after_fit``: `decays` of a kernel, `from_distances` and `distance` of an embedding.
    unit : bool
        Whether k(G, G) is 1 for every graph by construction: such a kernel is normalised already.
    gradients : bool
        Whether a kernel has `gram_with_gradient`, the derivatives with respect to its parameters.
    """

    kind: Literal["kernel", "embedding"] = "kernel"
    features: bool = False
    features_by_graphs: bool = False
    supervised: bool = False
    random: bool = False
    depends_on_fitted: bool = False
    directed: bool = False
    psd: bool = True
    needs: tuple[str, ...] = ()
    uses: tuple[str, ...] | None = None
    after_fit: tuple[str, ...] = ()
    whole_matrix: bool = False
    refines: bool = False
    distances: bool = False
    unit: bool = False
    gradients: bool = False


def used(**columns: Any) -> tuple[str, ...]:
    """The names of the columns that are switched on; "auto" counts as on.

    >>> used(node_labels="auto", edge_weights=False)
    ('node_labels',)
    """
    return tuple(name for name, switch in columns.items() if switch)


def joined_uses(*several: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The columns that any of several estimators uses; None if that of one is not known.

    >>> joined_uses(("node_labels",), ("edge_labels", "node_labels"))
    ('edge_labels', 'node_labels')
    """
    known = [uses for uses in several if uses is not None]
    if len(known) < len(several):
        return None
    return tuple(sorted({column for uses in known for column in uses}))


def graph_tags(estimator: Any) -> GraphTags:
    """The tags of a kernel or an embedding of gramlet; raises TypeError for anything else.

    >>> from gramlet import WeisfeilerLehman
    >>> graph_tags(WeisfeilerLehman()).features
    True
    """
    own = getattr(estimator, "__graph_tags__", None)
    if own is None or isinstance(estimator, type):
        raise TypeError(
            f"{estimator!r} is neither a kernel nor an embedding of gramlet. Give an estimator "
            "such as WeisfeilerLehman(), or derive yours from gramlet.kernels.contract.GraphKernel."
        )
    tags: GraphTags = own()
    return tags


def is_embedding(estimator: Any) -> bool:
    """Whether `transform` of an estimator gives features instead of kernel values."""
    return graph_tags(estimator).kind == "embedding"
