"""Earth mover's distances and their kernel against a linear program, and the spectrum repairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramlet import EMDKernel, GraphBatch, as_batch, earth_movers_distance
from gramlet.engine.transport.earth_mover import earth_mover_distances, mass_points
from gramlet.engine.transport.network_simplex import MASS_BITS
from reference import rge
from reference.plain import plain_graphs
from reference.strategies import graph_batches, permuted

nx = pytest.importorskip("networkx", reason="needs networkx")

REPAIRS = ("none", "clip", "flip", "shift")


@st.composite
def two_batches(draw):
    labels = draw(st.booleans())
    return (
        draw(graph_batches(min_graphs=1, max_graphs=4, labels=labels)),
        draw(graph_batches(min_graphs=1, max_graphs=3, labels=labels)),
    )


@pytest.fixture(scope="module")
def indefinite() -> GraphBatch:
    """All graphs of 2..6 nodes, in random order; the kernel has clearly negative eigenvalues."""
    small = [graph for graph in nx.graph_atlas_g() if 2 <= len(graph) <= 6]
    order = np.random.default_rng(0).permutation(len(small))
    return as_batch([small[i] for i in order])


INDEFINITE = {"gamma": 0.5, "n_dims": 3}


# Distances


@given(
    graph_batches(min_graphs=2, max_graphs=2, min_nodes=1),
    st.integers(1, 7),
    st.sampled_from(["auto", True, False]),
    st.sampled_from([0.0, 0.3, 1.0, 2.5]),
    st.sampled_from(["degree", "uniform"]),
)
def test_distance_is_the_optimum_of_the_linear_program(
    batch, n_dims, use_labels, label_weight, masses
):
    options = {"n_dims": n_dims, "use_labels": use_labels, "label_weight": label_weight}
    options["masses"] = masses
    expected = rge.earth_movers_distance(*plain_graphs(batch), **options)
    assert earth_movers_distance(batch[0], batch[1], **options) == pytest.approx(expected, abs=1e-9)


def test_distance_by_hand():
    """An edge and a triangle: coordinates 1/√2 and 1/√3; a sixth of the mass changes its label."""
    edge, triangle = ([(0, 1)], "CO"), ([(0, 1), (1, 2), (2, 0)], "CCO")
    gap = 2**-0.5 - 3**-0.5
    expected = 5 / 6 * gap + 1 / 6 * np.sqrt(gap**2 + 2)
    assert earth_movers_distance(edge, triangle, n_dims=1) == pytest.approx(expected, abs=1e-12)
    assert earth_movers_distance(edge, triangle, n_dims=1, use_labels=False) == pytest.approx(gap)


def test_distance_is_a_metric_on_larger_graphs():
    batch = as_batch([nx.gnp_random_graph(n, 0.2, seed=n) for n in (9, 20, 31, 45)])
    D = EMDKernel().fit(batch).distance(batch)
    np.testing.assert_allclose(D, D.T, atol=1e-12)
    np.testing.assert_allclose(np.diagonal(D), 0, atol=1e-12)
    assert (D[:, None, :] <= D[:, :, None] + D[None, :, :] + 1e-12).all()
    assert (D[~np.eye(4, dtype=bool)] > 1e-3).all()


def test_isolated_nodes_beside_edges_have_no_mass():
    path = nx.path_graph(4)
    with_isolated = path.copy()
    with_isolated.add_nodes_from([7, 8])
    # Their eigenvalue is 1, and n_dims=1 keeps only the smallest: coordinates do not change.
    assert earth_movers_distance(path, with_isolated, n_dims=1) == pytest.approx(0, abs=1e-12)


def test_isolated_nodes_have_mass_where_all_nodes_have_the_same():
    path = nx.path_graph(2)
    with_isolated = path.copy()
    with_isolated.add_nodes_from([7, 8])
    # Coordinates of the first eigenvector: 1/√2 on the edge, 0 on the isolated half of the mass.
    distance = earth_movers_distance(path, with_isolated, n_dims=1, masses="uniform")
    assert distance == pytest.approx(0.5 * 2**-0.5, abs=1e-12)


def test_masses_of_a_set_always_add_up():
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 40, 50)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    weights = rng.integers(0, 1000, offsets[-1])
    weights[offsets[3] : offsets[4]] = 0
    sets = mass_points(offsets, np.zeros((len(weights), 1)), weights * 0, weights)
    assert (sets.masses > 0).all()
    for i, size in enumerate(sizes):
        masses = sets.masses[sets.offsets[i] : sets.offsets[i + 1]]
        own = weights[offsets[i] : offsets[i + 1]]
        own = own[own > 0] if own.any() else np.ones(size)
        assert masses.sum() == (2**MASS_BITS if size else 0)
        np.testing.assert_allclose(masses / 2**MASS_BITS * own.sum(), own, rtol=1e-12)


def test_sets_without_points_are_infinitely_far_from_others():
    zeros = np.zeros(2, dtype=np.int64)
    sets = mass_points(np.array([0, 0, 2, 2]), np.zeros((2, 1)), zeros, zeros)
    D = earth_mover_distances(sets, None, 0.0)
    assert D.tolist() == [[0, np.inf, 0], [np.inf, 0, np.inf], [0, np.inf, 0]]


@pytest.mark.parametrize("name", ["G", "H"])
def test_empty_graphs_have_no_distance(name):
    graphs = {"G": nx.path_graph(3), "H": nx.path_graph(3)} | {name: nx.Graph()}
    with pytest.raises(ValueError, match=f"{name} is empty"):
        earth_movers_distance(**graphs)
    kernel = EMDKernel().fit([nx.path_graph(2)])
    with pytest.raises(ValueError, match="Graph 1 of the given graphs is empty"):
        kernel.distance([nx.path_graph(2), nx.Graph()])
    with pytest.raises(ValueError, match="Graph 0 of the fitted graphs is empty"):
        EMDKernel().fit([nx.Graph()]).distance([nx.path_graph(2)])


def test_directed_graphs_have_no_distance():
    for directed in (
        GraphBatch.from_edges([[(0, 1)]], directed=True),
        GraphBatch.from_edges([[(0, 1), (1, 0)]], directed=True),
    ):
        with pytest.raises(ValueError, match=r"earth_movers_distance .*to_undirected\(\)"):
            earth_movers_distance(directed, directed)
    with pytest.raises(ValueError, match="directed"):
        earth_movers_distance(nx.DiGraph([(0, 1)]), nx.path_graph(2))


# The kernel


@given(
    two_batches(),
    st.integers(1, 6),
    st.sampled_from([0.1, 1.0, 5.0]),
    st.sampled_from(["auto", True, False]),
    st.sampled_from(REPAIRS),
    st.sampled_from(["degree", "uniform"]),
)
def test_kernel(batches, n_dims, gamma, use_labels, psd, masses):
    batch, new = batches
    options = {"gamma": gamma, "n_dims": n_dims, "use_labels": use_labels, "label_weight": 0.7}
    options["masses"] = masses
    kernel = EMDKernel(psd=psd, **options)
    expected = rge.emd_gram(batch, psd=psd, **options)
    np.testing.assert_allclose(kernel.fit_transform(batch), expected, atol=1e-9)
    # New rows of a singular matrix depend on the signs of eigenvalues that are 0 up to rounding.
    spectrum = np.linalg.eigvalsh(rge.emd_gram(batch, **options))
    if psd in ("none", "shift") or np.abs(spectrum).min() > 1e-6:
        rows = rge.emd_gram(new, batch, psd=psd, **options)
        np.testing.assert_allclose(kernel.transform(new), rows, atol=1e-8)
    assert np.array_equal(kernel.diagonal(new), np.ones(len(new)))


@pytest.mark.parametrize("psd", ["clip", "flip", "shift"])
def test_repairs_of_a_matrix_that_needs_them(indefinite, psd):
    plain = EMDKernel(**INDEFINITE).fit_transform(indefinite)
    values = np.linalg.eigvalsh(plain)
    assert values[0] < -1e-4
    kernel = EMDKernel(psd=psd, **INDEFINITE)
    repaired = kernel.fit_transform(indefinite)
    assert np.array_equal(repaired, repaired.T)
    new = {"clip": np.maximum(values, 0), "flip": np.abs(values), "shift": values - values[0]}[psd]
    np.testing.assert_allclose(np.linalg.eigvalsh(repaired), np.sort(new), atol=1e-10)
    np.testing.assert_allclose(repaired, rge.repaired(plain, psd), atol=1e-10)
    report = kernel.repair_
    assert report.psd == psd
    assert report.smallest_eigenvalue == pytest.approx(values[0], abs=1e-10)
    assert report.n_negative == (values < -1e-10).sum() > 0
    share = -values[values < 0].sum() / np.abs(values).sum()
    assert report.negative_share == pytest.approx(share, rel=1e-6)
    change = np.linalg.norm(repaired - plain) / np.linalg.norm(plain)
    assert report.relative_change == pytest.approx(change)
    assert change > 1e-4
    assert np.array_equal(kernel.diagonal(indefinite), np.ones(len(indefinite)))


@pytest.mark.parametrize("psd", ["clip", "flip"])
def test_new_rows_get_the_same_correction(indefinite, psd):
    fitted, new = indefinite[:190], indefinite[190:]
    raw = EMDKernel(**INDEFINITE).fit(fitted)
    kernel = EMDKernel(psd=psd, **INDEFINITE)
    repaired = kernel.fit_transform(fitted)
    np.testing.assert_allclose(kernel.transform(fitted), repaired, atol=1e-9)
    gram = raw.transform(fitted)
    expected = rge.repaired_rows(raw.transform(new), (gram + gram.T) / 2, psd)
    np.testing.assert_allclose(kernel.transform(new), expected, atol=1e-7)
    assert np.abs(expected - raw.transform(new)).max() > 1e-5


def test_shift_changes_only_the_diagonal_of_the_fitted_matrix(indefinite):
    plain = EMDKernel(**INDEFINITE)
    gram = plain.fit_transform(indefinite)
    kernel = EMDKernel(psd="shift", **INDEFINITE)
    shifted = kernel.fit_transform(indefinite)
    shift = -kernel.repair_.smallest_eigenvalue
    np.testing.assert_allclose(shifted - gram, shift * np.eye(len(gram)), atol=1e-12)
    assert np.array_equal(kernel.transform(indefinite[:5]), plain.transform(indefinite[:5]))


@pytest.mark.parametrize("psd", REPAIRS)
def test_normalised_gram_matrix_has_ones_on_the_diagonal(indefinite, psd):
    matrix = EMDKernel(psd=psd, normalize=True, **INDEFINITE).fit_transform(indefinite)
    assert np.array_equal(np.diagonal(matrix), np.ones(len(matrix)))


def test_the_repair_is_told(indefinite, capsys):
    EMDKernel(psd="clip", verbose=True, **INDEFINITE).fit(indefinite)
    told = capsys.readouterr().err
    assert "negative eigenvalues, smallest -" in told
    assert 'psd="clip"' in told
    assert EMDKernel().fit(indefinite).repair_ is None


def test_fitting_keeps_no_gram_matrix(indefinite):
    kernel = EMDKernel(psd="shift", **INDEFINITE)
    kernel.fit_transform(indefinite)
    after = set(vars(kernel))
    assert set(vars(kernel.fit(indefinite))) == after
    held = [value for value in vars(kernel).values() if isinstance(value, np.ndarray)]
    assert all(array.shape != (len(indefinite),) * 2 for array in held)


@pytest.mark.parametrize("psd", REPAIRS)
def test_empty_graphs(psd):
    batch = as_batch([nx.Graph(), nx.path_graph(3), nx.empty_graph(2)])
    kernel = EMDKernel(psd=psd)
    gram = kernel.fit_transform(batch)
    np.testing.assert_allclose(gram[0], [1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(kernel.transform([nx.Graph()]), [[1, 0, 0]], atol=1e-15)


def test_unlike_labels_and_unseen_ones():
    one = [([], ["C"]), ([], ["N"])]
    kernel = EMDKernel(label_weight=2.0).fit(one)
    far = np.exp(-np.sqrt(2 * 4.0))
    np.testing.assert_allclose(kernel.transform(one), [[1, far], [far, 1]])
    np.testing.assert_allclose(kernel.transform([([], ["X"])]), [[far, far]])


def test_symmetric_graphs_do_not_depend_on_the_order_of_nodes():
    batch = as_batch(
        [nx.cycle_graph(7), nx.star_graph(5), nx.complete_graph(6), nx.petersen_graph()]
    )
    matrix = EMDKernel(n_dims=4).fit_transform(batch)
    for seed in range(3):
        shuffled = permuted(batch, np.random.default_rng(seed))
        np.testing.assert_allclose(EMDKernel(n_dims=4).fit_transform(shuffled), matrix, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_dims", 0),
        ("gamma", 0.0),
        ("gamma", -1.0),
        ("label_weight", -0.5),
        ("use_labels", "yes"),
        ("psd", "square"),
    ],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=f"'{name}' parameter of EMDKernel"):
        EMDKernel(**{name: value}).fit([nx.path_graph(3)])
    if name in ("n_dims", "label_weight", "use_labels"):
        with pytest.raises(ValueError, match=f"'{name}' parameter of .*earth_movers_distance"):
            earth_movers_distance(nx.path_graph(3), nx.path_graph(2), **{name: value})


def test_graphs_with_and_without_labels_do_not_mix():
    labelled = ([(0, 1)], ["C", "O"])
    with pytest.raises(ValueError, match="label"):
        earth_movers_distance(labelled, nx.path_graph(2))
    with pytest.raises(ValueError, match="fitted on graphs with node labels"):
        EMDKernel().fit([labelled]).transform([nx.path_graph(2)])
