"""The page: complete for every kind of result, small, with reasons for missing parts."""

from __future__ import annotations

import base64
import json
import re
import warnings
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from gramlet import (
    Dataset,
    GraphBatch,
    Protocol,
    WeisfeilerLehman,
    WLOptimalAssignment,
    evaluate,
    gram,
    load_dataset,
    write_report,
)
from gramlet.evaluation.result import Result
from gramlet.report import report_html
from gramlet.report.charts import Chart
from gramlet.report.data import repeats_of
from gramlet.report.figures import bars
from gramlet.report.material import Material
from gramlet.report.page import Pictures
from gramlet.report.parts import score_limits
from gramlet.report.results import interval_of
from reference.evaluation import trees

pytest.importorskip("jinja2", reason="needs jinja2")

QUICK = Protocol(folds=3, repeats=1, inner_folds=2, C=(1.0,))
SECTIONS = ("results", "data", "kernels", "graphs", "repeat")


class Reader(HTMLParser):
    """Collects text by section and checks that elements are closed."""

    VOID = frozenset(["meta", "img", "input", "br", "path", "circle", "rect", "use"])

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.text = ""
        self.links: list[str] = []

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        if "id" in found:
            self.ids.append(found["id"])
        self.links += [v for k, v in attrs if k in ("href", "src") and v]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text += data


def drawings_of(text: str) -> dict[str, str]:
    """The drawings that the maps of a page show."""
    packed = re.search(r'<script type="text/plain" id="drawings">([^<]*)<', text)[1]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def read(text: str) -> Reader:
    """The parsed page; it must have all sections and no external references."""
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    assert set(SECTIONS) <= set(reader.ids)
    assert len(reader.ids) == len(set(reader.ids))
    assert all(link.startswith(("#", "data:image/png")) for link in reader.links)
    assert "url(" not in text
    assert "@import" not in text
    return reader


def test_the_page_of_mutag_has_everything(mutag_page, mutag_results):
    text = mutag_page.read_text(encoding="utf-8")
    reader = read(text)
    for words in (
        "Scores of all results",
        "95 % interval",
        "majority (baseline)",
        "Every pair of results",
        "Contents of the data set",
        "Nodes per graph",
        "Graphs per class",
        "Node labels",
        "No two graphs are isomorphic",
        "ROC of pooled decision values",
        "Calibration",
        "n_iter",
        "Learning curve",
        "positive semi-definite",
        "effective rank",
        "diagonal dominance",
        "Eigenvalues, largest first",
        "One point per graph",
        "Leading patterns",
        "For mutagenic",
        "Worst predicted",
        "Best predicted (correct and most confident)",
        "Most similar graphs",
        "gramlet report MUTAG -o mutag.html",
        "Checksums",
        "seed",
        "scikit-learn",
    ):
        assert words in reader.text, words
    best = max(mutag_results, key=lambda result: result.mean)
    assert f"{100 * best.mean:.1f} %" in reader.text
    assert set(drawings_of(text)) == {str(i) for i in range(188)}
    assert len(text) < 1_000_000


def test_numbers_have_scatter_and_a_scale(regression_page):
    reader = read(regression_page.read_text(encoding="utf-8"))
    for words in ("Values of logBB", "mean absolute error", "For higher values", "Best predicted"):
        assert words in reader.text, words
    assert "R² with 95 % intervals" in reader.text
    assert not re.search(r"\br2\b", reader.text.rsplit("Repeat it", 1)[0])


def test_scores_and_intervals_are_those_of_the_test():
    from scipy.stats import t as student

    scores = np.array([[0.8, 0.9, 0.7], [0.6, 0.9, 0.9]])
    low, high = interval_of(scores, 0.5)
    half = student.ppf(0.975, 5) * np.sqrt((1 / 6 + 0.5) * scores.var(ddof=1))
    np.testing.assert_allclose([low, high], [scores.mean() - half, scores.mean() + half])
    assert interval_of(np.array([[0.5]]), 0.25) is None
    pooled = np.array([[True, True, False], [False, True, True]])
    scores = np.array([[0.5, 0.5, 0.75], [1.0, 0.25, 0.25]])
    low, high = interval_of(scores, 0.5, pooled)
    runs = np.array([0.5, 0.75, 1.0, 0.25])
    half = student.ppf(0.975, 3) * np.sqrt((1 / 4 + 2 / 2) * runs.var(ddof=1))
    assert (low, high) == pytest.approx((scores.mean() - half, scores.mean() + half))
    assert interval_of(scores, 0.5, np.ones((2, 3), dtype=bool)) is None


