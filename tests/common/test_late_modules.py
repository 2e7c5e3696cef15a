"""Modules that are loaded at their first use, and placeholders until then."""

from __future__ import annotations

import subprocess
import sys
import threading
from types import ModuleType

import pytest

from gramlet.common.late_modules import load_late


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package with one module; both count how often they are loaded."""
    folder = tmp_path / "late_example"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "import time\nLOADED = []\nLOADED.append(1)\ntime.sleep(0.05)\n"
        "from late_example.inside import VALUE\nimport late_example\n"
        "assert late_example.VALUE == 7\nlast = 1\n"
        "def __getattr__(name):\n    if name == 'made': return 'made up'\n"
        "    raise AttributeError(name)\n"
    )
    (folder / "inside.py").write_text("VALUE = 7\n")
    (tmp_path / "late_broken.py").write_text("raise ImportError('broken')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "late_example"
    for name in list(sys.modules):
        if name.startswith("late_example") or name == "late_broken":
            del sys.modules[name]


def test_nothing_is_loaded_before_a_name_is_asked_for(package):
    load_late(package)
    import late_example

    assert "LOADED" not in vars(late_example)
    assert not hasattr(late_example, "__warningregistry__")
    assert "LOADED" not in vars(late_example)
    assert late_example.last == 1
    assert late_example.LOADED == [1]
    assert type(late_example) is ModuleType
    assert late_example.made == "made up"
    with pytest.raises(AttributeError):
        late_example.missing  # noqa: B018


def test_importing_from_inside_loads_the_package_first(package):
    load_late(package)
    from late_example.inside import VALUE

    assert VALUE == 7
    assert sys.modules[package].LOADED == [1]


def test_threads_wait_until_the_module_is_complete(package):
    load_late(package)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(sys.modules[package].last)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [1] * 4
    assert sys.modules[package].LOADED == [1]


def test_a_module_that_fails_is_tried_again(package):
    load_late("late_broken")
    for _ in range(2):
        with pytest.raises(ImportError, match="broken"):
            from late_broken import anything  # noqa: F401
        assert "late_broken" not in sys.modules


def test_modules_that_are_there_or_missing_are_left_alone():
    before = dict(sys.modules)
    load_late("sys", "no_such_module", "no_such_package.module", "json.no_such_module")
    assert dict(sys.modules) == before


def test_a_name_for_a_module_inside_loads_neither_it_nor_its_package(package):
    load_late(package, f"{package}.inside")
    import late_example.inside as inside

    assert "VALUE" not in vars(inside)
    assert "LOADED" not in vars(sys.modules[package])
    assert inside.VALUE == 7
    assert sys.modules[package].last == 1
    assert sys.modules[package].inside is inside


def test_a_kernel_needs_neither_statistics_nor_data_frames():
    """All of the modules can be used afterwards, also by scikit-learn."""
    script = """
import sys
import gramlet
from gramlet.common.late_modules import SELDOM_USED
graphs = gramlet.load_dataset("MUTAG").graphs[:4]
gramlet.VertexHistogram().fit_transform(graphs)
late = [n for n in SELDOM_USED if n in sys.modules and len(vars(sys.modules[n])) > 20]
assert not late, late
assert "http.client" not in sys.modules
import scipy.stats
from scipy.stats import norm
assert norm.cdf(0) == scipy.stats.norm.cdf(0) == 0.5
import scipy
assert scipy.stats is sys.modules["scipy.stats"]
assert scipy.special.expit(0.0) == 0.5
kernel = gramlet.VertexHistogram().set_output(transform="default")
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
StandardScaler().fit([[0.0], [1.0]])
"""
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)
