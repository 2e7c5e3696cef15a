"""Messages of functions reworded for the command line: options in place of parameters."""

from __future__ import annotations

import re

__all__ = ["with_options"]

_PHRASES = {
    "as_batch(graphs, node_labels='degree')": "--node-labels degree",
    "data_home": "--data-dir",
    'on_error="skip"': "--on-error skip",
    "Name what is to be read by label=, attr=.": "Name what is to be read by --label, or rename "
    "numbers to attr.",
    "Name what is to be read by edge_label=, weight=, edge_attr=.": "Rename what is to be read to "
    "label, weight or attr.",
    "batch.to_undirected() or as_batch(x, directed=False)": "--undirected",
    "as_batch(x, directed=True) or batch.to_undirected()": "--directed or --undirected",
    "directed=True": "--directed",
    "directed=False": "--undirected",
    ", call the file .smi, or give sep=": ", call the file .smi",
    "node_labels='none' none.": "--node-labels none takes none.",
    "number between 0 and 1, or None for folds": "number between 0 and 1",
    "leave out output= to compute it in memory": "write it to a file such as K.npz",
    " If the row is data, correct it, or give header=False.": " If the row is data, correct it.",
    "The field 'skipped' lists them.": "",
    "The field 'skipped' of each block lists them.": "",
    "The property 'skipped' of the store lists them.": "",
    "give evaluate a Dataset that keeps them (gramlet.read of a file of molecules), or the groups "
    "themselves as an array": "read them from a file of molecules",
}
_PARAMETERS = (
    "target", "molecules", "id", "label", "directed", "task", "min_class_size", "class_weight",
    "groups", "scoring", "classifier", "draws", "selection", "held_out", "n_neighbors",
)  # fmt: skip
# Options that are not called like their parameters.
_OPTIONS = {"test_size": "--holdout", "random_state": "--seed", "n_neighbors": "--neighbors"}
# Classes whose parameters are options; those of kernels are not.
_PARAMETER_OF = re.compile(r"The '(\w+)' parameter of (?:Protocol|GraphNeighbors)\b")
_BOTH = re.compile(r"\b\w+=\S* \((--[\w-]+)\)")  # a parameter with its option beside it
_NUMBERS = re.compile(r"Got \(([^()]*?),?\) instead")  # a list that was typed number by number


def with_options(message: object) -> str:
    """Replace the parameters that the message names by options of the command line.

    >>> with_options("Use task='regression', or min_class_size=10.")
    'Use --task regression, or --min-class-size 10.'
    >>> with_options("no column is called 'y' (target=)")
    "no column is called 'y' (--target)"
    >>> with_options("Name it by target= (--target), or start again with resume=False (--fresh).")
    'Name it by --target, or start again with --fresh.'
    >>> with_options("The 'C' parameter of Protocol must be positive numbers. Got (-1.0,) instead.")
    '--C must be positive numbers. Got -1.0 instead.'
    """
    text = str(message)
    for theirs, ours in _PHRASES.items():
        text = text.replace(theirs, ours)
    text = _BOTH.sub(r"\1", text)
    text = _PARAMETER_OF.sub(lambda found: _option(found[1]), text)
    text = _NUMBERS.sub(r"Got \1 instead", text)
    for name in _PARAMETERS:
        option = _option(name)
        text = re.sub(rf"\b{name}=(['\"])([\w-]+)\1", rf"{option} \2", text)
        text = re.sub(rf"\b{name}=(?=[\s).,;]|$)", option, text)
        text = re.sub(rf"\b{name}=", f"{option} ", text)
        if "_" in name:  # not an English word
            text = re.sub(rf"\b{name}\b", option, text)
    return text.rstrip()


def _option(name: str) -> str:
    return _OPTIONS.get(name, f"--{name.replace('_', '-')}")
