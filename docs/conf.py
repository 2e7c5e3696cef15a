"""Sphinx configuration. The pages are plain Markdown; a build runs their Python blocks."""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

from benchmarks.papers.comparison_tables import write_comparison
from benchmarks.papers.pages import write_paper_tables
from benchmarks.papers.result_tables import write_result_tables
from docutils import nodes
from tables import write_tables

from gramlet import __version__

project = "gramlet"
copyright = "2026, the gramlet developers"
release = version = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "numpydoc",
    "mathml",
]
myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "generated", "README.md", "gallery/*.py", "gallery/*.ipynb"]
html_theme = "furo"
html_title = "gramlet"
html_static_path = ["static"]
html_css_files = ["gramlet.css"]
sphinx_gallery_conf = {
    "examples_dirs": ["../examples/gallery"],
    "gallery_dirs": ["gallery"],
    "download_all_examples": False,
    "show_signature": False,
    "min_reported_time": 1e6,
    "write_computation_times": False,
    "plot_gallery": True,
    "abort_on_example_error": True,
}
templates_path: list[str] = []
autosummary_generate = True
numpydoc_show_class_members = False
# Other pages can link to headings.
myst_heading_anchors = 3
suppress_warnings = ["mystnb.unknown_mime_type"]

# Outputs are cached next to the built pages; a page runs again when its text changes. To run all
# pages after a change to the library, delete the folder docs/_build.
nb_execution_mode = "cache"
nb_execution_cache_path = str(Path(__file__).parent / "_build" / "outputs")
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_execution_show_tb = True
nb_merge_streams = True

_HEADER = """---
file_format: mystnb
kernelspec:
  name: python3
---
"""


def _make_blocks_run(app: object, docname: str, source: list[str]) -> None:
    """Turn ```python fences of a page into cells; ```text, ```bash and others stay as they are."""
    text = source[0]
    if "```python" not in text:
        return
    source[0] = _HEADER + re.sub(r"^```python$", "```{code-cell} python3", text, flags=re.M)


def _keep_spreads_together(app: object, doctree: nodes.document) -> None:
    """No line of a table ends before or after ±."""
    for cell in doctree.findall(nodes.entry):
        for text in list(cell.findall(nodes.Text)):
            if " ± " in text:
                text.parent.replace(text, nodes.Text(text.replace(" ± ", "\u00a0±\u00a0")))


def setup(app: object) -> None:
    """Register the hooks, and write the tables that come from the registry and from results."""
    write_tables(Path(__file__).parent)
    write_result_tables(Path(__file__).parent)
    write_paper_tables(Path(__file__).parent)
    write_comparison(Path(__file__).parent)
    app.connect("source-read", _make_blocks_run)  # type: ignore[attr-defined]
    app.connect("doctree-read", _keep_spreads_together)  # type: ignore[attr-defined]
