"""Kernel PCA of graphs: the equation it solves, new graphs, pictures."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import KernelPCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from gramlet import KernelMap, WeisfeilerLehman, plot_map
from reference.examples import random_graphs

mpl = pytest.importorskip("matplotlib", reason="needs matplotlib")
mpl.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

GRAPHS = random_graphs(0, n_graphs=25)
NEW = random_graphs(1, n_graphs=6)


class Indefinite(WeisfeilerLehman):
    """A similarity with large negative eigenvalues."""

    def fit_transform(self, X, y=None):
        return -super().fit_transform(X, y)


def test_solves_the_centred_eigenvalue_equation():
    found = KernelMap(WeisfeilerLehman(n_iter=2), n_components=4).fit(GRAPHS)
    n = len(GRAPHS)
    centring = np.eye(n) - 1 / n
    centred = centring @ WeisfeilerLehman(n_iter=2).fit_transform(GRAPHS) @ centring
    # K̃α = λnα for the eigenvectors α; the scores are multiples of them.
    np.testing.assert_allclose(
        centred @ found.scores_, n * found.eigenvalues_ * found.scores_, atol=1e-6
    )
    # The variance of a component is its eigenvalue.
    np.testing.assert_allclose((found.scores_**2).mean(axis=0), found.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(
        found.explained_share_, found.eigenvalues_ * n / np.trace(centred), rtol=1e-9
    )


def test_is_scikit_learns_kernel_pca():
    kernel = WeisfeilerLehman(n_iter=1, normalize=True)
    found = KernelMap(kernel, 3).fit(GRAPHS)
    other = KernelPCA(3, kernel="precomputed").fit(kernel.fit_transform(GRAPHS))
    np.testing.assert_allclose(
        np.abs(found.transform(NEW)), np.abs(other.transform(kernel.transform(NEW))), atol=1e-9
    )
    np.testing.assert_allclose(found.eigenvalues_ * 25, other.eigenvalues_)
    np.testing.assert_allclose(found.transform(GRAPHS), found.scores_, atol=1e-8)


def test_by_name_and_in_a_grid_search():
    search = GridSearchCV(
        make_pipeline(KernelMap("wl"), LogisticRegression()),
        {"kernelmap__n_components": [1, 3], "kernelmap__kernel": ["wl", WeisfeilerLehman(2)]},
        cv=2,
        error_score="raise",
    )
    search.fit(GRAPHS, np.arange(25) % 2)
    assert search.predict(NEW).shape == (6,)
    assert clone(KernelMap("wwl", 3)).get_params() == {"kernel": "wwl", "n_components": 3}
    assert KernelMap().fit(GRAPHS).transform(GRAPHS[:0]).shape == (0, 2)


def test_bad_input():
    with pytest.raises(ValueError, match="more graphs than components"):
        KernelMap(n_components=6).fit(NEW)
    with pytest.raises(ValueError, match="No kernel is called"):
        KernelMap("wk").fit(GRAPHS)
    with pytest.raises(ValueError, match="'n_components' parameter"):
        KernelMap(n_components=0).fit(GRAPHS)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        KernelMap(Indefinite(1), n_components=24).fit(GRAPHS)


def test_picture():
    found = KernelMap("wl").fit(GRAPHS)
    y = np.arange(25) % 3
    ax = plot_map(found, y, graphs=GRAPHS, examples=4)
    points = np.vstack([c.get_offsets() for c in ax.collections])
    assert {tuple(p) for p in points.round(9)} == {tuple(p) for p in found.scores_.round(9)}
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["0", "1", "2"]
    assert len(ax.child_axes) == 4
    assert len(plot_map(found, graphs=GRAPHS, examples=[0, 3]).child_axes) == 2
    with pytest.raises(ValueError, match="two components"):
        plot_map(KernelMap("wl", 1).fit(GRAPHS))
    with pytest.raises(ValueError, match="values for 25 fitted graphs"):
        plot_map(found, y[:3])
    with pytest.raises(ValueError, match="graphs were given"):
        plot_map(found, y, graphs=NEW)
    plt.close("all")
