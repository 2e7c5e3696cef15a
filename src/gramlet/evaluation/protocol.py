"""The protocol of an evaluation: number of folds, values of C, how options are chosen.

`splits` makes the folds; `selection` fits and tests on them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np

from gramlet.common.arrays import Array, Ints
from gramlet.common.checks import is_integer
from gramlet.evaluation.splits import GROUP_RULES, Split, make_splits, split_whole

DEFAULT_C = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)


@dataclass(frozen=True)
class Protocol:
    """Repeated stratified cross-validation with options chosen on the training parts only.

    Every outer training part is split into ``inner_folds`` stratified folds; the options
    and the C with the best score over these are fitted on the whole training part and tested
    once on the outer test part. Ties go to the options listed first, then to the smaller C. Folds
    of a regression are shuffled and not stratified.

    Parameters
    ----------
    folds : int, default 10
        Outer folds; ignored if ``test_size`` is given.
    repeats : int, default 10
        Number of repetitions, each with new random folds.
    inner_folds : int, default 5
        Folds of the inner cross-validation.
    C : sequence of float, default 1e-3, 1e-2, ..., 1e3
        Penalties of the support vector machine to choose from; a ridge penalty is the mean
        self-similarity of the centred training matrix divided by C.
    test_size : float, optional
        Instead of folds: hold out this share of the graphs, ``repeats`` times. See `holdout`.
    random_state : int, default 0
        Seed of all splits. Two evaluations with one protocol see the same splits.
    tol : float, default 1e-3
        Tolerance of the support vector machines.
    max_iter : int, default 1,000,000
        Limit of steps of a support vector machine; a warning reports machines that reach it.
    groups : {"scaffold", "cluster"}, optional
        Graphs of one group are never in a training part and its test part at once, also in inner
        folds. "scaffold": molecules with the same Murcko scaffold; "cluster": graphs of one cluster
        of `gramlet.cluster_graphs`. Other groups are given to ``evaluate(groups=)``.
    selection : {"nested", "best-of-grid"}, default "nested"
        "best-of-grid" chooses on the test parts themselves, as some papers did: one set of options
        and one C for all of them. Its results are marked "optimistic" wherever they are shown.
    scale_C : bool, default False
        Whether C of a support vector machine is relative to the data: divided by the mean
        self-similarity of the centred training matrix.
    inner_size : float, optional
        Instead of inner folds: hold out this share of each training part once, and choose by it.
    retrainings : int, default 1
        How often an estimator that draws random numbers is fitted, with different seeds, on each
        training part with the options chosen there; scores are means over these. See `errica`.

    Examples
    --------
    >>> from gramlet import Protocol
    >>> Protocol(folds=5, repeats=3).n_runs
    15
    >>> Protocol.holdout().describe()
    '80/20 split × 10, C and options chosen by inner 10-fold'
    """

    folds: int = 10
    repeats: int = 10
    inner_folds: int = 5
    C: tuple[float, ...] = DEFAULT_C
    test_size: float | None = None
    random_state: int = 0
    tol: float = 1e-3
    max_iter: int = 1_000_000
    groups: str | None = None
    selection: str = "nested"
    scale_C: bool = False
    inner_size: float | None = None
    retrainings: int = 1

    def __post_init__(self) -> None:
        if self.test_size is None:
            self._check_integer("folds", 2)
        self._check_share("test_size")
        self._check_share("inner_size")
        self._check_integer("retrainings", 1)
        self._check_integer("repeats", 1)
        self._check_integer("inner_folds", 2)
        self._check_integer("random_state", 0)
        self._check_integer("max_iter", 1)
        if not (isinstance(self.tol, Real) and 0 < self.tol < math.inf):
            raise ValueError(
                f"The 'tol' parameter of Protocol must be a positive number. Got {self.tol!r} "
                "instead."
            )
        if self.selection not in ("nested", "best-of-grid"):
            raise ValueError(
                "The 'selection' parameter of Protocol must be 'nested' or 'best-of-grid'. Got "
                f"{self.selection!r} instead."
            )
        if not isinstance(self.scale_C, bool | np.bool_):
            raise ValueError(
                f"The 'scale_C' parameter of Protocol must be True or False. Got {self.scale_C!r} "
                "instead."
            )
        object.__setattr__(self, "scale_C", bool(self.scale_C))
        if self.groups is not None and not (
            isinstance(self.groups, str) and self.groups in GROUP_RULES
        ):
            raise ValueError(
                "The 'groups' parameter of Protocol must be 'scaffold', 'cluster' or None. Got "
                f"{self.groups!r} instead. Groups of your own are given to evaluate(groups=)."
            )
        object.__setattr__(self, "C", self._checked_costs())

    def _check_integer(self, name: str, least: int) -> None:
        value = getattr(self, name)
        if not is_integer(value) or value < least:
            raise ValueError(
                f"The {name!r} parameter of Protocol must be an integer of at least {least}. "
                f"Got {value!r} instead."
            )
        object.__setattr__(self, name, int(value))

    def _check_share(self, name: str) -> None:
        value: Any = getattr(self, name)
        if value is not None and not (isinstance(value, Real) and 0 < float(value) < 1):
            raise ValueError(
                f"The {name!r} parameter of Protocol must be a number between 0 and 1, or None "
                f"for folds. Got {value!r} instead."
            )

    def _checked_costs(self) -> tuple[float, ...]:
        given = np.atleast_1d(np.asarray(self.C, dtype=object)).ravel().tolist()
        costs = [float(value) for value in given if isinstance(value, Real)]
        if not costs or len(costs) < len(given) or not all(0 < c < math.inf for c in costs):
            raise ValueError(
                f"The 'C' parameter of Protocol must be positive numbers. Got {self.C!r} instead."
            )
        return tuple(sorted(set(costs)))

    @classmethod
    def holdout(
        cls, test_size: float = 0.2, repeats: int = 10, inner_folds: int = 10, **others: Any
    ) -> Protocol:
        """Hold out a share of the graphs several times; choose options by folds of the rest.

        The setting of the multiscale Laplacian kernel's experiments (Kondor and Pan, 2016). With
        groups, it is a share of the groups.
        """
        return cls(test_size=test_size, repeats=repeats, inner_folds=inner_folds, **others)

    @classmethod
    def errica(
        cls, inner_size: float = 0.1, retrainings: int = 3, repeats: int = 1, **others: Any
    ) -> Protocol:
        """Ten folds, options chosen on a held-out tenth of each training part, three final fits.

        The protocol of Errica et al. (2020), A fair comparison of graph neural networks for graph
        classification. Estimators without random numbers, such as most kernels, are fitted once on
        the same splits.

        >>> Protocol.errica().describe()
        '10-fold cross-validation × 1, C and options chosen on a held-out 10 %, 3 final fits'
        """
        return cls(inner_size=inner_size, retrainings=retrainings, repeats=repeats, **others)

    @property
    def inner_parts(self) -> int:
        """The least number of parts of a training part: ``inner_folds``, or 2."""
        return self.inner_folds if self.inner_size is None else 2

    @property
    def folds_per_repeat(self) -> int:
        """Test parts per repeat: ``folds``, or 1 with a held-out share."""
        return self.folds if self.test_size is None else 1

    @property
    def n_runs(self) -> int:
        """The total number of test parts."""
        return self.repeats * self.folds_per_repeat

    @property
    def optimistic(self) -> bool:
        """Whether options are chosen on the parts that test them."""
        return self.selection == "best-of-grid"

    def describe(self, grouped: bool = False) -> str:
        """One line for the head of a table; ``grouped``: whether groups were given as an array."""
        grouped = grouped or self.groups is not None
        if self.test_size is None:
            outer = f"{self.folds}-fold cross-validation × {self.repeats}"
        else:
            share = round(100 * self.test_size)
            of_groups = " of groups" if grouped else ""
            outer = f"{100 - share}/{share} split{of_groups} × {self.repeats}"
        if grouped:
            kinds = {"scaffold": "scaffolds", "cluster": "clusters"}
            outer += f", {kinds.get(self.groups or '', 'groups')} kept whole"
        if self.optimistic:
            return f"{outer}, C and options chosen on the test parts (optimistic)"
        if self.inner_size is None:
            inner = f"by inner {self.inner_folds}-fold"
        else:
            inner = f"on a held-out {100 * self.inner_size:g} %"
        finals = f", {self.retrainings} final fits" if self.retrainings > 1 else ""
        return f"{outer}, C and options chosen {inner}{finals}"

    def splits(self, codes: Ints, classes: Array, groups: Ints | None = None) -> list[Split]:
        """All splits of graphs with these class codes; the same at every call.

        Parameters
        ----------
        codes : array of int64
            Each graph's class as a position in ``classes``; or numbers, for a regression.
        classes : array
            The classes' own names, for messages; empty for a regression.
        groups : array of int64, optional
            One code per graph; graphs with the same code stay together.
        """
        return make_splits(self, codes, classes, groups)

    def whole(self, codes: Ints, classes: Array, groups: Ints | None = None) -> Split:
        """All graphs as one training part: for choosing options, not for an estimate."""
        return split_whole(self, codes, classes, groups)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return {key: list(v) if isinstance(v, tuple) else v for key, v in plain.items()}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Protocol:
        """The protocol that `to_dict` wrote."""
        fields: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in plain.items()
        }
        return cls(**fields)
