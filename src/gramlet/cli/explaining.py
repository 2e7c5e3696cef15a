"""``gramlet explain``: which patterns matter, as a table, as a file, and in pictures."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gramlet._version import __version__
from gramlet.cli.errors import WrongUse
from gramlet.cli.inputs import read_input, target_of
from gramlet.cli.matrices import working_estimator
from gramlet.cli.options import (
    DataDir,
    Input,
    Jobs,
    LabelColumn,
    Params,
    Seed,
    SmilesColumn,
    parse_params,
)
from gramlet.cli.output import console, note
from gramlet.common.safe_writing import writing

if TYPE_CHECKING:
    from gramlet.files.dataset import Dataset
    from gramlet.graphs.batch import GraphBatch

__all__ = ["explain"]

EXPLAINED = ("weighted-wwl", "wl")
TABLE, PATTERNS, GRAPHS = "patterns.csv", "patterns.png", "graphs.png"

_SIGN = "gramlet"  # what our files say about where they come from
_HEADINGS = ("level", "pattern")
_GRAPHS_A_CLASS = 2
_CLASSES_DRAWN = 4


@dataclass(frozen=True)
class Row:
    """A pattern, its weight or coefficient, how many graphs have it, and which share of a class."""

    level: int
    text: str
    value: float
    n_graphs: int
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Explained:
    """A fitted model with a value for every pattern.

    ``model`` is what the plots take; ``neutral`` the value of a pattern that does not matter.
    """

    model: Any
    output: int
    rows: list[Row]
    neutral: float
    meaning: str
    summary: str


def explain(
    source: Input,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FOLDER", help="Folder for table and pictures."),
    ],
    kernel: Annotated[
        str, typer.Option("--kernel", "-k", metavar="NAME", help=f"{' or '.join(EXPLAINED)}.")
    ] = EXPLAINED[0],
    n: Annotated[int, typer.Option("--n", "-n", metavar="N", help="Patterns a level.", min=1)] = 8,
    level: Annotated[
        int | None, typer.Option(metavar="LEVEL", help="Only this level.", min=0)
    ] = None,
    decision: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Of wl with several classes: which, e.g. '1 over 2'."),
    ] = None,
    param: Params = None,
    cost: Annotated[
        float, typer.Option("--C", metavar="NUMBER", help="Penalty of the machine of wl.")
    ] = 1.0,
    data_dir: DataDir = None,
    smiles_column: SmilesColumn = None,
    label_column: LabelColumn = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
) -> None:
    """Learn which subtree patterns matter; show them, and draw them.

    weighted-wwl: the weights that the kernel learns, 1 meaning as much as any. wl: what a pattern
    adds to the decision of a support vector machine. Both on all graphs, with n_iter=2 unless
    --param says otherwise. The patterns that matter most are shown; patterns.csv lists all.
    """
    if kernel not in EXPLAINED:
        raise WrongUse(
            f"--kernel {kernel!r} is not explained by patterns; {' and '.join(EXPLAINED)} are."
        )
    from gramlet.plotting.figure import pyplot

    pyplot().switch_backend("Agg")  # before any work, should it be missing
    check_folder(output)
    params = _params(kernel, parse_params(param), level, seed)
    data = read_input(source, data_dir, smiles_column, label_column)
    target = target_of(data, source)
    from gramlet.engine.core.compiling import announce_compilation

    announce_compilation()
    graphs = _with_names(data)
    classes = _class_names(data, target)
    if kernel == "wl":
        found = _explain_wl(graphs, target, classes, params, cost, decision, jobs)
    else:
        found = _explain_weighted(graphs, target, params, decision, jobs)
    # Written first: whoever reads the table may stop reading.
    _write(output, found, graphs, target, classes, n, level)
    _show(data, found, classes, n, level)
    print(f"{TABLE}, {PATTERNS} and {GRAPHS} are in {output}")


def check_folder(folder: Path) -> None:
    """Refuse a folder that cannot be made, or that holds files of these names not made by us."""
    if folder.exists() and not folder.is_dir():
        raise WrongUse(f"--output: {str(folder)!r} is a file; name a folder.")
    if not folder.exists() and not folder.absolute().parent.is_dir():
        raise WrongUse(f"--output: there is no folder {str(folder.parent)!r}.")
    for name in (TABLE, PATTERNS, GRAPHS):
        place = folder / name
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
        return head.startswith(",".join(_HEADINGS).encode())
    return head.startswith(b"\x89PNG") and f"{_SIGN} ".encode() in head


def _params(kernel: str, params: dict[str, Any], level: int | None, seed: int) -> dict[str, Any]:
    """The parameters to fit with; what cannot be explained is told before any work is done."""
    from gramlet.kernels import registry

    params = {"n_iter": 2, **params}
    if kernel == "weighted-wwl":
        params = {"random_state": seed, "verbose": False, **params}
    else:
        params.setdefault("normalize", True)
        if params.get("base", "vertex") != "vertex":
            raise WrongUse("--param base: only base=vertex, patterns at nodes, is explained.")
    estimator = registry.get(kernel).make(**params)
    estimator._validate_params()
    first = 0 if estimator.include_initial else 1
    if level is not None and not first <= level <= estimator.n_iter:
        raise WrongUse(
            f"--level must be one of {', '.join(map(str, range(first, estimator.n_iter + 1)))}; "
            f"got {level}."
        )
    return params


def _with_names(data: Dataset) -> GraphBatch:
    """The graphs with the names of their labels in place of numbers, where these are known."""
    from gramlet.graphs.batch import GraphBatch

    graphs = data.graphs
    return GraphBatch(
        graphs.node_offsets,
        graphs.indptr,
        graphs.indices,
        node_labels=_named(graphs.node_labels, data.node_label_names),
        edge_labels=_named(graphs.edge_labels, data.edge_label_names),
    )


def _named(column: Any, names: Any) -> Any:
    from gramlet.graphs.columns import Categorical

    if column is None or not names:
        return column
    renamed = [str(names.get(value, value)) for value in column.categories]
    # Two labels of one name stay apart, by their own values.
    return Categorical(column.codes, renamed) if len(set(renamed)) == len(renamed) else column


def _class_names(data: Dataset, target: Any) -> list[str]:
    import numpy as np

    names = data.target_names or {}
    return [str(names.get(value, value)) for value in np.unique(target).tolist()]


def _explain_weighted(
    graphs: GraphBatch, target: Any, params: dict[str, Any], decision: str | None, jobs: int
) -> Explained:
    import numpy as np

    from gramlet.kernels import registry

    if decision is not None:
        raise WrongUse("--decision is for --kernel wl; weights are the same for all classes.")
    kernel = working_estimator(registry.get("weighted-wwl"), params, jobs).fit(graphs, target)
    rows = _rows(kernel, np.concatenate(kernel.weights_), kernel.profile_.shares, target)
    first, last = kernel.loss_history_[[0, -1]]
    summary = f"{kernel.solver} solver, {kernel.n_iter_} steps: loss {first:.4f} to {last:.4f}"
    return Explained(kernel, 0, rows, 1.0, "weight", summary)


def _explain_wl(
    graphs: GraphBatch,
    target: Any,
    classes: Sequence[str],
    params: dict[str, Any],
    cost: float,
    decision: str | None,
    jobs: int,
) -> Explained:
    import numpy as np
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    from gramlet.explain import explain_linear
    from gramlet.kernels import registry

    if len(classes) < 2:
        raise WrongUse("there is one class only: nothing is decided, and nothing to explain.")
    kernel = working_estimator(registry.get("wl"), params, jobs)
    model = make_pipeline(kernel, SVC(kernel="precomputed", C=cost)).fit(graphs, target)
    named = classes[1:] if len(classes) == 2 else _pairs(classes)
    told = replace(explain_linear(model), outputs=list(named))
    which = _decision(told.outputs, decision)
    rows = _rows(kernel, told.coefficients[which], kernel.profile_, target)
    right = float(np.mean(model.predict(graphs) == target))
    summary = (
        f"decision for {told.outputs[which]}; C={cost:g}, {100 * right:.1f} % of these graphs "
        "classified rightly"
    )
    return Explained(told, which, rows, 0.0, "coefficient", summary)


def _pairs(classes: Sequence[str]) -> list[str]:
    """The decisions between several classes, in the order of the machine's."""
    return [f"{a} over {b}" for a, b in combinations(classes, 2)]


