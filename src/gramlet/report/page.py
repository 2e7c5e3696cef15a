"""The page: all sections in one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from gramlet._version import __version__
from gramlet.common.arrays import Floats
from gramlet.common.safe_writing import check_place, writing
from gramlet.evaluation.result import Result
from gramlet.evaluation.result_table import score_of
from gramlet.plotting.drawing import drawing_of
from gramlet.plotting.layout import import_networkx
from gramlet.plotting.svg import drawing_svg
from gramlet.report.data import data_section
from gramlet.report.fitted import Decision, KernelView, decisions_of, view_of
from gramlet.report.kernels import (
    curve_figure,
    gram_section,
    map_section,
    marker_symbols,
    pattern_words,
    patterns_section,
)
from gramlet.report.material import BASELINES, Material, material_of
from gramlet.report.parts import Markup
from gramlet.report.predictions import cases_section, chosen_figures, predictions_figures
from gramlet.report.results import provenance_section, scores_section

_FILES = Path(__file__).parent / "templates"
_FEATURED = 4  # kernels with a matrix, map and patterns; the others have tables and predictions
_MOST_LAID_OUT = 1200  # graphs drawn for maps that are no molecules: their layout takes long
_MOST_LETTERS = 16_000_000  # of all drawings for maps, before they are compressed


def write_report(
    path: str | os.PathLike[str],
    results: Result | Sequence[Result] | Mapping[str, Result],
    data: Any = None,
    *,
    kernels: Mapping[str, Any] | None = None,
    baselines: Sequence[str] = (),
    title: str | None = None,
    command: str | None = None,
    n_jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Path:
    """Write one self-contained HTML page about an evaluation.

    The page shows the data, the scores with intervals and tests, and per kernel predictions,
    chosen options, learning curve, kernel matrix, map, patterns and single graphs. It loads nothing
    from the network. If something cannot be shown, the page gives the reason instead.

    Parameters
    ----------
    path : path
        The file, ending in .html; an existing file is replaced.
    results : Result, sequence of Result or mapping
        Results of `gramlet.evaluate` on the same graphs, with one scorer; for precomputed matrices
        the dict that it returns.
    data : Dataset or graphs, optional
        The evaluated graphs. A `Dataset` also has names of classes and labels, and identifiers.
    kernels : mapping, optional
        The estimator of a result, by the result's name, for results whose name is not in the
        registry.
    baselines : sequence of str
        Names of results to show for comparison only, in a section of their own; "majority", "mean"
        and "size" are always among them.
    title : str, optional
        By default the name of the data.
    command : str, optional
        The command that wrote the page, to be shown in it.
    n_jobs : int, optional
        Threads for kernel matrices.
    progress : callable, optional
        Called with a short text before each longer step.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from gramlet import Protocol, evaluate, load_dataset, write_report
    >>> mutag = load_dataset("MUTAG")
    >>> result = evaluate("vertex", mutag, protocol=Protocol(folds=3, repeats=1))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(f"{folder}/report.html", result, mutag)
    ...     page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{str(target)!r}: the name of a report must end in .html.")
    check_place(target)
    text = report_html(
        results,
        data,
        kernels=kernels,
        baselines=baselines,
        title=title,
        command=command,
        n_jobs=n_jobs,
        progress=progress,
    )
    with writing(target) as file:
        file.write_text(text, encoding="utf-8", errors="replace")
    return target


