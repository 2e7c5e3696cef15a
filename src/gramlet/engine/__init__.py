"""Computations on arrays. Only this package uses numba."""
