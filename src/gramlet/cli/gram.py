"""``gramlet gram``: a Gram matrix to a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

from gramlet.cli.errors import WrongUse
from gramlet.cli.estimators import seeded, working_estimator
from gramlet.cli.inputs import classes_of, read_input
from gramlet.cli.matrix_files import ENDINGS, write_matrix
from gramlet.cli.option_groups import Reading
from gramlet.cli.options import Input, Jobs, Kernel, Normalize, Params, Seed, output_option
from gramlet.cli.output import check_place
from gramlet.cli.params import parse_params

__all__ = ["gram"]


def gram(
    source: Input,
    output: Annotated[
        Path, output_option("Where to: .npy, .npz (with the classes as 'target') or .csv.")
    ],
    reading: Reading,
    kernel: Kernel = "wl",
    param: Params = None,
    normalize: Normalize = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """Compute a Gram matrix and write it to a file."""
    from gramlet.kernels import registry

    check_place(output, ENDINGS)
    params = parse_params(param)
    if normalize:
        if params.get("normalize") is False:
            raise WrongUse("--normalize and --param normalize=false contradict each other.")
        params["normalize"] = True
    row = registry.get(kernel)
    params = seeded(row, params, seed)
    row.make(**params)._validate_params()
    data = read_input(source, reading)
    from gramlet.engine.core.compiling import announce_compilation

    announce_compilation()
    started = time.perf_counter()
    estimator = working_estimator(row, params, jobs)
    target = classes_of(data, source, kernel) if row.tags.supervised else None
    if row.kind == "kernel":
        matrix = estimator.fit_transform(data.graphs, target)
    else:
        from gramlet.combine.gram import gram as gram_of

        matrix = gram_of(data.graphs, estimator)
    seconds = time.perf_counter() - started
    write_matrix(output, "gram", matrix, target=data.target)
    rows, columns = matrix.shape
    what = row.make(**params)
    print(f"{rows} × {columns} matrix of {what!r} in {seconds:.2f} s, in {output}")
