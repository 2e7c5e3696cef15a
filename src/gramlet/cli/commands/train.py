"""``gramlet train``: fit a classifier or a regression on graphs and save it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

from gramlet.cli.arguments.inputs import read_input, refuse_numbers, target_of
from gramlet.cli.arguments.option_groups import Learning, Reading
from gramlet.cli.arguments.options import (
    Costs,
    InnerFolds,
    Input,
    Jobs,
    Kernel,
    Normalize,
    Params,
    Seed,
    output_option,
)
from gramlet.cli.arguments.params import parse_params
from gramlet.cli.errors import WrongUse
from gramlet.cli.results.output import check_place
from gramlet.cli.work.estimators import Training, choose_and_fit, tell_unused
from gramlet.cli.work.linear import Linear, is_store, train_linear

__all__ = ["train"]


def train(
    source: Input,
    output: Annotated[Path, output_option("File of the model.", metavar="MODEL")],
    reading: Reading,
    learning: Learning,
    linear: Linear,
    kernel: Kernel = "wl",
    param: Params = None,
    costs: Costs = None,
    inner_folds: InnerFolds = 5,
    normalize: Normalize = True,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """Fit a machine with a kernel and save it: support vectors for classes, ridge for numbers.

    C, and those of the kernel's options that --param does not fix, are chosen by cross-validation.
    With --linear: a linear model of hashed features, from a folder of any size.
    """
    from gramlet.kernels import registry

    check_place(output, inputs={"INPUT": source})
    if linear.linear:
        unused = {"--kernel": kernel != "wl", "--param": bool(param), "--C": bool(costs),
                  "--inner-folds": inner_folds != 5, "--no-normalize": not normalize}  # fmt: skip
        train_linear(source, output, linear, learning, seed, {**unused, **reading.given()})
        return
    linear.refuse_without()
    if is_store(source):
        raise WrongUse(f"{source!r} is a folder of hashed features; --linear learns from it.")
    params = parse_params(param)
    row = registry.get(kernel)
    row.make(**params)._validate_params()
    how = Training(costs, inner_folds, normalize, seed, jobs, learning)
    how.protocol()  # a wrong C is refused before any work is done
    data = read_input(source, reading)
    target = target_of(data, source, learning)
    if row.tags.supervised:
        refuse_numbers(target, source, kernel)
    from gramlet.engine.core.compiling import announce_compilation

    announce_compilation()
    started = time.perf_counter()
    trained = choose_and_fit(row, params, how, data.graphs, target)
    from gramlet.persistence import save

    save(trained.model, output)
    seconds = time.perf_counter() - started
    tell_unused(kernel, row.make(**trained.options), data.graphs)
    chosen = {**trained.options, "C": f"{trained.C:g}"}
    shown = " ".join(f"{key}={value}" for key, value in chosen.items())
    print(f"{kernel} trained on {len(target.kept)} graphs in {seconds:.1f} s: {shown}")
    if trained.score is not None and (trained.chosen or trained.no_better):
        print(trained.verdict())
    print(f"Saved in {output}")
