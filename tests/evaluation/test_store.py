"""Finished work is stored: the same call finds it again, and no other call does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer

from gramlet import Protocol, RandomGraphEmbedding, WeisfeilerLehman, evaluate
from gramlet.evaluation.machines import SupportVectorClassifier
from gramlet.evaluation.store import Records, Store
from gramlet.graphs.fingerprint import digest_of
from reference.evaluation import trees

QUICK = Protocol(folds=3, repeats=2, inner_folds=2, C=(0.1, 10.0))
OPTIONS = {"n_iter": [0, 1, 2]}


@pytest.fixture
def data():
    graphs = trees(36)
    return graphs, np.arange(36) % 2


def count(monkeypatch, fail_at=None):
    """Count the fitted machines; raise an interruption at a given one."""
    calls = []
    for name in ("predict_grid", "predict"):
        original = getattr(SupportVectorClassifier, name)

        def counted(self, *args, original=original):
            calls.append(1)
            if len(calls) == fail_at:
                raise KeyboardInterrupt
            return original(self, *args)

        monkeypatch.setattr(SupportVectorClassifier, name, counted)
    return calls


def same(a, b):
    np.testing.assert_array_equal(a.scores, b.scores)
    np.testing.assert_array_equal(a.predictions, b.predictions)
    assert a.chosen == b.chosen
    assert [hint.kind for hint in a.hints] == [hint.kind for hint in b.hints]


def test_a_stored_result_has_the_order_of_the_computed_one(data, tmp_path):
    options = {"normalize": [True], "n_iter": [0, 1]}
    first = evaluate(WeisfeilerLehman(), *data, QUICK, options=options, store=tmp_path)
    again = evaluate(WeisfeilerLehman(), *data, QUICK, options=options, store=tmp_path)
    assert list(again.most_chosen()) == list(first.most_chosen()) == ["normalize", "n_iter", "C"]
    assert json.dumps(again.to_dict()) == json.dumps(first.to_dict())


@pytest.mark.parametrize("scoring", ["accuracy", "roc_auc"])
def test_decision_values_of_a_grid_are_stored_where_they_are_scored(
    data, tmp_path, monkeypatch, scoring
):
    rules = replace(QUICK, selection="best-of-grid")
    grids = []
    add = Records.add
    monkeypatch.setattr(
        Records, "add", lambda self, *record: grids.append(record) or add(self, *record)
    )
    result = evaluate("wl", *data, rules, options=OPTIONS, scoring=scoring, store=tmp_path)
    decisions = [record["tests"]["decisions"] for name, record in grids if "grid" in name]
    assert {values is None for values in decisions} >= {scoring == "accuracy"}
    assert result.decisions is not None


def test_the_same_call_finds_its_result(data, tmp_path, monkeypatch):
    plain = evaluate("wl", *data, QUICK, options=OPTIONS)
    first = evaluate("wl", *data, QUICK, options=OPTIONS, store=tmp_path)
    same(first, plain)
    calls = count(monkeypatch)
    again = evaluate("wl", *data, QUICK, options=OPTIONS, store=tmp_path, n_jobs=2, name="mine")
    same(again, plain)
    assert again.name == "mine"
    assert not calls
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("selection", ["nested", "best-of-grid"])
@pytest.mark.parametrize("stop", [1, 7, 14, 17])
def test_an_interrupted_call_goes_on_where_it_was(data, tmp_path, monkeypatch, stop, selection):
    rules = Protocol(folds=3, repeats=2, inner_folds=2, C=(0.1, 10.0), selection=selection)
    with monkeypatch.context() as patch:
        total = count(patch)
        plain = evaluate("wl", *data, rules, options=OPTIONS)
    with monkeypatch.context() as patch:
        count(patch, fail_at=stop)
        with pytest.raises(KeyboardInterrupt):
            evaluate("wl", *data, rules, options=OPTIONS, store=tmp_path)
    calls = count(monkeypatch)
    same(evaluate("wl", *data, rules, options=OPTIONS, store=tmp_path), plain)
    # With nested folds, the inner folds of the interrupted split are repeated.
    again = 1 if selection == "nested" else 0
    assert len(calls) <= len(total) - (stop - 1) + again
    assert len(list(tmp_path.iterdir())) == 1


def test_other_calls_do_not_find_it(data, tmp_path, monkeypatch):
    graphs, y = data
    evaluate("wl", graphs, y, QUICK, options=OPTIONS, store=tmp_path)
    others = [
        lambda: evaluate("wl-oa", graphs, y, QUICK, options=OPTIONS, store=tmp_path),
        lambda: evaluate("wl", graphs, y, QUICK, options={"n_iter": [1]}, store=tmp_path),
        lambda: evaluate("wl", graphs, 1 - y, QUICK, options=OPTIONS, store=tmp_path),
        lambda: evaluate("wl", graphs[::-1], y, QUICK, options=OPTIONS, store=tmp_path),
        lambda: evaluate("wl", graphs, y, QUICK, options=OPTIONS, store=tmp_path, scoring="f1"),
        lambda: evaluate(
            "wl",
            graphs,
            y,
            Protocol(folds=3, repeats=2, inner_folds=2),
            options=OPTIONS,
            store=tmp_path,
        ),
        lambda: evaluate("wl", graphs, y, QUICK, options=OPTIONS, store=tmp_path, normalize=False),
        lambda: evaluate(
            "wl", graphs, y, QUICK, options=OPTIONS, store=tmp_path, class_weight="balanced"
        ),
        lambda: evaluate(
            "wl", graphs, y, QUICK, options=OPTIONS, store=tmp_path, groups=np.arange(36) // 2
        ),
    ]
    for call in others:
        calls = count(monkeypatch)
        call()
        assert calls
    monkeypatch.setattr("gramlet.evaluation.run.__version__", "99")
    calls = count(monkeypatch)
    evaluate("wl", graphs, y, QUICK, options=OPTIONS, store=tmp_path)
    assert calls


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda text: text[: len(text) // 2], "not valid JSON"),
        (lambda text: "[" * 100_000, "not valid JSON"),
        (lambda text: "{}", "not marked"),
        (lambda text: text.replace('"wl"', '"ml"'), "checksum"),
        (lambda text: json.dumps({**json.loads(text), "key": "other"}), "another evaluation"),
    ],
)
def test_damaged_work_is_reported_and_done_again(data, tmp_path, damage, why):
    first = evaluate("wl", *data, QUICK, options=OPTIONS, store=tmp_path)
    (place,) = tmp_path.iterdir()
    whole = place.read_text()
    place.write_text(damage(whole))
    with pytest.warns(UserWarning, match=f"{why}.*computed again"):
        again = evaluate("wl", *data, QUICK, options=OPTIONS, store=tmp_path)
    same(again, first)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(evaluate("wl", *data, QUICK, options=OPTIONS, store=tmp_path), first)


def test_records_are_written_at_once_and_damaged_ones_are_reported(tmp_path):
    first, second = Store(tmp_path).records("key"), Store(tmp_path).records("key")
    for number in range(3):
        first.add(f"scores {number}", [0.5, None])
    second.add("test 0", {"values": [[1, 2]]})
    again = Store(tmp_path).records("key")
    assert [again.get(f"scores {number}") for number in range(4)] == [[0.5, None]] * 3 + [None]
    assert again.get("test 0") == {"values": [[1, 2]]}
    assert Store(tmp_path).records("key", 1).get("test 0") is None
    path = first._path
    lines = path.read_bytes().split(b"\n")
    # The last line of a killed process is incomplete; any other that does not fit is damage.
    path.write_bytes(b"\n".join([lines[0], lines[1], lines[2][:-9]]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Store(tmp_path).records("key").get("scores 2") is None
    path.write_bytes(b"\n".join([lines[0].replace(b"0.5", b"0.6"), lines[1], b"\xff\xfe", b""]))
    with pytest.warns(
        UserWarning, match="checksums of 2 of 3 records do not match.*computed again"
    ):
        damaged = Store(tmp_path).records("key")
    assert [damaged.get(f"scores {number}") for number in range(3)] == [None, [0.5, None], None]
    Store(tmp_path).write("key", {"finished": True})
    assert [path.name for path in tmp_path.iterdir()] == ["key.json"]


def test_places_that_are_no_folders(data, tmp_path):
    place = tmp_path / "results.json"
    place.write_text("mine")
    with pytest.raises(ValueError, match=r"results.json' is a file; give a folder"):
        evaluate("wl", *data, QUICK, store=place)
    assert place.read_text() == "mine"
    evaluate("vertex", *data, QUICK, store=tmp_path / "a" / "b")
    assert len(list((tmp_path / "a" / "b").iterdir())) == 1


def test_what_cannot_be_written_down_is_refused(data, tmp_path):
    class Sizes:
        def __call__(self, graphs):
            return graphs.sizes[:, None]

    kernel = FunctionTransformer(Sizes())
    with pytest.raises(TypeError, match=r"cannot be written down.*Leave store= out"):
        evaluate(kernel, *data, QUICK, store=tmp_path)


def test_what_refers_to_itself_is_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(TypeError, match="cannot be written down"):
        digest_of(endless)


def powers(graphs, exponent):
    return (graphs.sizes[:, None] - 5.0) ** exponent


def test_functions_are_known_by_name_and_arguments(data, tmp_path):
    def scores(exponent):
        kernel = FunctionTransformer(partial(powers, exponent=exponent))
        return evaluate(kernel, *data, QUICK, store=tmp_path)

    first, again, other = scores(1), scores(1), scores(2)
    same(again, first)
    assert len(list(tmp_path.iterdir())) == 2
    assert not np.array_equal(other.decisions, first.decisions)


def test_functions_without_a_name_cannot_be_stored(data, tmp_path):
    kernel = FunctionTransformer(lambda graphs: graphs.sizes[:, None])
    with pytest.raises(TypeError, match=r"<lambda>' is a function without a name.*store= or out"):
        evaluate(kernel, *data, QUICK, store=tmp_path)
    evaluate(kernel, *data, QUICK)  # nothing is stored


def test_draws_and_estimators_are_kept(data, tmp_path):
    kernel = RandomGraphEmbedding(4, n_dims=2, random_state=0)
    first = evaluate(kernel, *data, QUICK, draws=2, store=tmp_path)
    again = evaluate(kernel, *data, QUICK, draws=2, store=tmp_path)
    same(again, first)
    assert again.std_draws == first.std_draws
    other = evaluate(kernel.set_params(random_state=1), *data, QUICK, draws=2, store=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2
    assert not np.array_equal(other.decisions, first.decisions)


def test_baselines_are_kept_apart(data, tmp_path):
    for name in ("majority", "size"):
        first = evaluate(name, *data, QUICK, store=tmp_path)
        same(evaluate(name, *data, QUICK, store=tmp_path), first)
    assert len(list(tmp_path.iterdir())) == 2


def test_ready_matrices_are_kept(data, tmp_path, monkeypatch):
    gram = WeisfeilerLehman().fit_transform(data[0])
    first = evaluate({"a": gram}, None, data[1], QUICK, store=tmp_path)
    calls = count(monkeypatch)
    same(evaluate({"a": gram}, None, data[1], QUICK, store=tmp_path)["a"], first["a"])
    assert not calls
    evaluate({"a": 2 * gram}, None, data[1], QUICK, store=tmp_path)
    assert calls


SCRIPT = """
import sys
from gramlet import Protocol, evaluate, load_dataset
mutag = load_dataset("MUTAG")
rules = Protocol(folds=5, repeats=6, inner_folds=4)
result = evaluate("wl", mutag, protocol=rules, options={"n_iter": [1, 2, 3, 4]}, store=sys.argv[1])
print(result.scores.tolist())
"""


def run(folder):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", SCRIPT, str(folder)]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.exhaustive
def test_killed_processes_and_two_at_once(tmp_path):
    killed = run(tmp_path)
    deadline = time.monotonic() + 120
    while not list(tmp_path.glob("*.records")) and time.monotonic() < deadline:
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    both = [run(tmp_path), run(tmp_path)]
    outputs = [process.communicate(timeout=300) for process in both]
    assert all(process.returncode == 0 for process in both), outputs
    assert outputs[0][0] == outputs[1][0]
    third = run(tmp_path).communicate(timeout=300)
    assert third[0] == outputs[0][0]
    assert "computed again" not in "".join(error for _, error in [*outputs, third])


def test_a_fresh_store_throws_away_what_was_kept(data, tmp_path, monkeypatch):
    first = evaluate("wl", *data, QUICK, options=OPTIONS, store=tmp_path)
    calls = count(monkeypatch)
    fresh = Store(tmp_path, fresh=True)
    second = evaluate("wl", *data, QUICK, options=OPTIONS, store=fresh)
    done = len(calls)
    assert done > 0
    np.testing.assert_array_equal(second.scores, first.scores)
    evaluate("wl", *data, QUICK, options=OPTIONS, store=fresh)  # finds what it has stored itself
    assert len(calls) == done
    assert len(os.listdir(tmp_path)) == 1


def test_a_fresh_run_that_is_stopped_does_not_give_the_old_result(data, tmp_path, monkeypatch):
    evaluate("wl", *data, QUICK, options=OPTIONS, store=tmp_path)
    with monkeypatch.context() as patch:
        count(patch, fail_at=8)
        with pytest.raises(KeyboardInterrupt):
            evaluate("wl", *data, QUICK, options=OPTIONS, store=Store(tmp_path, fresh=True))
    calls = count(monkeypatch)
    evaluate("wl", *data, QUICK, options=OPTIONS, store=tmp_path)
    assert calls
