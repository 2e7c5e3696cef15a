"""Optimal transport between sets of points."""