def test_scores_stay_in_their_range():
    """With few test parts, intervals exceed the range of a score; pages show the possible part."""
    batch = trees(12)
    y = np.array([0, 1] * 6)
    result = replace(evaluate("vertex", batch, y, QUICK), scores=np.array([[0.6, 1.0, 1.0]]))
    text = read(report_html(result, batch)).text
    assert "to 100.0 %" in text
    assert not re.search(r"to 1[0-9]{2}\.[1-9]", text)
    assert score_limits("r2") == (-np.inf, 1.0)


def test_differences_that_round_to_zero_have_no_sign(mutag, mutag_results):
    same = replace(mutag_results[0], name="again")
    text = report_html([mutag_results[0], same], mutag)
    assert ">0.0000<" in text
    assert "-0.00<" not in text


def test_arcs_are_counted_once_and_edges_too():
    edges = [[(0, 1), (1, 2)], [(0, 1), (2, 1)]] * 6
    labels = [["x", "y"], ["x", "x"]] * 6
    for directed in (True, False):
        batch = GraphBatch.from_edges(edges, edge_labels=labels, directed=directed)
        page = report_html(evaluate("size", batch, [0, 1] * 6, QUICK), batch)
        assert "<title>x: 18</title>" in page
        assert "<title>y: 6</title>" in page


def test_a_class_has_one_colour(mutag_page):
    """In bars, maps and ROC curves alike."""
    text = mutag_page.read_text(encoding="utf-8")
    bar = re.search(r'fill="(#\w+)"><title>mutagenic: 125', text)[1]
    curve = re.search(r'stroke="(#\w+)" stroke-width="1.8"><title>mutagenic: area', text)[1]
    mark = re.search(r'fill="(#\w+)"/></svg>mutagenic</li>', text)[1]
    assert bar == curve == mark


def test_the_ceiling_is_that_of_the_best_function_of_the_graph():
    target = np.array(["a", "a", "b", "b", "a", "c"])
    found = repeats_of([[0, 1, 2], [3, 4, 5]], target, False)
    assert found.ceiling == pytest.approx(3 / 6)
    assert len(found.conflicting) == 2
    numbers = np.array([1.0, 3.0, 5.0, 5.0])
    found = repeats_of([[0, 1], [2, 3]], numbers, True)
    guess = np.array([2.0, 2.0, 5.0, 5.0])
    best = 1 - ((numbers - guess) ** 2).sum() / ((numbers - numbers.mean()) ** 2).sum()
    assert found.ceiling == pytest.approx(best)
    assert found.conflicting == [[0, 1]]
    assert repeats_of([], None, False).ceiling is None
    # Of the graphs that were used, if a class was left out.
    target = np.array(["a", "b", "a", "a", "rare"])
    assert repeats_of([[0, 4], [2, 3]], target, False, np.arange(4)) == ([], 1.0)
    assert repeats_of([[0, 1]], target, False, np.arange(4)).ceiling == 3 / 4


def test_repeated_graphs_of_two_classes_are_told():
    graphs = trees(20)
    both = GraphBatch.concatenate([graphs, graphs[:5]])
    y = np.array([0, 1] * 10 + [1, 1, 1, 1, 1])
    text = read(report_html(evaluate("vertex", both, y, QUICK), both)).text
    assert "have different classes" in text
    assert "no function of graph and labels alone can exceed" in text


def test_a_result_without_predictions(mutag, mutag_results):
    bare = replace(mutag_results[0], predictions=None, decisions=None, folds=None)
    text = read(report_html(bare, mutag)).text
    assert text.count("This result has no predictions.") >= 2
    assert "Leading patterns" in text
    nothing = replace(bare, target=None)
    assert "The results contain no target." in read(report_html(nothing)).text


