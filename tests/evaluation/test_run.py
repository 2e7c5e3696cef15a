"""Options are chosen, and kernels fitted, without using the test graphs."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from gramlet import (
    EMDKernel,
    GraphBatch,
    Protocol,
    VertexHistogram,
    WeisfeilerLehman,
    compare_results,
    evaluate,
    load_dataset,
)
from gramlet.evaluation import Result, table

QUICK = Protocol(folds=4, repeats=2, inner_folds=3, C=(0.1, 1.0, 10.0))

SPIDERS = (
    [(0, 1), (0, 2), (0, 3), (3, 4), (4, 5)],  # legs of 1, 1 and 3 edges
    [(0, 1), (0, 2), (2, 3), (0, 4), (4, 5)],  # legs of 1, 2 and 2: the same degrees
)


def spiders(n: int = 60, seed: int = 0):
    """Two classes with the same labels and degrees and different degrees of neighbours."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    edges, sizes = [], []
    for label in y:
        extra = rng.integers(0, 4)  # additional edges, so that sizes carry no information
        edges.append(SPIDERS[label] + [(6 + 2 * k, 7 + 2 * k) for k in range(extra)])
        sizes.append(6 + 2 * extra)
    return GraphBatch.from_edges(edges, n_nodes=sizes), y


def noise(n: int = 80, seed: int = 0):
    """Random labelled trees with random classes."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 12, size=n)
    edges = [[(k, rng.integers(k)) for k in range(1, size)] for size in sizes]
    labels = [rng.integers(3, size=size).tolist() for size in sizes]
    y = np.repeat([0, 1], n // 2)
    return GraphBatch.from_edges(edges, node_labels=labels), rng.permutation(y)


class Spy(WeisfeilerLehman):
    """A kernel outside the registry that records the graphs it is fitted on."""

    seen: list = []  # noqa: RUF012  shared by clones on purpose

    def fit_transform(self, X, y=None):
        type(self).seen.append((X.node_offsets.tobytes(), X.indices.tobytes(), tuple(y)))
        return super().fit_transform(X, y)


class TestHonesty:
    def test_classes_without_meaning_give_chance(self):
        graphs, y = noise(120)
        result = evaluate("wl", graphs, y, Protocol(folds=5, repeats=4, inner_folds=3))
        assert 0.38 < result.mean < 0.62

    def test_a_kernel_that_learns_the_classes_by_heart_gains_nothing(self):
        graphs, y = noise(80)

        class ByHeart(WeisfeilerLehman):
            """A kernel that memorises the class of every fitted graph and adds it to its values."""

            def fit_transform(self, X, y=None):
                self.known_ = dict(zip(map(hash, X), y, strict=True))
                return super().fit_transform(X, y) + self._same(X, X)

            def transform(self, X):
                return super().transform(X) + self._same(X, self.fitted_graphs_)

            def fit(self, X, y=None):
                raise AssertionError("fit_transform is enough")

            def _remember(self, X, y):
                self.fitted_graphs_ = X
                super()._remember(X, y)

            def _same(self, rows, columns):
                left = np.array([self.known_.get(hash(g), -1) for g in rows])
                right = np.array([self.known_.get(hash(g), -2) for g in columns])
                return 1e4 * (left[:, None] == right[None, :])

        result = evaluate(ByHeart(n_iter=1), graphs, y, QUICK)
        assert result.refitted
        assert 0.35 < result.mean < 0.65

    def test_strangers_and_supervised_kernels_see_training_graphs_only(self):
        graphs, y = noise(40)
        protocol = Protocol(folds=4, repeats=1, inner_folds=3, C=(1.0, 10.0))
        Spy.seen = []
        evaluate(Spy(n_iter=1), graphs, y, protocol)
        codes, classes = y, np.array([0, 1])
        allowed = set()
        for split in protocol.splits(codes, classes):
            for part in (split.train, *(fitted for fitted, _ in split.inner)):
                X = graphs[part]
                allowed.add((X.node_offsets.tobytes(), X.indices.tobytes(), tuple(y[part])))
        assert set(Spy.seen) == allowed
        assert len(Spy.seen) == 4 * (3 + 1)

    def test_splits_never_mix_training_and_test(self):
        y = np.repeat([0, 1, 2], [30, 20, 12])
        for protocol in (QUICK, Protocol.holdout(repeats=3, inner_folds=3)):
            splits = protocol.splits(y, np.arange(3))
            assert len(splits) == protocol.n_runs
            for split in splits:
                everything = np.concatenate([split.train, split.test])
                assert sorted(everything) == list(range(62))
                held = [part for _, part in split.inner]
                assert sorted(np.concatenate(held)) == sorted(split.train)
                for fitted, part in split.inner:
                    assert not set(fitted) & set(part)
                    assert set(fitted) | set(part) == set(split.train)

    def test_every_graph_is_tested_once_a_repeat(self):
        y = np.repeat([0, 1], [25, 15])
        splits = QUICK.splits(y, np.arange(2))
        for repeat in range(2):
            tested = [s.test for s in splits if s.repeat == repeat]
            assert sorted(np.concatenate(tested)) == list(range(40))
        first, second = splits[0].test, splits[4].test
        assert first.tolist() != second.tolist()


class TestSelection:
    def test_slicing_one_gram_matrix_equals_fitting_in_each_training_part(self):
        graphs, y = noise(60, seed=3)
        options = {"n_iter": [1, 2], "normalize": [True, False]}
        sliced = evaluate(WeisfeilerLehman(), graphs, y, QUICK, options=options)
        fitted = evaluate(Spy(), graphs, y, QUICK, options=options)
        assert not sliced.refitted
        assert fitted.refitted
        np.testing.assert_array_equal(sliced.accuracies, fitted.accuracies)
        assert sliced.chosen == fitted.chosen

    def test_it_finds_the_depth_that_tells_the_classes_apart(self):
        graphs, y = spiders()
        result = evaluate("wl", graphs, y, QUICK, options={"n_iter": [0, 1, 2, 3]})
        assert result.mean == 1.0
        assert {options["n_iter"] for row in result.chosen for options in row} == {2}
        shallow = evaluate("wl", graphs, y, QUICK, options={"n_iter": [0, 1]})
        assert shallow.mean < 0.7

    def test_ties_go_to_the_first_options_and_the_smaller_c(self):
        graphs, y = spiders()
        forwards = evaluate("wl", graphs, y, QUICK, options={"n_iter": [2, 3]})
        backwards = evaluate("wl", graphs, y, QUICK, options={"n_iter": [3, 2]})
        assert forwards.most_chosen()["n_iter"] == (2, 1.0)
        assert backwards.most_chosen()["n_iter"] == (3, 1.0)
        rules = Protocol(folds=4, repeats=1, inner_folds=3, C=(1000.0, 100.0, 10.0))
        result = evaluate("wl", graphs, y, rules, options={"n_iter": [2]})
        assert result.most_chosen() == {"n_iter": (2, 1.0), "C": (10.0, 1.0)}

    def test_choices_and_accuracies_are_those_of_a_plain_grid_search(self):
        mutag = load_dataset("MUTAG")
        graphs, y = mutag.graphs, mutag.target
        protocol = Protocol(folds=5, repeats=1, inner_folds=3, C=(0.1, 1.0, 10.0), tol=1e-6)
        result = evaluate("wl", graphs, y, protocol, options={"n_iter": [1, 3]})
        classes, codes = np.unique(y, return_inverse=True)
        machine = make_pipeline(WeisfeilerLehman(normalize="tanimoto"), SVC(kernel="precomputed"))
        grid = {"svc__C": [0.1, 1.0, 10.0], "weisfeilerlehman__n_iter": [1, 3]}
        for split in protocol.splits(codes, classes):
            place = np.full(len(y), -1)
            for k, (_, held) in enumerate(split.inner):
                place[held] = k
            search = GridSearchCV(machine, grid, cv=PredefinedSplit(place[split.train]))
            search.fit(graphs[split.train], y[split.train])
            chosen = result.chosen[0][split.fold]
            mine = next(
                k
                for k, p in enumerate(search.cv_results_["params"])
                if p == {"svc__C": chosen["C"], "weisfeilerlehman__n_iter": chosen["n_iter"]}
            )
            # Folds of unequal size: GridSearchCV averages over folds, gramlet over graphs.
            scores = search.cv_results_["mean_test_score"]
            assert scores[mine] >= scores.max() - 0.01
            search.estimator.set_params(**search.cv_results_["params"][mine])
            again = search.estimator.fit(graphs[split.train], y[split.train])
            accuracy = again.score(graphs[split.test], y[split.test])
            assert accuracy == pytest.approx(result.accuracies[0, split.fold])

    def test_names_are_tanimoto_normalised_and_estimators_as_they_are(self):
        graphs, y = noise(40)
        named = evaluate("vertex", graphs, y, QUICK)
        normalised = evaluate(VertexHistogram(normalize="tanimoto"), graphs, y, QUICK)
        plain = evaluate(VertexHistogram(), graphs, y, QUICK)
        off = evaluate("vertex", graphs, y, QUICK, normalize=False)
        np.testing.assert_array_equal(named.accuracies, normalised.accuracies)
        np.testing.assert_array_equal(off.accuracies, plain.accuracies)
        assert named.accuracies.tolist() != plain.accuracies.tolist()


class Sizes(TransformerMixin, BaseEstimator):
    """An embedding outside the registry: the numbers of nodes and edges."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.column_stack([X.sizes, X.n_edges]).astype(float)


