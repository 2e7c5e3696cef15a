"""Graph kernels: scikit-learn estimators over the engines, and their registry."""

from gramlet.common.late_modules import load_late

load_late("scipy.stats", "pandas")

from gramlet.kernels import registry  # noqa: E402 - before anything imports scikit-learn

__all__ = ["registry"]
