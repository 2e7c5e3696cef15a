"""What the pages say about installing, and what the built archives contain."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "docs/**/*.rst", "examples/**/*.py")
# Becomes True with the first release; see the release checklist in CONTRIBUTING.md.
PUBLISHED = False


def pages() -> list[Path]:
    found = [path for pattern in PAGES for path in sorted(ROOT.glob(pattern))]
    return [path for path in found if not {"_build", "generated"} & set(path.parts)]


@pytest.mark.skipif(PUBLISHED, reason="gramlet is published")
def test_no_page_installs_by_a_name_that_is_not_published():
    by_name = re.compile(r"pip install\s+(-\S+\s+)*[\"']?gramlet\b")
    promises = [
        f"{page.relative_to(ROOT)}:{number}: {line.strip()}"
        for page in pages()
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        if by_name.search(line)
    ]
    assert promises == []


def test_the_pages_are_found():
    names = {path.relative_to(ROOT).as_posix() for path in pages()}
    assert {"README.md", "CONTRIBUTING.md", "docs/quickstart.md"} <= names


def test_ci_runs_the_test_command_of_the_readme():
    """CI reads the command from README.md between these marks; both must exist."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    block = re.search(r"<!-- tests -->\n```bash\n(.+?)\n```", readme, re.DOTALL)
    assert block is not None
    assert "-m pytest" in block[1]
    assert "<!-- tests -->" in ci
    assert "README.md" in ci


def test_every_version_python_of_the_classifiers_is_tried():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    named = re.findall(r"Python :: (3\.\d+)", text)
    tried = (ROOT / ".ci" / "archives").read_text(encoding="utf-8")
    assert named
    assert all(version in tried for version in named)
