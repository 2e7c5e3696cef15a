"""The kernel of count fingerprints: WL optimal assignment on the labels of Morgan fingerprints."""

from __future__ import annotations

from scipy import sparse

from gramlet.common.fields import Instance, fields
from gramlet.engine.core.tiles import Tiling
from gramlet.graphs.batch import GraphBatch
from gramlet.graphs.molecules.molecules import molecules
from gramlet.kernels.contract.normalisation import Normalization
from gramlet.kernels.contract.parameter_texts import shared_texts
from gramlet.kernels.contract.tags import GraphTags
from gramlet.kernels.weisfeiler_lehman.colour_counts import ColourCounter, Colouring
from gramlet.kernels.weisfeiler_lehman.subtree import WLOptimalAssignment


@shared_texts
class MorganKernel(WLOptimalAssignment):
    """Common environments of atoms, as Morgan count fingerprints (ECFP) count them.

    `WLOptimalAssignment` on the labels of ``molecules(..., atoms="morgan")``: with Tanimoto
    normalisation the min-max kernel of unfolded count fingerprints of radius ``n_iter``. It
    compares molecules only, by their column ``batch.molecules``.

    Parameters
    ----------
    n_iter : int, default 2
        The radius of the fingerprint.
    %(include_initial)s
    use_edge_labels : bool or "auto", default "auto"
        Whether environments are distinguished by types of bonds.
    %(normalize)s
    %(n_jobs)s
    %(verbose)s

    References
    ----------
    Rogers, Hahn (2010), Extended-connectivity fingerprints.

    Examples
    --------
    >>> from gramlet.kernels.registry import make
    >>> make("morgan").fit_transform(["CCO", "CCCO"])
    array([[ 9.,  5.],
           [ 5., 12.]])
    """

    def __init__(
        self,
        n_iter: int = 2,
        *,
        include_initial: bool = True,
        use_edge_labels: bool | str = "auto",
        normalize: Normalization = False,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        super().__init__(
            n_iter,
            include_initial=include_initial,
            use_edge_labels=use_edge_labels,
            normalize=normalize,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def _counter(self) -> EnvironmentCounter:
        return EnvironmentCounter(
            Colouring(self.n_iter, self.include_initial, self.use_edge_labels)
        )

    def __graph_tags__(self) -> GraphTags:
        return GraphTags(refines=True, needs=("molecules",), uses=("molecules",))


class EnvironmentCounter:
    """Counts the environments of the atoms of molecules, up to a radius."""

    stored = fields(colours=Instance(ColourCounter))

    def __init__(self, colouring: Colouring) -> None:
        self.colours = ColourCounter(colouring)

    def fit(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        return self.colours.fit(_with_invariants(batch), tiling)

    def count(self, batch: GraphBatch, tiling: Tiling) -> sparse.csr_matrix:
        return self.colours.count(_with_invariants(batch), tiling)

    def names(self) -> list[str]:
        return self.colours.names()

    @property
    def n_features(self) -> int:
        return self.colours.n_features


def _with_invariants(batch: GraphBatch) -> GraphBatch:
    if batch.molecules is None:
        raise ValueError(
            "Kernel 'morgan' compares molecules, and these graphs have no column 'molecules'. Make "
            "them with gramlet.molecules or as_batch from SMILES strings or RDKit molecules."
        )
    return molecules(batch.molecules, atoms="morgan")
