"""Tests that every kernel of the registry must pass."""

from __future__ import annotations

import copy
import pickle

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

import gramlet
from gramlet import GraphBatch
from gramlet.common.fields import check
from gramlet.kernels import registry
from reference.examples import labelled_graphs
from reference.strategies import permuted, with_molecules

KERNELS = registry.entries("kernel")

# Parameters for kernels whose defaults are too large for these small graphs.
SMALL: dict[str, dict[str, object]] = {}


def sample(seed: int = 0, n_graphs: int = 12, alphabet: str = "CNO") -> GraphBatch:
    """Random graphs with all columns, among them an empty, an edgeless and a one-node graph."""
    return labelled_graphs(n_graphs, seed, alphabet, edgeless=(0, 1, 3))


def make(entry: registry.Entry, **params: object):
    return entry.make(**{**SMALL.get(entry.name, {}), **params})


@pytest.fixture(scope="module")
def train() -> GraphBatch:
    return sample(0)


@pytest.fixture(scope="module")
def test() -> GraphBatch:
    return sample(1, n_graphs=8)


Y = np.array([0, 1] * 6)

each_kernel = pytest.mark.parametrize("entry", KERNELS, ids=lambda e: e.name)


@each_kernel
def test_gram_is_symmetric_finite_and_psd(entry, train):
    matrix = make(entry).fit_transform(train, Y)
    assert matrix.shape == (12, 12)
    assert matrix.dtype == np.float64
    assert np.isfinite(matrix).all()
    assert np.array_equal(matrix, matrix.T)
    if entry.tags.psd:
        values = np.linalg.eigvalsh(matrix)
        assert values[0] >= -1e-8 * max(1.0, values[-1])


