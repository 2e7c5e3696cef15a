"""Public names: they load when used, the import is fast, and the pages document them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import gramlet
from gramlet.kernels import registry

ROOT = Path(__file__).resolve().parent.parent


def test_every_public_name_loads():
    for name in gramlet.__all__:
        assert getattr(gramlet, name) is not None
    assert set(dir(gramlet)) == set(gramlet.__all__)


def test_import_is_light():
    code = (
        "import sys, gramlet; "
        "heavy = {'numba', 'sklearn', 'scipy', 'matplotlib', 'numpy'} & set(sys.modules); "
        "sys.exit(', '.join(sorted(heavy)) or 0)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def test_every_kernel_has_a_line_and_a_paper():
    for entry in registry.entries():
        assert entry.summary
        assert entry.paper
        assert len(entry.summary) < 80
