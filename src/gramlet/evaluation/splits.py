"""Outer and inner folds: stratified by class, by group, or plain; and groups of graphs.

They are made from a `Protocol` and a target; `selection` fits on the parts.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Ints
from gramlet.files.dataset import Dataset
from gramlet.files.target import as_values

GROUP_RULES = ("scaffold", "cluster")
Pair = tuple[Ints, Ints]


@dataclass(frozen=True)
class Split:
    """One training part with its test part, and the inner folds of the training part.

    All indices count graphs over the whole set; ``inner`` never contains a test graph.
    """

    repeat: int
    fold: int
    train: Ints
    test: Ints
    inner: tuple[Pair, ...]


def make_splits(
    protocol: Any, values: Array, classes: Array, groups: Ints | None, inner: bool = True
) -> list[Split]:
    """All splits of a protocol; the same at every call.

    Parameters
    ----------
    protocol : Protocol
    values : array
        Codes of classes, or numbers.
    classes : array
        The classes; empty for a regression, whose folds are shuffled and not stratified.
    groups : array of int64, optional
        Graphs of one group are never separated, also in inner folds.
    inner : bool
        Whether inner folds are needed.
    """
    maker = _Maker(protocol, values, classes, groups, inner)
    maker.check()
    return [
        Split(repeat, fold, train, test, maker.inner(train, repeat, fold))
        for repeat in range(protocol.repeats)
        for fold, (train, test) in enumerate(maker.outer(repeat))
    ]


def split_whole(protocol: Any, values: Array, classes: Array, groups: Ints | None) -> Split:
    """All graphs as one training part: for choosing options, not for an estimate."""
    maker = _Maker(protocol, values, classes, groups, True)
    maker.check_whole()
    everything = np.arange(len(values), dtype=np.int64)
    return Split(0, 0, everything, everything[:0], maker.inner(everything, 0, 0))


class _Maker:
    """Makes outer and inner folds of one set of graphs."""

    def __init__(
        self, protocol: Any, values: Array, classes: Array, groups: Ints | None, inner: bool
    ) -> None:
        self._protocol = protocol
        self._values = values
        self._classes = classes
        self._groups = groups
        self._inner = inner

    def check(self) -> None:
        """Refuse a protocol if there are too few graphs for it."""
        if self._groups is not None:
            self._check_groups()
        elif len(self._classes):
            self._check_members()
        else:
            self._check_number()

    def check_whole(self) -> None:
        folds = self._protocol.inner_parts
        if self._groups is not None or not len(self._classes):
            parts = self._values if self._groups is None else np.unique(self._groups)
            if len(parts) < folds:
                kind = "graph" if self._groups is None else "group"
                raise ValueError(
                    f"{_there_are(len(parts), kind)}, fewer than the {folds} folds that choose C "
                    f"and the options. {_at_most(len(parts), 'inner folds', kind)}"
                )
            return
        if self._members().min() < folds:
            raise ValueError(
                f"{self._smallest(folds)}, fewer than the {folds} folds that choose C and the "
                f"options. {self._way_out(folds, 'inner folds')}"
            )

    def _check_members(self) -> None:
        rules = self._protocol
        count = int(self._members().min())
        if rules.test_size is None:
            if count < rules.folds:
                raise ValueError(
                    f"{self._smallest(rules.folds)}, fewer than the {rules.folds} folds. "
                    f"{self._way_out(rules.folds, 'folds')}"
                )
            left = count - math.ceil(count / rules.folds)
        else:
            left = math.floor(count * (1 - rules.test_size))
        if self._inner and left < rules.inner_parts:
            raise ValueError(
                f"{self._smallest(self._enough())}; as few as {left} of them are in a training "
                f"part, fewer than the {rules.inner_parts} inner folds. "
                f"{self._way_out(self._enough(), 'inner folds', left)}"
            )

    def _members(self) -> Ints:
        """The number of graphs per class."""
        return np.bincount(self._values, minlength=len(self._classes))

    def _smallest(self, least: int) -> str:
        """The smallest class, and how many others have fewer than ``least`` graphs."""
        members = self._members()
        smallest = int(np.argmin(members))
        others = int(np.count_nonzero(members < least)) - 1
        beside = f" (and {others} more {'class is' if others == 1 else 'classes are'} too small)"
        return (
            f"Class {self._classes[smallest].item()!r} has {_graphs(int(members[smallest]))}"
            f"{beside if others else ''}"
        )

    def _way_out(self, least: int, folds: str, most: int | None = None) -> str:
        """What to do if classes have fewer than ``least`` graphs.

        At most ``most`` folds are possible, by default one per graph of the smallest class. Classes
        can be left out if two remain.
        """
        members = self._members()
        most = int(members.min()) if most is None else most
        n_small = int(np.count_nonzero(members < least))
        ways = [f"use at most {most} {folds}"] if most > 1 else []
        if len(members) - n_small > 1:
            which = "that class" if n_small == 1 else f"those {n_small} classes"
            ways.append(f"leave {which} out with min_class_size={least}")
        if not ways:
            return f"Add graphs of {'that class' if n_small == 1 else 'those classes'}."
        advice = ", or ".join(ways)
        return f"{advice[0].upper()}{advice[1:]}."

    def _enough(self) -> int:
        """The smallest class that has a graph for each inner fold in every training part."""
        rules = self._protocol
        size = rules.inner_parts
        while True:
            if rules.test_size is None:
                left = size - math.ceil(size / rules.folds)
            else:
                left = math.floor(size * (1 - rules.test_size))
            if left >= rules.inner_parts:
                return int(size)
            size += 1

    def _check_number(self) -> None:
        rules, n = self._protocol, len(self._values)
        if rules.test_size is None:
            left = n - math.ceil(n / rules.folds)
            if n < rules.folds:
                raise ValueError(
                    f"{_there_are(n, 'graph')} for {rules.folds} folds. "
                    f"{_at_most(n, 'folds', 'graph')}"
                )
        else:
            left = n - math.ceil(n * rules.test_size)
        if left < max(2, rules.inner_parts * self._inner):
            raise ValueError(_too_few_to_choose(n, left, rules.inner_parts, "graph"))

    def _check_groups(self) -> None:
        rules = self._protocol
        assert self._groups is not None, "only called where there are groups"
        n_groups = len(np.unique(self._groups))
        if n_groups == 1:
            raise ValueError(
                "All graphs are in one group. Groups are not split, so no graphs can be held out. "
                "Evaluate without groups=."
            )
        if rules.test_size is None:
            if n_groups < rules.folds:
                raise ValueError(
                    f"There are {n_groups} groups for {rules.folds} folds; groups are not split. "
                    f"{_at_most(n_groups, 'folds', 'group')}"
                )
            left = n_groups - math.ceil(n_groups / rules.folds)
        else:
            left = n_groups - math.ceil(n_groups * rules.test_size)
        if left < max(1, rules.inner_parts * self._inner):
            raise ValueError(_too_few_to_choose(n_groups, left, rules.inner_parts, "group"))

    def outer(self, repeat: int) -> Iterator[Pair]:
        rules = self._protocol
        seed = _seed(rules.random_state, repeat)
        if rules.test_size is None:
            splitter = self._folds(rules.folds, seed)
        else:
            splitter = self._share(rules.test_size, seed)
        for fold, (train, test) in enumerate(self._parts(splitter, None)):
            self._check_part(train, test, f"fold {fold} of repeat {repeat}")
            yield np.sort(train), np.sort(test)

    def inner(self, train: Ints, repeat: int, fold: int) -> tuple[Pair, ...]:
        if not self._inner:
            return ()
        rules = self._protocol
        seed = _seed(rules.random_state, repeat, fold)
        if rules.inner_size is None:
            splitter = self._folds(rules.inner_folds, seed)
        else:
            self._check_inner_size(len(train))
            splitter = self._share(rules.inner_size, seed)
        pairs = []
        for k, (fitted, held) in enumerate(self._parts(splitter, train)):
            self._check_part(
                fitted, held, f"inner fold {k} in the training part of fold {fold}, repeat {repeat}"
            )
            pairs.append((fitted, held))
        return tuple(pairs)

    def _check_inner_size(self, n: int) -> None:
        """Refuse a share that holds out fewer graphs than there are classes."""
        held = math.ceil(n * self._protocol.inner_size)
        if self._groups is None and min(held, n - held) < len(self._classes):
            raise ValueError(
                f"inner_size={self._protocol.inner_size:g} holds out {_graphs(held)} of a training "
                f"part of {n}, fewer than the {len(self._classes)} classes. Use a larger share, or "
                "inner folds."
            )

    def _parts(self, splitter: Any, among: Ints | None) -> Iterator[Pair]:
        among = np.arange(len(self._values), dtype=np.int64) if among is None else among
        groups = None if self._groups is None else self._groups[among]
        with warnings.catch_warnings():
            # A hint (`group_hints`) names the class; without groups such a class is refused.
            warnings.filterwarnings("ignore", message="The least populated class in y")
            pairs = list(splitter.split(np.zeros(len(among)), self._values[among], groups))
        for fitted, held in pairs:
            yield among[fitted], among[held]

    def _folds(self, n: int, seed: int) -> Any:
        from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

        if self._groups is None:
            kind = StratifiedKFold if len(self._classes) else KFold
        else:
            kind = StratifiedGroupKFold if len(self._classes) else GroupKFold
        return kind(n, shuffle=True, random_state=seed)

    def _share(self, share: float, seed: int) -> Any:
        from sklearn.model_selection import (
            GroupShuffleSplit,
            ShuffleSplit,
            StratifiedShuffleSplit,
        )

        if self._groups is not None:
            return GroupShuffleSplit(1, test_size=share, random_state=seed)
        kind = StratifiedShuffleSplit if len(self._classes) else ShuffleSplit
        return kind(1, test_size=share, random_state=seed)

    def _check_part(self, train: Ints, test: Ints, which: str) -> None:
        """Refuse parts that are empty or have one class, because groups are of unequal size."""
        if self._groups is None:
            return
        if not len(test) or not len(train):
            raise ValueError(
                f"The groups are too unequal: {which} has {_graphs(len(test))} to test and "
                f"{_graphs(len(train))} to train. Use fewer folds."
            )
        if len(self._classes) and len(np.unique(self._values[train])) < 2:
            only = self._classes[self._values[train[0]]].item()
            raise ValueError(
                f"All graphs that train for {which} are of class {only!r}: the other classes are "
                "in few groups. Use fewer folds, or other groups."
            )


def _graphs(count: int) -> str:
    return f"{count} graph" if count == 1 else f"{count} graphs"


def _there_are(count: int, kind: str) -> str:
    return f"There is 1 {kind}" if count == 1 else f"There are {count} {kind}s"


def _at_most(count: int, folds: str, kind: str) -> str:
    """What to do if there are more folds than graphs or groups: there are at least two folds."""
    return f"Use at most {count} {folds}." if count > 1 else f"At least two {kind}s are needed."


def _too_few_to_choose(count: int, left: int, folds: int, kind: str) -> str:
    """The message for training parts of ``left`` graphs or groups, fewer than inner folds."""
    way_out = f"Use at most {left} inner folds" if left > 1 else f"Use more {kind}s"
    return (
        f"{_there_are(count, kind)}, of which as few as {left} are in a training part, fewer than "
        f"the {folds} inner folds. {way_out}, or test on fewer at a time."
    )


def _seed(*parts: int) -> int:
    """One seed per split, independent of the others."""
    return int(np.random.SeedSequence(parts).generate_state(1)[0])


def groups_of(given: Any, rule: str | None, graphs: Any, n_graphs: int) -> Ints | None:
    """One code per graph, equal for graphs of one group; None if there are no groups.

    Parameters
    ----------
    given : array-like, "scaffold", "cluster" or None
        The ``groups`` of `evaluate`, which override the protocol's.
    rule : {"scaffold", "cluster"} or None
        The protocol's groups.
    graphs : Dataset or anything else
        Scaffolds are those of a Dataset's molecules.
    n_graphs : int
    """
    groups = rule if given is None else given
    if groups is None:
        return None
    if isinstance(groups, str):
        if groups not in GROUP_RULES:
            raise ValueError(
                f"groups must be 'scaffold', 'cluster' or one value per graph; got {groups!r}."
            )
        groups = _scaffolds(graphs) if groups == "scaffold" else _clusters(graphs)
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


def _clusters(graphs: Any) -> Any:
    import gramlet

    cluster_graphs = getattr(gramlet, "cluster_graphs", None)
    if cluster_graphs is None:
        raise ValueError(
            "groups='cluster' needs gramlet.cluster_graphs, which this version does not have. Give "
            "the groups themselves as an array."
        )
    return cluster_graphs(graphs.graphs if isinstance(graphs, Dataset) else graphs).labels
