"""Graph kernels: scikit-learn estimators over the engines, and their registry."""

from gramlet.kernels import registry

__all__ = ["registry"]