def _decision(outputs: Sequence[str], wanted: str | None) -> int:
    if wanted is None:
        if len(outputs) > 1:
            note(f"{len(outputs)} decisions; shown is the first. --decision takes another.")
        return 0
    if wanted not in outputs:
        raise WrongUse(f"--decision must be one of: {', '.join(outputs)}; got {wanted!r}.")
    return list(outputs).index(wanted)


def _rows(kernel: Any, values: Any, counts: Any, target: Any) -> list[Row]:
    """All patterns with their values, and the share of each class that has them."""
    import numpy as np
    from scipy import sparse

    colouring = kernel.counter_.colouring
    levels = np.repeat(colouring.level_numbers, colouring.n_colours).tolist()
    texts = [text for texts in colouring.patterns() for text in texts]
    _, codes, members = np.unique(target, return_inverse=True, return_counts=True)
    has = sparse.csr_matrix(counts) > 0
    belongs = sparse.csr_matrix((np.ones(len(codes)), (codes, np.arange(len(codes)))))
    having = np.asarray((belongs @ has).todense()).T
    shares = (having / members).tolist()
    n_graphs = having.sum(axis=1).astype(int).tolist()
    columns = zip(levels, texts, values.tolist(), n_graphs, map(tuple, shares), strict=True)
    return [Row(*fields) for fields in columns]


