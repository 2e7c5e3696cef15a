"""Networks as scikit-learn classifiers of graphs: parameters, checks, inputs, fitted state.

PyTorch is not needed until a classifier is fitted; a fitted classifier contains plain arrays.
"""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.common.parameters import Interval
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.conversion.convert import as_batch
from gramlet.kernels.contract.columns import required_attributes
from gramlet.kernels.contract.labels import LABEL_CHOICE, NodeLabels

_MOST_DEGREES = 64  # larger degrees share the last column
_COUNT = [Interval(Integral, 1, None, closed="left")]
_PARAMETERS = """n_hidden : int, default 32
        Width of the hidden layers.
    n_layers : int, default 3
        %s
    dropout : float, default 0.5
        Share of values set to 0 during training, in [0, 1).
    learning_rate : float, default 0.01
        Learning rate of Adam.
    weight_decay : float, default 0.0
    batch_size : int, default 32
        Number of graphs per step.
    max_epochs : int, default 200
    patience : int, default 30
        Training stops after this many epochs without a lower loss on the held-out graphs.
    validation_share : float, default 0.1
        Share of the fitted graphs held out, by class, for early stopping; with 0, none are held out
        and all epochs are run.
    use_labels : bool or "auto"
        Whether node labels are inputs; "auto": if the fitted graphs have them. Without labels,
        degrees are inputs.
    use_attributes : bool, default False
        Whether standardised node attributes are inputs.
    random_state : int, RandomState or None
        Seed of the held-out graphs, the initial weights and the order of graphs. The same seed
        gives the same network.
    verbose : bool
        Print the loss of every epoch.

    Attributes
    ----------
    classes_ : array
    weights_ : dict of arrays
        The weights of the epoch with the lowest loss on the held-out graphs.
    history_ : list of float
        This loss per epoch.
    n_epochs_ : int
        Number of epochs.

    Notes
    -----
    Runs on the CPU, on one thread. Needs ``pip install gramlet[bench]``."""


class NodeInputs:
    """Rows of numbers for nodes, in columns learned from the fitted graphs.

    One-hot labels with one more column for unseen labels; without labels, one-hot degrees (those
    above the largest fitted degree, or above 64, share the last column). Attributes, if used, are
    standardised by the fitted graphs.

    Parameters
    ----------
    use_labels : bool or "auto"
    use_attributes : bool
    owner : str
        The estimator's name, for messages.
    """

    def __init__(self, use_labels: bool | str, use_attributes: bool, owner: str) -> None:
        self.labels = NodeLabels(use_labels)
        self.use_attributes = use_attributes
        self.owner = owner
        self.n_degrees = 0
        self.mean: Floats | None = None
        self.spread: Floats | None = None

    def fit(self, batch: GraphBatch) -> Array:
        """Learn the columns of these graphs; return their rows."""
        codes = self.labels.fit(batch)
        self.n_degrees = 0
        if not self.labels.used or batch.node_labels is None:
            largest = int(batch.degrees.max(initial=0))
            self.n_degrees = min(largest, _MOST_DEGREES) + 1
        if self.use_attributes:
            rows = required_attributes(batch, self.owner, None)
            self.mean = rows.mean(axis=0) if len(rows) else np.zeros(rows.shape[1])
            spread = rows.std(axis=0) if len(rows) else np.ones(rows.shape[1])
            self.spread = np.where(spread > 0, spread, 1.0)
        return self._rows(batch, codes)

    def read(self, batch: GraphBatch) -> Array:
        """The rows of new graphs."""
        return self._rows(batch, self.labels.encode(batch))

    @property
    def width(self) -> int:
        """The number of columns."""
        first = self.n_degrees or len(self.labels) + 1
        return first + (0 if self.mean is None else len(self.mean))

    def _rows(self, batch: GraphBatch, codes: Ints) -> Array:
        if self.n_degrees:
            codes, width = np.minimum(batch.degrees, self.n_degrees - 1), self.n_degrees
        else:
            width = len(self.labels) + 1
            codes = np.minimum(codes, width - 1)
        rows = np.zeros((batch.n_nodes_total, self.width), dtype=np.float32)
        rows[np.arange(len(rows)), codes] = 1.0
        if self.mean is not None and self.spread is not None:
            given = required_attributes(batch, self.owner, len(self.mean))
            rows[:, width:] = (given - self.mean) / self.spread
        return rows


