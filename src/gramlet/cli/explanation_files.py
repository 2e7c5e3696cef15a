"""The files of ``gramlet explain``: tables of patterns and of graphs, and pictures of both."""

from __future__ import annotations

import csv
import io
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gramlet._version import __version__
from gramlet.cli.errors import WrongUse
from gramlet.cli.output import Inputs, refuse_inputs
from gramlet.common.safe_writing import check_place, writing

if TYPE_CHECKING:
    from gramlet.explain import ModelExplanation

PATTERNS, GRAPHS, PATTERN_PICTURE, GRAPH_PICTURE = (
    "patterns.csv",
    "graphs.csv",
    "patterns.png",
    "graphs.png",
)

_SIGN = "gramlet"  # written into our pictures, to recognise them later
_HEADINGS = {PATTERNS: ("level", "pattern"), GRAPHS: ("graph",)}
_GRAPHS_PER_CLASS = 2
_CLASSES_DRAWN = 4
_PATTERNS_PER_GRAPH = 5


def check_folder(folder: Path, inputs: Inputs) -> None:
    """Refuse a folder that cannot be created, or whose files of these names are not ours."""
    if folder.exists() and not folder.is_dir():
        raise WrongUse(f"--output: {str(folder)!r} is a file; name a folder.")
    if not folder.exists() and not folder.absolute().parent.is_dir():
        raise WrongUse(f"--output: there is no folder {str(folder.parent)!r}.")
    try:
        check_place(folder / PATTERNS if folder.exists() else folder)
    except OSError as why:
        raise WrongUse(f"--output: {why}") from why
    for name in (PATTERNS, GRAPHS, PATTERN_PICTURE, GRAPH_PICTURE):
        place = folder / name
        refuse_inputs(place, inputs)
        if place.exists() and not _is_ours(place):
            raise WrongUse(
                f"--output: {str(place)!r} was not made by 'gramlet explain' and would be lost. "
                "Move it away, or name another folder."
            )


def _is_ours(place: Path) -> bool:
    if not place.is_file():
        return False
    with place.open("rb") as file:
        head = file.read(2000)
    if place.suffix == ".csv":
        return head.startswith(",".join(_HEADINGS[place.name]).encode())
    return head.startswith(b"\x89PNG") and f"{_SIGN} ".encode() in head


def write_explanation(
    folder: Path, found: ModelExplanation, output: int, n: int, level: int | None
) -> list[str]:
    """Write all files, or none; return their names.

    Patterns are drawn for kernels whose patterns are trees or small graphs, graphs coloured where
    patterns are rooted at nodes; an older picture of ours, of another model, is removed.
    """
    contents = {
        PATTERNS: _pattern_table(found, output),
        GRAPHS: _graph_table(found, output),
    }
    if len(found.graphs):
        contents |= _pictures(found, output, n, level)
    made = not folder.exists()
    folder.mkdir(exist_ok=True)
    try:
        with ExitStack() as files:
            for name, content in contents.items():
                files.enter_context(writing(folder / name)).write_bytes(content)
    except BaseException:
        if made:
            folder.rmdir()
        raise
    for name in {PATTERN_PICTURE, GRAPH_PICTURE} - set(contents):
        (folder / name).unlink(missing_ok=True)
    return list(contents)


