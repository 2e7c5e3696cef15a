"""Matrices in files: .npy, .npz with names and classes beside them, .csv."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from gramlet.common.safe_writing import writing

__all__ = ["ENDINGS", "write_matrix"]

ENDINGS = (".npy", ".npz", ".csv")


def write_matrix(path: Path, name: str, matrix: Any, **others: Any) -> None:
    """Write a matrix, dense or sparse; the ending gives the format.

    Parameters
    ----------
    path : Path
        Ends in one of `ENDINGS`.
    name : str
        The name of a dense matrix in an .npz file; a sparse one is stored as its CSR arrays, under
        the names that `scipy.sparse.load_npz` reads.
    matrix : array or sparse matrix
    **others : array or None
        Further members of an .npz file; None is left out.
    """
    import numpy as np
    from scipy import sparse

    ending = path.suffix.lower()
    if sparse.issparse(matrix) and ending != ".npz":
        matrix = matrix.toarray()
    # A stream, not a name: numpy would append its ending to a name that ends in .NPY or .NPZ.
    with writing(path) as place, place.open("wb") as file:
        if ending == ".npy":
            # Only `write`: to a file, numpy would write in C and not give the reason of a failure.
            np.save(SimpleNamespace(write=file.write), np.asarray(matrix))
        elif ending == ".npz":
            members = _csr(matrix) if sparse.issparse(matrix) else {name: np.asarray(matrix)}
            members |= {key: value for key, value in others.items() if value is not None}
            np.savez_compressed(file, allow_pickle=False, **members)
        else:
            np.savetxt(file, matrix, fmt="%.17g", delimiter=",")


def _csr(matrix: Any) -> dict[str, Any]:
    import numpy as np

    matrix = matrix.tocsr()
    return {
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "shape": np.array(matrix.shape),
        "format": np.array("csr"),
    }
