"""Kernels on graphlet counts."""
