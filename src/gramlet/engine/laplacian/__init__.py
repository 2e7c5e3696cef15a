"""Laplacian kernels: covariances of balls and graphs, and their overlap."""
