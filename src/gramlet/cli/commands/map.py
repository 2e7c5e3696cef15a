"""``gramlet map``: draw a map of the graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gramlet.cli.inputs import classes_of, read_input
from gramlet.cli.options import (
    Input,
    KernelChoice,
    Normalize,
    Reading,
    normalisation,
    output_option,
)
from gramlet.cli.output import check_place
from gramlet.common.safe_writing import writing


def map_(
    source: Input,
    output: Annotated[Path, output_option("The picture: .png, .svg or .pdf.")],
    reading: Reading,
    kernel: KernelChoice,
    normalize: Normalize = None,
    examples: Annotated[
        int,
        typer.Option("--examples", metavar="N", help="Graphs drawn around the map.", min=0),
    ] = 6,
) -> None:
    """Draw a map of the graphs: kernel PCA, one point per graph, coloured by class or number."""
    from gramlet.combine.kernel_map import KernelMap
    from gramlet.plotting.axes import pyplot
    from gramlet.plotting.maps import plot_map

    check_place(output, (".png", ".svg", ".pdf"), inputs={"INPUT": source})
    params = kernel.params(normalisation(normalize))
    plt = pyplot()
    plt.switch_backend("Agg")
    supervised = kernel.entry.tags.supervised
    data = read_input(source, reading, needs_target=supervised)
    estimator = kernel.estimator(params)
    target = classes_of(data, source, kernel.kernel) if supervised else data.target
    graph_map = KernelMap(estimator).fit(data.graphs, target)
    ax = plot_map(
        graph_map,
        target,
        graphs=data.graphs if examples else None,
        examples=examples,
        node_names=data.node_label_names,
        edge_names=data.edge_label_names,
        class_names=data.target_names,
        value_name=data.target_name,
    )
    ax.set_title(f"{data.name or source}, {kernel.kernel}")
    with writing(output) as place:
        ax.figure.savefig(place, dpi=150)
    plt.close(ax.figure)
    kernel.warn_of_unused(estimator, data.graphs)
    first, second = graph_map.explained_share_
    print(f"{len(data.graphs)} graphs, {first:.0%} and {second:.0%} of the variance, in {output}")
