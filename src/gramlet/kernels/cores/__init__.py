"""Kernels on cores of graphs."""