def report_html(
    results: Result | Sequence[Result] | Mapping[str, Result],
    data: Any = None,
    *,
    kernels: Mapping[str, Any] | None = None,
    baselines: Sequence[str] = (),
    title: str | None = None,
    command: str | None = None,
    n_jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> str:
    """The page of `write_report` as text."""
    template = require_template()
    say = progress or (lambda words: None)
    material = material_of(results, data, kernels, n_jobs, baselines)
    say("data")
    pictures = Pictures(material)
    views: list[tuple[KernelView, list[Decision]]] = []
    sections = []
    for result in sorted(material.results, key=lambda r: -r.mean):
        say(result.name)
        sections.append(_kernel_section(material, result, views))
    # Single graphs are those of the best kernel; their nodes have the importance that it gives
    # them, or the next best whose decisions can be split by node.
    say("single graphs")
    view = views[0][0] if views else None
    by_node = [found for _, found in views if found and found[0].by_node]
    cases = cases_section(material, view, by_node[0] if by_node else [], pictures)
    say("drawings")
    drawings = pictures.for_maps(sections)
    script = (_FILES / "report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return str(
        template.render(
            title=title or material.first.data.name or "Evaluation",
            made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            version=__version__,
            task=material.first.task,
            data=data_section(material),
            scores=scores_section(material),
            repeat=provenance_section(material, command),
            markers=marker_symbols(),
            kernels=[part for part in sections if not part["baseline"]],
            baselines=[part for part in sections if part["baseline"]],
            cases=cases,
            n_graphs=0 if material.graphs is None else len(material.graphs),
            n_drawn=len(drawings),
            drawings=_compressed(drawings),
            facts=_facts(material, cases),
            script=script,
            script_sum=digest,
            style=(_FILES / "report.css").read_text(encoding="utf-8"),
        )
    )


def require_template() -> Any:
    """The template of the page; an ImportError names what to install.

    Drawings need networkx, so that it is missed here and not after hours of evaluation.
    """
    import_networkx()
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise ImportError(
            "Reports need jinja2. Install it with: pip install gramlet[report]"
        ) from None
    environment = Environment(
        loader=FileSystemLoader(_FILES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("report.html")


def _kernel_section(
    material: Material, result: Result, views: list[tuple[KernelView, list[Decision]]]
) -> dict[str, Any]:
    """The section of one result; what is fitted for it is added to ``views``."""
    name = result.name
    section: dict[str, Any] = {
        "name": name,
        "baseline": name in material.baselines,
        "words": BASELINES.get(name, "") if name in material.baselines else "",
        "score": score_of(result),
        "predictions": predictions_figures(material, result),
        "chosen": chosen_figures(result),
        **dict.fromkeys(("gram", "map", "curve", "patterns")),
        **dict.fromkeys(("why_not", "why_no_patterns", "pattern_words"), ""),
    }
    if name not in [featured.name for featured in material.detailed[:_FEATURED]]:
        section["why_not"] = material.why_not.get(name) or (
            f"Kernel matrix, map and patterns are shown for the {_FEATURED} best kernels only."
        )
        return section
    if material.graphs is None:
        section["why_not"] = "The graphs were not given to this report."
        return section
    try:
        view = view_of(material, result)
    except (ValueError, TypeError) as why:
        section["why_not"] = f"The kernel matrix could not be computed: {why}"
        return section
    section["gram"] = gram_section(material, view)
    section["map"] = map_section(material, view)
    section["curve"] = curve_figure(material, view)
    decisions: list[Decision] = []
    try:
        decisions = decisions_of(material, view)
        section["patterns"] = patterns_section(material, view, decisions)
        section["pattern_words"] = pattern_words(view, decisions)
    except ValueError as why:
        section["why_no_patterns"] = str(why)
    views.append((view, decisions))
    return section


class Pictures:
    """Small drawings of the graphs of a report, each made once."""

    def __init__(self, material: Material) -> None:
        self._material = material
        self._plain: dict[int, Markup] = {}

    def plain(self, position: int) -> Markup:
        """A graph by its position among all graphs."""
        if position not in self._plain:
            self._plain[position] = self.valued(position, None, None)
        return self._plain[position]

    def valued(self, position: int, values: Floats | None, reach: float | None) -> Markup:
        """A graph with the importance of its nodes."""
        material = self._material
        assert material.graphs is not None, "asked for only where there are graphs"
        drawing = drawing_of(
            material.graphs[position],
            values,
            node_names=material.node_names,
            edge_names=material.edge_names,
            colours=material.colours,
            most_nodes=120,
            most_edges=400,
        )
        title = f"Drawing of {material.graph_name(position)}"
        note = f'<span class="part">drawn: {escape(drawing.note)}</span>' if drawing.note else ""
        return Markup(drawing_svg(drawing, title, reach=reach, largest=240) + note)

    def for_maps(self, sections: list[dict[str, Any]]) -> dict[int, Markup]:
        """The graphs that are points of a map: all molecules, of other graphs a limited number."""
        points = sorted({i for part in sections for i in (part["map"] or {}).get("positions", ())})
        if points and not self._material.of_molecules:
            points = points[:: -(-len(points) // _MOST_LAID_OUT)]
        drawings: dict[int, Markup] = {}
        letters = 0
        for position in points:
            drawings[position] = self.plain(position)
            letters += len(drawings[position])
            if letters > _MOST_LETTERS:
                break
        return drawings


def _compressed(drawings: Mapping[int, Markup]) -> str:
    """Drawings by position as JSON, compressed, as text."""
    return base64.b64encode(zlib.compress(json.dumps(drawings).encode(), 9)).decode("ascii")


def _facts(material: Material, cases: dict[str, Any]) -> str:
    """Names, targets, predictions and SMILES of all graphs, as JSON without markup."""
    n = len(material.graphs) if material.graphs is not None else len(material.kept)
    predicted = cases.get("predicted")
    rows = [
        [
            material.graph_name(i),
            material.target_text(i),
            None if predicted is None else material.value_text(predicted[i]),
            material.smiles(i),
        ]
        for i in range(n)
    ]
    text = json.dumps({"graphs": rows, "kernel": cases["name"]}, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
