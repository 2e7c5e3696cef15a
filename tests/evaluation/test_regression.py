"""Regression, ridge classification, groups and scorers in evaluations, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score, r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, SVR

from gramlet import Protocol, VertexHistogram, WeisfeilerLehman, evaluate
from gramlet.evaluation.splits import make_splits
from gramlet.models.estimators import GraphClassifier, GraphRegressor
from reference.evaluation import chosen_cost, classes_of, penalties, points, ridge, trees

QUICK = Protocol(folds=4, repeats=2, inner_folds=3, C=(0.01, 0.1, 1.0, 10.0, 100.0))


def plain_splits(numbers, protocol=QUICK, groups=None):
    return make_splits(protocol, numbers, np.zeros(0), groups)


class Sizes(TransformerMixin, BaseEstimator):
    """Features that are neither centred nor scaled."""

    def __init__(self, power=1):
        self.power = power

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.column_stack([1000 + X.sizes, X.n_edges / 7.0]).astype(float) ** self.power


class TestRidge:
    def test_predictions_are_those_of_a_plain_loop(self):
        _, gram, numbers = points()
        result = evaluate({"mine": gram}, None, numbers, QUICK)["mine"]
        assert (result.task, result.scoring, result.classifier) == ("regression", "r2", "ridge")
        for split in plain_splits(numbers):
            train = gram[np.ix_(split.train, split.train)]
            y = numbers[split.train][:, None]
            best = chosen_cost(train, y, QUICK.C, of_classes=False)
            assert result.chosen[split.repeat][split.fold] == {"C": QUICK.C[best]}
            penalty = penalties(train, QUICK.C)[best]
            told = ridge(train, gram[np.ix_(split.test, split.train)], y, penalty)[:, 0]
            np.testing.assert_allclose(
                result.predictions[split.repeat, split.test], told, rtol=1e-6, atol=1e-8
            )
            assert result.scores[split.repeat, split.fold] == pytest.approx(
                r2_score(numbers[split.test], told), rel=1e-6
            )
        assert result.decisions is None
        assert result.score("r2") == pytest.approx(result.mean)

    def test_classes(self):
        _, gram, numbers = points()
        y = classes_of(numbers, 3)
        result = evaluate({"mine": gram}, None, y, QUICK, classifier="ridge")["mine"]
        for split in QUICK.splits(y, np.arange(3)):
            train = gram[np.ix_(split.train, split.train)]
            columns = np.eye(3)[y[split.train]]
            best = chosen_cost(train, columns, QUICK.C, of_classes=True)
            assert result.chosen[split.repeat][split.fold] == {"C": QUICK.C[best]}
            told = ridge(
                train,
                gram[np.ix_(split.test, split.train)],
                columns,
                penalties(train, QUICK.C)[best],
            )
            np.testing.assert_allclose(result.decisions[split.repeat, split.test], told, atol=1e-7)
            np.testing.assert_array_equal(
                result.predictions[split.repeat, split.test], told.argmax(axis=1)
            )

    def test_options_are_chosen_by_the_scorer_and_penalties_by_leave_one_out(self):
        graphs = trees(48)
        y = graphs.sizes + np.random.default_rng(0).normal(size=48)
        options = {"n_iter": [0, 2]}
        result = evaluate(
            WeisfeilerLehman(), graphs, y, QUICK, options=options, scoring="neg_mean_absolute_error"
        )
        grams = {h: WeisfeilerLehman(n_iter=h).fit_transform(graphs) for h in (0, 2)}

        def told(gram, train, held):
            block = gram[np.ix_(train, train)]
            best = chosen_cost(block, y[train][:, None], QUICK.C, of_classes=False)
            penalty = penalties(block, QUICK.C)[best]
            cross = gram[np.ix_(held, train)]
            return ridge(block, cross, y[train][:, None], penalty)[:, 0]

        for split in plain_splits(y):
            scores = {
                h: np.mean([-np.abs(told(k, a, b) - y[b]).mean() for a, b in split.inner])
                for h, k in grams.items()
            }
            best = max(scores, key=scores.get)
            assert result.chosen[split.repeat][split.fold]["n_iter"] == best
            error = np.abs(told(grams[best], split.train, split.test) - y[split.test]).mean()
            assert result.scores[split.repeat, split.fold] == pytest.approx(-error, rel=1e-6)

    def test_groups_choose_the_penalty_by_inner_folds(self):
        _, gram, numbers = points(80)
        groups = np.repeat(np.arange(20), 4)
        result = evaluate({"mine": gram}, None, numbers, QUICK, groups=groups)["mine"]
        for split in plain_splits(numbers, groups=groups):
            assert not set(groups[split.train]) & set(groups[split.test])
            errors = np.zeros(len(QUICK.C))
            for a, b in split.inner:
                assert not set(groups[a]) & set(groups[b])
                block, cross = gram[np.ix_(a, a)], gram[np.ix_(b, a)]
                for c, penalty in enumerate(penalties(block, QUICK.C)):
                    told = ridge(block, cross, numbers[a][:, None], penalty)[:, 0]
                    errors[c] += ((told - numbers[b]) ** 2).sum()
            assert result.chosen[split.repeat][split.fold] == {"C": QUICK.C[errors.argmin()]}


class TestOtherMachines:
    def test_support_vector_regression_by_grid_search(self):
        _, gram, numbers = points()
        rules = Protocol(folds=3, repeats=1, inner_folds=3, C=(0.01, 0.1, 1.0), tol=1e-6)
        result = evaluate({"k": gram}, None, numbers, rules, classifier="svr")["k"]
        assert result.classifier == "svr"
        for split in plain_splits(numbers, rules):
            place = np.full(len(numbers), -1)
            for k, (_, held) in enumerate(split.inner):
                place[held] = k
            search = GridSearchCV(
                SVR(kernel="precomputed", tol=1e-6),
                {"C": rules.C},
                cv=PredefinedSplit(place[split.train]),
                scoring="r2",
            )
            search.fit(gram[np.ix_(split.train, split.train)], numbers[split.train])
            assert result.chosen[0][split.fold]["C"] == search.best_params_["C"]
            told = search.predict(gram[np.ix_(split.test, split.train)])
            np.testing.assert_allclose(result.predictions[0, split.test], told)

    @pytest.mark.parametrize("scoring", ["f1", "roc_auc", "balanced_accuracy"])
    def test_support_vectors_are_chosen_by_the_scorer(self, scoring):
        _, gram, numbers = points(80)
        y = classes_of(numbers)
        words = np.where(y == 1, "yes", "no")
        rules = Protocol(folds=3, repeats=1, inner_folds=3, C=(1e-4, 1e-2, 1.0), tol=1e-6)
        result = evaluate({"k": gram}, None, words, rules, scoring=scoring)["k"]
        for split in rules.splits(y, np.unique(words)):
            place = np.full(len(y), -1)
            for k, (_, held) in enumerate(split.inner):
                place[held] = k
            search = GridSearchCV(
                SVC(kernel="precomputed", tol=1e-6),
                {"C": rules.C},
                cv=PredefinedSplit(place[split.train]),
                scoring=scoring,
            )
            search.fit(gram[np.ix_(split.train, split.train)], y[split.train])
            chosen = rules.C.index(result.chosen[0][split.fold]["C"])
            scores = search.cv_results_["mean_test_score"]
            assert scores[chosen] == pytest.approx(scores.max(), abs=1e-9)
            cross = gram[np.ix_(split.test, split.train)]
            machine = SVC(kernel="precomputed", tol=1e-6, C=rules.C[chosen])
            machine.fit(gram[np.ix_(split.train, split.train)], y[split.train])
            np.testing.assert_allclose(
                result.decisions[0, split.test], machine.decision_function(cross), atol=1e-6
            )
        assert result.scoring == scoring
        assert set(result.predictions.ravel()) == {"yes", "no"}
        truth, told = y, (result.predictions[0] == "yes").astype(int)
        parts = [s.test for s in rules.splits(y, np.unique(words))]
        if scoring == "f1":
            wanted = np.mean([f1_score(truth[p], told[p]) for p in parts])
        else:
            wanted = np.mean([roc_auc_score(truth[p], result.decisions[0, p]) for p in parts])
            assert result.score("roc_auc") == pytest.approx(wanted)
        if scoring != "balanced_accuracy":
            assert result.mean == pytest.approx(wanted)
        assert result.accuracies.mean() == pytest.approx((truth == told).mean(), abs=0.01)

    def test_class_weights_find_the_rare_class(self):
        rng = np.random.default_rng(0)
        y = np.repeat([0, 1], [90, 12])
        x = rng.normal(size=(102, 3))
        x[:, 0] += 1.2 * y
        rules = Protocol(folds=4, repeats=2, inner_folds=3, C=(0.1,))
        plain = evaluate({"k": x @ x.T}, None, y, rules)["k"]
        balanced = evaluate({"k": x @ x.T}, None, y, rules, class_weight="balanced")["k"]
        assert balanced.score("recall") > plain.score("recall") + 0.3
        by_hand = evaluate({"k": x @ x.T}, None, y, rules, class_weight={1: 8.0})["k"]
        assert by_hand.score("recall") > plain.score("recall") + 0.3

    def test_pipelines_that_predict_numbers(self):
        graphs = trees()
        y = 3.0 * graphs.sizes + 0.5
        result = evaluate(make_pipeline(Sizes(), Ridge(alpha=1e-9)), graphs, y, QUICK)
        assert result.mean == pytest.approx(1.0)
        with pytest.raises(ValueError, match="is a classifier, but the target is for regression"):
            evaluate(make_pipeline(Sizes(), SVC()), graphs, y, QUICK)
        with pytest.raises(ValueError, match="is a regressor, but the target"):
            evaluate(make_pipeline(Sizes(), Ridge()), graphs, graphs.sizes > 7, QUICK)

    def test_decision_values_of_pipelines(self):
        graphs = trees(60)
        y = np.digitize(graphs.sizes, [7, 9])
        chain = make_pipeline(Sizes(), SVC(kernel="linear"))
        result = evaluate(chain, graphs, y, QUICK)
        assert result.decisions.shape == (2, 60, 3)
        assert result.score("roc_auc") > 0.9
        two = evaluate(chain, graphs, y > 0, QUICK)
        assert two.decisions.shape == (2, 60)
        assert ((two.decisions > 0) == two.predictions).all()


class TestFeatures:
    @pytest.mark.parametrize("classifier", ["ridge", "svr"])
    def test_they_are_centred_and_divided_by_one_number(self, classifier):
        graphs = trees(40)
        y = graphs.sizes + 0.3 * np.arange(40) % 7
        features = Sizes().transform(graphs)
        rules = Protocol(folds=4, repeats=1, inner_folds=3, C=(0.5,))
        result = evaluate(Sizes(), graphs, y, rules, classifier=classifier)
        for split in plain_splits(y, rules):
            centred = features - features[split.train].mean(axis=0)
            scaled = centred / np.sqrt((centred[split.train] ** 2).sum(axis=1).mean())
            if classifier == "svr":
                machine = SVR(kernel="linear", C=0.5)
            else:
                machine = Ridge(alpha=1 / 0.5)  # the mean square of scaled rows is 1
            told = machine.fit(scaled[split.train], y[split.train]).predict(scaled[split.test])
            np.testing.assert_allclose(result.predictions[0, split.test], told, atol=1e-4)

    def test_kernels_are_not_scaled(self):
        graphs = trees(40)
        y = graphs.sizes + 0.5
        kernel = VertexHistogram()
        gram = kernel.fit_transform(graphs)
        rules = Protocol(folds=4, repeats=1, inner_folds=3, C=(0.01, 0.1))
        direct = evaluate(kernel, graphs, y, rules, classifier="svr")
        ready = evaluate({"k": gram}, None, y, rules, classifier="svr")["k"]
        np.testing.assert_array_equal(direct.predictions, ready.predictions)


class TestEstimators:
    @pytest.mark.parametrize("machine", ["ridge", "svr"])
    def test_regressors_predict_as_evaluation_does(self, machine):
        graphs = trees(48)
        y = graphs.sizes + np.random.default_rng(0).normal(size=48)
        kernel = WeisfeilerLehman(n_iter=1)
        model = GraphRegressor(kernel, regressor=machine, C=QUICK.C, cv=QUICK.inner_folds)
        model.fit(graphs[:36], y[:36])
        gram = kernel.fit_transform(graphs)
        block, cross = gram[:36, :36], gram[36:, :36]
        if machine == "ridge":
            cost = chosen_cost(block, y[:36, None], QUICK.C, of_classes=False)
            assert QUICK.C[cost] == model.best_params_["C"]
            wanted = ridge(block, cross, y[:36, None], penalties(block, QUICK.C)[cost])[:, 0]
        else:
            cost = model.best_params_["C"]
            wanted = SVR(kernel="precomputed", C=cost).fit(block, y[:36]).predict(cross)
        atol = 2e-3 if machine == "svr" else 1e-6
        np.testing.assert_allclose(model.predict(graphs[36:]), wanted, atol=atol)

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_the_ridge_of_classes_predicts_as_evaluation_does(self, n_classes):
        graphs = trees(48)
        y = classes_of(graphs.sizes + np.random.default_rng(0).normal(size=48), n_classes)
        names = np.array(["a", "b", "c"])[y]
        kernel = WeisfeilerLehman(n_iter=1)
        model = GraphClassifier(kernel, classifier="ridge", C=QUICK.C, cv=QUICK.inner_folds)
        model.fit(graphs[:36], names[:36])
        gram = kernel.fit_transform(graphs)
        block, cross, columns = gram[:36, :36], gram[36:, :36], np.eye(n_classes)[y[:36]]
        cost = chosen_cost(block, columns, QUICK.C, of_classes=True)
        assert QUICK.C[cost] == model.best_params_["C"]
        values = ridge(block, cross, columns, penalties(block, QUICK.C)[cost])
        wanted = np.array(["a", "b", "c"])[values.argmax(axis=1)]
        np.testing.assert_array_equal(model.predict(graphs[36:]), wanted)


class TestBaselines:
    def test_sizes_that_are_all_the_same_in_the_training_part(self):
        from gramlet.evaluation.baselines import baseline_named
        from gramlet.evaluation.task import target_of

        n = np.r_[np.full(29, 7.0), 30.0]
        sizes = np.column_stack([n, n - 1, np.log1p(n), np.log1p(n - 1)])
        y = np.arange(30) / 3
        train, held = np.arange(29), np.array([29])
        found = baseline_named("size", "regression").predict(target_of(y, 30), sizes, train, held)
        assert found.values[0, 0] == pytest.approx(y[:29].mean())

    def test_the_mean(self):
        graphs = trees()
        y = np.linspace(0, 1, 40)
        result = evaluate("mean", graphs, y, QUICK)
        for split in plain_splits(y):
            np.testing.assert_allclose(
                result.predictions[split.repeat, split.test], y[split.train].mean()
            )
        assert result.mean < 0
        with pytest.raises(ValueError, match="'majority' is not for regression; use mean or size"):
            evaluate("majority", graphs, y, QUICK)
        with pytest.raises(ValueError, match="'mean' is not for classification"):
            evaluate("mean", graphs, y > 0.5, QUICK)

    @pytest.mark.parametrize("n_classes", [0, 2, 3])
    def test_the_size_is_a_model_of_four_standardised_numbers(self, n_classes):
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        graphs = trees(60)
        rng = np.random.default_rng(0)
        n, m = graphs.sizes, graphs.n_edges
        y = n + rng.normal(size=60)
        if n_classes:
            y = classes_of(y, n_classes)
        table = np.column_stack([n, m, np.log1p(n), np.log1p(m)])
        machine = LogisticRegression(C=1.0, max_iter=1000) if n_classes else Ridge(alpha=1.0)
        model = make_pipeline(StandardScaler(), machine)
        result = evaluate("size", graphs, y, QUICK)
        for split in make_splits(QUICK, y, np.arange(n_classes), None):
            told = model.fit(table[split.train], y[split.train]).predict(table[split.test])
            np.testing.assert_allclose(result.predictions[split.repeat, split.test], told)
        beside = evaluate("vertex", graphs, y, QUICK)
        np.testing.assert_allclose(beside.baselines["size"], result.scores)
        first = "majority" if n_classes else "mean"
        np.testing.assert_allclose(
            beside.baselines[first], evaluate(first, graphs, y, QUICK).scores
        )
