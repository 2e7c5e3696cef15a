"""Graph embeddings: estimators whose `transform` is a feature matrix."""

from gramlet.common.late_modules import load_late

load_late("scipy.stats", "pandas")
