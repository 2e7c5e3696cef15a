"""``gramlet report``: it writes a page, or says why it cannot."""

from __future__ import annotations

import pytest

from gramlet.cli import main

pytest.importorskip("jinja2", reason="needs jinja2")

QUICK = ["--folds", "2", "--repeats", "1", "--inner-folds", "2", "--C", "1", "-p", "n_iter=1"]


def test_the_page_says_how_it_was_made(tmp_path, capsys):
    page = tmp_path / "report.html"
    given = ["report", "MUTAG", "-k", "wl", *QUICK, "-o", str(page)]
    assert main(given) == 0
    text = page.read_text(encoding="utf-8")
    assert "gramlet report MUTAG -k wl --folds 2" in text
    assert "not mutagenic" in text
    assert text.count("It is a baseline, shown for comparison only.") == 4
    assert "Kernel matrix" in text
    assert f"on 188 graphs, in {page}" in capsys.readouterr().out
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_a_baseline_that_is_requested_is_a_kernel(tmp_path):
    page = tmp_path / "report.html"
    assert main(["report", "MUTAG", "-k", "vertex", *QUICK[:-2], "-o", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    kernels = text.split('id="h-kernels"')[1].split('id="h-baselines"')[0]
    assert "<h3>vertex</h3>" in kernels
    assert "Kernel matrix</h4>" in kernels


def test_wrong_use(tmp_path, capsys):
    assert main(["report", "MUTAG", "-o", str(tmp_path / "report.pdf")]) == 2
    assert "must end in .html" in capsys.readouterr().err
    assert main(["report", "MUTAG", "-o", str(tmp_path / "none" / "report.html")]) == 2
    assert main(["report", "MUTAG", "-k", "nonsense", "-o", str(tmp_path / "r.html")]) == 2
    assert "No kernel is called 'nonsense'" in capsys.readouterr().err
    assert main(["report", "MUTAG"]) == 2
    assert list(tmp_path.iterdir()) == []


def test_without_jinja_nothing_is_evaluated(tmp_path, capsys, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert main(["report", "MUTAG", "-o", str(tmp_path / "report.html")]) == 1
    assert "pip install gramlet[report]" in capsys.readouterr().err