class Centred(WeisfeilerLehman):
    """A kernel that depends on all fitted graphs, although its base class does not."""

    def fit_transform(self, X, y=None):
        gram = super().fit_transform(X, y)
        self.mean_ = gram.mean()
        return gram - self.mean_

    def transform(self, X):
        return super().transform(X) - self.mean_


class Declared(WeisfeilerLehman):
    """A kernel outside the registry whose tags declare that a value depends on two graphs only."""

    def __graph_tags__(self):
        return super().__graph_tags__()


class TestSubjects:
    def test_a_pipeline_that_ends_in_a_classifier(self):
        graphs, y = spiders()
        pipeline = make_pipeline(WeisfeilerLehman(normalize=True), SVC(kernel="precomputed"))
        options = {"weisfeilerlehman__n_iter": [1, 2], "svc__C": [1.0, 10.0]}
        result = evaluate(pipeline, graphs, y, QUICK, options=options)
        assert result.name == "wl + SVC"
        assert result.mean == 1.0
        assert result.most_chosen()["weisfeilerlehman__n_iter"] == (2, 1.0)

    def test_a_transformer_without_diagonal_gives_features(self):
        graphs, y = noise(60)
        y = (graphs.sizes > np.median(graphs.sizes)).astype(int)
        result = evaluate(Sizes(), graphs, y, QUICK)
        assert result.refitted
        assert result.mean > 0.9
        chain = make_pipeline(Sizes(), LogisticRegression())
        assert evaluate(chain, graphs, y, QUICK).mean > 0.9

    def test_kernels_are_refitted_where_they_say_so_or_are_strangers(self):
        graphs, y = noise(40)
        rules = Protocol(folds=3, repeats=1, inner_folds=2, C=(1.0,))
        assert not evaluate(WeisfeilerLehman(n_iter=1), graphs, y, rules).refitted
        assert not evaluate(EMDKernel(n_dims=2), graphs, y, rules).refitted
        assert evaluate(EMDKernel(n_dims=2, psd="clip"), graphs, y, rules).refitted
        # One of the values in the grid is enough.
        options = {"psd": ["none", "clip"]}
        assert evaluate(EMDKernel(n_dims=2), graphs, y, rules, options=options).refitted
        assert evaluate(Centred(n_iter=1), graphs, y, rules).refitted
        assert not evaluate(Declared(n_iter=1), graphs, y, rules).refitted

    def test_majority_says_the_most_frequent_class(self):
        graphs, _ = noise(40)
        y = np.repeat(["rare", "usual"], [12, 28])
        result = evaluate("majority", graphs, y, QUICK)
        np.testing.assert_allclose(result.accuracies, 0.7)
        assert result.most_chosen() == {}

    def test_graphs_of_any_kind_and_classes_of_any_kind(self):
        pytest.importorskip("networkx", reason="graphs of networkx are among them")
        batch, y = spiders(24)
        protocol = Protocol(folds=3, repeats=1, inner_folds=2, C=(1.0,))
        words = np.where(y == 1, "one", "none")
        plain = evaluate("wl", batch, y, protocol)
        for graphs, target in (
            (batch.to_networkx(), words),
            (list(batch), words.tolist()),
            (batch, y.astype(bool)),
            (batch, y.astype(float)),
            (batch, np.array(words, dtype=object)),
        ):
            result = evaluate("wl", graphs, target, protocol)
            assert result.mean == pytest.approx(plain.mean)

    def test_the_number_of_threads_changes_nothing(self):
        graphs, y = noise(60, seed=5)
        one, two = (evaluate("wl", graphs, y, QUICK, n_jobs=n) for n in (1, 2))
        np.testing.assert_array_equal(one.accuracies, two.accuracies)
        assert one.chosen == two.chosen

    def test_another_seed_gives_other_folds(self):
        graphs, y = noise(60, seed=5)
        other = Protocol(folds=4, repeats=2, inner_folds=3, random_state=1)
        first = evaluate("majority", graphs, y, QUICK)
        assert evaluate("majority", graphs, y, other).data.splits != first.data.splits

    def test_several_classes(self):
        graphs, _ = noise(60)
        y = np.digitize(graphs.sizes, [7, 9])
        result = evaluate(Sizes(), graphs, y, QUICK)
        assert result.mean > 0.9
        assert list(result.data.classes) == ["0", "1", "2"]


