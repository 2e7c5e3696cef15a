"""Options chosen on a held-out part, and several final fits with different seeds."""

from __future__ import annotations

import numpy as np
import pytest

from gramlet import Protocol, RandomGraphEmbedding, evaluate, load_dataset
from gramlet.evaluation.store import Store


@pytest.fixture(scope="module")
def mutag():
    return load_dataset("MUTAG")


def splits_of(protocol, mutag):
    codes = (mutag.target == 1).astype(np.int64)
    return protocol.splits(codes, np.array([-1, 1]))


def test_one_stratified_tenth_of_each_training_part_is_held_out(mutag):
    splits = splits_of(Protocol.errica(), mutag)
    assert len(splits) == 10
    share = np.mean(mutag.target == 1)
    for split in splits:
        ((fitted, held),) = split.inner
        assert len(held) == int(np.ceil(0.1 * len(split.train)))
        assert sorted([*fitted, *held]) == split.train.tolist()
        assert not set(held) & set(split.test)
        assert abs(np.mean(mutag.target[held] == 1) - share) < 0.06
    folds = splits_of(Protocol(repeats=1), mutag)
    assert all(np.array_equal(a.test, b.test) for a, b in zip(splits, folds, strict=True))


def test_the_choice_is_that_of_the_held_out_part(mutag):
    protocol = Protocol.errica(folds=3, inner_size=0.2, C=(1.0,))
    options = {"n_iter": [0, 3]}
    result = evaluate("wl", mutag, protocol=protocol, options=options, baselines=False)
    splits = splits_of(protocol, mutag)
    for split, chosen in zip(splits, result.chosen[0], strict=True):
        ((fitted, held),) = split.inner
        scores = []
        for n_iter in options["n_iter"]:
            from sklearn.svm import SVC

            import gramlet

            kernel = gramlet.WeisfeilerLehman(n_iter, normalize=True)
            gram = kernel.fit_transform(mutag.graphs)
            machine = SVC(kernel="precomputed", C=1.0)
            machine.fit(gram[np.ix_(fitted, fitted)], mutag.target[fitted])
            scores.append(machine.score(gram[np.ix_(held, fitted)], mutag.target[held]))
        assert chosen["n_iter"] == options["n_iter"][int(np.argmax(scores))]


def test_final_fits_differ_in_their_seed_and_share_their_options(mutag, tmp_path):
    protocol = Protocol.errica(folds=3, C=(1.0, 100.0))
    embedding = RandomGraphEmbedding(8, random_state=0)
    arguments = {"options": {"gamma": [0.1, 10.0]}, "baselines": False}
    result = evaluate(embedding, mutag, protocol=protocol, store=tmp_path, **arguments)
    assert result.n_draws == 3
    assert len({draw.scores.tobytes() for draw in result.by_draw}) > 1
    for draw in result.by_draw:
        assert draw.chosen == result.chosen
    once = evaluate(
        embedding,
        mutag,
        protocol=Protocol.errica(folds=3, retrainings=1, C=(1.0, 100.0)),
        **arguments,
    )
    np.testing.assert_array_equal(once.scores, result.by_draw[0].scores)
    again = evaluate(embedding, mutag, protocol=protocol, store=Store(tmp_path), **arguments)
    np.testing.assert_array_equal(again.scores, result.scores)


def test_protocols_to_dict_and_back():
    protocol = Protocol.errica(repeats=2)
    assert Protocol.from_dict(protocol.to_dict()) == protocol
    assert (protocol.folds, protocol.inner_size, protocol.retrainings) == (10, 0.1, 3)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"inner_size": 1.5}, "'inner_size' parameter of Protocol"),
        ({"retrainings": 0}, "'retrainings' parameter of Protocol"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        Protocol(**params)


def test_a_share_too_small_for_the_classes(mutag):
    with pytest.raises(ValueError, match="holds out 1 graph of a training part of"):
        evaluate("vertex", mutag, protocol=Protocol(folds=2, inner_size=0.005), baselines=False)
