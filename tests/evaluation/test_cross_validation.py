"""Options chosen on the test parts, marked optimistic; and several draws of random numbers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from gramlet import Protocol, RandomGraphEmbedding, WeisfeilerLehman, compare_results, evaluate
from gramlet.evaluation import Result, table
from reference.evaluation import classes_of, points, trees

COSTS = (1e-3, 0.1, 10.0)
BEST = Protocol(folds=4, repeats=2, inner_folds=3, C=COSTS, selection="best-of-grid", tol=1e-6)
NESTED = Protocol(folds=4, repeats=2, inner_folds=3, C=COSTS, tol=1e-6)


def labelled_trees(n: int = 48):
    graphs = trees(n)
    rng = np.random.default_rng(1)
    return graphs, (graphs.sizes + rng.normal(scale=2, size=n) > 8).astype(int)


def test_one_choice_for_all_folds_by_the_mean_over_the_test_parts():
    graphs, y = labelled_trees()
    # Normalised: for kernels of whole numbers some decision values are 0 up to the tolerance.
    kernel = WeisfeilerLehman(normalize=True)
    result = evaluate(kernel, graphs, y, BEST, options={"n_iter": [0, 1, 3]})
    means = {}
    for h in (0, 1, 3):
        gram = WeisfeilerLehman(n_iter=h, normalize=True).fit_transform(graphs)
        for cost in COSTS:
            machine = SVC(kernel="precomputed", C=cost, tol=1e-6)
            means[h, cost] = np.mean(
                [
                    machine.fit(gram[np.ix_(s.train, s.train)], y[s.train]).score(
                        gram[np.ix_(s.test, s.train)], y[s.test]
                    )
                    for s in NESTED.splits(y, np.arange(2))
                ]
            )
    best = max(means, key=means.get)  # the first of equals
    chosen = {(options["n_iter"], options["C"]) for row in result.chosen for options in row}
    assert chosen == {best}
    assert result.mean == pytest.approx(means[best])
    nested = evaluate(kernel, graphs, y, NESTED, options={"n_iter": [0, 1, 3]})
    assert result.mean >= nested.mean
    assert result.data.splits == nested.data.splits


def test_ties_go_to_the_first_listed():
    graphs, _ = labelled_trees()
    y = (graphs.sizes > 8).astype(int)

    class Same(WeisfeilerLehman):
        """A kernel that distinguishes the classes for all its options."""

        def fit_transform(self, X, y=None):
            self.signs_ = np.where(X.sizes > 8, 1.0, -1.0)
            return np.outer(self.signs_, self.signs_)

        def transform(self, X):
            return np.outer(np.where(X.sizes > 8, 1.0, -1.0), self.signs_)

    for values in ([3, 1], [1, 3]):
        result = evaluate(Same(), graphs, y, BEST, options={"n_iter": values})
        assert result.mean == 1.0
        chosen = [options for row in result.chosen for options in row]
        assert all(options["n_iter"] == values[0] for options in chosen)
        assert len({options["C"] for options in chosen}) == 1


def test_it_says_optimistic_wherever_it_is_shown():
    graphs, y = labelled_trees()
    result = evaluate("vertex", graphs, y, BEST)
    plain = evaluate("vertex", graphs, y, NESTED)
    assert "optimistic" in repr(result)
    assert "optimistic" in BEST.describe()
    for style in ("text", "markdown"):
        assert table([result, plain], style).count("vertex (optimistic)") == 1
        assert "chosen on the test parts" in table([result, plain], style)
        assert "optimistic" not in table(plain, style)
    assert "optimistic" in str(compare_results(result, plain))
    assert result.to_dict()["optimistic"] is True
    assert Result.from_json(result.to_json()).optimistic
    assert "optimistic" not in repr(plain) + NESTED.describe()


def test_small_classes_need_no_inner_folds():
    graphs, _ = labelled_trees()
    y = np.repeat([0, 1], [44, 4])
    rules = Protocol(folds=4, repeats=1, inner_folds=5, selection="best-of-grid")
    assert evaluate("vertex", graphs, y, rules).scores.shape == (1, 4)


@pytest.mark.parametrize("groups", [None, np.arange(48) // 4])
def test_the_ridge_penalty_is_chosen_in_the_training_part_still(groups):
    _, gram, numbers = points(48)
    rules = Protocol(folds=4, repeats=1, inner_folds=3, C=COSTS, selection="best-of-grid")
    honest = Protocol(folds=4, repeats=1, inner_folds=3, C=COSTS)
    for y in (numbers, classes_of(numbers)):
        kind = "ridge"
        found = evaluate({"k": gram}, None, y, rules, classifier=kind, groups=groups)["k"]
        wanted = evaluate({"k": gram}, None, y, honest, classifier=kind, groups=groups)["k"]
        assert found.chosen == wanted.chosen
        np.testing.assert_allclose(found.scores, wanted.scores)


class TestDraws:
    kernel = RandomGraphEmbedding(4, n_dims=2, random_state=3)
    rules = Protocol(folds=3, repeats=1, inner_folds=2, C=(1.0,))

    def test_each_draw_has_its_own_numbers_and_the_spread_is_told(self):
        graphs, y = labelled_trees(36)
        once = evaluate(self.kernel, graphs, y, self.rules)
        several = evaluate(self.kernel, graphs, y, self.rules, draws=3)
        assert several.n_draws == 3
        np.testing.assert_array_equal(several.by_draw[0].scores, once.scores)
        means = [draw.mean for draw in several.by_draw]
        assert several.mean == pytest.approx(np.mean(means))
        assert several.std_draws == pytest.approx(np.std(means, ddof=1))
        decisions = [draw.decisions for draw in several.by_draw]
        assert not np.allclose(decisions[0], decisions[1])
        assert not np.allclose(decisions[1], decisions[2])
        assert several.score("roc_auc") == pytest.approx(
            np.mean([draw.score("roc_auc") for draw in several.by_draw])
        )
        assert "(draws ±" in table(several)
        again = Result.from_json(several.to_json())
        assert again.std_draws == several.std_draws
        assert once.std_draws == 0.0

    def test_a_kernel_without_random_numbers_is_run_once(self):
        graphs, y = labelled_trees(36)
        result = evaluate("vertex", graphs, y, self.rules, draws=4)
        assert (result.n_draws, result.std_draws) == (1, 0.0)
        with pytest.raises(ValueError, match="draws must be at least 1"):
            evaluate("vertex", graphs, y, self.rules, draws=0)

    def test_best_of_grid_chooses_by_the_mean_over_draws(self):
        graphs, y = labelled_trees(36)
        rules = Protocol(folds=3, repeats=1, C=(0.1, 1.0), selection="best-of-grid")
        options = {"gamma": [0.1, 1.0, 10.0]}
        several = evaluate(self.kernel, graphs, y, rules, draws=2, options=options)
        grid = {}
        for gamma in options["gamma"]:
            for cost in rules.C:
                one = Protocol(folds=3, repeats=1, C=(cost,), selection="best-of-grid")
                kernel = self.kernel.__class__(4, n_dims=2, random_state=3, gamma=gamma)
                found = evaluate(kernel, graphs, y, one, draws=2)
                grid[gamma, cost] = (found.mean, found.std_draws)
        best = max(grid, key=lambda key: grid[key][0])
        chosen = {
            (options["gamma"], options["C"])
            for draw in several.by_draw
            for row in draw.chosen
            for options in row
        }
        assert chosen == {best}
        assert (several.mean, several.std_draws) == pytest.approx(grid[best])
