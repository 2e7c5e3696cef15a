"""Which kernels are compared, and how: options of ``gramlet evaluate`` and ``gramlet report``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from gramlet.cli.arguments.options import (
    Costs,
    Folds,
    Fresh,
    InnerFolds,
    Jobs,
    Normalize,
    Repeats,
    Seed,
)

__all__ = ["Comparing"]

_MANY_GRAPHS = 2000


class Groups(StrEnum):
    """How graphs are grouped; a group is never split."""

    scaffold = "scaffold"


@dataclass(frozen=True)
class Comparing:
    """The kernels, their options and the protocol."""

    kernel: Annotated[
        list[str] | None,
        typer.Option("--kernel", "-k", metavar="NAME", help="Kernel to evaluate; repeatable."),
    ] = None
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="KEY=VALUE[,VALUE]",
            help="Values to choose from, for the kernels that have this parameter; repeatable.",
        ),
    ] = None
    costs: Costs = None
    folds: Folds = 10
    repeats: Repeats = None
    inner_folds: InnerFolds = 5
    groups: Annotated[
        Groups | None,
        typer.Option(
            "--groups", help="Keep molecules with the same Murcko scaffold in one test part."
        ),
    ] = None
    normalize: Normalize = True
    fresh: Fresh = False
    seed: Seed = 0
    jobs: Jobs = -1

    def protocol(self, n_graphs: int, **others: Any) -> Any:
        """The protocol with these options and ``others``, fields that only some commands have.

        By default many graphs are divided into folds only once: another division would hardly
        change the mean.
        """
        from gramlet.evaluation import Protocol
        from gramlet.evaluation.protocols.protocol import DEFAULT_C

        return Protocol(
            folds=self.folds,
            repeats=self.repeats or (3 if n_graphs < _MANY_GRAPHS else 1),
            inner_folds=self.inner_folds,
            random_state=self.seed,
            C=tuple(self.costs) if self.costs else DEFAULT_C,
            groups=None if self.groups is None else self.groups.value,
            **others,
        )