class TestErrors:
    @pytest.mark.parametrize(
        ("target", "message"),
        [
            (np.zeros(7), r"one value per graph: got shape \(7,\) for 24 graphs"),
            (np.zeros((24, 2)), r"got shape \(24, 2\)"),
            (np.zeros(24), r"y has 1 class \(0.0\); a classifier needs at least two"),
            (
                np.r_[np.nan, np.zeros(11), np.ones(12)],
                "no usable value .* 1 of 24 graphs, at position 0",
            ),
            ([*[0] * 11, None, *[1] * 11, None], "for 2 of 24 graphs, at positions 11, 23"),
            (np.r_[np.zeros(12), np.ones(11), np.inf], "infinite.* at position 23"),
            (["a", 1] * 12, "values of one type, strings or numbers; got int, str"),
            (np.repeat(["few", "many"], [3, 21]), "Class 'few' has 3 graphs, fewer than the 4"),
            (
                np.repeat(["one", "many"], [1, 23]),
                r"Class 'one' has 1 graph, fewer than the 4 folds\. Add graphs of that class\.",
            ),
            (
                np.repeat(["one", "many", "more"], [1, 12, 11]),
                r"Class 'one' has 1 graph, .* folds\. Leave that class out with min_class_size=4\.",
            ),
        ],
    )
    def test_targets(self, target, message):
        graphs, _ = spiders(24)
        with pytest.raises(ValueError, match=message):
            evaluate(
                "vertex",
                graphs,
                np.array(target, dtype=object) if isinstance(target, list) else target,
                QUICK,
            )

    def test_too_few_for_the_inner_folds(self):
        graphs, _ = spiders(24)
        y = np.repeat([0, 1], [4, 20])
        with pytest.raises(ValueError, match=r"Class 0 has 4 graphs; as few as 3 .* 4 inner folds"):
            evaluate("vertex", graphs, y, Protocol(folds=4, inner_folds=4))

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"folds": 1}, "'folds' parameter of Protocol must be an integer of at least 2. Got 1"),
            ({"folds": 2.5}, "'folds' parameter"),
            ({"repeats": 0}, "'repeats' parameter"),
            ({"inner_folds": True}, "'inner_folds' parameter"),
            ({"C": ()}, "'C' parameter of Protocol must be positive numbers"),
            ({"C": (1.0, -1.0)}, "'C' parameter"),
            ({"C": "big"}, "'C' parameter"),
            ({"test_size": 1.0}, "'test_size' parameter"),
            ({"tol": 0.0}, "'tol' parameter"),
            ({"random_state": -1}, "'random_state' parameter"),
        ],
    )
    def test_protocols(self, params, message):
        with pytest.raises(ValueError, match=message):
            Protocol(**params)

    def test_subjects(self):
        graphs, y = spiders(24)
        with pytest.raises(ValueError, match=r"No kernel is called 'wll'.*Did you mean 'wl'"):
            evaluate("wll", graphs, y, QUICK)
        with pytest.raises(ValueError, match=r"has no parameter 'depth' to choose.*n_iter"):
            evaluate("wl", graphs, y, QUICK, options={"depth": [1]})
        with pytest.raises(ValueError, match=r"options\['n_iter'\] is empty"):
            evaluate("wl", graphs, y, QUICK, options={"n_iter": []})
        with pytest.raises(TypeError, match="options must be a mapping"):
            evaluate("wl", graphs, y, QUICK, options=[1])
        with pytest.raises(TypeError, match="a kernel's name, an estimator or a pipeline; got int"):
            evaluate(3, graphs, y, QUICK)
        with pytest.raises(TypeError, match=r"protocol must be a gramlet.Protocol; got int"):
            evaluate("wl", graphs, y, 10)

    def test_a_kernel_that_gives_nan_is_named(self):
        class Broken(WeisfeilerLehman):
            def fit_transform(self, X, y=None):
                gram = super().fit_transform(X, y)
                gram[2] = np.nan
                return gram

        graphs, y = spiders(24)
        with pytest.raises(ValueError, match=r"Broken gave a value that is not finite \(row 2"):
            evaluate(Broken(), graphs, y, QUICK)

    def test_an_embedding_that_gives_nan_is_named(self):
        class Broken(TransformerMixin, BaseEstimator):
            def fit(self, X, y=None):
                return self

            def transform(self, X):
                rows = np.ones((len(X), 3))
                rows[1, 0] = np.nan
                return rows

        graphs, y = spiders(24)
        with pytest.raises(ValueError, match=r"Broken gave a value that is not finite \(row 1"):
            evaluate(Broken(), graphs, y, QUICK)

    def test_machines_that_run_out_of_steps_are_reported_once(self):
        graphs, y = noise(60)
        protocol = Protocol(folds=4, repeats=1, inner_folds=3, max_iter=2)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            evaluate("wl", graphs, y, protocol)
        ours = [w for w in caught if issubclass(w.category, ConvergenceWarning)]
        assert len(ours) == 1
        assert "wl: " in str(ours[0].message)
        assert "max_iter=2" in str(ours[0].message)
        assert ours[0].filename == __file__


