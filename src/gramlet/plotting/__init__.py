"""Pictures, by matplotlib (``pip install gramlet[plot]``)."""

from gramlet.plotting.graphs import draw_graph, layout
from gramlet.plotting.maps import plot_map
from gramlet.plotting.patterns import plot_graph_importance, plot_patterns
from gramlet.plotting.ranks import plot_critical_differences

__all__ = [
    "draw_graph",
    "layout",
    "plot_critical_differences",
    "plot_graph_importance",
    "plot_map",
    "plot_patterns",
]
