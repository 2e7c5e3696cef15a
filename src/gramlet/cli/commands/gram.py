"""``gramlet gram``: write a Gram matrix to a file, or to a folder that can be continued."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from gramlet.cli.inputs import classes_of, read_input
from gramlet.cli.options import (
    NORMALIZE_HELP,
    Input,
    KernelChoice,
    OnDisk,
    Reading,
    check_folder,
    cluster_client,
    normalisation,
    output_option,
)
from gramlet.cli.output import MATRIX_ENDINGS, check_place, note_skipped, write_matrix
from gramlet.cli.terminal import WrongUse

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset


_FOLDER = ".zarr"


def gram(
    source: Input,
    output: Annotated[
        Path,
        output_option(
            "Output file: .npy, .npz (with classes as 'target', identifiers as 'ids'), .csv, or "
            "a .zarr folder for a matrix larger than memory."
        ),
    ],
    reading: Reading,
    kernel: KernelChoice,
    on_disk: OnDisk,
    chunk: Annotated[
        int | None,
        typer.Option(
            "--chunk",
            metavar="N",
            min=1,
            help="For .zarr: rows and columns per tile. [default: 2048]",
        ),
    ] = None,
    normalize: Annotated[
        Literal["tanimoto", "cosine", "none"],
        typer.Option("--normalize", help=NORMALIZE_HELP),
    ] = "none",
) -> None:
    """Compute a Gram matrix and write it to a file.

    A matrix in a .zarr folder is computed tile by tile; the same command continues one that was
    stopped.
    """
    to_folder = output.suffix.lower() == _FOLDER
    if to_folder:
        check_folder(output, {"INPUT": source})
    else:
        check_place(output, (*MATRIX_ENDINGS, _FOLDER), inputs={"INPUT": source})
        on_disk.refuse_for(output)
        if chunk is not None:
            raise WrongUse(f"--chunk is for .zarr folders; {str(output)!r} is a file.")
    params = kernel.params(normalisation(normalize) or False)
    row = kernel.entry
    data = read_input(source, reading, needs_target=row.tags.supervised)
    note_skipped(data)
    started = time.perf_counter()
    estimator = kernel.estimator(params)
    target = classes_of(data, source, kernel.kernel) if row.tags.supervised else None
    if to_folder:
        matrix = _on_disk(estimator, data, target, output, chunk or 2048, on_disk)
    else:
        matrix = _in_memory(row, estimator, data, target)
        write_matrix(output, "gram", matrix, data)
    seconds = time.perf_counter() - started
    rows, columns = matrix.shape
    what = row.make(**params)
    kernel.warn_of_unused(what, data.graphs)
    print(f"{rows} × {columns} matrix of {what!r} in {seconds:.2f} s, in {output}")


def _in_memory(row: Any, estimator: Any, data: Dataset, target: Any) -> Any:
    if row.kind == "kernel":
        return estimator.fit_transform(data.graphs, target)
    from gramlet.combine.gram import gram as gram_of

    return gram_of(data.graphs, estimator)


def _on_disk(
    estimator: Any, data: Dataset, target: Any, output: Path, chunk: int, how: OnDisk
) -> Any:
    from gramlet.scale.gram_store import write_gram

    with cluster_client(how.workers, how.scheduler) as client:
        return write_gram(
            estimator,
            data.graphs,
            output,
            y=target,
            chunk=chunk,
            client=client,
            resume=not how.fresh,
            verify=how.verify,
        )
