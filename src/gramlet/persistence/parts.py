"""Parts of models that are more than their attributes: sets of graphs, trees, losses."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from gramlet.common.arrays import Array
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.columns import Categorical
from gramlet.persistence.codec import Codec, named, of_types

__all__ = ["PART_CODECS"]

# gramlet's


def _pack_categorical(value: Categorical) -> tuple[Any, ...]:
    return np.asarray(value.codes), value.categories


def _unpack_categorical(parts: tuple[Array, tuple[Any, ...]]) -> Categorical:
    codes, categories = parts
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise ValueError("the codes of a column of labels are not a list of integers.")
    if len(codes) and not (codes.min() >= 0 and codes.max() < len(categories)):
        raise ValueError("a column of labels has codes that stand for no label.")
    return Categorical(codes, categories)


_BATCH_COLUMNS = ("node_labels", "edge_labels", "edge_weights", "node_attributes")


def _pack_batch(value: GraphBatch) -> dict[str, Any]:
    names = ("node_offsets", "indptr", "indices", *_BATCH_COLUMNS)
    return {name: getattr(value, name) for name in names}


def _unpack_batch(told: dict[str, Any]) -> GraphBatch:
    indptr, heads = told["indptr"], told["indices"]
    degrees = np.diff(indptr)
    if len(indptr) != told["node_offsets"][-1] + 1 or indptr[0] != 0 or (degrees < 0).any():
        raise ValueError("a set of graphs in it does not fit together.")
    # Built as from a foreign source, with all the checks on the way.
    tails = np.repeat(np.arange(len(degrees)), degrees)
    columns = {name: told[name] for name in _BATCH_COLUMNS}
    batch = GraphBatch.from_arcs(told["node_offsets"], tails, heads, **columns)
    if not np.array_equal(batch.indptr, indptr):
        raise ValueError("a set of graphs in it does not fit together.")
    return batch


# scikit-learn's, told by the names of their types so that it is imported only if there are any


def _unpack_bunch(fields: dict[str, Any]) -> Any:
    from sklearn.utils import Bunch

    return Bunch(**fields)


def _pack_tree(value: Any) -> tuple[Any, ...]:
    _, (n_features, n_classes, n_outputs), state = value.__reduce__()
    return int(n_features), np.array(n_classes), int(n_outputs), dict(state)


def _unpack_tree(parts: tuple[int, Array, int, dict[str, Any]]) -> Any:
    from sklearn.tree._tree import Tree

    n_features, n_classes, n_outputs, state = parts
    nodes = state["nodes"]
    here = np.arange(len(nodes))
    left, right = nodes["left_child"], nodes["right_child"]
    inner = left != -1
    sound = (
        n_features >= 0
        and n_classes.shape == (n_outputs,)
        and state["node_count"] == len(nodes)
        # Children come after their parents: every way down ends.
        and ((left > here) & (left < len(nodes)) | ~inner).all()
        and ((right > here) & (right < len(nodes)) | ~inner).all()
        and ((nodes["feature"] >= 0) & (nodes["feature"] < n_features) | ~inner).all()
    )
    if not sound:
        raise ValueError("a decision tree in it does not fit together.")
    tree = Tree(n_features, n_classes.astype(np.intp), n_outputs)
    tree.__setstate__(state)
    return tree


_METRICS = {
    "EuclideanDistance": "euclidean",
    "ManhattanDistance": "manhattan",
    "ChebyshevDistance": "chebyshev",
    "MinkowskiDistance": "minkowski",
}


def _metric_of(tree: Any) -> Any:
    return tree.__getstate__()[11]


def _is_search_tree(value: Any) -> bool:
    kinds = named("sklearn.neighbors._kd_tree:KDTree", "sklearn.neighbors._ball_tree:BallTree")
    if not kinds(value):
        return False
    metric = type(_metric_of(value)).__name__.removesuffix("64")
    return metric in _METRICS and value.__getstate__()[12] is None


def _pack_search_tree(value: Any) -> tuple[Any, ...]:
    state = value.__getstate__()
    metric = _METRICS[type(state[11]).__name__.removesuffix("64")]
    options = {"p": float(state[11].__getstate__()[0])} if metric == "minkowski" else {}
    return type(value).__name__, np.asarray(state[0]), int(state[4]), metric, options


def _unpack_search_tree(parts: tuple[str, Array, int, str, dict[str, float]]) -> Any:
    from sklearn import neighbors

    kind, data, leaf_size, metric, options = parts
    if metric not in _METRICS.values() or not set(options) <= {"p"}:
        raise ValueError(f"a search tree in it has an unknown metric {metric!r}.")
    classes = {"KDTree": neighbors.KDTree, "BallTree": neighbors.BallTree}
    return classes[kind](data, leaf_size=leaf_size, metric=metric, **options)


# Compiled losses and how their names tell them from what else lives there.
_LOSS_ROOMS = {
    "sklearn._loss._loss": ("Cy",),
    "sklearn.linear_model._sgd_fast": ("Hinge", "Squared", "Modified", "Epsilon", "CyHalf"),
}


def _is_loss(value: Any) -> bool:
    return _is_loss_type(type(value))


def _is_loss_type(kind: Any) -> bool:
    return isinstance(kind, type) and kind.__name__.startswith(
        _LOSS_ROOMS.get(kind.__module__, ("?",))
    )


def _pack_loss(value: Any) -> tuple[str, str, tuple[float, ...]]:
    kind = type(value)
    builder, numbers = value.__reduce__()[:2]
    if builder is not kind:  # one without parameters is copied by means of Cython's own
        numbers = ()
    return kind.__module__, kind.__name__, tuple(float(number) for number in numbers)


def _unpack_loss(told: tuple[str, str, tuple[float, ...]]) -> Any:
    room, name, numbers = told
    if room not in _LOSS_ROOMS or not all(type(number) is float for number in numbers):
        raise ValueError(f"{room}:{name} is not a loss.")
    kind: Any = vars(importlib.import_module(room)).get(name)
    if not _is_loss_type(kind):
        raise ValueError(f"{room}:{name} is not a loss.")
    return kind(*numbers)


PART_CODECS = (
    Codec("categorical", of_types(Categorical), _pack_categorical, _unpack_categorical),
    Codec("batch", of_types(GraphBatch), _pack_batch, _unpack_batch),
    Codec("bunch", named("sklearn.utils._bunch:Bunch"), dict, _unpack_bunch, True),
    Codec("tree", named("sklearn.tree._tree:Tree"), _pack_tree, _unpack_tree, True),
    Codec("search_tree", _is_search_tree, _pack_search_tree, _unpack_search_tree, True),
    Codec("loss", _is_loss, _pack_loss, _unpack_loss, True),
)
