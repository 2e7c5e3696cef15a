"""Maps of graphs: points of a kernel map by class, with a few graphs drawn beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from gramlet.combine.kernel_map import KernelMap
from gramlet.common.arrays import Array, Floats, Ints
from gramlet.files.dataset import Dataset
from gramlet.files.target import infer_task
from gramlet.graphs.conversion.convert import as_batch
from gramlet.plotting.axes import new_axes, put_on_axes
from gramlet.plotting.colours import class_style
from gramlet.plotting.drawing import drawing_of

_MOST_IN_LEGEND = 20  # classes; if there are more, the largest


def plot_map(
    graph_map: Any,
    y: Any = None,
    *,
    graphs: Any = None,
    examples: int | Any = 6,
    ax: Any = None,
    value_name: str | None = None,
    class_names: Mapping[Any, str] | None = None,
    node_names: Mapping[Any, str] | None = None,
    edge_names: Mapping[Any, str] | None = None,
) -> Any:
    """Draw the fitted graphs of a `KernelMap` as points, by class or by number.

    Parameters
    ----------
    graph_map : fitted KernelMap, or graphs
        Its first two components are drawn. Of graphs, or of a `Dataset`, a ``KernelMap()`` is
        fitted; some of the graphs are drawn around it.
    y : array, optional
        The classes of the fitted graphs, or numbers, for which there is a colour bar; `infer_task`
        decides which they are. By default the target of a `Dataset` that is given as graphs.
    graphs : the fitted graphs or their Dataset, optional
        If given, some of them are drawn around the map, joined to their points. A `Dataset` also
        provides the names of its classes and labels.
    examples : int or sequence of int
        How many (spread over the map), or which graphs to draw.
    ax : matplotlib axes, optional
    value_name : str, optional
        The name of the numbers, for the colour bar.
    class_names, node_names, edge_names : mapping, optional
        Names of classes, and of labels in the drawn graphs.

    Returns
    -------
    ax : matplotlib axes

    Examples
    --------
    >>> from gramlet import load_dataset, plot_map
    >>> mutag = load_dataset("MUTAG")
    >>> ax = plot_map(mutag.graphs[:40], mutag.target[:40], examples=2)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['-1', '1']
    """
    if not isinstance(graph_map, KernelMap):
        if graphs is not None:
            raise TypeError(
                "graphs= is for a fitted KernelMap; plot_map(graphs, y) draws a map of the graphs "
                "themselves."
            )
        graphs = graph_map if isinstance(graph_map, Dataset) else as_batch(graph_map)
        y = graphs.target if y is None and isinstance(graphs, Dataset) else y
        graph_map = KernelMap().fit(graphs.graphs if isinstance(graphs, Dataset) else graphs)
    if isinstance(graphs, Dataset):
        class_names = class_names or graphs.target_names
        node_names = node_names or graphs.node_label_names
        edge_names = edge_names or graphs.edge_label_names
        value_name = value_name or graphs.target_name
        graphs = graphs.graphs
    check_is_fitted(graph_map)
    scores = graph_map.scores_
    if scores.shape[1] < 2:
        raise ValueError("A map needs two components; fit KernelMap with n_components=2 or more.")
    values = None if y is None else np.asarray(y)
    if values is not None and len(values) != len(scores):
        raise ValueError(f"y has {len(values)} values for {len(scores)} fitted graphs.")
    ax = new_axes(ax, figsize=(8.5, 6.2))
    if values is not None and infer_task(values) == "regression":
        _draw_numbers(ax, scores, values, value_name)
    else:
        _draw_classes(ax, scores, values, class_names or {}, beside=graphs is not None)
    share = graph_map.explained_share_
    ax.set_xlabel(f"component 1 ({share[0]:.0%} of the variance)")
    ax.set_ylabel(f"component 2 ({share[1]:.0%})")
    ax.spines[["top", "right"]].set_visible(False)
    if graphs is not None:
        _draw_examples(ax, scores[:, :2], as_batch(graphs), examples, node_names, edge_names)
    return ax


def _draw_classes(
    ax: Any, scores: Floats, values: Array | None, names: Mapping[Any, str], beside: bool
) -> None:
    """Points by class; up to 70 classes have distinct pairs of colour and marker.

    The legend is beside the map if there are many classes, or graphs around the points.
    """
    classes = np.zeros(len(scores), dtype=int) if values is None else values
    known, counts = np.unique(classes, return_counts=True)
    largest = set(np.argsort(-counts, kind="stable")[:_MOST_IN_LEGEND].tolist())
    for i, value in enumerate(known.tolist()):
        colour, marker = class_style(i)
        ax.scatter(
            *scores[classes == value, :2].T,
            s=22,
            alpha=0.75,
            linewidths=0,
            color=colour,
            marker=marker,
            label=str(names.get(value, value)) if i in largest else None,
        )
    if values is not None:
        title = "class" if len(known) <= _MOST_IN_LEGEND else f"the largest of {len(known)} classes"
        position: dict[str, Any] = {"loc": "best"}
        if beside or len(known) > 8:
            position = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
        ax.legend(title=title, frameon=False, **position)


def _draw_numbers(ax: Any, scores: Floats, values: Array, name: str | None) -> None:
    """Points coloured by number, with a colour bar."""
    points = ax.scatter(
        *scores[:, :2].T, s=22, alpha=0.85, linewidths=0, c=values.astype(float), cmap="viridis"
    )
    ax.figure.colorbar(points, ax=ax, label=name or "", shrink=0.8)


def _draw_examples(
    ax: Any, points: Floats, graphs: Any, examples: Any, node_names: Any, edge_names: Any
) -> None:
    if len(graphs) != len(points):
        raise ValueError(f"{len(graphs)} graphs were given, but {len(points)} were fitted.")
    chosen = _spread(points, examples) if isinstance(examples, int) else np.asarray(examples)
    if len(chosen) == 0:
        return
    low, high = points.min(axis=0), points.max(axis=0)
    middle, reach = (low + high) / 2, np.maximum((high - low) / 2, 1e-12)
    ax.set_xlim(middle[0] - 1.75 * reach[0], middle[0] + 1.75 * reach[0])
    ax.set_ylim(middle[1] - 1.75 * reach[1], middle[1] + 1.75 * reach[1])
    relative = (points[chosen] - middle) / reach
    angles = np.arctan2(relative[:, 1], relative[:, 0])
    # Around the map in the order of the points' directions, evenly, so that lines do not cross.
    order = np.argsort(angles, kind="stable")
    even = angles[order[0]] + 2 * np.pi * np.arange(len(chosen)) / len(chosen)
    for graph, angle in zip(chosen[order], even, strict=True):
        centre = 0.5 + 0.41 * np.array([np.cos(angle), np.sin(angle)])
        inset = ax.inset_axes([centre[0] - 0.1, centre[1] - 0.1, 0.2, 0.2])
        names = {"node_names": node_names, "edge_names": edge_names}
        put_on_axes(drawing_of(graphs[int(graph)], **names), ax=inset, line_width=0.8)
        ax.annotate(
            "",
            xy=points[graph],
            xytext=centre,
            textcoords="axes fraction",
            zorder=0,
            arrowprops={"arrowstyle": "-", "color": "0.6", "lw": 0.8, "shrinkA": 22},
        )


def _spread(points: Floats, count: int) -> Ints:
    """Points far from each other: each next one farthest from those before."""
    scaled = points / np.maximum(np.ptp(points, axis=0), 1e-12)
    chosen = [int(np.argmax(np.linalg.norm(scaled - scaled.mean(axis=0), axis=1)))]
    while len(chosen) < min(count, len(points)):
        apart = np.linalg.norm(scaled[:, None] - scaled[chosen][None], axis=2).min(axis=1)
        chosen.append(int(np.argmax(apart)))
    return np.array(chosen[:count], dtype=np.int64)