class _NetworkClassifier(ClassifierMixin, BaseEstimator):
    """Base class of network classifiers of graphs."""

    _network: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_hidden": _COUNT,
        "n_layers": _COUNT,
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
        "batch_size": _COUNT,
        "max_epochs": _COUNT,
        "patience": _COUNT,
        "validation_share": [Interval(Real, 0, 1, closed="left")],
        "use_labels": LABEL_CHOICE,
        "use_attributes": ["boolean"],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_hidden: int = 32,
        n_layers: int = 3,
        dropout: float = 0.5,
        learning_rate: float = 0.01,
        weight_decay: float = 0.0,
        batch_size: int = 32,
        max_epochs: int = 200,
        patience: int = 30,
        validation_share: float = 0.1,
        use_labels: bool | str = "auto",
        use_attributes: bool = False,
        random_state: Any = None,
        *,
        verbose: int | bool = False,
    ) -> None:
        self.n_hidden = n_hidden
        self.n_layers = n_layers
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.patience = patience
        self.validation_share = validation_share
        self.use_labels = use_labels
        self.use_attributes = use_attributes
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> Self:
        """Train the network on graphs and their classes."""
        self._validate_params()
        networks = _torch()
        batch = self._checked(X)
        self.classes_, codes = self._classes(y, len(batch))
        rng = check_random_state(self.random_state)
        fitted, held = self._parts(codes, rng)
        self.inputs_ = NodeInputs(self.use_labels, bool(self.use_attributes), type(self).__name__)
        rows = self.inputs_.fit(batch)
        self.shape_ = (
            self.inputs_.width,
            len(self.classes_),
            int(self.n_hidden),
            int(self.n_layers),
            float(self.dropout),
        )
        rules = networks.Rules(
            float(self.learning_rate),
            float(self.weight_decay),
            int(self.batch_size),
            int(self.max_epochs),
            int(self.patience),
            bool(self.verbose),
        )
        self.weights_, self.history_ = networks.train(
            self._make(),
            networks.Prepared(batch, rows),
            codes,
            fitted,
            held,
            rules,
            int(rng.randint(2**31 - 1)),
        )
        self.n_epochs_ = len(self.history_)
        return self

    def decision_function(self, X: Any) -> Floats:
        """Values of the classes, (len(X), classes); for two classes, their difference."""
        values = self._values(X)
        return values[:, 1] - values[:, 0] if len(self.classes_) == 2 else values

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (len(X), classes)."""
        values = self._values(X)
        values = np.exp(values - values.max(axis=1, keepdims=True))
        return np.asarray(values / values.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> Array:
        """The most probable class of each graph."""
        classes: Array = self.classes_[self._values(X).argmax(axis=1)]
        return classes

    def _values(self, X: Any) -> Floats:
        check_is_fitted(self)
        batch = self._checked(X)
        if len(batch) == 0:
            return np.zeros((0, len(self.classes_)))
        networks = _torch()
        data = networks.Prepared(batch, self.inputs_.read(batch))
        values: Floats = networks.class_values(self._make(), self.weights_, data)
        return values

    def _make(self) -> Any:
        """A function that creates a new network."""
        from benchmarks.papers import networks

        return partial(getattr(networks, self._network), *self.shape_)

    def _checked(self, X: Any) -> GraphBatch:
        batch = as_batch(X)
        if batch.directed:
            raise ValueError(
                f"{type(self).__name__} takes undirected graphs; use graphs.to_undirected()."
            )
        return batch

    def _classes(self, y: Any, n: int) -> tuple[Array, Ints]:
        labels = np.asarray(y)
        if labels.ndim != 1 or len(labels) != n:
            raise ValueError(f"y must have one class per graph, {n} here; got {labels.shape}.")
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs graphs of at least two classes; got {len(classes)}."
            )
        return classes, codes.astype(np.int64)

    def _parts(self, codes: Ints, rng: np.random.RandomState) -> tuple[Ints, Ints]:
        """Training graphs and held-out graphs: the same share of each class, rounded."""
        held = np.zeros(len(codes), dtype=bool)
        for code in range(codes.max() + 1):
            members = rng.permutation(np.flatnonzero(codes == code))
            wanted = round(self.validation_share * len(members))
            held[members[: min(wanted, len(members) - 1)]] = True
        return np.flatnonzero(~held), np.flatnonzero(held)


def _torch() -> Any:
    """The module that needs PyTorch, or an ImportError that explains how to install it."""
    try:
        import torch_geometric  # noqa: F401

        from benchmarks.papers import networks
    except ImportError as why:
        raise ImportError(
            "Networks need PyTorch and PyTorch Geometric. Install them with: pip install "
            "gramlet[bench]"
        ) from why
    return networks


class GINClassifier(_NetworkClassifier):
    __doc__ = f"""Graph isomorphism network (GIN).

    In every layer the row of a node becomes MLP((1 + ε) x_v + Σ_u x_u) over its neighbours u; the
    values of the classes are computed from the sums of the rows over the nodes of a graph, of every
    layer. The network distinguishes at most the graphs that Weisfeiler-Lehman refinement
    distinguishes. Edge labels and weights are ignored. Cost: O(m n_hidden + n n_hidden²) per layer
    and epoch for n nodes and m edges.

    Parameters
    ----------
    {_PARAMETERS % "Number of layers, each of which reaches one hop further."}

    References
    ----------
    Xu, Hu, Leskovec, Jegelka (2019), How powerful are graph neural networks?

    Examples
    --------
    >>> from benchmarks.papers.network_classifiers import GINClassifier
    >>> GINClassifier(n_hidden=16, random_state=0)
    GINClassifier(n_hidden=16, random_state=0)
    """

    _network = "GraphIsomorphismNetwork"


class DeepSetsClassifier(_NetworkClassifier):
    __doc__ = f"""Network that ignores edges: a graph is the set of its nodes.

    A perceptron on each node, the sum over nodes, and a perceptron on the sum. Its accuracy is
    reached without edges; a network or kernel that is no better has learned nothing from structure.

    Parameters
    ----------
    {_PARAMETERS % "Number of layers of the perceptron on nodes."}

    References
    ----------
    Zaheer et al. (2017), Deep sets. Errica, Podda, Bacciu, Micheli (2020), A fair comparison of
    graph neural networks for graph classification.

    Examples
    --------
    >>> from benchmarks.papers.network_classifiers import DeepSetsClassifier
    >>> DeepSetsClassifier(n_layers=2)
    DeepSetsClassifier(n_layers=2)
    """

    _network = "DeepSets"