def result_of(name: str, accuracies, splits: str = "same", **protocol) -> Result:
    from gramlet.evaluation.result import DataFacts

    rows = np.array(accuracies, dtype=float)
    chosen = [[{"n_iter": 2, "C": 10.0} for _ in row] for row in rows]
    rules = Protocol(folds=rows.shape[1], repeats=rows.shape[0], **protocol)
    facts = DataFacts("data", 100, {"a": 50, "b": 50}, splits)
    return Result(name, rows, chosen, False, 1.0, 2.0, rules, facts)


class TestResults:
    def test_mean_and_spread(self):
        result = result_of("wl", [[0.8, 0.9, 1.0], [0.7, 0.8, 0.9]])
        assert result.mean == pytest.approx(0.85)
        assert result.std == pytest.approx(np.std([0.9, 0.8], ddof=1))
        assert result.std_folds == pytest.approx(np.std([0.8, 0.9, 1.0, 0.7, 0.8, 0.9], ddof=1))
        once = result_of("wl", [[0.8, 0.9, 1.0]])
        assert once.std == once.std_folds == pytest.approx(0.1)

    def test_json_keeps_everything(self):
        graphs, y = spiders(24)
        options = {"n_iter": np.array([1, 2]), "normalize": [True]}
        result = evaluate("wl", graphs, y, QUICK, options=options, dataset="spiders")
        again = Result.from_json(result.to_json())
        assert again.to_dict() == result.to_dict()
        assert again.protocol == result.protocol
        assert again.data == result.data
        assert json.loads(result.to_json())["data"]["name"] == "spiders"
        np.testing.assert_array_equal(again.accuracies, result.accuracies)

    def test_options_that_json_does_not_know_are_written_as_text(self):
        result = result_of("x", [[0.5, 0.5]])
        result.chosen[0][0]["part"] = VertexHistogram()
        assert json.loads(result.to_json())["chosen"][0][0]["part"] == "VertexHistogram()"

    def test_foreign_and_damaged_json_is_refused(self):
        with pytest.raises(ValueError, match="not a result that gramlet wrote"):
            Result.from_json("{}")
        fields = result_of("x", [[0.5, 0.5]]).to_dict()
        del fields["scores"]
        with pytest.raises(ValueError, match="damaged: 'scores'"):
            Result.from_dict(fields)

    def test_tables(self):
        rows = [result_of("wl", [[0.8, 0.9], [0.7, 0.8]]), result_of("a|b", [[0.5, 0.5]])]
        text = table(rows)
        assert "80.0 ±  7.1" in text
        assert "n_iter 2 (100%) · C 10 (100%)" in text
        markdown = table(rows, "markdown").splitlines()
        assert len(markdown) == 4
        assert markdown[3].startswith("| a\\|b | 50.0 |")
        assert table(rows, "rich").row_count == 2
        assert table(rows[0]).count("\n") == 2
        with pytest.raises(ValueError, match="style must be one of text, markdown, rich"):
            table(rows, "latex")

    def test_the_corrected_t_test_by_hand(self):
        rng = np.random.default_rng(0)
        a, b = rng.uniform(0.7, 0.9, size=(2, 3, 10))
        found = compare_results(result_of("a", a), result_of("b", b))
        d = (a - b).ravel()
        t = d.mean() / np.sqrt((1 / 30 + 1 / 9) * d.var(ddof=1))
        assert found.statistic == pytest.approx(t)
        from scipy.stats import t as student

        assert found.p_value == pytest.approx(2 * student.sf(abs(t), 29))
        swapped = compare_results(result_of("b", b), result_of("a", a))
        assert swapped.statistic == pytest.approx(-t)
        assert swapped.p_value == pytest.approx(found.p_value)

    def test_results_without_a_difference_and_with_the_same_one_everywhere(self):
        a, b = result_of("a", [[0.8, 0.6]]), result_of("b", [[0.7, 0.5]])
        same = compare_results(a, a)
        assert (same.statistic, same.p_value) == (0.0, 1.0)
        assert (
            compare_results(result_of("c", [[0.5, 0.5]]), result_of("d", [[0.25, 0.25]])).p_value
            == 0.0
        )
        assert compare_results(a, b).difference == pytest.approx(0.1)

    def test_results_on_other_folds_are_not_compared(self):
        with pytest.raises(ValueError, match="do not have the same folds"):
            compare_results(result_of("a", [[0.8, 0.6]]), result_of("b", [[0.8, 0.6]], "other"))


