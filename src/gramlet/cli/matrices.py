"""``gramlet gram``: a Gram matrix to a file."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlet.cli.errors import WrongUse
from gramlet.cli.inputs import read_input, target_of
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

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset

_ENDINGS = (".npy", ".npz", ".csv")


def gram(
    source: Input,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Where to: .npy, .npz (with the classes as 'target') or .csv.",
        ),
    ],
    kernel: Kernel = "wl",
    param: Params = None,
    normalize: Annotated[bool, typer.Option("--normalize", help="Divide by the norms.")] = False,
    data_dir: DataDir = None,
    smiles_column: SmilesColumn = None,
    label_column: LabelColumn = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """Compute a Gram matrix and write it to a file."""
    from gramlet.kernels import registry

    check_place(output, _ENDINGS)
    params = parse_params(param)
    if normalize:
        if params.get("normalize") is False:
            raise WrongUse("--normalize and --param normalize=false contradict each other.")
        params["normalize"] = True
    row = registry.get(kernel)
    if "random_state" in row.make().get_params():
        params.setdefault("random_state", seed)
    data = read_input(source, data_dir, smiles_column, label_column)
    from gramlet.engine.core.compiling import announce_compilation

    announce_compilation()
    started = time.perf_counter()
    estimator = working_estimator(row, params, jobs)
    target = target_of(data, source) if row.tags.supervised else None
    if row.kind == "kernel":
        matrix = estimator.fit_transform(data.graphs, target)
    else:
        from gramlet.combine.gram import gram as gram_of

        matrix = gram_of(data.graphs, estimator)
    seconds = time.perf_counter() - started
    _write(output, matrix, data)
    rows, columns = matrix.shape
    what = row.make(**params)
    print(f"{rows} × {columns} matrix of {what!r} in {seconds:.2f} s, in {output}")


def working_estimator(row: Any, params: dict[str, Any], jobs: int) -> Any:
    """The row's estimator with these parameters, on so many threads, showing its progress."""
    estimator = row.make(**params)
    has = estimator.get_params(deep=False)
    # Some kernels tell their progress in lines, which would be in the way in a pipe.
    work = {"n_jobs": jobs, "verbose": sys.stderr.isatty()}
    return estimator.set_params(**{k: v for k, v in work.items() if k in has and k not in params})


def _write(path: Path, matrix: Any, data: Dataset) -> None:
    import numpy as np

    with writing(path) as place:
        ending = path.suffix.lower()
        if ending == ".npy":
            np.save(place, matrix)
        elif ending == ".npz":
            members = {"gram": matrix, "target": data.target}
            there = {name: member for name, member in members.items() if member is not None}
            np.savez_compressed(place, allow_pickle=False, **there)
        else:
            np.savetxt(place, matrix, fmt="%.17g", delimiter=",")