@each_kernel
def test_transform_of_fitted_graphs_is_the_gram_matrix(entry, train):
    kernel = make(entry)
    matrix = kernel.fit_transform(train, Y)
    np.testing.assert_allclose(kernel.transform(train), matrix, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(
        make(entry).fit(train, Y).transform(train), matrix, rtol=1e-9, atol=1e-11
    )


@each_kernel
def test_diagonal(entry, train, test):
    kernel = make(entry)
    matrix = kernel.fit_transform(train, Y)
    np.testing.assert_allclose(kernel.diagonal(train), np.diagonal(matrix), rtol=1e-9, atol=1e-11)
    assert np.isfinite(kernel.diagonal(test)).all()


def normalised(values: np.ndarray, rows: np.ndarray, columns: np.ndarray, how: str) -> np.ndarray:
    """k/√(ab) or k/(a + b − k), entry by entry."""
    result = np.zeros_like(values)
    for (i, j), k in np.ndenumerate(values):
        a, b = rows[i], columns[j]
        if how == "cosine" and a > 0 and b > 0:
            result[i, j] = k / np.sqrt(a * b)
        elif how == "tanimoto" and (a > 0 or b > 0):
            result[i, j] = k / (a + b - k)
    return result


@pytest.mark.parametrize("how", ["cosine", "tanimoto"])
@each_kernel
def test_normalised(entry, how, train, test):
    plain, kernel = make(entry), make(entry, normalize=how)
    raw = plain.fit_transform(train, Y)
    matrix = kernel.fit_transform(train, Y)
    norms = np.diagonal(raw)
    units = np.where(norms > 0, 1.0, 0.0)
    assert np.array_equal(np.diagonal(matrix), units)
    assert np.array_equal(kernel.diagonal(train), units)
    expected = normalised(raw, norms, norms, how)
    np.fill_diagonal(expected, units)
    np.testing.assert_allclose(matrix, expected, atol=1e-12)
    assert np.array_equal(matrix, matrix.T)
    if entry.tags.psd:
        assert np.linalg.eigvalsh(matrix)[0] >= -1e-8
    cross = kernel.transform(test)
    expected = normalised(plain.transform(test), plain.diagonal(test), norms, how)
    np.testing.assert_allclose(cross, expected, atol=1e-12)
    if entry.tags.unit:
        assert (norms == 1).all()


@each_kernel
def test_invariant_to_relabelling(entry, train, test):
    rng = np.random.default_rng(5)
    kernel = make(entry)
    matrix = kernel.fit_transform(train, Y)
    np.testing.assert_allclose(
        make(entry).fit_transform(permuted(train, rng), Y), matrix, rtol=1e-7, atol=1e-8
    )
    np.testing.assert_allclose(
        kernel.transform(permuted(test, rng)), kernel.transform(test), rtol=1e-7, atol=1e-8
    )


@each_kernel
def test_rows_do_not_depend_on_the_rest_of_the_batch(entry, train, test):
    kernel = make(entry).fit(train, Y)
    together = kernel.transform(test)
    alone = np.vstack([kernel.transform(test[i]) for i in range(len(test))])
    np.testing.assert_allclose(alone, together, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.transform(test[::-1]), together[::-1], rtol=1e-12, atol=1e-14)


@each_kernel
def test_unseen_labels_match_nothing_fitted_but_count_in_the_norm(entry, train):
    kernel = make(entry).fit(train, Y)
    strange = sample(3, n_graphs=6, alphabet="XYZ")
    cross = kernel.transform(strange)
    assert np.isfinite(cross).all()
    assert np.isfinite(kernel.diagonal(strange)).all()
    own = kernel.diagonal(strange)
    fitted = kernel.diagonal(train)
    if entry.tags.psd:  # Cauchy-Schwarz: features unknown at fit still count in a graph's norm
        assert (cross**2 <= np.outer(own, fitted) * (1 + 1e-9) + 1e-12).all()


@each_kernel
def test_same_bits_for_any_number_of_threads(entry, train, test):
    one, two = make(entry, n_jobs=1), make(entry, n_jobs=2)
    assert np.array_equal(one.fit_transform(train, Y), two.fit_transform(train, Y))
    assert np.array_equal(one.transform(test), two.transform(test))


@each_kernel
def test_refit_is_a_fresh_fit(entry, train, test):
    kernel = make(entry).fit(test, Y[:8])
    kernel.fit(train, Y)
    fresh = make(entry).fit(train, Y)
    assert np.array_equal(kernel.transform(test), fresh.transform(test))
    assert set(vars(kernel)) == set(vars(fresh))


@each_kernel
def test_transform_changes_neither_kernel_nor_input(entry, train, test):
    kernel = make(entry).fit(train, Y)
    before, graphs = joblib.hash(kernel), copy.deepcopy(test)
    first = kernel.transform(test)
    kernel.diagonal(test)
    assert joblib.hash(kernel) == before
    assert test == graphs
    assert np.array_equal(kernel.transform(test), first)


@each_kernel
def test_clone_and_pickle(entry, train, test):
    kernel = make(entry).fit(train, Y)
    copied = clone(kernel)
    assert copied.get_params() == kernel.get_params()
    with pytest.raises(NotFittedError):
        copied.transform(test)
    again = pickle.loads(pickle.dumps(kernel))
    assert np.array_equal(again.transform(test), kernel.transform(test))


@each_kernel
def test_save_and_load(entry, train, test, tmp_path):
    kernel = make(entry).fit(train, Y)
    gramlet.save(kernel, tmp_path / "kernel.gramlet")
    again = gramlet.load(tmp_path / "kernel.gramlet")
    assert np.array_equal(again.transform(test), kernel.transform(test))


@each_kernel
def test_grid_search_in_a_pipeline(entry, train):
    name, values = next(iter(entry.tunable.items()), ("normalize", (False, True)))
    pipeline = Pipeline([("kernel", make(entry)), ("svc", SVC(kernel="precomputed"))])
    search = GridSearchCV(
        pipeline,
        {f"kernel__{name}": list(values[:2]), "svc__C": [0.1, 1.0]},
        cv=StratifiedKFold(2),
        error_score="raise",
    )
    search.fit(train, Y)
    assert search.predict(train).shape == (12,)


@each_kernel
def test_gram_function(entry, train, test):
    params = SMALL.get(entry.name, {})
    if not entry.tags.supervised:
        kernel = make(entry)
        assert np.array_equal(
            gramlet.gram(train, entry.name, **params), kernel.fit_transform(train)
        )
        assert np.array_equal(
            gramlet.gram(test, entry.name, train, **params), kernel.transform(test)
        )


@each_kernel
def test_only_empty_and_edgeless_graphs(entry):
    graphs = GraphBatch.from_edges(
        [[], [], []],
        n_nodes=[0, 2, 1],
        node_labels=[[], ["a", "b"], ["a"]],
        node_attributes=[np.zeros((0, 2)), np.ones((2, 2)), np.zeros((1, 2))],
    )
    graphs = with_molecules(graphs)
    kernel = make(entry)
    assert np.isfinite(kernel.fit_transform(graphs, [0, 1, 0])).all()
    assert np.isfinite(kernel.transform(graphs[:1])).all()


@each_kernel
def test_explicit_features_multiply_to_the_kernel(entry, train, test):
    kernel = make(entry).fit(train, Y)
    if not entry.tags.features:
        pytest.skip("no explicit feature map")
    product = kernel.features(test) @ kernel.features(train).T
    product = product.toarray() if hasattr(product, "toarray") else np.asarray(product)
    np.testing.assert_allclose(product, kernel.transform(test), rtol=1e-9, atol=1e-11)
    names = kernel.get_feature_names_out()
    assert len(names) == kernel.features(train).shape[1]
    assert len(set(names)) == len(names)


@each_kernel
def test_refuses_nothing_to_fit_and_wrong_parameters(entry, train):
    with pytest.raises(ValueError, match="at least one graph"):
        make(entry).fit(train[:0])
    with pytest.raises(ValueError, match="'normalize' parameter of"):
        make(entry, normalize="yes").fit(train, Y)
    with pytest.raises(ValueError, match="has no parameter 'no_such'"):
        entry.make(no_such=1)


# Kernels with floating point matrix products, whose last digits depend on the tiles.
MATRIX_PRODUCTS = {"deep", "mlg", "geometric-assignment", "graphlet", "nspdk"}


@each_kernel
def test_tiles_of_the_profile_give_the_whole_matrix(entry, train):
    profile = make(entry).fit(train, Y).profile_
    whole = profile.compare_self()
    in_order = [np.arange(4), np.arange(4, 7), np.arange(7, 12)]
    mixed = [np.array([7, 0, 3]), np.array([1, 2, 4, 5]), np.array([11, 6, 8, 9, 10])]
    tiled = from_tiles(profile, in_order)
    if entry.name in MATRIX_PRODUCTS:
        np.testing.assert_allclose(tiled, whole, rtol=1e-12, atol=1e-15)
    else:
        assert np.array_equal(tiled, whole)
    np.testing.assert_allclose(from_tiles(profile, mixed), whole, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(profile.norms(), np.diagonal(whole), rtol=1e-12)
    np.testing.assert_allclose(profile[mixed[1]].norms(), profile.norms()[mixed[1]], rtol=1e-12)


def from_tiles(profile, parts):
    n = len(profile)
    tiled = np.full((n, n), np.nan)
    for a, rows in enumerate(parts):
        tiled[np.ix_(rows, rows)] = profile[rows].compare_self()
        for columns in parts[a + 1 :]:
            block = profile[rows].compare(profile[columns])
            tiled[np.ix_(rows, columns)], tiled[np.ix_(columns, rows)] = block, block.T
    return tiled


@each_kernel
def test_profiles_can_be_cut_like_arrays(entry, train):
    profile = make(entry).fit(train, Y).profile_
    assert len(profile) == 12
    mask = np.arange(12) % 3 == 0
    whole = profile.compare_self()
    for key in (slice(2, 9, 3), [5, 1], mask, slice(0, 0)):
        part = profile[key]
        expected = whole[key][:, key]
        assert len(part) == len(expected)
        np.testing.assert_allclose(part.compare_self(), expected, rtol=1e-12, atol=1e-15)
        check(part)


@each_kernel
def test_how_it_is_computed_is_no_part_of_what_was_fitted(entry, train):
    one, two = (
        make(entry, n_jobs=1).fit(train, Y),
        make(entry, n_jobs=2, verbose=True).fit(train, Y),
    )
    state = [{k: v for k, v in vars(m).items() if k.endswith("_")} for m in (one, two)]
    assert pickle.dumps(state[0]) == pickle.dumps(state[1])


@each_kernel
def test_normalised_gram_matrices_are_exactly_symmetric(entry, train):
    matrix = make(entry, normalize=True).fit_transform(train, Y)
    assert np.array_equal(matrix, matrix.T)


@each_kernel
def test_tags_tell_the_truth(entry, train, test):
    tags = entry.tags
    kernel = make(entry)
    assert tags.kind == "kernel"
    assert tags.features == callable(getattr(kernel, "features", None))
    assert tags.random <= ("random_state" in kernel.get_params())
    if not tags.depends_on_fitted:
        both = GraphBatch.concatenate([train, test])
        part = make(entry).fit_transform(train, Y)
        joint = make(entry).fit_transform(both, np.tile(Y, 2)[: len(both)])[:12, :12]
        np.testing.assert_allclose(joint, part, rtol=1e-12, atol=1e-15)
    for column in tags.needs:
        bare = GraphBatch.from_edges([[(0, 1)]], node_labels=[["a", "b"]])
        with pytest.raises(ValueError, match=column.replace("_", " ")):
            make(entry).fit(bare, [0])
    with pytest.raises(ValueError, match="FeatureMap"):
        kernel.set_output(transform="pandas")


# Directed graphs: a kernel supports them or refuses them

DIRECTED = {
    "VertexHistogram",
    "EdgeHistogram",
    "OptimalAssignment",
    "WeisfeilerLehman",
    "WLOptimalAssignment",
    "WassersteinWL",
    "WeightedWassersteinWL",
    "ShortestPath",
    "RandomWalk",
    "MarginalizedKernel",
    "Propagation",
    "GraphHopper",
    "ODDSTh",
    "DeepGraphKernel",
}

each_directed = pytest.mark.parametrize(
    "entry", [e for e in KERNELS if e.tags.directed], ids=lambda e: e.name
)


def arcs_of(batch: GraphBatch, seed: int = 0) -> GraphBatch:
    """Directed graphs with some of the arcs of undirected ones; a few edges keep both."""
    tails, heads = batch.arcs()
    kept = np.flatnonzero(np.random.default_rng(seed).random(len(tails)) < 0.6)
    return GraphBatch.from_arcs(
        batch.node_offsets,
        tails[kept],
        heads[kept],
        node_labels=batch.node_labels,
        edge_labels=batch.edge_labels.take(kept),
        edge_weights=batch.edge_weights[kept],
        node_attributes=batch.node_attributes,
        directed=True,
    )


@each_kernel
def test_directed_graphs_are_refused_where_the_tags_say_so(entry, train):
    assert entry.tags.directed == (entry.class_name in DIRECTED)
    if entry.tags.directed:
        return
    with pytest.raises(ValueError, match=r"undirected graphs only.*graph \d.*to_undirected\(\)"):
        make(entry).fit_transform(arcs_of(train), Y)
    with pytest.raises(ValueError, match=r"to_undirected\(\)"):
        make(entry).fit(train, Y).transform(arcs_of(train))


@each_directed
def test_directed_gram_matrices(entry, train, test):
    arcs, new = arcs_of(train), arcs_of(test)
    kernel = make(entry)
    matrix = kernel.fit_transform(arcs, Y)
    assert np.isfinite(matrix).all()
    assert np.array_equal(matrix, matrix.T)
    if entry.tags.psd:
        values = np.linalg.eigvalsh(matrix)
        assert values[0] >= -1e-8 * max(1.0, values[-1])
    np.testing.assert_allclose(kernel.transform(arcs), matrix, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(kernel.diagonal(arcs), np.diagonal(matrix), rtol=1e-9)
    tiled = from_tiles(kernel.profile_, [np.array([3, 0, 7]), np.r_[1, 2, 4:7, 8:12]])
    np.testing.assert_allclose(tiled, matrix, rtol=1e-12, atol=1e-15)
    rng = np.random.default_rng(5)
    np.testing.assert_allclose(
        make(entry).fit_transform(permuted(arcs, rng), Y), matrix, rtol=1e-7, atol=1e-8
    )
    found = kernel.transform(new)
    np.testing.assert_allclose(kernel.transform(permuted(new, rng)), found, rtol=1e-7, atol=1e-8)
    alone = np.vstack([kernel.transform(new[i]) for i in range(len(new))])
    np.testing.assert_allclose(alone, found, rtol=1e-12, atol=1e-14)
    assert np.array_equal(make(entry, n_jobs=2).fit_transform(arcs, Y), matrix)


@each_directed
def test_directions_matter(entry, train):
    """Except for counts of nodes, values differ from those of the same graphs undirected."""
    arcs = arcs_of(train).with_columns(edge_labels=None, edge_weights=None)
    counts_nodes = entry.class_name == "VertexHistogram" or entry.params.get("base") == "vertex"
    both = [make(entry).fit_transform(kind, Y) for kind in (arcs, arcs.to_undirected())]
    assert np.array_equal(*both) == counts_nodes


@each_directed
def test_directed_features_and_files(entry, train, test, tmp_path):
    arcs, new = arcs_of(train), arcs_of(test)
    kernel = make(entry).fit(arcs, Y)
    gramlet.save(kernel, tmp_path / "kernel.gramlet")
    again = gramlet.load(tmp_path / "kernel.gramlet")
    assert np.array_equal(again.transform(new), kernel.transform(new))
    with pytest.raises(ValueError, match="fitted on directed graphs"):
        again.transform(test)
    if entry.tags.features:
        product = kernel.features(new) @ kernel.features(arcs).T
        np.testing.assert_allclose(product.toarray(), kernel.transform(new), rtol=1e-9, atol=1e-11)
        names = kernel.get_feature_names_out()
        assert len(set(names)) == len(names) == kernel.features(arcs).shape[1]


@each_directed
def test_one_kind_of_graph_per_fit_and_graphs_without_edges_with_either(entry, train):
    arcs = arcs_of(train)
    for fitted, new in ((train, arcs), (arcs, train)):
        with pytest.raises(ValueError, match=r"as_batch\(x, directed=True\).*to_undirected\(\)"):
            make(entry).fit(fitted, Y).transform(new)
    kernel = make(entry).fit(bare := train[:3], Y[:3])
    for kind in (train, arcs):
        assert np.isfinite(make(entry).fit(kind, Y).transform(bare)).all()
        assert np.isfinite(kernel.transform(kind)).all()
        assert np.isfinite(kernel.diagonal(kind)).all()


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'wl-oa'"):
        registry.get("wl_oa")


def test_every_class_of_the_registry_is_public():
    for entry in registry.entries():
        assert getattr(gramlet, entry.class_name) is entry.cls()
