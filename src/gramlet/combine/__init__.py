"""Tools for every kernel: Gram matrices by name, feature maps, Gaussian processes."""

from gramlet.common.late_modules import SELDOM_USED, load_late

load_late(*SELDOM_USED)
