"""The page: all sections in one self-contained HTML file."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gramlet._version import __version__
from gramlet.common.safe_writing import check_place, writing
from gramlet.evaluation.results.result import Result
from gramlet.plotting.layout import import_networkx
from gramlet.report.decisions import Decision, decisions_of
from gramlet.report.kernel_view import KernelView, view_of
from gramlet.report.material import Material, material_of
from gramlet.report.pictures import Pictures
from gramlet.report.sections.cases import cases_section, graph_table
from gramlet.report.sections.data import data_section
from gramlet.report.sections.kernel_matrix import curve_figure, gram_section
from gramlet.report.sections.map import map_section, marker_symbols
from gramlet.report.sections.patterns import pattern_words, patterns_section
from gramlet.report.sections.predictions import chosen_figures, predictions_figures
from gramlet.report.sections.provenance import provenance_section
from gramlet.report.sections.scores import scores_section
from gramlet.report.words import baseline_text, percent_or_number, score_text

__all__ = ["report_html", "require_template", "write_report"]

_FILES = Path(__file__).parent / "templates"
_FEATURED = 4  # kernels with a matrix, map and patterns; the others have tables and predictions


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
    place = Path(path)
    if place.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{str(place)!r}: the name of a report must end in .html.")
    check_place(place)
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
    with writing(place) as file:
        file.write_text(text, encoding="utf-8", errors="replace")
    return place


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
    content: dict[str, Any] = {
        "title": title or material.first.data.name or "Evaluation",
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "version": __version__,
        "data": data_section(material),
        "scores": scores_section(material),
        "repeat": provenance_section(material, command),
        "markers": marker_symbols(),
        "task": material.first.task,
    }
    pictures = Pictures(material)
    views, sections = _kernel_sections(material, say)
    content["kernels"] = [part for part in sections if not part["baseline"]]
    content["baselines"] = [part for part in sections if part["baseline"]]
    view, decisions = _main(views)
    say("single graphs")
    cases = cases_section(material, view, decisions, pictures)
    content["cases"] = cases
    content["graph_table"] = None
    if "ranking" in cases:
        shown = material.best if view is None else view.result
        content["graph_table"] = graph_table(material, shown, cases["ranking"])
    say("drawings")
    content["templates"] = _templates(material, pictures, cases, bool(views))
    content["n_graphs"] = 0 if material.graphs is None else len(material.graphs)
    content["facts"] = _facts(material, cases)
    script = (_FILES / "report.js").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    content |= {
        "script": script,
        "script_sum": digest,
        "style": (_FILES / "report.css").read_text(encoding="utf-8"),
    }
    return str(template.render(**content))


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


def _kernel_sections(
    material: Material, say: Callable[[str], None]
) -> tuple[dict[str, tuple[KernelView, list[Decision]]], list[dict[str, Any]]]:
    """One section per result, the best first, and what was fitted for them."""
    views: dict[str, tuple[KernelView, list[Decision]]] = {}
    sections = []
    featured = [result.name for result in material.detailed][:_FEATURED]
    for result in sorted(material.results, key=lambda r: -r.mean):
        say(result.name)
        section: dict[str, Any] = {
            "name": result.name,
            "baseline": result.name in material.baselines,
            "words": baseline_text(result.name) if result.name in material.baselines else "",
            "score": f"{score_text(result.scoring)} "
            f"{percent_or_number(result.mean, result.scoring)}",
            "predictions": predictions_figures(material, result),
            "chosen": chosen_figures(result),
            "gram": None,
            "map": None,
            "curve": None,
            "patterns": None,
            "why_not": "",
            "why_no_patterns": "",
            "pattern_words": "",
        }
        if result.name not in featured:
            reason = material.why_not.get(result.name)
            section["why_not"] = reason or (
                f"Kernel matrix, map and patterns are shown for the {_FEATURED} best kernels only."
            )
        elif material.graphs is None:
            section["why_not"] = "The graphs were not given to this report."
        else:
            _add_view(section, material, result, views)
        sections.append(section)
    return views, sections


def _add_view(
    section: dict[str, Any],
    material: Material,
    result: Result,
    views: dict[str, tuple[KernelView, list[Decision]]],
) -> None:
    try:
        view = view_of(material, result)
    except (ValueError, TypeError) as why:
        section["why_not"] = f"The kernel matrix could not be computed: {why}"
        return
    section["gram"] = gram_section(material, view)
    section["map"] = map_section(material, view)
    section["curve"] = curve_figure(material, view)
    decisions: list[Decision] = []
    try:
        decisions = decisions_of(material, view)
        section["patterns"] = patterns_section(material, view, decisions)
        section["pattern_words"] = pattern_words(view)
    except ValueError as why:
        section["why_no_patterns"] = str(why)
    views[result.name] = (view, decisions)


def _main(
    views: Mapping[str, tuple[KernelView, list[Decision]]],
) -> tuple[KernelView | None, list[Decision]]:
    """The best kernel, and decisions split by node: its own, or those of the next best."""
    ranked = sorted(views.values(), key=lambda pair: -pair[0].result.mean)
    if not ranked:
        return None, []
    by_node = [found for _, found in ranked if found and found[0].by_node]
    return ranked[0][0], by_node[0] if by_node else []


def _templates(
    material: Material, pictures: Pictures, cases: dict[str, Any], wanted: bool
) -> list[tuple[int, Any]]:
    """The drawings that maps and tables show on demand."""
    if material.graphs is None or not wanted:
        return []
    near = [
        n["position"]
        for kind in ("worst", "best")
        for case in cases.get(kind, ())
        for n in case["neighbours"]
    ]
    return list(pictures.templates([*cases.get("positions", ()), *near]).items())


def _facts(material: Material, cases: dict[str, Any]) -> str:
    """Names, targets and predictions of all graphs for the script, as JSON without markup."""
    n = len(material.graphs) if material.graphs is not None else len(material.kept)
    ranking = cases.get("ranking")
    rows = []
    for i in range(n):
        told = None if ranking is None else material.value_text(ranking.predicted[i])
        rows.append([material.graph_name(i), material.target_text(i), told])
    text = json.dumps({"graphs": rows, "kernel": cases["name"]}, ensure_ascii=True)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
