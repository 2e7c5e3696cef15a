"""Models from files, as `predict` and `explain` load them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gramlet.cli.errors import Failure, WrongUse

__all__ = ["load_classifier", "load_model"]


def load_model(path: Path) -> Any:
    """The object that `gramlet.save` wrote to a file."""
    if path.is_dir():
        raise WrongUse(f"{str(path)!r} is a folder; name the file of a model.")
    if not path.is_file():
        raise WrongUse(f"there is no file {str(path)!r}.")
    from gramlet.persistence import load

    try:
        return load(path)
    except OSError as why:
        raise Failure(f"{str(path)!r} cannot be read: {why.strerror or why}.") from why
    except ValueError as why:
        raise Failure(str(why)) from why


def load_classifier(path: Path, jobs: int) -> Any:
    """A model that predicts, with its number of threads set."""
    classifier = load_model(path)
    if not hasattr(classifier, "predict"):
        raise WrongUse(
            f"{str(path)!r} contains a {type(classifier).__name__}, which does not predict. "
            "'gramlet train' writes models that do."
        )
    if classifier.get_params().get("kernel__n_jobs", 1) is None:
        classifier.set_params(kernel__n_jobs=jobs)
    return classifier
