"""`GraphClassifier` and `GraphRegressor`: what is chosen, fitted, predicted and refused."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import gramlet
from gramlet import (
    NSPDK,
    EmbeddingKernel,
    GraphBatch,
    GraphClassifier,
    GraphRegressor,
    LocalDegreeProfile,
    NetLSD,
    Protocol,
    ShortestPath,
    WassersteinWL,
    WeisfeilerLehman,
    evaluate,
)
from gramlet.evaluation.candidates import DESCRIPTORS, automatic_kernels
from reference.evaluation import plain_process, trees
from reference.examples import random_graphs

GRAPHS = trees(48)
NUMBERS = GRAPHS.sizes + np.random.default_rng(0).normal(scale=0.3, size=48)
TWO = np.argsort(np.argsort(NUMBERS)) // 24
TWO[::7] = 1 - TWO[::7]
THREE = np.array(["few", "many", "some"])[np.digitize(NUMBERS, [7, 9])]
NEW = trees(12, seed=1)
QUICK = {"cv": 3, "C": [0.1, 10.0], "options": {"n_iter": [1, 2]}}


def state(model, graphs=NEW):
    """All numbers that a fitted model gives."""
    values = [model.predict(graphs), *model.applicability(graphs)]
    if hasattr(model, "predict_proba"):
        return [*values, model.decision_function(graphs), model.predict_proba(graphs)]
    if model.machine_.kind == "gp":
        values += model.predict(graphs, return_std=True)
    return values


def assert_same(one, other):
    for a, b in zip(state(one), state(other), strict=True):
        np.testing.assert_array_equal(a, b)
    assert repr(one.best_params_) == repr(other.best_params_)


MODELS = {
    "two classes": (GraphClassifier("wl", **QUICK), TWO),
    "three classes": (GraphClassifier(["wl", "sp"], **QUICK), THREE),
    "ridge for classes": (GraphClassifier("wl", classifier="ridge", **QUICK), THREE),
    "process": (GraphRegressor("wl-oa"), NUMBERS),
    "process on features": (GraphRegressor("netlsd"), NUMBERS),
    "ridge": (GraphRegressor("wl", regressor="ridge", **QUICK), NUMBERS),
    "vectors": (GraphRegressor(WeisfeilerLehman(), regressor="svr", **QUICK), NUMBERS),
}


@pytest.fixture(scope="module")
def fitted():
    return {name: clone(model).fit(GRAPHS, y) for name, (model, y) in MODELS.items()}


class TestChoice:
    def test_it_is_that_of_a_plain_grid_search(self):
        codes = TWO.copy()
        codes[np.flatnonzero(codes == codes[0])[: abs(2 * codes.sum() - 48) // 2]] ^= 1
        assert codes.sum() == 24  # so that folds are of one size
        model = GraphClassifier("wl", options={"n_iter": [0, 1, 2]}, C=[0.1, 1.0, 10.0], cv=4)
        model.fit(GRAPHS, codes)
        folds = Protocol(inner_folds=4).whole(codes, np.unique(codes)).inner
        best = None
        scores, spreads = [], []
        for n_iter in (0, 1, 2):
            kernel = WeisfeilerLehman(n_iter=n_iter, normalize="tanimoto")
            gram = kernel.fit_transform(GRAPHS)
            search = GridSearchCV(SVC(kernel="precomputed"), {"C": [0.1, 1.0, 10.0]}, cv=folds)
            search.fit(gram, codes)
            scores += search.cv_results_["mean_test_score"].tolist()
            spreads += search.cv_results_["std_test_score"].tolist()
            if best is None or search.best_score_ > best[0] + 1e-9:
                values = search.best_estimator_.decision_function(kernel.transform(NEW))
                best = search.best_score_, n_iter, search.best_params_["C"], values
        results = model.cv_results_
        np.testing.assert_allclose(results["mean_test_score"], scores)
        np.testing.assert_allclose(results["std_test_score"], spreads)
        assert results["rank_test_score"][np.argmax(scores)] == 1
        assert len(results["params"]) == 9
        assert results["refused"] == {}
        assert model.best_score_ == pytest.approx(best[0])
        assert model.best_params_ == {"kernel": "wl", "n_iter": best[1], "C": best[2]}
        np.testing.assert_allclose(model.decision_function(NEW), best[3], atol=1e-9)
        assert model.kernel_.get_params()["normalize"] == "tanimoto"

    def test_a_process_is_chosen_by_likelihood(self):
        model = GraphRegressor("wl", options={"n_iter": [0, 1, 2]}).fit(GRAPHS, NUMBERS)
        kernels = [WeisfeilerLehman(n_iter=h, normalize="tanimoto") for h in (0, 1, 2)]
        fits = [plain_process(kernel.fit_transform(GRAPHS), NUMBERS) for kernel in kernels]
        best = int(np.argmax([fit[0] for fit in fits]))
        np.testing.assert_allclose(
            model.cv_results_["mean_test_score"], [fit[0] for fit in fits], rtol=1e-6
        )
        assert model.cv_results_["std_test_score"].tolist() == [0.0] * 3
        _, mean, square, noise, inverse = fits[best]
        assert model.best_params_ == {"kernel": "wl", "n_iter": best, "s": pytest.approx(noise)}
        rows = kernels[best].transform(NEW)
        values, deviations = model.predict(NEW, return_std=True)
        np.testing.assert_allclose(values, mean + rows @ inverse @ (NUMBERS - mean), rtol=1e-6)
        variance = 1.0 - np.einsum("ij,jk,ik->i", rows, inverse, rows)
        expected = np.sqrt(square * (np.maximum(variance, 0.0) + noise))
        np.testing.assert_allclose(deviations, expected, rtol=1e-5)

    def test_auto_is_by_the_columns_of_the_graphs(self):
        everything = random_graphs(0)
        bare = GraphBatch.from_edges([[(0, 1), (1, 2)]])
        directed = GraphBatch.from_edges([[(0, 1), (1, 2)]], directed=True)
        attributed = GraphBatch.from_edges([[(0, 1)]], node_attributes=[[[1.0], [2.0]]])
        molecules = gramlet.molecules(["CCO", "CCN"])
        labelled = ["wl-oa", "wl", "sp", "nspdk"]
        plain = ["wl-oa", "sp", "graphlet", "nspdk"]
        numbers = ["graph-hopper", "wwl-attr"]
        assert list(automatic_kernels(GRAPHS)) == labelled
        assert list(automatic_kernels(everything)) == [*labelled, *numbers]
        assert list(automatic_kernels(bare)) == plain
        assert list(automatic_kernels(attributed)) == [*plain, *numbers]
        assert list(automatic_kernels(molecules)) == [*labelled, DESCRIPTORS]
        refused = set(plain) - set(automatic_kernels(directed))
        assert refused
        for name in plain:
            kernel = gramlet.make_kernel(name)
            if name in refused:
                with pytest.raises(ValueError, match="directed"):
                    kernel.fit(directed)
            else:
                kernel.fit(directed)
        tried = automatic_kernels(molecules)
        assert tried["wl"] == tried["wl-oa"] == {"n_iter": (0, 1, 2, 3, 4, 5)}
        assert tried["nspdk"] == {"radius": (1, 2, 3), "distance": (4,)}
        assert list(tried[DESCRIPTORS].values()) == [(1, 2, 3)]

    def test_auto_is_fitted(self):
        model = GraphClassifier(cv=2, C=1.0, options={"n_iter": [0, 1]}).fit(GRAPHS, TWO)
        tried = [params["kernel"] for params in model.cv_results_["params"]]
        assert list(dict.fromkeys(tried)) == ["wl-oa", "wl", "sp", "nspdk"]
        assert tried.count("wl") == 2
        assert tried.count("nspdk") == 3

    def test_kernels_of_all_kinds(self):
        names = {"wl": "tanimoto", "wl(normalize='cosine')": "cosine", "wl-oa + sp": False}
        for name, normalize in names.items():
            model = GraphClassifier(name, cv=2, C=1.0, options={}).fit(GRAPHS, TWO)
            assert model.best_params_ == {"kernel": name, "C": 1.0}
            assert model.kernel_.normalize == normalize
        estimator = WeisfeilerLehman(n_iter=1)
        model = GraphClassifier(estimator, cv=2, C=1.0).fit(GRAPHS, TWO)
        assert model.best_params_ == {"kernel": repr(estimator), "C": 1.0}
        assert repr(model.kernel_) == repr(estimator)
        kernels = [ShortestPath(), "wl", NSPDK()]
        model = GraphClassifier(kernels, cv=2, C=1.0, options={"n_iter": [1, 2]})
        model.fit(GRAPHS, TWO)
        assert model.cv_results_["params"] == [
            {"kernel": "ShortestPath()", "C": 1.0},
            {"kernel": "wl", "n_iter": 1, "C": 1.0},
            {"kernel": "wl", "n_iter": 2, "C": 1.0},
            {"kernel": "NSPDK()", "C": 1.0},
        ]
        by_registry = GraphClassifier("wl", cv=2, C=1.0, options="auto").fit(GRAPHS, TWO)
        tried = [params["n_iter"] for params in by_registry.cv_results_["params"]]
        assert tried == list(gramlet.kernels.registry.get("wl").tunable["n_iter"])

    def test_features_of_any_transformer_are_kernels(self):
        pipeline = make_pipeline(LocalDegreeProfile(), StandardScaler())
        model = GraphRegressor(pipeline).fit(GRAPHS, NUMBERS)
        rows = pipeline.fit_transform(GRAPHS)
        rows -= rows.mean(axis=0)
        gram = rows @ rows.T / (rows**2).sum(axis=1).mean()
        _, mean, _, _, inverse = plain_process(gram, NUMBERS)
        expected = mean + gram @ inverse @ (NUMBERS - mean)
        np.testing.assert_allclose(model.predict(GRAPHS), expected, rtol=1e-6)

    def test_kernels_that_refuse_are_left_out_and_named(self):
        model = GraphClassifier(["wwl-attr", "wl"], **QUICK).fit(GRAPHS, TWO)
        assert list(model.cv_results_["refused"]) == ["wwl-attr"]
        assert "node attributes" in model.cv_results_["refused"]["wwl-attr"]
        assert {params["kernel"] for params in model.cv_results_["params"]} == {"wl"}
        with pytest.raises(ValueError, match=r"(?s)None of the.*wwl-attr: .*WassersteinWL\("):
            GraphClassifier(["wwl-attr", WassersteinWL(use_attributes=True)], cv=2).fit(GRAPHS, TWO)

    def test_options_that_refuse_leave_the_others_of_their_kernel(self):
        class Picky(WeisfeilerLehman):
            def _fit(self, batch, y, tiling):
                if self.n_iter in (1, 3):
                    raise ValueError(f"not with {self.n_iter}")
                return super()._fit(batch, y, tiling)

        kernels = [Picky(), ShortestPath(normalize=True)]
        model = GraphClassifier(kernels, cv=2, C=1.0, options={"n_iter": [1, 2, 3, 0]})
        model.fit(GRAPHS, TWO)
        tried = [params.get("n_iter") for params in model.cv_results_["params"]]
        assert tried == [2, 0, None]
        assert model.cv_results_["refused"] == {"Picky()": "not with 1"}

    def test_more_graphs_than_a_process_takes(self, monkeypatch):
        monkeypatch.setattr("gramlet.models.estimators.MANY_GRAPHS", 40)
        monkeypatch.setattr("gramlet.evaluation.candidates.MANY_GRAPHS", 40)
        assert list(automatic_kernels(GRAPHS)) == ["wl-oa", "wl"]
        with pytest.warns(UserWarning, match="48 graphs: ridge regression") as caught:
            model = GraphRegressor("vertex").fit(GRAPHS, NUMBERS)
        assert len(caught) == 1
        assert model.machine_.kind == "ridge"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            GraphRegressor("vertex", regressor="ridge").fit(GRAPHS, NUMBERS)

    def test_a_process_needs_no_folds(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            three = GraphRegressor("vertex").fit(GRAPHS[:3], NUMBERS[:3], groups=[0, 0, 0])
            one = GraphRegressor("vertex").fit(GRAPHS[:1], NUMBERS[:1])
            constant = GraphRegressor("vertex").fit(GRAPHS, np.full(48, 2.5))
        assert np.isfinite(three.predict(NEW)).all()
        for model, value in ((one, NUMBERS[0]), (constant, 2.5)):
            mean, std = model.predict(NEW, return_std=True)
            assert mean.tolist() == [value] * 12
            assert std.tolist() == [0.0] * 12
        assert one.applicability(NEW).inside.all()
        assert constant.best_score_ == 0.0

    def test_fewer_graphs_than_folds(self):
        rare = np.array([1] * 3 + [0] * 45)
        with pytest.warns(UserWarning, match="cv=5, but there are 3 graphs of class 1: cv=3 is"):
            model = GraphClassifier("vertex").fit(GRAPHS, rare)
        # One class has more than 80 % of the graphs.
        by_auc = GraphClassifier("vertex", cv=3, scoring="roc_auc").fit(GRAPHS, rare)
        by_accuracy = GraphClassifier("vertex", cv=3, scoring="accuracy").fit(GRAPHS, rare)
        assert model.best_score_ == by_auc.best_score_ != by_accuracy.best_score_
        with pytest.warns(UserWarning, match="cv=5, but there are 2 groups"):
            GraphClassifier("vertex").fit(GRAPHS, TWO, groups=np.arange(48) % 2)


class TestPredictions:
    @pytest.mark.parametrize("name", MODELS)
    def test_classes_and_probabilities_follow_the_decision_values(self, fitted, name):
        model, y = fitted[name], MODELS[name][1]
        predicted = model.predict(NEW)
        assert predicted.shape == (12,)
        assert model.predict(NEW[:0]).shape == (0,)
        if not hasattr(model, "decision_function"):
            assert np.isfinite(predicted).all()
            return
        np.testing.assert_array_equal(model.classes_, np.unique(y))
        values, rows = model.decision_function(NEW), model.predict_proba(NEW)
        np.testing.assert_allclose(rows.sum(axis=1), 1.0)
        assert (model.sigmoids_[:, 0] <= 0).all()
        if len(model.classes_) == 2:
            np.testing.assert_array_equal(predicted, model.classes_[(values >= 0).astype(int)])
            assert (np.diff(rows[np.argsort(values), 1]) >= 0).all()
        else:
            np.testing.assert_array_equal(predicted, model.classes_[values.argmax(axis=1)])
        assert model.score(GRAPHS, y) > 0.5

    def test_probabilities_are_fitted_to_held_out_graphs(self, fitted):
        from gramlet.models.probabilities import fit_sigmoids

        model = fitted["two classes"]
        folds = Protocol(inner_folds=3).whole(TWO, np.arange(2)).inner
        gram = model.kernel_.transform(GRAPHS)
        machine = SVC(kernel="precomputed", C=model.best_params_["C"])
        values, held = [], np.concatenate([part for _, part in folds])
        for train, part in folds:
            machine.fit(gram[np.ix_(train, train)], TWO[train])
            values.append(machine.decision_function(gram[np.ix_(part, train)]))
        expected = fit_sigmoids(np.concatenate(values), TWO[held], 2)
        np.testing.assert_allclose(model.sigmoids_, expected, rtol=0.05, atol=0.05)

    def test_a_tie_is_as_in_libsvm(self):
        class Equal(WeisfeilerLehman):
            """A kernel for which all graphs are one."""

            def transform(self, X):
                return np.ones((len(X), self.n_fitted_))

            def fit_transform(self, X, y=None):
                super().fit_transform(X, y)
                return np.ones((len(X), len(X)))

        y = np.arange(48) % 2
        model = GraphClassifier(Equal(), cv=2, C=1.0).fit(GRAPHS, y)
        theirs = SVC(kernel="precomputed").fit(np.ones((48, 48)), y)
        np.testing.assert_array_equal(model.predict(NEW), theirs.predict(np.ones((12, 48))))

    @pytest.mark.parametrize(
        "kernel",
        [
            WeisfeilerLehman(n_iter=1),
            WeisfeilerLehman(n_iter=1, normalize="cosine"),
            "wl",
            "wl-oa + sp",
            WassersteinWL(normalize="tanimoto"),
            EmbeddingKernel(LocalDegreeProfile()),
        ],
        ids=repr,
    )
    def test_applicability_is_that_of_all_pairs(self, kernel):
        graphs = GraphBatch.from_edges(
            [[(0, 1)], [], [(0, 1), (1, 2)], [], [(0, 1), (1, 2), (0, 2)], [(0, 1), (2, 3)]],
            node_labels=[["a", "b"], [], ["a"] * 3, [], ["a", "b", "b"], ["b"] * 4],
        )
        graphs = graphs[[0, 2, 1, 4, 5, 3]]
        y = np.arange(5.0)
        model = GraphRegressor(kernel, options={}).fit(graphs[:5], y)
        plain = clone(model.kernel_).set_params(normalize=False).fit(graphs[:5])
        rows, fitted = plain.transform(graphs), plain.transform(graphs[:5])
        unit = plain.__graph_tags__().unit

        def tanimoto(k, a, b):
            if unit:
                return k
            return 1.0 if a == b == 0 else 0.0 if 0 in (a, b) else k / (a + b - k)

        norms = plain.diagonal(graphs)
        similarities = np.array(
            [[tanimoto(rows[i, j], norms[i], norms[j]) for j in range(5)] for i in range(6)]
        )
        assert fitted.shape == (5, 5)
        others = np.where(np.eye(5, dtype=bool), -1.0, similarities[:5])
        least = np.quantile(others.max(axis=1), 0.05)
        result = model.applicability(graphs)
        np.testing.assert_array_equal(result.nearest, similarities.round(12).argmax(axis=1))
        np.testing.assert_allclose(result.similarity, similarities.max(axis=1))
        assert model.threshold_ == pytest.approx(least)
        sure = np.abs(similarities.max(axis=1) - least) > 1e-9
        np.testing.assert_array_equal(
            result.inside[sure], (similarities.max(axis=1) >= least)[sure]
        )


class TestContract:
    @pytest.mark.parametrize("name", MODELS)
    def test_files_pickles_threads_and_refits_give_equal_bits(self, fitted, name, tmp_path):
        model, y = fitted[name], MODELS[name][1]
        gramlet.save(model, tmp_path / "model.gramlet")
        assert_same(gramlet.load(tmp_path / "model.gramlet"), model)
        assert_same(pickle.loads(pickle.dumps(model)), model)
        threaded = clone(model).set_params(n_jobs=2)
        before = pickle.dumps(GRAPHS)
        assert_same(threaded.fit(GRAPHS, y), model)
        assert pickle.dumps(GRAPHS) == before
        changed = clone(model).fit(GRAPHS[:30], y[:30])
        assert_same(changed.fit(GRAPHS, y), model)

    def test_options_that_are_estimators_are_kept_in_files(self, tmp_path):
        options = {"embedding": [LocalDegreeProfile(), NetLSD()]}
        model = GraphRegressor(EmbeddingKernel(NetLSD()), options=options).fit(GRAPHS, NUMBERS)
        gramlet.save(model, tmp_path / "model.gramlet")
        again = gramlet.load(tmp_path / "model.gramlet")
        assert_same(again, model)
        assert repr(again.cv_results_["params"]) == repr(model.cv_results_["params"])

    @pytest.mark.parametrize("estimator", [GraphClassifier, GraphRegressor])
    def test_unfitted(self, estimator):
        model = estimator("wl")
        for method in ("predict", "predict_proba", "decision_function", "applicability"):
            if hasattr(model, method):
                with pytest.raises(NotFittedError):
                    getattr(model, method)(GRAPHS)
        html = model._repr_html_()
        assert (
            f"https://gramlet.readthedocs.io/en/latest/reference/gramlet.{estimator.__name__}.html"
            in html
        )

    def test_weights(self):
        weights = np.linspace(0.5, 2.0, 48)
        model = GraphClassifier("wl", **QUICK, class_weight={0: 1.0, 1: 3.0})
        model.fit(GRAPHS, TWO, sample_weight=weights)
        gram = model.kernel_.transform(GRAPHS)
        theirs = SVC(kernel="precomputed", C=model.best_params_["C"], class_weight={0: 1, 1: 3})
        theirs.fit(gram, TWO, weights)
        rows = model.kernel_.transform(NEW)
        np.testing.assert_allclose(
            model.decision_function(NEW), theirs.decision_function(rows), atol=1e-3
        )

    def test_metadata_is_routed(self):
        groups = np.arange(48) // 3
        with sklearn.config_context(enable_metadata_routing=True):
            model = GraphClassifier("vertex", cv=2).set_fit_request(groups=True, sample_weight=True)
            model.set_score_request(sample_weight=False)
            params = {"groups": groups, "sample_weight": np.ones(48)}
            result = cross_validate(model, GRAPHS, TWO, cv=2, params=params, error_score="raise")
        assert np.isfinite(result["test_score"]).all()


class TestEvaluation:
    RULES = Protocol(folds=3, repeats=1, inner_folds=2, C=(0.1, 10.0))

    def test_auto_is_the_list_of_its_kernels(self):
        auto = evaluate("auto", GRAPHS, TWO, self.RULES)
        kernels = {chosen["kernel"] for row in auto.chosen for chosen in row}
        assert kernels <= set(automatic_kernels(GRAPHS))
        assert auto.tried["kernel"] == list(automatic_kernels(GRAPHS))

    def test_an_estimator_is_fitted_on_each_training_part(self):
        for model, y in ((GraphClassifier("wl", **QUICK), TWO), (GraphRegressor("wl"), NUMBERS)):
            result = evaluate(model, GRAPHS, y, self.RULES)
            test = result.folds[0] == 0
            again = clone(model).fit(GRAPHS[~test], y[~test])
            np.testing.assert_array_equal(result.predictions[0, test], again.predict(GRAPHS[test]))


CLASSES, REGRESSOR = GraphClassifier("vertex"), GraphRegressor("vertex")
REFUSED = {
    "one class": (CLASSES, np.zeros(48), {}, "y has 1 class"),
    "NaN": (CLASSES, [np.nan, *TWO[1:]], {}, "missing, NaN or infinite"),
    "NaN in numbers": (REGRESSOR, [np.nan, *NUMBERS[1:]], {}, "at position 0"),
    "length": (REGRESSOR, NUMBERS[1:], {}, r"shape \(47,\) for 48 graphs"),
    "size": (REGRESSOR, 1e300 * NUMBERS, {}, "Divide y by a constant"),
    "text": (REGRESSOR, THREE, {}, "y contains strings.*GraphClassifier"),
    "numbers": (CLASSES, NUMBERS, {}, "not whole.*GraphRegressor"),
    "single graph of a class": (CLASSES, [1] + [0] * 47, {}, "at least 2 graphs of class 1; got 1"),
    "constant": (GraphRegressor("vertex", regressor="svr"), np.ones(48), {}, "nothing to predict"),
    "one group": (CLASSES, TWO, {"groups": np.zeros(48)}, "at least 2 groups; got 1"),
    "groups of one class": (CLASSES, TWO, {"groups": TWO}, "(?s)are of class.*other groups"),
    "groups": (CLASSES, TWO, {"groups": [1, 2]}, "groups must have one value per graph"),
    "weights": (CLASSES, TWO, {"sample_weight": np.ones(4)}, "sample_weight must have one"),
    "negative weights": (CLASSES, TWO, {"sample_weight": -np.ones(48)}, "at least 0 per graph"),
    "text as weights": (CLASSES, TWO, {"sample_weight": ["a"] * 48}, "sample_weight must have one"),
    "a class without weight": (
        CLASSES,
        THREE,
        {"sample_weight": (THREE != "some").astype(float)},
        "0 for all graphs of class 'some'",
    ),
    "weights for ridge": (
        GraphClassifier("vertex", classifier="ridge"),
        TWO,
        {"sample_weight": np.ones(48)},
        "sample_weight is for 'svc' and 'svr'",
    ),
    "weights for gp": (REGRESSOR, NUMBERS, {"sample_weight": np.ones(48)}, "'gp' has no weights"),
    "class weights": (
        GraphClassifier("vertex", classifier="ridge", class_weight="balanced"),
        TWO,
        {},
        "class_weight is for classifier='svc'",
    ),
    "scoring": (GraphClassifier("vertex", scoring="r2"), TWO, {}, "'r2' is for regression"),
    "baseline": (GraphClassifier("size"), TWO, {}, "'size' predicts by itself"),
    "baseline in a list": (GraphClassifier(["wl", "majority"]), TWO, {}, "'majority' predicts by"),
    "auto in a list": (GraphClassifier(["wl", "auto"]), TWO, {}, "'auto' is a list of kernels"),
    "classifier": (GraphClassifier([CLASSES]), TWO, {}, "predicts by itself"),
    "name": (GraphClassifier("blub"), TWO, {}, "No kernel is called 'blub'"),
    "option": (GraphClassifier(["wl"], options={"x": [1]}), TWO, {}, "a parameter 'x' to choose"),
    **{
        f"C={cost!r}": (GraphClassifier("wl", C=cost), TWO, {}, "'C' parameter of GraphClassifier")
        for cost in (0, -1.0, [], [1.0, -1.0], ["a"], [[1.0, 2.0]], [np.nan], [np.inf], [None])
    },
    "cv": (GraphClassifier("wl", cv=1), TWO, {}, "'cv' parameter of GraphClassifier"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_input(case):
    model, y, params, message = REFUSED[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cv is reduced
        with pytest.raises(ValueError, match=message):
            clone(model).fit(GRAPHS, y, **params)


def test_deviations_need_a_process(fitted):
    with pytest.raises(ValueError, match="return_std needs regressor='gp'; this model has 'svr'"):
        fitted["vectors"].predict(NEW, return_std=True)


def test_matrices_that_do_not_fit_in_memory(monkeypatch):
    monkeypatch.setattr("gramlet.engine.core.memory._SMALL", 0)
    monkeypatch.setattr("gramlet.engine.core.memory.available_bytes", lambda: 1000)
    with pytest.raises(MemoryError, match=r"48 graphs takes .* GB.*GraphNystroem.*train --linear"):
        CLASSES.fit(GRAPHS, TWO)
