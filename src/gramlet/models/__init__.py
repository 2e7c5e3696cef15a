"""Estimators with `fit` and `predict`, which choose their kernel themselves."""