def _csv(rows: list[list[Any]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8", "surrogateescape")


def _pattern_table(found: ModelExplanation, output: int) -> bytes:
    shares = [f"share of {name}" for name in found.classes]
    rows: list[list[Any]] = [[*_HEADINGS[PATTERNS], found.meaning, "graphs", *shares]]
    patterns = found.patterns(output)
    for pattern in sorted(patterns, key=lambda pattern: (pattern.level or 0, -pattern.value)):
        level = "" if pattern.level is None else pattern.level
        shown = [f"{share:.6g}" for share in pattern.shares]
        rows.append([level, pattern.text, repr(pattern.value), pattern.n_graphs, *shown])
    return _csv(rows)


def _graph_table(found: ModelExplanation, output: int) -> bytes:
    """One row per graph: its class or number, the prediction, and for linear models why."""
    predicted = found.predicted_names()
    linear = found.meaning == "coefficient"
    known: list[Any] | None = None
    if found.numbers is not None:
        known = found.numbers.tolist()
    elif found.accuracy is not None:
        known = [found.classes[code] for code in found.codes]
    what = "target" if found.regression else "class"
    head: list[Any] = [*_HEADINGS[GRAPHS], what, "prediction"]
    if linear:
        if not found.regression:  # where the decision is the prediction
            head.append(f"decision for {found.outputs[output]}")
        head.append("added most by")
        decisions = found.model.decision(found.graphs)[:, output]
        parts = found.contributions(output)
        texts = [pattern.text for pattern in found.patterns(output)]
    rows: list[list[Any]] = [head]
    for i in range(len(found.graphs)):
        row: list[Any] = [i, known[i] if known else ""]
        row.append(predicted[i] if predicted else "")
        if linear:
            row += [] if found.regression else [repr(float(decisions[i]))]
            row.append(_reasons(parts[i], texts))
        rows.append(row)
    return _csv(rows)


def _reasons(parts: Any, texts: list[str]) -> str:
    """The patterns of one graph that add most to its decision, in either direction."""
    order = sorted(range(parts.nnz), key=lambda p: -abs(parts.data[p]))[:_PATTERNS_PER_GRAPH]
    return "; ".join(f"{texts[parts.indices[p]]} {parts.data[p]:+.3g}" for p in order)


def _pictures(found: ModelExplanation, output: int, n: int, level: int | None) -> dict[str, bytes]:
    from gramlet.plotting import plot_patterns
    from gramlet.plotting.figure import pyplot
    from gramlet.plotting.pattern_drawing import can_draw

    figures = {}
    if can_draw(getattr(found.model, "kernel", found.model)):
        figures[PATTERN_PICTURE] = plot_patterns(
            found.model, n, level, output=output, graphs=found.graphs
        )
    if found.drawable:
        figures[GRAPH_PICTURE] = _draw_graphs(found, output)
    contents = {}
    for name, figure in figures.items():
        stream = io.BytesIO()
        origin = {"Software": f"{_SIGN} {__version__}"}
        figure.savefig(stream, format="png", dpi=130, metadata=origin)
        pyplot().close(figure)
        contents[name] = stream.getvalue()
    return contents


def _draw_graphs(found: ModelExplanation, output: int) -> Any:
    """Typical graphs of each class, their nodes coloured by the patterns rooted there."""
    from gramlet.plotting import plot_graph_importance
    from gramlet.plotting.figure import pyplot

    sizes = found.graphs.sizes
    shown = found.classes[:_CLASSES_DRAWN]
    drawn = [_typical(sizes, found.codes == c) for c in range(len(shown))]
    rows, columns = len(drawn), _GRAPHS_PER_CLASS
    figure, axes = pyplot().subplots(
        rows, columns, figsize=(5.2 * columns, 3.6 * rows), layout="constrained", squeeze=False
    )
    for ax in axes.flat:
        ax.axis("off")
    reach = _reach(found, output, [position for positions in drawn for position in positions])
    for row, positions in enumerate(drawn):
        for ax, position in zip(axes[row], positions, strict=False):
            graph = found.graphs[position]
            plot_graph_importance(found.model, graph, output=output, ax=ax, reach=reach)
            ax.set_title(f"graph {position}, {found.classes[row]}", fontsize=10)
    return figure


def _reach(found: ModelExplanation, output: int, positions: list[int]) -> float:
    """The largest importance of a node in these graphs, so that all share one colour scale."""
    from gramlet.plotting.patterns import node_importance

    largest = 0.0
    for position in positions:
        values, centre, _ = node_importance(found.model, found.graphs[position], output)
        largest = max(largest, float(abs(values - centre).max(initial=0.0)))
    return largest


def _typical(sizes: Any, members: Any) -> list[int]:
    """Graphs of about the median size of their class, small enough for a readable picture."""
    import numpy as np

    where = np.flatnonzero(members)
    apart = np.abs(sizes[where] - np.median(sizes[where]))
    return [int(i) for i in where[np.argsort(apart, kind="stable")[:_GRAPHS_PER_CLASS]]]