def test_one_kernel_without_graphs(mutag_results):
    text = read(report_html(mutag_results[0])).text
    assert "The graphs were not given to this report" in text
    assert "There is one result; it can only be compared with the baselines." in text
    assert "ROC" in text


def test_results_of_ready_matrices(mutag):
    matrices = {f"h{h}": gram(mutag.graphs, "wl", n_iter=h, normalize=True) for h in (1, 2)}
    results = evaluate(matrices, None, mutag.target, QUICK)
    for data in (None, mutag):
        page = report_html(results, data)
        text = read(page).text
        assert "of a ready matrix or of an estimator of your own" in text
        assert "There are: vertex" not in text
        assert "ROC of pooled decision values" in text
        assert "Every pair of results" in text
        assert "evaluate({&#39;h1&#39;: matrix}, None, y, protocol" in page
        assert "0 of 0 graphs" not in text


def test_ten_graphs():
    batch = trees(10)
    result = evaluate("wl", batch, np.arange(10) % 2, Protocol(folds=2, repeats=1, inner_folds=2))
    text = read(report_html(result, batch)).text
    assert "A learning curve needs at least 20 graphs; there are 10." in text
    assert "10 predictions are too few for bins of 10." in text


def test_thirty_classes(monkeypatch):
    monkeypatch.setattr("gramlet.report.page._MOST_LAID_OUT", 1)
    batch = trees(160)
    y = np.array([f"class {i % 30}" for i in range(160)])
    result = evaluate("wl", batch, y, Protocol(folds=2, repeats=1, inner_folds=2, C=(1.0,)))
    text = read(report_html(result, batch)).text
    assert "Graphs per class; 20 of 30, by size" in text
    assert "and 10 more classes" in text
    assert "8 of 30 classes, by size" in text
    many = np.array([f"class {i % 40}" for i in range(160)])
    result = evaluate("vertex", batch, many, Protocol(folds=2, repeats=1, inner_folds=2, C=(1.0,)))
    assert "confused most often, of 40 classes" in read(report_html(result, batch)).text


def test_of_one_test_part_nothing_but_the_best_is_called_so():
    batch = trees(30)
    protocol = Protocol.holdout(0.3, 1, 2)
    results = [evaluate(name, batch, np.arange(30) % 2, protocol) for name in ("vertex", "wl")]
    page = report_html(results, batch)
    cells = re.findall(r'data-key="[23]" class="number">([^<]*)<', page)
    assert cells[:2] == ["the best", "one test part"]
    assert "There is one test part only: no interval can be given." in read(page).text


def test_baselines_have_a_section_of_their_own(mutag, mutag_results):
    everything = [*mutag_results, evaluate("size", mutag, protocol=QUICK)]
    page = report_html(everything, mutag, baselines=["vertex"])
    reader = read(page)
    kernels, baselines = reader.text.split("\nBaselines\n")[0], page.split('id="h-baselines"')[1]
    assert "uses the numbers of nodes and edges only" not in kernels
    for name in ("vertex", "size"):
        assert f"<h3>{name}</h3>" in baselines
        assert f">{name} (baseline)</th>" in page
    assert baselines.count("It is a baseline, shown for comparison only.") == 2
    assert {"kernel-1", "kernel-2", "baseline-1", "baseline-2"} <= set(reader.ids)
    assert "kernel-3" not in reader.ids
    assert "baselines in grey" in reader.text
    assert 'id="baselines"' not in report_html(mutag_results[0], mutag)


def test_a_kernel_given_for_one_result_leaves_the_others_theirs(mutag, mutag_results):
    mine = replace(mutag_results[0], name="mine")
    text = report_html(
        [mine, mutag_results[1]], mutag, kernels={"mine": WeisfeilerLehman(n_iter=1)}
    )
    assert 'data-map="mine"' in text
    assert 'data-map="wl-oa"' in text


def test_the_machine_is_that_of_the_kernels(mutag, mutag_results):
    constant = evaluate("majority", mutag, protocol=QUICK)
    assert constant.classifier == ""
    page = report_html([constant, *mutag_results], mutag)
    assert re.search(r'>machine</th><td data-key="svc">svc<', page)


