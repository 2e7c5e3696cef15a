"""`save` and `load`: a model to a file and back."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np

from gramlet._version import __version__
from gramlet.persistence.container import ModelFileError, read_container, write_container
from gramlet.persistence.tree import Decoder, Encoder

_FORMAT = "gramlet-model"
_FORMAT_VERSION = 3


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a fitted kernel or embedding, or a pipeline of one with a scikit-learn classifier.

    The file contains numbers, text and arrays only, and loading it runs no code from the file. It
    is written under a temporary name and renamed: an existing file is replaced, and stays unchanged
    if anything goes wrong. A model that `load` would refuse is not saved. Cost: linear in its size.

    Parameters
    ----------
    model : estimator
        An estimator of gramlet, fitted or not, or one of scikit-learn's listed on the page about
        saving models; parts of it may be shared. Functions, random generators and other classes
        cannot be saved: the error names their place in the model and what to do.
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
    tree = encoder.encode(model, type(model).__name__)
    manifest = {
        "format": _FORMAT,
        "version": _FORMAT_VERSION,
        "libraries": _libraries(),
        "model": tree,
    }
    write_container(path, manifest, encoder.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model that `save` wrote, without running any code from the file.

    Only classes on a list of gramlet's and scikit-learn's classes are created, and everything in
    them that compiled code relies on is checked: a forged or damaged file is refused. If the model
    was saved with another version of scikit-learn or gramlet, one warning names both versions.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    model : estimator
        The saved model, which gives the same numbers.

    Raises
    ------
    ModelFileError
        A `ValueError`: the file is foreign, damaged, forged, or of another format version.
    OSError
        If there is no such file, or it cannot be opened.

    Examples
    --------
    See :func:`save`.
    """
    manifest, arrays = read_container(path)
    decoder = Decoder(arrays)
    try:
        _check_format(manifest)
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
    if version != _FORMAT_VERSION:
        later = type(version) is int and version > _FORMAT_VERSION
        way_out = (
            "Install a later gramlet."
            if later
            else "Load it with the gramlet that wrote it, or fit and save the model again."
        )
        raise ModelFileError(
            f"its format has version {version!r:.40} (written by gramlet "
            f"{_wrote(manifest.get('libraries'), 'gramlet')}); this gramlet ({__version__}) reads "
            f"version {_FORMAT_VERSION}. {way_out}"
        )
    if "model" not in manifest:
        raise ModelFileError("its manifest contains no model.")


def _wrote(saved_with: Any, library: str) -> str:
    """The version of a library that wrote a file, as stored in the file, for messages."""
    version = saved_with.get(library) if isinstance(saved_with, dict) else None
    return version[:40] if isinstance(version, str) else "(unknown)"


def _warn_of_versions(path: str | os.PathLike[str], saved_with: Any, uses_sklearn: bool) -> None:
    """Warn once if the versions that load the model are not the versions that saved it."""
    here = _libraries()
    relevant = ["gramlet", "scikit-learn"] if uses_sklearn else ["gramlet"]
    other = [name for name in relevant if _wrote(saved_with, name) != here[name]]
    if other:
        before = " and ".join(f"{name} {_wrote(saved_with, name)}" for name in other)
        now = " and ".join(f"{name} {here[name]}" for name in other)
        warnings.warn(
            f"{os.fspath(path)!r} was saved with {before} and is loaded with {now}. If it behaves "
            "differently, fit and save the model again.",
            UserWarning,
            stacklevel=3,
        )
