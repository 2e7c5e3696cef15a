"""``gramlet duplicates``: groups of isomorphic graphs, as a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from gramlet.cli.inputs import read_input
from gramlet.cli.options import Input, Reading, output_option
from gramlet.cli.output import (
    check_place,
    names_of,
    note_skipped,
    warn_of_repeated_ids,
    write_table,
)
from gramlet.cli.terminal import note


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
