"""Graph kernels: scikit-learn estimators over the engines, and their registry."""
