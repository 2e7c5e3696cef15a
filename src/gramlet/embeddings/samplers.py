"""Samplers: which k nodes of a graph are looked at. Drawing itself is the engine's work."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from gramlet.common.arrays import Ints
from gramlet.common.parameters import CheckedEstimator, Interval, require_parameters
from gramlet.engine.graphlets.sampling import sample_codes
from gramlet.graphs.convert import as_batch

__all__ = ["RandomWalkSampler", "Sampler", "UniformSampler", "stream_seed"]


def stream_seed(random_state: Any) -> int:
    """The number that, with a graph, starts the graph's random stream."""
    return int(check_random_state(random_state).randint(2**63 - 1, dtype=np.int64))


class Sampler(CheckedEstimator):
    """Base of the samplers: a law by which k nodes of a graph are drawn."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    @abstractmethod
    def engine_flyback(self) -> float | None:
        """The law as the engine takes it, after a check of the parameters."""

    def validate(self) -> None:
        """Check the parameters; ValueError if one is not allowed."""
        require_parameters(self)

    def sample(
        self, X: Any, k: int, n_samples: int, random_state: Any = None, n_jobs: int | None = None
    ) -> Ints:
        """Codes of subgraphs induced by k nodes, in the order drawn.

        Bit 0 of a code is the pair (0, 1) of drawn nodes, then (0, 2), ..., (0, k−1), (1, 2), ...
        What is drawn depends on ``random_state`` and the graph alone, not on the others of X.

        Parameters
        ----------
        X : graphs, as `gramlet.as_batch` takes them
        k : int
            2 to 8; graphs with fewer nodes are padded with isolated ones.
        n_samples : int
            Subgraphs per graph.
        random_state : int, RandomState or None
        n_jobs : int or None
            Threads.

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

    The mean of the class indicators of what it draws is the k-spectrum of the graphlet kernel. On
    large, sparse graphs most of what it draws has hardly an edge: there, walk.

    Examples
    --------
    >>> from gramlet import UniformSampler
    >>> UniformSampler().sample([([(0, 1)], ["a", "a"])], k=2, n_samples=3).tolist()
    [[1, 1, 1]]
    """

    def engine_flyback(self) -> None:
        """None: the uniform law."""


class RandomWalkSampler(Sampler):
    """Draws the first k distinct nodes of a random walk that flies back to its start.

    The start is uniform. At every step the walk goes back to the start with probability
    ``flyback``, else to a uniform neighbour; a node seen for the first time is collected. When all
    nodes of a component are collected the walk starts again at a uniform node not yet collected,
    which becomes the start. Nodes keep the order of collection. A walk that idles is moved on by
    the exact law of its next new node, so that any flyback below 1 costs little.

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
        """The probability of going back."""
        self._validate_params()
        return float(self.flyback)
