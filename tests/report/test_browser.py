"""Reports in a real browser: they work, load nothing, and run no injected code."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from reference.browser import Browser

pytest.importorskip("jinja2", reason="needs jinja2")

HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=1>"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    one = Browser(tmp_path_factory.mktemp("profile"))
    yield one
    one.close()


@pytest.fixture
def opened(browser):
    """Open a page; afterwards check that there was no error and no request except for the page."""

    def open_page(path, width=1280, dark=False):
        browser.size(width, 900, dark)
        browser.open(path)
        return browser

    yield open_page
    assert browser.errors == []
    asked = [url for url in browser.requests if not url.startswith(("file://", "data:"))]
    assert asked == []
    assert sum(url.startswith("file://") for url in browser.requests) == 1


def wait_for(browser, selector):
    """Wait until an element is there: drawings are unpacked when they are first needed."""
    script = (
        "new Promise(done => {let left = 100; const look = () => {left -= 1;"
        f"const count = document.querySelectorAll({json.dumps(selector)}).length;"
        "if (count || !left) done(count); else setTimeout(look, 20)}; look()})"
    )
    assert browser.run(script) >= 1


@pytest.mark.parametrize("page", ["mutag_page", "regression_page", "hostile_page"])
def test_everything_can_be_clicked(opened, page, request):
    browser = opened(request.getfixturevalue(page))
    for section in ("results", "data", "kernels", "graphs", "repeat"):
        assert browser.run(f"document.getElementById('{section}').textContent.length") > 40
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true })")
    n_tables = browser.run("document.querySelectorAll('[data-table]').length")
    assert n_tables > 5
    browser.run("document.querySelectorAll('thead button').forEach(b => b.click())")
    browser.run("document.querySelectorAll('button[data-step]').forEach(b => b.click())")
    wait_for(browser, ".picked.filled svg.graph")
    assert browser.run("window.hacked") is None


def test_a_point_of_the_map_shows_its_graph(opened, mutag_page, mutag):
    browser = opened(mutag_page)
    browser.at("svg[data-map]")
    x, y, graph = browser.run(
        "(() => {const u = document.querySelector('svg[data-map] use[data-i]');"
        "const b = u.getBoundingClientRect();"
        "return [b.x + b.width / 2, b.y + b.height / 2, Number(u.dataset.i)]})()"
    )
    browser.move(x, y)
    shown = browser.run("document.querySelector('.picked .shown').textContent")
    name = browser.run("document.querySelector('.picked input').value")
    assert f"graph {name}" in shown
    target = mutag.target_names[int(mutag.target[int(name)])]
    assert f"true: {target}" in shown
    wait_for(browser, ".picked svg.graph text")
    assert graph is not None
    browser.run("document.querySelector('svg[data-map]').focus()")
    browser.press("ArrowRight")
    after = browser.run("document.querySelector('.picked input').value")
    assert after != name
    browser.run(
        "(() => {const i = document.querySelector('.picked input'); i.value = 7;"
        "i.dispatchEvent(new Event('change'))})()"
    )
    assert "graph 7" in browser.run("document.querySelector('.picked .shown').textContent")


def test_tables_sort_and_filter(opened, mutag_page):
    browser = opened(mutag_page)
    script = (
        "[...document.querySelectorAll('#results > .table tbody tr')].map(r => r.children[1]"
        ".dataset.key).map(Number)"
    )
    browser.click("#results > .table thead th:nth-child(2) button")
    first = browser.run(script)
    assert first == sorted(first)
    state = (
        "document.querySelector('#results > .table thead th:nth-child(2)')"
        ".getAttribute('aria-sort')"
    )
    assert browser.run(state) == "ascending"
    browser.click("#results > .table thead th:nth-child(2) button")
    assert browser.run(script) == first[::-1]
    assert browser.run(state) == "descending"
    browser.run("document.querySelector('#graphs > details').open = true")
    browser.click("#graphs > details input[type=search]")
    browser.type("graph 17")
    shown = browser.run(
        "[...document.querySelectorAll('#graphs > details tbody tr')].filter(r => !r.hidden)"
        ".map(r => r.textContent)"
    )
    assert shown
    assert all("graph" in text and "17" in text for text in shown)
    count = browser.run("document.querySelector('#graphs > details .count').textContent")
    assert count == f"{len(shown)} of 188 rows"


def test_colours_follow_the_system_and_the_button(opened, mutag_page):
    paper = "getComputedStyle(document.body).backgroundColor"
    browser = opened(mutag_page)
    light = browser.run(paper)
    browser.size(1280, 900, dark=True)
    dark = browser.run(paper)
    assert light == "rgb(255, 255, 255)"
    assert dark != light
    browser.click("#scheme")
    assert browser.run(paper) == light
    assert browser.run("document.getElementById('scheme').getAttribute('aria-pressed')") == "false"


@pytest.mark.parametrize("page", ["mutag_page", "regression_page", "hostile_page"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_wider_than_the_window(opened, page, width, request):
    browser = opened(request.getfixturevalue(page), width=width)
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.picture(whole=False)[:4] == b"\x89PNG"


def test_hostile_names_are_shown_as_text(opened, hostile_page):
    browser = opened(hostile_page)
    assert browser.run("document.querySelector('h1').textContent") == HOSTILE
    assert browser.run("document.querySelectorAll('img:not(.heat), script').length") == 3
    browser.run("document.querySelector('button[data-step]').click()")
    assert HOSTILE in browser.run("document.querySelector('.picked .shown').textContent")
    assert browser.run("window.hacked") is None


def test_the_page_is_made_for_everyone(opened, mutag_page):
    """Landmarks, one h1, headings in order, names of pictures, scopes of table headings."""
    browser = opened(mutag_page)
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true })")
    for landmark in ("header", "nav[aria-label]", "main", "footer"):
        assert browser.run(f"document.querySelectorAll({json.dumps(landmark)}).length") == 1
    levels = browser.run(
        "[...document.querySelectorAll('h1,h2,h3,h4,h5')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    unnamed = (
        "[...document.querySelectorAll('svg:not([aria-hidden]), img')].filter("
        "e => !(e.getAttribute('aria-label') || e.getAttribute('alt'))).length"
    )
    assert browser.run(unnamed) == 0
    assert browser.run("document.querySelectorAll('th:not([scope])').length") == 0
    assert browser.run("document.querySelectorAll('table:not(:has(caption))').length") == 0
    repeated = (
        "(() => {const ids = [...document.querySelectorAll('[id]')].map(e => e.id);"
        "return ids.length - new Set(ids).size})()"
    )
    assert browser.run(repeated) == 0
    browser.press("Tab")
    assert browser.run("document.activeElement.className") == "skip"
