"""Hints about a result that its scores alone do not show, as data.

Options at the edge of their grid, kernels not better than a baseline, test parts that were pooled,
graphs that are in training and test parts at once, columns of the data that the kernel does not
use. Tables print them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import ref

import numpy as np

from gramlet.common.arrays import Bools, Floats, Ints
from gramlet.common.notices import counted
from gramlet.evaluation.candidates import Candidate
from gramlet.evaluation.grid_search import Data
from gramlet.evaluation.protocol import Protocol
from gramlet.evaluation.scorers import plain_score
from gramlet.evaluation.splits import Split
from gramlet.evaluation.task import Target
from gramlet.graphs.batch import GraphBatch
from gramlet.kernels.contract.tags import graph_tags, joined_uses

BASELINE_WORDS = {
    "size": "the numbers of nodes and edges alone",
    "majority": "the most frequent class",
    "mean": "the mean",
}

_MOSTLY = 0.5
_LEVEL = 0.05
_NOTABLE = 0.02  # share of test graphs with an isomorphic training graph
_LAST: list[tuple[ref[GraphBatch], Ints]] = []


@dataclass(frozen=True)
class Hint:
    """Something to know before a score is trusted.

    Attributes
    ----------
    kind : str
        "edge-of-grid", "baseline", "pooled", "duplicates", "unused-column", "no-labels" or
        "few-groups".
    text : str
        One sentence or two.
    facts : dict
        The numbers in it.
    """

    kind: str
    text: str
    facts: dict[str, Any] = field(default_factory=dict)


def edge_of_grid_hints(
    tried: Mapping[str, Sequence[Any]],
    chosen: Sequence[Mapping[str, Any]],
    on_test_parts: Container[str] = (),
) -> list[Hint]:
    """Options whose smallest or largest value was chosen in most parts.

    ``on_test_parts``: the options of which one value was chosen for all parts, on the test parts.
    """
    hints = []
    for name, values in tried.items():
        numbers = [v for v in values if isinstance(v, int | float) and not isinstance(v, bool)]
        if len(numbers) < 3 or len(numbers) < len(values):
            continue
        count = Counter(options.get(name) for options in chosen)
        for which, edge in (("smallest", min(numbers)), ("largest", max(numbers))):
            share = count[edge] / max(1, len(chosen))
            if share <= _MOSTLY or (which == "smallest" and isinstance(edge, int) and edge <= 1):
                continue
            beyond = "Smaller" if which == "smallest" else "Larger"
            where = f"in {100 * share:.0f} % of the training parts"
            if name in on_test_parts:
                where = "on the test parts"
            text = (
                f"{name}: the {which} value tried, {edge:g}, was chosen {where}. {beyond} values "
                f"may do better{_values_beyond(name, sorted(numbers), which)}."
            )
            facts = {"option": name, "value": edge, "edge": which, "share": share}
            hints.append(Hint("edge-of-grid", text, facts))
    return hints


def _values_beyond(name: str, numbers: Sequence[float], which: str) -> str:
    """What to give on the command line to try the edge and two values beyond it."""
    before, last, edge = numbers[-3:] if which == "largest" else numbers[2::-1]
    geometric = before * last > 0 and math.isclose(last / before, edge / last)
    values = [edge]
    for _ in range(2):
        values.append(values[-1] * edge / last if geometric else values[-1] + edge - last)
    if min(values) <= 0 < edge:
        return ""
    shown = [f"{value:g}" for value in values]
    if name == "C":
        return f": {' '.join(f'--C {value}' for value in shown)}"
    return f": --param {name}={','.join(shown)}"


def baseline_hints(
    name: str,
    scores: Floats,
    baselines: Mapping[str, Floats],
    pooled: Bools,
    overlap: float,
    scoring: str = "accuracy",
) -> list[Hint]:
    """Baselines that the kernel is not significantly better than.

    Without a test, because there is one score per repeat, those that it is not better than.

    Parameters
    ----------
    name : str
    scores : array, shape (repeats, folds)
    baselines : mapping
        Scores on the same test parts.
    pooled : array of bool, shape (repeats, folds)
        The test parts that were scored together.
    overlap : float
        n_test / n_train of a test part, for the corrected resampled t-test.
    scoring : str
        Errors are shown as positive numbers.
    """
    from gramlet.evaluation.significance import corrected_t, independent_runs, overlap_of_runs

    overlap = overlap_of_runs(overlap, pooled)
    hints = []
    for baseline, theirs in baselines.items():
        difference = float(scores.mean() - theirs.mean())
        runs = independent_runs(scores - theirs, pooled)
        statistic, p_value = corrected_t(runs, overlap)
        untested = runs.size < 2 or math.isinf(overlap)
        if difference > 0 and (untested or (statistic > 0 and p_value <= _LEVEL)):
            continue
        how = "not better" if difference <= 0 else "not significantly better"
        what = BASELINE_WORDS.get(baseline, baseline)
        mine, other = (plain_score(float(s.mean()), scoring) for s in (scores, theirs))
        text = f"{name} is {how} than {what} ({mine:.3f} against {other:.3f})."
        facts = {"baseline": baseline, "difference": difference, "p_value": p_value}
        hints.append(Hint("baseline", text, facts))
    return hints


def pooled_hints(pooled: Bools, task: str) -> list[Hint]:
    """That test parts were scored together, and what that means for tests of significance.

    ``pooled`` says it of each part, shape (repeats, folds).
    """
    from gramlet.evaluation.significance import independent_runs

    n_pooled = int(pooled.sum())
    if not n_pooled:
        return []
    n_runs = independent_runs(np.zeros(pooled.shape), pooled).size
    tested = n_runs > len(pooled)
    why = "fewer than two graphs" + " or one class" * (task == "classification")
    so = "they count as one per repeat in tests" if tested else "there is no test"
    text = (
        f"The scores of {n_pooled} of {pooled.size} test parts were pooled, because some parts "
        f"have {why}. They are not independent: {so} of significance."
    )
    return [Hint("pooled", text, {"parts": pooled.size, "pooled": n_pooled, "runs": n_runs})]


def isomorphism_classes(graphs: GraphBatch) -> Ints:
    """One number per graph, the same for isomorphic graphs and different for all others.

    Node labels, edge labels and directions are compared; attributes and weights are not. The
    numbers of the last batch are cached, because kernels are evaluated one by one.
    """
    from gramlet.combine.duplicates import find_duplicates

    for known, numbers in _LAST[-1:]:
        if known() is graphs:
            return numbers
    numbers = np.arange(len(graphs), dtype=np.int64)
    for group in find_duplicates(graphs):
        numbers[group] = group[0]
    numbers = np.unique(numbers, return_inverse=True)[1].reshape(-1)
    _LAST[:] = [(ref(graphs), numbers)]
    return numbers


def duplicate_hints(
    numbers: Ints, target: Target, splits: Sequence[Split], unlike: Sequence[str] = ()
) -> list[Hint]:
    """Graphs that are isomorphic to one in their training part, or to one of another class.

    Also gives the accuracy that the former could explain: the share of all test graphs that the
    most frequent class among their twins in the training part predicts correctly.

    Parameters
    ----------
    numbers : array of int64
        The same for isomorphic graphs.
    target : Target
    splits : sequence of Split
    unlike : sequence of str
        Columns that the graphs have and that were not compared.
    """
    values = target.values
    sizes = np.bincount(numbers)
    repeated = np.flatnonzero(sizes > 1)
    conflicts = sum(len(np.unique(values[numbers == number])) > 1 for number in repeated)
    tested = seen = explained = 0
    for split in splits:
        seen_here, right_here = _seen_in_training(numbers, target, split)
        tested += len(split.test)
        seen += seen_here
        explained += right_here
    share = seen / max(1, tested)
    if share < _NOTABLE and not conflicts:
        return []
    facts = {
        "graphs": int(sizes[repeated].sum()),
        "groups": len(repeated),
        "conflicting_groups": conflicts,
        "share_of_test_graphs": share,
        "exact": True,
    }
    but = f" except for their {' and '.join(unlike)}" if unlike else ""
    text = (
        f"{facts['graphs']} of {len(numbers)} graphs are isomorphic to another one{but} "
        f"({counted(len(repeated), 'group')}, {conflicts} with different targets); "
        f"{100 * share:.0f} % of the test graphs have such a twin in their training part."
    )
    if target.task == "classification":
        facts["explained_accuracy"] = explained / max(1, tested)
        text += (
            f" Predicting from twins alone is right for {100 * facts['explained_accuracy']:.0f} % "
            "of all test graphs."
        )
    return [Hint("duplicates", text, facts)]


def _seen_in_training(numbers: Ints, target: Target, split: Split) -> tuple[int, int]:
    """Test graphs with a twin in the training part, and those whose class the twin predicts."""
    mine, theirs = numbers[split.test], numbers[split.train]
    seen = np.isin(mine, theirs)
    if target.task != "classification":
        return int(seen.sum()), 0
    votes = np.zeros((int(numbers.max()) + 1, target.n_classes), dtype=np.int64)
    np.add.at(votes, (theirs, target.values[split.train]), 1)
    right = votes[mine].argmax(axis=1) == target.values[split.test]
    return int(seen.sum()), int((seen & right).sum())


def group_hints(target: Target, groups: Ints | None, protocol: Protocol) -> list[Hint]:
    """The class in the fewest groups, if these are fewer than the folds."""
    if groups is None or target.task == "regression" or protocol.test_size is not None:
        return []
    pairs = np.unique(np.column_stack([target.values, groups]), axis=0)
    n_groups = np.bincount(pairs[:, 0], minlength=target.n_classes)
    rarest, folds = int(np.argmin(n_groups)), protocol.folds
    count = int(n_groups[rarest])
    if count >= folds:
        return []
    shown = target.shown_classes[rarest].item()
    text = (
        f"Class {shown!r} is in {counted(count, 'group')}, fewer than the {folds} folds: in each "
        f"repeat at least {folds - count} of {folds} test parts contain no graph of it."
    )
    return [Hint("few-groups", text, {"class": shown, "groups": count})]


def data_hints(
    candidates: Sequence[Candidate], data: Data, splits: Sequence[Split], protocol: Protocol
) -> tuple[Hint, ...]:
    """What to know about the graphs and their groups."""
    few = group_hints(data.target, data.groups, protocol)
    if data.graphs is None:
        return tuple(few)
    graphs = data.graphs
    estimators = [c.estimator for c in candidates if c.kind not in ("baseline", "ready")]
    columns = column_hints(candidates[0].name, estimators, graphs)
    names = ("node_attributes", "edge_attributes", "edge_weights")
    unlike = [name.replace("_", " ") for name in names if getattr(graphs, name) is not None]
    numbers = isomorphism_classes(graphs)
    return (*columns, *duplicate_hints(numbers, data.target, splits, unlike), *few)


def column_hints(name: str, estimators: Sequence[Any], graphs: GraphBatch) -> list[Hint]:
    """Columns that the graphs have and a kernel ignores; and graphs without any labels.

    Parameters
    ----------
    name : str
        The kernel's name.
    estimators : sequence of estimators
        The kernel with each set of options; a column counts as used if one of them uses it.
    graphs : GraphBatch
    """
    hints = []
    if graphs.node_labels is None:
        text = (
            "The graphs have no node labels: all nodes get the same label. "
            "as_batch(graphs, node_labels='degree') labels nodes by their degrees, as "
            "--node-labels degree does."
        )
        hints.append(Hint("no-labels", text))
    uses = joined_uses(*(_uses(estimator) for estimator in estimators))
    if not estimators or uses is None:
        return hints
    if "molecules" in uses:  # which labels were made of
        uses += ("node_labels", "edge_labels")
    for column in _COLUMNS:
        if column in uses or not _tells_apart(graphs, column):
            continue
        shown = column.replace("_", " ")
        text = f"The graphs have {shown}, which {name} does not use."
        switch = _SWITCHES.get(column, "")
        if estimators[0].get_params().get(switch) is False:
            text += f" {switch}=True (--param {switch}=true) makes it use them."
        else:
            text += users_of(column)
        hints.append(Hint("unused-column", text, {"column": column}))
    return hints


def users_of(column: str) -> str:
    """Which kernels use a column, and how to ask for them."""
    names = _USERS.get(column)
    if not names:
        return ""
    options = " ".join(f"--kernel {name}" for name in names)
    return f" {' and '.join(names)} {'do' if len(names) > 1 else 'does'}: {options}."


_COLUMNS = ("node_labels", "edge_labels", "edge_weights", "node_attributes", "edge_attributes")
# Well-known kernels that use a column.
_USERS = {
    "node_labels": ("wl-oa", "sp"),
    "edge_labels": ("wl-oa", "nspdk"),
    "edge_weights": ("flg",),
    "node_attributes": ("graph-hopper", "wwl-attr"),
}
# Parameters that make a kernel use a column.
_SWITCHES = {
    "node_labels": "use_labels",
    "edge_labels": "use_edge_labels",
    "edge_weights": "weighted",
    "node_attributes": "use_attributes",
}


def _tells_apart(graphs: GraphBatch, column: str) -> bool:
    """Whether the graphs have the column, with more than one label or weight."""
    values = getattr(graphs, column)
    if values is None:
        return False
    if column == "edge_weights":
        return len(values) > 0 and bool((values != values[0]).any())
    if column in ("node_labels", "edge_labels"):
        return len(values.used()) > 1
    return True


def _uses(estimator: Any) -> tuple[str, ...] | None:
    """The columns that an estimator, or the estimators it consists of, use; None if unknown."""
    if hasattr(estimator, "__graph_tags__"):
        return graph_tags(estimator).uses
    parts = [part for part in estimator.get_params().values() if hasattr(part, "transform")]
    if not parts or not all(hasattr(part, "__graph_tags__") for part in parts):
        return None
    return joined_uses(*(graph_tags(part).uses for part in parts))
