"""Molecular descriptors: RDKit's two-dimensional descriptors as features of molecules."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, ClassVar

import numpy as np

from gramlet.common.arrays import Floats
from gramlet.common.fields import ListOf, Text, fields
from gramlet.embeddings.base import DETERMINISTIC_CONSTRAINTS, GraphEmbedding
from gramlet.engine.core.tiles import Tiling
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.molecules.parsing import molecule_from, quiet, rdkit
from gramlet.graphs.molecules.structures import smiles_of
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags

_LARGEST = 1e6
# Molecules per task, and molecules whose rows are kept: cross-validation asks for them again.
_CHUNK, _MOST_ROWS = 200, 40_000
_ROWS: dict[str, Floats] = {}


@shared_texts
class MolecularDescriptors(GraphEmbedding):
    """RDKit's two-dimensional descriptors of molecules.

    The columns are those of ``rdkit.Chem.Descriptors.descList``, in its order: weights, charges,
    surface areas, topological indices, counts of fragments. Values are clipped to ±1e6; those that
    are not finite, or that RDKit cannot compute, become 0, and a warning counts them. Cost: some
    milliseconds per molecule.

    Parameters
    ----------
    n_jobs : int, optional
        Processes to use, as in scikit-learn; None means one.
    %(verbose)s

    Attributes
    ----------
    names_ : list of str
        The descriptors.

    Notes
    -----
    Molecules come from the column ``batch.molecules``, which `gramlet.molecules`, `as_batch`
    and readers of molecules fill. Graphs without it are rebuilt from labels that name atoms and
    bonds; hydrogens, isotopes and chirality that the labels do not name are lost. Columns have very
    different scales: standardise them, or use `EmbeddingKernel`, which does.

    References
    ----------
    Landrum (2006), RDKit: Open-source cheminformatics, https://www.rdkit.org.

    Examples
    --------
    >>> from gramlet import MolecularDescriptors
    >>> descriptors = MolecularDescriptors()
    >>> features = descriptors.fit_transform(["CCO", "c1ccccc1"])
    >>> weight = descriptors.names_.index("MolWt")
    >>> features[:, weight].round(2).tolist()
    [46.07, 78.11]
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {**DETERMINISTIC_CONSTRAINTS}

    stored = fields(names_=ListOf(Text(), least=1))

    def __init__(self, *, n_jobs: int | None = None, verbose: int | bool = False) -> None:
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, batch: GraphBatch, y: Any, tiling: Tiling) -> list[str]:
        self.names_ = [name for name, _ in _descriptors()]
        return smiles_of(batch)

    def _profile(self, batch: GraphBatch, tiling: Tiling) -> list[str]:
        return smiles_of(batch)

    def _features(self, profile: list[str], tiling: Tiling) -> Floats:
        if self.names_ != [name for name, _ in _descriptors()]:
            raise ValueError(
                "This RDKit has other descriptors than the one that MolecularDescriptors was "
                "fitted with. Fit again, or install that version."
            )
        rows = np.empty((len(profile), len(self.names_)))
        for graph, row in enumerate(_rows_of(profile, self.n_jobs)):
            if row is None:
                raise ValueError(
                    f"Graph {graph}: RDKit cannot read its molecule {profile[graph]!r}."
                )
            rows[graph] = row
        wrong = ~np.isfinite(rows)
        if wrong.any():
            graph, column = (int(i) for i in np.argwhere(wrong)[0])
            warnings.warn(
                f"{int(wrong.sum())} descriptors of {int(wrong.any(axis=1).sum())} molecules are "
                f"not finite and count as 0; the first is {self.names_[column]} of graph {graph}.",
                stacklevel=4,
            )
            rows[wrong] = 0.0
        return np.clip(rows, -_LARGEST, _LARGEST, out=rows)

    def _names(self) -> list[str]:
        return list(self.names_)

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(kind="embedding", uses=("molecules", "node_labels", "edge_labels"))


@cache
def _descriptors() -> list[tuple[str, Any]]:
    rdkit()
    from rdkit.Chem import Descriptors

    return list(Descriptors.descList)


def _rows_of(smiles: list[str], n_jobs: int | None) -> list[Floats | None]:
    """The descriptors of each molecule; None if it cannot be read."""
    known: dict[str, Floats | None] = {text: _ROWS[text] for text in smiles if text in _ROWS}
    new = [text for text in dict.fromkeys(smiles) if text not in known]
    chunks = [new[first : first + _CHUNK] for first in range(0, len(new), _CHUNK)]
    if n_jobs in (None, 1) or len(chunks) < 2:
        rows = [row for chunk in chunks for row in _computed(chunk)]
    else:
        from joblib import Parallel, delayed

        parts = Parallel(n_jobs=n_jobs)(delayed(_computed)(chunk) for chunk in chunks)
        rows = [row for part in parts for row in part]
    known.update(zip(new, rows, strict=True))
    if len(_ROWS) + len(new) > _MOST_ROWS:
        _ROWS.clear()
    _ROWS.update((text, row) for text, row in zip(new, rows, strict=True) if row is not None)
    return [known[text] for text in smiles]


def _computed(smiles: list[str]) -> list[Floats | None]:
    rows: list[Floats | None] = []
    with quiet():
        for text in smiles:
            try:
                # The graph without nodes is the molecule without atoms.
                molecule = molecule_from(text) if text else rdkit().Mol()
            except ValueError:
                rows.append(None)
                continue
            rows.append(np.array([_value(function, molecule) for _, function in _descriptors()]))
    return rows


def _value(function: Any, molecule: Any) -> float:
    try:
        return float(function(molecule))
    except Exception:  # RDKit's functions raise errors of many kinds
        return float("nan")
