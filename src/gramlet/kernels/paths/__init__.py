"""Kernels on shortest paths."""
