"""Drawings of graphs in a report: small, made once, and limited in number.

The page contains them as templates that maps and tables show on demand.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from gramlet.common.arrays import Floats
from gramlet.plotting.drawing import Drawing, drawing_of
from gramlet.plotting.svg import drawing_svg
from gramlet.report.markup import Markup
from gramlet.report.material import Material

__all__ = ["Pictures"]

_MOST_NODES, _MOST_EDGES = 120, 400
_MOST_DRAWN = 1200
_MOST_BYTES = 3_000_000


class Pictures:
    """Drawings of the graphs of a report.

    Parameters
    ----------
    material : Material
        With graphs.
    """

    def __init__(self, material: Material) -> None:
        self._material = material
        self._kept: dict[int, Markup] = {}

    def plain(self, position: int) -> Markup:
        """A graph by its position among all graphs."""
        if position not in self._kept:
            self._kept[position] = self._written(self._drawing(position, None), position)
        return self._kept[position]

    def valued(self, position: int, values: Floats, reach: float) -> Markup:
        """A graph with the importance of its nodes."""
        return self._written(self._drawing(position, values), position, reach)

    def _drawing(self, position: int, values: Floats | None) -> Drawing:
        graphs = self._material.graphs
        assert graphs is not None, "asked for only where there are graphs"
        return drawing_of(
            graphs[position],
            values,
            node_names=self._material.node_names,
            edge_names=self._material.edge_names,
            colours=self._material.colours,
            most_nodes=_MOST_NODES,
            most_edges=_MOST_EDGES,
        )

    def _written(self, drawing: Drawing, position: int, reach: float | None = None) -> Markup:
        name = self._material.graph_name(position)
        svg = drawing_svg(drawing, f"Drawing of {name}", reach=reach, largest=240)
        note = f'<span class="part">drawn: {escape(drawing.note)}</span>' if drawing.note else ""
        return Markup(svg + note)

    def templates(self, first: Iterable[int]) -> dict[int, Markup]:
        """The drawings in the page: the given graphs, then others evenly, up to a limit."""
        graphs = self._material.graphs
        n = 0 if graphs is None else len(graphs)
        step = max(1, -(-n // _MOST_DRAWN))
        order = dict.fromkeys([*first, *range(0, n, step), *range(n)])
        found: dict[int, Markup] = {}
        size = 0
        for position in order:
            if len(found) >= _MOST_DRAWN or size > _MOST_BYTES:
                break
            found[position] = self.plain(position)
            size += len(found[position])
        return found
