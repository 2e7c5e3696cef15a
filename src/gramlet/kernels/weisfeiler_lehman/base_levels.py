"""Any kernel on the levels of colour refinement: fitted once per level, values summed."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from gramlet.common.arrays import Ints
from gramlet.common.stored_state import require, require_instance, require_items
from gramlet.engine.core.tiles import Tiling
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical
from gramlet.kernels.contract.count_kernel import CountKernel
from gramlet.kernels.contract.kernel import GraphKernel
from gramlet.kernels.contract.nested import (
    base_profile,
    fit_base,
    has_features,
    member_features,
    new_base,
)
from gramlet.kernels.contract.sum_profile import SumProfile
from gramlet.kernels.weisfeiler_lehman.colour_counts import Colouring

__all__ = ["LevelBases", "checked_base"]


def checked_base(base: Any) -> GraphKernel:
    """A new base of WeisfeilerLehman; raises ValueError if the base refines labels itself."""
    kernel = new_base(base, "WeisfeilerLehman")
    if kernel.__graph_tags__().refines:
        raise ValueError(
            f"WeisfeilerLehman(base={kernel!r}): this base refines node labels itself. Give a "
            'base that uses labels unchanged, such as "sp", or use the base alone.'
        )
    return kernel


class LevelBases:
    """A base kernel on every level of a refinement.

    Parameters
    ----------
    colouring : Colouring
    base : str or kernel

    Attributes
    ----------
    bases : list of kernels
        One fitted base per level, with the colours of the level as node labels.
    """

    def __init__(self, colouring: Colouring, base: Any) -> None:
        self.colouring = colouring
        levels = colouring.level_numbers
        self.bases: list[Any] = [checked_base(base) for _ in levels]

    def fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> SumProfile:
        """Refine, and fit the base on every level."""
        levels = self._levels(batch, self.colouring.fit(batch))
        for kernel, level in zip(self.bases, levels, strict=True):
            fit_base(kernel, level, y, tiling)
        return SumProfile(tuple(b.profile_ for b in self.bases), bool(self.bases[0].normalize))

    def profile(self, batch: GraphBatch, tiling: Tiling) -> SumProfile:
        """The profile of new graphs."""
        levels = self._levels(batch, self.colouring.apply(batch))
        members = tuple(
            base_profile(base, level, tiling)
            for base, level in zip(self.bases, levels, strict=True)
        )
        return SumProfile(members, bool(self.bases[0].normalize))

    def features(self, batch: GraphBatch) -> Any:
        """The features of the bases side by side, level by level."""
        levels = self._levels(batch, self.colouring.apply(batch))
        blocks = [member_features(b, x) for b, x in zip(self.bases, levels, strict=True)]
        if all(sparse.issparse(block) for block in blocks):
            return sparse.csr_matrix(sparse.hstack(blocks, format="csr"))
        return np.hstack([b.toarray() if sparse.issparse(b) else b for b in blocks])

    def names(self) -> list[str]:
        """The level, then the base's name of the feature, with colours as names of nodes."""
        numbers = self.colouring.level_numbers
        return [
            f"h{level}:{name}"
            for level, base in zip(numbers, self.bases, strict=True)
            for name in base.get_feature_names_out()
        ]

    @property
    def widths(self) -> list[int]:
        """The number of features of each level."""
        return [_width(base) for base in self.bases]

    @property
    def n_features(self) -> int:
        return sum(self.widths)

    def validate(self) -> None:
        """Raise ValueError if colours and bases do not fit together."""
        require_instance("colouring", self.colouring, Colouring)
        n_levels = len(self.colouring.level_numbers)
        require(n_levels > 0, "there must be a level")
        require_items("bases", self.bases, GraphKernel, n_levels)
        for base in self.bases:
            require(hasattr(base, "profile_"), "a base is not fitted")
            require(type(base) is type(self.bases[0]), "the bases are of different kinds")
            require(base.normalize == self.bases[0].normalize, "the bases do not agree")

    @staticmethod
    def _levels(batch: GraphBatch, levels: Ints) -> list[GraphBatch]:
        """The graphs with the colours of each level as node labels."""
        most = int(levels.max(initial=-1)) + 1
        numbers = tuple(range(most))
        return [
            batch.with_columns(
                node_labels=Categorical(colours, numbers[: int(colours.max(initial=-1)) + 1])
            )
            for colours in levels
        ]


def _width(base: Any) -> int:
    if not has_features(base):
        return 0
    if isinstance(base, CountKernel):
        return int(base.counter_.n_features)
    return len(base.get_feature_names_out())
