"""``gramlet embed``: write features of the graphs to a file, or hashed ones to a feature store."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from gramlet.cli.errors import WrongUse
from gramlet.cli.inputs import classes_of, read_input, refuse_foreign, told_values
from gramlet.cli.options import (
    Input,
    Jobs,
    Kernel,
    OnDisk,
    Params,
    Reading,
    Seed,
    check_folder,
    cluster_client,
    output_option,
    parse_params,
)
from gramlet.cli.output import ENDINGS, check_place, ids_of, note_skipped, write_matrix
from gramlet.cli.training import seeded, tell_unused, working_estimator
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
        write_store(
            source,
            output,
            reading,
            on_disk,
            kernel,
            parse_params(param),
            hashed,
            batch_size or 10_000,
        )
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
    write_matrix(output, "features", features, target=data.target, names=names, ids=ids_of(data))
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


_KINDS = ("wl", "wl-edge", "sp")


def write_store(
    source: str,
    output: Path,
    reading: Reading,
    on_disk: OnDisk,
    kernel: str,
    params: dict[str, Any],
    n_bits: int,
    batch_size: int,
) -> None:
    """Write hashed features of INPUT to a folder; files are read in blocks."""
    if kernel not in _KINDS:
        raise WrongUse(f"--hashed is for the kernels {', '.join(_KINDS)}; got {kernel!r}.")
    unknown = sorted(set(params) - {"n_iter", "use_edge_labels"})
    if unknown:
        raise WrongUse(
            f"hashed features have no parameter {unknown[0]!r}; they have n_iter and "
            "use_edge_labels."
        )
    check_folder(output, {"INPUT": source})
    from gramlet.scale.feature_store import FeatureStore
    from gramlet.scale.hashed_features import HashedFeatures

    features = HashedFeatures(kernel, n_bits=n_bits, **params)
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
    with _told(source), cluster_client(on_disk.workers, on_disk.scheduler) as client:
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
def _told(source: str) -> Iterator[None]:
    """Distinguish errors about the folder, which is another one's, from those of INPUT."""
    from gramlet.scale.feature_store import OtherContentError
    from gramlet.scale.store_folder import StoreInUseError

    with told_values(source):
        try:
            yield
        except (OtherContentError, StoreInUseError) as why:
            raise WrongUse(str(why)) from why
