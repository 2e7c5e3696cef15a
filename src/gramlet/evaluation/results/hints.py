"""Hints about a result that its scores alone do not show, as data.

Options at the edge of their grid, kernels not better than a baseline, graphs that are in training
and test parts at once, columns of the data that the kernel does not use. Tables print them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np

from gramlet.common.arrays import Floats, Ints
from gramlet.common.notices import counted
from gramlet.evaluation.protocols.splits import Split
from gramlet.evaluation.protocols.task import Target
from gramlet.graphs.batch import GraphBatch

if TYPE_CHECKING:
    from gramlet.evaluation.selection.subjects import Subject

__all__ = [
    "BASELINE_WORDS",
    "Hint",
    "baseline_hints",
    "column_hints",
    "duplicate_hints",
    "edge_of_grid_hints",
    "isomorphism_classes",
]

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
        "edge-of-grid", "baseline", "duplicates", "unused-column" or "no-labels".
    text : str
        One sentence or two.
    facts : dict
        The numbers in it.
    """

    kind: str
    text: str
    facts: dict[str, Any] = field(default_factory=dict)


def edge_of_grid_hints(
    tried: Mapping[str, Sequence[Any]], chosen: Sequence[Mapping[str, Any]]
) -> list[Hint]:
    """Options whose smallest or largest value was chosen in most parts."""
    found = []
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
            text = (
                f"{name}: the {which} value tried, {edge:g}, was chosen in {100 * share:.0f} % of "
                f"the training parts. {beyond} values may do better."
            )
            facts = {"option": name, "value": edge, "edge": which, "share": share}
            found.append(Hint("edge-of-grid", text, facts))
    return found


def baseline_hints(
    name: str, scores: Floats, baselines: Mapping[str, Floats], overlap: float
) -> list[Hint]:
    """Baselines that the kernel is not significantly better than.

    ``overlap`` is n_test / n_train, for the corrected resampled t-test.
    """
    from gramlet.evaluation.scores.significance import corrected_t

    found = []
    for baseline, theirs in baselines.items():
        difference = float(scores.mean() - theirs.mean())
        p_value = corrected_t((scores - theirs).ravel(), overlap)[1] if scores.size > 1 else 0.0
        if difference > 0 and p_value <= _LEVEL:
            continue
        how = "not better" if difference <= 0 else "not significantly better"
        what = BASELINE_WORDS.get(baseline, baseline)
        text = f"{name} is {how} than {what} ({scores.mean():.3f} against {theirs.mean():.3f})."
        facts = {"baseline": baseline, "difference": difference, "p_value": p_value}
        found.append(Hint("baseline", text, facts))
    return found


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
    there = np.isin(mine, theirs)
    if target.task != "classification":
        return int(there.sum()), 0
    votes = np.zeros((int(numbers.max()) + 1, target.n_classes), dtype=np.int64)
    np.add.at(votes, (theirs, target.values[split.train]), 1)
    right = votes[mine].argmax(axis=1) == target.values[split.test]
    return int(there.sum()), int((there & right).sum())


def column_hints(subject: Subject, graphs: GraphBatch) -> list[Hint]:
    """Columns that the graphs have and the kernel ignores; and graphs without any labels."""
    found = []
    if graphs.node_labels is None:
        text = (
            "The graphs have no node labels: all nodes get the same label. "
            "as_batch(graphs, node_labels='degree') or --node-labels degree on the command line "
            "labels nodes by their degrees."
        )
        found.append(Hint("no-labels", text))
    for column in ("edge_labels", "node_attributes", "edge_attributes"):
        if getattr(graphs, column, None) is None or _uses(subject, column):
            continue
        shown = column.replace("_", " ")
        text = f"The graphs have {shown}, which {subject.name} does not use."
        found.append(Hint("unused-column", text, {"column": column}))
    return found


_PARAMETERS = {
    "edge_labels": ("use_edge_labels", "edge_kernel"),
    "node_attributes": (
        "use_attributes", "attributes", "vertex_features", "features", "node_kernel",
    ),
    "edge_attributes": ("use_edge_attributes", "edge_kernel"),
}  # fmt: skip


def _uses(subject: Subject, column: str) -> bool:
    """Whether a kernel uses a column; True if that is unknown."""
    if subject.kind in ("baseline", "ready"):
        return True
    estimators = [subject.estimator, *subject.estimator.get_params().values()]
    ours = [e for e in estimators if type(e).__module__.startswith("gramlet.")]
    if not ours or len(ours) < sum(hasattr(e, "transform") for e in estimators):
        return True
    for options in subject.option_sets:
        params = {**subject.estimator.get_params(), **options}
        # Assignments of nodes and means of attributes do not look at edge labels.
        of_nodes = type(subject.estimator).__name__ == "OptimalAssignment"
        blind = params.get("use_attributes") is True or (of_nodes and params["base"] == "vertex")
        if column == "edge_labels" and blind:
            continue
        for path, value in params.items():
            name = path.split("__")[-1]
            if name in _PARAMETERS[column] and _is_on(name, value, column):
                return True
            if name == "base" and _base_uses(value, column):
                return True
    return any(
        column in _needs(e) or (type(e).__name__ == "EdgeHistogram" and column == "edge_labels")
        for e in ours
    )


def _is_on(name: str, value: Any, column: str) -> bool:
    if name == "node_kernel":  # functions get labels
        return value not in ("label", "one") and isinstance(value, str)
    if name == "edge_kernel":
        kind = value if isinstance(value, str) else "label"
        return ("label" if column == "edge_labels" else "gaussian") in kind
    if isinstance(value, str):
        return value in ("auto", "attributes", "both", column)
    return bool(value)


def _base_uses(base: Any, column: str) -> bool:
    """Whether a base that is given by its name uses a column."""
    from gramlet.evaluation.selection.subjects import Subject
    from gramlet.kernels import registry

    if not isinstance(base, str) or base not in {row.name for row in registry.entries()}:
        return False
    return _uses(Subject(base, "once", registry.make(base), [{}]), column)


def _needs(estimator: Any) -> tuple[str, ...]:
    tags = getattr(estimator, "__graph_tags__", None)
    return () if tags is None else tuple(tags().needs)