def test_mutag_as_in_the_literature():
    mutag = load_dataset("MUTAG")
    protocol = Protocol(folds=10, repeats=2, inner_folds=3)
    results = {
        name: evaluate(name, mutag.graphs, mutag.target, protocol, n_jobs=2)
        for name in ("majority", "vertex", "wl", "wl-oa")
    }
    assert results["majority"].mean == pytest.approx(125 / 188, abs=0.01)
    assert 0.80 < results["wl"].mean < 0.90
    assert 0.82 < results["wl-oa"].mean < 0.91
    assert compare_results(results["wl-oa"], results["majority"]).p_value < 0.001


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), None])
@pytest.mark.parametrize("kind", [list, tuple])
def test_values_that_are_missing_in_a_list_of_strings(bad, kind):
    batch, y = spiders(12)
    words = ["a" if value else "b" for value in y]
    words[4] = bad
    with pytest.raises(ValueError, match="at position 4"):
        evaluate("vertex", batch, kind(words), QUICK)
    if bad != float("inf"):
        with pytest.raises(ValueError, match="position 4"):
            evaluate("vertex", batch, y, QUICK, groups=kind(words))
    mixed = ["a" if value else "b" for value in y]
    mixed[4] = 1
    with pytest.raises(ValueError, match="values of one type"):
        evaluate("vertex", batch, kind(mixed), QUICK)


