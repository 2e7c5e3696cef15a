"""Graph kernels: scikit-learn estimators over the engines, and their registry."""

from gramlet.common.late_modules import SELDOM_USED, load_late

load_late(*SELDOM_USED)

from gramlet.kernels import registry  # noqa: E402 - before anything imports scikit-learn

__all__ = ["registry"]
