"""Laplacian kernels: covariance matrices of balls and graphs, and kernels between these."""
