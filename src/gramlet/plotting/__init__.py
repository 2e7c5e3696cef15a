"""Pictures, by matplotlib (``pip install gramlet[plot]``) and as SVG."""

from gramlet.plotting.axes import draw_graph
from gramlet.plotting.colours import label_colours
from gramlet.plotting.drawing import drawing_of
from gramlet.plotting.layout import layout
from gramlet.plotting.maps import plot_map
from gramlet.plotting.patterns import plot_graph_importance, plot_patterns
from gramlet.plotting.ranks import plot_critical_differences
from gramlet.plotting.svg import drawing_svg

__all__ = [
    "draw_graph",
    "drawing_of",
    "drawing_svg",
    "label_colours",
    "layout",
    "plot_critical_differences",
    "plot_graph_importance",
    "plot_map",
    "plot_patterns",
]