def test_equal_scores_are_not_called_certain(mutag):
    constant = evaluate("majority", mutag, protocol=QUICK)
    same = replace(constant, scores=np.full((1, 3), 0.66))
    words = "which does not make the score certain"
    assert words in report_html(same, mutag)
    assert words not in report_html(replace(constant, scores=np.array([[0.6, 0.7, 0.7]])), mutag)


def test_the_constant_of_decisions_is_told(mutag, mutag_results):
    """Nodes of a graph can all count against the class that is predicted for it."""
    from gramlet.report.fitted import decisions_of, view_of
    from gramlet.report.material import material_of

    material = material_of(mutag_results[0], mutag)
    view = view_of(material, mutag_results[0])
    first, second = decisions_of(material, view)
    graph = material.graphs[3]
    value = first.explanation.decision(graph)[0, 0]
    assert first.nodes(graph).sum() + first.constant == pytest.approx(value)
    assert second.nodes(graph).sum() + second.constant == pytest.approx(-value)
    assert f"{first.constant:+.3g} for mutagenic" in report_html(mutag_results[0], mutag)


def test_stars_are_counted_in_the_text_of_patterns():
    from gramlet.report.kernels import _RUN, _counted

    assert _RUN.sub(_counted, "h1:*(*,*,*,*,*)") == "h1:*(5 × *)"
    assert _RUN.sub(_counted, "C(single:C,single:C,single:C,single:C,double:O)") == (
        "C(4 × single:C,double:O)"
    )
    assert _RUN.sub(_counted, "C(C,C,C)") == "C(C,C,C)"
    assert _RUN.sub(_counted, "C(C,CC,CC,CC,CCC)") == "C(C,CC,CC,CC,CCC)"


def test_classes_too_small_are_said(mutag):
    y = mutag.target.astype(str)
    y[:2] = "rare"
    with pytest.warns(UserWarning, match="min_class_size"):
        result = evaluate("vertex", mutag.graphs, y, QUICK, min_class_size=5)
    text = read(report_html(result, Dataset(mutag.graphs, y))).text
    assert "graphs left out, of classes that are too small" in text


def test_tanimoto_kernels_have_a_page(mutag):
    kernel = WeisfeilerLehman(n_iter=1, normalize="tanimoto")
    result = evaluate(kernel, mutag, protocol=QUICK, name="wl")
    text = read(report_html(result, mutag, kernels={"wl": kernel})).text
    assert "What a pattern adds to the decision, as the mean over all fitted graphs." in text
    assert "A decision is the sum over the nodes and a constant" in text
    assert "effective rank" in text


def test_results_of_estimators_say_which_kernel_is_missing(mutag):
    from gramlet import VertexHistogram

    result = evaluate(VertexHistogram(), mutag, protocol=QUICK, name="mine")
    text = read(report_html(result, mutag)).text
    assert "give it as kernels={'mine': estimator}" in text
    given = read(report_html(result, mutag, kernels={"mine": VertexHistogram()})).text
    assert "effective rank" in given


def test_a_result_from_json_gives_the_same_page(mutag, mutag_results):
    again = [Result.from_json(result.to_json()) for result in mutag_results]
    first, second = (
        re.sub(r"Made .*? UTC", "", report_html(results, mutag))
        for results in (mutag_results, again)
    )
    assert first == second


def test_of_graphs_that_are_no_molecules_a_part_is_drawn():
    dots = GraphBatch.from_edges([[]] * 1300, n_nodes=[1] * 1300)
    sections = [{"map": {"positions": list(range(1300))}}, {"map": None}]
    assert 600 <= len(Pictures(Material([], Dataset(dots), {})).for_maps(sections)) <= 1200


def test_molecules_are_given_as_smiles(regression, regression_page):
    text = read(regression_page.read_text(encoding="utf-8")).text
    worst = text.split("Worst predicted")[1].split("Best predicted")[0]
    assert sum(smiles in worst for smiles in regression.molecules) >= 6


def test_hostile_names_are_text(hostile_page):
    text = hostile_page.read_text(encoding="utf-8")
    assert text.count("<script") == 3
    assert "<img src=x" not in text
    read(text)


