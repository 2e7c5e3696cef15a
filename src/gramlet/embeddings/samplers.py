"""Samplers: how the k nodes of a subgraph are drawn. The engine makes the draws."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from gramlet.common.arrays import Ints
from gramlet.common.fields import fields
from gramlet.common.parameters import Interval
from gramlet.engine.graphlets.sampling import sample_codes
from gramlet.graphs.conversion.convert import as_batch

__all__ = ["RandomWalkSampler", "Sampler", "UniformSampler", "stream_seed"]


def stream_seed(random_state: Any) -> int:
    """The seed that, together with a graph, determines the graph's random stream."""
    return int(check_random_state(random_state).randint(2**63 - 1, dtype=np.int64))


class Sampler(BaseEstimator):
    """Base class of samplers: a distribution of k nodes of a graph."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    stored = fields()

    @abstractmethod
    def engine_flyback(self) -> float | None:
        """Check the parameters; return the flyback as the engine takes it, None for uniform."""

    def sample(
        self, X: Any, k: int, n_samples: int, random_state: Any = None, n_jobs: int | None = None
    ) -> Ints:
        """Codes of subgraphs induced by k nodes, in the order drawn.

        Bit 0 of a code is the pair (0, 1) of drawn nodes, then (0, 2), ..., (0, k−1), (1, 2), ...
        The draws from a graph depend only on ``random_state`` and the graph, not on other graphs.

        Parameters
        ----------
        X : graphs, as `gramlet.as_batch` takes them
        k : int
            2 to 8; graphs with fewer nodes are padded with isolated nodes.
        n_samples : int
            Number of subgraphs per graph.
        random_state : int, RandomState or None
        n_jobs : int or None
            Number of threads.

        Returns
        -------
        array of int64, shape (len(X), n_samples)

        Examples
        --------
        >>> from gramlet import UniformSampler
        >>> triangle = ([(0, 1), (1, 2), (0, 2)], None)
        >>> UniformSampler().sample([triangle], k=3, n_samples=4).tolist()
        [[7, 7, 7, 7]]
        """
        flyback = self.engine_flyback()
        seed = stream_seed(random_state)
        return sample_codes(as_batch(X), k, n_samples, seed, flyback=flyback, n_jobs=n_jobs)


class UniformSampler(Sampler):
    """Draws k distinct nodes uniformly, in uniformly random order.

    The expected class indicator of the drawn subgraphs is the k-spectrum of the graphlet kernel. On
    large, sparse graphs most of these subgraphs have hardly any edges; use `RandomWalkSampler`
    there.

    Examples
    --------
    >>> from gramlet import UniformSampler
    >>> UniformSampler().sample([([(0, 1)], ["a", "a"])], k=2, n_samples=3).tolist()
    [[1, 1, 1]]
    """

    def engine_flyback(self) -> None:
        """None, which means uniform draws."""


class RandomWalkSampler(Sampler):
    """Draws the first k distinct nodes of a random walk that may return to its start.

    The start is uniform. At every step the walk returns to the start with probability ``flyback``,
    otherwise it moves to a uniform neighbour; a node visited for the first time is collected. When
    all nodes of a component are collected, the walk continues from a new start, a uniform node not
    yet collected. Nodes are in the order in which they are collected. If a walk finds no new node
    for many steps, the next one is drawn from its exact distribution, so that any flyback below 1
    is fast.

    Parameters
    ----------
    flyback : float in [0, 1), default 0.15

    Examples
    --------
    A walk on a path of four nodes draws connected nodes:

    >>> from gramlet import RandomWalkSampler
    >>> path = [([(0, 1), (1, 2), (2, 3)], None)]
    >>> set(RandomWalkSampler().sample(path, k=2, n_samples=50, random_state=0)[0].tolist())
    {1}
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "flyback": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(self, flyback: float = 0.15) -> None:
        self.flyback = flyback

    def engine_flyback(self) -> float:
        """The probability of returning to the start."""
        self._validate_params()
        return float(self.flyback)
