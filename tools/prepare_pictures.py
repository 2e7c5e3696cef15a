"""The pictures of README.md: ``python tools/prepare_pictures.py`` makes both anew.

``docs/figures/report.png`` is the map of a report of MUTAG in Chromium, with one graph selected;
``docs/figures/explained_molecule.svg`` one molecule with its atoms coloured by what they add.
"""

from __future__ import annotations

import base64
import sys
import tempfile
from pathlib import Path

from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import gramlet
from gramlet.plotting import drawing_of, drawing_svg

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
MOLECULE = 3


def explained_molecule(mutag: gramlet.Dataset) -> str:
    """One molecule of MUTAG as a file of its own."""
    kernel = gramlet.WeisfeilerLehman(n_iter=2, normalize=True)
    model = make_pipeline(kernel, SVC(kernel="precomputed", C=10)).fit(mutag.graphs, mutag.target)
    graph = mutag.graphs[MOLECULE]
    drawing = drawing_of(
        graph,
        gramlet.explain_linear(model).nodes(graph).sum(axis=1),
        node_names=mutag.node_label_names,
        edge_names=mutag.edge_label_names,
    )
    title = "A molecule of MUTAG; red atoms speak for mutagenic, blue ones against it"
    picture = drawing_svg(drawing, title, largest=320)
    # A file needs what a page gives: the name space, paper, ink and letters.
    paper = '<rect width="100%" height="100%" fill="#ffffff"/>'
    begin = picture.index(">") + 1
    head = picture[:begin].replace(
        "<svg ", '<svg xmlns="http://www.w3.org/2000/svg" color="#1d2430" font-family="sans-serif" '
    )
    return f"{head}{paper}{picture[begin:]}\n"


def map_of_report(mutag: gramlet.Dataset) -> bytes:
    """The map of a report, as a person sees it."""
    sys.path.insert(0, str(ROOT / "tests"))
    from reference.browser import Browser

    result = gramlet.evaluate("wl-oa", mutag, protocol=gramlet.Protocol(folds=5, repeats=1))
    with tempfile.TemporaryDirectory() as folder:
        page = result.report(Path(folder) / "report.html", mutag)
        browser = Browser(Path(folder) / "profile")
        try:
            browser.size(1180, 900)
            browser.open(page)
            browser.run(
                "(() => {const i = document.querySelector('.picked input'); i.value = 50;"
                "i.dispatchEvent(new Event('change'))})()"
            )
            x, y, width, height = browser.run(
                "(() => {const b = document.querySelector('.map').getBoundingClientRect();"
                "return [b.x, b.y + scrollY, b.width, b.height]})()"
            )
            clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
            found = browser.call(
                "Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip
            )
            return base64.b64decode(found["data"])
        finally:
            browser.close()


def main() -> None:
    """Write both."""
    mutag = gramlet.load_dataset("MUTAG")
    (FIGURES / "explained_molecule.svg").write_text(explained_molecule(mutag), encoding="utf-8")
    (FIGURES / "report.png").write_bytes(map_of_report(mutag))


if __name__ == "__main__":
    main()