def _leading(found: Explained, n: int, level: int) -> list[Row]:
    """The patterns of a level that matter most, the highest value first; as they are drawn."""
    rows = [row for row in found.rows if row.level == level]
    rows = sorted(rows, key=lambda row: -abs(row.value - found.neutral))[:n]
    return sorted(rows, key=lambda row: -row.value)


def _levels(found: Explained, level: int | None) -> list[int]:
    return [h for h in dict.fromkeys(row.level for row in found.rows) if level in (None, h)]


def _show(
    data: Dataset, found: Explained, classes: Sequence[str], n: int, level: int | None
) -> None:
    from rich.markup import escape
    from rich.table import Table

    screen = console()
    screen.print(f"[bold]{escape(data.name)}[/]: {len(data.graphs)} graphs; {found.summary}")
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    grid.add_column("pattern", overflow="fold", style="cyan", min_width=20)
    grid.add_column(found.meaning, justify="right", no_wrap=True)
    grid.add_column("graphs", justify="right", no_wrap=True)
    for name in classes:
        grid.add_column(escape(name), justify="right", overflow="fold", min_width=5)
    for h in _levels(found, level):
        count = sum(row.level == h for row in found.rows)
        grid.add_row(f"[bold default]level {h}[/] [dim]({count} patterns)[/]")
        for row in _leading(found, n, h):
            shares = [f"{100 * share:.0f} %" for share in row.shares]
            value = f"{row.value:.3f}" if found.neutral else f"{row.value:+.3f}"
            grid.add_row(f"  {escape(row.text)}", value, str(row.n_graphs), *shares)
    screen.print(grid)
    screen.print(
        f"[dim]Patterns whose {found.meaning} is farthest from {found.neutral:g}; on the right the "
        "share of each class's graphs that have them.[/]"
    )


def _write(
    folder: Path,
    found: Explained,
    graphs: GraphBatch,
    target: Any,
    classes: Sequence[str],
    n: int,
    level: int | None,
) -> None:
    """All files, or none."""
    from gramlet.plotting import plot_patterns
    from gramlet.plotting.figure import pyplot

    folder.mkdir(exist_ok=True)
    note_of_origin = {"Software": f"{_SIGN} {__version__}"}
    figures = {
        PATTERNS: plot_patterns(found.model, n, level, output=found.output),
        GRAPHS: _draw_graphs(found, graphs, target, classes),
    }
    with ExitStack() as files:
        for name, figure in figures.items():
            place = files.enter_context(writing(folder / name))
            figure.savefig(place, dpi=130, metadata=note_of_origin)
            pyplot().close(figure)
        place = files.enter_context(writing(folder / TABLE))
        _write_table(place, found, classes)


def _write_table(place: Path, found: Explained, classes: Sequence[str]) -> None:
    with place.open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow([*_HEADINGS, found.meaning, "graphs", *(f"share of {c}" for c in classes)])
        for row in sorted(found.rows, key=lambda row: (row.level, -row.value)):
            shares = [f"{share:.6g}" for share in row.shares]
            lines.writerow([row.level, row.text, repr(row.value), row.n_graphs, *shares])


def _draw_graphs(found: Explained, graphs: GraphBatch, target: Any, classes: Sequence[str]) -> Any:
    """Typical graphs of each class, their nodes coloured by the patterns rooted there."""
    import numpy as np

    from gramlet.plotting import plot_graph_importance
    from gramlet.plotting.figure import pyplot

    codes = np.unique(target, return_inverse=True)[1]
    drawn = [_typical(graphs.sizes, codes == c) for c in range(min(len(classes), _CLASSES_DRAWN))]
    rows, columns = len(drawn), _GRAPHS_A_CLASS
    figure, axes = pyplot().subplots(
        rows, columns, figsize=(5.2 * columns, 3.6 * rows), layout="constrained", squeeze=False
    )
    for ax in axes.flat:
        ax.axis("off")
    for row, positions in enumerate(drawn):
        for ax, position in zip(axes[row], positions, strict=False):
            plot_graph_importance(found.model, graphs[position], output=found.output, ax=ax)
            ax.set_title(f"graph {position}, {classes[row]}", fontsize=10)
    return figure


def _typical(sizes: Any, members: Any) -> list[int]:
    """Graphs of about the median size of their class, whose pictures can be read."""
    import numpy as np

    where = np.flatnonzero(members)
    apart = np.abs(sizes[where] - np.median(sizes[where]))
    return [int(i) for i in where[np.argsort(apart, kind="stable")[:_GRAPHS_A_CLASS]]]
