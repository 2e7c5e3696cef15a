"""`save` and `load`: a model to a file and back."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from gramlet._version import __version__
from gramlet.persistence.container import ModelFileError, read_container, write_container
from gramlet.persistence.decoding import Decoder
from gramlet.persistence.encoding import Encoder

__all__ = ["load", "save"]

_FORMAT = "gramlet-model"
_FORMAT_VERSION = 1


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted kernel or embedding, or a pipeline of one with a scikit-learn classifier.

    The file holds numbers, text and arrays only, and loading it runs no code that is in it. It is
    written beside its place and renamed: a file of that name is replaced, and stays as it was if
    anything goes wrong. Cost: linear in its size.

    Parameters
    ----------
    model : estimator
        Of gramlet or scikit-learn, fitted or not; parts of it may be shared. Functions and classes
        of your own cannot be saved: the error says where in the model they are.
    path : str or path
        The file; its folder must exist. The usual ending is ``.gramlet``.

    Raises
    ------
    TypeError
        If something in the model cannot be saved.

    Examples
    --------
    >>> import gramlet, tempfile
    >>> graphs = [([(0, 1)], ["C", "O"]), ([(0, 1), (1, 2)], ["O", "C", "O"])]
    >>> kernel = gramlet.WeisfeilerLehman(n_iter=1).fit(graphs)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gramlet.save(kernel, f"{folder}/wl.gramlet")
    ...     again = gramlet.load(f"{folder}/wl.gramlet")
    >>> again.transform(graphs)
    array([[ 4.,  5.],
           [ 5., 10.]])
    """
    encoder = Encoder()
    tree = encoder.encode_model(model)
    manifest = {
        "format": _FORMAT,
        "version": _FORMAT_VERSION,
        "libraries": _libraries(),
        "model": tree,
    }
    write_container(path, manifest, encoder.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that `save` wrote, without running any code that is in the file.

    Only classes of gramlet and scikit-learn are built, by name, and given their attributes. If the
    model was saved under another version of scikit-learn or gramlet, one warning names both.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    model : estimator
        As it was saved: it gives the same numbers.

    Raises
    ------
    ModelFileError
        A `ValueError`: the file is foreign, damaged, or of a later format than this gramlet knows.
    OSError
        If there is no such file, or it cannot be opened.

    Examples
    --------
    See :func:`save`.
    """
    manifest, arrays = read_container(path)
    try:
        _check_format(manifest)
        decoder = Decoder(arrays)
        model = decoder.decode(manifest["model"])
    except Exception as error:
        raise ModelFileError(f"{os.fspath(path)!r} cannot be loaded: {error}") from error
    _warn_of_versions(path, manifest.get("libraries"), decoder.uses_sklearn)
    return model


def _libraries() -> dict[str, str]:
    import scipy
    import sklearn

    return {
        "gramlet": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def _check_format(manifest: Any) -> None:
    if not isinstance(manifest, dict) or manifest.get("format") != _FORMAT:
        raise ModelFileError("its manifest is not that of a saved model.")
    version = manifest.get("version")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"its format has version {version!r}, which there is not.")
    if version > _FORMAT_VERSION:
        raise ModelFileError(
            f"its format has version {version}, and this gramlet ({__version__}) reads up to "
            f"{_FORMAT_VERSION}. Install a later gramlet."
        )
    if "model" not in manifest:
        raise ModelFileError("its manifest tells of no model.")


def _warn_of_versions(path: str | os.PathLike[str], saved_with: Any, uses_sklearn: bool) -> None:
    """One warning if the code that is to run the model is not the code that fitted it."""
    here = _libraries()
    saved = saved_with if isinstance(saved_with, dict) else {}
    relevant = ["gramlet", "scikit-learn"] if uses_sklearn else ["gramlet"]
    other = [name for name in relevant if saved.get(name) != here[name]]
    if other:
        before = " and ".join(f"{name} {saved.get(name, '(unknown)')}" for name in other)
        now = " and ".join(f"{name} {here[name]}" for name in other)
        warnings.warn(
            f"{os.fspath(path)!r} was saved with {before} and is loaded with {now}. If it behaves "
            "differently, fit and save the model again.",
            UserWarning,
            stacklevel=3,
        )
