"""The pages: all public names are documented, and internal links have targets."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
from typer.main import get_command

import gramlet
from gramlet.cli.program import app
from gramlet.kernels import registry

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for page in DOCS.rglob("*.md")
    if not {"_build", "generated", "gallery"} & set(page.relative_to(DOCS).parts)
)


def module_of_the_docs(name: str) -> ModuleType:
    """A module in the folder of the pages, which is not part of the package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    return module_of_the_docs("tables")


def written() -> str:
    """The text of all pages that are written by hand."""
    return "\n".join(page.read_text(encoding="utf-8") for page in [ROOT / "README.md", *PAGES])


def public_names() -> list[str]:
    return [name for name in gramlet.__all__ if name != "__version__"]


def test_every_public_name_is_explained_on_a_page():
    words = set(re.findall(r"\w+", written()))
    assert [name for name in public_names() if name not in words] == []


def test_every_public_name_is_in_the_reference_once(tables):
    listed = re.findall(r"^   gramlet\.(\w+)$", tables.api_page(), re.M)
    assert sorted(listed) == sorted(public_names())


def test_a_room_without_a_heading_is_noticed(tables):
    with pytest.raises(LookupError, match=r"gramlet\.cellar"):
        tables._heading("gramlet.cellar.wine")


def test_every_command_and_option_is_in_the_command_reference(tables):
    reference = tables.command_reference()
    sections = dict(re.findall(r"^## gramlet (\S+)\n(.*?)(?=^## |\Z)", reference, re.M | re.S))
    commands = get_command(app).commands
    assert set(sections) == set(commands)
    for name, command in commands.items():
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert f"`{option}" in sections[name] or f", {option}" in sections[name], option


def test_every_command_has_an_example():
    page = (DOCS / "command_line.md").read_text(encoding="utf-8")
    missing = [name for name in get_command(app).commands if f"gramlet {name}" not in page]
    assert missing == []


def test_every_kernel_can_be_cited(tables):
    text = tables.citations()
    for entry in registry.entries():
        row = next(line for line in text.splitlines() if line.startswith(f"| [`{entry.name}`]"))
        assert re.search(r"\(\d{4}\)", row), row


def contents(page: Path) -> set[Path]:
    """The pages that the tables of contents of a page list."""
    listed = set()
    for block in re.findall(r"^```{toctree}\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
        for entry in re.findall(r"^[\w/*]+$", block, re.M):
            listed |= set(page.parent.glob(f"{entry}.md"))
    return listed


def test_every_page_is_in_the_contents():
    listed = set().union(*(contents(page) for page in PAGES))
    lost = [page for page in PAGES if page not in listed and page != DOCS / "index.md"]
    assert lost == []


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([\w/.]+\.(?:md|svg|png))[#)]", page.read_text("utf-8")):
            if not target.startswith(("reference/", "generated/")):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_formula_becomes_mathml():
    converter = pytest.importorskip("latex2mathml.converter", reason="comes with the extra docs")
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        text = re.sub(r"`[^`]*`", "", text)
        for block, inline in re.findall(r"\$\$(.+?)\$\$|\$([^$\n]+?(?:\n[^$\n]+?)?)\$", text, re.S):
            formula = block or inline
            markup = converter.convert(formula)
            assert markup.startswith("<math")
            unknown = re.findall(r">\\([A-Za-z]+)<", markup)
            assert unknown == [], f"{page.name}: {formula}"


def test_formulas_have_primes_and_bars_in_place():
    pytest.importorskip("latex2mathml", reason="comes with the extra docs")
    pytest.importorskip("sphinx", reason="comes with the extra docs")
    written = module_of_the_docs("mathml")._markup
    for formula in ("G'", "G'_h"):
        markup = written(formula, "inline")
        assert "<msup>" not in markup
        assert '<mo lspace="0" rspace="0">&#x02032;</mo>' in markup
    norm = written(r"\|w\|_2 + |w|", "inline")
    assert norm.count('<mo stretchy="false" lspace="0" rspace="0">') == 4


def test_pages_write_nothing_beside_themselves():
    """Examples write into temporary folders: building the pages must not change the source tree."""
    written = re.compile(r"(?:output=|\.write\(|save\(\w+, |_report\(|\.report\()[\"']([^\"']+)")
    for page in PAGES:
        for block in re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S):
            assert written.findall(block) == [], page.name