def test_results_tell_groups_and_class_weights():
    batch, y = spiders(24)
    groups = np.arange(24) // 3
    result = evaluate("vertex", batch, y, QUICK, groups=groups, class_weight="balanced")
    assert "groups kept whole" in result.describe_protocol()
    assert result.class_weight == "balanced"
    again = Result.from_json(result.to_json())
    assert again.class_weight == "balanced"
    assert (
        again.protocol
        == result.protocol
        == Protocol(folds=4, repeats=2, inner_folds=3, C=(0.1, 1.0, 10.0))
    )
    assert again.data.n_groups == 8
    weighted = evaluate("vertex", batch, y, QUICK, class_weight={0: 2.0, 1: 1.0})
    assert Result.from_json(weighted.to_json()).class_weight == {0: 2.0, 1: 1.0}
    assert "class_weight" not in evaluate("vertex", batch, y, QUICK).to_dict()


def test_a_share_of_groups_is_not_a_share_of_graphs():
    batch, y = spiders(60)
    groups = np.minimum(np.arange(60) // 5, 9)  # the last has 15 graphs
    protocol = Protocol.holdout(0.2, repeats=4, inner_folds=2, C=(1.0,))
    assert protocol.describe(grouped=True).startswith(
        "80/20 split of groups × 4, groups kept whole"
    )
    first, second = (evaluate(name, batch, y, protocol, groups=groups) for name in ("wl", "vertex"))
    tested = (first.folds >= 0).mean()
    differences = first.scores - second.scores
    spread = differences.var(ddof=1) * (1 / 4 + tested / (1 - tested))
    found = compare_results(first, second)
    assert found.statistic == pytest.approx(differences.mean() / np.sqrt(spread))
