"""``gramlet embed``: write features of the graphs to a file, or hashed ones to a feature store."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from gramlet.cli.inputs import classes_of, naming_input, read_input, refuse_foreign
from gramlet.cli.options import (
    Input,
    KernelChoice,
    OnDisk,
    Reading,
    check_folder,
    cluster_client,
    output_option,
    parse_params,
)
from gramlet.cli.output import MATRIX_ENDINGS, check_place, note_skipped, write_matrix
from gramlet.cli.terminal import WrongUse
from gramlet.common.notices import counted


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
    kernel: KernelChoice,
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
) -> None:
    """Write a feature matrix of the graphs, one row per graph.

    The features are those of an embedding, or of a kernel with explicit features. With --hashed
    they are written to a folder; if the command was stopped, running it again continues.
    """
    if hashed is not None:
        write_store(source, output, reading, on_disk, kernel, hashed, batch_size or 10_000)
        return
    on_disk.refuse_for(output)
    if batch_size is not None:
        raise WrongUse(f"--batch-size is for --hashed; {str(output)!r} is written as a whole.")
    check_place(output, MATRIX_ENDINGS, inputs={"INPUT": source})
    params = kernel.params()
    row = kernel.entry
    asked = row.make(**params)
    if not asked.__graph_tags__().features_by_graphs:
        _require_features(asked, kernel.kernel)
    data = read_input(source, reading, needs_target=row.tags.supervised)
    note_skipped(data)
    started = time.perf_counter()
    estimator = kernel.estimator(params)
    target = classes_of(data, source, kernel.kernel) if row.tags.supervised else None
    estimator.fit(data.graphs, target)
    _require_features(estimator, kernel.kernel)  # now that it has seen the graphs
    features, names = _features(row, estimator, data.graphs)
    seconds = time.perf_counter() - started
    write_matrix(output, "features", features, data, names=names)
    rows, columns = features.shape
    kernel.warn_of_unused(estimator, data.graphs)
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


_KINDS = ("wl", "wl-edge", "sp")


def write_store(
    source: str,
    output: Path,
    reading: Reading,
    on_disk: OnDisk,
    kernel: KernelChoice,
    n_bits: int,
    batch_size: int,
) -> None:
    """Write hashed features of INPUT to a folder; files are read in blocks."""
    name, params = kernel.kernel, parse_params(kernel.param)
    if name not in _KINDS:
        raise WrongUse(f"--hashed is for the kernels {', '.join(_KINDS)}; got {name!r}.")
    unknown = sorted(set(params) - {"n_iter", "use_edge_labels"})
    if unknown:
        raise WrongUse(
            f"hashed features have no parameter {unknown[0]!r}; they have n_iter and "
            "use_edge_labels."
        )
    check_folder(output, {"INPUT": source})
    from gramlet.scale.feature_store import FeatureStore
    from gramlet.scale.hashed_features import HashedFeatures

    features = HashedFeatures(name, n_bits=n_bits, **params)
    features.fit()
    path = Path(source).expanduser()
    streamed = path.is_file()
    if streamed:
        refuse_foreign(path, reading)
    data: Any = path if streamed else read_input(source, reading, needs_target=False)
    options = reading.options() if streamed else {}
    from gramlet.engine.core.compiling import announce_compilation

    announce_compilation()
    started = time.perf_counter()
    with _naming(source), cluster_client(on_disk.workers, on_disk.scheduler) as client:
        store = FeatureStore.write(
            output,
            data,
            features,
            batch_size,
            resume=not on_disk.fresh,
            verify=on_disk.verify,
            client=client,
            **options,
        )
    seconds = time.perf_counter() - started
    rows, columns = store.shape
    print(
        f"{rows} × {columns} features of {features!r} in {counted(store.n_parts, 'part')}, "
        f"{seconds:.2f} s, in {output}"
    )


@contextlib.contextmanager
def _naming(source: str) -> Iterator[None]:
    """Distinguish errors about the folder, which is another one's, from those of INPUT."""
    from gramlet.scale.feature_store import OtherContentError
    from gramlet.scale.store_folder import StoreInUseError

    with naming_input(source):
        try:
            yield
        except (OtherContentError, StoreInUseError) as why:
            raise WrongUse(str(why)) from why
