"""Batches, data sets, results, maps and explanations as small pieces of HTML for notebooks.

All texts are escaped; the size of the pieces is limited.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from gramlet.evaluation.scorers import percent_or_number, plain_score, score_text
from gramlet.graphs.batch import GraphBatch
from gramlet.plotting.colours import class_style
from gramlet.plotting.drawing import drawing_of
from gramlet.plotting.patterns import can_draw, pattern_drawing
from gramlet.plotting.svg import drawing_svg
from gramlet.report.charts import Chart

_GRAPHS = 4
_PATTERNS = 8
_MOST_POINTS = 1000
_MOST_NODES, _MOST_EDGES = 60, 150
_CELL = "text-align:left;padding:2px 10px 2px 0"


def batch_html(
    batch: GraphBatch,
    title: str = "",
    *,
    node_names: Any = None,
    edge_names: Any = None,
    facts: Sequence[tuple[str, str]] = (),
) -> str:
    """The facts of a batch and a sample of its graphs.

    >>> from gramlet import GraphBatch
    >>> "<svg" in batch_html(GraphBatch.from_edges([[(0, 1)]]))
    True
    """
    rows = [(title or "GraphBatch", repr(batch)), *facts]
    if len(batch):
        sizes = batch.sizes
        rows.append(("nodes per graph", f"{sizes.min()} to {sizes.max()}, mean {sizes.mean():.1f}"))
    try:
        pictures = _pictures(batch, node_names, edge_names)
    except ImportError as why:  # networkx; the facts need none of it
        pictures = f"<p>{escape(str(why))}</p>"
    return f"<div>{_table(rows)}{pictures}</div>"


def _pictures(batch: GraphBatch, node_names: Any, edge_names: Any) -> str:
    """A sample of the graphs, drawn."""
    chosen = np.unique(np.linspace(0, len(batch) - 1, min(_GRAPHS, len(batch))).astype(int))
    cells = []
    for i in chosen.tolist():
        drawing = drawing_of(
            batch[i],
            node_names=node_names,
            edge_names=edge_names,
            most_nodes=_MOST_NODES,
            most_edges=_MOST_EDGES,
        )
        note = f"<br>{escape(drawing.note)}" if drawing.note else ""
        picture = drawing_svg(drawing, f"graph {i}", largest=170)
        cells.append(
            '<figure style="display:inline-block;margin:4px 12px;text-align:center">'
            f"{picture}<figcaption>graph {i}{note}</figcaption></figure>"
        )
    return "".join(cells)


def result_html(result: Any) -> str:
    """The score of a result, its baselines, and the chosen options."""

    scoring = result.scoring

    def shown(value: float) -> str:
        return percent_or_number(plain_score(value, scoring), scoring)

    spread = percent_or_number(result.std, scoring)
    rows = [(result.name, f"{score_text(scoring)} {shown(result.mean)} ± {spread}")]
    if result.optimistic:
        rows.append(("optimistic", "C and options were chosen on the test parts"))
    rows += [
        (f"{name} (baseline)", shown(float(scores.mean())))
        for name, scores in result.baselines.items()
    ]
    rows.append(("data", f"{result.data.name or 'unnamed'}, {result.data.n_graphs} graphs"))
    rows.append(("protocol", result.describe_protocol()))
    for key, (value, share) in result.most_chosen().items():
        rows.append((f"most often chosen {key}", f"{value} ({share:.0%})"))
    rows += [("hint", hint.text) for hint in result.hints]
    return f"<div>{_table(rows)}</div>"


def map_html(graph_map: Any) -> str:
    """The fitted graphs of a map as points."""
    scores, share = graph_map.scores_, graph_map.explained_share_
    if scores.shape[1] < 2:
        return f"<pre>{escape(repr(graph_map))}</pre>"
    keep = np.unique(np.linspace(0, len(scores) - 1, min(len(scores), _MOST_POINTS)).astype(int))
    low, high = scores[:, :2].min(axis=0), scores[:, :2].max(axis=0)
    chart = Chart(
        f"Map of {len(scores)} graphs",
        (low[0], high[0]),
        (low[1], high[1]),
        x_label=f"component 1 ({share[0]:.0%} of the variance)",
        y_label=f"component 2 ({share[1]:.0%})",
    )
    for i in keep.tolist():
        x, y = scores[i, :2].tolist()
        chart.dot(x, y, class_style(0)[0], title=f"graph {i}")
    picture = chart.write(' style="max-width:460px"')
    return f"<div><pre>{escape(repr(graph_map))}</pre>{picture}</div>"


def explanation_html(
    kernel: Any, names: Any, values: Any, meaning: str, neutral: float = 0.0
) -> str:
    """The leading patterns of a model, drawn if possible."""
    numbers = np.asarray(values, dtype=np.float64)
    chosen = np.argsort(-np.abs(numbers - neutral), kind="stable")[:_PATTERNS]
    rows = []
    for column in chosen[np.argsort(-numbers[chosen], kind="stable")].tolist():
        drawing = pattern_drawing(kernel, column) if can_draw(kernel) else None
        text = str(names[column])
        picture = "" if drawing is None else drawing_svg(drawing, text, largest=150)
        rows.append(
            f'<tr><td style="{_CELL}">{picture}</td>'
            f'<td style="{_CELL}"><code>{escape(text[:120])}</code></td>'
            f'<td style="{_CELL}">{numbers[column]:+.3g}</td></tr>'
        )
    head = "".join(
        f'<th scope="col" style="{_CELL}">{escape(name)}</th>' for name in ("", "pattern", meaning)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _table(rows: Iterable[tuple[str, str]]) -> str:
    lines = [
        f'<tr><th scope="row" style="{_CELL}">{escape(str(name))}</th>'
        f'<td style="{_CELL}">{escape(str(value))}</td></tr>'
        for name, value in rows
    ]
    return f"<table><tbody>{''.join(lines)}</tbody></table>"
