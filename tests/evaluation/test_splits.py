"""Groups are never split, in inner folds either; folds of a regression are plain."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from gramlet import Protocol, evaluate
from gramlet.evaluation.splits import groups_of, make_splits
from gramlet.files.dataset import Dataset
from reference.evaluation import trees

QUICK = Protocol(folds=4, repeats=2, inner_folds=3)


@pytest.mark.parametrize("protocol", [QUICK, Protocol.holdout(0.25, repeats=3, inner_folds=3)])
@pytest.mark.parametrize("of_classes", [True, False])
def test_groups_are_never_apart(protocol, of_classes):
    rng = np.random.default_rng(0)
    groups = rng.integers(25, size=120)
    values = rng.integers(2, size=120) if of_classes else rng.normal(size=120)
    classes = np.arange(2) if of_classes else np.zeros(0)
    splits = make_splits(protocol, values, classes, groups)
    assert len(splits) == protocol.n_runs
    for split in splits:
        assert sorted([*split.train, *split.test]) == list(range(120))
        assert not set(groups[split.train]) & set(groups[split.test])
        assert len(split.inner) == 3
        for fitted, held in split.inner:
            assert sorted([*fitted, *held]) == split.train.tolist()
            assert not set(groups[fitted]) & set(groups[held])
    first = [split.test.tolist() for split in splits]
    assert len({tuple(test) for test in first}) == len(first)


def test_folds_of_a_regression_are_plain_and_shuffled():
    from sklearn.model_selection import KFold

    y = np.linspace(0, 1, 23)
    splits = make_splits(QUICK, y, np.zeros(0), None)
    for repeat in range(2):
        seed = int(np.random.SeedSequence((0, repeat)).generate_state(1)[0])
        folds = KFold(4, shuffle=True, random_state=seed).split(y)
        for (train, test), split in zip(folds, splits[4 * repeat :], strict=False):
            assert split.train.tolist() == train.tolist()
            assert split.test.tolist() == test.tolist()


def test_groups_come_from_the_call_or_the_protocol():
    graphs = trees(36)
    y = np.arange(36) % 2
    groups = np.arange(36) // 3
    one = evaluate("vertex", graphs, y, QUICK, groups=groups)
    words = [f"group {k}" for k in groups]
    two = evaluate("vertex", graphs, y, Protocol(4, 2, 3), groups=words)
    assert one.data.splits == two.data.splits
    np.testing.assert_array_equal(one.scores, two.scores)
    assert "groups kept whole" in two.describe_protocol()
    with pytest.raises(ValueError, match=r"'scaffold', 'cluster' or None.*evaluate\(groups=\)"):
        Protocol(groups=words)
    assert Protocol.from_dict(two.protocol.to_dict()) == two.protocol


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.arange(35), r"one value per graph: got shape \(35,\) for 36 graphs"),
        (np.r_[np.nan, np.arange(35.0)], "no value .* at position 0"),
        ("families", "must be 'scaffold', 'cluster' or one value per graph; got 'families'"),
        ("cluster", r"needs gramlet\.cluster_graphs, which this version does not have"),
        ("scaffold", "needs the molecules: give evaluate a Dataset"),
        (np.arange(36) % 3, r"There are 3 groups for 4 folds; .* Use at most 3 folds\."),
        (
            np.arange(36) % 5,
            "5 groups, of which as few as 3 .* fewer than the 4 inner folds. Use at most 3 inner",
        ),
        (np.zeros(36), r"All graphs are in one group\. .* Evaluate without groups=\."),
    ],
)
def test_groups_that_do_not_fit(groups, message):
    rules = Protocol(folds=4, repeats=1, inner_folds=4)
    with pytest.raises(ValueError, match=message):
        evaluate("vertex", trees(36), np.arange(36) % 2, rules, groups=groups)


@pytest.mark.parametrize(
    ("n_graphs", "rules", "message"),
    [
        (1, Protocol(2, 1, 2), r"There is 1 graph for 2 folds\. At least two graphs are needed\."),
        (3, Protocol(4, 1, 2), r"There are 3 graphs for 4 folds\. Use at most 3 folds\."),
        (
            2,
            Protocol(2, 1, 2),
            r"as few as 1 are in .* Use more graphs, or test on fewer at a time",
        ),
        (6, Protocol(3, 1, 5), r"as few as 4 are in .* Use at most 4 inner folds"),
    ],
)
def test_advice_for_few_graphs_can_be_followed(n_graphs, rules, message):
    with pytest.raises(ValueError, match=message):
        rules.splits(np.linspace(0, 0.5, n_graphs), np.zeros(0), None)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([20, 30], r"Class 0 has 20 graphs \(and 1 more .*\. Use at most 20 folds\.$"),
        ([20, 60], r"Class 0 has 20 graphs, fewer .*\. Use at most 20 folds\.$"),
        ([20, 60, 60], r"Use at most 20 folds, or leave that class out with min_class_size=50\.$"),
        (
            [20, 9, 12, 60, 60],
            r"Class 1 has 9 graphs \(and 2 more classes are too small\), fewer than the 50 folds\. "
            r"Use at most 9 folds, or leave those 3 classes out with min_class_size=50\.$",
        ),
        ([1, 1], r"Add graphs of those classes\.$"),
    ],
)
def test_classes_are_left_out_only_if_two_remain(members, message):
    codes = np.repeat(np.arange(len(members)), members)
    with pytest.raises(ValueError, match=message):
        Protocol(folds=50).splits(codes, np.arange(len(members)))


def test_advice_for_inner_folds_leaves_two_classes():
    rules = Protocol(folds=4, repeats=1, inner_folds=5)
    with pytest.raises(ValueError, match=r"as few as 4 .* Use at most 4 inner folds\.$"):
        rules.splits(np.repeat([0, 1], [6, 30]), np.arange(2))
    with pytest.raises(ValueError, match=r"4 inner folds, or leave that class .*_size=7\.$"):
        rules.splits(np.repeat([0, 1, 2], [6, 30, 30]), np.arange(3))


def test_classes_in_few_groups_are_named_in_a_hint():
    y = np.array(["rare"] * 3 + ["a", "b"] * 20)
    groups = np.r_[0, 0, 1, np.arange(40) // 2 + 2]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = evaluate("vertex", trees(43), y, QUICK, groups=groups)
    assert [hint.text for hint in result.hints if hint.kind == "few-groups"] == [
        "Class 'rare' is in 2 groups, fewer than the 4 folds: in each repeat at least 2 of 4 test "
        "parts contain no graph of it."
    ]


def test_training_parts_of_one_class_are_refused():
    y = np.repeat([0, 1], [30, 6])
    groups = np.r_[np.arange(30) // 2, np.full(6, 99)]
    with pytest.raises(ValueError, match="are of class 0: the other classes are in few groups"):
        evaluate("vertex", trees(36), y, QUICK, groups=groups)


def test_a_dataset_brings_its_target():
    graphs = trees(36)
    data = Dataset(graphs, np.arange(36) % 2, name="trees")
    result = evaluate("vertex", data, protocol=QUICK)
    assert result.data.name == "trees"
    same = evaluate("vertex", graphs, data.target, QUICK)
    np.testing.assert_array_equal(result.scores, same.scores)
    assert groups_of(None, None, data, 36) is None
    with pytest.raises(ValueError, match="needs the molecules"):
        evaluate("vertex", data, protocol=Protocol(groups="scaffold"))


def test_scaffolds_of_a_dataset_that_keeps_its_molecules():
    pytest.importorskip("rdkit")
    from gramlet import load_dataset, scaffolds

    whole = load_dataset("B3DB-logBB")
    few = np.arange(0, 880, 10)
    smiles = [whole.molecules[i] for i in few]
    data = Dataset(whole.graphs[few], whole.target[few], molecules=smiles)
    by_name = evaluate("vertex", data, protocol=Protocol(3, 1, 2, groups="scaffold"))
    by_hand = evaluate("vertex", data, protocol=Protocol(3, 1, 2), groups=scaffolds(smiles))
    np.testing.assert_array_equal(by_name.folds, by_hand.folds)
    np.testing.assert_array_equal(by_name.predictions, by_hand.predictions)
    for scaffold in set(scaffolds(smiles)):
        mine = [k for k, other in enumerate(scaffolds(smiles)) if other == scaffold]
        assert len(set(by_name.folds[0, mine])) == 1
    assert "scaffolds kept whole" in by_name.protocol.describe()


@pytest.mark.parametrize(
    ("n", "rules", "message"),
    [
        (3, Protocol(folds=4), "There are 3 graphs for 4 folds"),
        (6, Protocol(folds=3, inner_folds=5), "as few as 4 are in a training part"),
    ],
)
def test_too_few_numbers(n, rules, message):
    with pytest.raises(ValueError, match=message):
        evaluate("vertex", trees(n), np.linspace(0, 1, n), rules)