@pytest.mark.exhaustive
def test_five_thousand_molecules_are_drawn_in_less_than_eight_megabytes(tmp_path):
    whole = load_dataset("B3DB-logBB")
    rows = np.random.default_rng(0).permutation(np.arange(5000) % len(whole.graphs))
    data = Dataset(whole.graphs[rows], rows % 3, molecules=[whole.molecules[i] for i in rows])
    protocol = Protocol(folds=2, repeats=1, inner_folds=2, C=(1.0,))
    result = evaluate("size", data, protocol=protocol, name="vertex")
    page = write_report(tmp_path / "large.html", result, data)
    assert page.stat().st_size < 8_000_000
    text = page.read_text(encoding="utf-8")
    assert "5000 of 5000 graphs can be drawn" in read(text).text
    assert len(drawings_of(text)) == 5000


def test_wrong_use(mutag, mutag_results, tmp_path):
    with pytest.raises(ValueError, match=r"must end in \.html"):
        write_report(tmp_path / "page.txt", mutag_results, mutag)
    with pytest.raises(ValueError, match="no result to report"):
        write_report(tmp_path / "page.html", [], mutag)
    with pytest.raises(TypeError, match="got dict"):
        write_report(tmp_path / "page.html", [{}], mutag)
    with pytest.raises(ValueError, match="is of 188 graphs, the data have 10"):
        write_report(tmp_path / "page.html", mutag_results, mutag.graphs[:10])
    with pytest.raises(OSError, match="there is no folder"):
        write_report(tmp_path / "nowhere" / "page.html", mutag_results, mutag)
    assert list(tmp_path.iterdir()) == []


def test_results_write_their_own_report(mutag, mutag_results, tmp_path):
    first, *others = mutag_results
    page = first.report(tmp_path / "page.html", mutag, others=others)
    assert "Every pair of results" in read(page.read_text(encoding="utf-8")).text


def test_without_jinja_the_message_names_the_extra(mutag_results, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"pip install gramlet\[report\]"):
        report_html(mutag_results)


@pytest.mark.parametrize(
    "name",
    ["v-oa", "wl-sp", "sp", "graphlet", "nspdk", "odd-sth", "weighted-wwl", "emd", "netlsd"],
)
def test_every_kind_of_kernel_has_a_page(name):
    """The page says what a kernel cannot show; no kind of kernel makes it fail."""
    mutag = load_dataset("MUTAG")
    some = Dataset(mutag.graphs[:24], mutag.target[:24], name="some")
    result = evaluate(name, some, protocol=QUICK, options={})
    text = read(report_html(result, some)).text
    assert "Its kernel is not known" not in text
    assert "could not be computed" not in text
    drawn = name in ("v-oa", "sp", "graphlet", "nspdk", "odd-sth")
    assert ("not a sum over patterns" in text) == (name in ("weighted-wwl", "emd", "netlsd"))
    assert ("Pattern " in report_html(result, some)) == drawn


@pytest.mark.exhaustive
def test_no_class_of_a_map_covers_another(monkeypatch):
    """Points of the classes are drawn alternately, and small if there are many."""
    monkeypatch.setattr("gramlet.report.page._MOST_LAID_OUT", 1)
    batch = trees(1200)
    result = evaluate("size", batch, np.arange(1200) % 2, QUICK, name="wl")
    page = report_html(result, batch, kernels={"wl": WeisfeilerLehman(n_iter=1, normalize=True)})
    whole = re.search(r"<svg[^>]* data-map=.*?</svg>", page, re.S)[0]
    fills = re.findall(r'<g fill="(#\w+)" class="points">', whole)
    assert len(fills) >= 8
    assert fills[:4] == [fills[0], fills[1]] * 2
    assert whole.count('<use href="#dot') == 1200
    assert "<title>" not in whole


def test_numbers_at_the_end_of_an_axis_are_whole():
    chart = bars(["C"], [90_287], "Node labels", "nodes")
    last = re.search(r'x="([\d.]+)" y="[\d.]+" text-anchor="end">100,000<', chart)
    assert float(last[1]) < 420


