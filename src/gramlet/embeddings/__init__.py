"""Graph embeddings: estimators whose `transform` is a feature matrix."""

from gramlet.common.late_modules import SELDOM_USED, load_late

load_late(*SELDOM_USED)
