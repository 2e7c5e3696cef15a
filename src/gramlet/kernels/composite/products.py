"""Products of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

from gramlet.kernels.composite.members import CompositeKernel
from gramlet.kernels.composite.profile import Operation
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags


@shared_texts
class KernelProduct(CompositeKernel):
    """Product of kernels.

    k(G, G') = Π_k k_k(G, G'). ``k1 * k2`` creates one. A member is normalised if its own
    ``normalize`` is True; if the norm of a normalised member is 0, the product is 0. Positive
    semi-definite if all members are (Schur). Cost: that of the members.

    Parameters
    ----------
    kernels : list of kernels or of (name, kernel) pairs
        Unnamed kernels are named as `make_pipeline` names its steps, by class in lower case.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    Attributes
    ----------
    kernels_ : list of kernels
        The fitted members.

    Examples
    --------
    >>> from gramlet import EdgeHistogram, KernelProduct, VertexHistogram
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> KernelProduct([VertexHistogram(), EdgeHistogram()]).fit_transform(graphs)
    array([[ 2.,  6.],
           [ 6., 20.]])
    """

    _operation: ClassVar[Operation] = "product"

    def __init__(
        self,
        kernels: Sequence[Any],
        *,
        normalize: bool = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.kernels = kernels
        self.normalize = normalize
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __graph_tags__(self) -> GraphTags:
        return replace(super().__graph_tags__(), after_fit=("normalize",))
