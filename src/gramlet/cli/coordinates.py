"""``gramlet embed`` and ``gramlet map``: features to a file, a map of the graphs to a picture."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from gramlet.cli.errors import Failure
from gramlet.cli.inputs import read_input, target_of
from gramlet.cli.matrices import working_estimator
from gramlet.cli.options import (
    DataDir,
    Input,
    Jobs,
    Kernel,
    LabelColumn,
    Params,
    Seed,
    SmilesColumn,
    parse_params,
)
from gramlet.cli.output import check_place
from gramlet.common.safe_writing import writing

__all__ = ["embed", "map_"]


def embed(
    source: Input,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Where to: .npy, .npz or .csv."),
    ],
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help="An embedding, or a kernel with explicit features; see 'gramlet kernels'.",
        ),
    ] = "wl",
    param: Params = None,
    data_dir: DataDir = None,
    smiles_column: SmilesColumn = None,
    label_column: LabelColumn = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """Write a feature matrix of the graphs, one row a graph."""
    from gramlet.kernels import registry

    check_place(output, (".npy", ".npz", ".csv"))
    row = registry.get(method)
    params = parse_params(param)
    if "random_state" in row.make().get_params():
        params.setdefault("random_state", seed)
    data = read_input(source, data_dir, smiles_column, label_column)
    from gramlet.engine.core.compiling import announce_compilation

    announce_compilation()
    started = time.perf_counter()
    estimator = working_estimator(row, params, jobs)
    features, names = _features(row, estimator, data, source)
    seconds = time.perf_counter() - started
    _write(output, features, names, data.target)
    rows, columns = features.shape
    print(f"{rows} × {columns} features of {estimator!r} in {seconds:.2f} s, in {output}")


def _features(row: Any, estimator: Any, data: Any, source: str) -> tuple[Any, Any]:
    if row.kind == "embedding":
        estimator.fit(data.graphs)
        features = estimator.transform(data.graphs)
    elif hasattr(type(estimator), "features"):
        estimator.fit(data.graphs, target_of(data, source) if row.supervised else None)
        features = estimator.features(data.graphs)
    else:
        raise Failure(
            f"{row.name!r} has no explicit features; 'gramlet gram' gives its matrix, "
            "'gramlet map' its leading components."
        )
    names = getattr(estimator, "get_feature_names_out", lambda: None)()
    return features, names


def _write(path: Path, features: Any, names: Any, target: Any) -> None:
    import numpy as np
    from scipy import sparse

    with writing(path) as place:
        if path.suffix.lower() == ".npz":
            members: dict[str, Any] = {"target": target}
            members["names"] = None if names is None else np.asarray(names, dtype=str)
            if sparse.issparse(features):  # the arrays of the CSR matrix, under scipy's names
                members |= {
                    "data": features.data,
                    "indices": features.indices,
                    "indptr": features.indptr,
                    "shape": np.array(features.shape),
                    "format": np.array("csr"),
                }
            else:
                members["features"] = features
            there = {name: member for name, member in members.items() if member is not None}
            np.savez_compressed(place, allow_pickle=False, **there)
            return
        dense = features.toarray() if sparse.issparse(features) else np.asarray(features)
        if path.suffix.lower() == ".npy":
            np.save(place, dense)
        else:
            np.savetxt(place, dense, fmt="%.17g", delimiter=",")


def map_(
    source: Input,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="The picture: .png, .svg or .pdf."),
    ],
    kernel: Kernel = "wl",
    param: Params = None,
    examples: Annotated[
        int, typer.Option(metavar="N", help="How many graphs to draw around the map.", min=0)
    ] = 6,
    data_dir: DataDir = None,
    smiles_column: SmilesColumn = None,
    label_column: LabelColumn = None,
    jobs: Jobs = -1,
) -> None:
    """Draw a map of the graphs: kernel PCA, a point a graph, by class."""
    from gramlet.kernels import registry
    from gramlet.plotting.figure import pyplot

    check_place(output, (".png", ".svg", ".pdf"))
    row = registry.get(kernel)
    params = parse_params(param)
    data = read_input(source, data_dir, smiles_column, label_column)
    plt = pyplot()
    plt.switch_backend("Agg")
    from gramlet.combine.kernel_map import KernelMap
    from gramlet.engine.core.compiling import announce_compilation
    from gramlet.plotting.maps import plot_map

    announce_compilation()
    if "normalize" in row.make().get_params():
        params.setdefault("normalize", True)
    estimator = working_estimator(row, params, jobs)
    target = target_of(data, source) if row.tags.supervised else data.target
    graph_map = KernelMap(estimator).fit(data.graphs, target)
    ax = plot_map(
        graph_map, target, graphs=data.graphs if examples else None, examples=examples,
        node_names=data.node_label_names,
    )  # fmt: skip
    ax.set_title(f"{data.name or source}, {kernel}")
    with writing(output) as place:
        ax.figure.savefig(place, dpi=150)
    plt.close(ax.figure)
    first, second = graph_map.explained_share_
    print(f"{len(data.graphs)} graphs, {first:.0%} and {second:.0%} of the variance, in {output}")