def test_accuracy_of_a_rare_class_is_remarked(mutag, tmp_path):
    few = np.flatnonzero(mutag.target == -1)[:9]
    rows = np.sort(np.concatenate([few, np.flatnonzero(mutag.target == 1)]))
    rare = Dataset(mutag.graphs[rows], mutag.target[rows], name="rare")
    options = {"n_iter": [1]}
    result = evaluate("wl", rare, protocol=QUICK, options=options, scoring="accuracy")
    page = write_report(tmp_path / "rare.html", result, rare).read_text(encoding="utf-8")
    assert "-1 is 6.7% of the graphs: predicting 1 for all of them has an accuracy of 93.3%" in page
    result = evaluate("wl", rare, protocol=QUICK, options=options, scoring="balanced_accuracy")
    page = write_report(tmp_path / "rare.html", result, rare).read_text(encoding="utf-8")
    assert "of the graphs: predicting" not in page


def test_names_of_many_classes_stay_different(tmp_path):
    """Thirty names with the same beginning, without a warning from scikit-learn."""
    rng = np.random.default_rng(0)
    edges = [[(int(rng.integers(v)), v) for v in range(1, 4 + i % 30)] for i in range(120)]
    names = [f"class with number {i % 30:02d}" for i in range(120)]
    many = Dataset(GraphBatch.from_edges(edges), np.array(names), name="many")
    result = evaluate("wl", many, protocol=QUICK, options={"n_iter": [1]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        page = write_report(tmp_path / "many.html", result, many).read_text(encoding="utf-8")
    shown = set(re.findall(r'text-anchor="end">([^<]*…[^<]*\d\d)</text>', page))
    assert len(shown) >= 30


def test_marks_of_a_narrow_range_differ():
    chart = Chart("narrow", (-0.9412, -0.9403), (0.0, 1.0)).write()
    marks = re.findall(r'text-anchor="middle">([^<]+)</text>', chart)
    assert len(marks) == len(set(marks)) >= 3
    assert "-0.941" in marks or "-0.9410" in marks


def test_a_seed_is_shown_only_where_numbers_are_drawn(mutag, tmp_path):
    result = evaluate("sp", mutag, protocol=QUICK)
    page = write_report(tmp_path / "sp.html", result, mutag).read_text(encoding="utf-8")
    assert re.search(r"ShortestPath\(normalize=\S*tanimoto\S*\)", page)


def test_the_evaluation_as_python_gives_the_same_scores(mutag):
    from gramlet.report.material import material_of
    from gramlet.report.results import provenance_section

    some = mutag.graphs[::4], mutag.target[::4]
    result = evaluate(
        "wl", *some, QUICK, options={"n_iter": [1, 2]}, classifier="ridge", scoring="f1_macro"
    )
    unlike = evaluate("wl-oa", *some, QUICK, options={}, normalize=False, scoring="f1_macro")
    kernels = {"wl-oa": WLOptimalAssignment(normalize=False)}
    code = provenance_section(material_of([result, unlike], some[0], kernels), None)["python"]
    *setup, first, second = code.splitlines()
    names = {"graphs": some[0], "y": some[1]}
    exec("\n".join(setup), names)
    assert np.array_equal(eval(first, names).scores, result.scores)
    again = eval(second, names)
    assert np.array_equal(again.predictions, unlike.predictions)
    assert again.tried == unlike.tried
    assert "normalize=False" in second


def test_groups_and_class_weights_are_part_of_the_evaluation_as_python(mutag):
    from gramlet.report.material import material_of
    from gramlet.report.results import provenance_section

    groups = np.arange(188) // 4
    result = evaluate(
        "vertex", mutag.graphs, mutag.target, QUICK, groups=groups, class_weight="balanced"
    )
    section = provenance_section(material_of([result], mutag, {}), None)
    assert "class_weight='balanced'" in section["python"]
    assert "groups=groups" in section["python"]
    namespace = {"graphs": mutag.graphs, "y": mutag.target, "groups": groups}
    *lines, call = section["python"].split("\n")
    exec("\n".join(lines), namespace)
    assert np.array_equal(eval(call, namespace).scores, result.scores)
    cells = {row[0].text: row[1].text for row in section["protocol"].rows}
    assert cells["class weights"] == "balanced"
    assert cells["groups"] == "47 groups, one value per graph"
