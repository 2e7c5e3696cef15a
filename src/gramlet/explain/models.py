"""Explanation of a fitted model on graphs: the value of each pattern, and which graphs have it.

Works for models that give values to patterns: machines on kernels that are sums over patterns, and
weighted Wasserstein Weisfeiler-Lehman (weights). Tables and pictures are made elsewhere.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_regressor

from gramlet.common.arrays import Array, Floats, Ints
from gramlet.engine.core.tiles import QUIET
from gramlet.explain.sums import Explanation, explain_linear
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical
from gramlet.graphs.conversion.convert import as_batch
from gramlet.kernels.weisfeiler_lehman.colour_counts import ColourCounter, colouring_of

Names = Mapping[Any, str]


@dataclass(frozen=True)
class Pattern:
    """A pattern, its value, the number of graphs that have it, and its share in each class.

    ``level`` is None for patterns of kernels without levels.
    """

    level: int | None
    text: str
    value: float
    n_graphs: int
    shares: tuple[float, ...]


@dataclass(frozen=True)
class ModelExplanation:
    """The explanation of a fitted model on a set of graphs, returned by `explain_model`.

    Attributes
    ----------
    model : LinearExplanation, SumExplanation or fitted WeightedWassersteinWL
        The argument for `plot_patterns` and `plot_graph_importance`.
    graphs : GraphBatch
        The graphs, their labels named as they are in the patterns.
    outputs : list of str
        The decisions: for two classes the one that positive values favour, for more a pair
        "a over b" each. One empty name for weights, which are the same for all classes.
    meaning : str
        What a value is: "coefficient", "mean contribution" (over the fitted graphs, for Tanimoto
        kernels and minima; see `SumExplanation`) or "weight".
    neutral : float
        The neutral value of a pattern: 1 for weights, else 0.
    classes : list of str
        The classes of ``shares``: those of y, or the predicted ones without y. For a regression,
        the values up to their median, and those above.
    codes : array of int64
        Each graph's class, as a position in ``classes``.
    predictions : array or None
        The model's predictions for the graphs; None for a kernel without a classifier.
    accuracy : float or None
        The share of correct predictions, if y is given and consists of the model's classes.
    majority : float or None
        The accuracy of always predicting the most frequent class of y.
    regression : bool
        Whether the model predicts numbers; accuracy and majority are None then.
    numbers : array or None
        The numbers of y, for a regression.
    node_names, edge_names : mapping
        Names of labels for pictures, where the patterns and graphs do not have them already.
    """

    model: Any
    graphs: GraphBatch
    outputs: list[str]
    meaning: str
    neutral: float
    classes: list[str]
    codes: Ints
    predictions: Array | None
    accuracy: float | None
    majority: float | None
    regression: bool
    numbers: Floats | None
    node_names: Names
    edge_names: Names
    _class_names: Names
    _levels: list[int | None]
    _texts: list[str]
    _present: sparse.csr_matrix

    @property
    def levels(self) -> list[int]:
        """The levels of the patterns; empty for kernels without levels."""
        return [level for level in dict.fromkeys(self._levels) if level is not None]

    @property
    def no_better(self) -> bool:
        """Whether always predicting the most frequent class is as good on these graphs."""
        if self.accuracy is None or self.majority is None:
            return False
        return self.accuracy <= self.majority

    @property
    def drawable(self) -> bool:
        """Whether patterns are trees rooted at nodes, so that graphs can be coloured by them."""
        return not isinstance(self.model, Explanation) or self.model.by_node

    def _values(self, output: int) -> Floats:
        if isinstance(self.model, Explanation):
            return self.model.values(output)
        weights: Floats = np.concatenate(self.model.weights_)
        return weights

    def _repr_html_(self) -> str:
        from gramlet.report.notebook import explanation_html

        meaning = f"{self.meaning} for {self.outputs[0]}" if self.outputs[0] else self.meaning
        kernel = getattr(self.model, "kernel", self.model)
        return explanation_html(kernel, self._texts, self._values(0), meaning, self.neutral)

    def predicted_names(self) -> list[str] | None:
        """The predicted classes by name."""
        if self.predictions is None:
            return None
        return [str(self._class_names.get(c, c)) for c in self.predictions.tolist()]

    def patterns(self, output: int = 0) -> list[Pattern]:
        """All patterns of the model in its order: level by level."""
        belongs = sparse.csr_matrix(np.arange(len(self.classes))[:, None] == self.codes)
        having = (belongs.astype(np.float64) @ self._present).toarray().T
        shares = having / np.maximum(np.bincount(self.codes, minlength=len(self.classes)), 1)
        columns = zip(
            self._levels,
            self._texts,
            self._values(output).tolist(),
            having.sum(axis=1).astype(int).tolist(),
            map(tuple, shares.tolist()),
            strict=True,
        )
        return [Pattern(*fields) for fields in columns]

    def leading(self, n: int = 10, level: int | None = None, output: int = 0) -> list[Pattern]:
        """The ``n`` patterns of a level whose values are farthest from neutral, highest first."""
        patterns = [pattern for pattern in self.patterns(output) if level in (None, pattern.level)]
        patterns = sorted(patterns, key=lambda pattern: -abs(pattern.value - self.neutral))[:n]
        return sorted(patterns, key=lambda pattern: -pattern.value)

    def contributions(self, output: int = 0) -> sparse.csr_matrix:
        """What each pattern adds to the decision on each graph, shape (graphs, patterns).

        A row and the model's intercept add up to the decision. Weights change similarities: there a
        decision is not a sum.
        """
        if not isinstance(self.model, Explanation):
            raise TypeError(
                f"{type(self.model).__name__} gives patterns a weight in similarities; a decision "
                "is not a sum over patterns."
            )
        return self.model.contributions(self.graphs, output)

    def members(self, output: int = 0) -> dict[str, Floats]:
        """What the members of a sum of kernels that have no patterns add to each decision."""
        split = getattr(self.model, "members", None)
        return {} if split is None else split(self.graphs, output)


def explain_model(
    model: Any,
    graphs: Any,
    y: Any = None,
    *,
    class_names: Names | None = None,
    node_names: Names | None = None,
    edge_names: Names | None = None,
) -> ModelExplanation:
    """Explain a fitted model on graphs: the values of patterns, and which graphs have them.

    Parameters
    ----------
    model : fitted GraphClassifier, GraphRegressor, Pipeline or WeightedWassersteinWL
        A model that `explain_linear` accepts, or a `WeightedWassersteinWL`, alone or with a
        classifier; also one that `gramlet.load` returned.
    graphs : anything that `gramlet.as_batch` accepts
        Those of the fit, or others.
    y : array-like, optional
        Their classes, or their numbers if the model is a regression.
    class_names, node_names, edge_names : mapping, optional
        Names of classes, node labels and edge labels, e.g. ``{0: "C", 1: "N"}``. Names of
        labels are used in the texts of patterns of Weisfeiler-Lehman kernels, and in all pictures.

    Returns
    -------
    ModelExplanation

    Raises
    ------
    TypeError
        If the model gives no values to patterns.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> from gramlet import WeisfeilerLehman
    >>> from gramlet.explain import explain_model
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1)], ["C", "N"])] * 3
    >>> model = make_pipeline(WeisfeilerLehman(n_iter=0), SVC(kernel="precomputed"))
    >>> y = ["with O", "with N"] * 3
    >>> explanation = explain_model(model.fit(graphs, y), graphs, y)
    >>> [(p.text, round(p.value, 3), p.n_graphs) for p in explanation.leading(2)]
    [('O', 1.0, 3), ('N', -1.0, 3)]
    >>> explanation.accuracy, explanation.majority
    (1.0, 0.5)
    """
    batch = as_batch(graphs)
    source = _source(model, class_names)
    predictions = np.asarray(model.predict(batch)) if hasattr(model, "predict") else None
    regression = is_regressor(model)
    classes, codes = _classes(y, predictions, len(batch), class_names or {}, regression)
    source, named = _with_names(source, batch, node_names or {}, edge_names or {})
    sums = isinstance(source, Explanation)
    levels, texts, present = _patterns(source, named)
    accuracy, majority = (None, None) if regression else _accuracy(model, predictions, y)
    return ModelExplanation(
        model=source,
        graphs=named,
        outputs=list(source.outputs) if sums else [""],
        meaning=source.meaning if sums else "weight",
        neutral=0.0 if sums else 1.0,
        classes=classes,
        codes=codes,
        predictions=predictions,
        accuracy=accuracy,
        majority=majority,
        regression=regression,
        numbers=np.asarray(y, dtype=np.float64) if regression and y is not None else None,
        node_names={} if named.node_labels is not batch.node_labels else node_names or {},
        edge_names={} if named.edge_labels is not batch.edge_labels else edge_names or {},
        _class_names=class_names or {},
        _levels=levels,
        _texts=texts,
        _present=present,
    )


def _source(model: Any, class_names: Names | None) -> Any:
    """The object with the values: an explanation, or the kernel that learned weights."""
    steps = [step for _, step in getattr(model, "steps", [])]
    kernel = steps[0] if steps else getattr(model, "kernel_", model)
    if hasattr(kernel, "weights_") and colouring_of(kernel) is not None:
        return kernel
    if isinstance(model, Explanation):
        return model
    return explain_linear(model, class_names=class_names)


def _classes(
    y: Any, predictions: Array | None, n_graphs: int, names: Names, regression: bool
) -> tuple[list[str], Ints]:
    """The classes for the shares of patterns, and each graph's position among them.

    Those of y, or else the predicted ones; of numbers, those up to their median and those above.
    """
    if y is None and predictions is None:
        return ["all"], np.zeros(n_graphs, dtype=np.int64)
    values = np.asarray(predictions if y is None else y, dtype=np.float64 if regression else None)
    if values.shape != (n_graphs,):
        what = "number" if regression else "class"
        raise ValueError(
            f"y must have one {what} per graph: got shape {values.shape} for {n_graphs} graphs."
        )
    prefix = "predicted " if y is None else ""
    if regression and not n_graphs:
        return ["all"], np.zeros(0, dtype=np.int64)
    if regression:
        middle = float(np.median(values))
        halves = [f"{prefix}up to {middle:.4g}", f"{prefix}above {middle:.4g}"]
        return halves, (values > middle).astype(np.int64)
    classes, codes = np.unique(values, return_inverse=True)
    shown = [f"{prefix}{names.get(value, value)}" for value in classes.tolist()]
    return shown, codes.reshape(-1).astype(np.int64)


def _accuracy(model: Any, predictions: Array | None, y: Any) -> tuple[float | None, float | None]:
    """Accuracies of the predictions and of the most frequent class; None if y has other classes.

    Classes are compared as strings: a file may give numbers where the model has strings.
    """
    if predictions is None or y is None or not len(predictions):
        return None, None
    truth = np.asarray(y).astype(str)
    known = np.asarray(getattr(model, "classes_", predictions)).astype(str)
    if not np.isin(truth, known).any():
        return None, None
    counts = np.unique(truth, return_counts=True)[1]
    return float(np.mean(predictions.astype(str) == truth)), float(counts.max() / len(truth))


def _patterns(
    source: Any, batch: GraphBatch
) -> tuple[list[int | None], list[str], sparse.csr_matrix]:
    """The level and the text of each pattern, and which graphs have it."""
    colouring = colouring_of(getattr(source, "kernel", source))
    if colouring is None:
        texts = [str(name) for name in source.names]
        return [None] * len(texts), texts, source.present(batch)
    known = colouring.n_colours
    levels = np.repeat(colouring.level_numbers, known).tolist()
    texts = [text for level in colouring.patterns() for text in level]
    counts = ColourCounter(colouring).count(batch, QUIET)[:, : sum(known)]
    return levels, texts, sparse.csr_matrix(counts) > 0


def name_labels(
    batch: GraphBatch, node_names: Names | None = None, edge_names: Names | None = None
) -> GraphBatch:
    """The graphs with names in place of their labels, if these are known and distinct."""
    return batch.with_columns(
        node_labels=_renamed(batch.node_labels, node_names or {}),
        edge_labels=_renamed(batch.edge_labels, edge_names or {}),
    )


def _renamed(
    column: Categorical | None, names: Names, fitted: Iterable[Any] = ()
) -> Categorical | None:
    """Labels by their names, if there are names and different labels have different ones."""
    if column is None or not names:
        return column
    labels = dict.fromkeys([*column.categories, *fitted])
    if len({str(names.get(label, label)) for label in labels}) < len(labels):
        return column
    return Categorical(column.codes, [str(names.get(v, v)) for v in column.categories])


def _with_names(
    source: Any, batch: GraphBatch, node_names: Names, edge_names: Names
) -> tuple[Any, GraphBatch]:
    """The fitted model and the graphs, both with names in place of labels."""
    kernel = getattr(source, "kernel", source)
    colouring: Any = colouring_of(kernel)
    if colouring is None or not (node_names or edge_names):
        return source, batch
    kernel, counter, colouring = (copy.copy(x) for x in (kernel, kernel.counter_, colouring))
    node_labels, edge_labels = batch.node_labels, batch.edge_labels
    colouring.labels, node_labels = _rename_both(colouring.labels, node_labels, node_names)
    colouring.edge_labels, edge_labels = _rename_both(
        colouring.edge_labels, edge_labels, edge_names
    )
    kernel.counter_, counter.colouring = counter, colouring
    named = batch.with_columns(node_labels=node_labels, edge_labels=edge_labels)
    if not isinstance(source, Explanation):
        return kernel, named
    return replace(source, kernel=kernel, names=np.array(counter.names(), dtype=object)), named


def _rename_both(labels: Any, column: Categorical | None, names: Names) -> tuple[Any, Any]:
    """The fitted labels and a column of labels with the same names, or both unchanged."""
    if labels.vocabulary is None:
        return labels, column
    fitted = labels.vocabulary.values
    named = _renamed(column, names, fitted)
    if named is not column:
        labels, vocabulary = copy.copy(labels), copy.copy(labels.vocabulary)
        vocabulary.values = tuple(str(names.get(value, value)) for value in fitted)
        labels.vocabulary = vocabulary
    return labels, named
