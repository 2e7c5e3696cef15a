"""``gramlet embed``: write features of the graphs to a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from gramlet.cli.arguments.inputs import classes_of, read_input
from gramlet.cli.arguments.on_disk import OnDisk
from gramlet.cli.arguments.option_groups import Reading
from gramlet.cli.arguments.options import Input, Jobs, Kernel, Params, Seed, output_option
from gramlet.cli.arguments.params import parse_params
from gramlet.cli.errors import WrongUse
from gramlet.cli.results.matrix_files import ENDINGS, write_matrix
from gramlet.cli.results.output import check_place
from gramlet.cli.results.stores import write_store
from gramlet.cli.results.tables import ids_of, note_skipped
from gramlet.cli.work.estimators import seeded, tell_unused, working_estimator

__all__ = ["embed"]


def embed(
    source: Input,
    output: Annotated[
        Path,
        output_option(
            "Output file: .npy, .npz (sparse, with names, classes and ids), .csv; with --hashed a "
            "folder."
        ),
    ],
    reading: Reading,
    on_disk: OnDisk,
    hashed: Annotated[
        int | None,
        typer.Option(
            "--hashed",
            metavar="BITS",
            min=1,
            max=31,
            help="Write 2^BITS hashed columns to a folder, part by part: for files of any size. "
            "For the kernels wl, wl-edge and sp.",
        ),
    ] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(
            "--batch-size",
            metavar="N",
            min=1,
            help="With --hashed: graphs per part. [default: 10000]",
        ),
    ] = None,
    kernel: Kernel = "wl",
    param: Params = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """Write a feature matrix of the graphs, one row per graph.

    The features are those of an embedding, or of a kernel with explicit features. With --hashed
    they are written to a folder; if the command was stopped, running it again continues.
    """
    from gramlet.kernels import registry

    if hashed is not None:
        write_store(source, output, reading, on_disk, kernel, parse_params(param), hashed,
                    batch_size or 10_000)  # fmt: skip
        return
    on_disk.refuse_for(output)
    if batch_size is not None:
        raise WrongUse(f"--batch-size is for --hashed; {str(output)!r} is written as a whole.")
    check_place(output, ENDINGS, inputs={"INPUT": source})
    row = registry.get(kernel)
    params = seeded(row, parse_params(param), seed)
    asked = row.make(**params)
    asked._validate_params()
    if not asked.__graph_tags__().features_by_graphs:
        _require_features(asked, kernel)
    data = read_input(source, reading, needs_target=row.tags.supervised)
    note_skipped(data)
    from gramlet.engine.core.compiling import announce_compilation

    announce_compilation()
    started = time.perf_counter()
    estimator = working_estimator(row, params, jobs)
    target = classes_of(data, source, kernel) if row.tags.supervised else None
    estimator.fit(data.graphs, target)
    _require_features(estimator, kernel)  # now that it has seen the graphs
    features, names = _features(row, estimator, data.graphs)
    seconds = time.perf_counter() - started
    write_matrix(
        output, "features", features, target=data.target, names=names, ids=ids_of(data)
    )  # fmt: skip
    rows, columns = features.shape
    tell_unused(kernel, estimator, data.graphs)
    print(f"{rows} × {columns} features of {asked!r} in {seconds:.2f} s, in {output}")


def _require_features(estimator: Any, kernel: str) -> None:
    tags = estimator.__graph_tags__()
    if tags.kind == "kernel" and not tags.features:
        raise WrongUse(
            f"{kernel!r} has no explicit features; 'gramlet gram' gives its matrix, "
            "'gramlet map' its leading components."
        )


def _features(row: Any, estimator: Any, graphs: Any) -> tuple[Any, Any]:
    import numpy as np

    features = (estimator.transform if row.kind == "embedding" else estimator.features)(graphs)
    names = getattr(estimator, "get_feature_names_out", lambda: None)()
    return features, None if names is None else np.asarray(names, dtype=str)
