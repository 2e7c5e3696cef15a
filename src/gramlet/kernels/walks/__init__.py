"""Kernels on random walks and propagation."""
