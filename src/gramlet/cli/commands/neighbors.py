"""``gramlet neighbors`` and ``gramlet duplicates``: similar and equal graphs, as tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gramlet.cli.inputs import classes_of, read_input
from gramlet.cli.options import (
    NORMALIZE_HELP,
    Input,
    Kernel,
    KernelChoice,
    Reading,
    output_option,
)
from gramlet.cli.output import (
    check_place,
    names_of,
    note_skipped,
    warn_of_repeated_ids,
    write_table,
)
from gramlet.cli.terminal import note

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset


_NEIGHBORS = 10


@dataclass(frozen=True)
class NeighborsKernel(KernelChoice):
    """The kernel, with another default."""

    kernel: Kernel = "wl-oa"


def neighbors(
    source: Input,
    reading: Reading,
    kernel: NeighborsKernel,
    query: Annotated[
        str | None,
        typer.Option(
            "--query",
            metavar="INPUT",
            help="Graphs to find neighbours of; by default those of INPUT, excluding themselves.",
        ),
    ] = None,
    n_neighbors: Annotated[
        int | None,
        typer.Option(
            "--neighbors",
            "-n",
            metavar="N",
            help="Neighbours per graph. [default: 10, or all if there are fewer]",
        ),
    ] = None,
    normalize: Annotated[
        Literal["tanimoto", "cosine"],
        typer.Option("--normalize", help=NORMALIZE_HELP),
    ] = "tanimoto",
    output: Annotated[Path | None, output_option("Write to a .csv file instead.")] = None,
) -> None:
    """Find the nearest graphs of each graph, exactly, by a normalised kernel."""
    from gramlet.combine.neighbours import GraphNeighbors

    if output is not None:
        check_place(output, [".csv"], inputs={"INPUT": source, "the input of --query": query})
    params = kernel.params("cosine" if normalize == "cosine" else False)
    supervised = kernel.entry.tags.supervised
    data = read_input(source, reading, uses_target=supervised)
    queries = data if query is None else read_input(query, reading, uses_target=False)
    for given, text in ((data, source),) if query is None else ((data, source), (queries, query)):
        note_skipped(given)
        warn_of_repeated_ids(given, text)
    if n_neighbors is None:
        n_neighbors = max(1, min(_NEIGHBORS, len(data.graphs) - (query is None)))
    estimator = kernel.estimator(params)
    index = GraphNeighbors(estimator, n_neighbors, n_jobs=kernel.jobs)
    index.fit(data.graphs, classes_of(data, source, kernel.kernel) if supervised else None)
    rows = None if query is None else queries.graphs
    similarities, positions = index.kneighbors(rows, return_similarity=True)
    kernel.warn_of_unused(estimator, data.graphs)
    heading = ["query", "rank", "neighbour", "similarity"]
    heading += ["query_smiles"] * (queries.molecules is not None)
    heading += ["smiles"] * (data.molecules is not None)
    write_table(output, heading, _lines(similarities, positions, data, queries))


def _lines(
    similarities: Any, positions: Any, data: Dataset, queries: Dataset
) -> Iterator[list[Any]]:
    """One line per graph and neighbour."""
    names, query_names = names_of(data), names_of(queries)
    for i, (row, places) in enumerate(zip(similarities, positions, strict=True)):
        for rank, (similarity, place) in enumerate(zip(row, places, strict=True), start=1):
            line = [query_names[i], rank, names[place], f"{similarity:.6g}"]
            line += [] if queries.molecules is None else [queries.molecules[i]]
            yield line + ([] if data.molecules is None else [data.molecules[place]])


def duplicates(
    source: Input,
    reading: Reading,
    output: Annotated[Path | None, output_option("Write to a .csv file instead.")] = None,
) -> None:
    """List groups of isomorphic graphs; labels and edge directions must agree."""
    from gramlet.combine.duplicates import find_duplicates

    if output is not None:
        check_place(output, [".csv"], inputs={"INPUT": source})
    data = read_input(source, reading, uses_target=False)
    note_skipped(data)
    warn_of_repeated_ids(data, source)
    from gramlet.engine.core.compiling import announce_compilation

    announce_compilation()
    groups = find_duplicates(data.graphs)
    names, molecules = names_of(data), data.molecules
    rows = (
        [number, names[position], *([] if molecules is None else [molecules[position]])]
        for number, group in enumerate(groups)
        for position in group
    )
    write_table(output, ["group", "graph", *["smiles"] * (molecules is not None)], rows)
    repeated = sum(len(group) - 1 for group in groups)
    note(f"{len(data.graphs)} graphs, {repeated} of them repeat an earlier one.")
