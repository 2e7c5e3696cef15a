"""Parts of models with state besides their attributes: batches of graphs, trees, losses."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from gramlet.common.arrays import Array
from gramlet.common.stored_state import (
    require_array,
    require_flag,
    require_integer,
    require_offsets,
    require_real,
)
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.build import width_for
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
    if type(categories) is not tuple or len(set(categories)) < len(categories):
        raise ValueError("a column of labels has a label twice.")
    if any(label != label for label in categories):
        raise ValueError("a column of labels has NaN for a label.")
    if len(codes) and not (codes.min() >= 0 and codes.max() < len(categories)):
        raise ValueError("a column of labels has codes that stand for no label.")
    return Categorical(codes, categories)


_BATCH_COLUMNS = (
    "node_labels",
    "edge_labels",
    "edge_weights",
    "node_attributes",
    "edge_attributes",
    "molecules",
)


def _pack_batch(value: GraphBatch) -> dict[str, Any]:
    names = ("node_offsets", "indptr", "indices", "directed", *_BATCH_COLUMNS)
    return {name: getattr(value, name) for name in names}


def _unpack_batch(packed: dict[str, Any]) -> GraphBatch:
    if set(packed) != {"node_offsets", "indptr", "indices", "directed", *_BATCH_COLUMNS}:
        raise ValueError(f"a set of graphs in it has the columns {sorted(map(str, packed))}.")
    heads = packed["indices"]
    n_nodes = int(require_offsets("the offsets of graphs", packed["node_offsets"])[-1])
    require_array("the heads of edges", heads, width_for(n_nodes), (None,), least=0)
    indptr = require_offsets("the offsets of nodes", packed["indptr"], n_nodes, len(heads))
    if len(heads) and heads.max() >= n_nodes:
        raise ValueError("a set of graphs in it does not fit together.")
    columns = {name: packed[name] for name in _BATCH_COLUMNS}
    _check_columns(columns, n_nodes, len(heads))
    # Built as from an external source, with all checks.
    tails = np.repeat(np.arange(n_nodes), np.diff(indptr))
    directed = require_flag("directed", packed["directed"])
    batch = GraphBatch.from_arcs(packed["node_offsets"], tails, heads, directed=directed, **columns)
    if not np.array_equal(batch.indptr, indptr):
        raise ValueError("a set of graphs in it does not fit together.")
    return batch


def _check_columns(columns: dict[str, Any], n_nodes: int, n_arcs: int) -> None:
    for name, length in (("node_labels", n_nodes), ("edge_labels", n_arcs)):
        column = columns[name]
        if column is not None and (type(column) is not Categorical or len(column) != length):
            raise ValueError(f"the column {name} of a set of graphs does not fit.")
    if columns["edge_weights"] is not None:
        require_array("edge_weights", columns["edge_weights"], "float64", (n_arcs,))
    if columns["node_attributes"] is not None:
        require_array("node_attributes", columns["node_attributes"], "float64", (n_nodes, None))
    if columns["edge_attributes"] is not None:
        require_array("edge_attributes", columns["edge_attributes"], "float64", (n_arcs, None))
    if columns["molecules"] is not None and type(columns["molecules"]) is not tuple:
        raise ValueError("the column molecules of a set of graphs does not fit.")


# scikit-learn's, recognised by the names of their types: it is imported only if there are any


def _pack_tree(value: Any) -> tuple[Any, ...]:
    _, (n_features, n_classes, n_outputs), state = value.__reduce__()
    return int(n_features), np.array(n_classes), int(n_outputs), dict(state)


def _unpack_tree(parts: tuple[int, Array, int, dict[str, Any]]) -> Any:
    from sklearn.tree._tree import NODE_DTYPE, Tree

    n_features, n_classes, n_outputs, state = parts
    require_integer("the features of a tree", n_features, 1, 1 << 31)
    require_integer("the outputs of a tree", n_outputs, 1, 1 << 16)
    require_array("the classes of a tree", n_classes, "int64", (n_outputs,), least=1)
    if set(state) != {"max_depth", "node_count", "nodes", "values"}:
        raise ValueError(f"a decision tree in it has the parts {sorted(map(str, state))}.")
    nodes = state["nodes"]
    if type(nodes) is not np.ndarray or nodes.dtype != NODE_DTYPE or nodes.ndim != 1:
        raise ValueError("the nodes of a decision tree are not of the expected type.")
    require_integer("node_count", state["node_count"], 1)
    shape = (state["node_count"], n_outputs, int(n_classes.max()))
    require_array("the values of a tree", state["values"], "float64", shape)
    if len(nodes) != state["node_count"] or _depth(nodes, n_features) != state["max_depth"]:
        raise ValueError("a decision tree in it does not fit together.")
    tree = Tree(n_features, n_classes.astype(np.intp), n_outputs)
    tree.__setstate__(state)
    return tree


def _depth(nodes: Array, n_features: int) -> int:
    """The depth of a tree whose nodes are all reached exactly once; -1 if it is not a tree."""
    here = np.arange(len(nodes))
    left, right, feature = nodes["left_child"], nodes["right_child"], nodes["feature"]
    inner = left != -1
    children = np.concatenate([left[inner], right[inner]])
    parents = np.concatenate([here[inner]] * 2)
    sound = (
        (right[~inner] == -1).all()
        and (children > parents).all()
        and (children < len(nodes)).all()
        and ((feature[inner] >= 0) & (feature[inner] < n_features)).all()
        and all(np.isfinite(nodes[name]).all() for name in ("threshold", "impurity"))
    )
    if not sound or not np.array_equal(np.sort(children), here[1:]):
        return -1
    depth = 0
    level = here[:1][inner[:1]]
    while len(level):
        depth += 1
        level = np.concatenate([left[level], right[level]])
        level = level[inner[level]]
    return depth


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
    require_array("the points of a search tree", data, "float64", (None, None))
    require_integer("the leaf size of a search tree", leaf_size, 1)
    require_real("p", options.get("p", 2.0), 1.0, 1e6)
    if 0 in data.shape:
        raise ValueError("a search tree in it has no points.")
    classes = {"KDTree": neighbors.KDTree, "BallTree": neighbors.BallTree}
    return classes[kind](data, leaf_size=leaf_size, metric=metric, **options)


# Losses of boosting are rebuilt: their state follows from their name and number of classes.
_BOOSTING_LOSSES = ("HalfSquaredError", "AbsoluteError", "HalfBinomialLoss", "ExponentialLoss")


def _is_boosting_loss(value: Any) -> bool:
    names = (*_BOOSTING_LOSSES, "HalfMultinomialLoss")
    return named(*(f"sklearn._loss.loss:{name}" for name in names))(value)


def _pack_boosting_loss(value: Any) -> tuple[str, int]:
    return type(value).__name__, int(value.n_classes or 0)


def _unpack_boosting_loss(packed: tuple[str, int]) -> Any:
    from sklearn._loss import loss

    name, n_classes = packed
    if name == "HalfMultinomialLoss":
        return loss.HalfMultinomialLoss(
            n_classes=require_integer("n_classes", n_classes, 3, 1 << 20)
        )
    if name not in _BOOSTING_LOSSES:
        raise ValueError(f"{name!r} is not a loss.")
    return getattr(loss, name)()


# Modules of compiled losses, and how the names of these begin.
_LOSS_ROOMS = {
    "sklearn._loss._loss": ("Cy",),
    "sklearn.linear_model._sgd_fast": ("Hinge", "Squared", "Modified", "Epsilon", "CyHalf"),
}


def _is_loss(value: Any) -> bool:
    return _is_loss_type(type(value))


def _is_loss_type(kind: Any) -> bool:
    return isinstance(kind, type) and kind.__name__.startswith(
        _LOSS_ROOMS.get(_loss_room(kind), ("?",))
    )


def _loss_room(kind: type) -> str:
    # Some versions of scikit-learn give their compiled losses the short name of the module.
    return "sklearn._loss._loss" if kind.__module__ == "_loss" else kind.__module__


def _pack_loss(value: Any) -> tuple[str, str, tuple[float, ...]]:
    kind = type(value)
    builder, numbers = value.__reduce__()[:2]
    if builder is not kind:  # one without parameters is copied by Cython's own method
        numbers = ()
    return _loss_room(kind), kind.__name__, tuple(float(number) for number in numbers)


def _unpack_loss(packed: tuple[str, str, tuple[float, ...]]) -> Any:
    room, name, numbers = packed
    if room not in _LOSS_ROOMS or not all(
        type(number) is float and np.isfinite(number) for number in numbers
    ):
        raise ValueError(f"{room}:{name} is not a loss.")
    kind: Any = vars(importlib.import_module(room)).get(name)
    if not _is_loss_type(kind):
        raise ValueError(f"{room}:{name} is not a loss.")
    return kind(*numbers)


PART_CODECS = (
    Codec("categorical", of_types(Categorical), _pack_categorical, _unpack_categorical),
    Codec("batch", of_types(GraphBatch), _pack_batch, _unpack_batch),
    Codec("tree", named("sklearn.tree._tree:Tree"), _pack_tree, _unpack_tree, True),
    Codec("search_tree", _is_search_tree, _pack_search_tree, _unpack_search_tree, True),
    Codec("boosting_loss", _is_boosting_loss, _pack_boosting_loss, _unpack_boosting_loss, True),
    Codec("loss", _is_loss, _pack_loss, _unpack_loss, True),
)
