"""Laplacian kernels of one and of several scales."""
