"""Tools for every kernel: Gram matrices by name, feature maps, Gaussian processes."""

from gramlet.common.late_modules import load_late

load_late("scipy.stats", "pandas")
